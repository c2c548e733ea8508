"""The corrective step: a minimum of the objective that the loss objects define, whatever the loss."""

import numpy as np
import pytest

from obliquerules.losses import LOSSES
from obliquerules.solvers.rule_weights import corrective_weights


def problem(loss, seed, n=60, m=5):
    rng = np.random.default_rng(seed)
    design = np.hstack([np.ones((n, 1)), rng.integers(0, 2, (n, m - 1)).astype(np.float64)])
    y = {"squared": rng.normal(size=n), "logistic": rng.random(n), "poisson": rng.poisson(2.0, n).astype(np.float64)}[loss]
    return design, y, rng.exponential(size=n), rng.normal(size=m)


def objective(loss, design, y, row_weight, ridge, weights):
    return row_weight @ loss.value(y, design @ weights) + 0.5 * ridge * np.sum(weights[1:] ** 2)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_zero_and_the_objective_is_that_of_the_loss(name, ridge, seed):
    loss = LOSSES[name]
    design, y, row_weight, start = problem(name, seed)
    step = corrective_weights(design, y, row_weight, loss, ridge, start)
    penalty = np.where(np.arange(len(start)) > 0, ridge, 0.0)
    gradient = design.T @ (row_weight * loss.gradient(y, design @ step.weights)) + penalty * step.weights
    np.testing.assert_allclose(gradient, 0.0, atol=1e-5)
    assert step.objective_before == pytest.approx(objective(loss, design, y, row_weight, ridge, start))
    assert step.objective == pytest.approx(objective(loss, design, y, row_weight, ridge, step.weights))
    assert step.objective <= step.objective_before


@pytest.mark.parametrize("name", LOSSES)
def test_scores_beyond_all_bounds_stay_finite_and_get_better(name):
    design, y, row_weight, _ = problem(name, 0)
    step = corrective_weights(design, y, row_weight, LOSSES[name], 1.0, np.full(design.shape[1], 1e2))
    assert np.isfinite(step.weights).all()
    assert step.objective < step.objective_before


@pytest.mark.parametrize("name", LOSSES)
def test_rules_that_fire_on_the_same_rows_are_no_obstacle(name):
    design, y, row_weight, start = problem(name, 1)
    twice = np.hstack([design, design[:, -1:]])
    once = corrective_weights(design, y, row_weight, LOSSES[name], 0.0, start)
    step = corrective_weights(twice, y, row_weight, LOSSES[name], 0.0, np.append(start, 0.0))
    assert step.objective == pytest.approx(once.objective)


def test_pure_rules_without_a_ridge_have_finite_weights():
    design = np.array([[1.0, 0.0], [1.0, 1.0]])
    step = corrective_weights(design, np.array([0.0, 1.0]), np.ones(2), LOSSES["logistic"], 0.0, np.zeros(2))
    assert np.isfinite(step.weights).all()
    assert step.objective < 1e-6


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same number of rows"):
        corrective_weights(np.ones((3, 1)), np.ones(2), np.ones(3), LOSSES["squared"], 0.0, np.zeros(1))
