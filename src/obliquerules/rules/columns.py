"""Columns: what the inputs of a model are called and hold, and blocks of rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Level = str | int | bool

# The code of a column of levels for a level that is missing.
MISSING = -1


@dataclass(frozen=True)
class Column:
    """One input.

    Attributes
    ----------
    name : str
    levels : tuple of str, int or bool, or None
        The levels of a categorical column; None if the column holds numbers.
    """

    name: str
    levels: tuple[Level, ...] | None = None


@dataclass(frozen=True)
class Range:
    """Where the values of a column lay in training, but for a few at either end, so that no single row is disclosed.

    Attributes
    ----------
    column : int
    low, high : float
    """

    column: int
    low: float
    high: float

    def far_outside(self, value: float) -> bool:
        """Say whether a value lies outside by more than half the width of the range."""
        reach = 0.5 * (self.high - self.low)
        return not self.low - reach <= value <= self.high + reach


@dataclass(frozen=True)
class NumberColumns(Sequence[Column]):
    """Columns of numbers, each made when it is asked for: there may be a million of them.

    Attributes
    ----------
    names : tuple of str
    """

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> NumberColumns: ...
    def __getitem__(self, index: int | slice) -> Column | NumberColumns:
        found = self.names[index]
        return Column(found) if isinstance(found, str) else NumberColumns(found)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of columns: what `read` makes of any kind of table, and what a model is asked about.

    Attributes
    ----------
    columns : sequence of Column
    values : sequence of array
        One array for each column: doubles, NaN where a value is missing, or the codes of levels as 32-bit integers, -1 where
        the level is missing and -2 where it is not one of the column's.
    """

    columns: Sequence[Column]
    values: Sequence[NDArray[Any]] | NDArray[np.float64]

    @classmethod
    def of_matrix(cls, X: NDArray[np.float64], names: Sequence[str]) -> Block:
        """Return a matrix as a block without copying it."""
        block = cls(NumberColumns(tuple(names)), X.T)
        block.__dict__["matrix"] = X  # so that the cached property does not build it again
        return block

    def __len__(self) -> int:
        return len(self.values[0]) if len(self.values) else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns.names if isinstance(self.columns, NumberColumns) else tuple(one.name for one in self.columns)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """All columns as one matrix of doubles; raises if a column has levels."""
        for column in self.columns:
            if column.levels is not None:
                raise ValueError(f"Column '{column.name}' holds levels, not numbers.")
        return np.column_stack(tuple(self.values)) if len(self.values) else np.empty((0, 0))

    def rows(self, which: Any) -> Block:
        """Return some of the rows, chosen by a slice, a mask or positions."""
        if "matrix" in self.__dict__:
            return Block.of_matrix(self.matrix[which], self.names)
        return Block(self.columns, tuple(values[which] for values in self.values))


def as_matrix(X: ArrayLike | Block, n_columns: int, *, exactly: bool = False) -> NDArray[np.float64]:
    """Return X (array, data frame or block) as a matrix of doubles, with at least or exactly ``n_columns`` columns."""
    try:
        matrix = X.matrix if isinstance(X, Block) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only: {error}") from error
    if matrix.ndim != 2:
        raise ValueError(f"X must have rows and columns; got shape {matrix.shape}. Reshape a single row with X.reshape(1, -1).")
    if matrix.shape[1] < n_columns or (exactly and matrix.shape[1] != n_columns):
        raise ValueError(f"X has {matrix.shape[1]} columns; this model needs {'' if exactly else 'at least '}{n_columns}.")
    return matrix
