"""Subsample: the same rows whatever their order and blocks, with the weight of all that are equal to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules.data import blocks
from obliquerules.data.blocks import RowsInMemory
from obliquerules.data.subsample import shares, subsample
from obliquerules.rules import Block


def chosen(X, y, weight=None, offset=None, most=50, n_strata=1):
    rows = RowsInMemory(Block.of_matrix(X), y, np.ones(len(y)) if weight is None else weight, offset)
    strata = (lambda y: np.zeros(len(y), dtype=np.intp)) if n_strata == 1 else (lambda y: y.astype(np.intp))
    return subsample(rows, strata, n_strata, most)[0]


def numbers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=n)


def same(one, two):
    pairs = [(one.X.matrix, two.X.matrix), (one.y, two.y), (one.weight, two.weight)]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("block_rows", [1, 7, 64, 1000])
def test_order_and_blocks_change_nothing(block_rows, monkeypatch):
    X, y = numbers()
    expected = chosen(X, y)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block_rows)
    order = np.random.default_rng(1).permutation(len(y))
    assert same(chosen(X[order], y[order]), expected)
    assert len(expected.y) == 50


def test_rows_are_chosen_evenly():
    X, y = numbers(20000)
    some = chosen(X, y, most=2000)
    assert np.abs(some.X.matrix.mean(axis=0)).max() < 4 / np.sqrt(2000)
    assert set(map(tuple, some.X.matrix)) <= set(map(tuple, X))
    assert np.allclose(some.weight, 1.0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=60), st.integers(1, 12)
)
def test_equal_rows_are_one_with_their_weight(cells, most):
    rows = np.array(cells, dtype=float)
    some = chosen(rows[:, :1], rows[:, 1], rows[:, 2], most=most)
    weight = {}
    for x, y, w in rows.tolist():
        weight[x, y] = weight.get((x, y), 0.0) + w
    found = list(zip(some.X.matrix[:, 0].tolist(), some.y.tolist(), strict=True))
    assert len(set(found)) == len(found) == min(most, len(weight))
    # Weights have the right proportions, and add up to those of the chosen rows.
    assert np.allclose(some.weight, [weight[one] for one in found])


def test_a_row_of_weight_two_is_the_row_given_twice():
    X, y = numbers()
    twice = np.concatenate([X, X[:100]]), np.concatenate([y, y[:100]])
    weight = np.where(np.arange(500) < 100, 2.0, 1.0)
    assert same(chosen(*twice), chosen(X, y, weight))


def test_missing_values_and_zeros_are_equal_to_themselves():
    X = np.array([[np.nan], [np.float64("-nan")], [0.0], [-0.0]])
    some = chosen(X, np.zeros(4))
    assert len(some.y) == 2
    assert some.weight.tolist() == [2.0, 2.0]


def test_a_rare_class_is_as_well_known_as_another_and_keeps_its_share():
    X, _ = numbers(10000)
    y = (np.arange(10000) % 100 == 0).astype(float)
    some = chosen(X, y, most=150, n_strata=2)
    assert (np.count_nonzero(some.y == 1.0), np.count_nonzero(some.y == 0.0)) == (75, 75)
    assert np.isclose(np.average(some.y, weights=some.weight), 0.01)
    assert np.isclose(some.weight.sum(), 150.0)


def test_rows_of_weight_zero_do_not_count():
    X, y = numbers()
    weight = (np.arange(500) >= 100).astype(float)
    assert same(chosen(X, y, weight), chosen(X[100:], y[100:]))


@pytest.mark.parametrize("shape", [(500,), (500, 3)])
def test_offsets_stay_with_their_rows(shape):
    X, y = numbers()
    offset = np.random.default_rng(2).normal(size=shape)
    some = chosen(X, y, offset=offset)
    place = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in some.X.matrix]
    assert np.array_equal(some.offset, offset[place])
    assert np.array_equal(some.y, y[place])


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(1, 100))
def test_shares_are_as_equal_as_sizes_allow(sizes, most):
    taken = shares(sizes, most)
    assert sum(taken) == min(most, sum(sizes)) or sum(sizes) > most > sum(taken) >= most - len(sizes)
    assert all(one <= size for one, size in zip(taken, sizes, strict=True))
    short = [one for one, size in zip(taken, sizes, strict=True) if one < size]
    assert not short or max(taken) - min(short) <= 1
