"""Ends: the range of a column from its blocks is that of the whole column."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.data.typical_ranges import ColumnTails


def simple_range(values, weight):
    """Return the range by sorting all values; the values next to its ends, not the decimals between them."""
    kept = ~np.isnan(values) & (weight > 0.0)
    ascending = np.unique(values[kept])
    mass = np.array([weight[values == value].sum() for value in ascending])
    if mass.sum() < 20.0:
        return None
    below, above = np.cumsum(mass), np.cumsum(mass[::-1])
    low, high = int(np.argmax(below > 4.0)), len(mass) - 1 - int(np.argmax(above > 4.0))
    return ascending[max(low - 1, 0)], ascending[low], ascending[high], ascending[min(high + 1, len(mass) - 1)]


@given(
    st.lists(st.tuples(st.integers(-50, 50) | st.just(None), st.integers(0, 3)), min_size=1, max_size=300),
    st.lists(st.integers(1, 299), max_size=4),
)
def test_a_range_is_the_same_from_any_blocks(cells, cuts):
    values = np.array([np.nan if value is None else value for value, _ in cells], dtype=float)
    weight = np.array([one for _, one in cells], dtype=float)
    at = sorted({cut for cut in cuts if cut < len(values)})
    parts = zip(np.split(values, at), np.split(weight, at), strict=True)
    first, *others = (ColumnTails.of(*part) for part in parts)
    found = first
    for other in others:
        found = found + other
    expected = simple_range(values, weight)
    if expected is None:
        assert found.range is None
        return
    low, high = found.range
    assert expected[0] <= low <= expected[1] or expected[0] == expected[1] == low
    assert expected[2] <= high <= expected[3]
    assert found.range == ColumnTails.of(values, weight).range
    assert found.range == ColumnTails.of(np.repeat(values, weight.astype(int)), np.ones(int(weight.sum()))).range
