"""Screening: of the many columns of a sparse table, those that say most about the target by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from obliquerules.arrays import Matrix, Vector
from obliquerules.data.offsets import Outcomes
from obliquerules.data.sparse import MOST_COLUMNS, SparseBlock
from obliquerules.losses import Loss
from obliquerules.rules.columns import Block, Columns
from obliquerules.rules.model import Model


@dataclass(frozen=True, eq=False)
class Screened:
    """The columns to learn from.

    Attributes
    ----------
    X : Block
        The rows in these columns.
    whole : Block
        The rows in all columns.
    kept : sequence of int or None
        The positions of the columns to learn from, in ascending order; None if they are all columns, as they were.
    """

    X: Block
    whole: Block
    kept: Sequence[int] | None = None

    def in_all_columns(self, model: Model) -> Model:
        """Return a model of the columns to learn from as one of all columns."""
        if self.kept is None:
            return model
        special = () if self.X.columns is None else self.X.columns.special
        columns = Columns(self.whole.names, tuple((self.kept[place], column) for place, column in special))
        return model.renumbered(dict(enumerate(self.kept)), columns)


def screened(X: Block, rows: Outcomes, loss: Loss) -> Screened:
    """Return the columns to learn from: all of them, unless the table is sparse and has more than `MOST_COLUMNS`."""
    if not isinstance(X, SparseBlock):
        return Screened(X, X)
    if X.n_columns <= MOST_COLUMNS:
        return Screened(X.described(), X)
    # Many columns of zeros and ones are equally good: then the first, whatever the order of rows makes of the last digits.
    best = np.argsort(-gains(X.values, rows, loss).astype(np.float32), kind="stable")[:MOST_COLUMNS]
    kept = np.sort(best).tolist()
    return Screened(X.only(kept).described(), X, kept)


def gains(values: Any, rows: Outcomes, loss: Loss) -> Vector:
    """Return by how much each column lowers the loss of the best constant: the larger gain of a slope and of a step at zero.

    For a term c(x) of mean zero, a Newton step on its weight, with a ridge of one row, lowers the loss by half of

        (sum_i w_i g_i c(x_i))^2 / (h sum_i w_i c(x_i)^2 + s^2),

    where g is the gradient and h the hessian at the constant, and s^2 the mean square of c where x is not zero. The ridge keeps
    away columns that are other than zero in a few rows only, which a rare class would make look good.
    """
    shape = (len(rows.y), loss.n_classes) if loss.by_class else (len(rows.y),)
    score = np.broadcast_to(loss.best_constant(rows.y, rows.weight), shape)
    gradient = loss.gradient(rows.y, score if rows.offset is None else score + rows.offset).reshape(len(rows.y), -1)
    curvature = np.atleast_1d(loss.curvature(rows.y, rows.weight))
    step = csr_array((np.ones_like(values.data), values.indices, values.indptr), shape=values.shape)
    given = (step, rows.weight, gradient, curvature)
    return np.maximum(_gains(values.data, *given), _gains(step.data, *given))


def _gains(data: Vector, step: Any, weight: Vector, gradient: Matrix, curvature: Vector) -> Vector:
    """Return the gains of terms that have the given values where the table is not zero, and zero elsewhere."""

    def over_rows(of_entries: Vector, of_rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(csr_array((of_entries, step.indices, step.indptr), shape=step.shape).T @ of_rows)

    total, pull = float(np.add.reduce(weight)), weight[:, None] * gradient
    missing = np.isnan(data)
    known = total - over_rows(missing.astype(np.float64), weight)
    mean = over_rows(np.where(missing, 0.0, data), weight) / np.where(known > 0.0, known, 1.0)
    # Nothing is known of a missing value: it counts as the mean.
    centred = np.where(missing, 0.0, data - mean[step.indices])
    # The rows in which a column is zero, of which the table has no entries, are all rows but those away from zero.
    away, pull_away = over_rows(step.data, weight), over_rows(step.data, pull)
    slope = over_rows(centred, pull) - mean[:, None] * (pull.sum(axis=0) - pull_away)
    square = over_rows(centred**2, weight)
    spread = square + np.maximum(total - away, 0.0) * mean**2
    ridge = min(1.0, total / np.count_nonzero(weight)) * square / np.where(away > 0.0, away, 1.0)
    size = np.sqrt(curvature * spread[:, None] + ridge[:, None])
    return np.asarray(((slope / np.where(size > 0.0, size, np.inf)) ** 2).sum(axis=1))
