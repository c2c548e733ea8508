"""Smoothed loss: with blurred thresholds, a lucky cut is worth less."""

from dataclasses import replace

import numpy as np
import pytest

from obliquerules.learning.boosting import soft_conditions
from obliquerules.learning.boosting.soft_conditions import SHARE, WIDTH, SmoothedLoss
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Membership, Proposition

from .growing import blurred, mixed_problem, problem, soft_of, stage_of

every_loss = pytest.mark.parametrize("loss", LOSSES)
OBLIQUE = [Proposition([0, 1], [1.0, 0.8], 0.2)]
BOTH = [Proposition([2], [1.0], 0.4), Proposition([3, 0], [-1.0, 0.1], -0.1)]


def degree_by_hand(test, X, sharpness):
    values = test.project(X)
    return 1.0 / (1.0 + np.exp(-sharpness * (values - test.threshold) / values.std()))


@every_loss
def test_half_of_the_loss_is_that_of_degrees_in_place_of_steps(loss):
    data = blurred(problem(loss))
    stage = stage_of(data, OBLIQUE, BOTH)
    sharpness = np.cbrt(data.row_weight.sum()) / WIDTH
    score = np.full(len(data.y), stage.weights[0])
    for weight, tests in zip(stage.weights[1:], (OBLIQUE, BOTH), strict=True):
        score += weight * np.prod([degree_by_hand(test, data.X, sharpness) for test in tests], axis=0)
    expected = (data.row_weight * data.loss.value(data.y, score)).sum()
    assert stage.selection_loss == pytest.approx((1.0 - SHARE) * stage.training_loss + SHARE * expected, rel=1e-9)


@every_loss
def test_without_a_blur_or_without_rules_it_is_the_training_loss(loss):
    stage = stage_of(problem(loss), OBLIQUE, BOTH)
    assert stage.selection_loss == stage.training_loss
    constant = stage_of(blurred(problem(loss)))
    assert constant.selection_loss == pytest.approx(constant.training_loss, rel=1e-11)


def test_offsets_are_part_of_blurred_scores():
    data = problem()
    shifted = replace(data, offset=np.full(len(data.y), 0.5))
    plain, other = (stage_of(blurred(each), OBLIQUE) for each in (data, shifted))
    assert other.selection_loss == pytest.approx(plain.selection_loss, rel=1e-9)


def test_a_step_in_a_wide_gap_is_not_blurred():
    data = problem(n=300)
    x = data.X.matrix[:, 0]
    matrix = np.asfortranarray(np.column_stack([np.where(x > 0.0, x + 20.0, x - 20.0), data.X.matrix[:, 1:]]))
    smoothed_loss = SmoothedLoss(soft_of(replace(data, X=Block.of_matrix(matrix))), data.size)
    degree = smoothed_loss.conditions.degree(Proposition([0], [1.0], 0.0), smoothed_loss.sharpness)
    np.testing.assert_allclose(degree, x > 0.0, atol=0.01)


@pytest.mark.parametrize("missing", [False, True])
def test_missing_values_have_the_answer_of_their_condition(missing):
    data = mixed_problem()
    test = Proposition([0, 1], [1.0, 0.4], 0.003, missing=missing)
    degree = soft_of(data).degree(test, 8.0)
    lacking = np.isnan(data.X.matrix[:, 0])
    assert (degree[lacking] == missing).all()
    assert np.count_nonzero((degree[~lacking] > 0.01) & (degree[~lacking] < 0.99)) > 10
    assert np.array_equal(degree[~lacking] > 0.5, test(data.X)[~lacking])


@pytest.mark.parametrize("test", [Proposition([2], [1.0], 0.5), Proposition([3], [1.0], 18200.0), Membership(4, ["b"])])
def test_levels_flags_and_dates_are_not_blurred(test):
    data = mixed_problem()
    assert np.array_equal(soft_of(data).degree(test, 8.0), test(data.X))


def test_more_rows_make_thresholds_sharper():
    data = problem()
    narrow, wide = SmoothedLoss(soft_of(data), 4000.0), SmoothedLoss(soft_of(data), 500.0)
    assert narrow.sharpness == pytest.approx(2.0 * wide.sharpness)


def test_some_of_many_rows_stand_for_all(monkeypatch):
    everything = stage_of(blurred(problem(n=4000)), OBLIQUE, BOTH).selection_loss
    monkeypatch.setattr(soft_conditions, "MOST_ROWS", 2000)
    assert stage_of(blurred(problem(n=4000)), OBLIQUE, BOTH).selection_loss == pytest.approx(everything, rel=0.02)


def test_the_selection_loss_is_never_negative(monkeypatch):
    monkeypatch.setattr(soft_conditions, "MOST_ROWS", 20)
    data = problem(n=400)
    # The rows that stand for all have all of the loss, and smoothing makes theirs smaller.
    stage = stage_of(blurred(replace(data, y=np.where(np.arange(400) < 20, -data.y, 0.0))), OBLIQUE, BOTH)
    assert stage.selection_loss >= (1.0 - SHARE) * stage.training_loss > 0.0


def test_sharpness_without_bounds_does_not_overflow():
    data = problem()
    np.testing.assert_allclose(soft_of(data).degree(OBLIQUE[0], 1e300), OBLIQUE[0](data.X), atol=1e-300)


def test_rows_on_the_wrong_side_near_a_threshold_count_for_less_than_rows_far_away():
    """A cut that parts noise at its threshold has no advantage: what it gains there is nearly as good on the other side."""
    x = np.linspace(-1.0, 1.0, 200)
    base, stages = problem(n=200), []
    matrix = np.asfortranarray(np.column_stack([x, base.X.matrix[:, 1:]]))
    for wrong in ([98, 101], [5, 194]):
        y = (x > 0.0) * 1.0
        y[wrong] = 1.0 - y[wrong]
        data = blurred(replace(base, X=Block.of_matrix(matrix), y=y, row_weight=np.ones(200)))
        stages.append(stage_of(data, [Proposition([0], [1.0], 0.0)]))
    near, far = stages
    assert near.training_loss == pytest.approx(far.training_loss, rel=1e-9)
    assert near.selection_loss < far.selection_loss
