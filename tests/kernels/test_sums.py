"""Sums of columns: projections, gaps around thresholds, cuts and degrees are those of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from obliquerules.kernels.sums import best_cut, degrees, neighbours, project, standard_deviation

rng = np.random.default_rng(0)
X = np.asfortranarray(rng.normal(size=(300, 4)))
HOLES = np.where(rng.random(300) < 0.2, np.nan, X[:, 0])


def test_a_projection_adds_products_from_left_to_right():
    assert project(X, (2, 0, 3), (0.1, -0.7, 3.0)).tolist() == (0.1 * X[:, 2] + -0.7 * X[:, 0] + 3.0 * X[:, 3]).tolist()


@pytest.mark.parametrize(("columns", "weights"), [((), ()), ((0, 1), (1.0,)), ((4,), (1.0,)), ((-1,), (1.0,))])
def test_a_projection_needs_columns_that_there_are(columns, weights):
    with pytest.raises(ValueError, match="There must be"):
        project(X, columns, weights)


@given(st.floats(-4.0, 4.0), st.booleans())
def test_neighbours_of_a_threshold_are_the_nearest_values(threshold, has_holes):
    values = HOLES if has_holes else X[:, 0].copy()
    known = values[~np.isnan(values)]
    expected = known[known < threshold].max(initial=-np.inf), known[known >= threshold].min(initial=np.inf)
    assert neighbours(values, threshold) == expected


@pytest.mark.parametrize("missing", [0.0, 1.0])
def test_degrees_are_sigmoids(missing):
    expected = np.where(np.isnan(HOLES), missing, expit(7.0 * (HOLES - 0.3)))
    np.testing.assert_allclose(degrees(HOLES, 0.3, 7.0, missing), expected, rtol=1e-14, atol=1e-300)
    assert degrees(np.array([-1e300, 1e300]), 0.0, 1e3, 0.0) == pytest.approx([0.0, 1.0], abs=1e-300)


def test_the_standard_deviation_is_that_of_known_values():
    assert standard_deviation(HOLES) == pytest.approx(np.nanstd(HOLES), rel=1e-13)
    assert standard_deviation(np.full(3, np.nan)) == 0.0


@given(st.integers(0, 1000), st.integers(1, 40))
def test_the_best_cut_has_the_largest_sum_above_it(seed, n):
    local = np.random.default_rng(seed)
    values, pull = local.integers(0, 8, n).astype(float), local.normal(size=n)
    order = np.argsort(-values, kind="stable")
    cut, most, is_clear = best_cut(values, order, pull, 0.5)
    sums = {above: pull[values >= above].sum() for above in np.unique(values)[1:]}
    assert is_clear
    assert most == pytest.approx(max(sums.values(), default=-np.inf))
    if sums:
        assert values[order[cut]] == max(sums, key=sums.get)
    assert not sums or best_cut(values, order, pull, 1.5)[2] == (np.diff(np.unique(values)) > 1.5).all()


def test_an_order_names_rows_that_there_are():
    with pytest.raises(ValueError, match="rows that there are"):
        best_cut(np.ones(2), np.array([0, 2]), np.ones(2), 0.0)
    with pytest.raises(ValueError, match="same number of rows"):
        best_cut(np.ones(2), np.array([0]), np.ones(2), 0.0)
