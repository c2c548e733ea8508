"""Thresholds: real gaps between projections, and the thresholds in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Block, Proposition, Shortening
from obliquerules.rules.rounding.thresholds import Projections, clear_threshold, middle_half, middle_of_gap, real_gaps, slack_of

numbers = st.lists(st.integers(-1000, 1000), min_size=2, max_size=10)


def gaps_of(*values: float) -> list[bool]:
    """Return which gaps in a column are real."""
    ascending = np.array(values)
    return real_gaps(ascending, slack_of(np.abs(ascending))).tolist()


def projected(proposition: Proposition, X: np.ndarray) -> Projections:
    return Projections.of(proposition.project(X), proposition.summands(X), proposition.weights)


@given(numbers, st.sampled_from([1e9, 1e12, 1e30, 1e75]))
def test_what_lies_far_out_takes_no_gap_away(values, far):
    values = sorted(value / 8.0 for value in values)
    assert gaps_of(-far, *values, far)[1:-1] == gaps_of(*values) == (np.diff(values) > 0.0).tolist()


def test_neighbours_that_differ_in_their_last_digits_have_no_gap():
    assert gaps_of(0.3, 0.1 + 0.2, 0.7) == [False, True]
    assert gaps_of(1e10, 1e10 + 1.0, 1e10 + 100.0) == [False, True]
    assert gaps_of(1.0, 2.0, 1e10, 1e10 + 1.0) == [True, True, False]


def test_what_a_subtraction_leaves_of_ordinary_values_is_zero():
    assert gaps_of(0.0, 0.1 + 0.2 - 0.3, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)[:3] == [False, True, True]


def test_adjacent_doubles_have_no_middle():
    assert gaps_of(0.0, 5e-324, 1.0, 1.0 + 2e-16, 3.0) == [False, True, False, True]


def test_many_columns_at_once_are_each_by_itself():
    columns = np.sort(np.random.default_rng(0).normal(size=(4, 9)) * 10.0 ** np.array([[-9], [0], [3], [12]]), axis=1)
    columns[:, 3] = columns[:, 4]
    together = real_gaps(columns, slack_of(np.abs(columns)))
    assert together.tolist() == [gaps_of(*column) for column in columns]


def test_a_sum_is_as_exact_as_its_own_terms():
    # The sums are 0, 1 and 2; that of the last row is what is left of terms of 1e10, so that no threshold may come near it.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1e10 + 2.0, 1e10]])
    projections = projected(Proposition([0, 1], [1.0, -1.0], 0.0), X)
    assert real_gaps(projections.values, projections.slack).tolist() == [False, False]
    X[2] = [102.0, 100.0]
    projections = projected(Proposition([0, 1], [1.0, -1.0], 0.0), X)
    assert real_gaps(projections.values, projections.slack).tolist() == [True, True]


@given(st.integers(0, 10_000))
def test_no_order_of_the_terms_moves_a_row_across_a_threshold_in_a_gap(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * 10.0 ** rng.integers(-3, 12, size=(12, 1))
    proposition = Proposition([0, 1, 2], rng.normal(size=3), 0.0)
    projections = projected(proposition, X)
    order = np.argsort(projections.values)
    ascending = projections.values[order]
    for gap in np.flatnonzero(real_gaps(ascending, projections.slack[order])):
        threshold = ascending[gap] + 0.5 * (ascending[gap + 1] - ascending[gap])
        backwards = Proposition([2, 1, 0], proposition.weights[::-1], threshold)
        assert (backwards(X) == Proposition([0, 1, 2], proposition.weights, threshold)(X)).all()


@pytest.mark.parametrize("far", [1e10, 1e15, -1e30])
def test_the_middle_half_and_the_shortest_threshold_do_not_know_of_outliers(far):
    X = np.array([[1178.0], [1222.0], [5000.0], [far]])
    condition = Proposition([0], [1.0], 1212.125)
    assert middle_half(projected(condition, X), condition(X)) == (1189.0, 1211.0)
    assert Shortening(Block.of_matrix(X)).proposition(condition) == Proposition([0], [1.0], 1200.0)


def test_a_wanted_threshold_is_taken_where_no_row_is_close():
    column = Projections.of_column(np.array([0.0, 10.0, 20.0, 30.0]))
    assert clear_threshold(column, [10.0, 12.0, 5.0]) == 12.0
    assert clear_threshold(column, [10.000000001, 20.0]) == 5.0  # in the middle half of the gap below, from 2.5 to 7.5
    assert clear_threshold(column, [0.0]) == 5.0  # there is no gap below
    assert clear_threshold(Projections.of_column(np.array([7.0])), [7.0]) is None
    assert clear_threshold(column, []) is None


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
