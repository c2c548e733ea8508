"""Rule weights: the fully corrective step, Newton's method on all weights at once for any loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.kernels.rule_weights import WeightFinder, weighted_products
from obliquerules.learning.solvers.multinomial import EXACT, class_weights_of_patterns
from obliquerules.losses import Loss

# Relative jitter that makes a Hessian invertible whatever the rules are; a rule with a smaller share of its own is redundant.
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class CorrectiveStep:
    """The weights that a corrective step found, and its objective before and after."""

    weights: Vector
    objective_before: float
    objective: float


# The start may be so far away that scores overflow.
@np.errstate(over="ignore", invalid="ignore")
def corrective_weights(
    design: NDArray[np.float64],
    y: Vector,
    row_weight: Vector,
    loss: Loss,
    ridge: float,
    start: Vector,
    *,
    fixed: NDArray[np.bool_] | None = None,
    offset: Vector | None = None,
) -> CorrectiveStep:
    """Minimise sum_i c_i loss(y_i, (design b)_i) + ridge/2 sum_{j>0} b_j^2, the first column being the free constant.

    Newton's method, each step halved until it lowers the objective. From a start at which scores are saturated, and the second
    derivative has vanished or is beyond all bounds, it does not arrive: then damped steps from the best constant do, and the
    minimum no longer depends on the start.

    Without a ridge the minimum may lie at infinity, as on separable rows. The way ends where a further step would win no more
    than rounding error, which for the logistic loss is at scores of about 30. Weights that are beyond 100 nevertheless are
    fitted again with a ridge of 1e-16 of the weight of all rows, which changes nothing that can be measured but holds them.

    The weights of columns that are ``fixed``, of which the constant is none, keep their start to the last bit and are left out
    of the ridge: what they add to the scores is an offset. A further ``offset`` of each row may be given.
    """
    if fixed is None:
        return CorrectiveStep(*_minimised(design, y, row_weight, offset, loss, ridge, start))
    if fixed[0]:
        raise ValueError("The first column is the constant, which is never fixed.")
    given = (0.0 if offset is None else offset) + (design[:, fixed] * start[fixed]).sum(axis=1)
    found, *objectives = _minimised(design[:, ~fixed], y, row_weight, given, loss, ridge, start[~fixed])
    weights = np.array(start, dtype=np.float64)
    weights[~fixed] = found
    return CorrectiveStep(weights, *objectives)


def _minimised(
    design: NDArray[np.float64], y: Vector, row_weight: Vector, offset: Vector | None, loss: Loss, ridge: float, start: Vector
) -> tuple[Vector, float, float]:
    """Return the weights of all columns, and the objective before and after."""
    given = np.zeros(len(design)) if offset is None else offset
    columns, y, row_weight, given = (np.ascontiguousarray(one, dtype=np.float64) for one in (design.T, y, row_weight, given))
    finder = WeightFinder(columns, y, row_weight, given, loss.family, ridge, loss.power)
    return finder.run(np.ascontiguousarray(start, dtype=np.float64))


def weights_of_patterns(
    design: NDArray[np.float64],
    pattern: NDArray[np.intp] | None,
    y: Vector,
    row_weight: Vector,
    loss: Loss,
    ridge: float | Vector,
    start: Vector,
    *,
    fixed: NDArray[np.bool_] | None = None,
    offset: Vector | None = None,
    tolerance: float = EXACT,
) -> Vector:
    """Return the best weights for rows, each of which has the row ``pattern[i]`` of the design, and an offset if it is given.

    Rows with the same pattern have the same score, so they are one row with their mean target and summed weight: see `Loss`
    for why this is exact. The weights of ``fixed`` columns keep their start. With many classes, ``start`` and what is returned
    have a column for each class, and a rule has weights for the classes for which its start is not zero; for all, if it is
    zero for all; targets are classes or, with a column for each, their shares. Rows with different offsets have different
    patterns; they are as exact as the ``tolerance`` of `class_weights` says. Without a ``pattern``, each row has a row of the
    design of its own; that is for one score.
    """
    if pattern is None:
        return _weights_of_cells(design, row_weight * y, row_weight, loss, float(ridge), start, fixed, offset)
    given = None
    if offset is not None:
        design, pattern, given = patterns_with_offsets(design, pattern, offset)
    if loss.by_class:
        free = (start != 0.0) | (start == 0.0).all(axis=1, keepdims=True)
        free &= True if fixed is None else ~fixed[:, None]
        fitted = (design, pattern, loss.in_shares(y), row_weight, np.asarray(ridge), start, free)
        return class_weights_of_patterns(*fitted, tolerance, given)
    weight = np.bincount(pattern, row_weight, len(design)).astype(np.float64)
    total = np.bincount(pattern, row_weight * y, len(design)).astype(np.float64)
    return _weights_of_cells(design, total, weight, loss, float(ridge), start, fixed, given)


def _weights_of_cells(
    design: NDArray[np.float64],
    total: Vector,
    weight: Vector,
    loss: Loss,
    ridge: float,
    start: Vector,
    fixed: NDArray[np.bool_] | None,
    offset: Vector | None,
) -> Vector:
    """Return the best weights for rows of a design, each with the total of its targets and its weight, which may be zero."""
    met = weight > 0.0
    if not met.all():
        design, total, weight = design[met], total[met], weight[met]
        offset = None if offset is None else offset[met]
    return corrective_weights(design, total / weight, weight, loss, ridge, start, fixed=fixed, offset=offset).weights


def patterns_with_offsets(
    design: NDArray[np.float64], pattern: NDArray[np.intp], offset: Vector
) -> tuple[NDArray[np.float64], NDArray[np.intp], Vector]:
    """Return design and patterns such that rows of a pattern have the same offset, and the offset of each pattern."""
    distinct, finer = np.unique(np.column_stack([pattern, offset]), axis=0, return_inverse=True)
    given = distinct[:, 1] if offset.ndim == 1 else distinct[:, 1:]
    return design[distinct[:, 0].astype(np.intp)], finer.ravel(), np.ascontiguousarray(given)


def whitened(design: NDArray[np.float64], by_pattern: Vector, ridge: float) -> NDArray[np.float64]:
    """Return the design in coordinates that whiten its Hessian.

    In these, the Hessian of the weights, ridge included, is the identity.

    The second derivative of the loss in the score is given for each pattern, as a sum over its rows. If there is none, there
    are no such coordinates, and zeros are returned.
    """
    return np.ascontiguousarray(whitened_lines(np.ascontiguousarray(design.T), by_pattern, ridge).T)


def whitened_lines(columns: NDArray[np.float64], by_pattern: Vector, ridge: float) -> NDArray[np.float64]:
    """Return what `whitened` does, with a line for each column of the design, as ``columns`` has."""
    if not by_pattern.sum() * TINY > np.finfo(np.float64).tiny:
        return np.zeros_like(columns)
    present = weighted_products(columns, by_pattern)
    # Of its own size, too: where one row has nearly all weight, the values of a slope are large.
    added = np.maximum(max(ridge, TINY * by_pattern.sum()), TINY * np.diag(present))
    added[0] = TINY * by_pattern.sum()
    present[np.diag_indices(len(present))] += added
    # Inverting the small factor is cheaper than solving for every pattern.
    return np.linalg.solve(np.linalg.cholesky(present), np.eye(len(present))) @ columns
