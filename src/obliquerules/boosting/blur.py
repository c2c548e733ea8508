"""Blur: the loss of an ensemble whose thresholds are only known roughly, which a lucky cut does not lower."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.soft_conditions import SoftConditions
from obliquerules.rules import Conjunction

if TYPE_CHECKING:
    from obliquerules.boosting.problem import Stage

Vector = NDArray[np.float64]

# The width of a blurred threshold, in standard deviations of its sum, is this much by the cube root of the number of rows:
# so fast do estimates of a threshold converge where the truth is a slope and not a step.
WIDTH = 1.2
# The share of the blurred loss in what ensembles are judged by; the rest is the loss as it is.
SHARE = 0.5
# The number of digits of what ensembles are judged by: rounding must not decide between two that are equally good.
DIGITS = 12
# The number of conditions whose degrees are kept: most ensembles share all rules but one with those judged before.
MOST_KEPT = 256


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

    @property
    def sharpness(self) -> float:
        """The sharpness of blurred conditions."""
        return float(np.cbrt(self.size)) / WIDTH

    @cached_property
    def _scale(self) -> float:
        """How many rows there are for each on which degrees are computed."""
        return self.size / float(np.add.reduce(self.conditions.row_weight[self.conditions.rows]))

    @cached_property
    def _kept(self) -> Callable[[Conjunction], Vector]:
        return lru_cache(MOST_KEPT)(self._degree)

    def _degree(self, condition: Conjunction) -> Vector:
        """Return to what degree rows meet all conditions of a conjunction."""
        degree = np.ones(self.conditions.rows.stop)
        for test in condition:
            degree *= self.conditions.degree(test, self.sharpness)
        return degree

    def loss(self, stage: Stage) -> float:
        """Return what an ensemble is judged by."""
        problem, rows = stage.problem, self.conditions.rows
        score = np.full(rows.stop, stage.weights[0])
        if stage.conditions:
            score += np.einsum("j,ji->i", stage.weights[1:], np.array([self._kept(one) for one in stage.conditions]))
        losses = problem.row_weight[rows] * problem.loss.value(problem.y[rows], problem.shifted(score, rows))
        blurred = float(np.add.reduce(losses))
        sharp = stage.training_loss if rows.stop == len(problem.y) else float(np.add.reduce(stage.row_losses[rows]))
        # Where some of the rows stand for all, they may have more than their share of the loss.
        judged = max(stage.training_loss + SHARE * self._scale * (blurred - sharp), (1.0 - SHARE) * stage.training_loss)
        return float(f"{judged:.{DIGITS}g}")
