"""Soft rules: gradient and curvature are those of the loss, and a descent never goes uphill."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import expit

from obliquerules.kernels.soft_rules import SoftRules
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.refit import refit
from obliquerules.losses import LOSSES

every_loss = pytest.mark.parametrize("name", ["squared", "logistic", "poisson", "tweedie"])
every_seed = pytest.mark.parametrize("seed", range(3))
SHARPNESS = 3.0
# Two rules: the first of a sum of two terms and a single one, the second of a sum, a single term and a fixed condition.
RULE_OF, SIZES, TERM_OF = (0, 0, 1, 1, 1), (2, 1, 2, 1, 1), (0, 1, 2, 1, 3, 0, 4)
SOFT, MISSING = (1, 1, 1, 1, 0), (0, 1, 1, 0, 0)
N_PARAMETERS = 1 + 2 + len(TERM_OF) + len(SIZES)
FIXED = (N_PARAMETERS - 2, N_PARAMETERS - 1)
FREE = tuple(index not in FIXED for index in range(N_PARAMETERS))


@dataclass(frozen=True, eq=False)
class Soft:
    """What a kernel is made of, and the same arithmetic in NumPy."""

    terms: np.ndarray
    y: np.ndarray
    row_weight: np.ndarray
    offset: np.ndarray
    name: str
    ridge: float = 0.7
    free: Sequence[bool] = FREE
    least_curvature: float = 0.0

    @property
    def loss(self):
        return LOSSES[self.name]

    @property
    def kernel(self):
        flags = (np.array(values, dtype=np.uint8) for values in (SOFT, MISSING, self.free))
        first = np.cumsum((0, *SIZES)).astype(np.intc)
        shape = np.array(RULE_OF, dtype=np.intc), first, np.array(TERM_OF, dtype=np.intc), *flags, 2
        numbers = self.loss.family, self.ridge, self.loss.power, self.least_curvature
        return SoftRules(np.ascontiguousarray(self.terms.T), self.y, self.row_weight, self.offset, *shape, *numbers)

    def rules(self, parameters, sharpness=SHARPNESS):
        """Return the value of each rule on each row."""
        values, at, first = np.ones((len(self.y), 2)), 3, 0
        for rule, size, soft, missing in zip(RULE_OF, SIZES, SOFT, MISSING, strict=True):
            z = self.terms[:, TERM_OF[first : first + size]]
            u = z @ parameters[at : at + size] - parameters[at + size]
            sigmoid = np.where(np.isnan(u), missing, expit(sharpness * u))
            values[:, rule] *= sigmoid if soft else z[:, 0]
            at, first = at + size + 1, first + size
        return values

    def score(self, parameters, sharpness=SHARPNESS):
        return self.offset + parameters[0] + self.rules(parameters, sharpness) @ parameters[1:3]

    def value(self, parameters, sharpness=SHARPNESS):
        total = self.row_weight @ self.loss.value(self.y, self.score(parameters, sharpness))
        return total + 0.5 * self.ridge * (parameters[1:3] ** 2).sum()


def soft_rules(name, seed=0, n=80, missing=True, **changes):
    """Return soft rules on random rows, and random parameters."""
    rng = np.random.default_rng(seed)
    terms = np.column_stack([rng.normal(size=(n, 4)), rng.random(n) < 0.6])
    score = 1.2 * (terms[:, 0] + terms[:, 1] > 0.0) - 0.8 * (terms[:, 3] > 0.2)
    counts = rng.poisson(np.exp(score)).astype(float)
    y = {"squared": score + 0.3 * rng.normal(size=n), "logistic": (rng.random(n) < 0.5).astype(float), "poisson": counts}
    y["tweedie"] = counts * rng.gamma(2.0, 1.0, n)
    if missing:
        terms[:, 1][rng.random(n) < 0.2] = np.nan
    soft = Soft(terms, y[name], rng.exponential(size=n), 0.3 * rng.normal(size=n), name)
    return replace(soft, **changes), 0.7 * rng.normal(size=N_PARAMETERS)


def descend(kernel, start, sharpness, n_steps):
    """Return where a descent ends, which is the start if nothing can be won."""
    found = kernel.descend(start, sharpness, n_steps)
    return start if found is None else found


def symmetric(lower):
    return np.tril(lower) + np.tril(lower, -1).T


@every_loss
@every_seed
@pytest.mark.parametrize("sharpness", [0.5, 3.0, 40.0])
def test_the_value_is_that_of_the_formula(name, seed, sharpness):
    soft, at = soft_rules(name, seed)
    assert soft.kernel.value(at, sharpness) == pytest.approx(soft.value(at, sharpness), rel=1e-12)


@every_loss
@every_seed
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_the_gradient_is_that_of_the_value(name, seed, missing, ridge):
    soft, at = soft_rules(name, seed, missing=missing, ridge=ridge)
    kernel = soft.kernel
    gradient, _ = kernel.sums(at, SHARPNESS)
    steps = 1e-5 * np.eye(N_PARAMETERS)
    numerical = [(kernel.value(at + step, SHARPNESS) - kernel.value(at - step, SHARPNESS)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-5 * np.abs(gradient).max())
    assert gradient[list(FIXED)].tolist() == [0.0, 0.0]


@every_loss
@every_seed
def test_the_curvature_is_that_of_gauss_and_newton(name, seed):
    soft, at = soft_rules(name, seed)
    _, curvature = soft.kernel.sums(at, SHARPNESS)
    jacobian = approx_fprime(at, soft.score, 1e-7)
    hessian = soft.row_weight * soft.loss.hessian(soft.score(at))
    expected = (jacobian.T * hessian) @ jacobian + np.diag(np.where(np.isin(np.arange(len(at)), (1, 2)), soft.ridge, 0.0))
    np.testing.assert_allclose(symmetric(curvature), expected, rtol=1e-4, atol=1e-5 * expected.max())


@pytest.mark.parametrize("name", ["logistic", "poisson", "tweedie"])
def test_no_row_has_less_than_the_least_curvature(name):
    soft, at = soft_rules(name, least_curvature=1e3)
    _, curvature = soft.kernel.sums(at, SHARPNESS)
    assert curvature[0, 0] == pytest.approx(1e3 * soft.row_weight.sum())


@every_loss
def test_where_conditions_are_nearly_hard_the_step_for_the_weights_is_that_of_newton(name):
    """On rows far from every threshold only the constant and the rule weights have derivatives."""
    soft, at = soft_rules(name, missing=False)
    kernel = soft.kernel
    kernel.sums(at, 1e9)
    step = kernel.damped_step(0.0)
    design = np.column_stack([np.ones(len(soft.y)), soft.rules(at, 1e9)])
    score = soft.score(at, 1e9)
    ridge = soft.ridge * np.diag([0.0, 1.0, 1.0])
    gradient = design.T @ (soft.row_weight * soft.loss.gradient(soft.y, score)) + ridge @ at[:3]
    hessian = (design.T * (soft.row_weight * soft.loss.hessian(score))) @ design + ridge
    np.testing.assert_allclose(step[:3], np.linalg.solve(hessian, gradient), rtol=1e-6)
    np.testing.assert_allclose(step[3:], 0.0, atol=1e-200)


@every_loss
@every_seed
@pytest.mark.parametrize("sharpness", [1.0, 8.0, 24.0])
def test_a_descent_never_raises_the_value_and_more_steps_lower_it_further(name, seed, sharpness):
    soft, start = soft_rules(name, seed)
    kernel = soft.kernel
    course = [kernel.value(descend(kernel, start, sharpness, n_steps), sharpness) for n_steps in (0, 1, 2, 5, 20)]
    assert course[0] == kernel.value(start, sharpness)
    assert (np.diff(course) <= 0.0).all()
    assert course[-1] < course[0]


@given(st.integers(0, 10**6), st.sampled_from(["squared", "logistic", "poisson", "tweedie"]), st.floats(-2.0, 3.0))
def test_from_any_start_a_descent_ends_no_higher(seed, name, size):
    soft, start = soft_rules(name, seed, n=25)
    start = 10.0**size * start
    kernel = soft.kernel
    before = kernel.value(start, SHARPNESS)
    found = descend(kernel, start, SHARPNESS, 5)
    assert np.isfinite(found).all()
    assert kernel.value(found, SHARPNESS) <= before or not np.isfinite(before)


@every_loss
@every_seed
def test_frozen_parameters_do_not_move(name, seed):
    frozen = np.array([3, 5, 6, 9, *FIXED])
    soft, start = soft_rules(name, seed, free=~np.isin(np.arange(N_PARAMETERS), frozen))
    found = descend(soft.kernel, start, SHARPNESS, 10)
    assert found[frozen].tolist() == start[frozen].tolist()
    assert (np.delete(found, frozen) != np.delete(start, frozen)).all()


def test_nothing_is_returned_where_nothing_can_be_won():
    soft, start = soft_rules("squared")
    start[1:3] = 0.0
    exact = replace(soft, y=soft.score(start), ridge=0.0)
    assert exact.kernel.descend(start, SHARPNESS, 10) is None


@every_loss
def test_with_all_conditions_frozen_a_descent_finds_the_corrective_weights(name):
    soft, start = soft_rules(name, free=np.arange(N_PARAMETERS) < 3)
    found = descend(soft.kernel, start, SHARPNESS, 50)
    design = np.column_stack([np.ones(len(soft.y)), soft.rules(start)])
    patterns = FiringPatterns(design, np.arange(len(design)), soft.offset)
    weights = refit(patterns, soft.y, soft.row_weight, soft.loss, soft.ridge, start[:3])
    assert soft.value(found) == pytest.approx(soft.value(np.concatenate([weights, start[3:]])), rel=1e-3)


@every_loss
def test_a_row_of_weight_two_is_the_row_twice(name):
    soft, at = soft_rules(name)
    names = ("terms", "y", "row_weight", "offset")
    twice = replace(soft, **{key: np.ascontiguousarray(np.concatenate([getattr(soft, key)] * 2)) for key in names})
    once = replace(soft, row_weight=2.0 * soft.row_weight)
    for one, other in zip(once.kernel.sums(at, SHARPNESS), twice.kernel.sums(at, SHARPNESS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(one).max())
