"""Label order: many classes in an order that does not depend on their labels, so that new labels give the same rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from obliquerules.arrays import Positions
from obliquerules.data.sample import hash_rows
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.rules import Labels, RuleEnsemble

Learning = TypeVar("Learning", bound=Method)


def grow_in_class_order(method: Learning, task: Task, grow: Callable[[Learning, Task], Growth]) -> Growth:
    """Let a method learn with many classes ordered by a hash of their rows."""
    if not task.loss.output_shape:
        return grow(method, task)
    place = places_of_classes(task)
    order = np.argsort(place).tolist()
    weights = None if method.class_weights is None else tuple(method.class_weights[output] for output in order)
    growth = grow(replace(method, class_weights=weights), in_order(task, place))
    return replace(growth, path=tuple(_restored(ensemble, place) for ensemble in growth.path))


def places_of_classes(task: Task) -> Positions:
    """Return the place of each class, by its rows and not by its label."""
    counted = task.weight > 0.0
    codes = task.y[counted].astype(np.intp)
    key = hash_rows(task.X.matrix[counted], np.zeros(len(codes)))
    sums = []
    for output in range(task.loss.n_classes):
        mine = codes == output
        # Unsigned sums that overflow begin again at zero, so that no order counts; equal rows are one.
        sums.append((int(np.unique(key[mine]).sum(dtype=np.uint64)), float(np.sort(task.weight[counted][mine]).sum())))
    place = np.empty(len(sums), dtype=np.intp)
    place[sorted(range(len(sums)), key=lambda output: sums[output])] = np.arange(len(sums))
    return place


def in_order(task: Task, place: Positions) -> Task:
    """Return a task with its classes at these places."""
    labels, order = task.labels, np.argsort(place)
    if labels is not None:
        labels = Labels(tuple(labels.values[output] for output in order), labels.dtype)
    offset = None if task.offset is None else task.offset[:, order]
    return replace(task, y=place[task.y.astype(np.intp)].astype(np.float64), labels=labels, offset=offset)


def _restored(ensemble: RuleEnsemble, place: Positions) -> RuleEnsemble:
    """Return an ensemble with its classes in the order of labels."""
    rules = [replace(rule, weight=tuple(rule.weights[one] for one in place)) for rule in ensemble]
    outputs = None if ensemble.outputs is None else [ensemble.outputs[one] for one in place]
    return RuleEnsemble(rules, [ensemble.intercepts[one] for one in place], ensemble.columns, outputs)
