"""Slopes and hinges: found where the truth is a line or bends, robust, in any units, and paid for like rules."""

import itertools
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, LLTBoostRegressorCV, TGBRegressor
from obliquerules.data.reading import read_table
from obliquerules.data.training_columns import training_columns
from obliquerules.learning.boosting import linear_terms
from obliquerules.learning.boosting.boosting import GROWTH_RIDGE
from obliquerules.learning.boosting.linear_terms import (
    SHARES,
    Hinges,
    LinearTerms,
    SlopeLearner,
    StepConditions,
    short_factor,
    slopes_in,
)
from obliquerules.learning.boosting.loop import first_stage
from obliquerules.learning.boosting.selection import InformationSelection, Record
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Column, Conjunction, Factor, Proposition, Slope

from .growing import problem, search_of


def straight(n=300, seed=0, loss="squared"):
    """Return rows whose scores are a straight line and one step, and their targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, size=(n, 4)).round(2)
    score = 0.5 * X[:, 0] - 0.3 * X[:, 1] + 2.0 * (X[:, 2] >= 6.0)
    if loss == "squared":
        return X, score + rng.normal(scale=0.2, size=n)
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(1.5 - score)), "yes", "no")


def with_lines(data):
    """Return the search for rules and slopes on a problem."""
    search = search_of(data)
    lines = LinearTerms(data.X, data.row_weight, search.selection)
    return replace(search, learner=SlopeLearner(search.learner, lines), record=Record())


def squared(X, y):
    """Return the problem of some rows, for the squared loss."""
    block, ones = Block.of_matrix(np.asfortranarray(X)), np.ones(len(y))
    return Problem(block, y, ones, LOSSES["squared"], 1.0, np.zeros(len(y), dtype=bool))


def penalised_gradient(stage):
    """Return the gradient of the penalised loss by each weight, row by row."""
    data = stage.problem
    columns = [np.ones(len(data.y)), *(condition(data.X).astype(float) for condition in stage.conditions)]
    score = sum(weight * column for weight, column in zip(stage.weights, columns, strict=True))
    pull = data.row_weight * data.loss.gradient(data.y, score)
    penalty = np.append(0.0, data.ridge * stage.weights[1:])
    return np.array([pull @ column for column in columns]) + penalty


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_rules_and_slopes_are_fitted_together(loss):
    search = with_lines(problem(loss))
    list(search.grow())
    list(search.improve())
    sloped = [stage for stage in search.record.front if any(isinstance(one, Slope) for one in stage.conditions)]
    for stage in sloped:
        assert np.abs(penalised_gradient(stage)).max() < 1e-5 * stage.problem.size
        assert np.allclose(stage.ensemble(stage.problem.X), stage.score)
        assert stage.complexity == stage.ensemble.complexity


def test_a_straight_line_and_a_step_are_found_as_they_are():
    X, y = straight()
    model = LLTBoostRegressor(max_rules=4, linear_terms=True, random_state=0).fit(X, y).at(7)
    slopes = {rule.factor.column: rule.weight for rule in model.ensemble_ if rule.factor is not None}
    (step,) = (rule for rule in model.ensemble_ if rule.factor is None)
    assert sorted(slopes) == [0, 1]
    assert np.allclose([slopes[0], slopes[1]], [0.5, -0.3], atol=0.02)
    (condition,) = step.condition
    assert condition.only_number == 2
    assert np.isclose(abs(condition.threshold), 6.0, atol=0.05)
    assert np.mean((model.predict(X) - y) ** 2) < 0.05


@pytest.mark.parametrize("estimator", [LLTBoostClassifier, LLTBoostRegressor])
def test_slopes_lower_the_risk_where_the_truth_is_a_straight_line(estimator):
    X, y = straight(loss="squared" if estimator is LLTBoostRegressor else "logistic")
    models = [estimator(linear_terms=terms, max_rules=4, random_state=0).fit(X[:200], y[:200]) for terms in (False, True)]
    rules, lines = (np.mean([risk_of(model.at(size), X[200:], y[200:]) for size in (4, 6, 8)]) for model in models)
    assert lines < rules


def risk_of(model, X, y):
    return log_loss(y, model.predict_proba(X)) if hasattr(model, "classes_") else np.mean((model.predict(X) - y) ** 2)


def test_rules_are_learned_as_before_where_there_are_no_slopes():
    X, y = straight()
    auto = LLTBoostRegressor(max_rules=3, linear_terms="auto", random_state=0)
    few = np.floor(X / 5.001)  # two different values in each column
    one, other = (model.fit(few, y) for model in (auto, LLTBoostRegressor(max_rules=3, random_state=0)))
    assert one.path_ == other.path_
    assert all(rule.factor is None for ensemble in one.path_ for rule in ensemble)


def test_units_make_no_difference():
    X, y = straight()
    scale, shift = np.array([1000.0, 0.01, 1.0, 1.0]), np.array([5e5, 0.0, 0.0, 0.0])
    one, other = (LLTBoostRegressor(max_rules=2, linear_terms=True).fit(rows, y) for rows in (X, X * scale + shift))
    assert one.at(4).ensemble_.complexity == other.at(4).ensemble_.complexity == 4
    assert np.allclose(one.at(4).predict(X), other.at(4).predict(X * scale + shift), atol=1e-6)
    # What is far from zero is counted from a usual value.
    (factor,) = {rule.factor for rule in other.ensemble_ if rule.factor is not None and rule.factor.column == 0}
    assert 500_000.0 < factor.origin < 510_000.0


def test_a_row_of_weight_two_is_the_row_given_twice():
    X, y = straight(n=120)
    twice = np.arange(len(y)) % 3 == 0
    weighted = LLTBoostRegressor(max_rules=3, linear_terms=True).fit(X, y, sample_weight=1.0 + twice)
    repeated = LLTBoostRegressor(max_rules=3, linear_terms=True).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert weighted.path_ == repeated.path_


def test_missing_values_count_as_the_origin():
    X, y = straight()
    frame = pd.DataFrame(X, columns=list("abcd")).mask(np.random.default_rng(1).random(X.shape) < 0.1)
    model = LLTBoostRegressor(max_rules=4, linear_terms=True, random_state=0).fit(frame, y)
    assert "a missing a adds nothing" in model.to_text()
    (factor,) = {rule.factor for rule in model.ensemble_ if rule.factor is not None and rule.factor.column == 0}
    assert np.isclose(factor.origin, 5.0, atol=0.5)


def test_outliers_are_clipped_to_printed_limits():
    X, y = straight()
    X[0, 0], X[1, 0] = 1e6, -1e6
    # Two slopes and a step, and both limits.
    model = LLTBoostRegressor(max_rules=4, linear_terms=True, random_state=0).fit(X, y).at(9)
    (rule,) = (rule for rule in model.ensemble_ if rule.factor is not None and rule.factor.column == 0)
    assert -1.0 <= rule.factor.lower <= 0.5
    assert 9.5 <= rule.factor.upper <= 11.0
    assert np.isclose(rule.weight, 0.5, atol=0.05)
    assert np.abs(model.predict(X)).max() < 20.0


def test_what_has_no_slope():
    columns = [*map(Column, ("number", "three", "two")), Column("flag", kind="flag"), Column("levels", tuple("abcdefgh"))]
    rows = np.column_stack([np.arange(16.0), *(np.arange(16) % values for values in (3, 2, 2, 8))])
    block = Block.of_matrix(rows, columns)
    first, second, *others = [slopes_in(column, block, np.ones(16)) for column in range(5)]
    assert [slope.factor for slope in first + second] == [Factor(0), Factor(1)]
    assert others == [[], [], []]


# The last per cent begins at 9.9, and so do the limits, which are 9.8 apart.
@pytest.mark.parametrize(
    ("end", "limits"),
    [(10.0, [np.inf]), (11.8, [np.inf]), (11.9, [np.inf, 9.9]), (14.7, [np.inf, 9.9]), (14.9, [9.9]), (30.0, [9.9])],
)
def test_a_tail_may_belong_to_the_line_unless_it_is_very_long(end, limits):
    values = np.append(np.linspace(0.0, 10.0, 999), end)
    assert factors_of(values) == [Factor(0, 0.0, -np.inf, limit) for limit in limits]
    assert factors_of(-values) == [Factor(0, 0.0, -limit, np.inf) for limit in limits]


def factors_of(values):
    """Return the factors of the slopes in a column, as they are printed."""
    block = Block.of_matrix(values[:, None])
    return [short_factor(slope.factor, block) for slope in slopes_in(0, block, np.ones(len(values)))]


@pytest.mark.parametrize(("bend", "limit"), [(100.0, np.inf), (100.0 / 1.3, 100.0)])
def test_the_loss_decides_where_a_line_ends(bend, limit):
    values = np.append(np.linspace(0.0, 100.0, 496), [120.0, 124.0, 128.0, 130.0])
    y = np.minimum(values, 1.3 * bend)
    (rule,) = LLTBoostRegressor(max_rules=1, linear_terms="only").fit(values[:, None], y).ensemble_
    assert rule.factor.upper == limit


def test_lines_alone_are_known_even_if_an_oblique_rule_would_come_first():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 5)), rng.integers(0, 2, 300)])
    y = X @ [1.0, 1.0, 1.0, 1.0, 1.0, 1.5] + rng.normal(scale=0.3, size=300)
    search = with_lines(squared(X, y))
    search.learner.lines.note(next(search.grow()), 10, search.record)
    lines = search.record.front[-1]
    assert sorted(rule.used_columns for rule in lines.ensemble) == [(j,) for j in range(6)]
    assert lines.training_loss < 0.06 * 300
    # Noise is no reason for a slope: the criterion says when to stop.
    noise = with_lines(squared(X, rng.normal(size=300)))
    noise.learner.lines.note(next(noise.grow()), 10, noise.record)
    assert [len(stage.conditions) for stage in noise.record.front] == [0]


def steps_of(block, weight=None):
    """Return the steps of each column of some rows."""
    weight = np.ones(len(block)) if weight is None else weight
    return [
        [one.condition.describe(block.columns) for one in StepConditions.of(column, block, weight).candidates]
        for column in range(block.n_columns)
    ]


def test_steps_are_the_conditions_on_columns_of_levels_or_few_values():
    columns = [*map(Column, ("number", "three", "two")), Column("flag", kind="flag"), Column("levels", ("a", "b", "c"))]
    rows = np.column_stack([np.arange(12.0), *(np.arange(12) % values for values in (3, 2, 2, 3))])
    block = Block.of_matrix(rows, columns)
    of_levels = ["levels = a", "levels = b", "levels = c"]
    assert steps_of(block) == [[], [], ["two >= 0.5"], ["flag = 1"], of_levels]
    ordered = Block.of_matrix(rows[:, 4:], [Column("size", ("s", "m", "l"), ordered=True)])
    assert steps_of(ordered) == [["size at least m", "size at least l"]]
    many = Block.of_matrix(np.arange(40.0)[:, None] % 8, [Column("many", tuple("abcdefgh"))])
    assert len(steps_of(many)[0]) == 8


def test_a_missing_value_is_one_more_step():
    columns = [*map(Column, ("number", "three", "two")), Column("flag", kind="flag"), Column("levels", ("a", "b"))]
    rows = np.column_stack([np.arange(12.0), *(np.arange(12) % values for values in (3, 2, 2, 2))])
    rows[0] = np.nan
    assert steps_of(Block.of_matrix(rows, columns)) == [
        ["number is missing"],
        ["three is missing"],
        ["two >= 0.5", "two is missing"],
        ["flag = 1", "flag is missing"],
        ["levels = a", "levels = b", "levels is missing"],
    ]


def test_the_most_frequent_level_of_the_last_two_is_the_reference():
    levels = Block.of_matrix(np.repeat([0.0, 1.0, 2.0], [6, 4, 3])[:, None], [Column("c", ("a", "b", "c"))])
    steps = StepConditions.of(0, levels, np.ones(13))
    stage = Stage.constant(Problem(levels, np.arange(13.0), np.ones(13), LOSSES["squared"], 1.0, np.zeros(13, dtype=bool)))
    a, b, c = steps.candidates
    assert steps.left(stage) == [a, b, c]
    assert steps.left(stage.with_rule(b)) == [c]
    assert steps.left(stage.with_rule(a)) == [c]
    assert steps.left(stage.with_rule(c).with_rule(b)) == []


# LinearTerms alone


@pytest.mark.parametrize("n_columns", [2, 5])
def test_a_linear_model_is_least_squares_with_the_best_columns_first(n_columns):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=(200, 4)), rng.integers(0, 2, 200)])
    y = X @ [4.0, 0.0, -8.0, 0.0, 1.0] + rng.normal(scale=0.1, size=200)
    model = LLTBoostRegressor(linear_terms="only", max_rules=n_columns, ridge=0.0).fit(X, y)
    columns = [2, 0, 4, 1, 3][:n_columns]
    expected = LinearRegression().fit(X[:, columns], y).predict(X[:, columns])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6)
    assert [rule.factor.column for rule in model.at(4).ensemble_] == [2, 0]
    assert model.n_iter_ == n_columns


def mixed(n=240, seed=0):
    """Return rows with text, few numbers and holes, and a score to which each column contributes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, n).round(1),
            "pressure": rng.normal(120.0, 15.0, n).round(),
            "vessels": rng.integers(0, 4, n).astype(float),
            "gender": rng.choice(["female", "male"], n, p=[0.4, 0.6]),
            "pain": rng.choice(["none", "mild", "severe"], n, p=[0.5, 0.3, 0.2]),
            "town": rng.choice(list("abcdefgh"), n),
        }
    )
    score = (
        0.02 * frame["age"]
        + 0.9 * frame["vessels"]
        + 0.7 * (frame["gender"] == "male")
        + 1.2 * (frame["pain"] == "severe")
        + (frame["town"] == "c")
    ).to_numpy()
    for column in ("vessels", "pain", "pressure"):
        frame.loc[rng.choice(n, 12, replace=False), column] = None
    score = score + 1.5 * frame["pressure"].isna().to_numpy()
    return frame, score, rng


