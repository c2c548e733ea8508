"""OR weights: rule weights under which a score is positive if and only if some rule fires."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from obliquerules.arrays import Vector
from obliquerules.losses import LOSSES

# How far a score stays from zero, so that it keeps its sign when it is added up from printed weights.
MARGIN = 0.01


def or_weights(fires: NDArray[np.bool_], y: Vector, row_weight: Vector, ridge: float) -> Vector:
    """Minimise the logistic loss plus ridge/2 sum_j b_j^2 over the constant -a and the weights b_j = a + c_j, with a, c_j > 0.

    Where no rule fires the score is then -a, and where some do it is at least the least of their c_j: the sign of the score is
    the OR of the rules on any row, and its size is the log-odds of the rows for which the same rules fire, as far as a sum can
    say it. A region with the wrong majority gets even odds. Returned is the constant, and then the weight of each rule.
    """
    patterns, place = np.unique(fires, axis=0, return_inverse=True)
    weight = np.bincount(place.ravel(), row_weight, len(patterns))
    target = np.bincount(place.ravel(), row_weight * y, len(patterns)) / weight
    share, loss = weight / weight.sum(), LOSSES["logistic"]
    # The score in terms of (a, c): a rule that fires adds a + c_j to -a.
    design = np.column_stack([patterns.sum(axis=1) - 1.0, patterns])
    penalty = ridge / weight.sum()

    def objective(free: Vector) -> tuple[float, Vector]:
        score, rules = design @ free, free[0] + free[1:]
        gradient = design.T @ (share * loss.gradient(target, score))
        gradient[0] += penalty * rules.sum()
        gradient[1:] += penalty * rules
        return float(share @ loss.value(target, score)) + 0.5 * penalty * float(rules @ rules), gradient

    start = np.ones(design.shape[1])
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(MARGIN, None)] * len(start),
        options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000},
    )
    return np.concatenate([[-found.x[0]], found.x[0] + found.x[1:]])
