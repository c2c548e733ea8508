"""Tables: the figures are those of plain loops, and become frames."""

import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from sklearn.exceptions import NotFittedError

from obliquerules import Conjunction, LLTBoostClassifier, Proposition, Rule, RuleEnsemble
from obliquerules.inspection.importance import variable_importance
from obliquerules.inspection.rule_table import rule_table
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Factor, Model

from ..estimators.fitted import data, every_kind, fitted
from ..rules.test_factor import sloped, sloped_rows
from .mixed import COLUMNS, fitted_mixed, mixed_blocks, mixed_ensembles, model_of


@every_kind
def test_rule_table_is_what_a_loop_gives(kind):
    model, X, y = fitted(kind)
    weight = np.random.default_rng(1).exponential(size=len(X))
    target = (y == "yes") * 1.0 if kind.startswith("classifier") else y
    constant, *rules = model.rule_table(X, y, weight)
    assert (constant.rule, constant.condition, constant.weight, constant.coverage) == (
        None,
        "True",
        model.ensemble_.intercept,
        1.0,
    )
    assert constant.purity == pytest.approx(np.average(target, weights=weight))
    for index, (rule, row) in enumerate(zip(model.ensemble_, rules, strict=True)):
        covered = rule.condition(X)
        assert (row.rule, row.weight, row.complexity) == (index, rule.weight, rule.complexity)
        assert row.condition == rule.condition.describe(X.columns)
        assert row.coverage == pytest.approx(weight[covered].sum() / weight.sum())
        assert row.mean_contribution == pytest.approx(np.average(rule(X), weights=weight))
        assert row.purity == pytest.approx(np.average(target[covered], weights=weight[covered]))


def test_a_row_of_weight_two_is_the_row_twice():
    model, X, y = fitted("classifier")
    twice = np.repeat(np.arange(len(X)), 2)
    assert model.rule_table(X, y, np.full(len(X), 2.0)) == model.rule_table(X.iloc[twice], y[twice])


def test_printed_rule_table():
    model, X, y = fitted("classifier")
    table = model.rule_table(X, y)
    heading, *lines = str(table).split("\n")
    assert heading.split("  ")[-1] == "condition"
    assert "share of 'yes'" in heading
    assert "share of" not in str(model.rule_table(X))
    for line, row in zip(lines, table, strict=True):
        assert line[heading.index("condition") :] == row.condition


def test_targets_need_not_hold_both_classes_but_no_others():
    model, X, y = fitted("classifier")
    assert all(row.purity in (0.0, None) for row in model.rule_table(X[y == "no"], y[y == "no"]))
    with pytest.raises(ValueError, match=r"y must hold the labels that the model was fitted to, \['no', 'yes'\]"):
        model.rule_table(X, np.full(len(X), "maybe"))
    with pytest.raises(ValueError, match="y must have one entry for each of the 150 rows"):
        model.rule_table(X, y[:3])
    with pytest.raises(NotFittedError):
        LLTBoostClassifier().rule_table(X)


def test_a_rule_that_covers_nothing_has_no_purity():
    model, X, y = fitted("classifier")
    far = X * 0.0 - 1e6
    rows = model.rule_table(far, y)
    assert {row.coverage for row in rows} <= {0.0, 1.0}
    assert all((row.purity is None) == (row.coverage == 0.0) for row in rows)


SLOPED = """+1 if True
+0.31 (age - 50)
-0.5 if bmi >= 30
+0.2 bmi clipped to [18, 40] if age >= 40"""
SLOPED_ROWS = np.array([[60.0, 44.0], [30.0, 20.0], [45.0, math.nan], [40.0, 31.0]])


def sloped_model():
    return Model.of(RuleEnsemble.parse(SLOPED, ["age", "bmi"]), LOSSES["squared"])


