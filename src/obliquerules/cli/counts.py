"""Counts: whether the numbers of a target look like counts, or only happen to be whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Counts start near 0: the least is at most 1, or at most this share of the median.
NEAR_ZERO = 0.05
# Larger numbers are more often amounts, such as money.
LARGEST_COUNT = 1000.0
# Counts repeat: at most this share of the rows are different, unless there are no more than this number of different values.
MOST_DIFFERENT = 0.25
FEW = 8
# Ratings vary less than counts, whose variance is at least about their mean.
LEAST_DISPERSION = 0.5
# Counts have a long tail to the right: the skewness of a Poisson distribution is one over the root of its mean. This is the
# least share of that.
LEAST_SKEWNESS = 0.25


def against_counts(values: NDArray[np.float64], weight: NDArray[np.float64] | None = None) -> str | None:
    """Say why numbers are not taken for counts.

    None if they are, and an empty text if nobody would take them for counts.

    Weights say how often each of them counts.
    """
    weight = np.ones(len(values)) if weight is None else weight
    if not (values == np.rint(values)).all() or values.min() < 0.0:
        return ""
    mean = float(np.average(values, weights=weight))
    if values.min() > max(1.0, NEAR_ZERO * _median(values, weight)):
        return ""
    if values.max() >= LARGEST_COUNT:
        return "are whole, but larger than most counts"
    if np.gcd.reduce(values.astype(np.int64)) > 1:
        return "are whole, but all multiples of a larger number"
    if len(np.unique(values)) > max(FEW, MOST_DIFFERENT * n_counted(weight)):
        return "are whole, but repeat less than counts do"
    variance = float(np.average((values - mean) ** 2, weights=weight))
    if variance < LEAST_DISPERSION * mean:
        return "are whole, but vary less than counts do, like ratings"
    skewness = float(np.average((values - mean) ** 3, weights=weight)) / variance**1.5
    if skewness < LEAST_SKEWNESS / np.sqrt(mean):
        return "are whole, but not skewed like counts"
    return None


def n_counted(weight: NDArray[np.float64]) -> float:
    """Return the number of rows by weight.

    Shares, which add up to less than there are rows, count as one each.
    """
    return max(float(np.add.reduce(weight)), float(len(weight)))


def _median(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the weighted median."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    middle = [np.searchsorted(below, 0.5 * below[-1], side=side) for side in ("left", "right")]
    return float(values[order[np.minimum(middle, len(values) - 1)]].mean())
