"""Figures: all that the workbench knows about rows, namely counts and targets by group, and measures of each size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.report.groups import Grouping, conditions_of, grouped_rows
from obliquerules.inspection.report.measured_rows import MeasuredRows
from obliquerules.losses import Loss
from obliquerules.rules import Block, Conjunction, Model, RuleEnsemble
from obliquerules.rules.ensemble import used_columns
from obliquerules.rules.moments import seconds_in
from obliquerules.rules.numbers import rounded_to

Vector = NDArray[np.float64]

# The digits of figures on all rows: in full, they would reveal something about the few rows that are in no group.
FIGURE_DIGITS = 4
SHARE_DECIMALS = 4
MEDIAN_DIGITS = 3
COVERAGE_DECIMALS = 3


def figures(model: Model, rows: MeasuredRows, sizes: Sequence[int], conditions: Sequence[Conjunction]) -> dict[str, Any]:
    """Return all that the workbench knows about rows; no row is part of it."""
    rows = rows.under(model)
    grouping = grouped_rows(model.ensembles, sizes, model.present, rows.X, rows.least, rows.given)
    told = conditions_of(model.ensembles[size] for size in grouping.spoken)
    shown = conditions_of(model.ensembles[size] for size in sizes)
    used = used_columns(model.ensembles[size] for size in sizes)
    return {
        "name": rows.name,
        "rows": len(rows.y),
        "least": rows.least,
        "spoken": [size in grouping.spoken for size in sizes],
        "conditions": [conditions.index(condition) for condition in told],
        "groups": group_table(model.loss, rows, grouping, told),
        "predicted": [_predicted(model, rows, grouping, size) for size in sizes],
        "coverage": _coverage({str(conditions.index(condition)): condition for condition in shown}, rows, grouping, told),
        "measures": [_measures(model, rows, ensemble) for ensemble in model.ensembles],
        "typical": {str(column): _typical(rows.X, column, rows.least) for column in used},
        "binary": [column for column in used if _is_binary(rows.X, column)],
    }


def group_table(loss: Loss, rows: MeasuredRows, grouping: Grouping, told: Sequence[Conjunction]) -> dict[str, Any]:
    """Return for each group its number of rows, their weight and target sum, and for the first groups which conditions hold.

    At the score f, the total loss of a group of weight w and target sum t is w times the loss of its mean target t / w at f,
    plus the spread of the group, which does not depend on f. With many classes, the target sum is the weight of each of them.
    """
    group = grouping.labels
    total, target = np.bincount(group, rows.weight), _target_sums(loss, rows, group)
    first = np.unique(group, return_index=True)[1][: grouping.told]
    holds = np.column_stack([np.zeros((len(first), 0), dtype=np.bool_), *(condition(rows.X.rows(first)) for condition in told)])
    table: dict[str, Any] = {
        "patterns": [_as_hex(pattern) for pattern in holds],
        "rows": np.bincount(group).tolist(),
        "weight": total.tolist(),
        "target": target.tolist(),
    }
    within = None if loss.by_class else loss.spread(rows.y, (target / total)[group])
    if within is not None:
        table["spread"] = np.bincount(group, rows.weight * within).tolist()
    return table


def _target_sums(loss: Loss, rows: MeasuredRows, group: NDArray[np.intp]) -> Vector:
    """Return the weighted sum of targets of each group or, with many classes, the weight of each class in it."""
    if not loss.by_class:
        return np.asarray(np.bincount(group, rows.weight * rows.y), dtype=np.float64)
    n_groups = int(group.max()) + 1
    cell = group * loss.n_classes + rows.y.astype(np.intp)
    counts = np.asarray(np.bincount(cell, rows.weight, n_groups * loss.n_classes), dtype=np.float64)
    return counts.reshape(n_groups, loss.n_classes)


def _predicted(model: Model, rows: MeasuredRows, grouping: Grouping, size: int) -> list[Any]:
    """Return the mean prediction of one size for each group in which the conditions that hold do not determine it.

    With many classes, it is the probability of each of them.
    """
    first = grouping.told if size in grouping.spoken else 0
    mean, total = model.loss.inverse_link(model.ensembles[size](rows.X, rows.given)), np.bincount(grouping.labels, rows.weight)
    if not model.has_many_classes:
        return [_short(float(value)) for value in (np.bincount(grouping.labels, rows.weight * mean) / total)[first:]]
    shares = np.column_stack([np.bincount(grouping.labels, rows.weight * share) / total for share in mean.T])
    return list(shares[first:].round(SHARE_DECIMALS).tolist())


def _measures(model: Model, rows: MeasuredRows, ensemble: RuleEnsemble) -> list[float | None]:
    """Return the measures of an ensemble on all rows, in few digits."""
    loss = model.loss
    found = loss.measures(rows.y, ensemble(rows.X, rows.given), rows.weight)
    if rows.given is not None and model.labels is None:
        # What the offset explains is not owed to the rules.
        risk, least = (loss.risk(rows.y, one(rows.X, rows.given), rows.weight) for one in (ensemble, model.path[0]))
        found[1] = None if least <= 0.0 else 1.0 - risk / least
    return [_short(value) for value in found]


def _as_hex(pattern: NDArray[np.bool_]) -> str:
    """Return bits as hexadecimal digits, the first condition first."""
    bits = "".join("01"[int(holds)] for holds in pattern)
    return "".join(f"{int(bits[start : start + 4].ljust(4, '0'), 2):x}" for start in range(0, len(bits), 4))


def _coverage(
    shown: Mapping[str, Conjunction], rows: MeasuredRows, grouping: Grouping, told: Sequence[Conjunction]
) -> dict[str, float | None]:
    """Return the share of rows for which each condition holds; None where it would reveal something about too few rows."""
    safe = SafeShares(rows.least, len(rows.y), grouping.labels >= grouping.told)
    return {
        key: _share(holds, rows.weight) if safe.take(holds := condition(rows.X), condition in told) else None
        for key, condition in shown.items()
    }


def _share(holds: NDArray[np.bool_], weight: Vector) -> float:
    return round(float(weight[holds].sum() / weight.sum()), COVERAGE_DECIMALS)


class SafeShares:
    """The sets of rows whose shares are published: neither a set nor a difference of two sets is too small.

    With up to some thousand rows, the number of rows follows from the rounded share. From the numbers of two sets, one of which
    contains the other, follows that of their difference; from a set and the table of groups, that of its rows in the rest.

    Parameters
    ----------
    least : int
        The least number of rows about which anything may be revealed.
    n_rows : int
    rest : array of shape (n_rows,)
        The rows of groups whose conditions are not published.
    """

    def __init__(self, least: int, n_rows: int, rest: NDArray[np.bool_]) -> None:
        self.least, self.rest = least, rest
        # With many rows, a rounded share leaves the number of rows open by enough.
        self.rounded = n_rows * 10.0**-COVERAGE_DECIMALS >= 2 * least
        self.taken: list[NDArray[np.bool_]] = []

    def take(self, holds: NDArray[np.bool_], told: bool) -> bool:
        """Add a set if its share may be published, and say whether it may; ``told`` if the groups publish its condition."""
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
        """Yield the differences between each set taken before and those of the new sides that it contains."""
        for side in sides:
            yield from (other & ~side for other in self.taken if not (side & ~other).any())

    def _few(self, part: NDArray[np.bool_]) -> bool:
        return 0 < int(part.sum()) < self.least


def _typical(X: Block, column: int, least: int) -> float | None:
    """Return the most frequent level of a column, or the median of its numbers, coarsely, so that it is not the value of a row.

    Missing values do not count. What would tell about fewer than ``least`` rows is None; the level is then the first of the
    column, which the model tells.
    """
    values, kind = X.matrix[:, column], X.column(column).kind
    if X.column(column).levels is not None:
        counts = np.bincount(values[values >= 0.0].astype(np.intp), minlength=1)
        return float(counts.argmax()) if counts.max() >= least else 0.0
    present = values[~np.isnan(values)]
    if len(present) < least:
        return None
    median = float(np.median(present))
    return _first_of_month(median, seconds_in(kind)) if kind in ("date", "time") else rounded_to(median, MEDIAN_DIGITS)


def _is_binary(X: Block, column: int) -> bool:
    """Say whether the numbers of a column are zeros and ones."""
    return X.column(column).levels is None and np.array_equal(np.unique(X.matrix[:, column]), [0.0, 1.0])


def _first_of_month(moment: float, seconds: float) -> float:
    """Return the beginning of the month of a date or time that counts so many seconds since the beginning of 1970."""
    month = np.datetime64(int(moment * seconds), "s").astype("datetime64[M]")
    return float(month.astype("datetime64[s]").astype(np.int64)) / seconds


def _short(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else rounded_to(value, FIGURE_DIGITS)