def test_the_mean_contribution_of_a_slope_is_the_mean_of_contributions():
    model, weight = sloped_model(), np.array([1.0, 2.0, 3.0, 0.0])
    table = rule_table(model, SLOPED_ROWS, None, weight)
    means = [np.average(rule(SLOPED_ROWS), weights=weight) for rule in model.ensemble]
    np.testing.assert_allclose([row.mean_contribution for row in table], [1.0, *means])
    assert [row.factor for row in table] == [None, "(age - 50)", None, "bmi clipped to [18, 40]"]
    assert [row.coverage for row in table] == pytest.approx([1.0, 1.0, 1 / 6, 4 / 6])
    assert [record["factor"] for record in table.to_dicts()] == [row.factor for row in table]


def test_a_printed_weight_has_its_factor_behind_it():
    lines = str(rule_table(sloped_model(), SLOPED_ROWS, None, np.ones(4))).split("\n")
    assert [re.split(r"  +", line.strip())[-5:] for line in lines[2:]] == [
        ["+0.31 (age - 50)", "2", "100.0 %", "-1.9375", "True"],
        ["-0.5", "3", "50.0 %", "-0.25", "bmi >= 30"],
        ["+0.2 bmi clipped to [18, 40]", "6", "75.0 %", "+3.55", "age >= 40"],
    ]


# Importance


def mean_change(ensemble, X, weight, column):
    """The definition: all pairs of rows, each score computed by the model."""
    total = 0.0
    for value, share in zip(X[:, column], weight / weight.sum(), strict=True):
        changed = X.copy()
        changed[:, column] = value
        total += share * np.average(np.abs(ensemble(changed) - ensemble(X)), weights=weight)
    return total


@every_kind
def test_importance_is_the_mean_over_all_pairs(kind):
    model, frame, _ = fitted(kind)
    X = frame.to_numpy()
    weight = np.random.default_rng(2).integers(0, 4, len(X)).astype(float)
    found = {row.variable: row for row in model.variable_importance(frame, weight)}
    assert len(found) == X.shape[1]
    for column, name in enumerate(frame.columns):
        assert found[name].importance == pytest.approx(mean_change(model.ensemble_, X, weight, column), rel=1e-9, abs=1e-12)
        uses = [any(column in p.columns for p in rule.condition) for rule in model.ensemble_]
        assert found[name].n_rules == sum(uses)
    sizes = [row.importance for row in model.variable_importance(frame, weight)]
    assert sizes == sorted(sizes, reverse=True)


def test_importance_of_the_rules_of_many_ensembles():
    rng = np.random.default_rng(3)
    for _ in range(30):
        rules = [
            Rule(
                rng.normal(),
                Conjunction(Proposition([1, 0], rng.choice([-2.0, -1.0, 1.0], 2), rng.integers(-3, 3)) for _ in range(2)),
            )
            for _ in range(3)
        ]
        ensemble, X = RuleEnsemble(rules), rng.integers(-3, 4, (12, 3)).astype(float)
        importances = variable_importance(Model.of(ensemble, LOSSES["squared"]), X, np.ones(12))
        found = {row.variable: row.importance for row in importances}
        for column in range(3):
            assert found[f"x{column}"] == pytest.approx(mean_change(ensemble, X, np.ones(12), column), abs=1e-12)


@given(mixed_ensembles(), mixed_blocks())
def test_importance_of_levels_and_missing_values_is_the_mean_over_all_pairs(ensemble, block):
    weight = np.arange(1.0, 1.0 + len(block))
    found = {row.variable: row for row in variable_importance(model_of(ensemble), block, weight)}
    for column, name in enumerate(COLUMNS.names):
        total = 0.0
        for value, share in zip(block.matrix[:, column], weight / weight.sum(), strict=True):
            changed = block.matrix.copy()
            changed[:, column] = value
            total += share * np.average(np.abs(ensemble(Block(COLUMNS, changed)) - ensemble(block)), weights=weight)
        assert found[name].importance == pytest.approx(total, abs=1e-12)
        assert found[name].n_rules == sum(any(column in test.used_columns for test in rule.condition) for rule in ensemble)


