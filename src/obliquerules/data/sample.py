"""Samples: distinct rows with weights, held out or dealt into folds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.data.typical_ranges import TypicalRanges
from obliquerules.rules.columns import Block, Range
from obliquerules.rules.ensemble import RuleEnsemble

# Beyond this number of observations, several equal ones form a unit.
MOST_UNITS = 1_000_000


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of the distinct rows of a sample, numbered by content.

    Equal rows may belong to several groups.

    Attributes
    ----------
    row, group : array of shape (n_entries,)
        The row and the group of each entry, ordered by group and row.
    weight : array of shape (n_entries,)
        The weight that the row has in the group.
    key, label : array of shape (n_groups,)
        A hash of the content of each group, in ascending order, and its label.
    """

    row: Positions
    group: Positions
    weight: Vector
    key: NDArray[np.uint64]
    label: Positions

    @classmethod
    def of(cls, label: Positions, row: Positions, weight: Vector, key: NDArray[np.uint64]) -> Groups:
        """Return the groups of rows from labels, distinct rows, weights and hashes."""
        pair, position = np.unique(np.column_stack([label, row]), axis=0, return_inverse=True)
        labels, group = np.unique(pair[:, 0], return_inverse=True)
        row, weight = pair[:, 1], sums(position.ravel(), weight, len(pair))
        # Unsigned sums wrap around, so that the order of rows does not count.
        content = np.add.reduceat(mixed(key[row] ^ weight.view(np.uint64)), np.unique(group, return_index=True)[1])
        # Groups with the same hash have the same rows, so that their order does not count.
        by_content = np.argsort(content, kind="stable")
        place = np.argsort(by_content)[group]
        order = np.lexsort([row, place])
        return cls(row[order], place[order], weight[order], content[by_content], labels[by_content])

    def folds(self, n_folds: int, seed: int) -> Positions:
        """Return the fold of each label: whole groups, folds of equal weight."""
        mass, size = np.bincount(self.group, self.weight), np.zeros(n_folds)
        fold = np.full(int(self.label.max()) + 1, -1, dtype=np.intp)
        for group in np.argsort(mixed(self.key ^ np.uint64(seed)), kind="stable").tolist():
            fold[self.label[group]] = size.argmin()
            size[fold[self.label[group]]] += mass[group]
        return fold


