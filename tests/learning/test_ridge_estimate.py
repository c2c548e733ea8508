"""Shrinkage: left-out scores are those of refits without the row, and the ridge is large where there is nothing to learn."""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from obliquerules.data.sample import Groups
from obliquerules.learning import ridge_estimate as shrinkage
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.refit import refit
from obliquerules.learning.ridge_estimate import Observations, left_out_scores, ridges_for, rising_places, weights_per_unit
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Block


class Fitted(NamedTuple):
    """An ensemble as the weights of firing patterns."""

    patterns: FiringPatterns
    weights: np.ndarray
    complexity: int


estimated_ridges = partial(shrinkage.estimated_ridges, weights_per_unit=3.0)


def estimated_ridge(ensembles, rows, penalty):
    """Return the ridge of the largest ensemble."""
    return estimated_ridges(ensembles, rows, penalty)[-1]


def expected_loss(one, rows, ridge):
    return shrinkage.expected_losses(one, rows, [ridge], 3.0)[0]


every_seed = pytest.mark.parametrize("seed", range(3))


def problem(name, seed=0, n=60, n_rules=3, offset=False):
    """Return an ensemble of rules that fire at random, not yet fitted, and rows whose target they explain in part."""
    rng = np.random.default_rng(seed)
    fires = rng.random((n_rules, n)) < rng.uniform(0.3, 0.7, (n_rules, 1))
    score = rng.normal(size=n_rules) @ fires + 0.2 * rng.normal(size=n)
    y = {
        "squared": score + 0.5 * rng.normal(size=n),
        "logistic": rng.random(n) < 1.0 / (1.0 + np.exp(-score)),
        "poisson": rng.poisson(np.exp(score)),
    }[name]
    given = 0.3 * rng.normal(size=n) if offset else None
    rows = Observations(np.asarray(y, dtype=float), rng.exponential(size=n) + 0.1, LOSSES[name], given)
    return unfitted(fires, rows), rows


def unfitted(fires, rows, complexity=None):
    return Fitted(
        FiringPatterns.of(fires, len(rows.y)), np.zeros(1 + len(fires)), 3 * len(fires) if complexity is None else complexity
    )


def weights_of(one, rows, ridge, weight=None):
    weight = rows.weight if weight is None else weight
    return refit(one.patterns.with_offset(rows.offset), rows.y, weight, rows.loss, ridge, one.weights)


def scores_of(one, rows, weights):
    score = one.patterns.scores(weights)
    return score if rows.offset is None else score + rows.offset


def approximated(one, rows, ridge):
    """Return the scores, and those of rows left out."""
    weights = weights_of(one, rows, ridge)
    score = scores_of(one, rows, weights)
    return score, left_out_scores(one, rows, weights, score, ridge)


def refitted(one, rows, ridge):
    """Return the score of each entry after a fit without its observation or group."""
    entries, found = rows.entries, []
    group = np.repeat(np.arange(len(entries.sizes)), entries.sizes)
    for index, row in enumerate(entries.row):
        weight, mine = rows.weight.copy(), group == group[index]
        weight[entries.row[mine]] -= entries.part[mine]
        found.append(scores_of(one, rows, weights_of(one, rows, ridge, np.maximum(weight, 0.0)))[row])
    return np.array(found)


def in_groups(rows, n_groups, seed=0):
    """Return the rows in random groups, which share some of them."""
    rng = np.random.default_rng(seed)
    row, group = np.divmod(np.unique(rng.integers(0, len(rows.y) * n_groups, 2 * len(rows.y))), n_groups)
    row, group = np.append(row, np.arange(len(rows.y))), np.append(group, rng.integers(0, n_groups, len(rows.y)))
    part = rng.exponential(size=len(row)) + 0.1
    key = np.arange(len(rows.y), dtype=np.uint64)
    groups = Groups.of(group, row, part, key)
    return Observations(rows.y, np.bincount(groups.row, groups.weight), rows.loss, rows.offset, groups=groups)


@every_seed
@pytest.mark.parametrize("ridge", [0.5, 20.0])
@pytest.mark.parametrize("offset", [False, True])
def test_left_out_scores_are_those_of_refits_for_the_squared_loss(seed, ridge, offset):
    one, rows = problem("squared", seed, offset=offset)
    np.testing.assert_allclose(approximated(one, rows, ridge)[1], refitted(one, rows, ridge), rtol=1e-5, atol=1e-6)


