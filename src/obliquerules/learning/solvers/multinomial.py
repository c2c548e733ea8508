"""Class weights: the fully corrective step for many classes, all weights of all classes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.kernels.class_weights import ClassWeightFinder

EXACT = 1e-13
# The tolerance of weights that are fitted to judge an ensemble: the loss is then exact to six digits or more.
JUDGED = 1e-7


def class_weights(
    design: Vector,
    shares: Vector,
    row_weight: Vector,
    ridge: Vector,
    start: Vector,
    free: Mask,
    offset: Vector | None = None,
    tolerance: float = EXACT,
) -> Vector:
    """Minimise sum_i c_i loss(s_i, (design B)_i) + sum_{j>0,k} ridge_k/2 B_jk^2 for the multinomial loss.

    The first column is the constant, of which each class has one; they are free and add up to zero. All other weights that are
    not ``free`` keep their start, and what they add to the scores is an offset without a ridge.

    Parameters
    ----------
    design : array of shape (n_rows, 1 + n_rules)
        Zeros and ones, the first column all ones.
    shares : array of shape (n_rows, n_classes)
        The share of each class among the targets of a row.
    row_weight : array of shape (n_rows,)
    ridge : array of shape (n_classes,)
    start : array of shape (1 + n_rules, n_classes)
    free : array of shape (1 + n_rules, n_classes)
    offset : array of shape (n_rows, n_classes), optional
    tolerance : float
        The share of the objective that a further step would win at the end.
    """
    free = free.copy()
    free[0] = True
    column, output = map(np.ascontiguousarray, np.nonzero(free))
    held = np.where(free, 0.0, start)
    given = np.zeros(shares.shape) if offset is None else offset
    if held.any():
        given = given + np.einsum("ij,jk->ik", design, held)
    arrays = (design, shares, row_weight, given, np.asarray(ridge)[output], start[free])
    design, shares, row_weight, given, penalty, first = (np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
    found, _ = ClassWeightFinder(design, shares, row_weight, given, column, output, penalty).run(first, tolerance)
    weights = np.array(start, dtype=np.float64)
    weights[free] = found
    return weights


def class_weights_of_patterns(
    design: Vector,
    pattern: NDArray[np.intp],
    shares: Vector,
    row_weight: Vector,
    ridge: Vector,
    start: Vector,
    free: Mask,
    tolerance: float = EXACT,
    offset: Vector | None = None,
) -> Vector:
    """Return the best weights for rows, each of which has the row ``pattern[i]`` of the design and its share of each class.

    ``offset`` is what is given to each pattern.

    Rows with the same pattern are one row with their mean shares and summed weight, as for any loss.
    """
    weight = np.bincount(pattern, row_weight, len(design)).astype(np.float64)
    cells = shares.shape[1] * pattern[:, None] + np.arange(shares.shape[1])
    totals = np.bincount(cells.ravel(), (row_weight[:, None] * shares).ravel(), len(design) * shares.shape[1])
    totals, met = totals.reshape(len(design), -1), weight > 0.0
    if not met.all():
        design, totals, weight = design[met], totals[met], weight[met]
        offset = None if offset is None else offset[met]
    return class_weights(design, totals / weight[:, None], weight, ridge, start, free, offset, tolerance=tolerance)
