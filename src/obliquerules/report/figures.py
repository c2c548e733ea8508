"""Figures: all that the workbench knows about rows, namely counts and targets by group, and measures of each size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.losses import ClassLoss, Loss
from obliquerules.report.disclosure import Exchange, Extent, Figure, last_place
from obliquerules.report.groups import Grouping, conditions_of, grouped_rows
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.rules import Block, Conjunction, Model, RuleEnsemble
from obliquerules.rules.columns import seconds_in
from obliquerules.rules.ensemble import used_columns

# The finest steps in which probabilities and the coverage of conditions are given, and the digits of medians.
FINEST_PROBABILITY = 0.0001
FINEST_SHARE = 0.001
MEDIAN_DIGITS = 3
# In seconds.
LONGEST_MONTH = 31.0 * 86400.0


def figures(model: Model, rows: MeasuredRows, sizes: Sequence[int], conditions: Sequence[Conjunction]) -> dict[str, Any]:
    """Return all that the workbench knows about rows; no row is part of it."""
    rows = rows.under(model)
    grouping = grouped_rows(model.ensembles, sizes, model.present, rows.X, rows.least, rows.offset)
    exchange = Exchange(grouping.labels, rows.weight, rows.least > 1)
    defining = conditions_of(model.ensembles[size] for size in grouping.exact_sizes)
    shown = conditions_of(model.ensembles[size] for size in sizes)
    used = used_columns(model.ensembles[size] for size in sizes)
    return {
        "name": rows.name,
        "rows": len(rows.y),
        "least": rows.least,
        "exact": [size in grouping.exact_sizes for size in sizes],
        "conditions": [conditions.index(condition) for condition in defining],
        "groups": group_table(model.loss, rows, grouping, defining),
        "predicted": [_predicted(model, rows, grouping, exchange, size) for size in sizes],
        "coverage": {
            str(conditions.index(condition)): exchange.share(condition(rows.X)).published(FINEST_SHARE) for condition in shown
        },
        "measures": [_measures(model, rows, exchange, ensemble) for ensemble in model.ensembles],
        "typical": {str(column): _typical(rows.X, column, rows.least) for column in used},
        "binary": [column for column in used if _is_binary(rows.X, column, rows.least)],
    }


def group_table(loss: Loss, rows: MeasuredRows, grouping: Grouping, conditions: Sequence[Conjunction]) -> dict[str, Any]:
    """Return for each group its number of rows, their weight and target sum, and for the first groups which conditions hold.

    At the score f, the total loss of a group of weight w and target sum t is w times the loss of its mean target t / w at f,
    plus the spread of the group, which does not depend on f. With many classes, the target sum is the weight of each of them.
    """
    group = grouping.labels
    total, shares = np.bincount(group, rows.weight), loss.in_shares(rows.y)
    sums = np.array([np.bincount(group, rows.weight * share) for share in shares.reshape(len(group), -1).T])
    target = sums.T.reshape(-1, *shares.shape[1:])
    first = np.unique(group, return_index=True)[1][: grouping.n_patterns]
    hold = [condition(rows.X.rows(first)) for condition in conditions]
    table: dict[str, Any] = {
        "patterns": [_as_hex(pattern) for pattern in np.column_stack([np.zeros((len(first), 0), dtype=np.bool_), *hold])],
        "rows": np.bincount(group).tolist(),
        "weight": total.tolist(),
        "target": target.tolist(),
    }
    within = loss.spread(rows.y, (target.T / total).T[group])
    if within is not None:
        table["spread"] = np.bincount(group, rows.weight * within).tolist()
    return table


def _predicted(model: Model, rows: MeasuredRows, grouping: Grouping, exchange: Exchange, size: int) -> list[Any]:
    """Return the mean prediction of one size for each group in which the conditions that hold do not determine it.

    With many classes, it is the probability of each of them.
    """
    first = grouping.n_patterns if size in grouping.exact_sizes else 0
    mean = model.loss.inverse_link(model.ensembles[size](rows.X, rows.offset))
    if mean.ndim == 1:
        return [one.published() for one in exchange.group_means(mean)[first:]]
    classes = [exchange.group_means(share)[first:] for share in mean.T]
    return [[one.published(FINEST_PROBABILITY) for one in group] for group in zip(*classes, strict=True)]


def _measures(model: Model, rows: MeasuredRows, exchange: Exchange, ensemble: RuleEnsemble) -> list[Figure | None]:
    """Return the measures of an ensemble, as `Loss.measures` lists them."""
    loss, score = model.loss, ensemble(rows.X, rows.offset)
    risk = exchange.risk(loss, rows.y, score)
    if isinstance(loss, ClassLoss):
        area = [exchange.area_under_curve(rows.y, score)] if score.ndim == 1 else []
        found = [risk, exchange.errors(loss, rows.y, score), *area]
    else:
        # What an offset explains is not owed to the rules.
        constant = np.full(len(rows.y), loss.best_constant(rows.y, rows.weight))
        base = constant if rows.offset is None else model.path[0](rows.X, rows.offset)
        found = [
            risk.rising(lambda one: float(loss.shown_risk(np.array(max(one, 0.0))))),
            risk.explained(exchange.risk(loss, rows.y, base)),
        ]
    return [None if one is None else one.published() for one in found]


def _as_hex(pattern: NDArray[np.bool_]) -> str:
    """Return bits as hexadecimal digits, the first condition first."""
    bits = "".join("01"[int(holds)] for holds in pattern)
    return "".join(f"{int(bits[start : start + 4].ljust(4, '0'), 2):x}" for start in range(0, len(bits), 4))


def _typical(X: Block, column: int, least: int) -> Figure | None:
    """Return the most frequent level of a column, or the median of its numbers, coarsely, so that it is not the value of a row.

    Missing values do not count. What would tell about fewer than ``least`` rows is None; the level is then the first of the
    column, which the model tells. The same is so of what another value of one row would change.
    """
    values, kind = X.matrix[:, column], X.column(column).kind
    if X.column(column).levels is not None:
        counts = np.bincount(values[values >= 0.0].astype(np.intp), minlength=2)
        second, most = np.sort(counts)[-2:].tolist()
        return float(counts.argmax()) if most >= least and (least == 1 or most - second >= 2) else 0.0, 0.0
    present = np.sort(values[~np.isnan(values)])
    if len(present) < least:
        return None
    middle = _middle(present, least)
    if kind in ("date", "time"):
        return _month(middle, seconds_in(kind))
    return middle.published(last_place(middle.value, MEDIAN_DIGITS))


def _middle(ascending: Vector, least: int) -> Extent:
    """Return the median, and its range if one value changes."""
    median, last, reach = float(np.median(ascending)), len(ascending) - 1, int(least > 1)
    low, high = max(last // 2 - reach, 0), min((last + 1) // 2 + reach, last)
    return Extent(float(ascending[low]), median, float(ascending[high])) if reach else Extent(median, median, median)


def _is_binary(X: Block, column: int, least: int) -> bool:
    """Say whether a column holds zeros and ones, both of them also if one row changes."""
    if X.column(column).levels is not None:
        return False
    values, counts = np.unique(X.matrix[:, column], return_counts=True)
    return np.array_equal(values, [0.0, 1.0]) and int(counts.min()) >= min(least, 2)


def _month(middle: Extent, seconds: float) -> Figure | None:
    """Return the beginning of the month of a date or time; None if one row could change it by more than a month."""
    moments = np.array([middle.low, middle.value, middle.high]) * seconds
    first, month, last = moments.astype(np.int64).astype("datetime64[s]").astype("datetime64[M]")
    if (last - first).astype(int) > 1:
        return None
    return float(month.astype("datetime64[s]").astype(np.int64)) / seconds, float(first < last) * LONGEST_MONTH / seconds