@dataclass(frozen=True, eq=False)
class ResamplingUnits:
    """Observations, or groups, to hold out or deal into folds.

    Attributes
    ----------
    row, unit : array of shape (n_entries,)
        The distinct row and the unit of each entry.
    share : array of shape (n_entries,)
        The share of the weight of the row.
    key : array of shape (n_units,)
        A hash of the content of each unit.
    """

    row: Positions
    unit: Positions
    share: Vector
    key: NDArray[np.uint64]

    @classmethod
    def of_frequencies(cls, frequency: Vector, key: NDArray[np.uint64]) -> ResamplingUnits:
        """Return units of one observation, and a remainder for each row."""
        size = max(1.0, float(np.add.reduce(frequency)) / MOST_UNITS)
        whole = np.floor(frequency / size).astype(np.intp)
        number = whole + (whole * size < frequency)
        row = np.repeat(np.arange(len(key), dtype=np.intp), number)
        copy = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        amount = np.where(copy < whole[row], size, (frequency - whole * size)[row])
        # The first unit keeps the hash of its row when a copy is added.
        copies = mixed(key[row] ^ copy.astype(np.uint64))
        return cls(row, np.arange(len(row), dtype=np.intp), amount / frequency[row], np.where(copy == 0, key[row], copies))

    def strata(self, of_rows: Positions) -> Positions:
        """Return the stratum of each unit; mixed units have their own."""
        first, last = np.full(len(self.key), len(of_rows)), np.full(len(self.key), -1)
        np.minimum.at(first, self.unit, of_rows[self.row])
        np.maximum.at(last, self.unit, of_rows[self.row])
        return np.where(first == last, first, int(of_rows.max()) + 1)

    def shuffled(self, strata: Positions, seed: int) -> Iterator[Positions]:
        """Yield the units of each stratum, shuffled by content and seed."""
        lot = mixed(self.key ^ np.uint64(seed))
        for stratum in np.unique(strata):
            members = np.flatnonzero(strata == stratum)
            yield members[np.argsort(lot[members], kind="stable")]

    def folds(self, strata: Positions, n_folds: int, seed: int) -> Positions:
        """Return the fold of each unit, dealt evenly within strata."""
        fold = np.empty(len(self.key), dtype=np.intp)
        fold[np.concatenate(list(self.shuffled(strata, seed)))] = np.arange(len(self.key)) % n_folds
        return fold

    def shares(self, chosen: Mask, n_rows: int) -> Vector:
        """Return the share of each row in chosen units, exactly 0 or 1 for none or all."""
        mine = chosen[self.unit]
        share = np.bincount(self.row[mine], self.share[mine], n_rows)
        return np.where(np.bincount(self.row[~mine], minlength=n_rows) > 0, share, 1.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows with targets, weights and offsets, in hashed order.

    What is learned is the same to the last bit if a row of weight 2 is given twice instead, or rows change places.

    Attributes
    ----------
    X : Block
    y, weight : array of shape (n_rows,)
    key : array of shape (n_rows,)
        The hashes, in ascending order.
    frequency : array of shape (n_rows,)
        How many observations each row stands for: its weight without what exposures, offsets and classes make of it.
    offset : array of shape (n_rows,) or (n_rows, n_classes), or None
    groups : Groups or None
        Which observations belong together; None if all of them are independent.
    """

    X: Block
    y: Vector
    weight: Vector
    key: NDArray[np.uint64]
    frequency: Vector
    offset: Vector | None = None
    groups: Groups | None = None

    @classmethod
    def of(
        cls,
        X: Block,
        y: Vector,
        weight: Vector,
        offset: Vector | None = None,
        *,
        frequency: Vector | None = None,
        groups: Positions | None = None,
    ) -> Sample:
        """Return distinct rows with weight, and the sums of weights.

        If all weights add up to less than the number of distinct rows, they are scaled so that they add up to that. Without
        frequencies, they are the weights.
        """
        counted = np.flatnonzero(weight > 0.0)
        matrix, y, weight = X.matrix[counted], y[counted], weight[counted]
        beside = y if offset is None else np.column_stack([y, offset[counted]])
        key, first, position = np.unique(hash_rows(matrix, beside), return_index=True, return_inverse=True)
        total = sums(position, weight, len(key))
        unit = _unit(total)
        often = total if frequency is None else sums(position, frequency[counted], len(key))
        given = None if offset is None else offset[counted][first]
        grouped = None if groups is None else Groups.of(groups[counted], position, weight * unit, key)
        block = Block(X.columns, np.asfortranarray(matrix[first]))
        return cls(block, y[first], total * unit, key, often * _unit(often), given, grouped)

    @cached_property
    def units(self) -> ResamplingUnits:
        """The observations or, if there are groups, the groups."""
        if self.groups is None:
            return ResamplingUnits.of_frequencies(self.frequency, self.key)
        row = self.groups.row
        return ResamplingUnits(row, self.groups.group, self.groups.weight / self.weight[row], self.groups.key)

    def scores(self, ensemble: RuleEnsemble) -> Vector:
        """Return the scores of an ensemble, with the offset if there is one."""
        return ensemble(self.X, self.offset)

    def ranges(self, columns: Iterable[int]) -> tuple[Range, ...]:
        """Return the typical range of each column of numbers."""
        return TypicalRanges.of(self.X, self.weight, columns).ranges()

    def hold_out(self, strata: Positions, fraction: float, seed: int) -> tuple[Sample, Mask]:
        """Return the sample with a fraction of each stratum held out.

        The second array says which rows are held out. A row of which a part is held out becomes two.
        """
        drawn = np.zeros(len(self.units.key), dtype=np.bool_)
        for members in self.units.shuffled(self.units.strata(strata), seed):
            drawn[members[: int(fraction * len(members))]] = True
        share = self.units.shares(drawn, len(self.key))
        parted = np.flatnonzero((share > 0.0) & (share < 1.0))
        rows = np.append(np.arange(len(self.key)), parted)
        kept = np.append(np.where(share == 1.0, 1.0, 1.0 - share), share[parted])
        held_out = np.append(share == 1.0, np.ones(len(parted), dtype=np.bool_))
        if len(parted) == 0:
            return self, held_out
        offset = None if self.offset is None else self.offset[rows]
        block = Block(self.X.columns, np.asfortranarray(self.X.matrix[rows]))
        weight, frequency = self.weight[rows] * kept, self.frequency[rows] * kept
        return Sample(block, self.y[rows], weight, self.key[rows], frequency, offset), held_out


def sums(place: Positions, weight: Vector, size: int) -> Vector:
    """Return the sum of weights at each place.

    Weights are added in ascending order and in two parts; the larger part is exact. So the order of rows does not matter, nor
    whether a row is given twice, except with weights of very different sizes.
    """
    order = np.argsort(weight, kind="stable")
    place, weight = place[order], weight[order]
    total = float(np.add.reduce(weight))
    if not 0.0 < total < math.inf:
        return np.bincount(place, weight, size).astype(np.float64)
    unit = math.ldexp(1.0, max(math.frexp(total)[1] - 52, -1022))
    whole = np.rint(weight / unit) * unit
    return np.asarray(np.bincount(place, whole, size) + np.bincount(place, weight - whole, size))


def _unit(total: Vector) -> float:
    """Return the factor with which weights count distinct rows once or more."""
    return max(1.0, len(total) / summed) if (summed := float(np.add.reduce(total))) > 0.0 else 1.0


def hash_rows(X: Vector, beside: Vector) -> NDArray[np.uint64]:
    """Hash the values of each row, with one or more columns beside them."""
    key = np.zeros(len(X), dtype=np.uint64)
    # Ranks, so that held-out rows do not depend on the unit of a column.
    for column in (*X.T, *np.atleast_2d(beside.T)):
        rank = np.unique(column, return_inverse=True)[1]
        key = mixed(key ^ rank.astype(np.uint64))
    return key


def mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit numbers: one step of the SplitMix64 generator."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
