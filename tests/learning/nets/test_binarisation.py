"""Binary inputs: deciles, all values where there are few, thresholds in real gaps, and weights that stand for rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.nets.binarisation import binarise


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
