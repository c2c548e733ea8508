"""Refinement: all numbers of an ensemble moved at once, while its conditions are sigmoids (Levenberg and Marquardt)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obliquerules.kernels.soft_rules import SoftRules

Vector = NDArray[np.float64]

FIRST_DAMPING, LEAST_DAMPING = 1e-2, 1e-5
# A step that does not lower the loss is tried again with this many times the damping, this often; after one that does, the
# damping is divided.
MORE, LESS, TRIES = 4.0, 3.0, 6
# The descent ends where a step lowers the loss by less than this share of it.
SMALLEST_FALL = 1e-4


def descend(soft: SoftRules, start: Vector, sharpness: float, n_steps: int) -> Vector:
    """Return parameters with a lower loss than the start, after at most this many steps; the start if there are none."""
    found, value, damping = start, soft.value(start, sharpness), FIRST_DAMPING
    for _ in range(n_steps):
        soft.sums(found, sharpness)
        for _ in range(TRIES):
            step = soft.damped_step(damping)
            moved = found if step is None else found - step
            reached = soft.value(moved, sharpness) if np.isfinite(moved).all() else np.inf
            if reached < value:
                break
            damping *= MORE
        else:
            return found
        fall, found, value = value - reached, moved, reached
        damping = max(damping / LESS, LEAST_DAMPING)
        if fall < SMALLEST_FALL * value:
            return found
    return found
