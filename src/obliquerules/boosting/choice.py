"""The choice of a variant and a size by paired differences of held-out losses, among sizes that differ enough to matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.held_out import FoldLosses, HeldOut

# The complexities that are compared in each variant, in ascending order.
Sizes = Sequence[NDArray[np.intp]]

# The least ratio of two sizes to choose from, and the largest ratio of the largest size to the largest of them.
STEP, NEAR = 1.2, 1.1


@dataclass(frozen=True)
class Choice:
    """A choice of a variant and a size, by their positions among those that were compared.

    Attributes
    ----------
    variant : int
        A family of paths at a ridge.
    best, chosen : int
        The size with the least risk, and the chosen one.
    still_falls : bool
        Whether the largest size is the best, and better than every smaller one by more than a standard error.
    settled : bool
        Whether further repetitions of the folds are unlikely to change the size.
    """

    variant: int
    best: int
    chosen: int
    still_falls: bool
    settled: bool


def choose(held_out: HeldOut, sizes: Sizes, tolerance: float) -> Choice:
    """Choose the variant of the least risk and, in that variant, a size; ``sizes`` are the complexities of each variant.

    It is settled if each variant that is not clearly worse leads to the same complexity, clearly.
    """
    variant = int(np.argmin([risk.min() for risk in held_out.risk]))
    choice = choose_size(held_out, variant, tolerance)
    others = [choose_size(held_out, other, tolerance) for other in contenders(held_out, variant)]
    complexity = sizes[variant][choice.chosen]
    same = all(other.settled and sizes[other.variant][other.chosen] == complexity for other in others)
    return replace(choice, settled=choice.settled and same)


def nested_losses(
    folds: Sequence[FoldLosses],
    weight: NDArray[np.float64],
    observations: NDArray[np.float64] | float,
    sizes: Sizes,
    tolerance: float,
) -> NDArray[np.float64]:
    """Return the losses of the rows of each fold in the variant and at the size that the other folds choose, summed by row."""
    total = np.zeros(len(weight))
    for place, fold in enumerate(folds):
        choice = choose(HeldOut.of([*folds[:place], *folds[place + 1 :]], weight, observations), sizes, tolerance)
        total[fold.rows] += fold.share * fold.loss[choice.variant][choice.chosen]
    return total


def choose_size(held_out: HeldOut, variant: int, tolerance: float) -> Choice:
    """Choose the smallest size whose risk is above the least by at most ``tolerance`` standard errors of the difference."""
    risk = held_out.risk[variant]
    best = int(risk.argmin())
    excess, error = risk - risk[best], held_out.standard_error(variant, less=(variant, best))
    chosen = int(np.flatnonzero(excess <= tolerance * error)[0])
    # Smaller sizes must be outside and the chosen one inside by more than the partition matters; the best is so by definition.
    margin, doubt = np.abs(excess - tolerance * error), held_out.doubt(variant, less=(variant, best))
    return Choice(
        variant=variant,
        best=best,
        chosen=chosen,
        still_falls=0 < best == len(risk) - 1 and bool((excess > error)[:-1].all()),
        settled=bool((margin >= doubt)[: chosen + 1].all()),
    )


def contenders(held_out: HeldOut, variant: int) -> list[int]:
    """Return the other variants that further repetitions may show to be better; each is judged at its best size."""
    best, least = [int(risk.argmin()) for risk in held_out.risk], [float(risk.min()) for risk in held_out.risk]
    others = (other for other in range(len(least)) if other != variant)
    return [
        other
        for other in others
        if least[other] - least[variant] < held_out.doubt(other, less=(variant, best[variant]))[best[other]]
    ]


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
