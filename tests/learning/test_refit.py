"""The corrective step finds the minimum of its objective, for one score or many, from any start and never uphill."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import GammaRegressor, TweedieRegressor

from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.refit import MARGIN, or_weights, refit, weight_finder
from obliquerules.losses import LOSSES, Loss, MultinomialLoss, TweedieLoss

EVERY = {**LOSSES, "tweedie 1.1": TweedieLoss(1.1), "tweedie 1.9": TweedieLoss(1.9)}
every_loss = pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY.keys())


def problem(loss, seed, n=60, rules=4):
    """Return design, targets and row weights: a column of ones and rules that fire at random."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.random((n, rules)) < rng.uniform(0.1, 0.9, rules)]).astype(float)
    score = design @ rng.normal(size=rules + 1)
    mean = loss.inverse_link(score)
    y = {
        "squared": mean + rng.normal(size=n),
        "logistic": rng.random(n) < (mean if loss.name == "logistic" else 0.5),
        "poisson": rng.poisson(np.abs(mean)),
        "gamma": np.abs(mean) * rng.gamma(0.7, 1.0, n),
        "tweedie": rng.poisson(np.abs(mean)) * rng.gamma(2.0, 1.0, n),
    }[loss.name]
    return design, y.astype(float), rng.exponential(size=n)


def refitted(design, y, row_weight, loss, ridge, start, *, fixed=None, **bounds):
    """Return the weights of a corrective step in which each row is a pattern of its own."""
    patterns = FiringPatterns(design, np.arange(len(design)))
    return refit(patterns, y, row_weight, loss, ridge, start, free=None if fixed is None else ~fixed, **bounds)


def objective(design, y, row_weight, loss, ridge, weights):
    return row_weight @ loss.value(y, design @ weights) + 0.5 * ridge * (weights[1:] ** 2).sum()


def gradient(design, y, row_weight, loss, ridge, weights):
    return design.T @ (row_weight * loss.gradient(y, design @ weights)) + ridge * np.append(0.0, weights[1:])


@every_loss
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(10))
def test_the_gradient_is_zero_at_the_solution(loss, ridge, seed):
    data = *problem(loss, seed), loss, ridge
    step = refitted(*data, np.zeros(5))
    scale = np.abs(gradient(*data, np.zeros(5))).max()
    assert np.abs(gradient(*data, step)).max() <= 1e-5 * scale


