"""Units: a column times a constant gives the same model, up to the rounding of the numbers that slopes print."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBRegressor
from obliquerules.data.sample import Sample
from obliquerules.learning.boosting.linear_terms import SHORTENED, short_factor, short_slopes
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Factor, Slope

# Of the range of all scores: how far rounded limits and knots may move a score.
MOST_MOVED = 0.01
POWERS_OF_TWO = st.integers(-30, 30).map(lambda power: 2.0**power)
OTHERS = st.floats(-15.0, 15.0).map(lambda power: float(np.exp(power)))


def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X.astype(float), y.to_numpy()


def bent(n=250):
    """Return rows with long tails, holes, text and a line that bends, and a number."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"dose": rng.exponential(5.0, n), "age": rng.normal(50.0, 12.0, n), "ward": rng.choice(["a", "b"], n)})
    y = 2.0 * np.maximum(X["dose"] - 6.0, 0.0) + 0.1 * X["age"] + (X["ward"] == "b") + rng.normal(scale=0.3, size=n)
    X.loc[rng.choice(n, 25, replace=False), "age"] = np.nan
    return X, y.to_numpy()


def classes(n=250):
    """Return rows far from zero with holes, and two classes."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.lognormal(3.0, 1.0, n), "b": rng.normal(1000.0, 20.0, n), "c": rng.uniform(size=n)})
    score = np.log(X["a"]) - 3.0 + 0.05 * (X["b"] - 1000.0) + 2.0 * (X["c"] > 0.6)
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")
    X.loc[rng.choice(n, 20, replace=False), "b"] = np.nan
    return X, y


SMALL = {"max_rules": 4, "effort": 0, "exact": "rows"}
FITS = {
    "diabetes": (LLTBoostRegressor(**SMALL), diabetes()),
    "lines": (LLTBoostRegressor(**SMALL | {"max_rules": 8}, linear_terms="only"), diabetes()),
    "bent": (LLTBoostRegressor(**SMALL), bent()),
    "thresholds": (TGBRegressor(**SMALL, selection="information", linear_terms=True), bent()),
    "classes": (LLTBoostClassifier(**SMALL), classes()),
    "lines of classes": (LLTBoostClassifier(**SMALL, linear_terms="only"), classes()),
}
KNOWN = {}


def scores_of(name, scale):
    """Return the scores and the shape of a model that was fitted to columns times some constants."""
    model, (X, y) = FITS[name]
    scaled = X.copy()
    for column, factor in scale.items():
        scaled[column] *= factor
    members = [model.at(ensemble.complexity) for ensemble in model.fit(scaled, y).path_]
    terms = [[(rule.used_columns, rule.factor is None) for rule in member.ensemble_] for member in members]
    predict = "decision_function" if hasattr(model, "classes_") else "predict"
    return np.array([getattr(member, predict)(scaled) for member in members]), terms


@pytest.mark.parametrize("name", FITS)
@settings(max_examples=3, phases=[Phase.generate])  # to shrink an example would take minutes
@given(data=st.data())
def test_the_unit_of_a_column_moves_scores_by_a_share_at_most(name, data):
    _, (X, _) = FITS[name]
    numbers = [column for column in X if X[column].dtype == float]
    scale = data.draw(st.dictionaries(st.sampled_from(numbers), POWERS_OF_TWO | OTHERS, min_size=1))
    if name not in KNOWN:
        KNOWN[name] = scores_of(name, {})
    (scores, terms), (others, same) = KNOWN[name], scores_of(name, scale)
    assert same == terms
    assert np.abs(others - scores).max() <= MOST_MOVED * np.ptp(scores)


@pytest.mark.parametrize(("column", "factor"), [("bmi", 0.4536), ("s5", 1.0 / 3.0)])
def test_a_default_model_in_other_units(column, factor):
    X, y = diabetes()
    one, other = LLTBoostRegressor().fit(X, y), LLTBoostRegressor().fit(X.assign(**{column: factor * X[column]}), y)
    # Towards the end of a path, where models are equally good, digits decide which of them is on it.
    sizes = [[ensemble.complexity for ensemble in model.path_ if ensemble.complexity <= 12] for model in (one, other)]
    assert sizes[0] == sizes[1]
    for size in sizes[0]:
        here, there = one.at(size).predict(X), other.at(size).predict(X.assign(**{column: factor * X[column]}))
        assert np.abs(there - here).max() <= MOST_MOVED * max(np.ptp(here), 1.0)


# Short numbers


@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3, unique=True).map(sorted),
    hinge=st.booleans(),
    has_holes=st.booleans(),
)
def test_short_limits_stay_close(numbers, hinge, has_holes):
    low, middle, high = numbers
    factor = Factor(0, low, low, high) if hinge else Factor(0, middle, low, high)
    values = np.append(np.linspace(low - 1.0, high + 1.0, 50), np.nan if has_holes else low)
    short = short_factor(factor, Block.of_matrix(values[:, None]))
    reach = 1.001 * SHORTENED * (high - low)
    assert abs(short.lower - low) <= reach
    assert abs(short.upper - high) <= reach
    assert short.is_hinge == hinge
    assert not (has_holes or hinge) or abs(short.origin - factor.origin) <= reach


def test_an_origin_that_only_moves_the_constant_is_rounder():
    values = np.linspace(3.21, 242.84, 100)
    assert short_factor(Factor(0, 123.37), Block.of_matrix(values[:, None])) == Factor(0, 120.0)
    with_hole = np.append(values, np.nan)
    assert short_factor(Factor(0, 123.37), Block.of_matrix(with_hole[:, None])) == Factor(0, 123.0)


def test_slopes_stay_different():
    X, ones = Block.of_matrix(np.arange(1000.0)[:, None]), np.ones(1000)
    data = Problem(X, np.arange(1000.0), ones, LOSSES["squared"], 1.0, np.zeros(1000, dtype=bool))
    stage = Stage.constant(data)
    for knot in (501.0, 502.0, 730.0):
        slope = Slope.of(Factor(0, knot, knot), X, ones)
        stage = stage.with_rule(Candidate(slope, slope(X), 0.0))
    short = stage.with_slopes(short_slopes([stage], Sample(X, data.y, ones, np.arange(1000, dtype=np.uint64), ones)))
    assert [slope.factor.origin for slope in short.conditions] == [500.0, 502.0, 730.0]
    for slope, column in ((term.condition, term.covers) for term in short.terms):
        np.testing.assert_array_equal(slope(X), column)
