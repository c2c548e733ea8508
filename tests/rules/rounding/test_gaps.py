"""A gap is real if a threshold in its middle is clear of every row, by what the sum of that row may be off."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules import Block, Proposition, Shortening
from obliquerules.rules.rounding.thresholds import Projections, clear_threshold, middle_half, real_gaps, slack_of

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
