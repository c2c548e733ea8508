"""Doubles in their order: where a product, rounded as it is, begins to reach a threshold."""

from __future__ import annotations

import math
import struct


def least_reaching(weight: float, threshold: float) -> float:
    """Return the least double x with ``weight * x >= threshold``, for a positive weight; infinity if no finite x reaches it.

    >>> least_reaching(1.0, 2.5), least_reaching(3.0, 1.0), least_reaching(1e-300, 1e300)
    (2.5, 0.3333333333333333, inf)
    """
    below, reached = _place(-math.inf), _place(math.inf)
    while reached - below > 1:
        middle = (below + reached) // 2
        below, reached = (below, middle) if weight * _double(middle) >= threshold else (middle, reached)
    return _double(reached)


def _place(number: float) -> int:
    """Return the position of a double among all doubles; that of zero is 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return -int(bits) if number < 0.0 else int(bits)


def _double(place: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return -float(number) if place < 0 else float(number)
