"""Sums of 0/1 inputs get the smallest whole weights that say the same of every case."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Block, Column, Columns, Membership, Proposition
from obliquerules.rules.rounding.votes import in_whole_numbers

from ..mixed import COLUMNS, FLAGS, blocks, memberships
from ..strategies import few


def flags(n):
    """Return all cases of n flags."""
    names = Columns.of(Column(f"f{i}", kind="flag") for i in range(n))
    return Block(names, np.array(list(itertools.product((0.0, 1.0), repeat=n))))


@given(st.lists(st.floats(-3, 3).filter(lambda w: abs(w) > 1e-3), min_size=1, max_size=5), st.floats(-4, 4))
def test_every_case_keeps_its_side_and_weights_are_small(weights, threshold):
    block = flags(len(weights))
    proposition = Proposition(range(len(weights)), weights, threshold)
    whole = in_whole_numbers(proposition, block)
    assert np.array_equal(whole(block), proposition(block))
    assert whole.complexity <= proposition.complexity
    holds = proposition(block)
    if holds.any() and not holds.all():
        assert all(weight == int(weight) and abs(weight) <= 5 for weight in whole.weights)
        assert in_whole_numbers(whole, block) == whole


@pytest.mark.parametrize(
    ("weights", "threshold", "whole"),
    [
        ([1, 0.02], 0.01, Proposition([0, 1], [1, 1], 1)),
        ([1, 0.02], 0.5, Proposition([0], [1], 1)),
        ([0.3, 0.4, 0.5], 0.65, Proposition([0, 1, 2], [1, 1, 1], 2)),
        ([1.1, -0.7], 0.5, Proposition([0, 1], [1, -1], 1)),
        ([-2.0], -0.7, Proposition([0], [-1], 0)),
        ([2.2, 1.0, 1.1], 2.0, Proposition([0, 1, 2], [2, 1, 1], 2)),
    ],
)
def test_examples(weights, threshold, whole):
    assert in_whole_numbers(Proposition(range(len(weights)), weights, threshold), flags(len(weights))) == whole


@few
@given(st.lists(st.one_of(st.sampled_from(FLAGS), memberships()), min_size=1, max_size=4, unique=True), st.data())
def test_rows_keep_their_side_with_levels_too(terms, data):
    weights = data.draw(st.lists(st.sampled_from([-2.0, -1.0, -0.4, 0.4, 1.0, 2.0]), min_size=len(terms), max_size=len(terms)))
    block = data.draw(blocks)
    proposition = Proposition(terms, weights, data.draw(st.sampled_from([-1.0, -0.2, 0.3, 0.9, 1.5])))
    assert np.array_equal(in_whole_numbers(proposition, block)(block), proposition(block))


def test_levels_of_one_column_become_a_set():
    terms = [Membership(2, ["red"]), Membership(2, ["green"])]
    block = Block(COLUMNS, np.zeros((1, len(COLUMNS))))
    assert in_whole_numbers(Proposition(terms, [1.0, 0.7], 0.5), block) == Membership(2, ["red", "green"])
    assert in_whole_numbers(Proposition(terms, [-1.0, -0.7], -0.5), block) == Membership(2, ["red", "green"]).opposite()


def test_other_sums_stay():
    proposition = Proposition([0, 5], [1.0, 0.3], 0.2)
    assert in_whole_numbers(proposition, Block(COLUMNS, np.zeros((1, len(COLUMNS))))) is proposition