def check_importance_of_slopes(ensemble, X, weight):
    found = {row.variable: row for row in variable_importance(Model.of(ensemble, LOSSES["squared"]), X, weight)}
    for column, name in enumerate(ensemble.feature_names or (f"x{index}" for index in range(X.shape[1]))):
        row = found[name]
        expected = mean_change(ensemble, X, weight, column)
        size = sum(np.abs(rule(X)).max() for rule in ensemble)
        assert row.importance == pytest.approx(expected, rel=1e-9, abs=1e-12 * (1.0 + size))
        assert row.n_rules == sum(column in rule.used_columns for rule in ensemble)


@given(sloped(), sloped_rows)
def test_importance_of_slopes_is_the_mean_over_all_pairs(ensemble, rows):
    check_importance_of_slopes(ensemble, np.array(rows), np.arange(1.0, 1.0 + len(rows)))


@pytest.mark.parametrize("origin", [0.0, 1e7])
def test_importance_of_many_slopes_conditions_and_limits(origin):
    rng = np.random.default_rng(4)
    for _ in range(30):
        X = rng.normal(size=(40, 2)).round(1)
        X[rng.random(X.shape) < 0.1] = np.nan
        rules = []
        for _ in range(5):
            lower, upper = np.sort(rng.normal(size=2))
            limits = [(lower, upper), (-np.inf, upper), (lower, np.inf), (-np.inf, np.inf)][rng.integers(4)]
            factor = Factor(0, origin, *(origin + np.array(limits))) if rng.random() < 0.7 else None
            test = Proposition([0, 1], rng.choice([-1.0, 1.0], 2), rng.normal(), bool(rng.integers(2)))
            test = test.with_numbers(test.weights, test.threshold + origin * test.weights[0])
            rules.append(Rule(rng.normal(), Conjunction([test] * rng.integers(2)), factor))
        ensemble = RuleEnsemble(rules, 1.0, ["a", "b"])
        X[:, 0] += origin
        check_importance_of_slopes(ensemble, X, rng.integers(0, 4, 40) + 0.5)


def test_an_outlier_that_is_clipped_does_not_blur_the_importance():
    ensemble = RuleEnsemble([Rule(1.0, factor=Factor(0, 0.0, 0.0, 5.0))], 0.0, ["a"])
    X, far = (np.array([[outlier], [1.0], [2.0], [4.0], [7.0]]) for outlier in (-1.0, -1e200))
    first, second = (variable_importance(Model.of(ensemble, LOSSES["squared"]), one, np.ones(5)) for one in (X, far))
    assert first == second
    assert first[0].importance == pytest.approx(mean_change(ensemble, X, np.ones(5), 0), rel=1e-14)


def test_tables_of_mixed_columns_speak_of_levels():
    model, X, y = fitted_mixed()
    conditions = [row.condition for row in model.rule_table(X, y)]
    assert conditions == ["True", *(rule.condition.describe(model.ensemble_.columns) for rule in model.ensemble_)]
    assert re.search(r"day [<>]= 2020-0\d-\d\d", "\n".join(conditions))
    assert re.search(r"colour (=|!=|in|not in) ", "\n".join(conditions))
    assert {row.variable for row in model.variable_importance(X) if row.importance > 0.0} >= {"colour", "day", "grade", "bmi"}


def test_printed_importance_leaves_out_what_is_in_no_rule():
    X, labels, _ = data()
    model = LLTBoostClassifier(max_rules=1, max_variables=2, random_state=0).fit(X, labels).at(4)
    assert str(model.variable_importance(X)).split("\n")[-1] == "(2 other variables in no rule)"


# Frames


@pytest.mark.parametrize("ask", ["rule_table", "variable_importance", "explain"])
def test_frames_hold_what_the_dicts_hold(ask):
    model, X, _ = fitted("squared")
    table = getattr(model, ask)(X)
    records = table.to_dicts()
    assert list(table.to_pandas().columns) == list(records[0]) == table.to_polars().columns
    assert len(table.to_pandas()) == len(records) == len(table.to_polars())
    assert table[0] == next(iter(table))


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(package, monkeypatch):
    model, X, _ = fitted("squared")
    table = model.rule_table(X)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"to_{package} needs the package {package}"):
        getattr(table, f"to_{package}")()
