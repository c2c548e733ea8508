"""The axis-parallel proposer: propositions on single columns that raise the objective most (TGB)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.data.level_sums import LevelSums, best_level_sets
from obliquerules.kernels.axis_rules import DirectedObjective, best_cuts
from obliquerules.learning.boosting.stage import View
from obliquerules.learning.boosting.workers import ALONE, Workers
from obliquerules.rules import Block, Membership, Proposition, Test
from obliquerules.rules.rounding.thresholds import real_gaps, slack_of
from obliquerules.rules.rule_parts import Summand

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Axis:
    """A column as it is sorted: with missing values below all others, or above them.

    Attributes
    ----------
    source : int or Membership
        A column of numbers, or a condition on levels, which is 0 or 1.
    missing : float or None
        The number that stands for a missing value; None if there is none.
    above : bool
        Whether that number is above all others.
    """

    source: Summand
    missing: float | None = None
    above: bool = False

    def test(self, lower: Vector, higher: Vector, *, upper: bool) -> Test:
        """Return the condition on the rows above or below a threshold in one of these gaps."""
        if isinstance(self.source, Membership):
            return self.source if upper else self.source.opposite()
        known = np.ones(len(lower), dtype=np.bool_)
        if self.missing is not None:
            known = (lower != self.missing) & (higher != self.missing)
            if not known.any():
                # Nothing but missing values on one side.
                return Membership(self.source, (), negated=upper != self.above, missing=upper == self.above)
        lower, higher = lower[known], higher[known]
        middles = lower + 0.5 * (higher - lower)
        wanted = lower[-1] + 0.5 * (higher[0] - lower[-1])
        sign = 1.0 if upper else -1.0
        threshold = float(middles[np.argmin(np.abs(middles - wanted))])
        return Proposition([self.source], [sign], sign * threshold, self.missing is not None and upper == self.above)


class SortedColumns:
    """The values of each column in descending order, with the real gaps between neighbours.

    Rows between two gaps form a group, which no threshold splits; groups are numbered from the top. Columns without a gap are
    left out. A column with missing values is there twice, with these rows at the bottom and at the top.

    Parameters
    ----------
    X : Block
        In original units.
    levels : sequence of Membership
        Conditions on levels that are sorted like columns of 0 and 1.
    """

    def __init__(self, X: Block, levels: Sequence[Membership] = ()) -> None:
        self.X = X
        axes, values = _axes(X, levels)
        descending = np.argsort(-values.T, axis=1, kind="stable")
        ordered = np.take_along_axis(values.T, descending, axis=1)
        ascending = ordered[:, ::-1]
        is_gap = real_gaps(ascending, slack_of(np.abs(ascending)))[:, ::-1]
        columns = np.flatnonzero(is_gap.any(axis=1))
        self.axes = [axes[column] for column in columns]
        self.order = np.ascontiguousarray(descending[columns], dtype=np.intc)
        self.group = np.zeros(self.order.shape, dtype=np.intc)
        np.cumsum(is_gap[columns], axis=1, out=self.group[:, 1:])
        gaps = [np.flatnonzero(is_gap[column]) for column in columns]
        self.upper = [ordered[column, gap] for column, gap in zip(columns, gaps, strict=True)]
        self.lower = [ordered[column, gap + 1] for column, gap in zip(columns, gaps, strict=True)]
        # The sum of the keys of its rows identifies a set of rows; collisions are practically impossible.
        self.keys = np.random.default_rng(0).integers(0, 2**64, len(X), dtype=np.uint64)

    def keys_of(self, sets: Mask) -> Keys:
        """Return the keys of sets of rows, a column each, and of their complements."""
        keys = np.array([np.add.reduce(self.keys[rows]) for rows in sets.T], dtype=np.uint64)
        return np.concatenate([keys, np.add.reduce(self.keys) - keys])

    def proposition(self, index: int, above: int, below: int, *, upper: bool) -> Test:
        """Return a condition that separates two groups, its threshold in the gap nearest to their middle."""
        test = self.axes[index].test(self.lower[index][above:below], self.upper[index][above:below], upper=upper)
        complete = not self.X.incomplete.intersection(test.used_columns)
        return test.with_missing(False) if complete else test

    def best_splits(
        self, objective: DirectedObjective, covers: Mask, taken: Keys, workers: Workers = ALONE
    ) -> Iterator[tuple[Test, Mask]]:
        """Yield for each column the condition with the largest objective, the best column first.

        Conditions that cover a set of rows whose key is in ``taken`` are skipped.
        """

        def cuts(some: slice) -> tuple[NDArray[Any], ...]:
            return best_cuts(self.order[some], self.group[some], objective, covers.view(np.uint8), self.keys, taken)

        found = workers.each(cuts, workers.shares(len(self.order)))
        values, groups, is_above = (np.concatenate(part) for part in zip(*found, strict=True))
        for index in np.argsort(-values, kind="stable"):
            if values[index] > 0.0:
                proposition = self.proposition(index, *groups[index], upper=bool(is_above[index]))
                yield proposition, proposition(self.X)


def _axes(X: Block, levels: Sequence[Membership]) -> tuple[list[Axis], NDArray[np.float64]]:
    """Return the columns to sort, and their values with a number for missing ones."""
    with_levels = set() if X.columns is None else set(X.columns.with_levels)
    if not with_levels and not X.incomplete and not levels:
        return [Axis(column) for column in range(X.n_columns)], X.matrix
    axes: list[Axis] = []
    values: list[Vector] = []
    for column in range(X.n_columns):
        if column in with_levels:
            continue
        numbers = X.matrix[:, column]
        if column not in X.incomplete:
            axes.append(Axis(column))
            values.append(numbers)
            continue
        low, high = float(np.fmin.reduce(numbers, initial=np.inf)), float(np.fmax.reduce(numbers, initial=-np.inf))
        # Beyond all present values; a column may have none.
        reach = max(1.0, high - low, abs(low), abs(high)) if low <= high else 1.0
        low, high = (low, high) if low <= high else (0.0, 0.0)
        for above, outside in ((False, low - reach), (True, high + reach)):
            axes.append(Axis(column, outside, above))
            values.append(np.where(np.isnan(numbers), outside, numbers))
    axes += [Axis(membership) for membership in levels]
    values += [membership(X).astype(np.float64) for membership in levels]
    return axes, np.asfortranarray(np.column_stack(values)) if values else np.empty((len(X), 0))


class AxisProposer:
    """Proposes for each column the threshold that raises the objective most, the best column first.

    The columns are sorted once; to propose then takes one pass over each of them.

    Parameters
    ----------
    columns : SortedColumns
    most : int or None
        The largest number of columns to propose; None for all. A selection by the objective needs only the best.
    levels : sequence of LevelSums
        The columns that have levels.
    """

    def __init__(self, columns: SortedColumns, most: int | None = None, levels: Sequence[LevelSums] = ()) -> None:
        self.columns = columns
        self.most = most
        self.levels = list(levels)

    def propose(self, stage: View, sign: float, rows: NDArray[np.intp]) -> Iterator[tuple[Test, NDArray[np.bool_]]]:
        """Yield the best proposition of each column with its rows, then the best sets of levels."""
        covers = np.zeros(len(stage.pattern), dtype=np.bool_)
        covers[rows] = True
        objective, taken = stage.objective.directed(sign), self.columns.keys_of(stage.fires)
        splits = self.columns.best_splits(objective, covers, taken, stage.problem.workers)
        yield from itertools.islice(splits, self.most)
        for membership in best_level_sets(self.levels, sign * stage.gradient, rows):
            yield membership, membership(self.columns.X)
