"""Gaps: how far apart the projections of rows must be for a threshold between them, decided here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# By how much, relative to its terms, a projection may differ when another engine adds them in another order.
SAME_PROJECTION = 1e-9
# Terms count as at least this share of the lower quartile of all rows: smaller ones may be the rounding of a subtraction.
LEAST_SIZE = 1e-6

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Projections:
    """The sums x.w of rows, and how close a threshold may come to each of them.

    The rounding error of a sum depends on its own terms: outliers in other rows do not make it less exact.

    Attributes
    ----------
    values : array of shape (n_samples,)
    slack : array of shape (n_samples,)
        Half of 1e-9 of the sum of the absolute products weight * value, or of a millionth of the lower quartile of these sums
        over all rows if that is more.
    """

    values: Vector
    slack: Vector

    @classmethod
    def of(cls, values: Vector, X: NDArray[np.float64], columns: Sequence[int], weights: Sequence[float]) -> Projections:
        """Return projections with the slack that the rows of X have under these weights."""
        with np.errstate(over="ignore"):
            size = sum(abs(weight) * np.abs(X[:, column]) for column, weight in zip(columns, weights, strict=True))
        return cls(values, slack_of(np.asarray(size)))

    @classmethod
    def of_column(cls, values: Vector) -> Projections:
        """Return a single column, whose weight is one, as projections."""
        return cls(values, slack_of(np.abs(values)))

    def __getitem__(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Projections:
        return Projections(self.values[rows], self.slack[rows])


def slack_of(size: Vector) -> Vector:
    """Return how close a threshold may come to rows whose terms have these sizes; rows are the last axis."""
    if size.shape[-1] == 0:
        return size
    place = size.shape[-1] // 4
    # Missing values are sorted last; where the quartile is one of them, it sets no limit.
    quartile = np.partition(size, place, axis=-1)[..., place, None]
    return np.asarray(0.5 * SAME_PROJECTION * np.fmax(size, LEAST_SIZE * quartile))


def real_gaps(ascending: Vector, slack: Vector) -> NDArray[np.bool_]:
    """Say which gaps between neighbours are real: those whose middle is clear of all rows. Rows are the last axis."""
    middle = ascending[..., :-1] + 0.5 * np.diff(ascending, axis=-1)
    highest_below = np.maximum.accumulate(ascending + slack, axis=-1)[..., :-1]
    lowest_above = np.minimum.accumulate((ascending - slack)[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    return (highest_below < middle) & (middle < lowest_above)


def middle_half(projections: Projections, above: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the middle half of the gap between the rows above and those below; None if there is no real gap.

    The gap must be so wide that its middle half is twice as far from all rows as a threshold must be. Rows whose projection is
    missing or infinite are ignored.
    """
    finite = np.isfinite(projections.values)
    over, under = projections[finite & above], projections[finite & ~above]
    upper, lower = float(over.values.min(initial=math.inf)), float(under.values.max(initial=-math.inf))
    gap = upper - lower
    if not gap < math.inf:
        return None
    interval = lower + 0.25 * gap, upper - 0.25 * gap
    clear = (under.values + 2.0 * under.slack < interval[0]).all() and (over.values - 2.0 * over.slack > interval[1]).all()
    return interval if clear else None
