"""Folds: the training and test rows of a cross-validation, checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.method import Task
from obliquerules.rows.reading import read_weights
from obliquerules.rows.sample import folds_of_groups, hash_rows

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


def splits_by_content(task: Task, n_folds: int, salts: Iterator[int]) -> Iterator[list[Split]]:
    """Yield the splits of one repetition after another; the rows of the task are distinct and not of weight zero.

    Folds are stratified by class. The fold of a row depends on its content and the salt, not on its position.
    """
    strata = task.loss.strata(task.y)
    alone = rows_alone(task, strata)
    n_folds = min(n_folds, len(strata))
    # If each row is a fold, there is only one way to assign them.
    for salt in islice(salts, 1 if n_folds == len(strata) else None):
        fold = np.where(alone, -1, task.sample.folds(strata, n_folds, salt))
        yield [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def splits_by_group(task: Task, groups: Rows, n_folds: int, salts: Iterator[int]) -> Iterator[list[Split]]:
    """Yield the splits of one repetition after another, with all rows of a group in one fold."""
    counted = np.flatnonzero(task.weight > 0.0)
    present = np.unique(groups[counted], return_inverse=True)[1]
    n_groups = int(present.max()) + 1
    if n_groups < 2:
        raise ValueError("cv needs at least 2 groups with weight; groups has one.")
    keys = hash_rows(task.X.matrix[counted], task.y[counted])
    for salt in islice(salts, 1 if n_groups <= n_folds else None):
        fold = folds_of_groups(keys, task.weight[counted], present, min(n_folds, n_groups), salt)
        yield [(counted[fold != k], counted[fold == k]) for k in range(int(fold.max()) + 1)]


def has_different_rows(task: Task) -> bool:
    """Say whether each class, or the whole, has two different rows, so that equal rows can be kept together in folds.

    Of many classes, two are enough.
    """
    counts = np.unique(task.loss.strata(task.sample.y), return_counts=True)[1]
    return _can_be_parted(task, counts)


def _can_be_parted(task: Task, counts: Rows) -> bool:
    """Say whether strata of these sizes can be split: all of them or, of many classes, two."""
    return bool((counts >= 2).sum() >= 2 if task.loss.by_class else counts.min() >= 2)


def splits_of_copies(task: Task, n_folds: int) -> list[Split]:
    """Return splits that part copies of a row, because there is nothing else to be parted."""
    from sklearn.model_selection import StratifiedKFold  # here, because it loads much that a fit does not need

    counted = np.flatnonzero(task.weight > 0.0)
    strata = task.loss.strata(task.y[counted])
    alone = rows_alone(task, strata)
    always, shared = counted[alone], counted[~alone]
    strata = strata[~alone]
    n_splits = min(n_folds, int(np.unique(strata, return_counts=True)[1].min()))
    splits = StratifiedKFold(n_splits).split(strata, strata)
    return [(np.append(shared[train], always), shared[test]) for train, test in splits]


def rows_alone(task: Task, strata: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which rows are the only ones of their class; raise if there are too few rows to be split into folds.

    Of many classes some may have a single row: it is learned from in every fold and tested in none.
    """
    place, counts = np.unique(strata, return_inverse=True, return_counts=True)[1:]
    if not _can_be_parted(task, counts):
        whose = ("in two classes" if task.loss.by_class else "in each class") if len(counts) > 1 else "in all"
        raise ValueError(f"cv needs at least 2 different rows with weight {whose}; got {int(counts.min())} sample.")
    return np.asarray(counts[place.ravel()] < 2)


def given_splits(cv: Any, task: Task) -> list[Split]:
    """Return the splits that a splitter makes, or the given ones; raise if they are not valid."""
    rows = np.arange(len(task.y))
    try:
        splits = [(rows[train], np.unique(rows[test])) for train, test in _splits(cv, task)]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"cv cannot split the {len(rows)} rows: {error}") from error
    if len(splits) < 2:
        raise ValueError(f"cv must give at least 2 splits, to tell how far risks vary; got {len(splits)}.")
    return splits


def _splits(cv: Any, task: Task) -> Any:
    from sklearn.model_selection import check_cv  # here, because it loads much that a fit does not need

    return check_cv(cv).split(task.X.matrix, task.y, task.groups)


def check_split(task: Task, train: Rows, test: Rows) -> None:
    """Raise if no model can be fitted to the training rows, or judged by the test rows."""
    if not (task.weight[test] > 0.0).any():
        raise ValueError("cv gives a fold that has no test row with weight.")
    try:
        check_learnable(task.on(train))
    except ValueError as error:
        raise ValueError(f"cv gives a fold on whose training rows no model can be fitted: {error}") from error


def check_learnable(task: Task) -> None:
    """Raise if there are no rows that have weight, or if they cannot be learned from."""
    if len(task.y) == 0:
        raise ValueError("there are none.")
    counted = task.y[read_weights(task.weight, len(task.y)) > 0.0]
    if task.labels is not None and len(np.unique(counted)) < 2:
        only = task.labels.values[int(counted[0])]
        raise ValueError(f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes.")
    complaint = task.loss.complaint(counted)
    if complaint is not None:
        raise ValueError(f"y {complaint} (loss='{task.loss.name}').")
