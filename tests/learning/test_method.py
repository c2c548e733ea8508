"""Tasks: what a method learns from; many classes in an order that their labels have no part in."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.method import GivenRows, Growth, Task, grow_in_class_order, in_order, places_of_classes
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Block, Labels, Rule, RuleEnsemble


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
    every = GivenRows.of(y, np.array([2.0, 0.0, 1.0]), groups)
    assert every.place.tolist() == [0, -1, 1]
    assert every.y.tolist() == y
    assert every.groups.tolist() == [4, 5, 6]


def task_of(names):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 2)), rng.integers(0, 4, 40)
    y = np.array(list(names))[codes]
    labels = Labels.of(y)
    return Task(Block.of_matrix(X), labels.encode(y), np.ones(40), class_loss(4), labels)


@given(st.permutations("abcd"))
def test_the_ordered_task_is_the_same_whatever_the_labels(names):
    one, two = (in_order(task, places_of_classes(task)) for task in (task_of("abcd"), task_of(names)))
    np.testing.assert_array_equal(one.y, two.y)
    renamed = dict(zip("abcd", names, strict=True))
    assert [renamed[label] for label in one.labels.values] == list(two.labels.values)


@given(st.permutations("abcd"))
def test_what_is_learned_of_a_class_comes_back_as_its_own(names):
    task = task_of(names)

    def grow(ordered):
        assert ordered.class_weights == tuple(float(names.index(label)) for label in ordered.labels.values)
        shares = np.bincount(ordered.y.astype(int), minlength=4).tolist()
        return Growth((RuleEnsemble([Rule(shares)], shares, None, ordered.labels.names),), n_iter=3)

    weights = tuple(float(names.index(label)) for label in task.labels.values)
    growth = grow_in_class_order(dataclasses.replace(task, class_weights=weights), grow)
    shares = tuple(np.bincount(task.y.astype(int), minlength=4).tolist())
    assert growth.n_iter == 3
    assert growth.path[0].outputs == task.labels.names
    assert growth.path[0].intercepts == growth.path[0][0].weights == shares


def test_one_score_has_no_order():
    task = dataclasses.replace(task_of("abcd"), loss=LOSSES["squared"])
    seen = []
    grow_in_class_order(task, lambda given: seen.append(given) or Growth((), 0))
    assert seen[0] is task
