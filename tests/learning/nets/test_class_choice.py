"""Weights for classes are dropped if they are not worth their price, and what they are worth is what a refit says."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules.learning.nets.class_choice import PRICES, _inverse_hessian, drafts_of, speaking_for_fewer, worth_their_price
from obliquerules.learning.nets.extraction import Draft, TrainingRows, cleaned, without_rules
from obliquerules.losses import LOSSES

from .test_extraction import network, rows


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
        smaller = speaking_for_fewer(draft, data, price)
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
