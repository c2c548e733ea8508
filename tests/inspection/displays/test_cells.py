"""Cells: lines cut the unit square into polygons that fill it, and each lies on one side of every line."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.inspection.displays.cells import cut, edges, middles

from ...rules.strategies import few

numbers = st.integers(-4, 4).map(float) | st.floats(-2.0, 2.0).map(lambda number: round(number, 3))
lines = st.lists(st.tuples(numbers, numbers, numbers), max_size=8)


def area(polygon):
    x, y = polygon.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


@few
@given(lines)
def test_cells_fill_the_square(lines):
    areas = [area(polygon) for polygon in cut(lines)]
    assert min(areas) > 0.0
    assert np.isclose(sum(areas), 1.0)


@few
@given(lines)
def test_no_line_goes_through_a_cell(lines):
    for polygon in cut(lines):
        for a, b, c in lines:
            sides = polygon @ [a, b] - c
            assert sides.min() >= -1e-9 or sides.max() <= 1e-9


@few
@given(lines)
def test_the_middle_of_a_cell_is_inside_and_beyond_an_edge_is_outside(lines):
    polygons = cut(lines)
    for polygon, middle in zip(polygons, middles(polygons), strict=True):
        assert inside(polygon, middle)
    for owner, _, beyond in zip(*edges(polygons), strict=True):
        assert not inside(polygons[owner], beyond)


def inside(polygon, point):
    along, to_point = np.roll(polygon, -1, axis=0) - polygon, point - polygon
    return bool((along[:, 0] * to_point[:, 1] - along[:, 1] * to_point[:, 0] >= 0.0).all())


def test_a_cross_makes_four_cells_and_four_borders_seen_from_both_sides():
    polygons = cut([(1.0, 0.0, 0.5), (0.0, 1.0, 0.25), (2.0, 0.0, 1.0), (1.0, 0.0, 7.0)])
    assert sorted(area(polygon) for polygon in polygons) == [0.125, 0.125, 0.375, 0.375]
    assert len(edges(polygons)[0]) == 8
