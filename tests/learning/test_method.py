"""Tasks: what a method learns from."""

import numpy as np

from obliquerules.learning.method import GivenRows, Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block


def test_a_merged_task_has_one_row_for_equal_ones():
    X, y = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([0.0, 0.0, 1.0, 0.0])
    weight, frequency = np.array([2.0, 3.0, 4.0, 5.0]), np.array([1.0, 2.0, 1.0, 1.0])
    task = Task(Block.of_matrix(X), y, weight, LOSSES["squared"], frequency=frequency, groups=np.arange(4)).merged()
    rows = zip(task.X.matrix[:, 0], task.y, task.weight, task.frequency, strict=True)
    assert sorted(rows) == [(1.0, 0.0, 5.0, 3.0), (2.0, 0.0, 5.0, 1.0), (2.0, 1.0, 4.0, 1.0)]
    assert task.groups is None


def test_given_rows_are_kept_only_if_one_has_weight_zero():
    y, groups = ["a", "b", "c"], np.array([4, 5, 6])
    assert GivenRows.of(y, np.ones(3), groups) is None
    given = GivenRows.of(y, np.array([2.0, 0.0, 1.0]), groups)
    assert given.place.tolist() == [0, -1, 1]
    assert given.y.tolist() == y
    assert given.groups.tolist() == [4, 5, 6]
