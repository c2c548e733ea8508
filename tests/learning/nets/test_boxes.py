"""Boxes hold the rows that the rules hold, in original units too, and their shortest form holds the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.nets.binarisation import Binarisation, binarise
from obliquerules.learning.nets.boxes import Boxes, levels_of, shortest


def fires_by_hand(signs, inputs):
    """A rule fires where all inputs with sign 1 are 1 and all with sign -1 are 0."""
    return np.array(
        [[all(x if s > 0 else not x for s, x in zip(rule, row, strict=True) if s) for rule in signs] for row in inputs]
    )


@st.composite
def problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.integers(0, draw(st.integers(2, 8)), (draw(st.integers(3, 40)), draw(st.integers(1, 4)))).astype(np.float64)
    binarisation = binarise(X, np.ones(len(X)), 5)
    shape = draw(st.integers(0, 5)), len(binarisation)
    signs = random.choice(np.array([-1, 0, 1], dtype=np.int8), shape, p=[0.15, 0.7, 0.15])
    return X, binarisation, signs


@given(problems())
def test_boxes_conjunctions_and_rules_fire_alike(problem):
    X, binarisation, signs = problem
    by_hand = fires_by_hand(signs, binarisation(X)).reshape(len(X), len(signs)).any(axis=1)
    boxes, levels = Boxes.of(signs, binarisation, X.shape[1]), levels_of(X, binarisation)
    np.testing.assert_array_equal(boxes.fires(levels).any(axis=1), by_hand)
    conditions = list(boxes.conjunctions(binarisation))
    np.testing.assert_array_equal(boxes.fires(levels), np.array([c(X) for c in conditions]).reshape(len(boxes), len(X)).T)
    assert boxes.asked.sum() == sum(map(len, conditions))


@given(problems())
def test_the_shortest_form_holds_the_same_rows_and_nothing_more_can_go(problem):
    X, binarisation, signs = problem
    boxes, levels = Boxes.of(signs, binarisation, X.shape[1]), levels_of(X, binarisation)
    short = shortest(boxes, levels)
    inside = boxes.fires(levels).any(axis=1)
    np.testing.assert_array_equal(short.fires(levels).any(axis=1), inside)
    assert short.asked.sum() <= boxes.asked.sum()
    for box in range(len(short)):
        assert not np.array_equal(short.without(box).fires(levels).any(axis=1), inside)
        for bound in np.flatnonzero(short.asked[box]):
            assert not np.array_equal(short.without_bound(box, bound).fires(levels).any(axis=1), inside)


THREE_CUTS = Binarisation(np.array([0, 0, 0]), np.array([1.5, 2.5, 3.5]))


@pytest.mark.parametrize(
    ("signs", "printed"),
    [
        ([[1, 0, 1]], ["x0 <= 1.5"]),  # the wider condition is implied
        ([[-1, -1, 1]], ["x0 >= 2.5 & x0 <= 3.5"]),
        ([[1, -1, 0]], []),  # no row can be in it
        ([[1, 0, 0], [0, 0, 1]], ["x0 <= 3.5"]),  # the narrower rule is covered
        ([[1, 0, 0], [-1, 0, 1]], ["x0 <= 3.5"]),  # two neighbours are one
        ([[0, 0, 1], [0, -1, 0]], ["True"]),  # together they hold everything
    ],
)
def test_implied_conditions_and_covered_rules_go(signs, printed):
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    boxes = shortest(Boxes.of(np.array(signs, dtype=np.int8), THREE_CUTS, 1), levels_of(X, THREE_CUTS))
    assert [str(condition) for condition in boxes.conjunctions(THREE_CUTS)] == printed
