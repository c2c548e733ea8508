"""Refinement moves the numbers of an ensemble and nothing else: not its variables, its levels or its missing values."""

from dataclasses import replace

import numpy as np
import pytest

from obliquerules.learning.boosting import refinement, soft_conditions
from obliquerules.learning.boosting.loop import STEPS
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Conjunction, Membership, Proposition

from .growing import (
    assert_rows_fit_conditions,
    assert_weights_are_best,
    mixed_problem,
    penalised,
    problem,
    refiner_of,
    search_of,
    stage_of,
)

every_loss = pytest.mark.parametrize("loss", LOSSES)
# Near the rules that made the targets, but not there.
OBLIQUE = [Proposition([0, 1], [1.0, 0.8], 0.2)]
BOTH = [Proposition([2], [1.0], 0.4), Proposition([3, 0], [-1.0, 0.1], -0.1)]
FLAG, DATE, LEVEL = Proposition([2], [1.0], 0.5), Proposition([3], [1.0], 18200.0), Membership(4, ["b"])
SUM = Proposition([0, 1], [1.0, 0.4], 0.0, missing=True)


def refinements(stage):
    """Return the ensemble after one refinement and after another, as far as there is one."""
    refiner, found = refiner_of(stage.problem), []
    while len(found) < 2 and (stage := refiner.refined(stage, STEPS)) is not None:
        found.append(stage)
    return found


def variables(stage):
    return [[frozenset(test.used_columns) for test in condition] for condition in stage.conditions]


def assert_thresholds_lie_in_gaps(stage):
    for test in (test for condition in stage.conditions for test in condition if isinstance(test, Proposition)):
        values = test.project(stage.problem.X)
        values = values[~np.isnan(values)]
        assert (np.abs(values - test.threshold) > 1e-9 * np.abs(values)).all()
        assert 0 < np.count_nonzero(values >= test.threshold) < len(values)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_variables_stay_and_weights_are_fitted_to_hard_conditions(loss, seed):
    start = stage_of(problem(loss, seed, n=300), OBLIQUE, BOTH)
    found = refinements(start)
    assert found
    for stage in found:
        assert variables(stage) == variables(start)
        assert stage.complexity == start.complexity
        assert stage.conditions != start.conditions
        assert_rows_fit_conditions(stage)
        assert_weights_are_best(stage)
        assert_thresholds_lie_in_gaps(stage)


@every_loss
def test_numbers_that_are_nearly_right_become_better(loss):
    start = stage_of(problem(loss, n=300), OBLIQUE, BOTH)
    assert min(penalised(stage) for stage in refinements(start)) < penalised(start)


def test_a_threshold_finds_its_step():
    data = problem(n=300)
    data = replace(data, y=3.0 * (data.X.matrix[:, 0] > 0.5))
    found = refinements(stage_of(data, [Proposition([0], [1.0], 0.2)]))[-1]
    assert found.conditions[0](data.X).tolist() == (data.X.matrix[:, 0] > 0.5).tolist()


def test_a_single_variable_keeps_its_weight():
    start = stage_of(problem(), [Proposition([0], [1.0], 0.2)], [Proposition([1], [-1.0], 0.2)])
    found = refinements(start)[-1]
    assert [condition.propositions[0].weights for condition in found.conditions] == [(1.0,), (-1.0,)]


def test_the_most_influential_variable_comes_first_and_has_the_weight_one():
    for stage in refinements(stage_of(problem(), OBLIQUE, BOTH)):
        scale = refiner_of(stage.problem).conditions.inputs.scaling.scale
        for test in (test for condition in stage.conditions for test in condition):
            influence = np.abs(test.weights) * scale[list(test.columns)]
            assert abs(test.weights[0]) == 1.0
            assert (np.diff(influence) <= 1e-12).all()


def test_levels_flags_and_dates_are_not_moved():
    start = stage_of(mixed_problem(), [FLAG], [DATE, SUM], [LEVEL])
    found = refinements(start)
    assert found
    for stage in found:
        assert stage.conditions[0] == start.conditions[0]
        assert stage.conditions[1].propositions[0] == DATE
        assert stage.conditions[1].propositions[1] != SUM
        assert stage.conditions[2] == start.conditions[2]
        assert_rows_fit_conditions(stage)


def test_a_level_in_a_sum_is_moved_with_it():
    start = stage_of(mixed_problem(), [Proposition([1, LEVEL], [1.0, 0.5], 0.1)])
    found = refinements(start)[-1].conditions[0].propositions[0]
    assert set(found.columns) == {1, LEVEL}
    assert_thresholds_lie_in_gaps(refinements(start)[-1])


@pytest.mark.parametrize("conditions", [([FLAG],), ([DATE], [LEVEL]), ([FLAG, LEVEL],), ()])
def test_where_nothing_can_be_moved_there_is_no_refinement(conditions):
    assert refinements(stage_of(mixed_problem(), *conditions)) == []


@pytest.mark.parametrize("missing", [False, True])
def test_missing_values_keep_their_answer(missing):
    data = mixed_problem()
    lacking = np.isnan(data.X.matrix[:, 0])
    start = stage_of(data, [SUM.with_missing(missing)], [FLAG])
    for stage in refinements(start):
        assert stage.conditions[0].propositions[0].missing == missing
        assert (stage.conditions[0](data.X)[lacking] == missing).all()