@every_seed
@pytest.mark.parametrize("name", ["logistic", "poisson"])
@pytest.mark.parametrize("ridge", [0.5, 5.0])
@pytest.mark.parametrize("offset", [False, True])
def test_left_out_scores_are_nearly_those_of_refits_for_other_losses(name, seed, ridge, offset):
    one, rows = problem(name, seed, n=120, offset=offset)
    score, left_out = approximated(one, rows, ridge)
    moved = refitted(one, rows, ridge) - score
    assert np.abs(left_out - score - moved).max() < 0.25 * np.abs(moved).max()
    assert np.corrcoef(left_out - score, moved)[0, 1] > 0.99


@pytest.mark.parametrize("name", ["squared", "logistic", "poisson"])
def test_a_row_that_is_left_out_fits_worse(name):
    one, rows = problem(name)
    score, left_out = approximated(one, rows, 1.0)
    assert (rows.loss.value(rows.y, left_out) >= rows.loss.value(rows.y, score)).all()


def test_of_a_row_of_weight_two_one_is_left_out_and_of_half_a_row_all():
    one, rows = problem("squared")
    for heavy, left in ((2.0, 1.0), (1.5, 0.5), (0.5, 0.0)):
        weighted = Observations(rows.y, np.where(np.arange(60) == 7, heavy, 1.0), rows.loss)
        weight = np.where(np.arange(60) == 7, left, 1.0)
        without = scores_of(one, weighted, weights_of(one, weighted, 3.0, weight))[7]
        assert approximated(one, weighted, 3.0)[1][7] == pytest.approx(without, rel=1e-6)


def test_a_row_that_counts_more_for_its_class_or_exposure_is_left_out_as_a_whole():
    one, rows = problem("squared")
    weight, often = np.where(np.arange(60) == 7, 5.0, 1.0), np.ones(60)
    reweighted = Observations(rows.y, weight, rows.loss, frequency=often)
    without = scores_of(one, reweighted, weights_of(one, reweighted, 3.0, np.where(np.arange(60) == 7, 0.0, 1.0)))[7]
    assert approximated(one, reweighted, 3.0)[1][7] == pytest.approx(without, rel=1e-6)


@every_seed
@pytest.mark.parametrize("name", ["squared", "logistic", "poisson"])
def test_a_row_of_weight_two_is_two_rows_that_are_left_out_in_turn(name, seed):
    one, rows = problem(name, seed)
    twice = Observations(np.repeat(rows.y, 2), np.ones(120), rows.loss)
    repeated = Fitted(FiringPatterns(one.patterns.design, np.repeat(one.patterns.pattern, 2)), one.weights, one.complexity)
    merged = Observations(rows.y, np.full(60, 2.0), rows.loss)
    assert expected_loss(one, merged, 2.0) == pytest.approx(expected_loss(repeated, twice, 2.0), rel=1e-12)


@every_seed
@pytest.mark.parametrize("ridge", [0.5, 20.0])
@pytest.mark.parametrize("n_groups", [2, 4, 40])
def test_groups_are_left_out_as_by_refits_for_the_squared_loss(seed, ridge, n_groups):
    one, rows = problem("squared", seed, offset=True)
    grouped = in_groups(rows, n_groups, seed)
    np.testing.assert_allclose(approximated(one, grouped, ridge)[1], refitted(one, grouped, ridge), rtol=1e-4, atol=1e-5)


@every_seed
@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_groups_are_left_out_nearly_as_by_refits_for_other_losses(seed, name):
    one, rows = problem(name, seed, n=200)
    grouped = in_groups(rows, 30, seed)
    score, left_out = approximated(one, grouped, 5.0)
    moved = refitted(one, grouped, 5.0) - score[grouped.entries.row]
    assert np.corrcoef(left_out - score[grouped.entries.row], moved)[0, 1] > 0.98


def test_groups_of_one_row_are_the_rows_whatever_their_weight():
    one, rows = problem("logistic")
    every = np.arange(60)
    grouped = Observations(rows.y, rows.weight, rows.loss, groups=Groups.of(every, every, rows.weight, every.astype(np.uint64)))
    alone = Observations(rows.y, rows.weight, rows.loss, frequency=np.ones(60))
    assert expected_loss(one, grouped, 2.0) == pytest.approx(expected_loss(one, alone, 2.0), rel=1e-12)


