"""Training columns: levels by frequency, flags, missing values, and limits of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.levels import recoded
from obliquerules.data.user_warnings import warn_caller
from obliquerules.rules.columns import Block, Column, Columns, Level

# Sums of weights times squares of smaller values are finite doubles.
LARGEST_VALUE = 1e75
# Quotients of columns with larger values are finite doubles.
SMALLEST_SIZE = 1e-200
# Text with this share of different values, among this many, is an identifier.
NEARLY_ALL = 0.9
ENOUGH_VALUES = 20


def training_columns(block: Block, weight: Vector | None = None) -> Block:
    """Return a block with the columns of a model.

    Levels that do not occur are left out. A column of text that is different in nearly every row says nothing of other rows: it
    keeps no level, with a warning. Weights, none of them zero, say how often each row counts.
    """
    X, special = block.matrix, () if block.columns is None else block.columns.special
    # Few columns of numbers begin with 0 or 1, so that few are scanned.
    like_flags = np.flatnonzero(np.isin(X[0], (0.0, 1.0)) | np.isnan(X[0])).tolist() if len(X) else ()
    unusual = {*(index for index, _ in special), *like_flags, *block.incomplete}
    if not unusual:
        return block
    columns = described(
        ColumnSummary.of(block.column(index), X[:, index], weight) if index in unusual else name
        for index, name in enumerate(block.names)
    )
    return recoded(block, columns) if columns.with_levels else Block.of_matrix(X, columns)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often the levels of a column occur.

    Attributes
    ----------
    levels : tuple of str, int or bool
    ordered : bool
        Whether the levels are in ascending order.
    weight : array of shape (n_levels,)
        The weight of the rows of each level.
    n_values : int
        The number of rows that have a level.
    """

    levels: tuple[Level, ...]
    ordered: bool
    weight: Vector
    n_values: int

    @classmethod
    def of(cls, column: Column, values: Vector, weight: Vector | None) -> Frequencies:
        """Return the frequencies of levels; rows count once without weights."""
        levels, present = column.levels or (), values >= 0.0
        sums = np.bincount(values[present].astype(np.intp), None if weight is None else weight[present], len(levels))
        return cls(levels, column.ordered, sums.astype(np.float64), int(np.count_nonzero(present)))

    def __add__(self, other: Frequencies) -> Frequencies:
        place = {level: code for code, level in enumerate(dict.fromkeys((*self.levels, *other.levels)))}
        weight = np.zeros(len(place))
        weight[: len(self.levels)] = self.weight
        weight[[place[level] for level in other.levels]] += other.weight
        return Frequencies(tuple(place), self.ordered, weight, self.n_values + other.n_values)

    @property
    def in_order(self) -> tuple[Level, ...]:
        """The levels that occur, in order.

        Without an order of their own, the most frequent come first, and equally frequent ones are sorted.
        """
        occur = np.flatnonzero(self.weight).tolist()
        if not self.ordered and occur:
            # In single precision, shares of weight do not depend on the order in which weights were added.
            share = (self.weight / self.weight.max()).astype(np.float32)
            occur.sort(key=lambda code: (-share[code], self.levels[code]))
        return tuple(self.levels[code] for code in occur)

    @property
    def like_identifiers(self) -> bool:
        """Whether text is different in nearly every row."""
        is_text = bool(self.levels) and isinstance(self.levels[0], str)
        # Weights count rows, unless they are shares that add up to less.
        n_values = max(float(np.add.reduce(self.weight)), self.n_values)
        return is_text and n_values >= ENOUGH_VALUES and int(np.count_nonzero(self.weight)) >= NEARLY_ALL * n_values


@dataclass(frozen=True, eq=False)
class ColumnSummary:
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
    def of(cls, column: Column, values: NDArray[np.float64], weight: NDArray[np.float64] | None) -> ColumnSummary:
        """Return the summary of the values of a block."""
        present = values[~np.isnan(values)]
        if column.levels is not None:
            return cls(column, Frequencies.of(column, values, weight), len(values), len(present), False, 0.0)
        if np.isinf(present).any():
            raise ValueError(f"Input X has an infinite value (inf) in column '{column.name}'.")
        is_flag = bool(((present == 0.0) | (present == 1.0)).all())
        largest = float(np.abs(present).max(initial=0.0))
        return cls(column, None, len(values), len(present), is_flag, largest)

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        # A column without values says nothing of itself.
        first, second = (other, self) if self.n_present == 0 < other.n_present else (self, other)
        column, frequencies = first.column, first.frequencies
        if second.n_present == 0:
            pass
        elif (frequencies is None) != (second.frequencies is None):
            raise ValueError(f"Column '{column.name}' of X holds numbers and text. Make all of them text, or leave it out.")
        elif frequencies is None or second.frequencies is None:
            # Dates are times at midnight.
            column = replace(column, kind=column.kind if column.kind == second.column.kind else "time")
        elif (column.ordered or second.column.ordered) and column.levels != second.column.levels:
            raise ValueError(
                f"Column '{column.name}' of X has ordered categories that are not the same in all blocks of rows. Give all of "
                "them the same categories, in the same order."
            )
        else:
            frequencies = frequencies + second.frequencies
        return ColumnSummary(
            column,
            frequencies,
            self.n_rows + other.n_rows,
            self.n_present + other.n_present,
            self.is_flag and other.is_flag,
            max(self.largest, other.largest),
        )

    def described(self) -> Column:
        """Return the column of a model."""
        column, missing = self.column, self.n_present < self.n_rows
        if self.frequencies is None:
            check_largest(column.name, self.largest)
            is_flag = self.is_flag and column.kind == "number" and self.n_present > 0
            return replace(column, kind="flag" if is_flag else column.kind, missing=missing)
        if column.is_truth:
            return Column(column.name, (False, True), missing=missing)
        if self.frequencies.like_identifiers:
            return Column(column.name, (), missing=missing)
        return Column(column.name, self.frequencies.in_order, column.ordered, missing=missing)


def described(summaries: Iterable[ColumnSummary | str]) -> Columns:
    """Return the columns of a model from summaries or names."""
    found = [one if isinstance(one, str) else one.described() for one in summaries]
    if identifiers := [f"'{one.name}'" for one in found if isinstance(one, Column) and one.levels == ()]:
        warn_caller(
            f"Nothing is learned from {', '.join(identifiers)}: text that differs in nearly every row, like an identifier."
        )
    return Columns.of(found)


def check_sizes(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise for the first column of too large or small numbers."""
    if X.dtype == np.float32:
        return  # In single precision there are no such values.
    # The largest absolute value of each column, without a copy of X.
    largest = np.maximum(np.fmax.reduce(X, axis=0, initial=0.0), -np.fmin.reduce(X, axis=0, initial=0.0))
    for column in np.flatnonzero((largest > LARGEST_VALUE) | ((largest > 0.0) & (largest < SMALLEST_SIZE)))[:1]:
        check_largest(names[column], float(largest[column]))


def check_largest(name: str, largest: float) -> None:
    """Raise if the largest absolute value of a column is unusable."""
    check_size(np.array([largest]), f"Column '{name}' of X")
    if 0.0 < largest < SMALLEST_SIZE:
        raise ValueError(
            f"Column '{name}' of X has no value beyond {largest:g}, which is too small to compute with. Give it in a smaller "
            "unit, so that its numbers become larger."
        )


def check_size(values: NDArray[np.float64], what: str) -> None:
    """Raise if a value is too large to be learned from."""
    if (np.abs(values) > LARGEST_VALUE).any():
        raise ValueError(f"{what} has values beyond {LARGEST_VALUE:g}, which are too large to be squared and added.")
