"""Disclosure control: published figures that do not tell rows of a group apart.

The table of groups is in the file as it is. Every other figure is published as a number and a distance: the figure lies within
that distance of the number. This stays true if one row takes over the values, but not the target, of another row of its group.
So for any set of rows that is smaller than a group, the file also fits other rows of which one more or one fewer is in the set,
and no combination of figures tells how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.losses import ClassLoss, Loss, area_under_curve
from obliquerules.rules.numbers import rounded_to

# A number, and how far the figure may be from it; zero if it follows from the table of groups.
Figure = tuple[float, float]

FIGURE_DIGITS = 4
SMALLEST = math.ulp(0.0)


@dataclass(frozen=True)
class Extent:
    """A figure and its range if one row is exchanged."""

    low: float
    value: float
    high: float

    def published(self, finest: float | None = None) -> Figure | None:
        """Return a rounded number and a distance that enclose the extent; None if it is not finite.

        The number is a multiple of a short step, and the distance is the step. No step is shorter than ``finest``, by default
        the last of four digits.

        >>> Extent(0.348, 0.35, 0.352).published(), Extent(0.33, 0.35, 0.367).published(), Extent(0.25, 0.25, 0.25).published()
        ((0.35, 0.005), (0.35, 0.05), (0.25, 0.0))
        """
        if not all(map(math.isfinite, (self.low, self.value, self.high, 2.0 * (self.high - self.low)))):
            return None
        shortest = last_place(self.value, FIGURE_DIGITS) if finest is None else finest
        if self.low == self.high:
            return _multiple(self.value, shortest), 0.0
        exponent = math.floor(math.log10(self.high - self.low))
        steps = (float(f"{digit}e{exponent}") for digit in (1, 2, 5, 10, 20))
        step = max(next(step for step in steps if step >= self.high - self.low), shortest)
        return _multiple(self.low + 0.5 * (self.high - self.low), step), step

    def rising(self, function: Callable[[float], float]) -> Extent:
        """Return the extent of a rising function of the figure."""
        return Extent(*map(function, (self.low, self.value, self.high)))

    def explained(self, least: Extent) -> Extent | None:
        """Return the share of another risk that is explained; None if that risk may be zero."""
        if least.low <= 0.0:
            return None
        return Extent(1.0 - self.high / least.low, 1.0 - self.value / least.value, 1.0 - self.low / least.high)


def last_place(value: float, digits: int) -> float:
    """Return the decimal place of the last significant digit."""
    return max(float(f"1e{math.floor(math.log10(abs(value))) - digits + 1}"), SMALLEST) if value else 10.0**-digits


def _multiple(value: float, step: float) -> float:
    """Return the multiple of a step nearest to a value."""
    return rounded_to(round(value / step) * step, 12)


@dataclass(frozen=True, eq=False)
class Exchange:
    """Rows in groups, within which one may take another's values.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The number of the group of each row.
    weight : array of shape (n_samples,)
    allowed : bool
        Whether rows are to be protected, so that their exchange is to leave figures true.
    """

    labels: NDArray[np.intp]
    weight: Vector
    allowed: bool = True

    def share(self, holds: NDArray[np.bool_]) -> Extent:
        """Return the share of the rows for which something holds."""
        return self._mean(holds.astype(np.float64))

    def group_means(self, values: Vector) -> list[Extent]:
        """Return the mean of each group."""
        total, (low, high) = np.bincount(self.labels, self.weight), self._ends(values)
        mean = np.bincount(self.labels, self.weight * values) / total
        down, up = (self._greatest(self.weight * room) / total for room in (values - low, high - values))
        return list(map(Extent, (mean - down).tolist(), mean.tolist(), (mean + up).tolist()))

    def risk(self, loss: Loss, y: Vector, score: Vector) -> Extent:
        """Return the mean loss."""
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(loss, ClassLoss):
                return self._mean(*self._by_class(y, lambda code: loss.value(np.full(len(y), float(code)), score)))
            low, high = self._ends(score)
            targets, position = np.unique(y, return_inverse=True)
            best = np.array([loss.link(float(target)) for target in targets])[position.ravel()]
            # The loss of a row is convex in its score: greatest at an end, and least where it is nearest to the best score.
            most = np.maximum(loss.value(y, low), loss.value(y, high))
            return self._mean(loss.value(y, score), (loss.value(y, np.clip(best, low, high)), most))

    def errors(self, loss: ClassLoss, y: Vector, score: Vector) -> Extent:
        """Return the share of misclassified rows."""
        return self._mean(*self._by_class(y, lambda code: loss.wrong(np.full(len(y), float(code)), score).astype(np.float64)))

    def area_under_curve(self, y: Vector, score: Vector) -> Extent | None:
        """Return the area under the ROC curve."""
        area = area_under_curve(y, score, self.weight)
        if area is None:
            return None
        position = np.unique(score, return_inverse=True)[1].ravel()
        positive, negative = (np.bincount(position, self.weight * share) for share in (y, 1.0 - y))
        below = (np.cumsum(negative) - 0.5 * negative)[position]
        above = (positive.sum() - np.cumsum(positive) + 0.5 * positive)[position]
        down, up = self._reach(*self._by_class(y, lambda code: below if code else above))
        pairs = float(positive.sum() * negative.sum())
        return Extent(area - down / pairs, area, area + up / pairs)

    def _by_class(self, y: Vector, values: Callable[[int], Vector]) -> tuple[Vector, tuple[Vector, Vector]]:
        """Return a value of each row by class, and its ends."""
        own, low, high = np.zeros((3, len(y)))
        for code in np.unique(y):
            rows, found = y == code, values(int(code))
            (own[rows], low[rows], high[rows]) = (each[rows] for each in (found, *self._ends(found)))
        return own, (low, high)

    def _mean(self, values: Vector, ends: tuple[Vector, Vector] | None = None) -> Extent:
        """Return the mean of values between two ends, by default the least and the greatest of the group of each row."""
        total, mean = float(self.weight.sum()), float(np.average(values, weights=self.weight))
        down, up = self._reach(values, self._ends(values) if ends is None else ends)
        return Extent(mean - down / total, mean, mean + up / total)

    def _ends(self, values: Vector) -> tuple[Vector, Vector]:
        """Return the extremes of the group of each row."""
        if not self.allowed:
            return values, values
        return -self._greatest(-values)[self.labels], self._greatest(values)[self.labels]

    def _greatest(self, values: Vector) -> Vector:
        """Return the greatest value of each group."""
        greatest = np.full(int(self.labels.max()) + 1, -np.inf)
        np.maximum.at(greatest, self.labels, values)
        return greatest

    def _reach(self, values: Vector, ends: tuple[Vector, Vector]) -> tuple[float, float]:
        """Return how far one exchange may move a weighted sum, down and up."""
        low, high = ends
        return float(np.max(self.weight * (values - low))), float(np.max(self.weight * (high - values)))
