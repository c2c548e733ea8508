"""The corrective step for many classes finds the minimum of its objective, and treats all classes alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from obliquerules.learning.solvers.multinomial import class_weights
from obliquerules.learning.solvers.rule_weights import corrective_weights, weights_of_patterns
from obliquerules.losses import LOSSES, MultinomialLoss

seeds = st.integers(0, 10**6)


def problem(seed, n=60, rules=4, classes=4):
    """Return design, shares, row weights, ridges and which weights are free."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.random((n, rules)) < rng.uniform(0.1, 0.9, rules)]).astype(float)
    shares = np.eye(classes)[rng.integers(0, classes, n)]
    free = rng.random((1 + rules, classes)) < 0.5
    free[0] = True
    return design, shares, rng.exponential(size=n), rng.uniform(0.01, 1.0, classes), free


def objective(design, shares, row_weight, ridge, weights):
    loss = MultinomialLoss(shares.shape[1]).value(shares, design @ weights)
    return row_weight @ loss + 0.5 * (ridge * weights[1:] ** 2).sum()


def gradient(design, shares, row_weight, ridge, weights):
    slope = row_weight[:, None] * MultinomialLoss(shares.shape[1]).gradient(shares, design @ weights)
    total = design.T @ slope
    total[1:] += ridge * weights[1:]
    return total


@given(seeds)
def test_the_gradient_is_zero_at_the_solution_and_constants_add_up_to_zero(seed):
    *data, free = problem(seed)
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert np.abs(gradient(*data, weights)[free]).max() <= 1e-5
    assert abs(weights[0].sum()) <= 1e-9
    assert (weights[~free] == 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_solution_is_that_of_a_general_minimiser(seed):
    *data, free = problem(seed)

    def of(flat):
        weights = np.zeros(free.shape)
        weights[free] = flat
        return weights

    found = minimize(
        lambda flat: objective(*data, of(flat)),
        np.zeros(free.sum()),
        jac=lambda flat: gradient(*data, of(flat))[free],
        method="BFGS",
        options={"gtol": 1e-7},
    )
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert objective(*data, weights) <= found.fun * (1.0 + 1e-12)
    np.testing.assert_allclose(weights[1:], of(found.x)[1:], atol=1e-5)


@given(seeds, st.floats(1.0, 30.0))
@settings(max_examples=30)
def test_the_solution_does_not_depend_on_the_start(seed, size):
    *data, free = problem(seed)
    start = np.where(free, size * np.random.default_rng(seed).normal(size=free.shape), 0.0)
    near, far = class_weights(*data, np.zeros(free.shape), free), class_weights(*data, start, free)
    np.testing.assert_allclose(far, near, atol=1e-5)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700])
def test_any_number_of_rows_has_a_solution(n):
    *data, free = problem(n, n=n, rules=9)
    weights = class_weights(*data, np.zeros(free.shape), free)
    assert np.abs(gradient(*data, weights)[free]).max() <= 1e-5


@given(seeds)
@settings(max_examples=30)
def test_classes_in_another_order_get_the_same_weights(seed):
    design, shares, row_weight, ridge, free = problem(seed)
    order = np.random.default_rng(seed).permutation(shares.shape[1])
    weights = class_weights(design, shares, row_weight, ridge, np.zeros(free.shape), free)
    other = class_weights(design, shares[:, order], row_weight, ridge[order], np.zeros(free.shape), free[:, order])
    np.testing.assert_allclose(other, weights[:, order], atol=1e-6)


@given(seeds)
@settings(max_examples=30)
def test_merging_two_classes_that_no_rule_tells_apart_changes_nothing_else(seed):
    design, shares, row_weight, ridge, free = problem(seed)
    free[1:, 2:] = False  # no rule speaks for the last two classes
    weights = class_weights(design, shares, row_weight, ridge, np.zeros(free.shape), free)
    merged = np.column_stack([shares[:, :2], shares[:, 2:].sum(axis=1)])
    fewer = class_weights(design, merged, row_weight, ridge[:3], np.zeros((len(free), 3)), free[:, :3])
    np.testing.assert_allclose(fewer[1:], weights[1:, :3], atol=1e-6)
    loss, other = MultinomialLoss(4), MultinomialLoss(3)
    before, after = loss.inverse_link(design @ weights), other.inverse_link(design @ fewer)
    np.testing.assert_allclose(after[:, 2], before[:, 2:].sum(axis=1), atol=1e-7)
    np.testing.assert_allclose(after[:, :2], before[:, :2], atol=1e-7)


def test_two_classes_are_the_logistic_regression_with_half_the_ridge():
    design, shares, row_weight, _, _ = problem(3, classes=2)
    weights = class_weights(design, shares, row_weight, np.full(2, 0.4), np.zeros((5, 2)), np.ones((5, 2), dtype=bool))
    step = corrective_weights(design, shares[:, 1], row_weight, LOSSES["logistic"], 0.2, np.zeros(5))
    np.testing.assert_allclose(weights[:, 1] - weights[:, 0], step.weights, atol=1e-6)


def test_rows_that_rules_separate_have_finite_weights_without_a_ridge():
    y = np.repeat(np.arange(3), 10)
    design = np.column_stack([np.ones(30), y == 0, y == 1]).astype(float)
    free = np.ones((3, 3), dtype=bool)
    weights = class_weights(design, np.eye(3)[y], np.ones(30), np.zeros(3), np.zeros((3, 3)), free)
    assert np.isfinite(weights).all()
    assert MultinomialLoss(3).value(y.astype(float), design @ weights).max() < 1e-6


def test_fixed_rules_keep_their_weights_to_the_last_bit():
    design, shares, row_weight, ridge, _ = problem(5)
    start = np.random.default_rng(0).normal(size=(5, 4))
    fixed = np.array([False, True, False, True, False])
    y = shares.argmax(axis=1).astype(float)
    weights = weights_of_patterns(design, np.arange(60), y, row_weight, MultinomialLoss(4), ridge, start, fixed=fixed)
    assert (weights[fixed] == start[fixed]).all()
    slope = gradient(design, shares, row_weight, ridge, weights) - np.where(np.arange(5)[:, None] > 0, ridge * weights, 0.0)
    slope[1:] += np.where(fixed[1:, None], 0.0, ridge * weights[1:])
    assert np.abs(slope[~fixed]).max() < 1e-6
