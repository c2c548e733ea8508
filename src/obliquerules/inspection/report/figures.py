"""Figures: what the workbench says about rows: counts and targets by group, and how good each size is on all rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from obliquerules.inspection.report.groups import Grouping, conditions_of, grouped_rows
from obliquerules.inspection.report.subject import Rows, Subject
from obliquerules.losses import Loss
from obliquerules.rules import Conjunction
from obliquerules.rules.numbers import rounded_to

Vector = NDArray[np.float64]

# Figures on all rows are rounded to so many digits: in full, they would tell about the few rows that are in no group.
FIGURE_DIGITS = 4
MEDIAN_DIGITS = 3
COVERAGE_DECIMALS = 3


def figures(subject: Subject, rows: Rows, sizes: Sequence[int], conditions: Sequence[Conjunction]) -> dict[str, Any]:
    """Return all that the workbench says about rows, none of which is in it."""
    grouping = grouped_rows(subject.ensembles, sizes, subject.present, rows.X, rows.least)
    told = conditions_of(subject.ensembles[size] for size in grouping.spoken)
    shown = conditions_of(subject.ensembles[size] for size in sizes)
    return {
        "name": rows.name,
        "rows": len(rows.y),
        "least": rows.least,
        "spoken": [size in grouping.spoken for size in sizes],
        "conditions": [conditions.index(condition) for condition in told],
        "groups": group_table(subject.loss, rows, grouping, told),
        "predicted": [_predicted(subject, rows, grouping, size) for size in sizes],
        "coverage": _coverage({str(conditions.index(condition)): condition for condition in shown}, rows, grouping, told),
        "measures": [
            [_short(value) for value in measures(subject.loss, rows.y, ensemble(rows.X), rows.weight)]
            for ensemble in subject.ensembles
        ],
        "medians": _medians(rows, shown),
    }


def group_table(loss: Loss, rows: Rows, grouping: Grouping, told: Sequence[Conjunction]) -> dict[str, Any]:
    """Return for each group its number of rows, their weight, and sums of targets; for the first ones what conditions hold.

    The total loss of a group of weight w, with the target sum t, at the score f, is w times the loss of the mean target t / w
    at f, and the spread, which does not depend on f.
    """
    group = grouping.labels
    total, target = np.bincount(group, rows.weight), np.bincount(group, rows.weight * rows.y)
    first = np.unique(group, return_index=True)[1][: grouping.told]
    holds = np.column_stack([np.zeros((len(first), 0), dtype=np.bool_), *(condition(rows.X[first]) for condition in told)])
    table: dict[str, Any] = {
        "patterns": [_as_hex(pattern) for pattern in holds],
        "rows": np.bincount(group).tolist(),
        "weight": total.tolist(),
        "target": target.tolist(),
    }
    if loss.name in SPREADS:
        within = rows.weight * SPREADS[loss.name](rows.y, (target / total)[group])
        table["spread"] = np.bincount(group, within).tolist()
    return table


def _predicted(subject: Subject, rows: Rows, grouping: Grouping, size: int) -> list[float | None]:
    """Return the mean prediction, at a size, for each group for which that does not follow from the conditions that hold."""
    first = grouping.told if size in grouping.spoken else 0
    mean = subject.loss.inverse_link(subject.ensembles[size](rows.X))
    totals = np.bincount(grouping.labels, rows.weight * mean) / np.bincount(grouping.labels, rows.weight)
    return [_short(float(value)) for value in totals[first:]]


def _squared_spread(y: Vector, mean: Vector) -> Vector:
    return (y - mean) ** 2


def _poisson_spread(y: Vector, mean: Vector) -> Vector:
    return np.asarray(xlogy(y, y) - xlogy(y, mean), dtype=np.float64)


# What a row costs more than the mean target of its group does. The logistic loss of labels has nothing of the kind.
SPREADS: dict[str, Callable[[Vector, Vector], Vector]] = {"squared": _squared_spread, "poisson": _poisson_spread}


def _as_hex(pattern: NDArray[np.bool_]) -> str:
    """Return bits as text, four to a character, the first condition first."""
    bits = "".join("01"[int(holds)] for holds in pattern)
    return "".join(f"{int(bits[start : start + 4].ljust(4, '0'), 2):x}" for start in range(0, len(bits), 4))


def _coverage(
    shown: Mapping[str, Conjunction], rows: Rows, grouping: Grouping, told: Sequence[Conjunction]
) -> dict[str, float | None]:
    """Return the share of rows for which each condition holds; None where that would tell about too few rows."""
    safe = SafeShares(rows.least, len(rows.y), grouping.labels >= grouping.told)
    return {
        key: _share(holds, rows.weight) if safe.take(holds := condition(rows.X), condition in told) else None
        for key, condition in shown.items()
    }


def _share(holds: NDArray[np.bool_], weight: Vector) -> float:
    return round(float(weight[holds].sum() / weight.sum()), COVERAGE_DECIMALS)


class SafeShares:
    """The sets of rows whose shares are told, none of which, and no difference of which, is of a few rows.

    Up to some thousand rows, a share in few decimals is a number of rows. Who has those of two sets, one of which is part of
    the other, has that of their difference, too; and who has the table of groups has what a set holds besides.

    Parameters
    ----------
    least : int
        The least number of rows that may be told of.
    n_rows : int
    rest : array of shape (n_rows,)
        The rows in groups for which it is not told which conditions hold.
    """

    def __init__(self, least: int, n_rows: int, rest: NDArray[np.bool_]) -> None:
        self.least, self.rest = least, rest
        # Rounding alone leaves that many numbers open.
        self.rounded = n_rows * 10.0**-COVERAGE_DECIMALS >= 2 * least
        self.taken: list[NDArray[np.bool_]] = []

    def take(self, holds: NDArray[np.bool_], told: bool) -> bool:
        """Say whether the share of a set may be told, and if so take it that it is; ``told`` if the groups tell of it."""
        if self.least == 1:
            return True
        sides = (holds, ~holds)
        if min(int(side.sum()) for side in sides) < self.least:
            return False
        known = [side & self.rest for side in sides] if told else []
        if not self.rounded and any(self._few(part) for part in (*known, *self._differences(sides))):
            return False
        self.taken += sides
        return True

    def _differences(self, sides: Sequence[NDArray[np.bool_]]) -> Iterator[NDArray[np.bool_]]:
        """Yield what is left of a larger set without a smaller one, where either is new and the other was taken before."""
        for side in sides:
            yield from (other & ~side for other in self.taken if not (side & ~other).any())

    def _few(self, part: NDArray[np.bool_]) -> bool:
        return 0 < int(part.sum()) < self.least


def _medians(rows: Rows, shown: Sequence[Conjunction]) -> dict[str, float]:
    """Return a typical value of each variable that is used, in few digits, so that it is no row's."""
    columns = sorted({column for condition in shown for proposition in condition for column in proposition.columns})
    return {str(column): rounded_to(float(np.median(rows.X[:, column])), MEDIAN_DIGITS) for column in columns}