def test_a_linear_model_of_levels_is_least_squares_without_a_redundant_term():
    X, score, rng = mixed()
    y = score + rng.normal(scale=0.5, size=len(score))
    X["visit"] = rng.choice([1.0, 2.0], len(X))
    model = LLTBoostRegressor(linear_terms="only", max_rules=50, ridge=0.0, exact="rows").fit(X, y)
    # Dummies for all levels and for missing values, and a cut between two numbers: what the model can say.
    dummies = pd.get_dummies(X[["gender", "pain", "town"]], dummy_na=True).astype(float)
    numbers = X[["age", "pressure", "vessels"]].fillna(X[["pressure", "vessels"]].median())
    cuts = (X[["visit"]] >= 2.0).astype(float)
    absent = X[["vessels", "pressure"]].isna().astype(float).add_suffix(" missing")
    design = np.column_stack([dummies, numbers, cuts, absent])
    rank = np.linalg.matrix_rank(np.column_stack([np.ones(len(X)), design - design.mean(axis=0)]))
    assert len(model.ensemble_) == rank - 1 == 17
    assert " if visit >= 2" in model.to_text()
    assert "gender = male" not in model.to_text()
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(design, y).predict(design), atol=1e-6)


def test_columns_with_holes_in_the_same_rows_have_one_term_for_them():
    X, score, rng = mixed()
    X["weight"] = rng.normal(size=len(X))
    X.loc[X["pressure"].isna(), "weight"] = np.nan
    model = LLTBoostRegressor(linear_terms="only", max_rules=50).fit(X, score + rng.normal(scale=0.5, size=len(score)))
    text = model.to_text()
    assert ("pressure is missing" in text) + ("weight is missing" in text) == 1


