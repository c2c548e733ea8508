"""Every loss: derivatives, best constant, stability for extreme scores, the aggregation law, complaints."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from obliquerules.losses import LOSSES

TARGETS = {"squared": st.floats(-50, 50), "logistic": st.floats(0, 1), "poisson": st.floats(0, 50)}
EXTREME = np.array([0.0, -0.0, 1e-308, 1.0, 36.0, 599.0, 601.0, 710.0, 1e6, 1e200, 1e308, np.finfo(float).max])
EXTREME_SCORES = np.concatenate([EXTREME, -EXTREME])

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


def targets(loss, seed, size):
    rng = np.random.default_rng(seed)
    draw = {"squared": rng.normal(3, 5, size), "logistic": rng.integers(0, 2, size), "poisson": rng.poisson(2.5, size)}
    return draw[loss.name].astype(float)


def central_difference(function, at, step=1e-5):
    return (function(at + step) - function(at - step)) / (2 * step)


@every_loss
@given(data=st.data(), score=st.floats(-8, 8))
def test_gradient_is_the_derivative_of_the_value(loss, data, score):
    y = np.array([data.draw(TARGETS[loss.name])])
    numeric = central_difference(lambda f: loss.value(y, f), np.array([score]))
    np.testing.assert_allclose(loss.gradient(y, np.array([score])), numeric, rtol=1e-6, atol=1e-6)


@every_loss
@given(data=st.data(), score=st.floats(-8, 8))
def test_hessian_is_the_derivative_of_the_gradient(loss, data, score):
    y = np.array([data.draw(TARGETS[loss.name])])
    numeric = central_difference(lambda f: loss.gradient(y, f), np.array([score]))
    np.testing.assert_allclose(loss.hessian(np.array([score])), numeric, rtol=1e-6, atol=1e-8)


@every_loss
def test_value_is_zero_where_the_prediction_is_the_target_and_positive_elsewhere(loss):
    mean = np.array([0.25, 0.5])  # a target that all three losses allow
    scores = np.array([loss.link(value) for value in mean])
    np.testing.assert_allclose(loss.inverse_link(scores), mean, rtol=1e-12)
    np.testing.assert_allclose(loss.gradient(mean, scores), 0.0, atol=1e-12)
    least = loss.value(mean, scores)
    assert (loss.value(mean, scores + 0.1) > least).all()
    assert (loss.value(mean, scores - 0.1) > least).all()
    if loss.name != "logistic":  # a share between 0 and 1 keeps its entropy
        np.testing.assert_allclose(least, 0.0, atol=1e-12)


@every_loss
@pytest.mark.parametrize("seed", range(5))
def test_best_constant_minimises_the_weighted_loss(loss, seed):
    y = targets(loss, seed, 40)
    weight = np.random.default_rng(seed + 100).exponential(size=40)
    found = minimize_scalar(lambda f: weight @ loss.value(y, np.full(40, f)), bracket=(-1, 1), tol=1e-12)
    best = loss.best_constant(y, weight)
    assert best == pytest.approx(found.x, abs=1e-5)
    assert weight @ loss.value(y, np.full(40, best)) <= found.fun * (1 + 1e-12)
    assert weight @ loss.gradient(y, np.full(40, best)) == pytest.approx(0.0, abs=1e-9)


@every_loss
def test_rows_without_weight_do_not_move_the_best_constant(loss):
    y = targets(loss, 1, 20)
    weight = np.where(np.arange(20) < 10, 1.0, 0.0)
    assert loss.best_constant(y, weight) == loss.best_constant(y[:10], np.ones(10))


@every_loss
def test_curvature_is_the_hessian_at_the_best_constant(loss):
    for y in (targets(loss, 2, 30), np.ones(30)):
        weight = np.random.default_rng(3).exponential(size=30)
        hessian = loss.hessian(np.array([loss.best_constant(y, weight)])).item()
        assert loss.curvature(y, weight) == pytest.approx(hessian, rel=1e-9)


@every_loss
def test_numbers_of_any_shape_are_broadcast_and_keep_their_bits(loss):
    y, score = targets(loss, 4, 6), np.random.default_rng(5).normal(size=(4, 6))
    for row, value, slope in zip(score, loss.value(y, score), loss.gradient(y, score), strict=True):
        np.testing.assert_array_equal(value, loss.value(y, row))
        np.testing.assert_array_equal(slope, loss.gradient(y, row))
    assert loss.inverse_link(score[:, ::2]).shape == loss.hessian(score[:, ::2]).shape == (4, 3)
    assert loss.value(np.array(1.0), np.array(0.5)).shape == ()


@pytest.mark.parametrize(("name", "y", "side"), [("logistic", 0.0, -1), ("logistic", 1.0, 1), ("poisson", 0.0, -1)])
def test_best_constant_of_targets_at_their_bound_is_finite(name, y, side):
    best = LOSSES[name].best_constant(np.full(3, y), np.ones(3))
    assert np.isfinite(best)
    assert side * best > 20


@every_loss
@pytest.mark.parametrize("y", [0.0, 0.3, 1.0])
def test_any_finite_score_gives_finite_numbers_without_a_warning(loss, y):
    y = np.full(len(EXTREME_SCORES), y)
    for numbers in (
        loss.value(y, EXTREME_SCORES),
        loss.gradient(y, EXTREME_SCORES),
        loss.hessian(EXTREME_SCORES),
        loss.inverse_link(EXTREME_SCORES),
    ):
        assert np.isfinite(numbers).all()


@every_loss
@given(data=st.data(), score=st.floats(allow_nan=False, allow_infinity=False))
@example(data=None, score=1e308)
@example(data=None, score=-1e308)
@example(data=None, score=650.0)
def test_no_score_costs_less_than_the_best_one(loss, data, score):
    y = np.array([1.0 if data is None else data.draw(TARGETS[loss.name])])
    cost = loss.value(y, np.array([score]))
    least = loss.value(y, np.array([loss.link(y.item())]))
    assert np.isfinite(cost).all()
    assert (cost >= least - 1e-9 * (1 + np.abs(least))).all()
    assert (loss.hessian(np.array([score])) >= 0.0).all()


@pytest.mark.parametrize("y", [1e6, 1e100, 1e300])
@pytest.mark.parametrize("name", ["squared", "poisson"])
def test_huge_targets_give_finite_numbers(name, y):
    y = np.full(len(EXTREME_SCORES), y)
    assert np.isfinite(LOSSES[name].value(y, EXTREME_SCORES)).all()
    assert np.isfinite(LOSSES[name].gradient(y, EXTREME_SCORES)).all()


def test_the_poisson_loss_goes_on_rising_with_its_gradient_where_the_rate_is_capped():
    loss, y, score = LOSSES["poisson"], np.array([3.0]), np.array([650.0])
    rise = loss.value(y, score + 1.0) - loss.value(y, score)
    np.testing.assert_allclose(rise, loss.gradient(y, score), rtol=1e-9)


def test_log_odds_far_from_zero_keep_their_digits():
    loss = LOSSES["logistic"]
    score = np.array([40.0, -40.0])
    np.testing.assert_allclose(loss.value(np.array([1.0, 0.0]), score), np.exp(-40.0), rtol=1e-12)
    np.testing.assert_allclose(loss.hessian(score), np.exp(-40.0), rtol=1e-12)


@every_loss
@given(seed=st.integers(0, 10_000))
def test_rows_with_equal_score_may_be_replaced_by_their_mean_target_and_summed_weight(loss, seed):
    rng = np.random.default_rng(seed)
    y, weight, group = targets(loss, seed, 30), rng.exponential(size=30), rng.integers(0, 4, 30)
    score = rng.normal(size=4)
    total = np.bincount(group, weight, 4)
    met = total > 0
    mean = np.bincount(group, weight * y, 4)[met] / total[met]
    by_row = np.bincount(group, weight * loss.gradient(y, score[group]), 4)[met]
    np.testing.assert_allclose(total[met] * loss.gradient(mean, score[met]), by_row, rtol=1e-9, atol=1e-9)
    curvature = np.bincount(group, weight * loss.hessian(score[group]), 4)[met]
    np.testing.assert_allclose(total[met] * loss.hessian(score[met]), curvature, rtol=1e-12)
    assert loss.best_constant(y, weight) == pytest.approx(loss.best_constant(mean, total[met]), rel=1e-9, abs=1e-9)


@every_loss
def test_sound_targets_draw_no_complaint(loss):
    assert loss.complaint(np.array([0.0, 1.0, 1.0])) is None


@every_loss
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_or_infinite_targets_draw_a_complaint(loss, bad):
    assert loss.complaint(np.array([0.0, 0.0, bad])) == "has missing or infinite values"


@pytest.mark.parametrize(
    ("name", "y", "expected"),
    [
        ("logistic", [0.0, 2.0], "outside 0 and 1"),
        ("logistic", [-1.0, 1.0], "outside 0 and 1"),
        ("poisson", [-1.0, 3.0], "negative"),
        ("poisson", [0.0, 0.0], "nothing but zeros"),
    ],
)
def test_impossible_targets_draw_a_complaint(name, y, expected):
    assert expected in LOSSES[name].complaint(np.array(y))


def test_each_loss_is_found_under_its_name():
    assert {name: loss.name for name, loss in LOSSES.items()} == {name: name for name in ("squared", "logistic", "poisson")}


def test_classes_are_strata_and_numbers_have_none():
    y = np.array([1.0, 0.0, 1.0])
    assert {name: loss.strata(y).tolist() for name, loss in LOSSES.items()} == {
        "squared": [0, 0, 0],
        "logistic": [1, 0, 1],
        "poisson": [0, 0, 0],
    }
    assert all(loss.strata(y).dtype == np.intp for loss in LOSSES.values())


@given(st.floats(1e-6, 1e6), st.integers(1, 10**6))
def test_counts_have_the_dispersion_that_their_deviance_shows(total, n):
    loss, dispersion = LOSSES["poisson"], 2.0 * total / n
    # Profiled over the dispersion, D / phi + n log(phi) is least at phi = D / n, or at 1 if that is less.
    grid = np.array([1.0, 1.01 * dispersion, 0.99 * dispersion, dispersion, 2.0, 100.0])
    possible = grid[grid >= 1.0]
    least = (2.0 * total / possible + n * np.log(possible)).min()
    assert loss.profile_deviance(total, n) == pytest.approx(least, rel=1e-9)
    if dispersion <= 1.0:
        assert loss.profile_deviance(total, n) == 2.0 * total
