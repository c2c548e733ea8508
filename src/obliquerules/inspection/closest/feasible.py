"""Feasible changes: where a row may move, what prediction is the goal, and how far a row has moved."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector

# The words of a goal that leaves open which of many classes is predicted.
ANOTHER_CLASS = "another class"
# Distances that differ by less are the same: an absolute difference up to a distance of one, a relative one beyond.
SAME_DISTANCE = 1e-6


def same_distance(distance: float) -> float:
    """Return by how much another distance may differ from this one and still count as the same."""
    return SAME_DISTANCE * max(1.0, distance)


@dataclass(frozen=True)
class Goal:
    """The prediction that is wanted.

    Attributes
    ----------
    met : callable
        Takes an array of scores and says for each whether it gives this prediction. Must be monotone in the score. With many
        classes, the array has a column for each, and the answer must be monotone in every difference between the score of one
        class and that of another.
    direction : float
        1.0 if higher scores, or differences, are better, else -1.0.
    words : str
        The wanted prediction in words.
    of : int, optional
        With many classes, the one whose score is compared with those of the others.
    probability : float, optional
        With many classes, the probability of this one that is to be exceeded or, downward, not to be reached.
    """

    met: Callable[[Vector], NDArray[np.bool_]]
    direction: float
    words: str
    of: int | None = None
    probability: float | None = None

    def by(self, score: float) -> bool:
        """Say whether one score gives the prediction."""
        return bool(self.met(np.array([score]))[0])


@dataclass(frozen=True, eq=False)
class Feasible:
    """The region in which a row may move.

    Attributes
    ----------
    x : array of shape (n_features,)
        The row itself, as in a block: codes of levels, and NaN where a value is missing.
    lower, upper : array of shape (n_features,)
        The bounds of each variable; those of a fixed variable are both its value.
    unit : array of shape (n_features,)
        The standard deviation of each variable, positive where it may move.
    cost : array of shape (n_features,)
        The cost of a change by one unit, or to another level.
    whole : array of shape (n_features,)
        Which variables take whole numbers only; their values in x and their bounds are whole.
    choices : dict of int to tuple of float
        For columns with levels, the codes that they may take instead of their own.
    unknown : dict of int to float
        The columns of numbers whose value is missing in x and may become known, and the value from which its distance counts.
    start : float
        The distance of x itself: that of the values that have become known.
    """

    x: Vector
    lower: Vector
    upper: Vector
    unit: Vector
    cost: Vector
    whole: NDArray[np.bool_]
    choices: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    unknown: Mapping[int, float] = field(default_factory=dict)
    start: float = 0.0

    @property
    def free(self) -> NDArray[np.bool_]:
        """The columns of numbers that may change."""
        return (self.lower < self.upper) & ~np.isnan(self.x)

    def distances(self, rows: NDArray[np.float64]) -> Vector:
        """Return how far each row is from x."""
        steps = np.abs(rows - self.x)[:, self.free] / self.unit[self.free]
        total = self.start + np.asarray((steps * self.cost[self.free]).sum(axis=1), dtype=np.float64)
        for column in self.choices:
            total += self.cost[column] * ~_same(rows[:, column], self.x[column])
        return total

    def distance(self, row: Vector) -> float:
        """Return how far one row is from x."""
        return float(self.distances(row[None, :])[0])

    def moved(self, row: Vector) -> list[int]:
        """Return the columns in which a row differs from x."""
        return np.flatnonzero(~_same(row, self.x)).tolist()

    def nearest(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each row the nearest point of the region; what it may not be, or lacks, is as in x."""
        known = np.where(np.isnan(rows), self.x, rows)
        numbers = np.clip(np.where(self.whole, np.round(known), known), self.lower, self.upper)
        found = np.where(self.free, numbers, self.x)
        for column, codes in self.choices.items():
            found[:, column] = np.where(np.isin(rows[:, column], codes), rows[:, column], self.x[column])
        return found

    def with_known(self, columns: Iterable[int]) -> Feasible:
        """Return the region in which the missing values of some columns have become known, and those of no others can."""
        x, start = self.x.copy(), self.start
        for column in columns:
            x[column] = self.unknown[column]
            start += float(self.cost[column])
        return replace(self, x=x, unknown={}, start=start)

    def regions(self, used: Iterable[int]) -> list[Feasible]:
        """Return the regions with each choice of missing values that become known among the used columns, the closest first."""
        unknown = sorted(set(self.unknown) & set(used))
        choices = itertools.chain.from_iterable(itertools.combinations(unknown, size) for size in range(len(unknown) + 1))
        return sorted((self.with_known(columns) for columns in choices), key=lambda region: region.start)


def _same(values: Vector, others: Vector | float) -> NDArray[np.bool_]:
    """Say which values are equal, or both missing."""
    return np.asarray((values == others) | (np.isnan(values) & np.isnan(others)))