def test_one_missing_cell_does_not_leave_a_column_out():
    X, score, rng = mixed()
    y = rng.random(len(score)) < 1.0 / (1.0 + np.exp(3.0 - score))
    full = X.fillna({"vessels": 1.0, "pain": "none", "pressure": 120.0})
    full.loc[0, ["vessels", "pain"]] = None
    model = LLTBoostClassifier(linear_terms="only", max_rules=6).fit(full, y)
    assert {"vessels", "pain"} <= {full.columns[column] for rule in model.ensemble_ for column in rule.used_columns}


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_what_lowers_the_loss_most_comes_first(loss):
    X, score, rng = mixed()
    targets = {
        "squared": score + rng.normal(size=len(score)),
        "logistic": np.where(rng.random(len(score)) < 1.0 / (1.0 + np.exp(3.0 - score)), 1.0, 0.0),
        "poisson": rng.poisson(np.exp(0.5 * score - 1.0)).astype(float),
    }
    block, ones = training_columns(read_table(X, None, "fit")), np.ones(len(X))
    data = Problem(block, targets[loss], ones, LOSSES[loss], GROWTH_RIDGE, np.zeros(len(X), dtype=bool))
    lines, record = LinearTerms(block, ones, InformationSelection(4.0)), Record()
    for stage, longer in itertools.pairwise(lines.grow(Stage.constant(data), 8, record)):
        offered = [*lines.new_slopes(stage), *(one for steps in lines.steps for one in steps.left(stage))]
        assert longer.training_loss == min(stage.with_rule(one).training_loss for one in offered)


