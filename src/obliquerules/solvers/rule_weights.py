"""Rule weights: the fully corrective step, Newton's method on all weights at once for any loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.kernels.rule_weights import FAMILIES, WeightFinder
from obliquerules.losses import Loss

Vector = NDArray[np.float64]


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
    design, y, row_weight, start = (np.ascontiguousarray(array, dtype=np.float64) for array in (design, y, row_weight, start))
    finder = WeightFinder(design, y, row_weight, FAMILIES[loss.name], ridge)
    return CorrectiveStep(*finder.run(start))


def weights_of_patterns(
    design: NDArray[np.float64],
    pattern: NDArray[np.intp],
    y: Vector,
    row_weight: Vector,
    loss: Loss,
    ridge: float,
    start: Vector,
) -> Vector:
    """Return the best weights for rows, each of which has the row ``pattern[i]`` of the design.

    Rows with the same pattern have the same score, so they are one row with their mean target and summed weight: see `Loss`
    for why this is exact.
    """
    weight = np.bincount(pattern, row_weight, len(design)).astype(np.float64)
    target = np.bincount(pattern, row_weight * y, len(design))
    met = weight > 0.0
    return corrective_weights(design[met], target[met] / weight[met], weight[met], loss, ridge, start).weights
