"""Hinges: slopes that begin or end at a knot, of which the most promising are candidates beside slopes and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix, Vector
from obliquerules.kernels.sums import sums_by_place
from obliquerules.learning.boosting.design_matrix import MOST_ROWS
from obliquerules.learning.boosting.problem import Candidate, Stage, View
from obliquerules.learning.boosting.slope import Slope, quantiles
from obliquerules.learning.cached import Recent
from obliquerules.learning.refit import TINY
from obliquerules.rules import Block, Factor

# The number of hinges whose values are kept: the best ones come again.
MOST_KEPT = 64
# The shares of the rows of a column that are below its knots.
SHARES = tuple(tenths / 10 for tenths in range(1, 10))


@dataclass(frozen=True, eq=False)
class Hinges:
    """The hinges in some columns: at each knot one for the values above it, and one for those below.

    Between knots a hinge is linear, so that sums of products with its values follow from sums over the rows between knots.
    Those serve all hinges of a column; the values of all of them would take many times the memory of the rows.

    Attributes
    ----------
    X : Block
    row_weight : array of shape (n_samples,)
    slopes : sequence of Slope
        The slope of each column, whose limits hinges have on their open side.
    knots : array of shape (n_slopes, n_knots)
        Those of each column, ascending; some may be equal.
    """

    X: Block
    row_weight: Vector
    slopes: Sequence[Slope]
    knots: Matrix
    _recent: Recent[Candidate] = field(default_factory=lambda: Recent(MOST_KEPT))

    @classmethod
    def of(cls, X: Block, row_weight: Vector, slopes: Sequence[Slope]) -> Hinges:
        """Return the hinges in the columns of slopes."""
        return cls(X, row_weight, slopes, np.array([_knots(slope.factor.clipped(X), row_weight) for slope in slopes]))

    def best(self, stage: Stage) -> list[Candidate]:
        """Return the most promising hinges that an ensemble does not have yet, each in another column."""
        if not self.slopes:
            return []
        gains = np.max([self._gains(view) for view in stage.views], axis=0).reshape(len(self.slopes), -1)
        best, gain = gains.argmax(axis=1), gains.max(axis=1)
        columns = [column for column in np.argsort(-gain, kind="stable")[: stage.most_tried] if gain[column] > 0.0]
        factors = [self._factor(column, *divmod(int(best[column]), len(SHARES))) for column in columns]
        known = {one.factor for one in stage.conditions if isinstance(one, Slope)}
        return stage.problem.workers.each(self._candidate, [factor for factor in factors if factor not in known])

    def _candidate(self, factor: Factor) -> Candidate:
        return self._recent.get(factor, lambda: self._made(factor))

    def _made(self, factor: Factor) -> Candidate:
        hinge = Slope.of(factor, self.X, self.row_weight)
        return Candidate(hinge, hinge(self.X), 0.0)

    def _factor(self, column: int, side: int, knot: int) -> Factor:
        """Return the hinge above (side 0) or below (side 1) a knot, which is its origin and one of its limits."""
        line, at = self.slopes[column].factor, float(self.knots[column, knot])
        return Factor(line.column, at, line.lower, at) if side else Factor(line.column, at, at, line.upper)

    def _gains(self, stage: View) -> NDArray[np.float64]:
        """Return by how much each hinge would lower the penalised loss; shape (n_slopes, 2, n_knots), see `Stage.gain`."""
        # Where some of the rows stand for all, each stands for several.
        scale = stage.problem.size / self._size
        curvature = np.ascontiguousarray(stage.curvature[:, self._rows])
        gradient, _, *directions = scale * self._products(curvature) / self._spread
        size = scale * self._squares(curvature[1]) / self._spread**2 + stage.ridge
        left = size - np.add.reduce(np.square(directions), axis=0)
        possible = np.isfinite(self._spread) & (left > TINY * size)
        return np.where(possible, gradient**2 / (2.0 * np.where(possible, left, 1.0)), 0.0)

    @cached_property
    def _rows(self) -> slice:
        """The rows by which hinges are compared."""
        return slice(min(len(self.row_weight), MOST_ROWS))

    @cached_property
    def _size(self) -> float:
        return float(np.add.reduce(self.row_weight[self._rows]))

    @cached_property
    def _values(self) -> Matrix:
        """The values of each slope, in its unit; shape (n_slopes, n_rows)."""
        return np.array([slope(self.X)[self._rows] for slope in self.slopes])

    @cached_property
    def _standardised_knots(self) -> NDArray[np.float64]:
        """The knots in the units of the slopes, for both sides; shape (n_slopes, 1, n_knots)."""
        origin = np.array([[slope.factor.origin] for slope in self.slopes])
        scale = np.array([[slope.scale] for slope in self.slopes])
        return np.asarray((self.knots - origin) / scale)[:, None, :]

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """Between which knots each value lies; the last place of a column is for missing ones."""
        places = []
        for slope, knots in zip(self.slopes, self.knots, strict=True):
            values = slope.factor.clipped(self.X)[self._rows]
            places.append(np.where(np.isnan(values), len(knots) + 1, np.searchsorted(knots, values, side="right")))
        return np.array(places, dtype=np.intp)

    @cached_property
    def _spread(self) -> NDArray[np.float64]:
        """The standard deviation of each hinge; infinite if it has no row beyond its knot, or no row before it."""
        weight = np.ascontiguousarray(self.row_weight[self._rows])
        above, below = np.moveaxis(self._sums(weight[None], self._values)[0, 0], 1, 0)
        present = np.maximum(above + below, np.finfo(np.float64).tiny)[:, None, :]
        mean = self._products(weight[None])[0] / present
        variance = self._squares(weight) / present - mean**2
        usable = (variance > TINY) & (variance > TINY).all(axis=1, keepdims=True)
        return np.where(usable, np.sqrt(np.where(usable, variance, 1.0)), np.inf)

    def _sums(self, numbers: Matrix, values: Matrix) -> NDArray[np.float64]:
        """Return sums over the rows above and below each knot: of numbers, and of these times values.

        They have shape (2, n_quantities, n_slopes, 2, n_knots).
        """
        sums = sums_by_place(self._place, values, numbers, len(SHARES) + 2)[..., :-1]
        below = np.cumsum(sums, axis=-1)[..., :-1]
        above = np.cumsum(sums[..., ::-1], axis=-1)[..., -2::-1]
        return np.stack([above, below], axis=-2)

    def _products(self, numbers: Matrix) -> NDArray[np.float64]:
        """Return for each quantity and hinge the sum over rows of its values times a number, in the units of the slopes."""
        alone, times_value = self._sums(numbers, self._values)
        return np.asarray(times_value - self._standardised_knots * alone)

    def _squares(self, numbers: Vector) -> NDArray[np.float64]:
        """Return for each hinge the sum over rows of its squared values times a number."""
        knots, (alone, once) = self._standardised_knots, self._sums(numbers[None], self._values)[:, 0]
        twice = self._sums(numbers[None], self._values**2)[1, 0]
        return np.asarray(twice - 2.0 * knots * once + knots**2 * alone)


def _knots(values: Vector, row_weight: Vector) -> list[float]:
    """Return the deciles of a column."""
    present = ~np.isnan(values)
    return quantiles(values[present], row_weight[present], SHARES)
