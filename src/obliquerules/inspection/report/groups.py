"""Groups: rows counted by the conditions that hold, none of them small, for as many sizes as that leaves enough rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Conjunction, RuleEnsemble

Labels = NDArray[np.intp]

# A table of more groups would make the file slow to load and to count in.
MOST_GROUPS = 1000
# A size is spoken for if at least this share of all rows stays in groups, and this share of those that the first one leaves.
KEPT_OF_ALL = 0.5
KEPT_OF_FIRST = 0.9
# Where groups are made by score, about so many are made.
MOST_POINTS = 20


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


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows in groups, none of them small.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The number of the group of each row.
    told : int
        In so many groups, the first ones, the same conditions of the sizes that are spoken for hold for all rows. In the
        others are the rows for which that leaves too few, with those of a like score.
    spoken : list of int
        The positions of the sizes that are spoken for.
    """

    labels: Labels
    told: int
    spoken: list[int]


def grouped_rows(
    ensembles: Sequence[RuleEnsemble], sizes: Sequence[int], present: int, X: NDArray[np.float64], least: int
) -> Grouping:
    """Put rows, of which there are at least ``least``, in groups of at least that many, for all sizes alike.

    All sizes share the groups, so that nothing is learned by subtracting the figures of one size from those of another. Each
    further condition makes groups smaller. The present size comes first and the others by their distance from it, and one
    that leaves too few rows in groups is not spoken for. If that is the present size, groups are split by its score, too.
    """
    spoken, labels = _spoken_for(ensembles, sizes, present, X, least)
    score, rest = ensembles[present](X), labels < 0
    if present not in spoken:
        labels = _split_by_score(labels, score, max(least, -(-len(X) // MOST_POINTS)))
    told = int(labels.max(initial=-1)) + 1
    labels[rest] = told + chunks(score[rest], max(least, -(-int(rest.sum()) // MOST_POINTS)))
    return Grouping(labels, told, spoken)


def _spoken_for(
    ensembles: Sequence[RuleEnsemble], sizes: Sequence[int], present: int, X: NDArray[np.float64], least: int
) -> tuple[list[int], Labels]:
    """Return the sizes that are spoken for, and the group of each row by their conditions, -1 for the rest."""
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


def _split_by_score(labels: Labels, score: NDArray[np.float64], least: int) -> Labels:
    """Split groups into parts of at least so many rows with like scores; the rest stays as it is."""
    split, n_groups = labels.copy(), 0
    for group in range(int(labels.max(initial=-1)) + 1):
        part = chunks(score[labels == group], least)
        split[labels == group] = n_groups + part
        n_groups += int(part.max()) + 1
    return split


def chunks(score: NDArray[np.float64], least: int) -> Labels:
    """Number rows by their score, in chunks of at least ``least`` rows; rows of the same score stay together."""
    position, counts = np.unique(score, return_inverse=True, return_counts=True)[1:]
    chunk, size, left = np.zeros(len(counts), dtype=np.intp), 0, len(score)
    for index, count in enumerate(counts.tolist()):
        # A new chunk begins when the one before is full and enough rows are left for another.
        begins = index > 0 and size >= least and left >= least
        chunk[index] = (chunk[index - 1] if index else 0) + begins
        size = count if begins else size + count
        left -= count
    return np.asarray(chunk[position.ravel()], dtype=np.intp)


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
