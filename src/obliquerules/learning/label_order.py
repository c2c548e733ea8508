"""Class order: many classes in an order that does not depend on their labels, so that new labels give the same rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.data.sample import hash_rows
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.rules import Labels, RuleEnsemble

Learning = TypeVar("Learning", bound=Method)


@dataclass(frozen=True, eq=False)
class ClassOrder:
    """The classes of a task in the order of a hash of their rows.

    Attributes
    ----------
    place : array of shape (n_classes,)
        The place of each class in that order.
    """

    place: NDArray[np.intp]

    @classmethod
    def of(cls, task: Task) -> ClassOrder:
        """Return the order of the classes of a task; only the rows of a class count, not its label."""
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
        return cls(place)

    def of_classes(self, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        """Return what there is one of for each class, in this order."""
        return None if values is None else tuple(values[output] for output in np.argsort(self.place))

    def ordered(self, task: Task) -> Task:
        """Return the task with its classes in this order."""
        labels = task.labels
        if labels is not None:
            labels = Labels(self.of_classes(labels.values) or (), labels.dtype)
        offset = None if task.offset is None else task.offset[:, np.argsort(self.place)]
        return replace(task, y=self.place[task.y.astype(np.intp)].astype(np.float64), labels=labels, offset=offset)

    def restored(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Return an ensemble of the ordered task with its classes in the order of the task itself."""
        rules = [replace(rule, weight=tuple(rule.weights[one] for one in self.place)) for rule in ensemble]
        constant = [ensemble.intercepts[one] for one in self.place]
        outputs = None if ensemble.outputs is None else [ensemble.outputs[one] for one in self.place]
        return RuleEnsemble(rules, constant, ensemble.columns, outputs)


def grow_in_class_order(method: Learning, task: Task, grow: Callable[[Learning, Task], Growth]) -> Growth:
    """Let a method learn from a task, with many classes in the order that does not depend on their labels."""
    if not task.loss.output_shape:
        return grow(method, task)
    order = ClassOrder.of(task)
    growth = grow(replace(method, class_weights=order.of_classes(method.class_weights)), order.ordered(task))
    return replace(growth, path=tuple(order.restored(ensemble) for ensemble in growth.path))
