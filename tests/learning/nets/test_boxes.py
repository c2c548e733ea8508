"""Thresholds lie in real gaps; boxes hold the rows that rules hold, and so does their shortest form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.nets.boxes import Binarisation, Boxes, binarise, levels_of, shortest


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


def ones(X):
    return np.ones(len(X))


def test_thresholds_separate_rows_as_the_deciles_do():
    X = np.random.default_rng(0).normal(size=(237, 2))
    binarisation = binarise(X, ones(X), 9)
    assert binarisation.columns.tolist() == [0] * 9 + [1] * 9
    for column in range(2):
        deciles = np.quantile(X[:, column], np.arange(1, 10) / 10)
        np.testing.assert_array_equal(binarisation(X)[:, 9 * column : 9 * column + 9], X[:, [column]] <= deciles)


def test_a_column_of_few_values_is_cut_between_all_of_them_and_a_constant_one_nowhere():
    X = np.column_stack([np.arange(40) % 4, np.zeros(40), np.arange(40) % 2])
    binarisation = binarise(X, ones(X), 9)
    assert binarisation.columns.tolist() == [0, 0, 0, 2]
    assert binarisation.thresholds.tolist() == [0.5, 1.5, 2.5, 0.5]


def test_values_that_differ_by_rounding_only_are_not_told_apart():
    X = np.array([[1.0], [1.0 + 1e-15], [2.0]])
    assert binarise(X, ones(X), 9).thresholds.tolist() == [1.5]


@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_weight_of_two_is_a_row_twice(values, n_thresholds, seed):
    X = np.array(values, dtype=np.float64)[:, np.newaxis]
    weight = np.random.default_rng(seed).integers(1, 4, len(X))
    weighted = binarise(X, weight.astype(np.float64), n_thresholds)
    repeated = binarise(np.repeat(X, weight, axis=0), np.ones(weight.sum()), n_thresholds)
    assert weighted.thresholds.tolist() == repeated.thresholds.tolist()
    assert (np.diff(weighted.thresholds) > 0.0).all()
    assert len(weighted) <= max(n_thresholds, 1)


@pytest.mark.parametrize("n", [1, 2])
def test_hardly_any_rows_give_hardly_any_thresholds(n):
    assert len(binarise(np.arange(float(n))[:, np.newaxis], np.ones(n), 9)) == n - 1
