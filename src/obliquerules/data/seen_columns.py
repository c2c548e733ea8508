"""Seen columns: what the columns of a model are, from rows that come in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.data.reading import LARGEST_VALUE, SMALLEST_SIZE, too_large, too_small
from obliquerules.data.training_columns import Frequencies, warn_of_identifiers
from obliquerules.rules.columns import Block, Column, Columns


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """What is known of a column from some rows.

    Attributes
    ----------
    column : Column
        With the levels of the first rows that have values.
    frequencies : Frequencies or None
        The levels, and how often they occur; None if the column holds numbers.
    n_rows, n_present : int
        The number of rows, and of those with a value.
    is_flag : bool
        Whether all values are 0 or 1.
    largest : float
        The largest distance of a value from zero.
    """

    column: Column
    frequencies: Frequencies | None
    n_rows: int
    n_present: int
    is_flag: bool
    largest: float

    @classmethod
    def of(cls, column: Column, values: NDArray[np.float64], weight: NDArray[np.float64] | None) -> SeenColumn:
        """Return what is known from the values of a block; raise if one is infinite."""
        present = values[~np.isnan(values)]
        if column.levels is not None:
            return cls(column, Frequencies.of(column, values, weight), len(values), len(present), False, 0.0)
        if np.isinf(present).any():
            raise ValueError(f"Input X has an infinite value (inf) in column '{column.name}'.")
        is_flag = bool(((present == 0.0) | (present == 1.0)).all())
        largest = float(np.abs(present).max(initial=0.0))
        return cls(column, None, len(values), len(present), is_flag, largest)

    def __add__(self, other: SeenColumn) -> SeenColumn:
        column, frequencies = self._both(other)
        return SeenColumn(
            column,
            frequencies,
            self.n_rows + other.n_rows,
            self.n_present + other.n_present,
            self.is_flag and other.is_flag,
            max(self.largest, other.largest),
        )

    def _both(self, other: SeenColumn) -> tuple[Column, Frequencies | None]:
        """Return the column of both, and the frequencies of its levels.

        A column without values says nothing of itself.
        """
        if other.n_present == 0:
            return self.column, self.frequencies
        if self.n_present == 0:
            return other.column, other.frequencies
        if (self.frequencies is None) != (other.frequencies is None):
            raise ValueError(
                f"Column '{self.column.name}' of X holds numbers and text. Make all of them text, or leave it out."
            )
        if self.frequencies is None or other.frequencies is None:
            # Dates are times at midnight.
            kind = self.column.kind if self.column.kind == other.column.kind else "time"
            return replace(self.column, kind=kind), None
        if (self.column.ordered or other.column.ordered) and self.column.levels != other.column.levels:
            raise ValueError(
                f"Column '{self.column.name}' of X has ordered categories that are not the same in all blocks of rows. Give "
                "all of them the same categories, in the same order."
            )
        return self.column, self.frequencies + other.frequencies

    def described(self) -> Column:
        """Return the column of a model, as `training_columns` does; raise if its numbers cannot be computed with."""
        column, missing = self.column, self.n_present < self.n_rows
        if self.frequencies is None:
            if self.largest > LARGEST_VALUE:
                raise ValueError(too_large(f"Column '{column.name}' of X"))
            if 0.0 < self.largest < SMALLEST_SIZE:
                raise ValueError(too_small(column.name, self.largest))
            is_flag = self.is_flag and column.kind == "number" and self.n_present > 0
            return replace(column, kind="flag" if is_flag else column.kind, missing=missing)
        if column.is_truth:
            return Column(column.name, (False, True), missing=missing)
        if self.frequencies.like_identifiers:
            return Column(column.name, (), missing=missing)
        return Column(column.name, self.frequencies.in_order, column.ordered, missing=missing)


@dataclass(frozen=True, eq=False)
class SeenColumns:
    """What is known of all columns."""

    columns: tuple[SeenColumn, ...]

    @classmethod
    def of(cls, block: Block, weight: NDArray[np.float64] | None = None) -> SeenColumns:
        """Return what is known from a block in its own levels.

        Weights of its rows are positive.
        """
        pairs = zip(map(block.column, range(block.n_columns)), block.matrix.T, strict=True)
        return cls(tuple(SeenColumn.of(*pair, weight) for pair in pairs))

    def __add__(self, other: SeenColumns) -> SeenColumns:
        return SeenColumns(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.columns[0].n_rows

    def described(self) -> Columns:
        """Return the columns of a model."""
        found: Sequence[Column] = [one.described() for one in self.columns]
        warn_of_identifiers([column.name for column in found if column.levels == ()])
        return Columns.of(found)
