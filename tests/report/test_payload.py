"""The data of the page say what the model says: conditions as in a file and in the words of the library, and a typical case."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostRegressor, Rule, RuleEnsemble
from obliquerules.report.payload import PieceWriter
from obliquerules.rules import Column
from obliquerules.rules.files.decoding import decode_rule
from obliquerules.rules.files.fields import Field
from obliquerules.rules.text.style import plain_name

from .mixed import frame, holding, learned, made_up
from .reading import payload


def written(model, place, *data, **options):
    """Write a report and return its data."""
    model.report(place / "model.html", *data, **options)
    return payload(place / "model.html")


def joined(pieces, names):
    """Return the text that the page makes of pieces."""
    return "".join(plain_name(names[piece]) if isinstance(piece, int) else "".join(piece) for piece in pieces)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_the_text_of_the_library(seed):
    ensemble = made_up(seed)
    texts = PieceWriter([ensemble], ensemble.columns)
    for rule in ensemble:
        for test in rule.condition:
            assert joined(texts.pieces(test), ensemble.feature_names) == test.describe(ensemble.columns)


def test_columns_and_levels_stand_apart():
    model, _, _ = learned()
    columns = model.ensemble_.columns
    ensemble = RuleEnsemble.parse(
        '+1 if colour in {red, "a, b"} or missing\n+1 if age + 12 (grade at least high) >= 60', columns
    )
    texts = PieceWriter([ensemble], columns)
    pieces = [texts.pieces(test) for rule in ensemble for test in rule.condition]
    assert pieces[0] == [2, " in {", ["red"], ", ", ['"a, b"'], "} or missing"]
    assert pieces[1] == [0, " + 12 (", 5, " at least ", ["high"], ") >= 60"]


def test_a_name_with_a_comma_and_an_operator_is_quoted_once():
    columns = [Column("a + b, c", kind="flag"), Column("d", kind="flag")]
    ensemble = RuleEnsemble.parse('+1 if any of {"a + b, c", d}', columns)
    (test,) = ensemble[0].condition
    assert test.describe(columns) == 'any of {"a + b, c", d}'
    assert joined(PieceWriter([ensemble], ensemble.columns).pieces(test), ensemble.feature_names) == test.describe(columns)


def test_a_name_with_a_comma_is_quoted_in_a_list():
    ensemble = RuleEnsemble.parse('+1 if any of {sex_M, "drinks, or not"}', learned()[0].ensemble_.columns)
    (test,) = ensemble[0].condition
    assert joined(PieceWriter([ensemble], ensemble.columns).pieces(test), ensemble.feature_names) == test.describe(
        ensemble.columns
    )


@pytest.mark.parametrize("seed", range(3))
def test_conditions_are_those_of_a_file(seed, tmp_path):
    ensemble = made_up(seed)
    model, X, y = holding(ensemble)
    report = written(model, tmp_path, X, y)
    file = json.loads(report["file"])
    assert file["version"] == 1
    assert len(file["columns"]) == len(ensemble.columns.special)
    _, weights, positions = report["ensembles"][0]
    for rule, weight, position in zip(ensemble, weights, positions, strict=True):
        stored = {"weight": weight, "condition": [test for test, _ in report["conditions"][position]]}
        assert decode_rule(Field(stored, "the page"), len(ensemble.columns)) == rule
        assert report["complexities"][position] == rule.complexity


def test_models_of_numbers_have_files_of_the_old_format(tmp_path):
    X = pd.DataFrame({"size": np.linspace(0.0, 9.0, 60)})
    report = written(LLTBoostRegressor(max_rules=1, linear_terms=False).fit(X, X["size"] > 4), tmp_path)
    assert json.loads(report["file"])["version"] == 1


def test_the_page_has_the_ridges_of_the_path_and_no_expected_losses(tmp_path):
    X = pd.DataFrame({"size": np.linspace(0.0, 9.0, 60)})
    model = LLTBoostRegressor(max_rules=1, linear_terms=False).fit(X, X["size"] > 4)
    report = written(model, tmp_path)
    assert report["ridges"] == [*model.model_.ridges]
    # They are exact figures of the training rows.
    assert "expected" not in json.loads(report["file"]).keys() | report.keys()
    assert "ridges" not in written(model._with(replace(model.model_, ridges=())), tmp_path)


def test_the_complexity_of_no_condition_is_zero(tmp_path):
    model, _, _ = holding(RuleEnsemble([Rule(1.0)], 0.0, learned()[0].ensemble_.columns))
    assert written(model, tmp_path)["complexities"] == [0]


def test_a_typical_case_has_medians_and_most_frequent_levels(tmp_path):
    ensemble = made_up(0, n_rules=60)
    model, X, y = holding(ensemble)
    report, columns = written(model, tmp_path, X, y), ensemble.columns
    typical = {columns.names[int(index)]: value for index, (value, _) in report["figures"]["typical"].items()}
    assert set(typical) == set(X)
    for name in ("colour", "grade", "smoker", "ward"):
        levels = columns[columns.names.index(name)].levels
        assert X[name].value_counts()[levels[int(typical[name])]] == X[name].value_counts().max()
    assert typical["age"] == X["age"].median()
    assert typical["bmi"] == pytest.approx(X["bmi"].median(), rel=1e-2)
    month = pd.Timestamp(X["admitted"].median()).to_period("M").start_time
    assert typical["admitted"] == (month - pd.Timestamp(0)).days
    assert typical["seen at"] == pd.Timestamp("2021-05-01").timestamp()
    assert typical["sex_M"] in (0.0, 0.5, 1.0)
    assert [columns.names[index] for index in report["figures"]["binary"]] == ["sex_M"]  # but not the codes of two levels


@pytest.mark.parametrize("known", [0, 4, 5])
def test_a_typical_value_is_not_that_of_a_few_rows(known, tmp_path):
    model, X, y = holding(made_up(0, n_rules=60))
    few = np.arange(len(X)) < known
    gappy = X.assign(bmi=np.where(few, 23.5, np.nan), colour=np.where(few, "1", None))
    typical = written(model, tmp_path, gappy, y)["figures"]["typical"]
    levels = model.ensemble_.columns[2].levels
    assert typical["1"] == ([23.5, 0.0] if known == 5 else None)
    assert levels[int(typical["2"][0])] == ("1" if known == 5 else "red")


@pytest.mark.parametrize("lead", [1, 2])
def test_a_most_frequent_level_is_one_that_no_row_could_change(lead, tmp_path):
    model, X, y = holding(made_up(0, n_rules=60))
    colours = ["1"] * 100 + ["a, b"] * (100 - lead)
    level, _ = written(model, tmp_path, X[: 200 - lead].assign(colour=colours), y[: 200 - lead])["figures"]["typical"]["2"]
    assert model.ensemble_.columns[2].levels[int(level)] == ("red" if lead == 1 else "1")


def test_rows_are_counted_by_levels_and_missing_values(tmp_path):
    model, X, y = learned()
    report = written(model, tmp_path, X, y, min_count=1)
    conditions = list(dict.fromkeys(rule.condition for ensemble in model.path_ for rule in ensemble))
    block = model.ensemble_.block(model._read(X).X)
    for index, (share, within) in report["figures"]["coverage"].items():
        assert share == pytest.approx(conditions[int(index)](block).mean(), abs=0.000501)
        assert within == 0.0


def test_values_missing_only_in_the_rows_are_warned_of(tmp_path):
    model, _, y = learned()
    assert 0 in model.ensemble_.used_columns
    gappy = frame(seed=1)
    gappy.loc[:20, "age"] = np.nan
    with pytest.warns(UserWarning, match="missing in 'age', which had none in fit"):
        model.report(tmp_path / "model.html", gappy, y)
