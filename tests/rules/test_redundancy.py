"""Dropping: what is left of a condition holds on the same rows, and nothing more of it can go."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obliquerules import Column, Conjunction, Membership, Proposition
from obliquerules.rules import Block, Shortening
from obliquerules.rules.redundancy import Dropping, shorter_tests

from ..droppable import with_less
from . import mixed

COLUMNS = (
    Column("home", ("owner", "rent")),
    Column("records", ("no", "yes")),
    Column("job", ("fixed", "free", "part")),
    "seniority",
)


def applicants(n_rows=300, seed=0):
    """Return rows of three columns of levels and one of numbers."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_rows) for n in (2, 2, 3)]
    return Block.of_matrix(np.column_stack([*codes, rng.integers(0, 40, n_rows)]).astype(float), COLUMNS)


def condition(text, block):
    return Conjunction.parse(text, block.columns)


def needed(text, block):
    """Return what is left of a condition that is given as text."""
    return Dropping(Shortening(block)).condition(condition(text, block)).describe(block.columns)


def test_a_mixed_sum_that_is_one_level_on_every_row_becomes_that_level():
    text = "(home = owner) - 1.3 (records = yes) + 0.2 (job = fixed) + 0.01 (job = part) + 0.0003 seniority <= -0.04"
    block = applicants()
    # Nobody who has records owns a home, as in the data on which such a sum was found.
    keep = ~((block.matrix[:, 0] == 0) & (block.matrix[:, 1] == 1))
    some = block.rows(keep)
    assert (condition(text, some)(some) == (some.matrix[:, 1] == 1)).all()
    assert needed(text, some) == "records = yes"


def test_a_threshold_is_placed_anew_between_the_rows_that_the_rule_tells_apart():
    X = np.array([[0.0, 0.0], [1.0, 3.0], [5.0, -3.0], [6.0, 0.0], [3.0, 9.0]])
    block = Block.of_matrix(X, ["a", "b"])
    # Without b, a threshold between 3 and 5 does what both tests did.
    assert needed("a + 0.1 b >= 3.5 & b <= 5", block) == "a >= 4"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("job in {fixed, free} & seniority >= 20", "job = fixed & seniority >= 20"),
        ("job not in {free, part} & seniority >= 20", "job != part & seniority >= 20"),
        ("job = fixed or missing & seniority >= 20", "job = fixed & seniority >= 20"),
        ("seniority >= 20 & seniority >= 10", "seniority >= 20"),
    ],
)
def test_levels_and_tests_that_move_no_row_go(text, left):
    block = applicants()
    # Of long seniority, nobody is free.
    some = block.rows((block.matrix[:, 3] < 20) | (block.matrix[:, 2] != 1))
    assert needed(text, some) == left


def test_or_missing_stays_where_a_value_is_missing():
    block = applicants()
    block.matrix[:5, 2] = np.nan
    assert needed("job = fixed or missing", block) == "job = fixed or missing"


@settings(max_examples=100)
@given(st.lists(mixed.tests, min_size=1, max_size=3).map(Conjunction), mixed.blocks)
def test_what_is_left_holds_on_the_same_rows_and_nothing_more_can_go(condition, block):
    fires = condition(block)
    assume(fires.any() and not fires.all())
    shortening = Shortening(block)
    left = Dropping(shortening).condition(Conjunction(map(shortening.proposition, condition)))
    assert left(block).tolist() == fires.tolist()
    assert left.complexity <= condition.complexity
    for less, holds in with_less(left, fires, np.zeros(len(block)), block):
        assert holds.tolist() != fires.tolist(), less


def test_the_shorter_tests_have_one_thing_less():
    test = Proposition([0, Membership(1, ["a", "b"])], [1.0, 2.0], 3.0, missing=True)
    shorter = list(shorter_tests(test))
    assert len(shorter) == 5
    assert {one.complexity for one in shorter} == {test.complexity - 1, test.complexity - 2}
    ordered = Membership(0, ["b", "c"], ordered=True)
    assert list(shorter_tests(ordered)) == []