@pytest.mark.parametrize("name", ["squared", "logistic", "poisson"])
def test_copies_in_a_group_with_their_original_say_nothing_new(name):
    one, rows = problem(name)
    rows = Observations(rows.y, np.ones(60), rows.loss)
    groups = Groups.of(np.arange(60), np.arange(60), np.full(60, 8.0), np.arange(60, dtype=np.uint64))
    copied = Observations(rows.y, np.full(60, 8.0), rows.loss, groups=groups)
    assert expected_loss(one, copied, 8.0 * 3.0) == pytest.approx(8.0 * expected_loss(one, rows, 3.0), rel=1e-7)


def test_a_group_that_has_all_rows_of_a_rule_is_finite():
    y = np.array([0.0, 0.1, -0.1, 5.0, 5.1, 4.9])
    groups = Groups.of(np.array([0, 1, 2, 3, 3, 3]), np.arange(6), np.ones(6), np.arange(6, dtype=np.uint64))
    rows = Observations(y, np.ones(6), LOSSES["squared"], groups=groups)
    _, left_out = approximated(unfitted([y > 1.0], rows), rows, 1e-9)
    assert np.isfinite(left_out).all()


def test_a_row_that_alone_decides_its_score_is_finite():
    y = np.array([0.0, 0.1, -0.1, 5.0])
    rows = Observations(y, np.ones(4), LOSSES["squared"])
    _, left_out = approximated(unfitted([y > 1.0], rows), rows, 1e-9)
    assert np.isfinite(left_out).all()


def classes_problem(n=90):
    rng = np.random.default_rng(1)
    fires = rng.random((3, n)) < 0.5
    y = np.where(fires[0], 0.0, rng.integers(0, 4, n).astype(float))
    rows = Observations(y, rng.exponential(size=n), class_loss(4))
    start = np.zeros((4, 4))
    start[1, 0] = start[2, :2] = start[3, 2:] = 1.0
    return Fitted(FiringPatterns.of(fires, n), start, 11), rows


def test_with_many_classes_left_out_scores_are_finite_and_have_their_shape():
    one, rows = classes_problem()
    score, left_out = approximated(one, rows, np.full(4, 0.5))
    assert left_out.shape == score.shape == (90, 4)
    assert np.isfinite(left_out).all()
    assert (np.add.reduce(rows.weight * rows.loss.value(rows.y, left_out))) > np.add.reduce(
        rows.weight * rows.loss.value(rows.y, score)
    )
    assert estimated_ridge([one], rows, lambda ridge: np.full(4, 0.2 * ridge)) in ridges_for(rows.weight.sum())


@pytest.mark.parametrize("n_ensembles", [1, 25, 26, 181])
def test_of_a_long_path_of_classes_few_ensembles_are_asked(n_ensembles):
    one, rows = classes_problem()
    path, asked = [one._replace(complexity=place) for place in range(n_ensembles)], []

    def each(_, ensembles):
        asked.extend(ensemble.complexity for ensemble in ensembles)
        return np.zeros((len(ensembles), len(ridges_for(rows.weight.sum()))))

    estimated_ridges(path, rows, lambda ridge: np.full(4, 0.2 * ridge), each=each)
    assert len(asked) == min(n_ensembles, 25)
    assert (asked[0], asked[-1]) == (0, n_ensembles - 1)
    assert n_ensembles == 1 or np.ptp(np.diff(asked)) <= 1


def noise(seed, n=200, signal=0.0, scale=1.0):
    """Return rules that seem to be there, the best of many random ones, and rows of noise, with a step if there is a signal."""
    rng = np.random.default_rng(seed)
    fires = rng.random((200, n)) < 0.3
    y = scale * rng.normal(size=n)
    strongest = np.argsort(-np.abs(fires @ (y - y.mean())))[:3]
    chosen = fires[strongest]
    return chosen, Observations(y + signal * chosen[0], np.ones(n), LOSSES["squared"])


