"""Thresholds: the one place where they are set, always in the middle of a real gap between projections."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules.decimals.gaps import Projections, real_gaps


def middle_of_gap(projections: Projections, threshold: float) -> float | None:
    """Return the middle of the gap between projections in which the threshold lies or, if it lies in none, of the nearest gap.

    See `real_gaps` for what a gap is. Returns None if there is no gap, or if the condition would hold for all rows or for none.
    Rows whose projection is missing are ignored.
    """
    missing = np.isnan(projections.values)
    if missing.any():
        projections = projections[~missing]
    above = projections.values >= threshold
    if above.all() or not above.any():
        return None
    over, under = projections[above], projections[~above]
    lower, upper = float(under.values.max()), float(over.values.min())
    middle = lower + 0.5 * (upper - lower)
    if projections.surely_apart(upper - lower, 0.5):
        return middle
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


def best_threshold(projections: Projections, pull: NDArray[np.float64]) -> float | None:
    """Return the threshold above which the sum of pull is largest; None if no cut has a positive sum."""
    order = np.argsort(-projections.values, kind="stable")
    ordered = projections[order]
    above = np.cumsum(pull[order])[:-1]
    is_gap = _gaps_below(ordered)
    value = np.where(is_gap, above, -np.inf)
    if value.size == 0:
        return None
    cut = int(value.argmax())
    upper, lower = ordered.values[cut], ordered.values[cut + 1]
    return float(lower + 0.5 * (upper - lower)) if value[cut] > 0.0 else None


def _gaps_below(descending: Projections) -> NDArray[np.bool_]:
    """Say for each row but the last, in descending order, whether a real gap lies below it."""
    width = descending.values[:-1] - descending.values[1:]
    apart = descending.surely_apart(width, 0.5)
    if np.all(apart | (width == 0.0)):
        return np.asarray(apart)
    return real_gaps(descending.values[::-1], descending.slack[::-1])[::-1]
