"""Thresholds: the one place where they are set, always in the middle of a real gap between projections."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules.shortening import SAME_PROJECTION


def middle_of_gap(projections: NDArray[np.float64], threshold: float) -> float | None:
    """Return the middle of the gap between projections in which the threshold lies, or of the nearest one if it lies in none.

    A gap is wider than 1e-9 of the largest projection. None if there is no gap, or the threshold lies outside the data, so
    that the condition would hold for all rows or for none.
    """
    above = projections >= threshold
    if above.all() or not above.any():
        return None
    least = SAME_PROJECTION * float(np.abs(projections).max())
    lower = float(projections[~above].max())
    upper = float(projections[above].min())
    if upper - lower > least:
        return lower + 0.5 * (upper - lower)
    ordered = np.sort(projections)
    gaps = np.flatnonzero(np.diff(ordered) > least)
    if len(gaps) == 0:
        return None
    middles = ordered[gaps] + 0.5 * (ordered[gaps + 1] - ordered[gaps])
    return float(middles[np.argmin(np.abs(middles - threshold))])


def best_threshold(projections: NDArray[np.float64], pull: NDArray[np.float64]) -> float | None:
    """Return the threshold above which the sum of pull is largest; None if no cut has a positive sum."""
    order = np.argsort(-projections, kind="stable")
    ordered = projections[order]
    above = np.cumsum(pull[order])[:-1]
    is_gap = ordered[:-1] - ordered[1:] > SAME_PROJECTION * np.abs(ordered).max(initial=0.0)
    value = np.where(is_gap, above, -np.inf)
    if value.size == 0:
        return None
    cut = int(value.argmax())
    return float(ordered[cut + 1] + 0.5 * (ordered[cut] - ordered[cut + 1])) if value[cut] > 0.0 else None
