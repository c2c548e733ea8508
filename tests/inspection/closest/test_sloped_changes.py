"""Closest changes under rules with factors: enumeration of all linear pieces finds nothing closer."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.inspection.closest.feasible import Feasible, Goal
from obliquerules.rules import Block, Factor

from ...report.slopes import sloped
from ..mixed import COLUMNS, NUMBERS, memberships, mixed_rows, sums
from . import test_mixed_changes as mixed_changes
from .test_closest_change import DOWN, UP, found, random_region


def random_factor(rng, n_columns):
    low, high = np.sort(rng.normal(scale=2.0, size=2))
    ends = {"lower": low} if rng.random() < 0.5 else {}
    ends |= {"upper": high} if rng.random() < 0.5 else {}
    return Factor(int(rng.integers(n_columns)), float(rng.normal()), **ends)


def random_condition(rng, n_columns):
    columns = rng.permutation(n_columns)[: rng.integers(1, 3)]
    weights = rng.choice([-1.0, 1.0], 1) if len(columns) == 1 else rng.normal(size=len(columns))
    return Proposition(columns, weights, rng.normal())


def random_slopes(rng, n_columns):
    """Return a plain rule or two, a slope, and a rule with both a condition and a factor."""
    plain = [Rule(rng.normal(), Conjunction([random_condition(rng, n_columns)])) for _ in range(rng.integers(0, 3))]
    slopes = [Rule(rng.normal(), None, random_factor(rng, n_columns)) for _ in range(rng.integers(1, 3))]
    both = Rule(rng.normal(), Conjunction([random_condition(rng, n_columns)]), random_factor(rng, n_columns))
    return RuleEnsemble(rng.permutation(np.array([*plain, *slopes, both], dtype=object)), rng.normal() * 2.0)


def as_inequality(proposition, holds, n):
    """Return a row and a limit: their product with a point is at most the limit where the proposition holds, or does not."""
    row = np.zeros(n)
    row[list(proposition.columns)] = proposition.weights
    return (-row, -proposition.threshold) if holds else (row, proposition.threshold)


def segments(factor):
    """Return the ends of the pieces of a factor, and on each its growth and its value where the column is zero."""
    middle = [(factor.lower, factor.upper, 1.0, -factor.origin)]
    below = [(-math.inf, factor.lower, 0.0, factor.lower - factor.origin)] if math.isfinite(factor.lower) else []
    above = [(factor.upper, math.inf, 0.0, factor.upper - factor.origin)] if math.isfinite(factor.upper) else []
    return below + middle + above


def least_on_piece(truth, pieces, ensemble, region, direction):
    """Return the least distance where conditions have these truth values and factors are on these pieces."""
    n = len(region.x)
    lower, upper = region.lower.copy(), region.upper.copy()
    growth, constant = np.zeros(n), ensemble.intercept
    for index, rule in enumerate(ensemble):
        fires = all(truth[p] for p in rule.condition)
        if rule.factor is None:
            constant += rule.weight * fires
            continue
        j, (low, high, slope, value) = rule.factor.column, pieces[index]
        lower[j], upper[j] = max(lower[j], low), min(upper[j], high)
        growth[j] += fires * rule.weight * slope
        constant += fires * rule.weight * value
    if (lower > upper).any() or (not growth.any() and direction * constant <= 0.0):
        return math.inf
    rows = [as_inequality(p, holds, n) for p, holds in truth.items()] + [(-direction * growth, direction * constant)]
    left, right = np.array([row for row, _ in rows]), np.array([limit for _, limit in rows])
    # One variable for each column, and one for the size of its change.
    eye, none = np.eye(n), np.zeros((len(left), n))
    left = np.vstack([np.hstack([left, none]), np.hstack([eye, -eye]), np.hstack([-eye, -eye])])
    bounds = [*zip(lower, upper, strict=True), *[(0.0, None)] * n]
    result = linprog(
        np.concatenate([np.zeros(n), region.cost / region.unit]),
        left,
        np.concatenate([right, region.x, -region.x]),
        bounds=bounds,
    )
    return result.fun if result.status == 0 else math.inf


def enumerated(ensemble, region, goal):
    """Return the least distance over all linear pieces of the score."""
    if goal.met(ensemble(region.x[None, :]))[0]:
        return 0.0
    propositions = list({p for rule in ensemble for p in rule.condition})
    sloped = {index: segments(rule.factor) for index, rule in enumerate(ensemble) if rule.factor is not None}
    best = math.inf
    for holds in itertools.product([True, False], repeat=len(propositions)):
        for chosen in itertools.product(*sloped.values()):
            truth, pieces = dict(zip(propositions, holds, strict=True)), dict(zip(sloped, chosen, strict=True))
            best = min(best, least_on_piece(truth, pieces, ensemble, region, goal.direction))
    return best


def check(result, expected, ensemble, region, goal):
    assert result.proven
    assert result.distance == pytest.approx(expected, rel=5e-6, abs=5e-6)
    if result.row is None:
        assert result.bound == math.inf
        return
    row = np.array(result.row)
    assert goal.met(ensemble(row[None, :]))[0]
    assert ((row >= region.lower) & (row <= region.upper)).all()
    assert result.bound <= result.distance <= result.bound + 1e-5 * max(1.0, result.bound)


def unmet(ensemble, region):
    """Return the goal for the prediction that a row does not have."""
    return DOWN if UP.met(ensemble(region.x[None, :]))[0] else UP


@pytest.mark.parametrize("n_columns", [2, 3])
def test_no_linear_piece_has_a_closer_point(n_columns):
    rng = np.random.default_rng(n_columns)
    impossible = 0
    for _ in range(100):
        ensemble, region = random_slopes(rng, n_columns), random_region(rng, n_columns, False)
        goal = unmet(ensemble, region)
        result = found(ensemble, region, goal)
        check(result, enumerated(ensemble, region, goal), ensemble, region, goal)
        impossible += result.row is None
    assert 10 < impossible < 60


def test_whole_numbers_by_enumeration():
    """The first variable takes whole numbers: each of them is tried as a fixed value."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        ensemble, region = random_slopes(rng, 2), random_region(rng, 2, False)
        start, whole = float(np.round(region.x[0])), np.array([True, False])
        near = (start, start - 3.0, start + 3.0)
        x, lower, upper = (
            np.where(whole, end, ends) for end, ends in zip(near, (region.x, region.lower, region.upper), strict=True)
        )
        region = replace(region, x=x, lower=lower, upper=upper, whole=whole)
        goal, expected = unmet(ensemble, region), math.inf
        for value in np.arange(start - 3.0, start + 4.0):
            there = [np.where(whole, value, numbers) for numbers in (x, lower, upper)]
            fixed = replace(region, x=there[0], lower=there[1], upper=there[2])
            expected = min(expected, region.distance(there[0]) + enumerated(ensemble, fixed, goal))
        result = found(ensemble, region, goal)
        check(result, expected, ensemble, region, goal)
        assert result.row is None or result.row[0] == round(result.row[0])