def test_a_linear_model_of_classes_is_logistic_regression():
    X, y = straight(loss="logistic")
    model = LLTBoostClassifier(linear_terms="only", ridge=0.0).fit(X, y)
    expected = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(X - 5.0, y).predict_proba(X - 5.0)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_a_linear_model_has_next_to_no_ridge_where_lines_are_clear():
    X, y = straight()
    assert LLTBoostRegressor(linear_terms="only").fit(X[:, :2], y).ridge_ == 0.5


def test_cross_validation_of_lines_alone_gives_lines_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 6))
    line = X @ [3.0, 2.0, 1.0, 1.0, 0.5, 0.5] + rng.normal(size=150)
    model = LLTBoostRegressorCV(linear_terms="only", max_rules=6, cv=2).fit(X, line)
    assert all(rule.factor is not None for ensemble in model.path_ for rule in ensemble)
    assert model.path_ == LLTBoostRegressor(linear_terms="only", max_rules=6).fit(X, line).path_


def test_a_linear_model_with_all_columns_need_not_be_longer():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 2))
    model = LLTBoostRegressorCV(linear_terms="only", max_rules=2, cv=KFold(2), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, X @ [1.0, 2.0])
    with pytest.warns(ConvergenceWarning, match="raise max_rules"):
        model.set_params(max_rules=1).fit(X, X @ [1.0, 2.0])


