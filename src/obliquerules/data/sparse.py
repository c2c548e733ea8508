"""Sparse tables: SciPy matrices as blocks, and their most telling columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_array

from obliquerules.arrays import Matrix, Vector
from obliquerules.data.blocks import RowBlock
from obliquerules.losses import Loss
from obliquerules.rules.columns import Block, Column, Columns
from obliquerules.rules.model import Model
from obliquerules.rules.text.style import column_names

# Of a sparse table, at most this many columns are learned from: those that say most about the target. That is far more than
# the columns of any model that people read, and few enough for rows in dense blocks.
MOST_COLUMNS = 256
# A table of more columns is made dense only if it has at most this many values, which take a gigabyte.
MOST_VALUES = 2**27


class SparseBlock(Block):
    """A sparse table as a block, made dense on demand.

    Attributes
    ----------
    columns : Columns
    values : csr_array of shape (n_rows, n_columns)
        Doubles, at most one in each place, none of them zero or infinite. NaN is a missing value; what is not there is zero.
    """

    columns: Columns
    values: Any

    def __init__(self, columns: Columns, values: Any) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "places", {})

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The dense matrix; raise if it would not fit in memory."""
        if self.n_columns > MOST_COLUMNS and len(self) * self.n_columns > MOST_VALUES:
            raise ValueError(
                f"X is sparse, and {len(self)} rows of all its {self.n_columns} columns are too many to be made dense: give "
                f"at most {MOST_VALUES // self.n_columns} rows at a time. Only fit, score and predictions take more."
            )
        return np.asarray(self.values.toarray())

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    @property
    def extremes(self) -> NDArray[np.float64]:
        """The largest absolute value of each column, as a matrix of one row."""
        largest = np.zeros((1, self.n_columns))
        np.fmax.at(largest[0], self.values.indices, np.abs(self.values.data))
        return largest

    @cached_property
    def incomplete(self) -> frozenset[int]:
        """The columns in which a value is missing."""
        return frozenset(self.values.indices[np.isnan(self.values.data)].tolist())

    def rows(self, which: Any) -> Block:
        """Return some of the rows."""
        return SparseBlock(self.columns, self.values[which])

    def only(self, positions: Sequence[int]) -> SparseBlock:
        """Return some of the columns."""
        return SparseBlock(self.columns.only(positions), self.values[:, list(positions)])

    def read_as(self, columns: Columns) -> SparseBlock:
        """Return the same numbers as those of other columns."""
        return SparseBlock(columns, self.values)

    def described(self) -> SparseBlock:
        """Return the block with flags and missing values described."""
        data, place = self.values.data, self.values.indices
        missing = np.bincount(place[np.isnan(data)], minlength=self.n_columns)
        other = np.bincount(place[~np.isnan(data) & (data != 1.0)], minlength=self.n_columns)
        flags = (other == 0) & (missing < len(self))
        kinds = ["flag" if flag else "number" for flag in flags.tolist()]
        found = zip(self.columns.names, kinds, (missing > 0).tolist(), strict=True)
        return self.read_as(Columns.of([Column(name, kind=kind, missing=lacks) for name, kind, lacks in found]))


def sparse_block(X: Any, columns: Columns | None, reader: str) -> SparseBlock:
    """Return a sparse matrix or array as a block."""
    checked = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, input_name="X", estimator=reader)
    values = csr_array(checked)
    if not values.has_canonical_format or not values.data.all():
        values = values.copy()  # the matrix of the caller stays as it is
        values.sum_duplicates()
        values.eliminate_zeros()
    known = columns is not None and len(columns) == values.shape[1]
    names = columns.names if columns is not None and known else column_names(range(values.shape[1]), None)
    for first in np.flatnonzero(np.isinf(values.data))[:1]:
        row = int(np.searchsorted(values.indptr, first, side="right")) - 1
        raise ValueError(f"Input X has an infinite value (inf) in column '{names[values.indices[first]]}', first in row {row}.")
    return SparseBlock(Columns.of(names), values)


