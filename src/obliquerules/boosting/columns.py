"""Sorted columns: the rows in the order of each column, sorted once, and the thresholds between their values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from obliquerules.kernels.axis_rules import DirectedObjective, best_cuts
from obliquerules.rules import Proposition
from obliquerules.rules.decimals.gaps import real_gaps, slack_of

Mask = NDArray[np.bool_]
Keys = NDArray[np.uint64]


class SortedColumns:
    """The values of each column in descending order, with the real gaps between neighbours.

    Rows between two gaps form a group, which no threshold splits; groups are numbered from the top. Columns without a gap are
    left out.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        In original units.
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.X = X
        descending = np.argsort(-X.T, axis=1, kind="stable")
        ordered = np.take_along_axis(X.T, descending, axis=1)
        ascending = ordered[:, ::-1]
        is_gap = real_gaps(ascending, slack_of(np.abs(ascending)))[:, ::-1]
        self.columns = np.flatnonzero(is_gap.any(axis=1))
        self.order = np.ascontiguousarray(descending[self.columns], dtype=np.intc)
        self.group = np.zeros(self.order.shape, dtype=np.intc)
        np.cumsum(is_gap[self.columns], axis=1, out=self.group[:, 1:])
        gaps = [np.flatnonzero(is_gap[column]) for column in self.columns]
        self.upper = [ordered[column, gap] for column, gap in zip(self.columns, gaps, strict=True)]
        self.lower = [ordered[column, gap + 1] for column, gap in zip(self.columns, gaps, strict=True)]
        # The sum of the keys of its rows identifies a set of rows; collisions are practically impossible.
        self.keys = np.random.default_rng(0).integers(0, 2**64, len(X), dtype=np.uint64)

    def keys_of(self, sets: Mask) -> Keys:
        """Return the keys of sets of rows, given as the columns of a matrix, and of their complements."""
        keys = np.array([np.add.reduce(self.keys[rows]) for rows in sets.T], dtype=np.uint64)
        return np.concatenate([keys, np.add.reduce(self.keys) - keys])

    def proposition(self, index: int, above: int, below: int, *, upper: bool) -> Proposition:
        """Return a condition that separates two groups of a column, with its threshold in the gap nearest to their middle."""
        lower, high = self.lower[index][above:below], self.upper[index][above:below]
        middles = lower + 0.5 * (high - lower)
        wanted = lower[-1] + 0.5 * (high[0] - lower[-1])
        sign = 1.0 if upper else -1.0
        threshold = float(middles[np.argmin(np.abs(middles - wanted))])
        return Proposition([int(self.columns[index])], [sign], sign * threshold)

    def best_splits(self, objective: DirectedObjective, covers: Mask, taken: Keys) -> Iterator[tuple[Proposition, Mask]]:
        """Yield for each column the condition with the largest objective among the given rows, the best column first.

        Conditions that cover a set of rows whose key is in ``taken`` are skipped.
        """
        values, groups, is_above = best_cuts(self.order, self.group, objective, covers.view(np.uint8), self.keys, taken)
        for index in np.argsort(-values, kind="stable"):
            if values[index] > 0.0:
                proposition = self.proposition(index, *groups[index], upper=bool(is_above[index]))
                yield proposition, proposition(self.X)
