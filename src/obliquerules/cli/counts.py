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


def against_counts(values: NDArray[np.float64]) -> str | None:
    """Say why numbers are not taken for counts: None if they are, and an empty text if nobody would take them for counts."""
    if not (values == np.rint(values)).all() or values.min() < 0.0:
        return ""
    mean = float(values.mean())
    if values.min() > max(1.0, NEAR_ZERO * float(np.median(values))):
        return ""
    if values.max() >= LARGEST_COUNT:
        return "are whole, but larger than most counts"
    if np.gcd.reduce(values.astype(np.int64)) > 1:
        return "are whole, but all multiples of a larger number"
    if len(np.unique(values)) > max(FEW, MOST_DIFFERENT * len(values)):
        return "are whole, but repeat less than counts do"
    if values.var() < LEAST_DISPERSION * mean:
        return "are whole, but vary less than counts do, like ratings"
    if _skewness(values) < LEAST_SKEWNESS / np.sqrt(mean):
        return "are whole, but not skewed like counts"
    return None


def _skewness(values: NDArray[np.float64]) -> float:
    return float(np.mean(((values - values.mean()) / values.std()) ** 3))
