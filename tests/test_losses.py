"""Every loss: derivatives, best constant, stability for extreme scores, the aggregation law, complaints."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.metrics import mean_gamma_deviance, mean_tweedie_deviance

from obliquerules.losses import LOSSES, MultinomialLoss, TweedieLoss

TARGETS = {
    "squared": st.floats(-50, 50),
    "logistic": st.floats(0, 1),
    "poisson": st.floats(0, 50),
    "gamma": st.floats(1e-3, 50),
    "tweedie": st.floats(0, 50),
}
EXTREME = np.array([0.0, -0.0, 1e-308, 1.0, 36.0, 599.0, 601.0, 710.0, 1e6, 1e200, 1e308, np.finfo(float).max])
EXTREME_SCORES = np.concatenate([EXTREME, -EXTREME])

# Powers next to 1 and 2, where one of the two terms is nearly a constant.
POWERS = {f"tweedie {power}": TweedieLoss(power) for power in (1.001, 1.9, 1.999)}
every_loss = pytest.mark.parametrize("loss", [*LOSSES.values(), *POWERS.values()], ids=[*LOSSES, *POWERS])
with_log_link = [LOSSES["poisson"], LOSSES["gamma"], LOSSES["tweedie"], *POWERS.values()]
every_log_link = pytest.mark.parametrize("loss", with_log_link, ids=["poisson", "gamma", "tweedie", *POWERS])


def targets(loss, seed, size):
    rng = np.random.default_rng(seed)
    draw = {
        "squared": lambda: rng.normal(3, 5, size),
        "logistic": lambda: rng.integers(0, 2, size),
        "poisson": lambda: rng.poisson(2.5, size),
        "gamma": lambda: rng.gamma(0.7, 3.0, size),
        "tweedie": lambda: rng.poisson(0.8, size) * rng.gamma(2.0, 2.0, size),
    }
    return draw[loss.name]().astype(float)


def central_difference(function, at, step=1e-5):
    return (function(at + step) - function(at - step)) / (2 * step)


@every_loss
@given(data=st.data(), score=st.floats(-8, 8))
def test_gradient_is_the_derivative_of_the_value(loss, data, score):
    y = np.array([data.draw(TARGETS[loss.name])])
    numeric = central_difference(lambda f: loss.value(y, f), np.array([score]))
    tolerance = 1e-6 * (1.0 + abs(numeric.item()))
    np.testing.assert_allclose(loss.gradient(y, np.array([score])), numeric, rtol=1e-6, atol=tolerance)


@every_loss
@given(data=st.data(), score=st.floats(-8, 8))
def test_hessian_is_the_derivative_of_the_gradient(loss, data, score):
    y = np.array([data.draw(TARGETS[loss.name])])
    numeric = central_difference(lambda f: loss.gradient(y, f), np.array([score]))
    np.testing.assert_allclose(loss.hessian(np.array([score]), y), numeric, rtol=1e-6, atol=1e-8)


@every_loss
@given(score=st.floats(-50, 50))
def test_the_expected_hessian_is_the_one_at_the_mean(loss, score):
    score = np.array([score])
    np.testing.assert_allclose(loss.hessian(score), loss.hessian(score, loss.inverse_link(score)), rtol=1e-12)


@every_loss
def test_value_is_zero_where_the_prediction_is_the_target_and_positive_elsewhere(loss):
    mean = np.array([0.25, 0.5])  # a target that all losses allow
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


@pytest.mark.parametrize(
    ("name", "y", "side"), [("logistic", 0.0, -1), ("logistic", 1.0, 1), ("poisson", 0.0, -1), ("tweedie", 0.0, -1)]
)
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
        loss.hessian(EXTREME_SCORES, y),
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
    assume(y > 1e-250 or loss.power != 1.999)  # zeros cost less with every fall of the score, however slowly: no score is best
    cost = loss.value(y, np.array([score]))
    least = loss.value(y, np.array([loss.link(y.item())]))
    assert np.isfinite(cost).all()
    assert (cost >= least - 1e-9 * (1 + np.abs(least))).all()
    assert (loss.hessian(np.array([score])) >= 0.0).all()
    assert (loss.hessian(np.array([score]), y) >= 0.0).all()


@pytest.mark.parametrize("y", [1e6, 1e100, 1e300])
@pytest.mark.parametrize("name", ["squared", "poisson", "gamma", "tweedie"])
def test_huge_targets_give_finite_numbers(name, y):
    y = np.full(len(EXTREME_SCORES), y)
    assert np.isfinite(LOSSES[name].value(y, EXTREME_SCORES)).all()
    assert np.isfinite(LOSSES[name].gradient(y, EXTREME_SCORES)).all()
    assert np.isfinite(LOSSES[name].hessian(EXTREME_SCORES, y)).all()


@every_log_link
@pytest.mark.parametrize("score", [650.0, -650.0])
def test_the_loss_goes_on_with_its_gradient_where_an_exponential_is_capped(loss, score):
    y, score = np.array([3.0]), np.array([score])
    rise = loss.value(y, score + 1.0) - loss.value(y, score)
    # A line but for the other exponential, which may fall slowly.
    np.testing.assert_allclose(rise, loss.gradient(y, score), rtol=1e-9 if loss.name == "poisson" else 1e-3)


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
    for target, merged in ((y, mean), (None, None)):
        curvature = np.bincount(group, weight * loss.hessian(score[group], target), 4)[met]
        np.testing.assert_allclose(total[met] * loss.hessian(score[met], merged), curvature, rtol=1e-12)
    assert loss.best_constant(y, weight) == pytest.approx(loss.best_constant(mean, total[met]), rel=1e-9, abs=1e-9)


@every_loss
def test_sound_targets_draw_no_complaint(loss):
    assert loss.complaint(np.array([0.5 if loss.name == "gamma" else 0.0, 1.0, 1.0])) is None


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
        ("gamma", [-1.0, 3.0], "not positive"),
        ("gamma", [0.0, 3.0], "not positive"),
        ("gamma", [1e-300, 3.0], "positive values below 1e-250"),
        ("tweedie", [-1.0, 3.0], "negative"),
        ("tweedie", [0.0, 0.0], "nothing but zeros"),
    ],
)
def test_impossible_targets_draw_a_complaint(name, y, expected):
    assert expected in LOSSES[name].complaint(np.array(y))


def test_each_loss_is_found_under_its_name():
    names = ("squared", "logistic", "poisson", "gamma", "tweedie")
    assert {name: loss.name for name, loss in LOSSES.items()} == {name: name for name in names}


def test_classes_are_strata_and_numbers_have_none():
    y = np.array([1.0, 0.0, 1.0])
    assert {name: loss.strata(y).tolist() for name, loss in LOSSES.items()} == {
        "squared": [0, 0, 0],
        "logistic": [1, 0, 1],
        "poisson": [0, 0, 0],
        "gamma": [0, 0, 0],
        "tweedie": [0, 0, 0],
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


# Log links


@pytest.mark.parametrize("power", [1.0001, 1.1, 1.5, 1.9, 1.9999])
def test_the_tweedie_loss_is_half_the_deviance(power):
    loss, rng = TweedieLoss(power), np.random.default_rng(0)
    y, score, weight = targets(loss, 0, 200), rng.normal(size=200), rng.exponential(size=200)
    deviance = mean_tweedie_deviance(y, np.exp(score), power=power, sample_weight=weight)
    assert 2.0 * loss.risk(y, score, weight) == pytest.approx(deviance, rel=1e-9)


def test_the_gamma_loss_is_half_the_deviance():
    loss, rng = LOSSES["gamma"], np.random.default_rng(0)
    y, score, weight = targets(loss, 0, 200), rng.normal(size=200), rng.exponential(size=200)
    deviance = mean_gamma_deviance(y, np.exp(score), sample_weight=weight)
    assert 2.0 * loss.risk(y, score, weight) == pytest.approx(deviance, rel=1e-12)


@given(y=st.floats(0.1, 100), score=st.floats(-5, 5))
def test_next_to_its_ends_the_tweedie_loss_is_that_of_counts_and_the_gamma_loss(y, score):
    y, score = np.array([y]), np.array([score])
    for name, power in (("poisson", 1.0 + 1e-12), ("gamma", 2.0 - 1e-12)):
        loss, limit = TweedieLoss(power), LOSSES[name]
        np.testing.assert_allclose(loss.value(y, score), limit.value(y, score), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(loss.gradient(y, score), limit.gradient(y, score), rtol=1e-9, atol=1e-9)


def test_losses_next_to_their_minimum_keep_their_digits():
    y = np.array([1e-6, 1.0, 1e9])
    for loss in with_log_link[1:]:
        # To third order: mu^(2-p) (d^2 / 2 + (3 - 2 p) d^3 / 6).
        d, p = 1e-4, loss.power
        expected = y ** (2.0 - p) * (d**2 / 2.0 + (3.0 - 2.0 * p) * d**3 / 6.0)
        np.testing.assert_allclose(loss.value(y, np.log(y) + d), expected, rtol=1e-6)


@every_log_link
@given(seed=st.integers(0, 10_000))
def test_a_row_with_an_exposure_loses_what_a_row_without_one_does_but_for_a_constant(loss, seed):
    rng = np.random.default_rng(seed)
    y, weight, exposure = targets(loss, seed, 20), rng.exponential(size=20), rng.uniform(0.01, 30.0, 20)
    score, other = rng.normal(size=(2, 20))
    rate, share = loss.exposed(y, weight, exposure)
    given_score = score + np.log(exposure)
    np.testing.assert_allclose(share * loss.gradient(rate, score), weight * loss.gradient(y, given_score), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(share * loss.hessian(score, rate), weight * loss.hessian(given_score, y), rtol=1e-9)
    change = loss.value(y, given_score) - loss.value(y, other + np.log(exposure))
    without = loss.value(rate, score) - loss.value(rate, other)
    np.testing.assert_allclose(share * without, weight * change, rtol=1e-8, atol=1e-8)
    for one, shifted in zip((rate, share), loss.shifted(y, weight, np.log(exposure)), strict=True):
        np.testing.assert_allclose(one, shifted, rtol=1e-12)


@pytest.mark.parametrize(("name", "weight"), [("poisson", 20.0), ("gamma", 5.0), ("tweedie", 10.0)])
def test_the_power_says_what_an_exposure_does_to_a_weight(name, weight):
    exposed = LOSSES[name].exposed(np.array([6.0]), np.array([5.0]), np.array([4.0]))
    assert [one.tolist() for one in exposed] == [[1.5], [weight]]


@pytest.mark.parametrize("loss", [LOSSES["squared"], LOSSES["logistic"], MultinomialLoss(3)], ids=lambda loss: loss.name)
def test_without_a_log_link_there_is_no_exposure(loss):
    with pytest.raises(ValueError, match="exposure needs a log link: loss='poisson', 'gamma' or 'tweedie'"):
        loss.exposed(np.ones(2), np.ones(2), np.ones(2))


def test_an_offset_is_taken_from_numbers_but_not_from_classes():
    y, weight, offset = np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.array([0.5, -2.0])
    shifted, same = LOSSES["squared"].shifted(y, weight, offset)
    assert (shifted.tolist(), same.tolist()) == ([0.5, 2.0], [1.0, 3.0])
    assert LOSSES["logistic"].shifted(y, weight, offset) is None
    assert MultinomialLoss(3).shifted(y, weight, offset) is None


@every_log_link
@given(seed=st.integers(0, 10_000))
def test_a_group_costs_what_its_mean_target_costs_and_its_spread(loss, seed):
    rng = np.random.default_rng(seed)
    y, weight, score = targets(loss, seed, 20), rng.exponential(size=20), rng.normal(size=1)
    mean = np.average(y, weights=weight, keepdims=True)
    total = weight @ loss.value(y, np.full(20, score))
    merged = weight.sum() * loss.value(mean, score) + weight @ loss.spread(y, np.full(20, mean))
    np.testing.assert_allclose(merged, total, rtol=1e-9)


@every_log_link
def test_a_group_of_zeros_has_no_spread(loss):
    assert loss.spread(np.zeros(3), np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["gamma", "tweedie"])
@given(total=st.floats(1e-6, 1e6), n=st.integers(1, 10**6))
def test_amounts_have_any_dispersion(name, total, n):
    loss, dispersion = LOSSES[name], 2.0 * total / n
    grid = dispersion * np.array([0.5, 0.99, 1.0, 1.01, 2.0])
    least = (2.0 * total / grid + n * np.log(grid)).min()
    assert loss.profile_deviance(total, n) + n == pytest.approx(least, rel=1e-9, abs=1e-9 * n)
    assert np.isfinite(loss.profile_deviance(0.0, n))


def test_losses_with_the_same_power_are_equal():
    assert TweedieLoss(1.5) == LOSSES["tweedie"] != TweedieLoss(1.6)
    assert hash(TweedieLoss(1.5)) == hash(LOSSES["tweedie"])
    assert LOSSES["gamma"] != LOSSES["tweedie"]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 30.0, 800.0]))
def test_the_loss_of_a_class_is_minus_the_logarithm_of_its_probability(seed, size):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 4, 300), size * rng.normal(size=(300, 4))
    wanted = np.logaddexp.reduce(score, axis=1) - score[np.arange(300), y]
    loss = MultinomialLoss(4)
    np.testing.assert_allclose(loss.value(y.astype(float), score), wanted, rtol=1e-12, atol=1e-12 * max(size, 1.0))
    np.testing.assert_array_equal(loss.value(np.eye(4)[y], score), loss.value(y.astype(float), score))


def test_the_loss_of_classes_is_finite_for_extreme_scores():
    score = np.array([[1e150, -1e150, 0.0], [-1e300, 0.0, 0.0], [710.0, 0.0, -710.0]])
    assert np.isfinite(MultinomialLoss(3).value(np.array([1.0, 0.0, 2.0]), score)).all()
    assert MultinomialLoss(3).value(np.array([0.0, 1.0, 0.0]), score).tolist() == [0.0, np.log(2.0), 0.0]
