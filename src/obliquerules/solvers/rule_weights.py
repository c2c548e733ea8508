"""Rule weights: the fully corrective step, Newton's method on all weights at once for any loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.kernels.gram import weighted_gram, weighted_sums
from obliquerules.losses import Loss

Vector = NDArray[np.float64]

MAX_ITERATIONS = 100
# Newton stops when the next step would lower the objective by no more than this share of it.
TOLERANCE = 1e-13
# Added to the diagonal, relative to its mean: rules that fire on the same rows leave the Hessian singular without a ridge.
JITTER = 1e-12


@dataclass(frozen=True, eq=False)
class CorrectiveStep:
    """The weights that a corrective step found, and its objective before and after."""

    weights: Vector
    objective_before: float
    objective: float


# Where all scores are saturated the Hessian vanishes and a step may overflow: it is then not taken.
@np.errstate(over="ignore", invalid="ignore")
def corrective_weights(
    design: NDArray[np.float64], y: Vector, row_weight: Vector, loss: Loss, ridge: float, start: Vector
) -> CorrectiveStep:
    """Minimise sum_i c_i loss(y_i, (design b)_i) + ridge/2 sum_{j>0} b_j^2, the first column being the free constant.

    Every step lowers the objective: it is halved until it does. On separable data without a ridge the weights grow by about one
    unit a step, and the limit on the number of steps keeps them finite.
    """
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0.0

    def objective_of(weights: Vector) -> float:
        return float(row_weight @ loss.value(y, design @ weights) + 0.5 * (penalty @ weights**2))

    weights = np.asarray(start, dtype=np.float64)
    before = objective = objective_of(weights)
    for _ in range(MAX_ITERATIONS):
        score = design @ weights
        gradient = weighted_sums(design, row_weight * loss.gradient(y, score)) + penalty * weights
        hessian = weighted_gram(design, row_weight * loss.hessian(score))
        diagonal = hessian.diagonal() + penalty
        np.fill_diagonal(hessian, diagonal + JITTER * max(diagonal.mean(), np.finfo(np.float64).tiny / JITTER))
        step = np.linalg.solve(hessian, gradient)
        decrement = float(gradient @ step)
        if not decrement > TOLERANCE * abs(objective):
            break
        for _ in range(40):
            candidate = weights - step
            reached = objective_of(candidate)
            if reached < objective:
                break
            step = 0.5 * step
        else:
            break
        weights, objective = candidate, reached
    return CorrectiveStep(weights, before, objective)
