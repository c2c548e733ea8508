"""Samples: distinct rows in an order of their own, some of them held out, or all of them assigned to folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.ends import EndsOfColumns
from obliquerules.rules.columns import Block, Range
from obliquerules.rules.ensemble import RuleEnsemble


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows with targets, weights and, if there are any, offsets.

    They are ordered by a hash of their content, of the rank of each value in its column.

    What is learned from it is the same to the last bit if a row of weight 2 is given twice instead, or rows change places.
    """

    X: Block
    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    key: NDArray[np.uint64]
    offset: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        X: Block,
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        offset: NDArray[np.float64] | None = None,
    ) -> Sample:
        """Leave out rows of weight zero, and add up the weights of equal rows.

        If all weights add up to less than the number of distinct rows, they are scaled so that they add up to that.
        """
        counted = np.flatnonzero(weight > 0.0)
        matrix, y, weight = X.matrix[counted], y[counted], weight[counted]
        beside = y if offset is None else np.column_stack([y, offset[counted]])
        key, first, position = np.unique(hash_rows(matrix, beside), return_index=True, return_inverse=True)
        # Summed in ascending order, the weights of equal rows have the same sum in whatever order the rows come.
        order = np.argsort(weight, kind="stable")
        total = np.bincount(position[order], weight[order]).astype(np.float64)
        # A distinct row was seen at least once: smaller weights, such as shares that add up to 1, must be relative.
        if 0.0 < (summed := float(np.add.reduce(total))) < len(total):
            total *= len(total) / summed
        given = None if offset is None else offset[counted][first]
        return cls(Block(X.columns, np.asfortranarray(matrix[first])), y[first], total, key, given)

    def scores(self, ensemble: RuleEnsemble) -> NDArray[np.float64]:
        """Return the scores of an ensemble, with the offset if there is one."""
        return ensemble(self.X, self.offset)

    def ranges(self, columns: Iterable[int]) -> tuple[Range, ...]:
        """Return the range of each column of numbers, but for the least and the greatest values that few rows have.

        Its ends are short decimals between two values, so that they are no value of a row. Too few rows have no ranges.
        """
        return EndsOfColumns.of(self.X, self.weight, columns).ranges()

    def hold_out(self, groups: NDArray[np.intp], fraction: float, seed: int) -> NDArray[np.bool_]:
        """Draw the given fraction of the rows of each group.

        Because equal rows are one, no row is ever judged by its own copy (a bootstrap sample is full of them).
        """
        held_out = np.zeros(len(self.key), dtype=np.bool_)
        for members in self._shuffled(groups, seed):
            held_out[members[: int(fraction * len(members))]] = True
        return held_out

    def folds(self, groups: NDArray[np.intp], n_folds: int, seed: int) -> NDArray[np.intp]:
        """Assign the rows of each group evenly to folds; return the fold of each row."""
        shuffled = np.concatenate(list(self._shuffled(groups, seed)))
        fold = np.empty(len(self.key), dtype=np.intp)
        fold[shuffled] = np.arange(len(self.key)) % n_folds
        return fold

    def _shuffled(self, groups: NDArray[np.intp], seed: int) -> Iterator[NDArray[np.intp]]:
        """Yield the rows of each group in an order that depends on their content and the seed."""
        lot = mixed(self.key ^ np.uint64(seed))
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            yield members[np.argsort(lot[members], kind="stable")]


def folds_of_groups(
    keys: NDArray[np.uint64], weight: NDArray[np.float64], groups: NDArray[np.intp], n_folds: int, seed: int
) -> NDArray[np.intp]:
    """Assign whole groups to folds of about the same weight; return the fold of each row.

    The order in which groups are assigned depends on the hashes of their rows and the seed, not on the numbers of groups.
    """
    content = [np.unique(keys[groups == group]).sum(dtype=np.uint64) for group in range(int(groups.max()) + 1)]
    mass, size = np.bincount(groups, weight), np.zeros(n_folds)
    fold = np.zeros(len(content), dtype=np.intp)
    for group in np.argsort(mixed(np.array(content, dtype=np.uint64) ^ np.uint64(seed)), kind="stable").tolist():
        fold[group] = size.argmin()
        size[fold[group]] += mass[group]
    return fold[groups]


def hash_rows(X: NDArray[np.float64], beside: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash the ranks of the values of each row, with one or more columns beside them.

    Ranks, so that the held-out rows do not depend on the unit of a column.
    """
    key = np.zeros(len(X), dtype=np.uint64)
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
