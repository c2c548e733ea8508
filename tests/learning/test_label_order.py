"""Many classes are put in an order that their labels have no part in, and ensembles come back from it."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.boosting.tgb import TGB
from obliquerules.learning.label_order import grow_in_class_order, in_order, places_of_classes
from obliquerules.learning.method import Growth, Task
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Block, Labels, Rule, RuleEnsemble


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

    def grow(method, ordered):
        assert method.class_weights == tuple(float(names.index(label)) for label in ordered.labels.values)
        shares = np.bincount(ordered.y.astype(int), minlength=4).tolist()
        return Growth((RuleEnsemble([Rule(shares)], shares, None, ordered.labels.names),), n_iter=3)

    weights = tuple(float(names.index(label)) for label in task.labels.values)
    growth = grow_in_class_order(TGB(class_weights=weights), task, grow)
    shares = tuple(np.bincount(task.y.astype(int), minlength=4).tolist())
    assert growth.n_iter == 3
    assert growth.path[0].outputs == task.labels.names
    assert growth.path[0].intercepts == growth.path[0][0].weights == shares


def test_one_score_has_no_order():
    task = dataclasses.replace(task_of("abcd"), loss=LOSSES["squared"])
    seen = []
    grow_in_class_order(TGB(), task, lambda _, given: seen.append(given) or Growth((), 0))
    assert seen[0] is task
