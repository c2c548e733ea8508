"""Refit: the corrective step, the best weights of all terms at once for any loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from obliquerules.arrays import Mask, Vector
from obliquerules.kernels.class_weights import ClassWeightFinder
from obliquerules.kernels.rule_weights import WeightFinder, weighted_products
from obliquerules.losses import LOSSES, Loss

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
