"""Interval: a median between two order statistics, as the paper's tables give every figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """A median with its bounds; infinite where the repetitions failed to meet a target."""

    lower: float
    median: float
    upper: float


def order_interval(values: Sequence[float], tenths: int) -> Interval:
    """Return the median between two order statistics that leave out the same number of values at either end.

    For ten values, ``tenths=4`` gives the 4th and the 7th and ``tenths=3`` the 3rd and the 8th; for n values the lower rank is
    n * tenths / 10, rounded up.

    Notes
    -----
    The probability that the bounds of ten repetitions enclose the population's median is 0.66 for ``tenths=4`` and 0.89 for
    ``tenths=3`` (binomial); the paper calls them 77 % and 93 % intervals.

    Examples
    --------
    >>> order_interval(range(1, 11), 4)
    Interval(lower=4.0, median=5.5, upper=7.0)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    rank = -(-len(ordered) * tenths // 10)
    return Interval(float(ordered[rank - 1]), float(np.median(ordered)), float(ordered[-rank]))
