"""Groups: rows counted by the conditions that hold, none of them small, for as many sizes as that leaves enough rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Conjunction, RuleEnsemble

Labels = NDArray[np.intp]

# A table of more groups would make the file slow to load and to count in.
MOST_GROUPS = 1000
# A size is spoken for if at least this share of all rows stays in groups, and this share of those that the first one leaves.
KEPT_OF_ALL = 0.5
KEPT_OF_FIRST = 0.8


def conditions_of(ensembles: Iterable[RuleEnsemble]) -> tuple[Conjunction, ...]:
    """Return the different conditions of ensembles, in the order in which they first occur."""
    return tuple(dict.fromkeys(rule.condition for ensemble in ensembles for rule in ensemble))


def spread_sizes(ensembles: Sequence[RuleEnsemble], present: int, most: int) -> list[int]:
    """Return up to so many positions of ensembles, by complexity, the present one among them, far from each other."""
    taken, others = [present], [index for index in range(len(ensembles)) if index != present]
    while others and len(taken) < most:
        farthest = max(others, key=lambda index: min(abs(index - other) for other in taken))
        others.remove(farthest)
        taken.append(farthest)
    return sorted(taken, key=lambda index: (ensembles[index].complexity, index))


def grouped_rows(
    ensembles: Sequence[RuleEnsemble], sizes: Sequence[int], present: int, X: NDArray[np.float64], least: int
) -> tuple[list[int], Labels]:
    """Return the sizes that a table of groups speaks for, and the group of each row, -1 for the rest.

    All sizes share one table, so that nothing is learned by subtracting the figures of one size from those of another. Each
    further condition makes its groups smaller. The present size comes first and the others by their distance from it, and one
    that leaves too few rows in groups of at least ``least`` is not spoken for.
    """
    labels, wanted = np.zeros(len(X), dtype=np.intp), KEPT_OF_ALL * len(X)
    spoken: list[int] = []
    here = sizes.index(present)
    for place in sorted(range(len(sizes)), key=lambda place: abs(place - here)):
        finer = _refined(labels, X, conditions_of([ensembles[sizes[place]]]))
        kept = int(np.count_nonzero(without_small_groups(finer, least) >= 0))
        if kept < wanted:
            continue
        wanted = wanted if spoken else max(wanted, KEPT_OF_FIRST * kept)
        labels = finer
        spoken.append(place)
    return [sizes[place] for place in sorted(spoken)], without_small_groups(labels, least)


def _refined(labels: Labels, X: NDArray[np.float64], conditions: Iterable[Conjunction]) -> Labels:
    """Split groups of rows by whether conditions hold; the labels are numbered from 0."""
    for condition in conditions:
        labels = np.unique(2 * labels + condition(X), return_inverse=True)[1].ravel()
    return labels


def without_small_groups(labels: Labels, least: int) -> Labels:
    """Number the groups of at least so many rows from 0; all other rows are the rest, with the label -1.

    The rest is empty or has at least so many rows itself, or it could be had by subtraction: if it is smaller, the smallest
    groups join it. If there are more than `MOST_GROUPS`, the smallest of them join it too.
    """
    counts = np.bincount(labels)
    falling = np.sort(counts)[::-1]
    if len(falling) > MOST_GROUPS:
        least = max(least, int(falling[MOST_GROUPS]) + 1)
    kept = counts >= least
    for group in np.argsort(counts, kind="stable"):
        if not 0 < counts[~kept].sum() < least:
            break
        kept[group] = False
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return np.asarray(number[labels], dtype=np.intp)