def scores_of(model: Model, X: Block, given: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the score of each row; only used columns become dense."""
    if not isinstance(X, SparseBlock):
        return model.scores(X, given)
    used = model.ensemble.used_columns
    place = {column: index for index, column in enumerate(used)}
    return model.alone().renumbered(place, model.columns.only(used)).scores(X.only(used), given)


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
        """Return a model of the chosen columns as one of all."""
        if self.kept is None:
            return model
        special = () if self.X.columns is None else self.X.columns.special
        columns = Columns(self.whole.names, tuple((self.kept[place], column) for place, column in special))
        return model.renumbered(dict(enumerate(self.kept)), columns)


def screened(rows: RowBlock, loss: Loss) -> Screened:
    """Return the columns to learn from, at most `MOST_COLUMNS` if sparse."""
    X = rows.X
    if not isinstance(X, SparseBlock):
        return Screened(X, X)
    if X.n_columns <= MOST_COLUMNS:
        return Screened(X.described(), X)
    # In single precision, equally good columns tie whatever the order of rows, and the first wins.
    best = np.argsort(-gains(X.values, rows, loss).astype(np.float32), kind="stable")[:MOST_COLUMNS]
    kept = np.sort(best).tolist()
    return Screened(X.only(kept).described(), X, kept)


def gains(values: Any, rows: RowBlock, loss: Loss) -> Vector:
    """Return the gain in loss of each column, as slope or step.

    For a term c(x) of mean zero, a Newton step on its weight, with a ridge of one row, lowers the loss by half of

        (sum_i w_i g_i c(x_i))^2 / (h sum_i w_i c(x_i)^2 + s^2),

    where g is the gradient and h the hessian at the constant, and s^2 the mean square of c where x is not zero. The ridge keeps
    away columns that are other than zero in a few rows only, which a rare class would make look good.
    """
    score = np.broadcast_to(loss.best_constant(rows.y, rows.weight), (len(rows.y), *loss.output_shape))
    gradient = loss.gradient(rows.y, score if rows.offset is None else score + rows.offset).reshape(len(rows.y), -1)
    curvature = np.atleast_1d(loss.curvature(rows.y, rows.weight))
    step = csr_array((np.ones_like(values.data), values.indices, values.indptr), shape=values.shape)
    given = (step, rows.weight, gradient, curvature)
    return np.maximum(_gains(values.data, *given), _gains(step.data, *given))


def _gains(data: Vector, step: Any, weight: Vector, gradient: Matrix, curvature: Vector) -> Vector:
    """Return the gains of terms with the given values off zero."""

    def over_rows(of_entries: Vector, of_rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(csr_array((of_entries, step.indices, step.indptr), shape=step.shape).T @ of_rows)

    total, pull = float(np.add.reduce(weight)), weight[:, None] * gradient
    missing = np.isnan(data)
    known = total - over_rows(missing.astype(np.float64), weight)
    mean = over_rows(np.where(missing, 0.0, data), weight) / np.where(known > 0.0, known, 1.0)
    # A missing value counts as the mean.
    centred = np.where(missing, 0.0, data - mean[step.indices])
    # Rows of zeros have no entries: they are all rows but those off zero.
    away, pull_away = over_rows(step.data, weight), over_rows(step.data, pull)
    slope = over_rows(centred, pull) - mean[:, None] * (pull.sum(axis=0) - pull_away)
    square = over_rows(centred**2, weight)
    spread = square + np.maximum(total - away, 0.0) * mean**2
    ridge = min(1.0, total / np.count_nonzero(weight)) * square / np.where(away > 0.0, away, 1.0)
    size = np.sqrt(curvature * spread[:, None] + ridge[:, None])
    return np.asarray(((slope / np.where(size > 0.0, size, np.inf)) ** 2).sum(axis=1))