def test_a_slope_is_taken_at_most_once_and_can_be_dropped():
    search = with_lines(problem(n=400))
    constant = next(search.grow())
    first = search.learner.candidates(constant, search.selection, search.record)
    (slope,) = (one for one in first if isinstance(one.condition, Slope) and not one.condition.factor.is_hinge)
    extended = constant.with_rule(slope)
    again = search.learner.candidates(extended, search.selection, search.record)
    assert slope.condition not in [one.condition for one in again]
    dropped = extended.without(0)
    assert dropped.conditions == ()
    assert np.isclose(dropped.training_loss, constant.training_loss)


@pytest.mark.parametrize(
    "model",
    [
        LLTBoostRegressor(selection="validation", linear_terms=True),
        TGBRegressor(linear_terms=True),
        LLTBoostRegressor(selection="validation", linear_terms="only"),
    ],
)
def test_slopes_that_cannot_be_learned_are_refused(model):
    X, y = straight()
    with pytest.raises(ValueError, match=r"linear_terms=.* needs"):
        model.fit(X, y)
    assert model.set_params(linear_terms="auto", max_rules=1).fit(X, y).path_


def test_slopes_with_thresholds_on_single_columns_and_cross_validation():
    X, y = straight()
    axis = TGBRegressor(selection="information", linear_terms=True, max_rules=4, effort=1).fit(X, y)
    chosen = LLTBoostRegressorCV(linear_terms=True, max_rules=4, effort=1, cv=3, random_state=0).fit(X, y)
    for model in (axis, chosen):
        assert {rule.factor.column for rule in model.ensemble_ if rule.factor is not None} >= {0, 1}
        assert np.mean((model.predict(X) - y) ** 2) < 0.1


