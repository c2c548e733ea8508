"""Figures: all that the workbench knows about rows, namely counts and targets by group, and measures of each size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
    typical, binary = dict[str, Figure | None](), list[int]()
    for column in used_columns(model.ensembles[size] for size in sizes):
        typical[str(column)] = _typical(rows.X, column, rows.least)
        values, counts = np.unique(rows.X.matrix[:, column], return_counts=True)
        # Zeros and ones, both of them also if one row changes.
        is_binary = np.array_equal(values, [0.0, 1.0]) and int(counts.min()) >= min(rows.least, 2)
        if is_binary and rows.X.column(column).levels is None:
            binary.append(column)
    predicted = list[list[Any]]()
    for size in sizes:
        # The mean prediction of each group in which the conditions that hold do not determine it, or that of each class.
        first = grouping.n_patterns if size in grouping.exact_sizes else 0
        mean = model.loss.inverse_link(model.ensembles[size](rows.X, rows.offset))
        finest = None if mean.ndim == 1 else FINEST_PROBABILITY
        shares = mean.reshape(len(mean), -1).T
        columns = [[one.published(finest) for one in exchange.group_means(share)[first:]] for share in shares]
        predicted.append(columns[0] if mean.ndim == 1 else list(zip(*columns, strict=True)))
    return {
        "name": rows.name,
        "rows": len(rows.y),
        "least": rows.least,
        "exact": [size in grouping.exact_sizes for size in sizes],
        "conditions": [conditions.index(condition) for condition in defining],
        "groups": group_table(model.loss, rows, grouping, defining),
        "predicted": predicted,
        "coverage": {
            str(conditions.index(condition)): exchange.share(condition(rows.X)).published(FINEST_SHARE) for condition in shown
        },
        "measures": [_measures(model, rows, exchange, ensemble) for ensemble in model.ensembles],
        "typical": typical,
        "binary": binary,
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
    # Four conditions to a hexadecimal digit, the first condition first.
    bits = np.packbits(np.column_stack([np.zeros((len(first), 0), dtype=np.bool_), *hold]), axis=1)
    table: dict[str, Any] = {
        "patterns": [pattern.tobytes().hex()[: -(-len(hold) // 4)] for pattern in bits],
        "rows": np.bincount(group).tolist(),
        "weight": total.tolist(),
        "target": target.tolist(),
    }
    within = loss.spread(rows.y, (target.T / total).T[group])
    if within is not None:
        table["spread"] = np.bincount(group, rows.weight * within).tolist()
    return table


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
    # The median, and its range if one value changes.
    median, end = float(np.median(present)), len(present) - 1
    middle = Extent(median, median, median)
    if least > 1:
        middle = Extent(float(present[max(end // 2 - 1, 0)]), median, float(present[min((end + 1) // 2 + 1, end)]))
    if kind not in ("date", "time"):
        return middle.published(last_place(median, MEDIAN_DIGITS))
    # The beginning of the month; none if one row could change it by more than a month.
    seconds = seconds_in(kind)
    moments = np.array([middle.low, middle.value, middle.high]) * seconds
    first, month, last = moments.astype(np.int64).astype("datetime64[s]").astype("datetime64[M]")
    if (last - first).astype(int) > 1:
        return None
    return float(month.astype("datetime64[s]").astype(np.int64)) / seconds, float(first < last) * LONGEST_MONTH / seconds
