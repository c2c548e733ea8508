"""Subsample: rows chosen by content, whatever their order and blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.blocks import RowBlock, RowBlocks
from obliquerules.data.sample import mixed, sums
from obliquerules.rules.columns import Block
from obliquerules.rules.numbers import rounded_to

FACTOR_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Stratum:
    """The rows of a stratum with the smallest hashes.

    A row that is among them in the end was so whenever it was met, so that none of its weight is lost.

    Attributes
    ----------
    key : array of shape (n_kept,)
        The hashes, in ascending order.
    rows : array of shape (n_kept, n_columns + 1 or more)
        Inputs, target and, if there is one, offset.
    weight, frequency : array of shape (n_kept,)
    total : float
        The weight of all rows of the stratum.
    """

    key: NDArray[np.uint64]
    rows: NDArray[np.float64]
    weight: Vector
    frequency: Vector
    total: float

    @classmethod
    def of(cls, key: NDArray[np.uint64], rows: NDArray[np.float64], weight: Vector, frequency: Vector, most: int) -> Stratum:
        """Return the first ``most + 1`` rows: the last shows that more exist."""
        distinct, first, place = np.unique(key, return_index=True, return_inverse=True)
        summed, often = (sums(place, one, len(distinct)) for one in (weight, frequency))
        kept = slice(most + 1)
        return cls(distinct[kept], rows[first[kept]], summed[kept], often[kept], float(np.add.reduce(weight)))

    def merged(self, other: Stratum, most: int) -> Stratum:
        """Return the first ``most + 1`` rows of both."""
        # Once the sample is full, larger hashes cannot enter.
        end = np.searchsorted(other.key, self.key[-1], side="right") if len(self.key) > most else len(other.key)
        both = Stratum.of(
            np.concatenate([self.key, other.key[:end]]),
            np.concatenate([self.rows, other.rows[:end]]),
            np.concatenate([self.weight, other.weight[:end]]),
            np.concatenate([self.frequency, other.frequency[:end]]),
            most,
        )
        return replace(both, total=self.total + other.total)


@dataclass(frozen=True, eq=False)
class Subsample:
    """Rows of each stratum, such as a class, chosen by their hashes.

    Attributes
    ----------
    strata : tuple of Stratum
    most : int
        The largest number of rows of each.
    """

    strata: tuple[Stratum, ...]
    most: int

    @classmethod
    def of(cls, part: RowBlock, stratum: NDArray[np.intp], n_strata: int, most: int) -> Subsample:
        """Return rows of a block; rows of weight zero do not count."""
        offset = np.empty((len(part.y), 0)) if part.offset is None else part.offset.reshape(len(part.y), -1)
        rows = np.column_stack([part.X.matrix, part.y, offset]).astype(np.float64, copy=False)
        rows += 0.0  # turns -0.0 into 0.0
        rows[np.isnan(rows)] = np.nan
        key = np.zeros(len(rows), dtype=np.uint64)
        for column in rows.T:
            key = mixed(key ^ np.ascontiguousarray(column).view(np.uint64))
        members = [np.flatnonzero((stratum == number) & (part.weight > 0.0)) for number in range(n_strata)]
        frequency = part.weight if part.frequency is None else part.frequency
        return cls(tuple(Stratum.of(key[at], rows[at], part.weight[at], frequency[at], most) for at in members), most)

    def __add__(self, other: Subsample) -> Subsample:
        pairs = zip(self.strata, other.strata, strict=True)
        return Subsample(tuple(one.merged(two, self.most) for one, two in pairs), self.most)

    def chosen(self) -> tuple[NDArray[np.float64], Vector, Vector]:
        """Return chosen rows, their weights and their frequencies.

        Strata have equal numbers of rows, as far as they have them, so that a rare class is as well known as another, and
        each has its share of the weight. The weights add up to what those of the chosen rows do.
        """
        sizes = shares([len(stratum.key) for stratum in self.strata], self.most)
        taken = [(one, slice(size)) for one, size in zip(self.strata, sizes, strict=True) if size]
        mass = [float(np.add.reduce(one.weight[kept])) for one, kept in taken]
        unit = sum(mass) / sum(one.total for one, _ in taken)
        # Rounded factors do not depend on the order of summation.
        factors = [rounded_to(unit * one.total / own, FACTOR_DIGITS) for (one, _), own in zip(taken, mass, strict=True)]
        weights = [one.weight[kept] * factor for (one, kept), factor in zip(taken, factors, strict=True)]
        rows, frequencies = [one.rows[kept] for one, kept in taken], [one.frequency[kept] for one, kept in taken]
        return np.concatenate(rows), np.concatenate(weights), np.concatenate(frequencies)


def subsample(rows: RowBlocks, strata: Callable[[Vector], NDArray[np.intp]], n_strata: int, most: int) -> tuple[RowBlock, bool]:
    """Return at most ``most`` distinct rows, and whether that is all; ``strata`` is of targets."""
    found = rows.fold(lambda part: Subsample.of(part, strata(part.y), n_strata, most))
    values, weight, frequency = found.chosen()
    n = values.shape[1] - 1 - rows.n_offsets
    offset = np.ascontiguousarray(values[:, n + 1 :]) if rows.n_offsets else None
    if rows.n_offsets == 1 and offset is not None:
        offset = offset[:, 0].copy()
    part = RowBlock(Block(rows.columns, np.asfortranarray(values[:, :n])), values[:, n].copy(), weight, offset, frequency)
    return part, sum(len(stratum.key) for stratum in found.strata) <= most


def shares(sizes: Sequence[int], most: int) -> list[int]:
    """Return numbers as equal as possible within sizes and total.

    >>> shares([100, 3, 40], 30)
    [14, 3, 13]
    """
    left, taken = most, [0] * len(sizes)
    smallest_first = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for place, index in enumerate(smallest_first):
        taken[index] = min(sizes[index], left // (len(sizes) - place))
        left -= taken[index]
    return taken
