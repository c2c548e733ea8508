"""Subsampled fit: conditions learned from some of many rows, with weights fitted to all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from obliquerules.data.blocks import ON_ONE_PROCESSOR, RowBlock, RowBlocks, RowsInMemory
from obliquerules.data.subsample import subsample
from obliquerules.data.typical_ranges import TypicalRanges
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.learning.refit import refit_path
from obliquerules.losses import Loss
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.ensemble import used_columns
from obliquerules.rules.numbers import rounded_to
from obliquerules.rules.path_table import pareto
from obliquerules.status_line import StatusLine, opened

# Sums over rows in another order change digits beyond these.
DIGITS = 9
# Smaller weights, in the unit of scores, may be rounding errors.
NEXT_TO_NOTHING = 1e-4


def grown(method: Method, task: Task, rows: RowBlocks | None = None, n_rows: int = 0) -> Growth:
    """Learn from all rows or, if there are many, conditions from some and weights from all.

    A task without rows is about ``rows`` elsewhere, such as those of a file.
    """
    can_learn_from_some = method.can_learn_from_some(task)
    if rows is None:
        if method.search_rows is None or len(task.y) <= method.search_rows or not can_learn_from_some:
            return _grown_from_all(method, task)
        frequency = task.weight if task.frequency is None else task.frequency
        unit = weight_unit(float(np.add.reduce(frequency)), int(np.count_nonzero(frequency)))
        rows = RowsInMemory(task.X, task.y, task.weight * unit, task.offset, frequency * unit, method.n_jobs)
        n_rows = len(task.y)
    elif not can_learn_from_some:
        raise ValueError("cv must be a number of folds: rows that are not in memory cannot be split as given.")
    loss, most = task.loss, n_rows if method.search_rows is None else method.search_rows
    with ON_ONE_PROCESSOR:  # once for all that follows: to look for libraries takes longer than some passes
        some, every = subsample(rows, loss.strata, 1 if task.labels is None else len(task.labels), most)
        task = replace(task, X=some.X, y=some.y, weight=some.weight, offset=some.offset, frequency=some.frequency, groups=None)
        if every:
            return _grown_from_all(method, task)
        with _status_line(method, task) as line:
            growth = method.grow(task)
            if method.free_weights:
                line.begin("weights of all rows", 1.0, 1.0)
                ridges = growth.ridges or [None] * len(growth.path)
                penalties = [method.penalty(loss, some.y, some.weight, task.class_weights, ridge) for ridge in ridges]
                growth = refitted(growth, some, rows, loss, penalties)
        used = used_columns(growth.path)
        ends = rows.fold(lambda block: TypicalRanges.of(block.X, block.weight, used))
    return replace(growth, ranges=ends.ranges(), from_some=True)


def _grown_from_all(method: Method, task: Task) -> Growth:
    task = replace(task, X=task.X.in_doubles())
    with _status_line(method, task):
        growth = method.grow(task)
    return replace(growth, ranges=task.sample.ranges(used_columns(growth.path)))


def _status_line(method: Method, task: Task) -> AbstractContextManager[StatusLine]:
    """Open the status line of a fit, unless it is verbose."""
    return opened(task.learner, task.stopwatch.clock, shown=not method.verbose)


def weight_unit(total: float, counted: int) -> float:
    """Return the factor that turns small weights, such as shares, into counts of rows."""
    return max(1.0, rounded_to(counted / total, DIGITS))


def refitted(growth: Growth, some: RowBlock, rows: RowBlocks, loss: Loss, penalties: Sequence[Any]) -> Growth:
    """Return a path learned from some rows with weights and front on all."""
    fitted = refit_path(growth.path, some, rows, loss, penalties)
    chosen = range(len(fitted))[growth.chosen]
    # The first member is the constant, the reference of all losses; the chosen one stays whatever it costs.
    kept = pareto(range(len(fitted)), lambda index: (fitted[index][0].complexity, rounded_to(fitted[index][1], DIGITS)))
    kept = sorted({*kept, 0, chosen})
    unit = math.sqrt(float(np.average(some.y**2, weights=some.weight))) if loss.link_name == "identity" else 1.0
    path = tuple(_rounded(fitted[index][0], unit) for index in kept)
    by_member = {name: getattr(growth, name) for name in ("ridges", "expected", "standard_errors")}
    found: dict[str, Any] = {name: tuple(values[index] for index in kept if values) for name, values in by_member.items()}
    results = {name: values[kept] for name, values in growth.notes.get("cv_results_", {}).items()}
    notes = {**growth.notes, **({"cv_results_": results} if results else {})}
    return replace(growth, path=path, chosen=kept.index(chosen), notes=notes, **found)


def _rounded(ensemble: RuleEnsemble, unit: float) -> RuleEnsemble:
    """Round weights, so that the order of summation does not count.

    Of many classes, the largest weight of a rule decides on the digits of all. A weight next to nothing, in the unit of scores,
    gets no further digits; that of a slope has another unit.
    """
    table = ensemble.weight_table
    largest = np.abs(table.reshape(len(table), -1)).max(axis=1)
    sloped = np.array([False, *(rule.factor is not None for rule in ensemble)])
    least = np.where(sloped, largest, np.maximum(largest, unit * NEXT_TO_NOTHING))
    decimals = [DIGITS - 1 - math.floor(math.log10(most)) if most > 0.0 else 0 for most in least.tolist()]
    # Adding zero makes a negative zero positive.
    rounded = [
        [round(one, places) + 0.0 for one in np.ravel(row).tolist()] for row, places in zip(table, decimals, strict=True)
    ]
    return ensemble.with_weight_table(np.reshape(rounded, table.shape))
