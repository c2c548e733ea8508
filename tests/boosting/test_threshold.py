"""A threshold lies in the middle of a real gap between projections, or there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.boosting.threshold import middle_of_gap
from obliquerules.rules.shortening import SAME_PROJECTION

values = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6).filter(lambda number: number == 0 or abs(number) > 1e-9))
projections = st.lists(values, min_size=1, max_size=12).map(np.array)


@given(projections, values)
def test_a_threshold_is_the_middle_of_a_gap(projections, threshold):
    middle = middle_of_gap(projections, threshold)
    if middle is not None:
        lower, upper = projections[projections < middle].max(), projections[projections >= middle].min()
        assert upper - lower > SAME_PROJECTION * np.abs(projections).max()
        assert middle == lower + 0.5 * (upper - lower)
        assert lower < middle < upper


@given(projections, values)
def test_a_threshold_in_a_gap_keeps_its_rows(projections, threshold):
    above = projections >= threshold
    middle = middle_of_gap(projections, threshold)
    if above.any() and not above.all():
        least = SAME_PROJECTION * np.abs(projections).max()
        if projections[above].min() - projections[~above].max() > least:
            assert ((projections >= middle) == above).all()
    else:
        assert middle is None


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=15, unique=True), st.floats(-21, 21))
def test_between_whole_numbers_it_is_half_way(numbers, threshold):
    below, above = [x for x in numbers if x < threshold], [x for x in numbers if x >= threshold]
    expected = 0.5 * (max(below) + min(above)) if below and above else None
    assert middle_of_gap(np.array(numbers, dtype=float), threshold) == expected


@pytest.mark.parametrize(
    ("projections", "threshold"),
    [
        ([1.0, 2.0, 3.0], 0.0),
        ([1.0, 2.0, 3.0], 1.0),
        ([1.0, 2.0, 3.0], 3.5),
        ([2.0, 2.0], 2.0),
        ([0.0, 0.0], 0.0),
        ([5.0], 5.0),
        ([1.0, 1.0 + 1e-12, 1.0 + 2e-12], 1.0 + 1e-12),
    ],
)
def test_without_a_gap_there_is_no_threshold(projections, threshold):
    assert middle_of_gap(np.array(projections), threshold) is None


def test_a_threshold_among_equal_projections_moves_to_the_nearest_gap():
    noise = np.array([0.0, 1e-12, 2e-12])
    projections = np.concatenate([[-9.0], noise, 1.0 + noise, [40.0]])
    assert middle_of_gap(projections, 1e-12) == pytest.approx(0.5)
    assert middle_of_gap(projections, 1.0 + 2e-12) == pytest.approx(0.5)
    assert middle_of_gap(np.concatenate([[-9.0], noise, [40.0]]), 1e-12) == pytest.approx(-4.5)


def test_rows_that_differ_by_rounding_only_are_never_split():
    projections = np.concatenate([0.1 + 0.2 + np.zeros(3), 0.3 + np.zeros(3), [0.7]])
    middle = middle_of_gap(projections, 0.1 + 0.2)
    assert len(set((projections[:6] >= middle).tolist())) == 1
    assert middle == pytest.approx(0.5)
