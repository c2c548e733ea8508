"""A threshold lies in the middle of a real gap between projections, or there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules.rounding.thresholds import Projections, middle_of_gap, slack_of

values = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6).filter(lambda number: number == 0 or abs(number) > 1e-9))
projections = st.lists(values, min_size=1, max_size=12).map(lambda numbers: column(numbers))


def column(numbers) -> Projections:
    """Return the projections on a single column, with weight one."""
    return Projections.of_column(np.array(numbers, dtype=float))


def sums(numbers, size) -> Projections:
    """Return projections that are sums of terms of the given size."""
    return Projections(np.array(numbers, dtype=float), lambda: slack_of(np.full(len(numbers), size)))


@given(projections, values)
def test_a_threshold_is_the_middle_of_a_gap(projections, threshold):
    middle = middle_of_gap(projections, threshold)
    if middle is not None:
        values = projections.values
        lower, upper = values[values < middle].max(), values[values >= middle].min()
        assert middle == lower + 0.5 * (upper - lower)
        assert (np.abs(values - middle) > 0.5e-9 * np.abs(values)).all()


@given(projections, values)
def test_a_threshold_in_a_gap_keeps_its_rows(projections, threshold):
    above = projections.values >= threshold
    middle = middle_of_gap(projections, threshold)
    if above.any() and not above.all():
        upper, lower = projections.values[above].min(), projections.values[~above].max()
        if upper - lower > 1.1e-9 * max(abs(upper), abs(lower), np.median(np.abs(projections.values))):
            assert ((projections.values >= middle) == above).all()
    else:
        assert middle is None


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=15, unique=True), st.floats(-21, 21))
def test_between_whole_numbers_it_is_half_way(numbers, threshold):
    below, above = [x for x in numbers if x < threshold], [x for x in numbers if x >= threshold]
    expected = 0.5 * (max(below) + min(above)) if below and above else None
    assert middle_of_gap(column(numbers), threshold) == expected


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
    assert middle_of_gap(column(projections), threshold) is None


def test_a_threshold_among_equal_projections_moves_to_the_nearest_gap():
    noise = np.array([0.0, 1e-12, 2e-12])
    projections = sums([-9.0, *noise, *(1.0 + noise), 40.0], 40.0)
    assert middle_of_gap(projections, 1e-12) == pytest.approx(0.5)
    assert middle_of_gap(projections, 1.0 + 2e-12) == pytest.approx(0.5)
    assert middle_of_gap(sums([-9.0, *noise, 40.0], 40.0), 1e-12) == pytest.approx(-4.5)


def test_rows_that_differ_by_rounding_only_are_never_split():
    projections = column([0.1 + 0.2] * 3 + [0.3] * 3 + [0.7])
    middle = middle_of_gap(projections, 0.1 + 0.2)
    assert len(set((projections.values[:6] >= middle).tolist())) == 1
    assert middle == pytest.approx(0.5)


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=15, unique=True),
    st.floats(-21, 21),
    st.sampled_from([1e10, -1e15, 1e30]),
)
def test_a_value_far_out_moves_no_threshold(numbers, threshold, far):
    inside = middle_of_gap(column(numbers), threshold)
    if inside is not None:
        assert middle_of_gap(column([*numbers, far]), threshold) == inside
