"""The choice of a size by paired differences of held-out losses, among sizes that differ enough to matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.held_out import HeldOut

# The least ratio of two sizes to choose from, and the largest ratio of the largest size to the largest of them.
STEP, NEAR = 1.2, 1.1


@dataclass(frozen=True)
class Choice:
    """A choice of a ridge and a size, by their positions among those that were compared.

    Attributes
    ----------
    ridge : int
    best, chosen : int
        The size with the least risk, and the chosen one.
    still_falls : bool
        Whether the largest size is the best, and better than every smaller one by more than a standard error.
    settled : bool
        Whether further repetitions of the folds are unlikely to change the size.
    """

    ridge: int
    best: int
    chosen: int
    still_falls: bool
    settled: bool


def choose(held_out: HeldOut, default: int, tolerance: float) -> Choice:
    """Choose the smallest size whose risk is above the least by at most ``tolerance`` standard errors of the difference.

    The ridge at position ``default`` is kept unless another has a risk that is lower by more than a standard error.
    """
    ridge, certain = better_ridge(held_out, default)
    risk = held_out.risk[ridge]
    best = int(risk.argmin())
    excess, error = risk - risk[best], held_out.standard_error(ridge, less=(ridge, best))
    chosen = int(np.flatnonzero(excess <= tolerance * error)[0])
    # Smaller sizes must be outside and the chosen one inside by more than the partition matters; the best is so by definition.
    margin, doubt = np.abs(excess - tolerance * error), held_out.partition_error(ridge, less=(ridge, best))
    return Choice(
        ridge=ridge,
        best=best,
        chosen=chosen,
        still_falls=0 < best == len(risk) - 1 and bool((excess > error)[:-1].all()),
        settled=certain and bool((margin >= doubt)[: chosen + 1].all()),
    )


def better_ridge(held_out: HeldOut, default: int) -> tuple[int, bool]:
    """Return the best of the other ridges if its risk is below the default's by more than a standard error, or the default.

    Each ridge is judged at its best size. Also return whether that hardly depends on the partition of the rows.
    """
    best, least = held_out.risk.argmin(axis=1).tolist(), held_out.risk.min(axis=1)
    others = [ridge for ridge in range(len(least)) if ridge != default]
    if not others:
        return default, True
    ridge, kept = min(others, key=lambda other: least[other]), (default, best[default])
    gain = least[default] - least[ridge]
    error, doubt = (of(ridge, less=kept)[best[ridge]] for of in (held_out.standard_error, held_out.partition_error))
    return ridge if gain > error else default, bool(abs(gain - error) >= doubt)


def sizes_to_compare(complexity: NDArray[np.intp], loss: NDArray[np.float64]) -> list[int]:
    """Return the positions of the members of a path to choose from, given their complexities and training losses.

    Sizes that differ by little are the same to a reader, and which of them has the least risk is a matter of chance. Taken are
    corners of the lower convex hull of complexity and loss, after which another unit buys less than before: the first that is
    within a tenth of the largest complexity and, going down, each that the one before exceeds by a fifth or more.
    """
    corners = lower_hull(complexity, loss)
    taken = [next(corner for corner in corners if NEAR * complexity[corner] >= complexity[-1])]
    for corner in reversed(corners):
        if corner < taken[-1] and STEP * complexity[corner] <= complexity[taken[-1]]:
            taken.append(corner)
    return taken[::-1]


def lower_hull(x: NDArray[np.intp], y: NDArray[np.float64]) -> list[int]:
    """Return the positions of the points on the lower convex hull, from the first to the last; ``x`` is ascending.

    >>> lower_hull(np.array([0, 1, 2, 4]), np.array([9.0, 6.0, 5.0, 1.0]))
    [0, 1, 3]
    """
    hull: list[int] = []
    for point in range(len(x)):
        while len(hull) > 1 and _above(hull[-1], hull[-2], point, x, y):
            hull.pop()
        hull.append(point)
    return hull


def _above(middle: int, left: int, right: int, x: NDArray[np.intp], y: NDArray[np.float64]) -> bool:
    """Say whether a point is on or above the line between two others."""
    return bool((y[middle] - y[left]) * (x[right] - x[left]) >= (y[right] - y[left]) * (x[middle] - x[left]))