@every_loss
@pytest.mark.parametrize("seed", range(10))
def test_the_solution_is_that_of_a_general_minimiser(loss, seed):
    data = *problem(loss, seed), loss, 0.1
    found = minimize(
        lambda weights: objective(*data, weights),
        np.zeros(5),
        jac=lambda weights: gradient(*data, weights),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    step = refitted(*data, np.zeros(5))
    assert objective(*data, step) <= found.fun * (1.0 + 1e-12)
    np.testing.assert_allclose(step, found.x, atol=1e-5)


@every_loss
@pytest.mark.parametrize("size", [0.0, 1.0, 30.0, 300.0, 1e4, 1e100])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_no_start_is_left_for_a_worse_place(loss, size, ridge):
    for seed in range(5):
        data = *problem(loss, seed), loss, ridge
        start = size * np.random.default_rng(seed).normal(size=5)
        before = start.copy()
        step = refitted(*data, start)
        assert np.isfinite(step).all()
        with np.errstate(over="ignore", invalid="ignore"):
            assert not objective(*data, start) < objective(*data, step)
        assert np.array_equal(start, before)


@every_loss
@pytest.mark.parametrize("size", [1.0, 10.0])
def test_the_solution_does_not_depend_on_the_start(loss, size):
    for seed in range(10):
        data = *problem(loss, seed), loss, 1.0
        start = size * np.random.default_rng(seed).normal(size=5)
        expected = refitted(*data, np.zeros(5))
        np.testing.assert_allclose(refitted(*data, start), expected, atol=1e-5)


@every_loss
def test_the_constant_is_free_of_the_ridge(loss):
    design, y, row_weight = problem(loss, 3)
    step = refitted(design, y, row_weight, loss, 1e12, np.zeros(5))
    np.testing.assert_allclose(step[1:], 0.0, atol=1e-6)
    assert step[0] == pytest.approx(loss.best_constant(y, row_weight), abs=1e-5)


@pytest.mark.parametrize("name", ["logistic", "poisson", "tweedie", "tweedie 1.1"])
@pytest.mark.parametrize("seed", range(5))
def test_separable_data_give_finite_weights_without_a_ridge(name, seed):
    rng = np.random.default_rng(seed)
    fires = rng.random(40) < 0.5
    design, y = np.column_stack([np.ones(40), fires]), fires.astype(float)
    step = refitted(design, y, np.ones(40), EVERY[name], 0.0, np.zeros(2))
    assert np.isfinite(step).all()
    assert objective(design, y, np.ones(40), EVERY[name], 0.0, step) < 1e-6


@every_loss
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_rules_that_fire_on_the_same_rows_share_their_weight(loss, ridge):
    design, y, row_weight = problem(loss, 7, rules=2)
    single = refitted(design, y, row_weight, loss, ridge, np.zeros(3))
    # Two copies under ridge r act like one under r / 2.
    copied = design[:, [0, 1, 1, 2, 2]]
    double = refitted(copied, y, row_weight, loss, 2.0 * ridge, np.zeros(5))
    combined = np.array([double[0], double[1] + double[2], double[3] + double[4]])
    np.testing.assert_allclose(combined, single, atol=1e-5)
    least = objective(design, y, row_weight, loss, ridge, single)
    assert objective(copied, y, row_weight, loss, 2.0 * ridge, double) == pytest.approx(least, rel=1e-8)


@every_loss
def test_rules_that_fire_always_or_never_do_no_harm(loss):
    design, y, row_weight = problem(loss, 11)
    design[:, 1], design[:, 2] = 1.0, 0.0
    for ridge in (0.0, 1e-3):
        step = refitted(design, y, row_weight, loss, ridge, np.zeros(5))
        assert np.isfinite(step).all()
        rest = np.ascontiguousarray(design[:, [0, 3, 4]])
        expected = refitted(rest, y, row_weight, loss, ridge, np.zeros(3))
        least = objective(rest, y, row_weight, loss, ridge, expected)
        assert objective(design, y, row_weight, loss, ridge, step) == pytest.approx(least, rel=1e-6)


@every_loss
def test_a_row_of_weight_two_is_the_row_twice(loss):
    design, y, row_weight = problem(loss, 5)
    once = refitted(design, y, 2.0 * row_weight, loss, 0.3, np.zeros(5))
    twice = refitted(np.tile(design, (2, 1)), np.tile(y, 2), np.tile(row_weight, 2), loss, 0.3, np.zeros(5))
    np.testing.assert_allclose(once, twice, atol=1e-6)


@every_loss
@pytest.mark.parametrize("score", [0.0, 1.0, 100.0, 590.0, 700.0, 1e4, 1e100, 1e160, 1e300])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("y", [0.0, 0.5, 1.0])
def test_the_compiled_loss_is_the_loss(loss, score, sign, y):
    start = np.array([sign * score])
    found = weight_finder(np.ones((1, 1)), np.array([y]), np.ones(1), np.zeros(1), loss, 0.0).sums(start)[0]
    assert found == pytest.approx(float(loss.value(np.array([y]), start)[0]), rel=1e-12)


# Any start


def random_problem(loss, rng):
    """Return few rows of rules that fire at random: often separable, sometimes with a rule that never fires."""
    n, rules = int(rng.integers(3, 40)), int(rng.integers(1, 6))
    design = np.column_stack([np.ones(n), rng.random((n, rules)) < rng.uniform(0.1, 0.9, rules)]).astype(float)
    mean = loss.inverse_link(np.clip(design @ rng.normal(size=rules + 1), -5.0, 5.0))
    noisy = {
        "squared": rng.normal,
        "logistic": lambda mean: rng.random(n) < mean,
        "poisson": rng.poisson,
        "gamma": lambda mean: mean * rng.gamma(0.7, 1.0, n),
        "tweedie": lambda mean: rng.poisson(mean) * rng.gamma(2.0, 1.0, n),
    }[loss.name]
    return design, np.asarray(noisy(mean), dtype=float), rng.exponential(size=n)


def minimum(design, y, row_weight, loss, ridge):
    """Return the least objective according to a trust-region method of SciPy."""
    data = design, y, row_weight, loss, ridge

    def hessian(weights):
        curvature = row_weight * loss.hessian(design @ weights, y)
        return (design.T * curvature) @ design + ridge * np.diag([0.0] + [1.0] * (len(weights) - 1))

    found = minimize(
        lambda weights: objective(*data, weights),
        np.zeros(design.shape[1]),
        jac=lambda weights: gradient(*data, weights),
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-11, "maxiter": 2000},
    )
    return found.fun


