"""Change bounds: whether a wanted prediction is possible, or certain, as far as it is known which rules fire."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.inspection.closest.feasible import Goal
from obliquerules.inspection.closest.slopes import LARGEST_SCORE, Box, ClassSlopes, Fires, Slopes
from obliquerules.rules import RuleEnsemble

# By how much the probabilities of many classes may be off, as a difference of scores.
ROUNDING = 1e-12


class Bounds(Protocol):
    """What a search asks about the scores of an ensemble; if rules have a factor, about those in a box."""

    def possible(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether rules that are undecided might give the wanted prediction."""

    def certain(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether the prediction is the wanted one whatever rules that are undecided do."""

    def pulls(self, scores: Vector) -> list[float]:
        """Return by how much each rule that fires brings a row with these scores closer to the wanted prediction."""


def bounds_for(goal: Goal, ensemble: RuleEnsemble, slopes: Slopes | ClassSlopes | None = None) -> Bounds:
    """Return the bounds on one score, or on those of many classes."""
    if goal.of is None:
        return ScoreBounds(goal, ensemble, slopes if isinstance(slopes, Slopes) else None)
    return ClassBounds(goal, goal.of, ensemble, slopes if isinstance(slopes, ClassSlopes) else None)


class ScoreBounds:
    """Bounds on a single score. Rounded addition is monotone, so they hold to the last bit."""

    def __init__(self, goal: Goal, ensemble: RuleEnsemble, slopes: Slopes | None = None) -> None:
        self.goal, self.slopes = goal, slopes
        self.constant, *self.weights = ensemble.weight_table.tolist()

    def possible(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether rules that are undecided might give the wanted prediction."""
        return self.goal.by(self._extreme(fires, box, self.goal.direction))

    def certain(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether the prediction is the wanted one whatever rules that are undecided do."""
        return self.goal.by(self._extreme(fires, box, -self.goal.direction))

    def _extreme(self, fires: Fires, box: Box | None, direction: float) -> float:
        score: float = self.constant
        weights = self.weights if self.slopes is None or box is None else self.slopes.extremes(box, direction)
        for weight, fired in zip(weights, fires, strict=True):
            if fired or (fired is None and weight * direction > 0.0):
                score += weight
        return score

    def pulls(self, scores: Vector) -> list[float]:  # noqa: ARG002  # one signature for all bounds
        """Return by how much each rule that fires brings a row closer to the wanted prediction."""
        return [weight * self.goal.direction for weight in self.weights]


class ClassBounds:
    """Bounds on by how much the score of one of many classes, that of the goal, leads the scores of the others.

    A rule may change two scores at once, so it is their difference that is bounded, for one pair of classes at a time. Rounding
    adds up a little differently there than in the model, for which a slack allows. Where all rules that speak of a pair are
    decided, the lead is that of the model.
    """

    def __init__(self, goal: Goal, of: int, ensemble: RuleEnsemble, slopes: ClassSlopes | None = None) -> None:
        self.goal, self.of, self.slopes = goal, of, slopes
        self.table = ensemble.weight_table
        self.others = np.array([output for output in range(self.table.shape[1]) if output != of])
        self.leads = self.table[:, [of]] - self.table[:, self.others]
        self.spoken = (self.table[1:, [of]] != 0.0) | (self.table[1:, self.others] != 0.0)
        sizes = np.abs(self.table).sum(axis=0) if slopes is None else slopes.sizes
        n_sums = 4.0 * (len(self.table) + 2.0)
        self.slack = ROUNDING + n_sums * np.finfo(np.float64).eps * (sizes[of] + sizes[self.others])

    def possible(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether rules that are undecided might give the wanted prediction."""
        return self._met(fires, box, self.goal.direction)

    def certain(self, fires: Fires, box: Box | None = None) -> bool:
        """Say whether the prediction is the wanted one whatever rules that are undecided do."""
        return self._met(fires, box, -self.goal.direction)

    def _met(self, fires: Fires, box: Box | None, direction: float) -> bool:
        """Say whether the goal is met where each lead is as large, or as small, as it can be."""
        if self.slopes is not None and box is not None:
            lead = self.slopes.farthest(fires, box, direction) + direction * self.slack
            return self._met_at(np.clip(np.nan_to_num(lead, nan=direction * np.inf), -LARGEST_SCORE, LARGEST_SCORE))
        fired, undecided = (np.array([one is what for one in fires], dtype=np.bool_) for what in (True, None))
        scores = self._scores(fired)
        if undecided.any():
            lead = self._extreme(fired, undecided, direction)
            known = ~self.spoken[undecided].any(axis=0)
            exact = scores[self.of] - scores[self.others]
            return self._met_at(np.where(known, exact, lead))
        return bool(self.goal.met(scores[None, :])[0])

    def _met_at(self, leads: Vector) -> bool:
        """Say whether the goal is met at some leads."""
        scores = np.zeros(self.table.shape[1])
        scores[self.others] = -leads
        return bool(self.goal.met(scores[None, :])[0])

    def _scores(self, fired: NDArray[np.bool_]) -> Vector:
        """Return the scores if only these rules fire, added as in the model."""
        scores: Vector = self.table[0].copy()
        for weights in self.table[1:][fired]:
            scores += weights
        return scores

    def _extreme(self, fired: NDArray[np.bool_], undecided: NDArray[np.bool_], direction: float) -> Vector:
        """Return the largest lead over each other class, or the smallest, and a little more."""
        sure = self.leads[0] + self.leads[1:][fired].sum(axis=0)
        more = np.maximum(direction * self.leads[1:][undecided], 0.0).sum(axis=0)
        return np.asarray(sure + direction * (more + self.slack))

    def pulls(self, scores: Vector) -> list[float]:
        """Return by how much each rule that fires changes, as wished, the lead over the strongest of the other classes."""
        rival = int(scores[self.others].argmax())
        pulls: list[float] = (self.goal.direction * self.leads[1:, rival]).tolist()
        return pulls
