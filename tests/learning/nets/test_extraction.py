"""Rules read off a network are what the hard network computes; cleaning changes nothing on training rows."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules.learning.nets.extraction import (
    PRICES,
    Draft,
    HardNetwork,
    TrainingRows,
    _inverse_hessian,
    as_trained,
    cleaned,
    drafts_of,
    frontier,
    with_fewer_weights,
    without_rules,
    worth_their_price,
)
from obliquerules.learning.nets.soft_rules import Architecture, ScoreUnits
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules.redundancy import needed_tests

ARCHITECTURE = Architecture(2, 4, 3, 2.0)
BY_CLASS = Architecture(2, 4, 3, 2.0, (3,))
ONE_OR_MANY = pytest.mark.parametrize("many", [False, True], ids=["one score", "many classes"])


def rows(seed: int, n: int = 40, d: int = 3, *, many: bool = False) -> TrainingRows:
    random = np.random.default_rng(seed)
    X = np.round(100.0 + 10.0 * random.normal(size=(n, d)) * np.arange(1, d + 1), 1)
    if many:
        y = np.digitize(X[:, 0] + 10.0 * random.normal(size=n), [95.0, 105.0]) * 1.0
        loss, weight = class_loss(3), random.uniform(0.5, 2.0, n)
        return TrainingRows(X, y, weight, loss, 1.0 * loss.curvature(y, weight), ("a", "b", "c"))
    return TrainingRows(X, (X[:, 0] > 100.0) + random.normal(size=n), random.uniform(0.5, 2.0, n), LOSSES["squared"], 1.0)


def network(rows: TrainingRows, seed: int) -> HardNetwork:
    """Return a random network, some of whose directions and rule weights are zero and some of whose memberships are not one."""
    random = np.random.default_rng(seed)
    architecture = BY_CLASS if rows.loss.by_class else ARCHITECTURE
    parameters = architecture.start(rows.standardised.astype(np.float32), random)
    parameters["directions"][random.random(parameters["directions"].shape) < 0.5] = 0.0
    parameters["memberships"] = random.uniform(0.0, 1.0, parameters["memberships"].shape).astype(np.float32)
    silent = 0.5 if rows.loss.by_class else 0.2
    parameters["rule_weights"][random.random(parameters["rule_weights"].shape) < silent] = 0.0
    return HardNetwork.of(parameters, int(random.integers(2)))


def test_discretisation_rounds_memberships_and_zeroes_small_weights() -> None:
    parameters = {
        "directions": np.array([[[[1.0, -0.09, 0.11], [0.0, 0.0, 0.0]]]]),
        "thresholds": np.array([[[0.5, 0.1]]]),
        "memberships": np.array([[[0.5, 0.49]]]),
        "rule_weights": np.array([[0.001]]),
        "constant": np.array([2.0]),
    }
    hard = HardNetwork.of(parameters, 0)
    assert hard.directions.tolist() == [[[1.0, 0.0, 0.11], [0.0, 0.0, 0.0]]]
    assert hard.members.tolist() == [[True, False]]
    assert hard.rule_weights.tolist() == [0.001]
    assert hard.complexity == 4


@ONE_OR_MANY
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_rules_are_what_the_hard_network_computes(seed: int, many: bool) -> None:
    data = rows(seed, many=many)
    hard = network(data, seed)
    units = ScoreUnits.of(data.y, data.weight, data.loss)
    draft = as_trained(hard, data, units)
    ensemble = draft.ensemble(data, None)
    # The rules one by one, exactly; the score up to the order in which it is added.
    fires = hard.fires(data.standardised)
    np.testing.assert_array_equal(ensemble.fires(data.X).T, fires[[rule for rule, _ in draft.bodies]])
    score = units.offset + units.size * hard.score(data.standardised)
    if many:  # the constants add up to zero, which changes no probability
        score -= (score - ensemble(data.X)).mean(axis=1, keepdims=True)
        assert sum(ensemble.intercepts) == pytest.approx(0.0, abs=1e-12)
        assert ensemble.outputs == ("a", "b", "c")
    np.testing.assert_allclose(ensemble(data.X), score, rtol=1e-12, atol=1e-12 * many)
    assert draft.complexity == ensemble.complexity <= hard.complexity
    assert draft.risk == pytest.approx(data.risk(ensemble(data.X)))


@ONE_OR_MANY
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_cleaning_keeps_every_difference_between_rows_and_the_draft_is_the_ensemble(seed: int, many: bool) -> None:
    data = rows(seed, many=many)
    hard = network(data, seed)
    draft = cleaned(hard, data)
    ensemble = draft.ensemble(data, None)
    before = hard.fires(data.standardised)[hard.has_weight]
    varied = before[before.any(axis=1) & ~before.all(axis=1)]
    after = ensemble.fires(data.X).T
    # Each rule that varies is still there, as itself or as its complement, once.
    wanted = {tuple(fires ^ fires[0]) for fires in varied}
    assert sorted(tuple(fires ^ fires[0]) for fires in after) == sorted(wanted)
    assert draft.complexity == ensemble.complexity <= hard.complexity
    assert draft.risk == pytest.approx(data.risk(ensemble(data.X)))
    # Refitted weights are the best for these rules.
    best, _ = data.refit(after, draft.weights[1:] != 0.0)
    np.testing.assert_allclose(draft.weights, best)
    np.testing.assert_array_equal(draft.fires(data), after)


def test_of_rules_on_the_same_rows_the_simplest_stays_and_speaks_for_the_classes_of_all() -> None:
    data = rows(3, many=True)
    network = HardNetwork(
        # The second rule is the first in two variables, the third its complement, and the last is about other rows.
        np.array([[[1.0, 1e-9, 0.0]], [[1.0, 0.0, 0.0]], [[-1.0, -1e-9, 0.0]], [[0.0, 1.0, 0.0]]]),
        np.array([[0.1], [0.1], [-0.1], [0.2]]),
        np.ones((4, 1), dtype=np.bool_),
        np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0]]),
        np.zeros(3),
    )
    draft = cleaned(network, data)
    assert draft.bodies == ((0, (0,)), (3, (0,)))  # the second has no weight, and the first comes before the third
    assert (draft.weights[1:] != 0.0).tolist() == [[True, False, True], [False, True, False]]
    assert draft.complexity == draft.ensemble(data, None).complexity == 2 + 3 + 1 + 2


def test_a_member_that_the_others_imply_is_dropped_the_most_complex_first() -> None:
    holds = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=np.bool_)
    assert needed_tests(holds, [3, 2, 2, 5]) == [2]
    assert needed_tests(holds[[1, 3]], [2, 5]) == [0]
    assert needed_tests(holds[[3]], [5]) == []


@ONE_OR_MANY
def test_no_rule_at_all_is_a_draft_with_the_best_constant(many: bool) -> None:
    data = rows(0, many=many)
    parameters = (BY_CLASS if many else ARCHITECTURE).start(data.standardised, np.random.default_rng(0))
    parameters["rule_weights"][:] = 0.0
    for draft in (cleaned(HardNetwork.of(parameters, 0), data), without_rules(data)):
        assert draft.complexity == 0
        np.testing.assert_allclose(draft.weights, [data.loss.best_constant(data.y, data.weight)], rtol=1e-6)
    assert len(without_rules(data).ensemble(data, ("a", "b", "c"))) == 0


def test_the_frontier_has_growing_complexity_and_falling_risk() -> None:
    data = rows(1)
    drafts = [cleaned(network(data, seed), data) for seed in range(30)]
    path = frontier([*drafts, without_rules(data)])
    sizes, risks = [draft.complexity for draft in path], [draft.risk for draft in path]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert risks == sorted(set(risks), reverse=True)

    def beaten(one: Draft) -> bool:
        return any(other.complexity <= one.complexity and other.risk <= one.risk for other in path)

    assert all(beaten(draft) for draft in drafts)


def penalised(data: TrainingRows, fires: np.ndarray, weights: np.ndarray) -> float:
    score = weights[0] + fires.T.astype(float) @ weights[1:]
    return data.risk(score) + float(0.5 * (data.ridge * weights[1:] ** 2).sum())


def draft_of(seed: int, ridge: float = 1.0) -> tuple[Draft, TrainingRows]:
    """Return a draft of at least two rules, and its rows."""
    data = rows(seed, n=80, many=True)
    data = dataclasses.replace(data, ridge=ridge * data.ridge)
    drafts = (cleaned(network(data, other), data) for other in range(seed, seed + 100))
    return next(draft for draft in drafts if len(draft.bodies) > 1), data


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_inverse_hessian_is_that_of_the_penalised_loss(seed: int) -> None:
    draft, data = draft_of(seed)
    fires = draft.fires(data)
    places = [(0, 0), (0, 1), *zip(*np.nonzero(draft.weights[1:]), strict=True)]
    places = places[:2] + [(int(rule) + 1, int(output)) for rule, output in places[2:]]  # one constant is fixed

    def at(moves: dict[tuple[int, int], float]) -> float:
        weights = draft.weights.copy()
        for place, move in moves.items():
            weights[place] += move
        return penalised(data, fires, weights)

    step, numeric = 1e-3, np.empty((len(places), len(places)))
    for i, one in enumerate(places):
        for j, two in enumerate(places):
            if one == two:
                numeric[i, j] = (at({one: step}) - 2.0 * at({}) + at({one: -step})) / step**2
            else:
                corners = [
                    sign * at({one: step, two: sign * step}) - sign * at({one: -step, two: sign * step}) for sign in (1, -1)
                ]
                numeric[i, j] = sum(corners) / (4.0 * step**2)
    np.testing.assert_allclose(_inverse_hessian(draft, fires, data), np.linalg.inv(numeric)[2:, 2:], rtol=1e-3, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_what_a_weight_is_worth_is_what_a_refit_without_it_loses(seed: int) -> None:
    # With a large ridge, weights are small, and the second order is all there is.
    draft, data = draft_of(seed, ridge=1e4)
    fires, spoken = draft.fires(data), draft.weights[1:] != 0.0
    before = penalised(data, fires, draft.weights)
    worth = {}
    for place in zip(*np.nonzero(spoken), strict=True):
        others = spoken.copy()
        others[place] = False
        worth[place] = penalised(data, fires, data.refit(fires, others)[0]) - before
    # Prices are on both sides of what the weight is worth that is least worth the price of what it saves.
    saved = {place: 1 + (spoken[place[0]].sum() == 1) * draft.body_complexities[place[0]] for place in worth}
    least = min(worth, key=lambda place: worth[place] / saved[place])
    price = worth[least] / saved[least]
    assert worth_their_price(draft, fires, data, 0.99 * price).sum() == spoken.sum()
    assert not worth_their_price(draft, fires, data, 1.01 * price)[least]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_higher_the_price_the_fewer_the_weights_and_the_draft_is_the_ensemble(seed: int) -> None:
    draft, data = draft_of(seed)
    sizes = []
    for price in (0.0, 0.5, 2.0, 8.0, 1e9):
        smaller = with_fewer_weights(draft, data, price)
        ensemble = smaller.ensemble(data, None)
        assert smaller.complexity == ensemble.complexity <= draft.complexity
        assert smaller.risk == pytest.approx(data.risk(ensemble(data.X)))
        assert all(rule.classes_with_weight for rule in ensemble)
        assert set(smaller.bodies) <= set(draft.bodies)
        sizes.append(smaller.complexity)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == draft.complexity
    assert sizes[-1] == 0
    assert smaller.risk == pytest.approx(without_rules(data).risk)


def test_the_last_weight_of_a_rule_saves_its_condition_too() -> None:
    draft, data = draft_of(0)
    first = np.zeros_like(draft.weights, dtype=np.bool_)
    first[1:, 0] = True
    weights, risk = data.refit(draft.fires(data), first[1:])
    draft = dataclasses.replace(draft, weights=weights, risk=risk)
    assert worth_their_price(draft, draft.fires(data), data, 0.001).sum() == len(draft.bodies)
    longer = dataclasses.replace(draft.network, directions=np.ones((4, 3, 10000)))
    assert not worth_their_price(dataclasses.replace(draft, network=longer), draft.fires(data), data, 0.001).any()


def test_one_score_gives_one_draft_and_many_classes_one_for_each_price() -> None:
    data = rows(0)
    assert len(list(drafts_of(network(data, 0), data))) == 1
    assert data.loss == LOSSES["squared"]
    many = rows(0, many=True)
    drafts = list(drafts_of(network(many, 0), many))
    assert len(drafts) == 1 + len(PRICES)
    assert [draft.complexity for draft in drafts] == sorted((draft.complexity for draft in drafts), reverse=True)


def test_separable_classes_without_a_ridge_are_no_trouble() -> None:
    data = rows(1, many=True)
    data = TrainingRows(
        data.X, np.digitize(data.X[:, 0], [95.0, 105.0]) * 1.0, data.weight, data.loss, np.zeros(3), data.outputs
    )
    for seed in range(10):
        assert all(np.isfinite(draft.weights).all() for draft in drafts_of(network(data, seed), data))