def _short(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else rounded_to(value, FIGURE_DIGITS)


def measures(loss: Loss, y: Vector, score: Vector, weight: Vector) -> list[float | None]:
    """Return what the workbench measures for a loss, the risk first; None where a measure is not defined.

    A risk beyond the largest double is infinite.
    """
    with np.errstate(over="ignore"):
        risk = float(np.average(loss.value(y, score), weights=weight))
    if loss.name == "logistic":
        wrong = (score > 0.0) != (y > 0.5)
        return [risk, float(np.average(wrong, weights=weight)), area_under_curve(y, score, weight)]
    constant = np.full(len(y), loss.best_constant(y, weight))
    least = float(np.average(loss.value(y, constant), weights=weight))
    explained = None if least <= 0.0 else 1.0 - risk / least
    return [float(np.sqrt(2.0 * risk)) if loss.name == "squared" else 2.0 * risk, explained]


def area_under_curve(y: Vector, score: Vector, weight: Vector) -> float | None:
    """Return the share of pairs of rows, one of each class, that the score puts in order; equal scores count half."""
    position = np.unique(score, return_inverse=True)[1].ravel()
    positive, negative = np.bincount(position, weight * y), np.bincount(position, weight * (1.0 - y))
    pairs = float(positive.sum() * negative.sum())
    below = np.cumsum(negative) - negative
    return None if pairs == 0.0 else float((positive * (below + 0.5 * negative)).sum() / pairs)