def test_the_ridge_of_growth_counts_slopes_in_standard_deviations():
    X, y = straight()
    model = LLTBoostRegressor(linear_terms=True, ridge=GROWTH_RIDGE, max_rules=2).fit(X, y)
    weights = model.edit(X, y).refit().model.ensemble_.weight_table
    assert np.allclose(weights, model.ensemble_.weight_table, rtol=1e-4)


def bent(n=400, seed=0):
    """Return rows whose targets are level up to 6 in the first column, and rise beyond."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, size=(n, 3)).round(2)
    return X, np.maximum(X[:, 0], 6.0) + rng.normal(scale=0.1, size=n)


def stage_of(loss, X, y, weight):
    """Return an ensemble with a rule and a slope, on weighted rows."""
    data = Problem(Block.of_matrix(np.asfortranarray(X)), y, weight, LOSSES[loss], 2.0, np.zeros(len(y), dtype=bool))
    rule = Proposition([1], [1.0], 5.0)
    stage = first_stage(data).with_rule(Candidate(Conjunction([rule]), rule(data.X), 0.0))
    slope = Slope.of(Factor(2), data.X, weight)
    return stage.with_rule(Candidate(slope, slope(data.X), 0.0))


def hinges_of(data):
    """Return the hinges of all columns of a problem."""
    slopes = [found[0] for column in range(data.X.n_columns) if (found := slopes_in(column, data.X, data.row_weight))]
    return Hinges(data.X, data.row_weight, slopes)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_gains_are_those_of_the_values_of_each_hinge(loss, missing):
    rng = np.random.default_rng(1)
    X, y = bent()
    X[:, 1] = np.exp(0.5 * X[:, 1])  # a long tail, which is clipped
    X[rng.random(len(X)) < missing, 0] = np.nan
    y = {"squared": y, "logistic": (y > 6.5).astype(float), "poisson": np.round(y)}[loss]
    stage = stage_of(loss, X, y, rng.integers(1, 4, len(y)).astype(float))
    found = hinges_of(stage.problem)
    gains = found.gains(stage)
    assert gains.shape == (3, 2, len(SHARES))
    for (column, side, knot), gain in np.ndenumerate(gains):
        hinge = Slope.of(found.hinge(column, side, knot), stage.problem.X, stage.problem.row_weight)
        assert hinge.factor.is_hinge
        assert gain == pytest.approx(stage.gains([Candidate.of(hinge, stage.problem.X)])[0], rel=1e-6, abs=1e-9)


def test_some_rows_stand_for_all(monkeypatch):
    X, y = bent(4000)
    stage = stage_of("squared", X, y, np.ones(len(y)))
    exact = hinges_of(stage.problem).gains(stage)
    monkeypatch.setattr(linear_terms, "MOST_ROWS", 1000)
    assert np.corrcoef(hinges_of(stage.problem).gains(stage).ravel(), exact.ravel())[0, 1] > 0.99


def test_the_best_of_each_column_come_first_and_are_not_offered_again():
    X, y = bent()
    stage = stage_of("squared", X, y, np.ones(len(y)))
    found = hinges_of(stage.problem)
    best = found.best(stage)
    assert len({one.condition.factor.column for one in best}) == len(best) <= 3
    first = best[0].condition.factor
    assert first == Factor(0, first.origin, first.origin)
    assert first.origin == pytest.approx(6.0, abs=0.3)
    gains = stage.gains(best).tolist()
    assert gains == sorted(gains, reverse=True)
    again = found.best(stage.with_rule(best[0]))
    assert best[0].condition.factor not in {one.condition.factor for one in again}


@pytest.mark.parametrize("column", [np.repeat([0.0, 1.0], 150), np.full(300, 3.0)])
def test_columns_of_few_values_have_none(column):
    X = Block.of_matrix(np.asfortranarray(column[:, None]))
    assert slopes_in(0, X, np.ones(300)) == []
    assert hinges_of(stage_of("squared", *bent(), np.ones(400)).problem).slopes


def test_a_knot_at_an_end_makes_no_hinge():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(rng.random(400) < 0.7, 0.0, rng.uniform(0.0, 9.0, 400)), *rng.uniform(0.0, 9.0, (2, 400))])
    stage = stage_of("squared", X, X[:, 0], np.ones(400))
    found = hinges_of(stage.problem)
    at_zero = found.knots[0] == 0.0
    assert at_zero.any()
    assert (found.gains(stage)[0][:, at_zero] == 0.0).all()  # it would be the slope itself, or nothing


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_a_column_does_not_matter(unit):
    X, y = bent()
    knots = []
    for scaled in (X, X * [unit, 1.0, 1.0]):
        stage = stage_of("squared", scaled, y, np.ones(len(y)))
        knots.append(hinges_of(stage.problem).best(stage)[0].condition.factor.origin)
    assert knots[1] == pytest.approx(unit * knots[0], rel=1e-12)


@pytest.mark.parametrize("kind", [LLTBoostRegressor, TGBRegressor])
def test_a_bend_is_found_and_printed(kind):
    X, y = bent()
    more = {} if kind is LLTBoostRegressor else {"selection": "information"}
    model = kind(max_rules=3, **more).fit(X, y, feature_names=["dose", "b", "c"]).at(3)
    (rule,) = model.ensemble_
    assert rule.factor.is_hinge
    assert rule.complexity == model.ensemble_.complexity == 3
    assert rule.factor.origin == pytest.approx(6.0, abs=0.3)
    assert (
        rule.describe(model.ensemble_.columns)
        == f"+{rule.weight:.3g} (max(dose, {rule.factor.origin:g}) - {rule.factor.origin:g})"
    )
    assert np.mean((model.predict(X) - y) ** 2) < 0.02


def test_classes_and_holes():
    rng = np.random.default_rng(0)
    X, _ = bent(1500)
    y = rng.random(len(X)) < 1.0 / (1.0 + np.exp(2.0 - 1.5 * np.maximum(X[:, 0] - 6.0, 0.0)))
    X[rng.random(len(X)) < 0.1, 0] = math.nan
    model = LLTBoostClassifier(max_rules=3, effort=0).fit(X, y)
    assert any(rule.factor is not None and rule.factor.is_hinge for ensemble in model.path_ for rule in ensemble)
    missing = np.array([[math.nan, 5.0, 5.0]])
    assert np.isfinite(model.predict_proba(missing)).all()


def test_rules_alone_and_lines_alone_have_none():
    X, y = bent()
    for linear in (False, "only"):
        model = LLTBoostRegressor(max_rules=4, effort=0, linear_terms=linear).fit(X, y)
        assert not any(rule.factor is not None and rule.factor.is_hinge for ensemble in model.path_ for rule in ensemble)