def assert_minimum_is_reached(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        loss = list(EVERY.values())[seed % len(EVERY)]
        data = *random_problem(loss, rng), loss, float(10.0 ** rng.uniform(-4.0, 2.0))
        start = 10.0 ** rng.uniform(-1.0, 4.0) * rng.normal(size=data[0].shape[1])
        step = refitted(*data, start)
        assert objective(*data, step) == pytest.approx(minimum(*data), rel=1e-8, abs=1e-8), seed


def test_from_any_start_the_minimum_is_reached():
    assert_minimum_is_reached(range(490))


@pytest.mark.starts
@pytest.mark.parametrize("first", range(0, 10_000, 1000))
def test_from_ten_thousand_starts_the_minimum_is_reached(first):
    assert_minimum_is_reached(range(first, first + 1000))


def test_a_saturated_constant_is_left():
    y = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    step = refitted(np.ones((5, 1)), y, np.ones(5), LOSSES["logistic"], 1.0, np.array([-66.0]))
    assert step[0] == pytest.approx(np.log(1.5), abs=1e-9)


@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie", "tweedie 1.1", "tweedie 1.9"])
@pytest.mark.parametrize("weight", [-5000.0, -700.0, -300.0, 300.0, 590.0, 5000.0])
def test_an_expectation_beyond_all_bounds_is_brought_back(name, weight):
    design, y, row_weight = problem(EVERY[name], 3)
    data = design, y, row_weight, EVERY[name], 0.1
    step = refitted(*data, np.array([0.0, weight, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(step, refitted(*data, np.zeros(5)), atol=1e-6)


@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("locked", [-5000.0, -50.0, 50.0, 400.0])
def test_the_others_make_up_for_a_weight_that_is_fixed_far_away(name, locked):
    design, y, row_weight = problem(LOSSES[name], 6)
    data = np.column_stack([design, design[:, 1]]), y, row_weight, LOSSES[name], 1e-9
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, locked])
    step = refitted(*data, start, fixed=np.arange(6) == 5)
    free = refitted(design, y, row_weight, LOSSES[name], 1e-9, np.zeros(5))
    assert objective(*data[:4], 0.0, step) == pytest.approx(objective(*data[:4], 0.0, np.append(free, 0.0)), rel=1e-2)
    assert step[1] == pytest.approx(free[1] - locked, rel=1e-2)


@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma", "tweedie", "tweedie 1.1", "tweedie 1.9"])
@pytest.mark.parametrize("ridge", [0.0, 1e-300, 1e-12])
@pytest.mark.parametrize("spread", [0.0, 8.0])
def test_weights_stay_reasonable_almost_without_a_ridge(name, ridge, spread):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        design, y, _ = random_problem(EVERY[name], rng)
        if EVERY[name].power > 1.0 and not y.any():
            continue  # nothing holds the constant, and far away the loss still falls
        row_weight = 10.0 ** rng.uniform(-spread, spread, len(y))
        step = refitted(design, y, row_weight, EVERY[name], ridge, 300.0 * rng.normal(size=design.shape[1]))
        assert np.abs(step).max() < 1000.0, seed


# Log links

PEERS = {
    "gamma": (LOSSES["gamma"], partial(GammaRegressor)),
    **{
        f"tweedie {power}": (TweedieLoss(power), partial(TweedieRegressor, power=power, link="log"))
        for power in (1.2, 1.5, 1.8)
    },
}


@pytest.mark.parametrize(("loss", "peer"), PEERS.values(), ids=PEERS.keys())
@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_that_of_the_generalised_linear_models_of_scikit_learn(loss, peer, seed):
    design, y, row_weight = problem(loss, seed, n=300)
    expected = peer(alpha=0.01, solver="newton-cholesky", tol=1e-12).fit(design[:, 1:], y, row_weight)
    # There the loss is a mean, here it is a sum.
    step = refitted(design, y, row_weight, loss, 0.01 * row_weight.sum(), np.zeros(5))
    np.testing.assert_allclose(step, [expected.intercept_, *expected.coef_], atol=1e-6)


@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie", "tweedie 1.1", "tweedie 1.9"])
def test_levels_of_one_column_have_their_means(name):
    rng = np.random.default_rng(0)
    level, loss = rng.integers(0, 4, 200), EVERY[name]
    y, row_weight = rng.gamma(2.0, 1.0 + level), rng.exponential(size=200)
    design = np.column_stack([np.ones(200), level[:, None] == np.arange(1, 4)]).astype(float)
    weights = refitted(design, y, row_weight, loss, 0.0, np.zeros(4))
    means = [np.average(y[level == k], weights=row_weight[level == k]) for k in range(4)]
    np.testing.assert_allclose(np.exp(weights[0] + np.append(0.0, weights[1:])), means, rtol=1e-6)


@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie", "tweedie 1.9"])
def test_rows_with_an_exposure_are_fitted_as_rows_without_one(name):
    loss, rng = EVERY[name], np.random.default_rng(1)
    design, y, row_weight = problem(loss, 2)
    exposure = rng.uniform(0.1, 5.0, len(y))
    extended, start = np.column_stack([design, np.log(exposure)]), np.append(np.zeros(5), 1.0)
    with_offset = refitted(extended, y, row_weight, loss, 0.2, start, fixed=start == 1.0)
    step = refitted(design, *loss.exposed(y, row_weight, exposure), loss, 0.2, np.zeros(5))
    np.testing.assert_allclose(step, with_offset[:5], atol=1e-6)


# Fixed columns

FIXED = np.array([False, True, False, True, False])


@every_loss
@pytest.mark.parametrize("seed", range(10))
def test_fixed_weights_stay_and_the_others_are_those_of_a_general_minimiser(loss, seed):
    data = *problem(loss, seed), loss, 0.1
    start = np.random.default_rng(seed).normal(size=5)

    def filled(free):
        weights = start.copy()
        weights[~FIXED] = free
        return weights

    found = minimize(
        lambda free: objective(*data, filled(free)),
        np.zeros(3),
        jac=lambda free: gradient(*data, filled(free))[~FIXED],
        method="BFGS",
        options={"gtol": 1e-7},
    )
    step = refitted(*data, start, fixed=FIXED)
    assert step[FIXED].tolist() == start[FIXED].tolist()
    np.testing.assert_allclose(step[~FIXED], found.x, atol=1e-5)
    assert objective(*data, step) <= found.fun * (1.0 + 1e-12)


@every_loss
def test_patterns_with_fixed_columns_are_rows_with_fixed_columns(loss):
    design, y, row_weight = problem(loss, 3)
    patterns, pattern = np.unique(design, axis=0, return_inverse=True)
    start = np.array([0.3, -0.7, 0.0, 1.1, 0.2])
    merged = refit(FiringPatterns(patterns, pattern.ravel()), y, row_weight, loss, 0.5, start, free=~FIXED)
    by_row = refitted(design, y, row_weight, loss, 0.5, start, fixed=FIXED)
    np.testing.assert_allclose(merged, by_row, atol=1e-6)
    assert merged[FIXED].tolist() == start[FIXED].tolist()


@every_loss
def test_nothing_fixed_is_the_plain_problem(loss):
    data = *problem(loss, 4), loss, 0.3
    plain = refitted(*data, np.zeros(5))
    assert refitted(*data, np.zeros(5), fixed=np.zeros(5, dtype=bool)).tolist() == plain.tolist()


@every_loss
def test_with_all_rules_fixed_the_constant_is_still_fitted(loss):
    data = *problem(loss, 4), loss, 0.3
    start = np.array([0.0, 0.4, -0.2, 0.1, 0.3])
    fixed = np.array([False, True, True, True, True])
    step = refitted(*data, start, fixed=fixed)
    assert step[1:].tolist() == start[1:].tolist()
    assert abs(gradient(*data, step)[0]) <= 1e-5 * abs(gradient(*data, start)[0])


def test_the_constant_cannot_be_fixed():
    with pytest.raises(ValueError, match="constant, which is never fixed"):
        refitted(np.ones((3, 1)), np.ones(3), np.ones(3), LOSSES["squared"], 0.0, np.zeros(1), fixed=np.ones(1, bool))


# Bounds

INFINITE = np.full(5, np.inf)


def bounds(seed):
    """Return bounds on the weights of four rules; the constant is free."""
    rng = np.random.default_rng(seed)
    lower, upper = rng.choice([-np.inf, -0.2, 0.0, 0.3], 5), rng.choice([0.3, 0.5, 2.0, np.inf], 5)
    lower[0], upper[0] = -np.inf, np.inf
    return lower, upper


def assert_optimal(slope, weights, lower, upper, scale):
    """Check the conditions of Karush, Kuhn and Tucker: the gradient may only pull weights at a bound beyond it."""
    assert (weights >= lower).all()
    assert (weights <= upper).all()
    assert np.abs(slope[(weights > lower) & (weights < upper)]).max(initial=0.0) <= 1e-6 * scale
    assert slope[(weights <= lower) & (lower < upper)].min(initial=0.0) >= -1e-6 * scale
    assert slope[(weights >= upper) & (lower < upper)].max(initial=0.0) <= 1e-6 * scale


@every_loss
@pytest.mark.parametrize("ridge", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(5))
def test_weights_within_bounds_are_those_of_a_bounded_minimiser(loss, ridge, seed):
    data, (lower, upper) = (*problem(loss, seed), loss, ridge), bounds(seed)
    found = minimize(
        lambda weights: objective(*data, weights),
        np.clip(np.zeros(5), lower, upper),
        jac=lambda weights: gradient(*data, weights),
        method="L-BFGS-B",
        bounds=list(zip(lower, upper, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
    )
    weights = refitted(*data, np.zeros(5), lower=lower, upper=upper)
    assert objective(*data, weights) <= found.fun * (1.0 + 1e-10) + 1e-10
    np.testing.assert_allclose(weights, found.x, atol=1e-4)
    assert_optimal(gradient(*data, weights), weights, lower, upper, np.abs(gradient(*data, np.zeros(5))).max())


@every_loss
@pytest.mark.parametrize("size", [1.0, 30.0, 1000.0])
def test_weights_within_bounds_do_not_depend_on_the_start(loss, size):
    for seed in range(10):
        data, (lower, upper) = (*problem(loss, seed), loss, 0.5), bounds(seed)
        start = size * np.random.default_rng(seed).normal(size=5)
        expected = refitted(*data, np.zeros(5), lower=lower, upper=upper)
        np.testing.assert_allclose(refitted(*data, start, lower=lower, upper=upper), expected, atol=1e-5)


@every_loss
def test_bounds_that_do_not_bind_change_nothing(loss):
    data = *problem(loss, 1), loss, 0.5
    np.testing.assert_allclose(refitted(*data, np.zeros(5), lower=-INFINITE), refitted(*data, np.zeros(5)), atol=1e-7)


@every_loss
def test_copies_of_a_rule_within_bounds_add_up_to_the_best_weight(loss):
    design, y, row_weight = problem(loss, 2, rules=2)
    alone = refitted(design, y, row_weight, loss, 0.0, np.zeros(3))
    part = 0.4 * alone[1]
    lower, upper = np.full(4, -np.inf), np.full(4, np.inf)
    lower[1], upper[1] = min(part, 0.0), max(part, 0.0)
    copied = refitted(design[:, [0, 1, 1, 2]], y, row_weight, loss, 0.0, np.zeros(4), lower=lower, upper=upper)
    assert copied[1] + copied[2] == pytest.approx(alone[1], abs=1e-5)


@every_loss
def test_scales_of_columns_leave_bounds_on_weights(loss):
    design, y, row_weight = problem(loss, 3)
    scale = np.array([1.0, 2.0, 0.5, 1.0, 4.0])
    lower, upper = bounds(3)
    plain = refitted(design, y, row_weight, loss, 0.5, np.zeros(5), lower=lower, upper=upper)
    scaled = refitted(
        design * scale, y, row_weight, loss, 0.5, np.zeros(5), scale=scale, lower=lower / scale, upper=upper / scale
    )
    np.testing.assert_allclose(scaled * scale, plain, atol=1e-6)


@every_loss
def test_fixed_weights_may_lie_beyond_bounds(loss):
    data, start = (*problem(loss, 4), loss, 0.5), np.array([0.0, 3.0, 0.0, -3.0, 0.0])
    weights = refitted(*data, start, fixed=FIXED, lower=np.zeros(5), upper=np.full(5, 0.1))
    assert weights[FIXED].tolist() == [3.0, -3.0]
    assert ((weights[[2, 4]] >= 0.0) & (weights[[2, 4]] <= 0.1)).all()


class PlainLoss(Loss):
    """A loss without a compiled formula, which asks another one."""

    name = "plain"

    def __init__(self, other):
        self.other, self.link_name = other, other.link_name

    def value(self, y, score):
        return self.other.value(y, score)

    def inverse_link(self, score):
        return self.other.inverse_link(score)

    def gradient(self, y, score):
        return self.other.gradient(y, score)

    def hessian(self, score, y=None):
        return self.other.hessian(score, y)

    def link(self, mean):
        return self.other.link(mean)


@every_loss
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_a_loss_without_a_compiled_formula_has_the_same_weights(loss, ridge):
    for seed in range(5):
        design, y, row_weight = problem(loss, seed)
        start = 3.0 * np.random.default_rng(seed).normal(size=5)
        compiled = refitted(design, y, row_weight, loss, ridge, start)
        plain = refitted(design, y, row_weight, PlainLoss(loss), ridge, start)
        np.testing.assert_allclose(plain, compiled, atol=1e-5)


@every_loss
def test_one_after_the_other_a_loss_without_a_compiled_formula_has_the_same_weights(loss):
    design, y, row_weight = problem(loss, 5)
    lines, last = np.ascontiguousarray(design.T), np.ascontiguousarray(design.T[[1, 4]])
    finders = [weight_finder(lines, y, row_weight, np.zeros(60), one, 0.5) for one in (loss, PlainLoss(loss))]
    (weights, losses), (others, plain) = (one.run_each(last, np.zeros(5)) for one in finders)
    np.testing.assert_allclose(others, weights, atol=1e-5)
    np.testing.assert_allclose(plain, losses, rtol=1e-8)


# Many classes

seeds = st.integers(0, 10**6)


def class_problem(seed, n=60, rules=4, classes=4):
    """Return design, shares, row weights, ridges and which weights are free."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.random((n, rules)) < rng.uniform(0.1, 0.9, rules)]).astype(float)
    shares = np.eye(classes)[rng.integers(0, classes, n)]
    free = rng.random((1 + rules, classes)) < 0.5
    free[0] = True
    return design, shares, rng.exponential(size=n), rng.uniform(0.01, 1.0, classes), free


def class_weights(design, shares, row_weight, ridge, start, free, **bounds):
    return refit(
        FiringPatterns(design, np.arange(len(design))),
        shares,
        row_weight,
        MultinomialLoss(shares.shape[1]),
        ridge,
        start,
        free=free,
        **bounds,
    )


def class_objective(design, shares, row_weight, ridge, weights):
    loss = MultinomialLoss(shares.shape[1]).value(shares, design @ weights)
    return row_weight @ loss + 0.5 * (ridge * weights[1:] ** 2).sum()


def class_gradient(design, shares, row_weight, ridge, weights):
    slope = row_weight[:, None] * MultinomialLoss(shares.shape[1]).gradient(shares, design @ weights)
    total = design.T @ slope
    total[1:] += ridge * weights[1:]
    return total


@given(seeds)
def test_the_gradient_is_zero_at_the_solution_and_constants_add_up_to_zero(seed):
    *data, free = class_problem(seed)
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert np.abs(class_gradient(*data, weights)[free]).max() <= 1e-5
    assert abs(weights[0].sum()) <= 1e-9
    assert (weights[~free] == 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_with_many_classes_the_solution_is_that_of_a_general_minimiser(seed):
    *data, free = class_problem(seed)

    def of(flat):
        weights = np.zeros(free.shape)
        weights[free] = flat
        return weights

    found = minimize(
        lambda flat: class_objective(*data, of(flat)),
        np.zeros(free.sum()),
        jac=lambda flat: class_gradient(*data, of(flat))[free],
        method="BFGS",
        options={"gtol": 1e-7},
    )
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert class_objective(*data, weights) <= found.fun * (1.0 + 1e-12)
    np.testing.assert_allclose(weights[1:], of(found.x)[1:], atol=1e-5)


@given(seeds, st.floats(1.0, 30.0))
@settings(max_examples=30)
def test_with_many_classes_the_solution_does_not_depend_on_the_start(seed, size):
    *data, free = class_problem(seed)
    start = np.where(free, size * np.random.default_rng(seed).normal(size=free.shape), 0.0)
    near, far = class_weights(*data, np.zeros(free.shape), free), class_weights(*data, start, free)
    np.testing.assert_allclose(far, near, atol=1e-5)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700])
def test_any_number_of_rows_has_a_solution(n):
    *data, free = class_problem(n, n=n, rules=9)
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert np.abs(class_gradient(*data, weights)[free]).max() <= 1e-5


@given(seeds)
@settings(max_examples=30)
def test_classes_in_another_order_get_the_same_weights(seed):
    design, shares, row_weight, ridge, free = class_problem(seed)
    order = np.random.default_rng(seed).permutation(shares.shape[1])
    weights = class_weights(design, shares, row_weight, ridge, np.zeros(free.shape), free)
    other = class_weights(design, shares[:, order], row_weight, ridge[order], np.zeros(free.shape), free[:, order])
    np.testing.assert_allclose(other, weights[:, order], atol=1e-6)


@given(seeds)
@settings(max_examples=30)
def test_merging_two_classes_that_no_rule_tells_apart_changes_nothing_else(seed):
    design, shares, row_weight, ridge, free = class_problem(seed)
    free[1:, 2:] = False  # no rule speaks for the last two classes
    weights = class_weights(design, shares, row_weight, ridge, np.zeros(free.shape), free)
    merged = np.column_stack([shares[:, :2], shares[:, 2:].sum(axis=1)])
    fewer = class_weights(design, merged, row_weight, ridge[:3], np.zeros((len(free), 3)), free[:, :3])
    np.testing.assert_allclose(fewer[1:], weights[1:, :3], atol=1e-6)
    loss, other = MultinomialLoss(4), MultinomialLoss(3)
    before, after = loss.inverse_link(design @ weights), other.inverse_link(design @ fewer)
    np.testing.assert_allclose(after[:, 2], before[:, 2:].sum(axis=1), atol=1e-7)
    np.testing.assert_allclose(after[:, :2], before[:, :2], atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_with_many_classes_weights_within_bounds_are_optimal(seed):
    *data, free = class_problem(seed)
    rng = np.random.default_rng(seed)
    lower, upper = rng.choice([-np.inf, -0.2, 0.0], free.shape), rng.choice([0.0, 0.3, np.inf], free.shape)
    lower[0], upper[0] = -np.inf, np.inf
    weights = class_weights(*data, np.zeros(free.shape), free, lower=lower, upper=upper)
    slope = class_gradient(*data, weights)
    assert_optimal(slope[free], weights[free], lower[free], upper[free], np.abs(slope).max() + 1.0)


def test_two_classes_are_the_logistic_regression_with_half_the_ridge():
    design, shares, row_weight, _, _ = class_problem(3, classes=2)
    weights = class_weights(design, shares, row_weight, np.full(2, 0.4), np.zeros((5, 2)), np.ones((5, 2), dtype=bool))
    step = refitted(design, shares[:, 1], row_weight, LOSSES["logistic"], 0.2, np.zeros(5))
    np.testing.assert_allclose(weights[:, 1] - weights[:, 0], step, atol=1e-6)


def test_rows_that_rules_separate_have_finite_weights_without_a_ridge():
    y = np.repeat(np.arange(3), 10)
    design = np.column_stack([np.ones(30), y == 0, y == 1]).astype(float)
    free = np.ones((3, 3), dtype=bool)
    weights = class_weights(design, np.eye(3)[y], np.ones(30), np.zeros(3), np.zeros((3, 3)), free)
    assert np.isfinite(weights).all()
    assert MultinomialLoss(3).value(y.astype(float), design @ weights).max() < 1e-6


def test_fixed_rules_keep_their_weights_to_the_last_bit():
    design, shares, row_weight, ridge, _ = class_problem(5)
    start = np.random.default_rng(0).normal(size=(5, 4))
    fixed = np.array([False, True, False, True, False])
    y = shares.argmax(axis=1).astype(float)
    weights = refitted(design, y, row_weight, MultinomialLoss(4), ridge, start, fixed=fixed)
    assert (weights[fixed] == start[fixed]).all()
    slope = class_gradient(design, shares, row_weight, ridge, weights) - np.where(
        np.arange(5)[:, None] > 0, ridge * weights, 0.0
    )
    slope[1:] += np.where(fixed[1:, None], 0.0, ridge * weights[1:])
    assert np.abs(slope[~fixed]).max() < 1e-6


def or_problem(seed, n_rules):
    random = np.random.default_rng(seed)
    return (
        random.random((60, n_rules)) < 0.3,
        (random.random(60) < 0.5).astype(np.float64),
        random.integers(1, 4, 60).astype(float),
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.0, 1e-3, 1.0, 100.0]))
def test_the_score_is_positive_if_and_only_if_a_rule_fires_on_any_row(seed, n_rules, ridge):
    constant, *weights = or_weights(*or_problem(seed, n_rules), ridge)
    anything = np.random.default_rng(seed).random((200, n_rules)) < 0.5
    score = np.full(200, constant)
    for weight, fires in zip(weights, anything.T, strict=True):
        score += np.where(fires, weight, 0.0)
    np.testing.assert_array_equal(score > 0.0, anything.any(axis=1))
    assert (np.abs(score) > 0.9 * MARGIN).all()


def test_without_overlap_the_scores_are_the_log_odds_of_each_region():
    fires = np.repeat(np.array([[0, 0], [1, 0], [0, 1]], dtype=np.bool_), 100, axis=0)
    y = np.concatenate([np.arange(100) < positive for positive in (20, 70, 90)]).astype(np.float64)
    constant, first, second = or_weights(fires, y, np.ones(300), 0.0)
    np.testing.assert_allclose(
        [constant, constant + first, constant + second], np.log([0.2 / 0.8, 0.7 / 0.3, 0.9 / 0.1]), atol=1e-5
    )


def test_a_region_with_the_wrong_majority_has_even_odds():
    fires = np.repeat(np.array([[False], [True]]), 100, axis=0)
    y = np.concatenate([np.arange(100) < positive for positive in (10, 30)]).astype(np.float64)
    constant, weight = or_weights(fires, y, np.ones(200), 0.0)
    assert constant + weight == pytest.approx(MARGIN, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_no_weights_within_the_bounds_have_a_lower_objective(seed):
    fires, y, weight = or_problem(seed, 3)

    def or_objective(constant, rules):
        score = constant + fires @ rules
        return weight @ (np.logaddexp(0.0, score) - y * score) + 0.5 * 2.0 * rules @ rules

    constant, *rules = or_weights(fires, y, weight, 2.0)
    least = or_objective(constant, np.array(rules))
    random = np.random.default_rng(seed)
    for size in (1e-3, 1e-1, 1.0):
        free = np.array([-constant, *(np.array(rules) + constant)]) + size * random.normal(size=4)
        free = np.maximum(free, MARGIN)
        assert or_objective(-free[0], free[0] + free[1:]) >= least - 1e-6


def test_rows_that_rules_tell_apart_without_a_mistake_have_finite_weights():
    fires = np.arange(20)[:, np.newaxis] < 10
    assert np.isfinite(or_weights(fires, fires[:, 0].astype(np.float64), np.ones(20), 0.0)).all()
