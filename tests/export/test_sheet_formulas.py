"""LibreOffice recalculates a workbook and gives what the model gives; make test-office installs it."""

import re

import numpy as np
import pandas as pd
import pytest

from obliquerules import Column, Conjunction, LLTBoostClassifier, LLTBoostRegressor, Membership, Rule, RuleEnsemble
from obliquerules.export.export_formats import find_format
from obliquerules.export.sheet_formulas import find_office, recalculated
from obliquerules.export.source import Source
from obliquerules.export.verification import ExportError, compare
from obliquerules.export.workbook import Cell, Sheet, read_cells, write_workbook
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from .classes import MODELS
from .mixed import MIXED, SLOPED, mixed_rows

pytestmark = pytest.mark.skipif(find_office() is None, reason="LibreOffice is not installed")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_libreoffice_recalculates_what_the_model_gives_on_a_thousand_rows(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(40.0, 12.0, (1000, 4)).round(2), columns=["age", "bmi < 30", "é & \u2028", "unused"])
    signal = 0.3 * X["age"] + X["bmi < 30"] - X["é & \u2028"] + rng.normal(size=1000)
    kind, y = (LLTBoostClassifier, signal > 12) if task == "classification" else (LLTBoostRegressor, signal)
    model = kind(max_rules=5, random_state=0).fit(X, np.where(y, "ill", "well") if task == "classification" else y)
    rows = X.copy()
    rows.iloc[::10, 0] = np.nan
    exported = model.export("excel", X, rows=rows)
    assert exported.verification.engine == "LibreOffice"
    done = read_cells(recalculated(find_office(), without_values(exported.content)), 1)
    last = last_letters(done)
    shown = [[done[f"{letter}{row}"].value for letter in last] for row in range(2, 1002)]
    scores = model.model_.scores(rows.to_numpy())
    np.testing.assert_allclose([row[0] for row in shown], scores, rtol=1e-13)
    np.testing.assert_allclose([row[1] for row in shown], model.model_.means(scores), rtol=1e-13)
    if task == "classification":
        assert [row[2] for row in shown] == model.model_.decisions(scores).tolist()


@pytest.mark.parametrize("ensemble", [MIXED, SLOPED], ids=["conditions", "factors"])
def test_libreoffice_scores_levels_dates_and_missing_values_as_the_model_does(ensemble):
    target, source = find_format("excel"), Source(Model.of(ensemble, LOSSES["logistic"]), contributions=True)
    rows = target.comparable(source, mixed_rows(source, 2000))
    compare(source, rows, target.run(target.write(source), source, rows))


def test_libreoffice_compares_levels_as_they_are():
    levels = (
        "a\nb",
        "a\tb",
        "_x0041_",
        "A",
        "a\rb",
        "_x000A_",
        "a_x000A_b",
        'a"\x1f&"\x7f',
        "_x005F_x0041_",
        "\n",
        "a b",
        "é\u2028",
    )
    for listed in ([level] for level in levels):
        rule = Rule(1.5, Conjunction([Membership(0, listed)]))
        source = Source(Model.of(RuleEnsemble([rule], 0.5, [Column("town", levels)]), LOSSES["squared"]), contributions=True)
        rows, target = np.arange(float(len(levels)))[:, None], find_format("excel")
        compare(source, rows, target.run(target.write(source), source, rows))


@pytest.mark.parametrize("model", ["3 classes", "10 classes", "exposure", "offset of log-odds"])
def test_libreoffice_gives_classes_and_predictions_with_an_exposure_or_an_offset(model):
    target, source = find_format("excel"), Source(MODELS[model], contributions=True)
    rows = target.comparable(source, mixed_rows(source, 1000))
    compare(source, rows, target.run(target.write(source), source, rows))


def last_letters(cells):
    """Return the columns of score, prediction and class."""
    headings = {place[:-1]: cell.value for place, cell in cells.items() if re.fullmatch(r"[A-Z]1", place)}
    return [letter for letter, name in headings.items() if letter >= next(k for k, v in headings.items() if v == "score")]


def without_values(content):
    """Return a workbook without the values of formulas, so that all of them must be computed."""
    sheets = [Sheet("Score", stripped(content, 1), (9.0,)), Sheet("Rules", stripped(content, 2), (9.0,))]
    return write_workbook(sheets)


def stripped(content, number):
    rows = {}
    for place, cell in read_cells(content, number).items():
        letter, row = re.fullmatch(r"([A-Z]+)(\d+)", place).groups()
        rows.setdefault(int(row), []).append(Cell(None if cell.formula else cell.value, cell.formula))
        assert letter == chr(ord("A") + len(rows[int(row)]) - 1)
    return tuple(tuple(rows.get(row, ())) for row in range(1, 1 + max(rows)))


def test_libreoffice_refuses_a_workbook_that_differs():
    ours, theirs = (
        Source(
            Model.of(
                RuleEnsemble.parse(f"+1 if True\n-3.85 if age >= {threshold}", ["age", "bmi", "weight"]), LOSSES["squared"]
            ),
            contributions=True,
        )
        for threshold in (0.28, 0.2801)
    )
    target = find_format("excel")
    with pytest.raises(ExportError, match=r"In row 0, with \{'age': 0.28005\}, its score is 1.0 instead of"):
        target.run(target.write(theirs), ours, np.array([[0.28005, 0.0, 0.0]]))
