"""Thresholds: placed in the middle of a real gap between the projections of rows, here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.kernels.sums import best_cut, neighbours
from obliquerules.rules.numbers import shortest_decimal, significant_digits

# By how much, relative to its summands, a projection may differ when another engine adds them in another order.
SAME_PROJECTION = 1e-9
# Terms count as at least this share of the lower quartile of all rows: smaller ones may be the rounding of a subtraction.
LEAST_SIZE = 1e-6


@dataclass(frozen=True, eq=False)
class Projections:
    """The sums x.w of rows, and how close a threshold may come to each of them.

    The rounding error of a sum depends on its own summands: outliers in other rows do not make it less exact. Most gaps are far
    wider than any rounding error, so that the slack is computed only where a bound on it does not decide.
    """

    values: Vector
    make_slack: Callable[[], Vector]
    most_slack: float = math.inf  # no slack exceeds this

    @classmethod
    def of(
        cls,
        values: Vector,
        summands: Sequence[Vector],
        weights: Sequence[float],
        largest: Sequence[float] | None = None,
    ) -> Projections:
        """Return projections with the slack that the summands of their sums have under these weights.

        ``largest`` has the largest absolute value of each of the summands, if that is known already.
        """
        return cls.of_sum(values, lambda: summands, weights, largest_of(summands) if largest is None else largest)

    @classmethod
    def of_sum(
        cls, values: Vector, summands: Callable[[], Sequence[Vector]], weights: Sequence[float], largest: Sequence[float]
    ) -> Projections:
        """Return projections as `of` does; ``summands`` is called only where the slack of each row is needed."""
        bound = sum(abs(weight) * size for weight, size in zip(weights, largest, strict=True))

        def slack() -> Vector:
            with np.errstate(over="ignore"):
                size = sum(abs(weight) * np.abs(values) for values, weight in zip(summands(), weights, strict=True))
            return slack_of(np.asarray(size))

        return cls(values, slack, 0.5 * SAME_PROJECTION * bound)

    @classmethod
    def of_column(cls, values: Vector) -> Projections:
        """Return a single column, whose weight is one, as projections."""
        return cls.of(values, (values,), (1.0,))

    @cached_property
    def slack(self) -> Vector:
        """Half of 1e-9 of the sum of the absolute products weight * value of each row.

        Or of a millionth of the lower quartile of these sums over all rows, if that is more.
        """
        return self.make_slack()

    def surely_apart(self, gap: float | Vector, share: float) -> bool | NDArray[np.bool_]:
        """Say whether the given share of a gap is twice as wide as any slack, whatever the slack is."""
        return share * gap > 2.0 * self.most_slack

    def __getitem__(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Projections:
        return Projections(self.values[rows], lambda: self.slack[rows], self.most_slack)


def largest_of(summands: Sequence[Vector]) -> list[float]:
    """Return the largest absolute value of each of the summands of a sum."""
    return [float(np.fmax.reduce(np.abs(values), initial=0.0)) for values in summands]


def slack_of(size: Vector) -> Vector:
    """Return how close a threshold may come to rows whose summands have these sizes; rows are the last axis."""
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
    if projections.surely_apart(gap, 0.125):
        return interval
    clear = (under.values + 2.0 * under.slack < interval[0]).all() and (over.values - 2.0 * over.slack > interval[1]).all()
    return interval if clear else None


def clear_threshold(projections: Projections, wanted: Sequence[float]) -> float | None:
    """Return the first of the thresholds that is clear of all rows or, if none is, a short one in a gap next to the first.

    Clear is more than twice the slack of a row away from it. The shortest number in the middle half of the gap below is taken,
    or of the one above if that is shorter; None if there is neither. Rows whose projection is missing are ignored.
    """
    if not wanted:
        return None
    for threshold in wanted:
        distance = np.abs(projections.values - threshold)
        sure = projections.surely_apart(float(np.fmin.reduce(distance, initial=math.inf)), 1.0)
        if sure or not (distance <= 2.0 * projections.slack).any():
            return threshold
    near = np.abs(projections.values - wanted[0]) <= 2.0 * projections.slack
    over = projections.values > wanted[0]
    gaps = (middle_half(projections, over | near), middle_half(projections, over & ~near))
    return min((shortest_decimal(*gap) for gap in gaps if gap is not None), key=significant_digits, default=None)


def middle_of_gap(projections: Projections, threshold: float) -> float | None:
    """Return the middle of the gap between projections in which the threshold lies or, if it lies in none, of the nearest gap.

    See `real_gaps` for what a gap is. Returns None if there is no gap, or if the condition would hold for all rows or for none.
    Rows whose projection is missing are ignored.
    """
    lower, upper = neighbours(projections.values, threshold)
    if not -math.inf < lower < upper < math.inf:
        return None
    middle = lower + 0.5 * (upper - lower)
    if projections.surely_apart(upper - lower, 0.5):
        return middle
    missing = np.isnan(projections.values)
    if missing.any():
        projections = projections[~missing]
    above = projections.values >= threshold
    over, under = projections[above], projections[~above]
    if (under.values + under.slack).max() < middle < (over.values - over.slack).min():
        return middle
    ordered = projections[np.argsort(projections.values, kind="stable")]
    gaps = np.flatnonzero(real_gaps(ordered.values, ordered.slack))
    if len(gaps) == 0:
        return None
    middles = ordered.values[gaps] + 0.5 * (ordered.values[gaps + 1] - ordered.values[gaps])
    return float(middles[np.argmin(np.abs(middles - threshold))])


def best_threshold(projections: Projections, pull: Vector) -> float | None:
    """Return the threshold with the largest sum of pull above; None if no cut has a positive sum."""
    # No cut lies between equal projections, so that their order does not matter.
    order = np.argsort(-projections.values)
    cut, total, is_clear = best_cut(projections.values, order, pull, 4.0 * projections.most_slack)
    if not is_clear:
        return Cuts.of(projections).best(pull)
    if not total > 0.0:
        return None
    upper, lower = projections.values[order[cut]], projections.values[order[cut + 1]]
    return float(lower + 0.5 * (upper - lower))


@dataclass(frozen=True, eq=False)
class Cuts:
    """Projections in descending order, with their rows, and where real gaps lie between neighbours."""

    order: NDArray[np.intp]
    values: Vector
    is_gap: NDArray[np.bool_]

    @classmethod
    def of(cls, projections: Projections) -> Cuts:
        """Return the cuts between projections without missing values."""
        order = np.argsort(-projections.values, kind="stable")
        descending = projections[order]
        width = descending.values[:-1] - descending.values[1:]
        apart = np.asarray(descending.surely_apart(width, 0.5))
        if not np.all(apart | (width == 0.0)):
            apart = real_gaps(descending.values[::-1], descending.slack[::-1])[::-1]
        return cls(order, descending.values, apart)

    def best(self, pull: Vector) -> float | None:
        """Return the threshold with the largest sum of pull above; None if no cut has a positive sum."""
        value = np.where(self.is_gap, np.cumsum(pull[self.order])[:-1], -np.inf)
        if value.size == 0:
            return None
        cut = int(value.argmax())
        upper, lower = self.values[cut], self.values[cut + 1]
        return float(lower + 0.5 * (upper - lower)) if value[cut] > 0.0 else None
