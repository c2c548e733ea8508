"""Plane: two of the inputs of a model, with the others fixed, and the lines at which its score jumps, bends or is zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.inspection.displays.cells import slices
from obliquerules.rules import Block, Column, Columns, Factor, Proposition, Rule, RuleEnsemble


@dataclass(frozen=True, eq=False)
class Plane:
    """A rectangle in two of the inputs, with the others fixed.

    Attributes
    ----------
    inputs : Columns
        All inputs.
    columns : tuple of int
        The two inputs.
    row : array of shape (n_features,)
        The values at which the other inputs are fixed.
    low, high : array of shape (2,)
        The ranges of the two inputs. An input with levels has a band for each, around its code, and so has one of 0 and 1.
    """

    inputs: Columns
    columns: tuple[int, int]
    row: Matrix
    low: Matrix
    high: Matrix

    @property
    def bands(self) -> tuple[int, int]:
        """How many bands each axis has; zero for one of numbers."""
        first, second = (n_bands(self.inputs[column]) for column in self.columns)
        return first, second

    def points(self, unit: Matrix) -> Matrix:
        """Return points of the unit square in the units of the data."""
        return np.asarray(self.low + unit * (self.high - self.low), dtype=np.float64)

    def rows(self, unit: Matrix) -> Block:
        """Return points of the unit square as rows of inputs."""
        return self.rows_at(self.points(unit))

    def rows_at(self, points: Matrix) -> Block:
        """Return points in the units of the data as rows of inputs; everywhere in a band is the same value."""
        rows = np.tile(self.row, (len(points), 1))
        for axis, (column, n) in enumerate(zip(self.columns, self.bands, strict=True)):
            values = points[:, axis]
            rows[:, column] = np.where(values >= -0.5, np.clip(np.round(values), 0.0, n - 1.0), values) if n else values
        return Block(self.inputs, rows)

    def lines(self, ensemble: RuleEnsemble) -> list[tuple[float, float, float]]:
        """Return the lines a x + b y = c of the unit square at which propositions change, each once, and the limits of factors.

        Where an axis has levels, a condition has a line for each level; the borders of their bands are lines, too.
        """
        width = self.high - self.low
        lines = dict.fromkeys(self._borders_of_bands())
        corners = self._corners()
        for proposition in (p for rule in ensemble for p in rule.condition if isinstance(p, Proposition)):
            weights = dict(zip(proposition.columns, proposition.weights, strict=True))
            a, b = (
                0.0 if n else weights.get(column, 0.0) * width[axis]
                for axis, (column, n) in enumerate(zip(self.columns, self.bands, strict=True))
            )
            for total in proposition.project(corners).tolist():
                if not np.isnan(total):  # a value that is missing answers for the whole map
                    lines[a, b, proposition.threshold - total] = None
        for _, factor, axis in self._slopes(ensemble):
            # A limit that is infinite cuts nothing.
            for limit in filter(np.isfinite, (factor.lower, factor.upper)):
                lines[1.0 - axis, 0.0 + axis, (limit - self.low[axis]) / width[axis]] = None
        return list(lines)

    def gradients(self, ensemble: RuleEnsemble, unit: Matrix) -> Matrix:
        """Return how fast scores change at points of the unit square, along each axis of it; not along bands."""
        rows, found = self.rows(unit), np.zeros((len(unit), 2, *np.shape(ensemble.intercept)))
        for rule, factor, axis in self._slopes(ensemble):
            values = rows.matrix[:, factor.column]
            changing = rule.condition(rows) & (factor.lower < values) & (values < factor.upper)
            found[:, axis] += np.multiply.outer(changing, np.multiply(rule.weight, (self.high - self.low)[axis]))
        return found

    def is_sloped(self, ensemble: RuleEnsemble) -> bool:
        """Say whether the score changes between lines."""
        return bool(self._slopes(ensemble))

    def _slopes(self, ensemble: RuleEnsemble) -> list[tuple[Rule, Factor, int]]:
        """Return the rules whose factor is an axis of numbers, with the factor and the axis."""
        axes = {column: axis for axis, (column, n) in enumerate(zip(self.columns, self.bands, strict=True)) if not n}
        factors = [(rule, rule.factor) for rule in ensemble if rule.factor is not None]
        return [(rule, factor, axes[factor.column]) for rule, factor in factors if factor.column in axes]

    def _borders_of_bands(self) -> list[tuple[float, float, float]]:
        """Return the lines between the levels of an axis."""
        (first, second), width = self.bands, self.high - self.low
        upright = [(1.0, 0.0, (code + 0.5 - self.low[0]) / width[0]) for code in range(first - 1)]
        return upright + [(0.0, 1.0, (code + 0.5 - self.low[1]) / width[1]) for code in range(second - 1)]

    def _corners(self) -> Block:
        """Return the lower left corner of the map, once for each pair of levels on its axes."""
        axes = [np.arange(n, dtype=np.float64) if n else self.low[[axis]] for axis, n in enumerate(self.bands)]
        return self.rows_at(np.array([(x, y) for x in axes[0] for y in axes[1]]))


def n_bands(column: Column) -> int:
    """Return how many bands an axis of a column has; zero for one of numbers."""
    if column.levels is not None:
        return len(column.levels)
    return 2 if column.kind == "flag" else 0


@dataclass(frozen=True, eq=False)
class Facets:
    """Polygons of the unit square, on each of which the score is linear.

    Attributes
    ----------
    polygons : list of arrays of shape (n_corners, 2)
    middles : array of shape (n_polygons, 2)
    scores : array of shape (n_polygons,) or (n_polygons, n_classes)
        The scores in the middles.
    gradients : array of shape (n_polygons, 2) or (n_polygons, 2, n_classes)
        How fast the score changes along each axis.
    """

    polygons: list[Matrix]
    middles: Matrix
    scores: Matrix
    gradients: Matrix

    def of(self, output: int) -> Facets:
        """Return the polygons with the score of one of many classes."""
        return replace(self, scores=self.scores[:, output], gradients=self.gradients[:, :, output])

    def leads(self, one: NDArray[np.intp] | int, other: NDArray[np.intp] | int) -> Facets:
        """Return the polygons with the difference of the scores of two classes, in each polygon other ones."""
        every = np.arange(len(self.polygons))
        scores = self.scores[every, one] - self.scores[every, other]
        return replace(self, scores=scores, gradients=self.gradients[every, :, one] - self.gradients[every, :, other])

    def heights(self) -> list[Matrix]:
        """Return the scores at the corners of each polygon, just inside."""
        parts = zip(self.polygons, self.middles, self.scores, self.gradients, strict=True)
        return [score + (corners - middle) @ gradient for corners, middle, score, gradient in parts]

    def level_lines(self, level: float) -> list[tuple[float, float, float]]:
        """Return the lines a x + b y = c at which polygons have a score, those that lie inside of the polygon."""
        lines = []
        for index, heights in enumerate(self.heights()):
            if heights.min() < level < heights.max():
                a, b = self.gradients[index].tolist()
                lines.append((a, b, self._offset(index, level)))
        return lines

    def cut_at(self, levels: Matrix) -> list[Matrix]:
        """Return the polygons, cut at their level lines, given ascending levels."""
        parts = []
        for index, (polygon, heights) in enumerate(zip(self.polygons, self.heights(), strict=True)):
            inside = levels[(heights.min() < levels) & (levels < heights.max())].tolist()
            parts += slices(polygon, self.gradients[index], [self._offset(index, level) for level in inside])
        return parts

    def _offset(self, index: int, level: float) -> float:
        return float(level - self.scores[index] + self.gradients[index] @ self.middles[index])
