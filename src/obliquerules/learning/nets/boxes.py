"""Boxes: an OR of conjunctions on binarised columns, written as intervals of levels without redundant ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Matrix, Positions, Vector, weighted_quantiles
from obliquerules.rules import Conjunction, Proposition
from obliquerules.rules.numbers import shortest_decimal
from obliquerules.rules.rounding.thresholds import Projections, middle_half


@dataclass(frozen=True, eq=False)
class Binarisation:
    """Questions ``x <= t``, sorted by column and within a column by threshold.

    Attributes
    ----------
    columns : array of shape (n_inputs,)
    thresholds : array of shape (n_inputs,)
        Each the shortest decimal in the middle half of the gap between the nearest rows on either side.
    """

    columns: Positions
    thresholds: Vector

    def __len__(self) -> int:
        return len(self.columns)

    def __call__(self, X: Matrix) -> Mask:
        """Return the answers, shape (n_samples, n_inputs)."""
        return X[:, self.columns] <= self.thresholds


def binarise(X: Matrix, weight: Vector, n_thresholds: int) -> Binarisation:
    """Choose thresholds between all values of each column or, of many, at quantiles."""
    columns, thresholds, size = [], [], float(np.add.reduce(weight))
    # A value of weight 2 counts as two rows.
    shares = np.arange(1, n_thresholds + 1) / (n_thresholds + 1) * (size - 1.0) / size
    for column, numbers in enumerate(X.T):
        values = np.unique(numbers)
        places = np.arange(len(values) - 1)
        if len(places) > n_thresholds:
            below = np.unique(np.searchsorted(values, weighted_quantiles(numbers, weight, shares, "right")))
            places = below[below < len(values) - 1]
        projections = Projections.of_column(values)
        for index in places:
            gap = middle_half(projections, np.arange(len(values)) > index)
            if gap is not None:  # values that are the same but for rounding cannot be told apart
                columns.append(column)
                thresholds.append(shortest_decimal(*gap))
    return Binarisation(np.array(columns, dtype=np.intp), np.array(thresholds, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes, each of which contains the rows with ``lower < level <= upper`` in every column.

    The level of a row in a column is the number of thresholds below its value. A bound beyond all levels does not restrict.

    Bounds have shape (n_boxes, n_columns); ``highest`` is the highest level of each column.
    """

    lower: Positions
    upper: Positions
    highest: Positions

    @classmethod
    def of(cls, signs: NDArray[np.int8], binarisation: Binarisation, n_columns: int) -> Boxes:
        """Merge the conditions on each column, and leave out empty boxes."""
        columns = binarisation.columns
        highest = np.bincount(columns, minlength=n_columns)
        place = np.arange(len(columns)) - np.searchsorted(columns, columns)
        lower = np.full((len(signs), n_columns), -1)
        upper = np.tile(highest, (len(signs), 1))
        for box, row in enumerate(signs):
            np.maximum.at(lower[box], columns[row < 0], place[row < 0])
            np.minimum.at(upper[box], columns[row > 0], place[row > 0])
        possible = (lower < upper).all(axis=1)
        return cls(lower[possible], upper[possible], highest)

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def asked(self) -> Mask:
        """Which bounds restrict, first the lower and then the upper ones, shape (n_boxes, 2 n_columns)."""
        return np.hstack([self.lower >= 0, self.upper < self.highest])

    def unmet(self, box: int, levels: Positions) -> Mask:
        """Return which bounds of a box each row violates, shape (n_samples, 2 n_columns)."""
        return np.hstack([levels <= self.lower[box], levels > self.upper[box]])

    def fires(self, levels: Positions) -> Mask:
        """Return which boxes contain each row, shape (n_samples, n_boxes)."""
        inside = [~self.unmet(box, levels).any(axis=1) for box in range(len(self))]
        return np.column_stack(inside) if inside else np.zeros((len(levels), 0), dtype=np.bool_)

    def conjunctions(self, binarisation: Binarisation) -> Iterator[Conjunction]:
        """Yield each box as a condition in original units."""
        first = np.searchsorted(binarisation.columns, np.arange(len(self.highest)))
        for lower, upper in zip(first + self.lower, first + self.upper, strict=True):
            propositions = []
            for column, (below, above) in enumerate(zip(lower, upper, strict=True)):
                if below >= first[column]:
                    propositions.append(Proposition([column], [1.0], binarisation.thresholds[below]))
                if above < first[column] + self.highest[column]:
                    propositions.append(Proposition([column], [-1.0], -binarisation.thresholds[above]))
            yield Conjunction(propositions)

    def without(self, box: int) -> Boxes:
        """Return the other boxes."""
        return Boxes(np.delete(self.lower, box, axis=0), np.delete(self.upper, box, axis=0), self.highest)

    def without_bound(self, box: int, bound: int) -> Boxes:
        """Return the boxes with one bound fewer, numbered as in `asked`."""
        lower, upper = self.lower.copy(), self.upper.copy()
        column = bound % len(self.highest)
        if bound < len(self.highest):
            lower[box, column] = -1
        else:
            upper[box, column] = self.highest[column]
        return Boxes(lower, upper, self.highest)


def levels_of(X: Matrix, binarisation: Binarisation) -> Positions:
    """Return the level of each row in each column."""
    levels = np.zeros(X.shape, dtype=np.intp)
    for column, threshold in zip(binarisation.columns, binarisation.thresholds, strict=True):
        levels[:, column] += X[:, column] > threshold
    return levels


def shortest(boxes: Boxes, levels: Positions) -> Boxes:
    """Drop redundant boxes and bounds, one at a time: every row stays inside some box or outside all of them.

    Boxes go first, those with the most bounds before others. Then bounds go, each time the one whose removal brings the fewest
    rows into its box.
    """
    while True:
        fires = boxes.fires(levels)
        needed = fires[np.count_nonzero(fires, axis=1) == 1].any(axis=0)
        if not needed.all():
            boxes = boxes.without(int(np.where(needed, -1, boxes.asked.sum(axis=1)).argmax()))
            continue
        found = _idle_bound(boxes, levels, np.asarray(fires.any(axis=1)))
        if found is None:
            return boxes
        boxes = boxes.without_bound(*found)


def _idle_bound(boxes: Boxes, levels: Positions, inside: Mask) -> tuple[int, int] | None:
    """Return the box and place of the bound that keeps the fewest rows out, all of them inside other boxes."""
    never = len(levels) + 1
    fewest, found = never, None
    for box, asked in enumerate(boxes.asked):
        unmet = boxes.unmet(box, levels)
        by_one_bound = np.count_nonzero(unmet, axis=1) == 1
        keeps_out = unmet[by_one_bound & ~inside].any(axis=0)
        gained = np.where(asked & ~keeps_out, np.count_nonzero(unmet[by_one_bound], axis=0), never)
        if (least := int(gained.min())) < fewest:
            fewest, found = least, (box, int(gained.argmin()))
    return found
