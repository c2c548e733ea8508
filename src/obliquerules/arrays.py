"""Arrays: names of their types, and weighted quantiles."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]


def weighted_quantiles(
    values: Vector, weight: Vector, shares: Sequence[float] | Vector, side: Literal["left", "right"] = "left"
) -> Vector:
    """Return the least values that, with all below, have at least these shares of the weight.

    With ``side="right"``, they have more than these shares, unless they are the largest.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), [0.25, 0.5]).tolist()
    [1.0, 2.0]
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached / reached[-1], shares, side=side)
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]])
