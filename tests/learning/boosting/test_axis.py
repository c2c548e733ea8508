"""Sorted columns: a threshold parts the groups that it should, in a real gap near the middle between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.learning.boosting.axis import SortedColumns
from obliquerules.rules import Block

values = st.lists(st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6)), min_size=2, max_size=12)


@given(values, st.data())
def test_a_threshold_parts_the_groups(values, data):
    columns = SortedColumns(Block.of_matrix(np.array(values)[:, None]))
    if not columns.axes:
        return
    order, group = columns.order[0], columns.group[0]
    above, below = sorted(data.draw(st.lists(st.integers(0, int(group[-1])), min_size=2, max_size=2, unique=True)))
    upper, lower = (columns.proposition(0, above, below, upper=side)(columns.X) for side in (True, False))
    assert upper[order[group <= above]].all()
    assert not upper[order[group >= below]].any()
    assert (upper != lower).all()


def test_rows_that_differ_by_rounding_only_are_one_group():
    columns = SortedColumns(Block.of_matrix(np.array([[0.1 + 0.2], [0.3], [0.7]])))
    assert columns.group.tolist() == [[0, 1, 1]]


def test_the_gap_nearest_to_the_middle_is_taken():
    columns = SortedColumns(Block.of_matrix(np.array([[0.0], [1.0], [6.0], [10.0]])))
    assert columns.proposition(0, 0, 3, upper=True).threshold == pytest.approx(3.5)
    assert columns.proposition(0, 0, 1, upper=False).threshold == pytest.approx(-8.0)


def test_columns_without_a_gap_are_left_out():
    assert [axis.source for axis in SortedColumns(Block.of_matrix(np.array([[1.0, 0.0], [1.0, 2.0]]))).axes] == [1]
    assert len(SortedColumns(Block.of_matrix(np.ones((3, 2)))).axes) == 0
    assert len(SortedColumns(Block.of_matrix(np.ones((1, 2)))).axes) == 0