@pytest.mark.parametrize("goal", [UP, DOWN], ids=["up", "down"])
def test_scores_of_whole_numbers_that_are_next_to_wanted_are_told_apart(goal):
    """Weights such as 0.1 make scores that are zero but for rounding: only the model knows on which side they are."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        weights, origins = rng.integers(-3, 4, 2) / 10.0, rng.integers(-3, 4, 2) / 1.0
        rules = [Rule(w, factor=Factor(j, o)) for j, (w, o) in enumerate(zip(weights, origins, strict=True))]
        ensemble = RuleEnsemble(rules, float(rng.integers(-9, 10)) / 10.0)
        region = random_region(rng, 2, True)
        region = replace(region, lower=region.x - 5.0, upper=region.x + 5.0, whole=np.ones(2, dtype=bool))
        rows = np.array(list(itertools.product(*(np.arange(x - 5.0, x + 6.0) for x in region.x))))
        met = rows[goal.met(ensemble(rows))]
        result = found(ensemble, region, goal)
        assert result.proven
        assert result.distance == pytest.approx(region.distances(met).min(initial=math.inf), rel=2e-6, abs=2e-6)


def one_column(lower, upper, x=0.0):
    ends = (np.array([value]) for value in (x, lower, upper))
    return Feasible(*ends, np.ones(1), np.ones(1), np.zeros(1, dtype=bool))


def test_a_slope_is_followed_to_where_the_prediction_changes():
    result = found(RuleEnsemble([Rule(0.5, factor=Factor(0, 10.0))], 0.0), one_column(-50.0, 50.0), UP)
    assert result.row[0] == pytest.approx(10.0)
    assert result.proven


def test_limits_that_keep_a_slope_from_reaching_a_prediction_are_proof():
    ensemble = RuleEnsemble([Rule(0.5, factor=Factor(0, 10.0, upper=9.0))], 0.0)
    result = found(ensemble, one_column(-50.0, 50.0), UP)
    assert (result.row, result.proven) == (None, True)
    assert found(ensemble.shifted(0.5 + 1e-9), one_column(-50.0, 50.0), UP).row is not None


@pytest.mark.parametrize("text", ["+1 (x0 - 3) if x0 <= 3", "-1 (x0 - 3) if x0 >= 3"])
def test_a_slope_that_ends_where_it_would_change_the_prediction_is_proof(text):
    result = found(RuleEnsemble.parse(text), one_column(-9.0, 9.0), UP)
    assert (result.row, result.proven) == (None, True)


def test_a_region_without_ends():
    ensemble = RuleEnsemble([Rule(1.0, factor=Factor(0, lower=2.0)), Rule(-0.5, factor=Factor(0, lower=4.0))], -9.0)
    result = found(ensemble, one_column(-math.inf, math.inf), UP)
    assert result.row[0] == pytest.approx(18.0)
    assert result.proven


def test_a_missing_value_adds_nothing_until_it_is_known():
    ensemble = RuleEnsemble.parse("-1 if True\n+0.5 x0\n+0.1 x1", ["x0", "x1"])
    x, low, high = np.array([math.nan, 0.0]), np.array([-5.0, -5.0]), np.array([5.0, 5.0])
    still = Feasible(x, np.array([math.nan, -5.0]), np.array([math.nan, 5.0]), np.ones(2), np.ones(2), np.zeros(2, dtype=bool))
    assert found(ensemble, still, UP).row is None
    result = found(ensemble, replace(still, lower=low, upper=high, unknown={0: 1.0}), UP)
    assert result.row == pytest.approx((2.0, 0.0))
    assert (result.proven, result.distance) == (True, pytest.approx(2.0))


@st.composite
def mixed_slopes(draw):
    """Draw rules on mixed columns, some of which have a factor, some of these a condition."""
    limits = {"lower": draw(st.sampled_from([0.5, 1.0, 4.0, -math.inf])), "upper": draw(st.sampled_from([4.5, 5.0, math.inf]))}
    factors = st.builds(
        lambda column, origin: Factor(column, origin, **limits), st.sampled_from(NUMBERS), st.sampled_from([0.0, 1.5, 2.0])
    )
    tests = st.lists(memberships() | sums(), max_size=2).map(Conjunction)
    rules = st.builds(Rule, st.sampled_from([-1.0, -0.1, 0.3, 1.0]), tests, st.none() | factors)
    return RuleEnsemble(draw(st.lists(rules, min_size=1, max_size=4)), draw(st.sampled_from([-1.0, 0.0, 0.1])), COLUMNS)


@settings(max_examples=120)
@given(mixed_slopes(), mixed_rows, st.sampled_from([-1.0, 0.0, 0.5, 1.2]), st.booleans(), st.booleans())
def test_among_whole_numbers_dates_and_levels_enumeration_finds_nothing_closer(ensemble, x, limit, up, fill):
    goal = Goal(lambda score: score > limit, 1.0, "up") if up else Goal(lambda score: score < limit, -1.0, "down")
    result = mixed_changes.found(ensemble, x, goal, COLUMNS.names if fill else ())
    assert result.proven
    expected = mixed_changes.enumerated(ensemble, x, goal, fill)
    assert result.distance == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert result.row is None or goal.met(ensemble(Block(COLUMNS, mixed_changes.coded(result.row)[None, :])))[0]


def test_a_model_with_slopes_can_be_asked():
    model, X, _ = sloped()
    for row in range(6):
        result = model.closest_change(X.iloc[row], X, tolerance=0.01)
        changed = X.iloc[[row]].copy()
        for change in result:
            changed[change.variable] = pd.Series([change.after], index=changed.index).astype(X[change.variable].dtype)
        assert result.proven
        assert (result.before, result.after) == (model.predict(X.iloc[[row]])[0], model.predict(changed)[0])
        assert result.before != result.after
