"""Closest change: it gives the wanted prediction, and brute force finds nothing closer."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from obliquerules import Conjunction, LLTBoostClassifier, LLTBoostRegressor, Proposition, Rule, RuleEnsemble
from obliquerules.inspection.closest.closest_change import closest_change
from obliquerules.inspection.closest.feasible import Feasible, Goal
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from ...estimators.fitted import every_kind, fitted

UP = Goal(lambda score: score > 0.0, 1.0, "positive")
DOWN = Goal(lambda score: score <= 0.0, -1.0, "not positive")


def random_ensemble(rng, n_columns, n_rules, whole):
    """Return rules with one or two conditions; with whole numbers, scores and projections hit their bounds exactly."""
    draw = (lambda size: rng.integers(-2, 3, size).astype(float)) if whole else (lambda size: rng.normal(size=size))
    rules = []
    while len(rules) < n_rules:
        condition = []
        for _ in range(rng.integers(1, 3)):
            columns = rng.permutation(n_columns)[: rng.integers(1, n_columns + 1)]
            weights = draw(len(columns))
            if weights.all():
                condition.append(Proposition(columns, weights, draw(1)[0]))
        if condition:
            rules.append(Rule(draw(1)[0], Conjunction(condition)))
    return RuleEnsemble(rules, draw(1)[0])


def random_region(rng, n_columns, whole):
    x = rng.integers(-2, 3, n_columns).astype(float) if whole else rng.normal(size=n_columns)
    lower, upper = x - rng.exponential(3.0, n_columns), x + rng.exponential(3.0, n_columns)
    fixed = rng.random(n_columns) < 0.2
    lower[fixed], upper[fixed] = x[fixed], x[fixed]
    unit, cost = rng.uniform(0.5, 2.0, (2, n_columns))
    return Feasible(x, lower, upper, unit, cost, np.zeros(n_columns, dtype=bool))


def vertices(ensemble, region):
    """Yield the points where as many planes meet as there are variables.

    The planes are those of conditions, of bounds, and of values that do not change: between them, conditions have one answer
    and the distance is linear, so that its least value is taken at one of these points.
    """
    n = len(region.x)
    planes = [(np.eye(n)[j], value) for j in range(n) for value in {region.x[j], region.lower[j], region.upper[j]}]
    for proposition in {p for rule in ensemble for p in rule.condition}:
        normal = np.zeros(n)
        normal[list(proposition.columns)] = proposition.weights
        planes.append((normal, proposition.threshold))
    for chosen in itertools.combinations(planes, n):
        normals = np.array([normal for normal, _ in chosen])
        if abs(np.linalg.det(normals)) > 1e-9:
            yield np.linalg.solve(normals, [value for _, value in chosen])


def brute_force(ensemble, region, goal, rng):
    """Return the least distance of a vertex beside which, in one of many directions, the prediction is the wanted one."""
    directions = np.vstack([np.zeros(len(region.x)), rng.normal(size=(300, len(region.x)))]) * 1e-6
    best = math.inf
    for vertex in vertices(ensemble, region):
        if (vertex >= region.lower - 1e-9).all() and (vertex <= region.upper + 1e-9).all() and region.distance(vertex) < best:
            nearby = np.clip(vertex + directions, region.lower, region.upper)
            if goal.met(ensemble(nearby)).any():
                best = region.distance(vertex)
    return best


def found(ensemble, region, goal, **options):
    options = {"tolerance": 0.0, "max_steps": 10_000} | options
    rows = np.vstack([region.x])
    return closest_change(Model.of(ensemble, LOSSES["squared"]), region, goal, rows, **options)


@pytest.mark.parametrize("goal", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_nothing_is_closer_by_brute_force(n_columns, whole, goal):
    rng = np.random.default_rng(n_columns)
    impossible = 0
    for _ in range(25):
        ensemble, region = random_ensemble(rng, n_columns, 3, whole), random_region(rng, n_columns, whole)
        result = found(ensemble, region, goal)
        expected = brute_force(ensemble, region, goal, rng)
        assert result.proven
        assert result.distance == pytest.approx(expected, rel=2e-5, abs=2e-5)
        if result.row is None:
            impossible += 1
            assert result.bound == math.inf
            continue
        row = np.array(result.row)
        assert goal.met(ensemble(row[None, :]))[0]
        assert (row >= region.lower).all()
        assert (row <= region.upper).all()
        assert result.distance == pytest.approx(region.distance(row)) == pytest.approx(sum(c.distance for c in result))
        assert result.bound <= result.distance <= result.bound * (1 + 1e-4) + 1e-4
    assert 0 < impossible < 25


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_whole_numbers_by_brute_force(n_columns):
    """The first variable takes whole numbers: each of them is tried as a fixed value."""
    rng = np.random.default_rng(n_columns)
    whole = np.arange(n_columns) == 0
    changed = 0
    for _ in range(24 // n_columns):
        ensemble, region = random_ensemble(rng, n_columns, 3, False), random_region(rng, n_columns, False)
        x = np.where(whole, np.round(region.x), region.x)
        lower, upper = (
            np.where(whole, x - rng.integers(0, 4), region.lower),
            np.where(whole, x + rng.integers(0, 4), region.upper),
        )
        region = replace(region, x=x, lower=lower, upper=upper, cost=np.where(whole, 0.1, region.cost), whole=whole)
        expected = math.inf
        for value in np.arange(lower[0], upper[0] + 1.0):
            there = [np.where(whole, value, numbers) for numbers in (x, lower, upper)]
            away = region.distance(np.where(whole, value, x))
            expected = min(
                expected, away + brute_force(ensemble, replace(region, x=there[0], lower=there[1], upper=there[2]), UP, rng)
            )
        result = found(ensemble, region, UP)
        assert result.proven
        assert result.distance == pytest.approx(expected, rel=2e-5, abs=2e-5)
        if result.row is not None:
            assert result.row[0] == round(result.row[0])
            assert UP.met(ensemble([result.row]))[0]
            changed += result.row[0] != x[0]
    assert changed > 0


def test_no_point_of_a_fine_grid_is_closer():
    rng = np.random.default_rng(7)
    for _ in range(20):
        ensemble, region = random_ensemble(rng, 2, 4, False), random_region(rng, 2, False)
        axes = [np.linspace(low, high, 201) for low, high in zip(region.lower, region.upper, strict=True)]
        grid = np.array(list(itertools.product(*axes)))
        flipped = grid[UP.met(ensemble(grid))]
        result = found(ensemble, region, UP)
        assert region.distances(flipped).min(initial=math.inf) >= result.distance * (1 - 1e-6)


def test_a_change_that_is_possible_at_one_point_only_is_found():
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 3.0), Proposition([0], [-1.0], -3.0)]))], -0.5)
    result = found(
        ensemble, Feasible(np.zeros(1), np.array([-9.0]), np.array([9.0]), np.ones(1), np.ones(1), np.zeros(1, dtype=bool)), UP
    )
    assert result.row == (3.0,)


def exact_hits(rng):
    """Return rules one of which holds only where sums hit thresholds to the last bit, a region, and a row that does so."""
    n = int(rng.integers(1, 4))
    short = rng.random() < 0.5

    def draw(size):
        return rng.choice([-1.0, 1.0], size) * rng.integers(1, 40, size) / 10 if short else rng.normal(size=size)

    x, condition = draw(n), []
    row = x + draw(n)
    for _ in range(rng.integers(1, n + 1)):
        columns = rng.permutation(n)[: rng.integers(1, n + 1)]
        weights = draw(len(columns))
        threshold = float(Proposition(columns, weights, 0.0).project(row[None, :])[0])
        condition += [Proposition(columns, weights, threshold), Proposition(columns, -weights, -threshold)]
    other = Rule(-0.2, Conjunction([Proposition([0], [1.0], float(draw(1)[0]))]))
    unit, cost = rng.uniform(0.5, 2.0, (2, n))
    region = Feasible(x, x - 9.0, x + 9.0, unit, cost, np.zeros(n, dtype=bool))
    return RuleEnsemble([Rule(1.0, Conjunction(condition)), other], -0.5), region, row


def nearly_hits(ensemble, region):
    """Return the least distance of a vertex at which the first rule holds, but for rounding."""
    loose = Conjunction([Proposition(p.columns, p.weights, p.threshold - 1e-9) for p in ensemble.rules[0].condition])
    inside = [v for v in vertices(ensemble, region) if (v >= region.lower - 1e-9).all() and (v <= region.upper + 1e-9).all()]
    return min(region.distance(vertex) for vertex in inside if loose(vertex[None, :])[0])


def test_exact_hits_are_found_or_nothing_is_proven():
    rng = np.random.default_rng(0)
    n_missed = 0
    for _ in range(120):
        ensemble, region, row = exact_hits(rng)
        assert UP.met(ensemble(row[None, :]))[0]
        result = found(ensemble, region, UP)
        assert result.proven == (result.row is not None)
        n_missed += result.row is None
        if result.row is not None:
            assert UP.met(ensemble([result.row]))[0]
            assert result.distance == pytest.approx(nearly_hits(ensemble, region), rel=2e-6, abs=2e-6)
    # Where sums are coarser than a threshold, a row far from the closest one may be the only one to hit it.
    assert n_missed <= 2


def test_what_cannot_hold_at_once_is_proven_to():
    # At the threshold both hold, and anywhere else one does that must not.
    rules = [Rule(1.0, Conjunction([Proposition([0], [1.0], 3.0)])), Rule(-1.0, Conjunction([Proposition([0], [2.0], 6.0)]))]
    region = Feasible(np.zeros(1), np.array([-9.0]), np.array([9.0]), np.ones(1), np.ones(1), np.zeros(1, dtype=bool))
    result = found(RuleEnsemble(rules, -0.5), region, UP)
    assert (result.row, result.proven) == (None, True)


def test_a_budget_that_is_too_small_is_admitted():
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, 3, 12, False)
    x = np.zeros(3)
    goal = DOWN if UP.met(ensemble(x[None, :]))[0] else UP
    region = Feasible(x, x - 9.0, x + 9.0, np.ones(3), np.ones(3), np.zeros(3, dtype=bool))
    rows = rng.normal(size=(200, 3)) * 3.0
    results = {
        steps: closest_change(Model.of(ensemble, LOSSES["squared"]), region, goal, rows, tolerance=0.0, max_steps=steps)
        for steps in (1, 10_000)
    }
    assert results[10_000].proven
    assert not results[1].proven
    assert results[1].bound <= results[10_000].distance <= results[1].distance < math.inf
    assert "not proven to be the closest" in str(results[1])
    assert goal.met(ensemble([results[1].row]))[0]


# As a method


@every_kind
def test_every_model_can_be_asked(kind):
    model, X, _ = fitted(kind)
    classes = kind.startswith("classifier")
    for row in range(5):
        before = model.predict(X.iloc[[row]])[0]
        options = {} if classes else {"above": float(before) + 0.01}
        result = model.closest_change(X.iloc[row], X, **options)
        assert result.before == before
        changed = pd.DataFrame([result.row], columns=X.columns)
        assert model.predict(changed)[0] == result.after
        assert result.after != before if classes else result.after > options["above"]
        assert result.proven
        assert "standard deviations in all" in str(result)


def test_a_regressor_can_be_asked_for_less():
    model, X, _ = fitted("poisson")
    result = model.closest_change(X.iloc[[0]], X, below=float(model.predict(X.iloc[[0]])[0]) * 0.99)
    assert result.row is None or result.after < result.before


def test_a_classifier_can_be_asked_for_a_probability():
    model, X, _ = fitted("classifier")
    row = int(model.predict_proba(X)[:, 1].argmin())
    result = model.closest_change(X.iloc[row], X, above=0.6)
    assert model.predict_proba(pd.DataFrame([result.row], columns=X.columns))[0, 1] > 0.6
    assert "probability of 'yes' greater than 0.6" in str(result)


def test_fixed_variables_and_bounds_are_kept():
    model, X, _ = fitted("classifier")
    free = model.closest_change(X.iloc[0], X)
    moved = free.changes[0].variable
    fixed = model.closest_change(X.iloc[0], X, fixed=[moved])
    assert moved not in [change.variable for change in fixed]
    assert fixed.distance > free.distance
    value = free.changes[0].before + 0.5 * (free.changes[0].after - free.changes[0].before)
    bound = {moved: value}
    upward = free.changes[0].after > free.changes[0].before
    bounded = model.closest_change(X.iloc[0], X, **({"upper": bound} if upward else {"lower": bound}))
    after = bounded.row[list(X.columns).index(moved)]
    assert after <= value if upward else after >= value
    dear = model.closest_change(X.iloc[0], X, cost={moved: 1000.0})
    assert moved not in [change.variable for change in dear]


def test_no_change_within_the_bounds():
    model, X, _ = fitted("classifier")
    result = model.closest_change(X.iloc[0], X, fixed=list(X.columns))
    assert (result.row, result.changes, result.distance, result.proven) == (None, (), math.inf, True)
    predicted, other = (result.before, "yes" if result.before == "no" else "no")
    assert str(result) == f"The prediction is '{predicted}'. No change within the given ranges makes it '{other}'."


def test_nothing_to_change():
    model, X, _ = fitted("squared")
    result = model.closest_change(X.iloc[0], X, above=-100.0)
    assert result.distance == 0.0
    assert str(result).endswith("it is greater than -100 already.")


def test_tolerance_gives_round_numbers_and_keeps_its_word():
    model, X, _ = fitted("classifier")
    for row in range(10):
        exact, rough = (model.closest_change(X.iloc[row], X, tolerance=tolerance) for tolerance in (0.0, 0.05))
        assert exact.distance <= rough.distance * (1 + 1e-5)
        assert rough.distance <= exact.distance + 0.05 + 1e-5
        assert sum(len(repr(c.after)) for c in rough) <= sum(len(repr(c.after)) for c in exact)


def test_a_row_may_come_as_a_frame_or_a_series():
    model, X, _ = fitted("classifier")
    expected = model.closest_change(X.iloc[0], X)
    assert model.closest_change(X.iloc[[0]], X) == expected
    assert model.closest_change(pl.from_pandas(X)[:1], pl.from_pandas(X)) == expected
    assert {change.variable for change in expected} <= set(X.columns)


def test_columns_of_arrays_go_by_number():
    _, X, y = fitted("classifier")
    model = LLTBoostClassifier(max_rules=2, random_state=0).fit(X.to_numpy(), y)
    result = model.closest_change(X.to_numpy()[0], X.to_numpy(), fixed=[0])
    assert "x0" not in [change.variable for change in result]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"fixed": ["weight"]}, "fixed names the variable 'weight', which is not a column of X"),
        ({"fixed": "age"}, "fixed must be a collection of variables; got the text 'age'"),
        ({"lower": {"weight": 3.0}}, "lower names the variable 'weight'"),
        ({"lower": {"age": 3.0}}, "x has .* in 'age', whose range is 3 to"),
        ({"whole": ["age"]}, "x has .* in 'age', whose range is -2 to 2 in whole numbers"),
        ({"upper": {"age": "old"}}, "upper of 'age' must be a number; got 'old'"),
        ({"lower": {"age": math.nan}}, "lower of 'age' must be a number; got nan"),
        ({"below": -math.inf}, "below must be a finite number; got -inf"),
        ({"whole": "age"}, "whole must be a collection of variables"),
        ({"cost": {"age": 0.0}}, "cost must be a finite number above 0 for each variable; got {'age': 0.0}"),
        ({"upper": {9: 3.0}}, "upper names the variable 9"),
        ({"above": 0.5, "below": 0.6}, "one of them must be given"),
        ({"above": "much"}, "above must be a finite number"),
        ({"tolerance": -1.0}, "tolerance must be"),
        ({"max_steps": 0}, "max_steps must be"),
    ],
)
def test_bad_requests(options, complaint):
    model, X, _ = fitted("classifier")
    with pytest.raises(ValueError, match=complaint):
        model.closest_change(X.iloc[0], X, **options)


def test_a_regressor_must_be_told_what_is_wanted():
    model, X, _ = fitted("squared")
    with pytest.raises(ValueError, match="Say either above or below which value"):
        model.closest_change(X.iloc[0], X)
    with pytest.raises(ValueError, match="x must be one row; got 2"):
        model.closest_change(X.iloc[:2], X, above=3.0)


def test_columns_of_whole_numbers_stay_whole_unless_told_otherwise():
    X = pd.DataFrame({"children": [0, 1, 2, 3, 4, 5] * 10, "income": np.linspace(0.5, 60.25, 60)})
    y = 10.0 * (X["children"] >= 3)
    model = LLTBoostRegressor(max_rules=1).fit(X, y).edit(X, y).replace(0, "children >= 2.5").model
    assert model.closest_change(X.iloc[0], X, above=5).row[0] == 3.0
    assert model.closest_change(X.iloc[0], X, above=5, whole=()).row[0] == 2.5
