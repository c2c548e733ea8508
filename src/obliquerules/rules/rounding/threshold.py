"""Thresholds: the one place where they are set, always in the middle of a real gap between projections."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.kernels.sums import best_cut, neighbours
from obliquerules.rules.rounding.gaps import Projections, real_gaps


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
    return _nearest_middle(projections, threshold)


def _nearest_middle(projections: Projections, threshold: float) -> float | None:
    ordered = projections[np.argsort(projections.values, kind="stable")]
    gaps = np.flatnonzero(real_gaps(ordered.values, ordered.slack))
    if len(gaps) == 0:
        return None
    middles = ordered.values[gaps] + 0.5 * (ordered.values[gaps + 1] - ordered.values[gaps])
    return float(middles[np.argmin(np.abs(middles - threshold))])


def best_threshold(projections: Projections, pull: Vector) -> float | None:
    """Return the threshold with the largest sum of pull above.

    None if no cut has a positive sum.
    """
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
    """Projections in descending order, and the gaps between them.

    Attributes
    ----------
    order : array of shape (n_rows,)
        The rows in descending order.
    values : array of shape (n_rows,)
        Their projections.
    is_gap : array of shape (n_rows - 1,)
    """

    order: NDArray[np.intp]
    values: Vector
    is_gap: NDArray[np.bool_]

    @classmethod
    def of(cls, projections: Projections) -> Cuts:
        """Return the cuts between projections, none of which is missing."""
        order = np.argsort(-projections.values, kind="stable")
        descending = projections[order]
        return cls(order, descending.values, _gaps_below(descending))

    def best(self, pull: Vector) -> float | None:
        """Return the threshold with the largest sum of pull above.

        None if no cut has a positive sum.
        """
        value = np.where(self.is_gap, np.cumsum(pull[self.order])[:-1], -np.inf)
        if value.size == 0:
            return None
        cut = int(value.argmax())
        upper, lower = self.values[cut], self.values[cut + 1]
        return float(lower + 0.5 * (upper - lower)) if value[cut] > 0.0 else None


def _gaps_below(descending: Projections) -> NDArray[np.bool_]:
    """Say for each row but the last, in descending order, whether a real gap lies below it."""
    width = descending.values[:-1] - descending.values[1:]
    apart = descending.surely_apart(width, 0.5)
    if np.all(apart | (width == 0.0)):
        return np.asarray(apart)
    return real_gaps(descending.values[::-1], descending.slack[::-1])[::-1]
