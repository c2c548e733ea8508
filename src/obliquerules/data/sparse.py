"""Sparse tables: matrices of SciPy as blocks of which only some rows or columns are ever made dense."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_array

from obliquerules.rules.columns import Block, Column, Columns
from obliquerules.rules.model import Model
from obliquerules.rules.text.style import column_names

# Of a sparse table, at most this many columns are learned from: those that say most about the target. That is far more than
# the columns of any model that people read, and few enough for rows in dense blocks.
MOST_COLUMNS = 256
# A table of more columns is made dense only if it has at most this many values, which take a gigabyte.
MOST_VALUES = 2**27


class SparseBlock(Block):
    """A sparse table as a block: its matrix is made when it is asked for.

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
        object.__setattr__(self, "_places", {})

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
        """Return the block with columns that say whether they hold only 0 and 1, and whether values are missing."""
        data, place = self.values.data, self.values.indices
        missing = np.bincount(place[np.isnan(data)], minlength=self.n_columns)
        other = np.bincount(place[~np.isnan(data) & (data != 1.0)], minlength=self.n_columns)
        flags = (other == 0) & (missing < len(self))
        kinds = ["flag" if flag else "number" for flag in flags.tolist()]
        found = zip(self.columns.names, kinds, (missing > 0).tolist(), strict=True)
        return self.read_as(Columns.of([Column(name, kind=kind, missing=lacks) for name, kind, lacks in found]))


def sparse_block(X: Any, columns: Columns | None, reader: str) -> SparseBlock:
    """Return a sparse matrix or array, in any format, as a block; its columns are called as the given ones, or x0, x1, ..."""
    checked = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, input_name="X", estimator=reader)
    values = csr_array(checked)
    if not values.has_canonical_format or not values.data.all():
        values = values.copy()  # what the caller has stays as it is
        values.sum_duplicates()
        values.eliminate_zeros()
    known = columns is not None and len(columns) == values.shape[1]
    names = columns.names if columns is not None and known else column_names(range(values.shape[1]), None)
    _check_not_infinite(values, names)
    return SparseBlock(Columns.of(names), values)


def _check_not_infinite(values: Any, names: Sequence[str]) -> None:
    infinite = np.flatnonzero(np.isinf(values.data))
    if len(infinite):
        first = infinite[0]
        row = int(np.searchsorted(values.indptr, first, side="right")) - 1
        raise ValueError(f"Input X has an infinite value (inf) in column '{names[values.indices[first]]}', first in row {row}.")


def scores_of(model: Model, X: Block, given: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the score of each row, at the given offset if there is one; of a sparse table, used columns are made dense."""
    if not isinstance(X, SparseBlock):
        return model.scores(X, given)
    used = model.ensemble.used_columns
    place = {column: index for index, column in enumerate(used)}
    return model.alone().renumbered(place, model.columns.only(used)).scores(X.only(used), given)