@pytest.mark.parametrize("seed", range(5))
def test_the_ridge_is_large_for_noise_and_small_for_a_step(seed):
    chosen, rows = noise(seed)
    assert estimated_ridge([unfitted(chosen, rows)], rows, float) >= 32.0
    chosen, rows = noise(seed, signal=5.0, scale=1e-3)
    assert estimated_ridge([unfitted(chosen[:1], rows)], rows, float) == ridges_for(200.0)[0]


@every_seed
def test_the_estimate_is_the_ridge_of_least_expected_loss(seed):
    chosen, rows = noise(seed, signal=0.8)
    one, ridges = unfitted(chosen, rows), ridges_for(200.0)
    expected = [expected_loss(one, rows, 0.5 * ridge) for ridge in ridges]
    assert estimated_ridge([one], rows, lambda ridge: 0.5 * ridge) == ridges[int(np.argmin(expected))]


@every_seed
def test_ridges_rise_with_size(seed):
    chosen, rows = noise(seed, signal=0.8)
    ensembles = [unfitted([], rows), *(unfitted(chosen[:size], rows) for size in (1, 2, 3))]
    ridges = estimated_ridges(ensembles, rows, lambda ridge: 0.5 * ridge)
    assert len(ridges) == 4
    assert ridges == sorted(ridges)
    assert ridges[0] == ridges[1]


@given(arrays(np.float64, (3, 4), elements=st.floats(0.0, 9.0)))
def test_rising_places_have_the_least_sum(losses):
    rising = [places for places in product(range(4), repeat=3) if list(places) == sorted(places)]
    least = min(sum(losses[line, place] for line, place in enumerate(places)) for places in rising)
    found = rising_places(losses)
    assert found == sorted(found)
    assert sum(losses[line, place] for line, place in enumerate(found)) == pytest.approx(least)


def test_certain_conditions_are_shrunk_less():
    chosen, rows = noise(0, signal=2.0)
    sure, unsure = (estimated_ridge([unfitted(one, rows)], rows, float) for one in (chosen[:1], chosen[1:2]))
    assert sure < unsure


@every_seed
def test_more_complex_conditions_are_shrunk_no_less(seed):
    chosen, rows = noise(seed, signal=0.5)
    ridges = [estimated_ridge([unfitted(chosen, rows, complexity)], rows, float) for complexity in (6, 12, 24, 48)]
    assert (np.diff(ridges) >= 0.0).all()


def test_without_rules_the_ridge_is_the_least():
    _, rows = problem("squared")
    constant, least = unfitted([], rows), ridges_for(rows.weight.sum())[0]
    assert estimated_ridges([], rows, float) == []
    assert estimated_ridge([constant], rows, float) == least


def test_a_ridge_of_less_than_a_row_needs_many_rows():
    assert ridges_for(10.0) == ridges_for(199.0) == (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
    assert ridges_for(200.0)[0] == 0.5


def test_the_largest_ridge_grows_with_the_rows():
    assert [ridges_for(n)[-1] for n in (500.0, 1024.0, 10_000.0)] == [128.0, 256.0, 2048.0]


def test_an_ensemble_without_rules_changes_no_estimate():
    chosen, rows = noise(0, signal=0.8)
    one = unfitted(chosen, rows)
    assert estimated_ridge([unfitted([], rows), one], rows, float) == estimated_ridge([one], rows, float)


def test_a_unit_counts_as_more_weights_where_there_are_more_conditions_to_choose_from():
    rng = np.random.default_rng(0)
    coarse, fine = rng.integers(0, 3, (500, 3)).astype(float), rng.normal(size=(500, 3))
    assert weights_per_unit(Block.of_matrix(np.zeros((5, 2)))) == 0.0
    assert weights_per_unit(Block.of_matrix(coarse)) == weights_per_unit(Block.of_matrix(coarse[:100]))
    assert 0.5 < weights_per_unit(Block.of_matrix(coarse)) < 1.0
    assert 2.5 < weights_per_unit(Block.of_matrix(fine)) < 3.5


@pytest.mark.parametrize("name", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("offset", [False, True])
@every_seed
def test_all_ridges_at_once_are_each_by_itself(name, offset, seed):
    one, rows = problem(name, seed, n=300, offset=offset)
    penalties = [0.1, 1.0, 30.0]
    found = shrinkage.expected_losses(one, rows, penalties, 3.0)
    assert found == pytest.approx([expected_loss(one, rows, ridge) for ridge in penalties], rel=1e-6)
