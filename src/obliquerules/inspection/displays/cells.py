"""Cells: the parts into which lines cut a rectangle, exactly, and the borders between them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix

# In the unit square, a point closer to a line than this lies on it.
ON_LINE = 1e-12
# How far to step over an edge to see what is on its other side.
STEP = 1e-7
UNIT_SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def cut(lines: Iterable[tuple[float, float, float]]) -> list[Matrix]:
    """Return the convex polygons into which the lines a x + b y = c cut the unit square.

    Each is an array of its corners, counter-clockwise.

    >>> [len(polygon) for polygon in cut([(1.0, 1.0, 0.5)])]
    [5, 3]
    """
    polygons = [UNIT_SQUARE]
    for a, b, c in lines:
        length = np.hypot(a, b)
        if length > 0.0:
            polygons = [part for polygon in polygons for part in _halves(polygon, np.array([a, b]) / length, c / length)]
    return polygons


def slices(polygon: Matrix, normal: Matrix, offsets: Iterable[float]) -> list[Matrix]:
    """Return the parts of a convex polygon between the parallel lines at which its product with a vector has ascending values.

    >>> [part[:, 0].max().tolist() for part in slices(UNIT_SQUARE, np.array([2.0, 0.0]), [0.5, 1.0])]
    [0.25, 0.5, 1.0]
    """
    length, parts, rest = np.hypot(*normal), [], polygon
    for offset in offsets:
        rest, *below = _halves(rest, normal / length, offset / length)
        parts += below
    return [*parts, rest]


def _halves(polygon: Matrix, normal: Matrix, offset: float) -> list[Matrix]:
    """Return the parts of a convex polygon on either side of a line, or the polygon if all of it is on one side."""
    side = polygon @ normal - offset
    side[np.abs(side) < ON_LINE] = 0.0
    if side.min() >= 0.0 or side.max() <= 0.0:
        return [polygon]
    corners, sides = _with_crossings(polygon, side)
    return [corners[sides >= 0.0], corners[sides <= 0.0]]


def _with_crossings(polygon: Matrix, side: Matrix) -> tuple[Matrix, Matrix]:
    """Return the corners together with the points at which edges cross the line, in order, and the side of each."""
    following = np.roll(side, -1)
    crossed = np.flatnonzero(side * following < 0.0)
    share = side[crossed] / (side[crossed] - following[crossed])
    points = polygon[crossed] + share[:, None] * (np.roll(polygon, -1, axis=0)[crossed] - polygon[crossed])
    return np.insert(polygon, crossed + 1, points, axis=0), np.insert(side, crossed + 1, 0.0)


def middles(polygons: list[Matrix]) -> Matrix:
    """Return a point inside each polygon."""
    return np.array([polygon.mean(axis=0) for polygon in polygons])


def edges(polygons: list[Matrix]) -> tuple[NDArray[np.intp], Matrix, Matrix]:
    """Return all edges that have a polygon on their other side.

    For each: the polygon it belongs to; its two ends, shape (n_edges, 2, 2); and a point just beyond its middle.
    """
    owner = np.repeat(np.arange(len(polygons)), [len(polygon) for polygon in polygons])
    start = np.concatenate(polygons)
    end = np.concatenate([np.roll(polygon, -1, axis=0) for polygon in polygons])
    along = end - start
    length = np.maximum(np.hypot(*along.T), np.finfo(np.float64).tiny)[:, None]
    outward = np.column_stack([along[:, 1], -along[:, 0]]) / length
    beyond = 0.5 * (start + end) + STEP * outward
    inside = ((beyond > 0.0) & (beyond < 1.0)).all(axis=1)
    return owner[inside], np.stack([start, end], axis=1)[inside], beyond[inside]
