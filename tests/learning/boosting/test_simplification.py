"""Simplification: smaller ensembles with the best weights for what is left of them, and a front that only becomes better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.boosting.loop import SIZES, shorter_conditions, simplified, simplify, without_weakest
from obliquerules.learning.boosting.record import Record
from obliquerules.losses import LOSSES
from obliquerules.rules import Conjunction, Membership, Proposition

from .growing import (
    assert_rows_fit_conditions,
    assert_weights_are_best,
    mixed_problem,
    problem,
    refiner_of,
    search_of,
    stage_of,
)

every_loss = pytest.mark.parametrize("loss", LOSSES)
OBLIQUE = [Proposition([0, 1, 2], [1.0, 0.8, -0.1], 0.2)]
BOTH = [Proposition([2], [1.0], 0.4), Proposition([3, 0], [-1.0, 0.1], -0.1)]
FLAG, DATE, LEVEL = Proposition([2], [1.0], 0.5), Proposition([3], [1.0], 18200.0), Membership(4, ["b"])


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_every_simplified_ensemble_is_smaller_and_has_the_best_weights(loss, seed):
    stage = stage_of(problem(loss, seed), OBLIQUE, BOTH)
    found = list(simplified(stage, refiner_of(stage.problem)))
    # A rule less, twice; a variable less, twice; a condition less, twice.
    assert len(found) == 6
    for one in found:
        assert one.complexity < stage.complexity
        assert len(one.conditions) >= 1
        assert_rows_fit_conditions(one)
        assert_weights_are_best(one)


def test_the_only_rule_is_not_left_out():
    stage = stage_of(problem(), BOTH)
    found = list(simplified(stage, refiner_of(stage.problem)))
    assert [len(one.conditions) for one in found] == [1, 1, 1]
    assert list(simplified(stage_of(stage.problem, [BOTH[0]]), refiner_of(stage.problem))) == []


def test_a_conjunction_is_shortened_by_a_condition_or_a_variable():
    data = problem()
    found = list(shorter_conditions(Conjunction([*OBLIQUE, *BOTH]), refiner_of(data)))
    assert [[len(test.columns) for test in condition] for condition in found] == [[1, 2], [2, 1, 2], [3, 2], [3, 1], [3, 1, 1]]


def test_no_rule_of_a_simplified_ensemble_fires_always_or_never():
    for data in (problem(seed=seed) for seed in range(5)):
        seldom = [Proposition([0], [1.0], 0.5), Proposition([1], [1.0], 0.5), Proposition([2, 3], [1.0, 0.2], 0.5)]
        for one in simplified(stage_of(data, seldom, OBLIQUE), refiner_of(data)):
            assert one.fires.any(axis=0).all()
            assert not one.fires.all(axis=0).any()


@given(
    st.lists(st.sampled_from([-2.0, -1.0, -0.3, 0.2, 0.7, 1.5]), min_size=2, max_size=4),
    st.permutations(range(4)),
    st.floats(-1.0, 1.0),
    st.booleans(),
)
def test_the_variable_of_least_influence_is_dropped_and_as_many_rows_are_kept(weights, columns, threshold, missing):
    data = problem()
    refiner = refiner_of(data)
    test = Proposition(columns[: len(weights)], weights, threshold, missing)
    covers = test(data.X)
    if covers.all() or not covers.any():
        return
    shorter = without_weakest(test, refiner)
    influence = np.abs(weights) * refiner.conditions.inputs.scaling.scale[list(test.columns)]
    weakest = int(np.argmin(influence))
    kept = [index for index in range(len(weights)) if index != weakest]
    assert shorter.columns == tuple(test.columns[index] for index in kept)
    np.testing.assert_allclose(shorter.weights, np.array(weights)[kept] / abs(weights[kept[0]]))
    assert shorter.missing == missing
    # Rows with the same sum stay together.
    ties = np.unique(shorter.project(data.X).round(9), return_counts=True)[1].max()
    assert abs(np.count_nonzero(shorter(data.X)) - np.count_nonzero(covers)) < ties


def test_rows_without_a_value_are_not_counted():
    data = mixed_problem()
    lacking = np.isnan(data.X.matrix[:, 0])
    for missing in (False, True):
        test = Proposition([0, 1], [1.0, 0.01], 0.3, missing)
        shorter = without_weakest(test, refiner_of(data))
        assert shorter.columns == (0,)
        assert abs(np.count_nonzero(shorter(data.X)[~lacking]) - np.count_nonzero(test(data.X)[~lacking])) < 5
        assert (shorter(data.X)[lacking] == missing).all()


@pytest.mark.parametrize("test", [FLAG, DATE, LEVEL, Proposition([1], [1.0], 0.2)])
def test_a_single_variable_is_not_dropped(test):
    assert without_weakest(test, refiner_of(mixed_problem())) is None


def simplify_all(record, refiner):
    for complexity in SIZES:
        simplify(complexity, record, refiner)


@every_loss
def test_the_front_only_becomes_better(loss):
    search = search_of(problem(loss))
    list(search.grow())
    before = list(search.record.front)
    simplify_all(search.record, search.refiner)
    after = search.record.front
    for stage in before:
        assert any(one.complexity <= stage.complexity and one.selection_loss <= stage.selection_loss for one in after)
    for stage in after:
        if stage.conditions:
            assert_rows_fit_conditions(stage)
            assert_weights_are_best(stage)


def test_a_variable_that_tells_nothing_is_left_out():
    data = problem(n=300)
    record = Record()
    for tests in ([], OBLIQUE):
        record.note_fitted(stage_of(data, tests) if tests else stage_of(data))
    simplify_all(record, refiner_of(data))
    two = next(stage for stage in record.front if stage.complexity == 1 + 3)
    assert set(two.conditions[0].propositions[0].columns) == {0, 1}
    assert two.training_loss <= 1.05 * stage_of(data, OBLIQUE).training_loss


def test_ensembles_beyond_the_largest_are_left_alone():
    data, record = problem(), Record()
    stage = stage_of(data, *([Proposition([0, 1, 2, 3], [1.0, 0.5, 0.2, 0.1], cut)] for cut in (-0.5, 0.0, 0.5, 1.0)))
    assert stage.complexity > max(SIZES)
    record.note_fitted(stage)
    simplify_all(record, refiner_of(data))
    assert record.front == [stage]