@every_loss
def test_offsets_are_part_of_the_scores(loss):
    data = problem(loss, n=300)
    data = replace(data, offset=0.3 * np.random.default_rng(1).normal(size=len(data.y)))
    found = refinements(stage_of(data, OBLIQUE, BOTH))
    assert found
    for stage in found:
        assert_weights_are_best(stage)


@every_loss
def test_an_offset_of_one_number_is_a_part_of_the_constant(loss):
    data = problem(loss)
    shifted = replace(data, offset=np.full(len(data.y), 0.5))
    plain, other = (refinements(stage_of(each, OBLIQUE, BOTH))[0] for each in (data, shifted))
    assert other.training_loss == pytest.approx(plain.training_loss, rel=1e-3)


def test_some_of_many_rows_are_enough_to_move_numbers(monkeypatch):
    data = problem(n=400)
    everything = refinements(stage_of(data, OBLIQUE, BOTH))[-1]
    monkeypatch.setattr(soft_conditions, "MOST_ROWS", 100)
    found = refinements(stage_of(data, OBLIQUE, BOTH))
    assert found[-1].conditions != everything.conditions
    assert penalised(found[-1]) < penalised(stage_of(data, OBLIQUE, BOTH))
    for stage in found:
        assert len(stage.pattern) == 400
        assert_rows_fit_conditions(stage)
        assert_weights_are_best(stage)
        assert_thresholds_lie_in_gaps(stage)


def test_rows_beyond_those_that_count_move_nothing(monkeypatch):
    monkeypatch.setattr(soft_conditions, "MOST_ROWS", 100)
    data = problem(n=300)
    other = replace(data, y=np.where(np.arange(300) < 100, data.y, data.y + 1.0))
    start = stage_of(data, OBLIQUE, BOTH)
    moved, same = (refiner_of(each).refined(replace(start, problem=each), 6) for each in (data, other))
    assert moved.conditions == same.conditions
    assert moved.weights.tolist() != same.weights.tolist()


@every_loss
def test_a_second_refinement_is_the_same_to_the_last_bit(loss):
    start = stage_of(problem(loss), OBLIQUE, BOTH)
    refiner = refiner_of(start.problem)
    first, *others = (one.refined(start, STEPS) for one in (refiner, refiner, refiner_of(start.problem)))
    assert all(other.conditions == first.conditions for other in others)
    assert all(other.weights.tobytes() == first.weights.tobytes() for other in others)


@every_loss
def test_no_ensemble_that_a_search_grows_has_a_higher_criterion_for_being_refined(loss, monkeypatch):
    search, met = search_of(problem(loss)), []
    refined = refinement.Refiner.refined

    def watched(refiner, stage, n_steps):
        found = refined(refiner, stage, n_steps)
        met.append([search.selection.criterion(one) for one in (stage, found) if one is not None])
        return found

    monkeypatch.setattr(refinement.Refiner, "refined", watched)
    grown = list(search.grow())[1:]
    assert [search.selection.criterion(stage) for stage in grown] == [min(criteria) for criteria in met]
    assert max(map(len, met)) > 1


# Stages of other conditions


@every_loss
def test_another_condition_is_the_ensemble_grown_with_it(loss):
    data, other = problem(loss), [Proposition([3], [1.0], 0.4)]
    stage = stage_of(data, OBLIQUE, BOTH)
    changed = stage.of_terms((Candidate.of(Conjunction(other), data.X), *stage.terms[1:]), stage.weights)
    grown = stage_of(data, other, BOTH)
    assert changed.conditions == grown.conditions
    np.testing.assert_allclose(changed.weights, grown.weights, rtol=1e-4, atol=1e-6)
    assert_rows_fit_conditions(changed)


@pytest.mark.parametrize(("below", "fires"), [(1.0, True), (-1.0, False)])
def test_there_is_no_ensemble_with_a_rule_that_never_fires(below, fires):
    stage = stage_of(problem(), [Proposition([0], [1.0], 0.0), Proposition([0], [-1.0], -1.0)])
    refiner = refiner_of(stage.problem)
    soft = [[refiner.conditions.soft(test) for test in stage.conditions[0]]]
    # Two rule weights, then weight and threshold of x0 >= 0 and of -x0 >= -below.
    found = np.array([*stage.weights, 1.0, 0.0, -1.0, -below])
    assert (refiner._hardened(stage, soft, found) is not None) == fires


@every_loss
@pytest.mark.parametrize("ridge", [0.1, 30.0])
def test_another_ridge_is_the_ensemble_grown_with_it(loss, ridge):
    data = problem(loss)
    changed, grown = stage_of(data, OBLIQUE, BOTH).with_ridge(ridge), stage_of(replace(data, ridge=ridge), OBLIQUE, BOTH)
    assert changed.ridge == ridge
    assert changed.conditions == grown.conditions
    np.testing.assert_allclose(changed.weights, grown.weights, rtol=1e-4, atol=1e-6)
