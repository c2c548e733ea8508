"""Closest changes of many classes, and with an exposure or offset: as wanted, and brute force finds nothing closer."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, LLTBoostClassifier, Proposition, Rule, RuleEnsemble
from obliquerules.inspection.closest.closest_change import closest_change
from obliquerules.inspection.closest.feasible import Feasible, goal_for
from obliquerules.losses import LOSSES
from obliquerules.rules import Model
from obliquerules.rules.model import Offset

from ...estimators.fitted import fitted
from ..many import NAMES, class_model, irises, ten
from .test_closest_change import brute_force, random_ensemble, random_region
from .test_sloped_changes import random_slopes

# What may be wanted of three classes.
REQUESTS = {
    "another": {},
    "first": {"to": "red"},
    "last": {"to": "blue"},
    "likely": {"to": "green", "above": 0.6},
    "unlikely": {"to": "green", "below": 0.2},
}


def random_class_ensemble(rng, n_columns, n_rules, whole):
    """Return rules with weights for some classes; whole numbers make scores tie."""
    rules = []
    for rule in random_ensemble(rng, n_columns, n_rules, whole):
        drawn = rng.integers(-2, 3, 3).astype(float) if whole else 2.0 * rng.normal(size=3)
        rules.append(Rule(drawn * (rng.random(3) < 0.7), rule.condition))
    start = rng.integers(-1, 2, 3).astype(float) if whole else rng.normal(size=3)
    return RuleEnsemble(rules, start, None, NAMES)


def request(model, x, above=None, below=None, to=None, given=None):
    return goal_for(model, x[None, :], above, below, to, given)


def search(model, region, goal, **options):
    return closest_change(model, region, goal, region.x[None, :], tolerance=0.0, max_steps=10_000, **options)


@pytest.mark.parametrize("wanted", REQUESTS)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_nothing_is_closer_by_brute_force(n_columns, whole, wanted):
    rng = np.random.default_rng(n_columns)
    outcomes = {"impossible": 0, "changed": 0}
    for _ in range(12):
        ensemble, region = random_class_ensemble(rng, n_columns, 3, whole), random_region(rng, n_columns, whole)
        model = class_model(ensemble)
        goal = request(model, region.x, **REQUESTS[wanted])
        result, expected = search(model, region, goal), brute_force(ensemble, region, goal, rng)
        assert result.proven
        assert result.distance == pytest.approx(expected, rel=2e-5, abs=2e-5)
        if result.row is None:
            outcomes["impossible"] += 1
            continue
        row = np.array([result.row])
        outcomes["changed"] += result.distance > 0.0
        assert goal.met(ensemble(row))[0]
        assert model.predict(row)[0] == result.after
        assert result.distance == pytest.approx(region.distance(row[0]))
        assert result.bound <= result.distance <= result.bound * (1 + 1e-4) + 1e-4
    assert outcomes["impossible"] + outcomes["changed"] > 0


@pytest.mark.parametrize("wanted", REQUESTS)
def test_with_slopes_no_row_that_is_drawn_is_closer(wanted):
    rng = np.random.default_rng(1)
    proven = 0
    for n_columns in (1, 2, 3, 2):
        rules = [
            Rule(2.0 * rng.normal(size=3) * (rng.random(3) < 0.7), rule.condition, rule.factor)
            for rule in random_slopes(rng, n_columns)
        ]
        ensemble, region = RuleEnsemble(rules, rng.normal(size=3), None, NAMES), random_region(rng, n_columns, False)
        goal = request(class_model(ensemble), region.x, **REQUESTS[wanted])
        result = closest_change(class_model(ensemble), region, goal, region.x[None, :], tolerance=0.0, max_steps=500)
        low, high = np.where(region.free, (region.lower, region.upper), region.x)
        drawn = rng.uniform(low, high, (20_000, n_columns))
        drawn = np.where(rng.random(drawn.shape) < 0.3, region.x, drawn)
        closest = region.distances(drawn[goal.met(ensemble(drawn))]).min(initial=math.inf)
        assert result.bound <= closest + 1e-6
        if result.row is not None:
            assert result.distance <= closest + 1e-6
            assert goal.met(ensemble(np.array([result.row])))[0]
        elif result.proven:
            assert closest == math.inf
        proven += result.proven
    # Regions of probable rows are round: their borders are found in many small steps.
    assert proven == 4 or "above" in REQUESTS[wanted] or "below" in REQUESTS[wanted]


@pytest.mark.parametrize("whole", [False, True])
def test_another_class_is_the_closest_of_the_others(whole):
    rng = np.random.default_rng(5)
    for _ in range(15):
        ensemble, region = random_class_ensemble(rng, 2, 4, whole), random_region(rng, 2, whole)
        model = class_model(ensemble)
        now = model.predict(region.x[None, :])[0]
        any_other = search(model, region, request(model, region.x))
        each = [search(model, region, request(model, region.x, to=name)) for name in NAMES if name != now]
        assert any_other.before == now != any_other.after
        assert any_other.distance == pytest.approx(min(one.distance for one in each), abs=3e-6)
        assert search(model, region, request(model, region.x, to=now)).distance == 0.0


weights = st.sampled_from([-2.0, -1.0, -0.3, -0.1, 0.0, 0.0, 0.1, 0.2, 0.3, 1.0, 2.0])
tables = st.lists(st.tuples(weights, weights, weights), min_size=2, max_size=5)


@given(tables, st.sampled_from([*REQUESTS.values(), {"to": "green", "above": 1 / 3}, {"to": "red", "above": 0.5}]))
def test_where_scores_tie_but_for_rounding_the_model_decides(table, wanted):
    """Weights such as 0.1 + 0.2 and 0.3: scores are added from left to right."""
    n = len(table) - 1
    rules = [Rule(row, Conjunction([Proposition([column], [1.0], 1.0)])) for column, row in enumerate(table[1:])]
    model = class_model(RuleEnsemble(rules, table[0], None, NAMES))
    region = Feasible(np.zeros(n), np.zeros(n), np.ones(n), np.ones(n), 1.0 + np.arange(n), np.ones(n, dtype=bool))
    goal = request(model, region.x, **wanted)
    rows = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    result = search(model, region, goal)
    assert result.proven
    assert result.distance == region.distances(rows[goal.met(model.scores(rows))]).min(initial=math.inf)


def test_of_equal_scores_the_first_class_wins():
    rules = [Rule([0.0, 0.0, 1.0], Conjunction([Proposition([0], [1.0], 3.0)]))]
    region = Feasible(np.zeros(1), np.array([-9.0]), np.array([9.0]), np.ones(1), np.ones(1), np.zeros(1, dtype=bool))
    for intercept, after in ([1.0, 0.0, 0.0], None), ([0.9, 0.0, 0.0], "blue"), ([0.0, 0.0, -1.0], None):
        model = class_model(RuleEnsemble(rules, intercept, None, NAMES))
        result = search(model, region, request(model, region.x))
        assert (result.after, result.proven) == (after, True)
    assert str(result) == "The prediction is 'red'. No change within the given ranges makes it another class."


# As a method


@pytest.mark.parametrize("data", [irises, ten])
def test_a_fitted_model_can_be_asked(data, capfd):
    model, X, _ = data()
    for row in range(0, len(X), len(X) // 8):
        before = model.predict(X.iloc[[row]])[0]
        result = model.closest_change(X.iloc[row], X)
        assert result.proven
        assert result.before == before != result.after
        assert model.predict(pd.DataFrame([result.row], columns=X.columns))[0] == result.after
        assert f"To make it another class ({result.after!r}), change" in str(result)
        for label in model.classes_:
            to = model.closest_change(X.iloc[row], X, to=label)
            assert to.proven
            assert to.row is None or to.after == label
            assert to.distance >= (0.0 if label == before else result.distance * (1 - 1e-5))
    assert capfd.readouterr() == ("", "")  # the solver complains where whole numbers are rounded too coarsely


def test_a_probability_of_a_class_can_be_asked_for():
    model, X, _ = irises()
    result = model.closest_change(X.iloc[70], X, to="setosa", above=0.8)
    row = pd.DataFrame([result.row], columns=X.columns)
    assert model.predict_proba(row)[0, 0] > 0.8
    assert "one with a probability of 'setosa' greater than 0.8" in str(result)
    low = model.closest_change(X.iloc[70], X, to="versicolor", below=0.1)
    assert model.predict_proba(pd.DataFrame([low.row], columns=X.columns))[0, 1] < 0.1


def test_one_of_two_classes_can_be_named():
    model, X, _ = fitted("classifier")
    now = str(model.predict(X[:1])[0])
    other = "yes" if now == "no" else "no"
    assert model.closest_change(X.iloc[0], X, to=other) == model.closest_change(X.iloc[0], X)
    assert str(model.closest_change(X.iloc[0], X, to=now)).endswith(f"it is {now!r} already.")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"to": "rose"}, "to must be one of the classes, 'setosa', 'versicolor', 'virginica'; got 'rose'"),
        ({"above": 0.5}, "With many classes, above and below are about the probability of one of them: name it with to"),
        ({"to": "setosa", "above": 0.5, "below": 0.6}, "one of them must be given"),
    ],
)
def test_bad_requests(options, complaint):
    model, X, _ = irises()
    with pytest.raises(ValueError, match=complaint):
        model.closest_change(X.iloc[0], X, **options)


def test_a_class_cannot_be_asked_of_a_regressor_nor_beside_a_bound_of_two():
    model, X, _ = fitted("squared")
    with pytest.raises(ValueError, match="to names a class, and a regressor has none"):
        model.closest_change(X.iloc[0], X, to="yes")
    model, X, _ = fitted("classifier")
    with pytest.raises(ValueError, match="above and below are about the probability of 'yes'; to cannot be given as well"):
        model.closest_change(X.iloc[0], X, to="yes", above=0.5)


# With an exposure or offset


def test_an_offset_is_part_of_the_score():
    rng = np.random.default_rng(3)
    changed = 0
    for _ in range(15):
        ensemble, region, offset = (
            random_class_ensemble(rng, 2, 3, False),
            random_region(rng, 2, False),
            rng.normal(size=(1, 3)),
        )
        model = replace(class_model(ensemble), offset=Offset("offset", NAMES))
        goal = request(model, region.x, given=offset)
        result = search(model, region, goal, given=offset)
        shifted = ensemble.with_rules(ensemble.rules, np.array(ensemble.intercept) + offset[0])
        assert result == search(class_model(shifted), region, request(class_model(shifted), region.x))
        assert result.before == model.predict(region.x[None, :], offset)[0]
        if result.row is not None:
            changed += 1
            assert result.after == model.predict(np.array([result.row]), offset)[0] != result.before
    assert changed > 0


def test_an_exposure_multiplies_what_is_bounded():
    counts = Model.of(RuleEnsemble.parse("+1 if x0 >= 2\n+1 if x0 >= 5"), LOSSES["poisson"])
    exposed, years = replace(counts, offset=Offset("exposure", ("years",))), np.array([2.0])
    region = Feasible(np.zeros(1), np.array([-9.0]), np.array([9.0]), np.ones(1), np.ones(1), np.zeros(1, dtype=bool))
    result = search(exposed, region, request(exposed, region.x, above=5.0, given=years), given=years)
    assert (result.row, result.before, result.after) == ((2.0,), 2.0, 2.0 * math.e)
    assert search(counts, region, request(counts, region.x, above=5.0)).row == (5.0,)
    assert search(exposed, region, request(exposed, region.x, above=5.0)).row == (5.0,)  # of an exposure of 1


def test_levels_and_missing_values_may_change_the_class():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(["red", "green", "blue", "teal"], 300), "age": rng.normal(50, 15, 300).round()})
    X.loc[rng.random(300) < 0.2, "age"] = np.nan
    y = np.where(X["colour"].isin(["red", "blue"]), "warm", np.where(X["age"] >= 50, "old", "other"))
    model = LLTBoostClassifier(max_rules=4, random_state=0).fit(X, y)
    for row in range(12):
        result = model.closest_change(X.iloc[row], X, fill=["age"])
        assert result.proven
        assert result.before == model.predict(X.iloc[[row]])[0] == y[row]
        assert model.predict(pd.DataFrame([result.row], columns=X.columns))[0] == result.after != result.before
        # Another level counts as one, and of four levels there is always one that changes the class.
        assert 0.0 < result.distance <= 1.0
        assert {change.variable for change in result} <= {"colour", "age"}
