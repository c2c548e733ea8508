"""Groups: rows counted by the conditions that hold, in groups of a least size, for as many model sizes as possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Block, Conjunction, Factor, RuleEnsemble

Labels = NDArray[np.intp]

# A table of more groups would make the file slow to load and to count in.
MOST_GROUPS = 1000
# The conditions of a size define groups if that leaves at least this share of all rows, and this share of the rows that the
# first size leaves, in groups that are large enough.
KEPT_OF_ALL = 0.5
KEPT_OF_FIRST = 0.9
# About how many groups are made for each score where they are made by score.
MOST_POINTS = 20
# And for each of many classes.
MOST_POINTS_OF_CLASS = 10


def conditions_of(ensembles: Iterable[RuleEnsemble]) -> tuple[Conjunction, ...]:
    """Return the distinct conditions of ensembles, in order of their first occurrence."""
    return tuple(dict.fromkeys(rule.condition for ensemble in ensembles for rule in ensemble))


def factors_of(ensembles: Iterable[RuleEnsemble]) -> tuple[Factor, ...]:
    """Return the distinct factors of rules, in order of their first occurrence."""
    return tuple(dict.fromkeys(rule.factor for ensemble in ensembles for rule in ensemble if rule.factor is not None))


def spread_sizes(ensembles: Sequence[RuleEnsemble], present: int, most: int) -> list[int]:
    """Return the positions of up to ``most`` ensembles, the present one and others spread out, ordered by complexity."""
    taken, others = [present], [index for index in range(len(ensembles)) if index != present]
    while others and len(taken) < most:
        farthest = max(others, key=lambda index: min(abs(index - other) for other in taken))
        others.remove(farthest)
        taken.append(farthest)
    return sorted(taken, key=lambda index: (ensembles[index].complexity, index))


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows in groups of a least size.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The number of the group of each row.
    n_patterns : int
        The number of groups, the first ones, that are defined by conditions: within each, the same conditions of the sizes in
        ``exact_sizes`` hold for all rows. The other groups are made of the remaining rows, by similar scores.
    exact_sizes : list of int
        The positions of the sizes whose conditions define groups.
    """

    labels: Labels
    n_patterns: int
    exact_sizes: list[int]


def grouped_rows(
    ensembles: Sequence[RuleEnsemble],
    sizes: Sequence[int],
    present: int,
    X: Block,
    least: int,
    offset: NDArray[np.float64] | None = None,
) -> Grouping:
    """Put rows in groups of at least ``least``, the same for all sizes.

    All sizes share the groups, so that nothing is revealed by subtracting the figures of one size from those of another. Each
    further condition makes the groups smaller. The sizes are tried in the order of their distance from the present one, which
    is first; a size that would leave too few rows in groups is skipped. If the present size is, groups are split by its score.
    With an offset or a factor, conditions do not determine scores, so that all groups are made by score.
    """
    by_score = offset is not None or bool(factors_of(ensembles[size] for size in sizes))
    exact, labels = ([], np.full(len(X), -1)) if by_score else _by_conditions(ensembles, sizes, present, X, least)
    score, rest = ensembles[present](X, offset), labels < 0
    if present not in exact:
        # Parts of groups with similar scores.
        split, n_groups = labels.copy(), 0
        for group in range(int(labels.max(initial=-1)) + 1):
            part = chunks(score[labels == group], _wanted(score, least), least)
            split[labels == group] = n_groups + part
            n_groups += int(part.max()) + 1
        labels = split
    n_patterns = int(labels.max(initial=-1)) + 1
    labels[rest] = n_patterns + chunks(score[rest], _wanted(score[rest], least), least)
    return Grouping(labels, n_patterns, exact)


def _wanted(score: NDArray[np.float64], least: int) -> int:
    """Return about how many rows a group that is made by score should have."""
    most = MOST_POINTS if score.ndim == 1 else MOST_POINTS_OF_CLASS * score.shape[1]
    return max(least, -(-len(score) // most))


def _by_conditions(
    ensembles: Sequence[RuleEnsemble], sizes: Sequence[int], present: int, X: Block, least: int
) -> tuple[list[int], Labels]:
    """Return the sizes that define groups, and the group of each row, -1 for the rest.

    Combinations of exactly ``least`` rows are in the rest, too. If all combinations in the rest had fewer, their numbers could
    be inferred from that alone, such as two of 4 rows in a rest of 8.
    """
    fewest = least + 1 if least > 1 else 1
    labels, wanted = np.zeros(len(X), dtype=np.intp), KEPT_OF_ALL * len(X)
    exact: list[int] = []
    here = sizes.index(present)
    for place in sorted(range(len(sizes)), key=lambda place: abs(place - here)):
        finer = labels
        for condition in conditions_of([ensembles[sizes[place]]]):
            finer = np.unique(2 * finer + condition(X), return_inverse=True)[1].ravel()
        kept = int(np.count_nonzero(without_small_groups(finer, fewest) >= 0))
        if kept < wanted:
            continue
        wanted = wanted if exact else max(wanted, KEPT_OF_FIRST * kept)
        labels = finer
        exact.append(place)
    return [sizes[place] for place in sorted(exact)], without_small_groups(labels, fewest)


def chunks(score: NDArray[np.float64], wanted: int, least: int) -> Labels:
    """Number rows by their score, in chunks of at least ``wanted`` rows; rows of the same score stay together.

    With many classes, rows are sorted by the most probable class and its probability. A chunk then ends with the class, too,
    if it has at least ``least`` rows.
    """
    key, leader = score, np.zeros(len(score), dtype=np.intp)
    if score.ndim == 2:
        leader = np.argmax(score, axis=1)
        key = leader + 1.0 / np.exp(score - score.max(axis=1, keepdims=True)).sum(axis=1)
    first, position, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)[1:]
    classes = leader[first].tolist()
    chunk, size, left, left_of_class = np.zeros(len(counts), dtype=np.intp), 0, len(score), np.bincount(leader).tolist()
    for index, (count, code) in enumerate(zip(counts.tolist(), classes, strict=True)):
        same = index > 0 and classes[index - 1] == code
        # A new chunk begins when the one before is full and enough rows are left for another.
        enough, behind = (wanted, left_of_class[code]) if same else (least, left)
        begins = index > 0 and size >= enough and behind >= enough
        chunk[index] = (chunk[index - 1] if index else 0) + begins
        size = count if begins else size + count
        left -= count
        left_of_class[code] -= count
    return np.asarray(chunk[position.ravel()], dtype=np.intp)


def without_small_groups(labels: Labels, least: int) -> Labels:
    """Number the groups of at least ``least`` rows from 0; all other rows are the rest, with the label -1.

    A rest of fewer rows could be found by subtraction, so the smallest groups join it until it is empty or has at least
    ``least`` rows, too. If there are more than `MOST_GROUPS` groups, the smallest of them also join it.
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
