"""The axis-parallel proposer: propositions on single columns that raise the objective most (TGB)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from obliquerules.data.level_sums import LevelSums, best_level_sets
from obliquerules.learning.boosting.problem import View
from obliquerules.learning.boosting.sorted_columns import SortedColumns
from obliquerules.rules import Test


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
        """Yield the best proposition of each column, with the rows on which it holds, and the best sets of levels."""
        covers = np.zeros(len(stage.pattern), dtype=np.bool_)
        covers[rows] = True
        objective, taken = stage.objective.directed(sign), self.columns.keys_of(stage.fires)
        splits = self.columns.best_splits(objective, covers, taken, stage.problem.workers)
        yield from itertools.islice(splits, self.most)
        for membership in best_level_sets(self.levels, sign * stage.gradient, rows):
            yield membership, membership(self.columns.X)
