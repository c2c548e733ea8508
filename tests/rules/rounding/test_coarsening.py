"""Coarsening: shorter conditions within a budget of loss, the same in all ensembles, never close to a row."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Factor, Shortening
from obliquerules.rules.rounding.coarsening import Targets, coarsened
from obliquerules.rules.rounding.shortening import length

from ..strategies import ensembles, few, matrices


def targets_of(X, loss="squared"):
    return Targets(np.arange(len(X)) % 3.0, 1.0 + np.arange(len(X)) % 2, LOSSES[loss])


def coarse(members, X, targets, budgets):
    scores = [ensemble(X) for ensemble in members]
    return coarsened(members, scores, Block.of_matrix(X), targets, budgets, Shortening(Block.of_matrix(X)))


def propositions_of(members):
    return [proposition for ensemble in members for rule in ensemble for proposition in rule.condition]


def axis(weight, column, sign, threshold):
    return Rule(weight, Conjunction([Proposition([column], [sign], sign * threshold)]))


@few
@given(ensembles(), ensembles(), matrices(), st.sampled_from([0.0, 1e-3, 1.0, 1e6]))
def test_the_mean_loss_rises_by_no_more_than_the_budget(one, other, X, budget):
    members, targets = [one, RuleEnsemble([*one, *other], 1.0)], targets_of(X)
    for before, after in zip(members, coarse(members, X, targets, [budget, 2.0 * budget]), strict=True):
        loss = targets.mean(before(X))
        limit = loss + (budget if before is one else 2.0 * budget)
        assert targets.mean(after(X)) <= limit + 1e-9 * (1.0 + abs(loss))
        assert after.complexity == before.complexity
        assert [rule.weight for rule in after] == [rule.weight for rule in before]


@few
@given(ensembles(), matrices(), st.sampled_from([0.0, 1e-3, 1.0, 1e6]), st.integers(0, 2))
def test_the_budget_holds_with_factors(plain, X, budget, column):
    factor, targets = Factor(column, 1.0, -3.0, 3.0), targets_of(X)
    sloped = [replace(rule, factor=factor if index % 2 else None) for index, rule in enumerate([*plain, *plain])]
    before = RuleEnsemble([*sloped, Rule(0.5, factor=column)])
    (after,) = coarse([before], X, targets, [budget])
    loss = targets.mean(before(X))
    assert targets.mean(after(X)) <= loss + budget + 1e-9 * (1.0 + abs(loss))
    assert [(rule.weight, rule.factor) for rule in after] == [(rule.weight, rule.factor) for rule in before]


def test_a_row_that_changes_side_counts_by_its_factor():
    X, targets = noisy_rows()
    step = axis(1.0, 0, 1.0, 1066.4)
    near, far = (RuleEnsemble([replace(step, factor=Factor(0, origin))]) for origin in (1066.0, 0.0))
    budget = 1e-3
    coarser = [coarse([one], X, Targets(one(X), targets.weight, targets.loss), [budget])[0] for one in (near, far)]
    # Where the factor is nearly zero, it hardly matters on which side a row is.
    lengths = [length(propositions_of([one])[0]) for one in coarser]
    assert lengths[0] < lengths[1]


@few
@given(ensembles(), matrices())
def test_no_condition_is_longer_than_where_no_row_changes_side(ensemble, X):
    exact = Shortening(Block.of_matrix(X)).ensemble(ensemble)
    (after,) = coarse([ensemble], X, targets_of(X), [0.5])
    numbers = {abs(proposition.threshold) for proposition in propositions_of([exact])}
    for long, short in zip(propositions_of([exact]), propositions_of([after]), strict=True):
        # A neighbour's number may be longer.
        assert length(short) <= length(long) or abs(short.threshold) in numbers


@few
@given(ensembles(), matrices())
def test_a_changed_threshold_is_clear_of_every_row(ensemble, X):
    exact = set(propositions_of([Shortening(Block.of_matrix(X)).ensemble(ensemble)]))
    (after,) = coarse([ensemble], X, targets_of(X), [10.0])
    for proposition in set(propositions_of([after])) - exact - {p.opposite() for p in exact}:
        projections = proposition.project(X)
        assert (np.abs(projections - proposition.threshold) > 1e-9 * np.abs(projections)).all()


def noisy_rows(n_rows=4000, steps=(1066.4,)):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(1000.0, 200.0, size=(n_rows, 2)))
    y = sum(X[:, 0] > step for step in steps) + 0.5 * (X[:, 1] > 900.0) + rng.normal(size=n_rows)
    return X, Targets(y, np.ones(n_rows), LOSSES["squared"])


def test_thresholds_next_to_each_other_become_one_number():
    X, targets = noisy_rows()
    ensemble = RuleEnsemble([axis(0.5, 0, 1.0, 1066.4), axis(-0.5, 0, -1.0, 1067.0), axis(0.5, 1, 1.0, 900.0)])
    (after,) = coarse([ensemble], X, targets, [0.1 * targets.standard_error(ensemble(X))])
    above, below, other = propositions_of([after])
    assert above.threshold == -below.threshold
    assert (other.columns, other.threshold) == ((1,), 900.0)


def test_thresholds_apart_stay_apart():
    X, targets = noisy_rows(steps=(800.0, 1200.0))
    ensemble = RuleEnsemble([axis(1.0, 0, 1.0, 800.123), axis(1.0, 0, 1.0, 1200.321)])
    (after,) = coarse([ensemble], X, targets, [0.1 * targets.standard_error(ensemble(X))])
    assert [round(proposition.threshold, -2) for proposition in propositions_of([after])] == [800.0, 1200.0]


def test_no_row_changes_side_where_that_is_as_short():
    X = np.asfortranarray(np.array([[1.0], [2.0], [3.0], [4.0]]))
    targets = Targets(np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4), LOSSES["squared"])
    (after,) = coarse([RuleEnsemble([axis(1.0, 0, 1.0, 2.5)])], X, targets, [100.0])
    assert propositions_of([after]) == [Proposition([0], [1.0], 3.0)]


def test_the_strictest_budget_decides_for_all_ensembles():
    X, targets = noisy_rows()
    rule = axis(1.0, 0, 1.0, 1066.4321)
    small, large = RuleEnsemble([rule]), RuleEnsemble([rule, axis(0.5, 1, 1.0, 900.4567)])
    (rough,) = coarse([small], X, targets, [1.0])
    assert length(propositions_of([rough])[0]) == 1
    both = coarse([small, large], X, targets, [1.0, 0.0])
    assert both[0][0] == both[1][0]
    assert targets.mean(both[1](X)) <= targets.mean(large(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_standard_error_is_that_of_a_mean_and_weights_count_as_rows(loss):
    rng = np.random.default_rng(0)
    y, score, weight = rng.integers(0, 2, 50) * 1.0, rng.normal(size=50), rng.integers(1, 4, 50)
    y = y + 0.5 if loss == "gamma" else y
    values = np.repeat(LOSSES[loss].value(y, score), weight)
    found = Targets(y, weight * 1.0, LOSSES[loss]).standard_error(score)
    assert found == pytest.approx(values.std() / np.sqrt(len(values)))


def test_the_standard_error_of_huge_losses_is_finite():
    y, weight = np.array([1e74, -1e74, 0.0]), np.array([1e70, 1.0, 3e70])
    huge, small = (Targets(scale * y, weight, LOSSES["squared"]) for scale in (1.0, 2.0**-240))
    expected = small.standard_error(np.zeros(3)) * 2.0**240 * 2.0**240
    assert huge.standard_error(np.zeros(3)) == expected
