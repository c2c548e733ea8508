"""Levels are summed over their rows, and the sets proposed are those that follow the gradient best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.data.level_sums import best_level_sets, levels_of
from obliquerules.rules import Block, Column, Columns, Membership


def sums_of(codes, ordered=False, n_levels=4):
    """Return the levels of one column with these codes, NaN where missing."""
    levels = tuple("abcdefgh"[:n_levels])
    block = Block(Columns.of([Column("c", levels, ordered)]), np.array(codes, dtype=float)[:, None])
    (sums,) = levels_of(block, np.ones(len(codes)))
    return block, sums


@given(st.integers(0, 10**6), st.booleans())
def test_the_best_set_of_each_size_has_the_largest_mean_pulls(seed, with_missing):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 80).astype(float)
    codes[:16] = np.repeat(np.arange(4.0), 4)
    if with_missing:
        codes[rng.random(80) < 0.1] = np.nan
    pull = rng.normal(size=80) + 0.5 * np.nan_to_num(codes)
    _block, sums = sums_of(codes)
    mean = {level: pull[codes == code].sum() / ((codes == code).sum() + 1.0) for code, level in enumerate("abcd")}
    listed = [one.membership() for one in sums.best_sets(pull, np.arange(80)) if one.membership().levels]
    assert any(len(one.levels) == 2 for one in listed)
    for one in listed:
        rest = set("abcd") - set(one.levels)
        inside = [mean[level] for level in one.levels]
        outside = [mean[level] for level in rest]
        # A set that is listed has the largest mean pulls of all, one that is excluded the smallest.
        if one.negated:
            assert max(inside) < 0.0
            assert max(inside) <= min(outside, default=np.inf)
        else:
            assert min(inside) > 0.0
            assert min(inside) >= max(outside, default=-np.inf)


def test_ordered_levels_are_cut_where_the_gain_is_largest():
    codes = np.repeat(np.arange(4.0), 10)
    pull = np.where(codes >= 2.0, 1.0, -1.0)
    block, sums = sums_of(codes, ordered=True)
    first = next(iter(best_level_sets([sums], pull, np.arange(40))))
    assert first == Membership(0, ["c", "d"], ordered=True)
    assert first(block).tolist() == (codes >= 2.0).tolist()


def test_missing_values_join_if_they_pull_the_same_way_and_are_a_condition_of_their_own():
    codes = [0.0] * 10 + [1.0] * 10 + [2.0] * 10 + [np.nan] * 10
    pull = np.repeat([1.0, -1.0, -1.0, 1.0], 10)
    _, sums = sums_of(codes, n_levels=3)
    found = list(best_level_sets([sums], pull, np.arange(40)))
    assert found[0] == Membership(0, ["a"], missing=True)
    assert Membership(0, [], missing=True) in found


def test_levels_with_few_rows_are_not_listed():
    codes = [0.0] * 20 + [1.0] * 20 + [2.0] * 2
    pull = np.array([1.0] * 20 + [-1.0] * 20 + [50.0] * 2)
    _, sums = sums_of(codes, n_levels=3)
    assert all("c" not in found.levels for found in best_level_sets([sums], pull, np.arange(42)))


@pytest.mark.parametrize(("codes", "expected"), [([0.0, 1.0] * 10, 1), ([0.0, 1.0] * 10 + [np.nan] * 5, 2)])
def test_two_levels_are_one_input_unless_a_value_is_missing(codes, expected):
    _, sums = sums_of(codes, n_levels=2)
    assert len(sums.indicators(5.0)) == expected
    shares = [share for _, share in sums.indicators(5.0)]
    assert shares == pytest.approx([10 / len(codes)] * expected)


def test_a_level_with_nearly_all_weight_is_no_input():
    block = Block(Columns.of([Column("c", ("a", "b"), missing=True)]), np.array([[0.0], [1.0], [np.nan]] * 20))
    weight = np.array([1e20, 10.0, 1.0] * 20)
    assert levels_of(block, weight)[0].indicators(5.0) == [(Membership(0, ["b"]), 1e-19)]
