"""Typical ranges: where the values of a column lie, but for a few."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block, Range
from obliquerules.rules.numbers import shortest_decimal

# This many rows, by weight, may lie beyond the range of a column at either end; with fewer than this many times as many rows,
# there is no range.
BEYOND_RANGE = 4.0
FEWEST_TIMES = 5.0
# Number of values at one end that usually suffice.
NEAREST = 64


@dataclass(frozen=True, eq=False)
class Tail:
    """The values at one end, until their weight exceeds `BEYOND_RANGE`.

    Values at the upper end are negative: they ascend from the end, too.
    """

    values: Vector
    weight: Vector

    @classmethod
    def of(cls, values: Vector, weight: Vector) -> Tail:
        """Return the least values, none of them missing."""
        if len(values) > NEAREST:
            near = values <= np.partition(values, NEAREST)[NEAREST]
            if float(np.add.reduce(weight[near])) > BEYOND_RANGE:
                values, weight = values[near], weight[near]
        values, place = np.unique(values, return_inverse=True)
        weight = np.bincount(place, weight, len(values)).astype(np.float64)
        kept = slice(int(np.searchsorted(np.cumsum(weight), BEYOND_RANGE, side="right")) + 1)
        return cls(values[kept], weight[kept])

    def __add__(self, other: Tail) -> Tail:
        return Tail.of(np.concatenate([self.values, other.values]), np.concatenate([self.weight, other.weight]))

    @property
    def gap(self) -> tuple[float, float]:
        """The last value beyond the range, and the first within."""
        return float(self.values[max(len(self.values) - 2, 0)]), float(self.values[-1])


@dataclass(frozen=True, eq=False)
class ColumnTails:
    """Both ends of a column, and the weight of its values."""

    low: Tail
    high: Tail
    total: float

    @classmethod
    def of(cls, values: Vector, weight: Vector) -> ColumnTails:
        """Return the ends of the present values with weight."""
        counted = ~np.isnan(values) & (weight > 0.0)
        values, weight = values[counted], weight[counted]
        return cls(Tail.of(values, weight), Tail.of(-values, weight), float(np.add.reduce(weight)))

    def __add__(self, other: ColumnTails) -> ColumnTails:
        return ColumnTails(self.low + other.low, self.high + other.high, self.total + other.total)

    @property
    def range(self) -> tuple[float, float] | None:
        """Short decimals between two values, None with too few rows."""
        if self.total < FEWEST_TIMES * BEYOND_RANGE:
            return None
        (beyond, least), (above, most) = self.low.gap, self.high.gap
        return shortest_decimal(beyond, least), shortest_decimal(-most, -above)


@dataclass(frozen=True, eq=False)
class TypicalRanges:
    """The ends of those of some columns that hold numbers.

    Attributes
    ----------
    ends : dict of int to ColumnTails
        By the position of the column.
    """

    ends: dict[int, ColumnTails]

    @classmethod
    def of(cls, X: Block, weight: Vector, columns: Iterable[int]) -> TypicalRanges:
        """Return the ends on some rows."""
        numbers = [column for column in columns if X.column(column).levels is None]
        return cls({column: ColumnTails.of(X.matrix[:, column], weight) for column in numbers})

    def __add__(self, other: TypicalRanges) -> TypicalRanges:
        return TypicalRanges({column: one + other.ends[column] for column, one in self.ends.items()})

    def ranges(self) -> tuple[Range, ...]:
        """Return the ranges of the columns; those with too few values have none."""
        found = ((column, one.range) for column, one in self.ends.items())
        return tuple(Range(column, *both) for column, both in found if both is not None)
