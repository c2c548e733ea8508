"""Sketches: some of many different rows, chosen by their content, whatever the order and the blocks in which they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.blocks import Part, Rows
from obliquerules.rows.sample import mixed
from obliquerules.rules.columns import Block

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stratum:
    """The rows of a stratum with the smallest hashes, each with the weight of all rows that are equal to it.

    A row that is among them in the end was so whenever it was met, so that none of its weight is lost.

    Attributes
    ----------
    key : array of shape (n_kept,)
        The hashes, in ascending order.
    rows : array of shape (n_kept, n_columns + 1 or more)
        Inputs, target and, if there is one, offset.
    weight : array of shape (n_kept,)
    total : float
        The weight of all rows of the stratum.
    """

    key: NDArray[np.uint64]
    rows: NDArray[np.float64]
    weight: Vector
    total: float

    @classmethod
    def of(cls, key: NDArray[np.uint64], rows: NDArray[np.float64], weight: Vector, most: int) -> Stratum:
        """Return at most so many of some rows."""
        distinct, first, place = np.unique(key, return_index=True, return_inverse=True)
        summed = np.bincount(place, weight, len(distinct)).astype(np.float64)
        kept = slice(most)
        return cls(distinct[kept], rows[first[kept]], summed[kept], float(np.add.reduce(weight)))

    def merged(self, other: Stratum, most: int) -> Stratum:
        """Return at most so many of the rows of both."""
        both = Stratum.of(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weight, other.weight]),
            most,
        )
        return replace(both, total=self.total + other.total)


@dataclass(frozen=True, eq=False)
class Sketch:
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
    def of(cls, part: Part, stratum: NDArray[np.intp], n_strata: int, most: int) -> Sketch:
        """Return rows of a block; rows of weight zero do not count."""
        offset = np.empty((len(part.y), 0)) if part.offset is None else part.offset.reshape(len(part.y), -1)
        # Adding zero makes both zeros the same to the last bit.
        rows = np.column_stack([part.X.matrix, part.y, offset]) + 0.0
        rows[np.isnan(rows)] = np.nan
        key = _content_key(rows)
        members = [np.flatnonzero((stratum == number) & (part.weight > 0.0)) for number in range(n_strata)]
        return cls(tuple(Stratum.of(key[at], rows[at], part.weight[at], most) for at in members), most)

    def __add__(self, other: Sketch) -> Sketch:
        pairs = zip(self.strata, other.strata, strict=True)
        return Sketch(tuple(one.merged(two, self.most) for one, two in pairs), self.most)

    def chosen(self) -> tuple[NDArray[np.float64], Vector]:
        """Return rows, at most as many as asked for in all, and their weights.

        Strata have equal numbers of rows, as far as they have so many, so that a rare class is as well known as another, and
        each has its share of the weight. The weights add up to what those of the chosen rows do.
        """
        sizes = shares([len(stratum.key) for stratum in self.strata], self.most)
        taken = [(one.rows[:size], one.weight[:size], one.total) for one, size in zip(self.strata, sizes, strict=True) if size]
        mass = [float(np.add.reduce(weight)) for _, weight, _ in taken]
        unit = sum(mass) / sum(total for _, _, total in taken)
        weights = [weight * (unit * total / own) for (_, weight, total), own in zip(taken, mass, strict=True)]
        return np.concatenate([rows for rows, _, _ in taken]), np.concatenate(weights)


def some_rows(rows: Rows, strata: Callable[[Vector], NDArray[np.intp]], n_strata: int, most: int) -> Part:
    """Return at most so many different rows, chosen by their content; ``strata`` says of targets in which stratum they are."""
    sketch = rows.fold(lambda part: Sketch.of(part, strata(part.y), n_strata, most))
    values, weight = sketch.chosen()
    n = values.shape[1] - 1 - rows.n_offsets
    offset = np.ascontiguousarray(values[:, n + 1 :]) if rows.n_offsets else None
    if rows.n_offsets == 1 and offset is not None:
        offset = offset[:, 0].copy()
    return Part(Block(rows.columns, np.asfortranarray(values[:, :n])), values[:, n].copy(), weight, offset)


def shares(sizes: Sequence[int], most: int) -> list[int]:
    """Return how many of each size to take so that they are as equal as possible and add up to at most ``most``.

    >>> shares([100, 3, 40], 30)
    [14, 3, 13]
    """
    left, taken = most, [0] * len(sizes)
    smallest_first = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for place, index in enumerate(smallest_first):
        taken[index] = min(sizes[index], left // (len(sizes) - place))
        left -= taken[index]
    return taken


def _content_key(rows: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash the values of each row."""
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        key = mixed(key ^ np.ascontiguousarray(column).view(np.uint64))
    return key
