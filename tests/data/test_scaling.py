"""Scaling: columns of mean zero and unit variance, and conditions that mean the same in original units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.data.scaling import Scaling


def data(seed, n=80, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 6, size=d) + rng.normal(size=d) * 10.0 ** rng.integers(-3, 4)
    return X, rng.exponential(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_standardised_columns_have_weighted_mean_zero_and_variance_one(seed):
    X, weight = data(seed)
    standardised = Scaling.of(X, weight).transform(X)
    np.testing.assert_allclose(np.average(standardised, axis=0, weights=weight), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.average(standardised**2, axis=0, weights=weight), 1.0, rtol=1e-9)
    assert standardised.flags.f_contiguous


@given(seed=st.integers(0, 10_000), size=st.integers(1, 4))
def test_a_restored_condition_covers_the_same_rows(seed, size):
    rng = np.random.default_rng(seed)
    X, weight = data(seed)
    scaling = Scaling.of(X, weight)
    weights = np.zeros(X.shape[1])
    weights[rng.permutation(X.shape[1])[:size]] = rng.normal(size=size)
    projections = np.sort(scaling.transform(X) @ weights)
    at = np.argmax(np.diff(projections))  # the middle of the widest gap is no row's projection
    threshold = 0.5 * (projections[at] + projections[at + 1])
    proposition = scaling.restore(weights, threshold)
    assert proposition(X).tolist() == (scaling.transform(X) @ weights >= threshold).tolist()


@given(seed=st.integers(0, 10_000), size=st.integers(1, 4))
def test_the_most_influential_column_comes_first_with_weight_one(seed, size):
    rng = np.random.default_rng(seed)
    X, weight = data(seed)
    weights = np.zeros(X.shape[1])
    weights[rng.permutation(X.shape[1])[:size]] = rng.normal(size=size)
    proposition = Scaling.of(X, weight).restore(weights, 0.3)
    influence = np.abs(weights[list(proposition.columns)])
    assert set(proposition.columns) == set(np.flatnonzero(weights).tolist())
    assert (np.diff(influence) <= 0.0).all()
    assert proposition.weights[0] == np.sign(weights[proposition.columns[0]])
    assert np.sign(proposition.weights).tolist() == np.sign(weights[list(proposition.columns)]).tolist()


def test_equally_influential_columns_stay_in_order():
    X, weight = data(3)
    assert Scaling.of(X, weight).restore(np.array([0.5, -0.5, 0.0, 0.5]), 0.0).columns == (0, 1, 3)


def test_one_column_is_restored_to_its_own_unit():
    X = np.array([[10.0], [20.0], [30.0], [40.0]])
    scaling = Scaling.of(X, np.ones(4))
    (standardised,) = scaling.transform(np.array([[33.0]]))[0]
    for sign in (1.0, -1.0):
        proposition = scaling.restore(np.array([sign * 0.2]), sign * 0.2 * standardised)
        assert proposition.weights == (sign,)
        assert proposition.threshold == pytest.approx(sign * 33.0)


@pytest.mark.parametrize("value", [0.0, 3.7, -1e9, 0.1, 1e300, 1e-300])
def test_constant_columns_become_zero_and_are_marked(value):
    X = np.column_stack([np.full(50, value), np.arange(50.0)])
    scaling = Scaling.of(X, np.random.default_rng(0).exponential(size=50))
    assert scaling.constant.tolist() == [True, False]
    assert scaling.scale[0] == 1.0
    assert (scaling.transform(X)[:, 0] == 0.0).all()


def test_a_column_that_is_constant_among_the_rows_with_weight_is_constant():
    scaling = Scaling.of(np.array([[1.0], [1.0], [5.0]]), np.array([1.0, 2.0, 0.0]))
    assert scaling.constant.tolist() == [True]


@pytest.mark.parametrize("unit", [1e-200, 1e-100, 1e100, 1e200])
def test_the_unit_of_a_column_does_not_matter(unit):
    X, weight = data(1)
    scaling = Scaling.of(unit * X, weight)
    assert not scaling.constant.any()
    np.testing.assert_allclose(scaling.transform(unit * X), Scaling.of(X, weight).transform(X), rtol=1e-6, atol=1e-6)


def test_weight_two_is_the_row_twice():
    X, weight = data(2)
    once, twice = Scaling.of(X, 2.0 * weight), Scaling.of(np.tile(X, (2, 1)), np.tile(weight, 2))
    np.testing.assert_allclose(once.mean, twice.mean, rtol=1e-12)
    np.testing.assert_allclose(once.scale, twice.scale, rtol=1e-12)


def far_out(seed=0, n_far=3, n=200):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.normal(size=n)])
    X[:n_far, 0] = 10.0 ** rng.uniform(4, 15, n_far) * rng.choice([-1.0, 1.0], n_far)
    return X


@pytest.mark.parametrize("seed", range(5))
def test_outliers_do_not_stretch_a_column(seed):
    X = far_out(seed)
    scaling = Scaling.of(X, np.ones(len(X)))
    assert 0.5 < scaling.scale[0] < 2.0
    assert abs(scaling.mean[0]) < 0.5
    assert np.isinf(scaling.upper).tolist() == [False, True]
    fenced, standardised = scaling.fenced(X), scaling.transform(X)
    assert np.abs(fenced[:, 0]).max() < 5.0
    assert (np.sign(fenced[:3, 0]) == np.sign(X[:3, 0])).all()
    inside = np.abs(X[:, 0]) < 1.0
    assert (fenced[inside] == standardised[inside]).all()
    assert (fenced[:, 1] == standardised[:, 1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_conditions_on_a_column_with_outliers_mean_the_same_in_original_units(seed):
    X = far_out(seed)
    scaling = Scaling.of(X, np.ones(len(X)))
    proposition = scaling.restore(np.array([1.0, -0.5]), 0.3)
    assert proposition(X).tolist() == (scaling.transform(X) @ [1.0, -0.5] >= 0.3).tolist()


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).lognormal(0.0, 1.5, 1000),
        np.random.default_rng(0).standard_t(2, 1000),
        np.arange(1000.0) == 7.0,
        np.where(np.arange(1000.0) < 990.0, 0.0, np.arange(1000.0)),
        np.append(np.full(999, 0.1), 1e12),
        np.append(1e6 * (1.0 + 1e-13 * np.arange(999)), 1e12),
    ],
    ids=["skewed", "heavy tails", "one one", "mostly zero", "one outlier and nothing else", "one outlier and rounding"],
)
def test_columns_without_a_spread_beside_their_outliers_have_no_fences(column):
    scaling = Scaling.of(column[:, None] * 1.0, np.ones(len(column)))
    assert np.isinf(scaling.lower).all()
    assert np.isinf(scaling.upper).all()
    assert not scaling.constant.any()


def test_a_row_of_large_weight_is_no_outlier():
    X = np.append(np.random.default_rng(0).normal(size=99), 1e6)[:, None]
    assert np.isfinite(Scaling.of(X, np.ones(100)).upper).all()
    assert np.isinf(Scaling.of(X, np.append(np.ones(99), 99.0)).upper).all()
