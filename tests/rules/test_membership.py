"""A membership holds for its levels, treats unseen levels and missing values as it says, and has an exact complement."""

import pickle

import numpy as np
import pytest
from hypothesis import given

from obliquerules.rules import Block, Column, Columns, Membership

from .mixed import COLUMNS, blocks, memberships, tests
from .strategies import few

COLOUR = Columns.of([Column("colour", ("red", "green", "blue"))])
ROWS = Block(COLOUR, np.array([[0.0], [1.0], [2.0], [-1.0], [np.nan]]))


@pytest.mark.parametrize(
    ("membership", "holds"),
    [
        (Membership(0, ["red", "blue"]), [1, 0, 1, 0, 0]),
        (Membership(0, ["red", "blue"], missing=True), [1, 0, 1, 0, 1]),
        (Membership(0, ["red"], negated=True), [0, 1, 1, 1, 0]),
        (Membership(0, ["red"], negated=True, missing=True), [0, 1, 1, 1, 1]),
        (Membership(0, [], missing=True), [0, 0, 0, 0, 1]),
        (Membership(0, [], negated=True), [1, 1, 1, 1, 0]),
        (Membership(0, ["teal"]), [0, 0, 0, 0, 0]),
    ],
)
def test_unseen_levels_are_in_no_list_and_missing_values_as_stated(membership, holds):
    assert membership(ROWS).tolist() == list(map(bool, holds))


@few
@given(tests, blocks)
def test_the_opposite_holds_where_a_condition_does_not(test, block):
    both, none = test(block) & test.opposite()(block), ~test(block) & ~test.opposite()(block)
    equal = np.zeros(len(block), dtype=bool) if isinstance(test, Membership) else test.project(block) == test.threshold
    assert not none.any()
    assert np.array_equal(both, equal & both)
    assert both[~equal].sum() == 0


@few
@given(memberships(), blocks)
def test_it_holds_for_the_levels_that_it_has(membership, block):
    levels = COLUMNS[membership.column].levels or ()
    codes = block.matrix[:, membership.column]
    for code, level in enumerate(levels):
        assert (membership(block)[codes == code] == membership.has(level)).all()
    assert (membership(block)[np.isnan(codes)] == membership.missing).all()


@few
@given(tests)
def test_it_is_a_value(test):
    assert pickle.loads(pickle.dumps(test)) == test
    assert test.with_missing(test.missing) == test
    assert test.opposite().opposite() == test


@pytest.mark.parametrize(
    ("membership", "complexity"),
    [
        (Membership(0, ["red"]), 2),
        (Membership(0, ["red", "blue"], negated=True), 3),
        (Membership(0, ["red"], missing=True), 3),
        (Membership(0, [], missing=True), 2),
        (Membership(0, [], negated=True), 2),
        (Membership(4, ["mid", "high", "top"], ordered=True), 2),
    ],
)
def test_what_is_read_is_counted(membership, complexity):
    assert membership.complexity == complexity


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((-1, ["a"]), "must not be negative"),
        ((0, [1.5]), "Levels are text, whole numbers or booleans"),
        ((0, ["a", "a"]), "must be different"),
        ((0, []), "says that a value is missing, or that it is not"),
        ((0, [], True, True), "says that a value is missing, or that it is not"),
        ((0, [], False, True, True), "lists one or more"),
    ],
)
def test_what_says_nothing_is_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Membership(*arguments)


def test_one_of_two_booleans_is_enough():
    assert Membership(3, [True], negated=True) == Membership(3, [False])
    assert Membership(3, [True]).opposite() == Membership(3, [False], missing=True)


@pytest.mark.parametrize(
    ("membership", "text"),
    [
        (Membership(2, ["red", "a, b"]), 'colour in {red, "a, b"}'),
        (Membership(2, ["4"], negated=True, missing=True), 'colour != "4" or missing'),
        (Membership(3, [True]), "smoker"),
        (Membership(3, [False], missing=True), "not smoker or missing"),
        (Membership(4, ["high", "top"], ordered=True), "grade at least high"),
        (Membership(4, ["low", "mid"], ordered=True), "grade at most mid"),
        (Membership(4, ["low", "mid"], negated=True, ordered=True), "grade above mid"),
        (Membership(4, ["top"], negated=True, ordered=True), "grade below top"),
        (Membership(8, [3]), "ward = 3"),
        (Membership(1, [], missing=True), "bmi (kg/m2) is missing"),
        (Membership(1, [], negated=True), "bmi (kg/m2) is not missing"),
    ],
)
def test_it_prints_as_what_it_says(membership, text):
    assert membership.describe(COLUMNS) == text
