"""Blur: the loss of an ensemble whose thresholds are only known roughly, which a lucky cut does not lower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from obliquerules.arrays import Matrix, Vector
from obliquerules.kernels.rule_weights import loss_of_each
from obliquerules.learning.boosting.soft_conditions import SoftConditions
from obliquerules.learning.cached import Recent

if TYPE_CHECKING:
    from obliquerules.learning.boosting.problem import Candidate, Problem


# The width of a blurred threshold, in standard deviations of its sum, is this much by the cube root of the number of rows:
# so fast do estimates of a threshold converge where the truth is a slope and not a step.
WIDTH = 1.2
# The share of the blurred loss in what ensembles are judged by; the rest is the loss as it is.
SHARE = 0.5
# The number of digits of what ensembles are judged by: rounding must not decide between two that are equally good.
DIGITS = 10
# The number of conditions whose degrees are kept: most ensembles share all rules but one with those judged before.
MOST_KEPT = 64


@dataclass(frozen=True, eq=False)
class Blur:
    """Judges ensembles by their loss on the training rows, half of it with blurred thresholds.

    Of many conditions that are equally good in truth, the one with the least training loss is that whose threshold happens to
    part the noise of the training rows best. Near a blurred threshold, rows count for both sides, and luck counts for less.

    Attributes
    ----------
    conditions : SoftConditions
    size : float
        The number of rows; a row of weight 2 counts as two.
    """

    conditions: SoftConditions
    size: float
    _recent: Recent[Vector] = field(default_factory=lambda: Recent(MOST_KEPT))

    @property
    def sharpness(self) -> float:
        """The sharpness of blurred conditions."""
        return float(np.cbrt(self.size)) / WIDTH

    @cached_property
    def _scale(self) -> float:
        """How many rows there are for each on which degrees are computed."""
        return self.size / float(np.add.reduce(self.conditions.row_weight[self.conditions.rows]))

    def smooth(self, term: Candidate) -> Vector:
        """Return the smoothed indicator of a rule, or the values of a slope."""
        return self._recent.get(term, lambda: self._smooth(term))

    def _smooth(self, term: Candidate) -> Vector:
        if term.is_slope:
            return np.asarray(term.covers[self.conditions.rows])
        first, *others = (self.conditions.degree(test, self.sharpness) for test in term.condition)
        for other in others:
            first = first * other
        return first

    def judged(
        self, problem: Problem, common: Sequence[Candidate], last: Sequence[Candidate], weights: Matrix, losses: Vector
    ) -> Vector:
        """Return the judged losses of ensembles that differ only in their last term.

        ``weights`` has a line for each of them, ``losses`` the loss on all rows.
        """
        rows = self.conditions.rows
        y, row_weight, offset = (one[rows] for one in problem.rows)
        family = problem.loss.family, problem.loss.power

        def loss(values: Callable[[Candidate], Vector]) -> Vector:
            shared = np.array([values(one) for one in common]).reshape(len(common), rows.stop)
            return loss_of_each(shared, np.array([values(one) for one in last]), weights, y, row_weight, offset, *family)

        sharp = losses
        if rows.stop < len(problem.y):
            sharp = loss(lambda term: np.asarray(term.covers[rows], dtype=np.float64))
        # Where some of the rows stand for all, they may have more than their share of the loss.
        judged = np.maximum(losses + SHARE * self._scale * (loss(self.smooth) - sharp), (1.0 - SHARE) * losses)
        return np.array([float(f"{one:.{DIGITS}g}") for one in judged.tolist()])
