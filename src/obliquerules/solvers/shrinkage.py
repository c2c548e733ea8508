"""Shrinkage: how large the ridge on rule weights should be, estimated from the training rows for any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.losses import Loss
from obliquerules.solvers.rule_weights import weights_of_patterns

Vector = NDArray[np.float64]

# The ridges that are compared, in rows.
RIDGES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
# A ridge below one row is compared only if it is at least this much divided by the number of rows: where few rows of two
# classes are separated, none of them shows what its own absence would change.
ROWS_FOR_LESS = 100.0
# Leaving a row out shows the optimism of the weights alone. Conditions are found on the same rows by a long search: each unit
# of complexity counts as this many weights. In a linear model nothing but columns is chosen: a slope, two units, is one weight.
WEIGHTS_PER_UNIT = 3.0
WEIGHTS_PER_UNIT_OF_LINES = 0.5
# No row has more than this share of what decides its own score; and less curvature than the other share of all rows is none.
MOST_LEVERAGE = 0.99
NO_CURVATURE = 1e-9


@dataclass(frozen=True, eq=False)
class Rows:
    """Targets, weights and, if there are any, offsets of distinct rows, and the loss."""

    y: Vector
    weight: Vector
    loss: Loss
    offset: Vector | None = None


class Fitted(Protocol):
    """An ensemble as the weights of firing patterns."""

    @property
    def design(self) -> Vector:
        """The patterns, shape (n_patterns, 1 + n_rules)."""
        ...

    @property
    def pattern(self) -> NDArray[np.intp]:
        """The pattern of each row."""
        ...

    @property
    def weights(self) -> Vector:
        """The constant and the weights, shape (1 + n_rules,) or, with many classes, (1 + n_rules, n_classes)."""
        ...

    @property
    def complexity(self) -> int:
        """The complexity of the ensemble."""
        ...


def estimated_ridge(
    ensembles: Sequence[Fitted],
    rows: Rows,
    penalty: Callable[[float], Any],
    weights_per_unit: float = WEIGHTS_PER_UNIT,
    each: Callable[..., Iterable[Vector]] = map,
) -> float:
    """Return the ridge, in rows, with the least mean expected loss of some ensembles on new rows.

    The expected loss is that of the training rows, plus a multiple of what it would be more if each row were left out of the
    fit of the weights; ``penalty`` gives the ridge in units of the loss. If there is no ensemble with rules, it is the least.
    What is asked of one ensemble does not depend on the others: ``each`` is called like `map`.
    """
    ridges = ridges_for(float(np.add.reduce(rows.weight)))
    penalties = [penalty(ridge) for ridge in ridges]
    losses = partial(expected_losses, rows=rows, ridges=penalties, weights_per_unit=weights_per_unit)
    with_rules = [one for one in ensembles if len(one.weights) > 1]
    expected = sum(each(losses, with_rules), start=np.zeros(len(ridges)))
    return ridges[int(np.argmin(expected))]


def ridges_for(n_rows: float) -> tuple[float, ...]:
    """Return the ridges to compare, given so many rows; a row of weight 2 counts as two."""
    return tuple(ridge for ridge in RIDGES if ridge >= 1.0 or ridge * n_rows >= ROWS_FOR_LESS)


def expected_losses(one: Fitted, rows: Rows, ridges: Sequence[Any], weights_per_unit: float) -> Vector:
    """Return the expected loss of an ensemble on new rows for each of some ridges."""
    return np.array([expected_loss(one, rows, ridge, weights_per_unit) for ridge in ridges])


def expected_loss(one: Fitted, rows: Rows, ridge: Any, weights_per_unit: float = WEIGHTS_PER_UNIT) -> float:
    """Return the expected loss of an ensemble on new rows if its weights are fitted with this ridge."""
    weights = weights_of_patterns(
        one.design, one.pattern, rows.y, rows.weight, rows.loss, ridge, one.weights, offset=rows.offset
    )
    score = (one.design @ weights)[one.pattern]
    if rows.offset is not None:
        score = score + rows.offset
    training, left_out = (_total(rows, each) for each in (score, left_out_scores(one, rows, weights, score, ridge)))
    weights_per_rule = weights_per_unit * one.complexity / int(one.design.shape[1] - 1)
    return training + weights_per_rule * max(left_out - training, 0.0)


def _total(rows: Rows, score: Vector) -> float:
    return float(np.add.reduce(rows.weight * rows.loss.value(rows.y, score)))


def left_out_scores(one: Fitted, rows: Rows, weights: Vector, score: Vector, ridge: Any) -> Vector:
    """Return the score that each row would have if the weights were fitted without it, after one Newton step.

    Exact for the squared loss. With many classes, the step is taken for each class by itself.
    """
    gradient, hessian = rows.loss.gradient(rows.y, score), rows.loss.hessian(score)
    if not rows.loss.by_class:
        free = np.ones(len(weights), dtype=np.bool_)
        return score + _shift(one, rows.weight * gradient, rows.weight * hessian, float(ridge), free)
    shifts = [
        _shift(one, rows.weight * gradient[:, k], rows.weight * hessian[:, k], float(ridge[k]), weights[:, k] != 0.0)
        for k in range(weights.shape[1])
    ]
    return np.asarray(score + np.column_stack(shifts))


def _shift(one: Fitted, gradient: Vector, hessian: Vector, ridge: float, free: NDArray[np.bool_]) -> Vector:
    """Return by how much the score of each row changes when it is left out; ``free`` are the weights that take part."""
    free = free.copy()
    free[0] = True  # the constant, which has no ridge
    design = one.design[:, free]
    by_pattern = np.bincount(one.pattern, hessian, len(design)).astype(np.float64)
    least = max(NO_CURVATURE * float(by_pattern.sum()), np.finfo(np.float64).tiny)
    curvature = np.einsum("pi,p,pj->ij", design, by_pattern, design)
    curvature[np.diag_indices(len(curvature))] += np.append(least, np.full(len(curvature) - 1, max(ridge, least)))
    spread = np.einsum("pi,pi->p", design, np.linalg.solve(curvature, design.T).T)[one.pattern]
    return np.asarray(spread * gradient / (1.0 - np.minimum(spread * hessian, MOST_LEVERAGE)))
