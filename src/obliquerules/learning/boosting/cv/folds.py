"""Folds: the training and test rows of a cross-validation, checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from obliquerules.arrays import Positions, Vector
from obliquerules.data.reading import read_weights
from obliquerules.learning.method import Task


@dataclass(frozen=True, eq=False)
class Split:
    """The training and test rows of a fold, with their shares."""

    train: Positions
    test: Positions
    train_share: Vector | float = 1.0
    test_share: Vector | float = 1.0

    def learned(self, task: Task) -> Task:
        """Return the task of a fit to the training rows."""
        return task.on(self.train, self.train_share)


def distinct_rows(task: Task) -> Task:
    """Return the task with distinct rows, by group if any.

    Their order does not depend on that of the given rows.
    """
    merged, groups = task.merged(), task.sample.groups
    if groups is None:
        return merged
    entries = merged.on(groups.row, groups.weight / merged.weight[groups.row])
    return replace(entries, weight=groups.weight, groups=groups.group, stopwatch=task.stopwatch)


def splits_by_content(task: Task, n_folds: int, salts: Iterable[int]) -> list[Split]:
    """Return the splits of repetitions, each with a salt.

    The rows of the task are distinct, and none has weight zero.

    A row of weight w is dealt into folds as units and a remainder. Folds are stratified by class. The folds of a row depend on
    its content and the salt, not on its position.
    """
    units, splits = task.sample.units, list[Split]()
    strata = units.strata(task.loss.strata(task.y))
    place, counts = np.unique(strata, return_inverse=True, return_counts=True)[1:]
    # Of many classes some may have a single unit: it is learned from in every fold and tested in none.
    if np.count_nonzero(counts >= 2) < min(len(counts), 2):
        whose = "in all" if len(counts) == 1 else "in each class" if len(counts) == 2 else "in two classes"
        raise ValueError(f"cv needs at least 2 rows with weight {whose}; got {int(counts.min())} sample.")
    alone = counts[place.ravel()] < 2
    n_folds = min(n_folds, len(strata))
    # If each unit is a fold, there is only one way to assign them.
    for salt in islice(salts, 1 if n_folds == len(strata) else None):
        fold = np.where(alone, -1, units.folds(strata, n_folds, salt))
        for k in range(n_folds):
            if (fold == k).any():
                tested = units.shares(fold == k, len(task.y))
                train, test = np.flatnonzero(tested != 1.0), np.flatnonzero(tested)
                splits.append(Split(train, test, 1.0 - tested[train], tested[test]))
    return splits


def splits_by_group(task: Task, n_folds: int, salts: Iterable[int]) -> list[Split]:
    """Return the splits of repetitions by group, each with a salt.

    The rows of the task are the distinct ones of each group.
    """
    groups = task.sample.groups
    if groups is None or task.groups is None or len(groups.key) < 2:
        raise ValueError("cv needs at least 2 groups with weight; groups has one.")
    splits = []
    for salt in islice(salts, 1 if len(groups.key) <= n_folds else None):
        fold = groups.folds(min(n_folds, len(groups.key)), salt)[task.groups]
        splits += [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]
    return splits


def given_splits(cv: Any, task: Task) -> list[Split]:
    """Return the given splits or those of a splitter; raise if they are not valid."""
    from sklearn.model_selection import check_cv  # here, because it loads much that a fit does not need

    if task.given is None:
        rows, given = np.arange(len(task.y)), (task.X.matrix, task.y, task.groups)
    else:
        rows, given = task.given.place, (np.zeros((len(task.given.y), 1)), task.given.y, task.given.groups)
    try:
        splits = [(rows[train], np.unique(rows[test])) for train, test in check_cv(cv).split(*given)]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"cv cannot split the {len(rows)} rows: {error}") from error
    if len(splits) < 2:
        raise ValueError(f"cv must give at least 2 splits, to tell how far risks vary; got {len(splits)}.")
    return [Split(train[train >= 0], test[test >= 0]) for train, test in splits]


def check_split(task: Task, split: Split, *, leaves_groups_out: bool) -> None:
    """Raise if no model can be fitted to the training rows or tested by the others."""
    if not (task.weight[split.test] > 0.0).any():
        raise ValueError("cv gives a fold that has no test row with weight.")
    learned = split.learned(task)
    try:
        check_learnable(learned)
    except ValueError as error:
        raise ValueError(f"cv gives a fold on whose training rows no model can be fitted: {error}") from error
    if leaves_groups_out and learned.groups is not None and len(np.unique(learned.groups[learned.weight > 0.0])) < 2:
        raise ValueError("cv gives a fold whose training rows are one group; ridge='auto' needs two, to leave one out.")


def check_learnable(task: Task) -> None:
    """Raise if no row has weight, or if there is nothing to learn."""
    if len(task.y) == 0:
        raise ValueError("there are none.")
    counted = task.y[read_weights(task.weight, len(task.y)) > 0.0]
    if task.labels is not None and len(np.unique(counted)) < 2:
        only = task.labels.values[int(counted[0])]
        raise ValueError(f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes.")
    complaint = task.loss.complaint(counted)
    if complaint is not None:
        raise ValueError(f"y {complaint} (loss='{task.loss.name}').")
