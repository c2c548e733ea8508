"""Slopes in a search for a change: what rules with a factor can add to a score in a box, exactly and as linear bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.inspection.closest.feasible import Feasible, Goal
from obliquerules.rules import Conjunction, Factor, Proposition, Rule, RuleEnsemble, Test

# For each rule: whether it fires, None if that is undecided.
Fires = Sequence[bool | None]

# Scores beyond are taken for this one, so that the middle between two can be found.
LARGEST_SCORE = 1e300
# How exactly the score that is needed is found, if it is close to zero.
SCORE_GAP = 1e-30
# Boxes are halved down to this width, in standard deviations.
SMALLEST_BOX = 1e-7


class Box(NamedTuple):
    """The least and the greatest value of each column in a part of the region."""

    lower: Vector
    upper: Vector

    @property
    def is_empty(self) -> bool:
        """Whether no row is in it."""
        return bool((self.lower > self.upper).any())

    def between(self, column: int, lower: float, upper: float) -> Box:
        """Return the part of it in which a column has limits."""
        least, most = self.lower.copy(), self.upper.copy()
        least[column], most[column] = max(least[column], lower), min(most[column], upper)
        return Box(least, most)


class Line(NamedTuple):
    """A linear function of a column: its value where the row of the region is, and how much it grows with the column."""

    value: float
    growth: float


@dataclass(frozen=True)
class ScoreBound:
    """A bound on a score in the wanted direction, and the score that is needed.

    It has a fixed part and, for each rule that moves, the least of one or two lines.
    """

    fixed: float
    needed: float
    columns: tuple[int, ...]
    lines: tuple[tuple[Line, ...], ...]

    def at(self, steps: Vector) -> float:
        """Return the bound where each of the columns has moved by so much."""
        least = (min(line.value + line.growth * step for line in lines) for lines, step in zip(self.lines, steps, strict=True))
        return self.fixed + math.fsum(least)


class Slope(NamedTuple):
    """A rule with a factor, and by how much it brings a score closer to the goal where its factor grows by one."""

    weight: float
    factor: Factor
    condition: Conjunction
    pull: float

    @property
    def column(self) -> int:
        """The column whose value the weight is multiplied by."""
        return self.factor.column

    @property
    def bend(self) -> float:
        """The limit at which it begins to bring the score closer to the goal, or ceases to take it away."""
        return self.factor.lower if self.pull > 0.0 else self.factor.upper

    def at(self, value: float) -> float:
        """Return what it adds, as the model computes it, where its column has a value."""
        return self.weight * (_clipped(self.factor, value) - self.factor.origin)


class Slopes:
    """The rules of an ensemble, some of which have a factor, in a region.

    What a rule adds is monotone in its column, also as the model rounds it, so its extremes in a box are exact. Linear bounds
    are exact in a box that contains no bend of a rule towards the goal, but for rounding.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible, goal: Goal) -> None:
        self.region, self.direction, self.constant = region, goal.direction, ensemble.intercepts[0]
        # For each rule, its weight if it has no factor.
        self.rules: list[float | Slope] = [
            rule.weights[0]
            if rule.factor is None or rule.weights[0] == 0.0
            else Slope(rule.weights[0], rule.factor, rule.condition, goal.direction * rule.weights[0])
            for rule in ensemble
        ]
        self.start = Box(np.where(region.free, region.lower, region.x), np.where(region.free, region.upper, region.x))
        self.needed = goal.direction * self._last_unwanted(goal)

    def _last_unwanted(self, goal: Goal) -> float:
        """Return the score next to those that are wanted."""
        good, bad = (self._farthest(way) for way in (goal.direction, -goal.direction))
        with np.errstate(over="ignore"):
            while abs(good - bad) > max(SCORE_GAP, math.ulp(1.0) * max(abs(good), abs(bad))):
                middle = 0.5 * good + 0.5 * bad
                good, bad = (middle, bad) if goal.by(middle) else (good, middle)
        return bad

    def _farthest(self, way: float) -> float:
        """Return a score that no row of the region exceeds, but for rounding, upwards or downwards."""
        score = self.constant + sum(way * max(0.0, way * most) for most in self.extremes(self.start, way))
        return min(max(score, -LARGEST_SCORE), LARGEST_SCORE)

    # Boxes.

    def holding(self, box: Box, test: Test, holds: bool) -> Box:
        """Return the part of a box in which a condition on a number alone holds, or does not; all of it for other conditions.

        Only conditions are looked at that compare the number itself, not a multiple that is rounded.
        """
        column = test.only_number if isinstance(test, Proposition) and abs(test.weights[0]) == 1.0 else None
        if not isinstance(test, Proposition) or column is None or np.isnan(self.region.x[column]):
            return box
        end = test.weights[0] * test.threshold
        if holds == test.is_upright:
            return self._between(box, column, end if holds else math.nextafter(end, math.inf), math.inf)
        return self._between(box, column, -math.inf, end if holds else math.nextafter(end, -math.inf))

    def _between(self, box: Box, column: int, lower: float, upper: float) -> Box:
        if self.region.whole[column]:
            lower, upper = float(np.ceil(lower)), float(np.floor(upper))
        return box.between(column, lower, upper)

    def parts(self, fires: Fires, box: Box, row: Vector) -> list[Box]:
        """Return parts of a box in which the bounds are closer to the score at a row; none if they are as close as they get."""
        moving = self._moving(fires, box)
        bent = [slope for slope in moving if self._has_bend(slope, box)]
        if bent:
            return list(self._sides(max(bent, key=lambda slope: self._excess(slope, box, row)), box))
        whole = [slope.column for slope in moving if self.region.whole[slope.column]]
        return self._around(box, whole[0], float(row[whole[0]])) if whole else []

    def beside(self, box: Box, row: Vector) -> Box:
        """Return the part of a box on that side of all bends on which a row is."""
        for slope in self.rules:
            if isinstance(slope, Slope) and self._has_bend(slope, box):
                below, above = self._sides(slope, box)
                box = below if row[slope.column] <= below.upper[slope.column] else above
        return box

    def _moving(self, fires: Fires, box: Box) -> list[Slope]:
        """Return the rules that fire and do not add the same everywhere in a box."""
        fired = (rule for rule, one in zip(self.rules, fires, strict=True) if one and isinstance(rule, Slope))
        return [slope for slope in fired if self._moves(slope, box)]

    @staticmethod
    def _moves(slope: Slope, box: Box) -> bool:
        return bool(box.lower[slope.column] < box.upper[slope.column])

    @staticmethod
    def _has_bend(slope: Slope, box: Box) -> bool:
        return bool(box.lower[slope.column] < slope.bend < box.upper[slope.column])

    def _excess(self, slope: Slope, box: Box, row: Vector) -> float:
        """Return by how much the bound on a rule exceeds what it adds at a row."""
        value = float(row[slope.column])
        step = value - float(self.region.x[slope.column])
        bound = min((line.value + line.growth * step for line in self._lines(slope, box)), default=math.inf)
        return bound - self.direction * slope.at(value)

    def _sides(self, slope: Slope, box: Box) -> tuple[Box, Box]:
        """Return the parts of a box below and above the bend of a rule."""
        column, bend = slope.column, slope.bend
        above = math.floor(bend) + 1.0 if self.region.whole[column] else bend
        return self._between(box, column, -math.inf, bend), self._between(box, column, above, math.inf)

    @staticmethod
    def _around(box: Box, column: int, value: float) -> list[Box]:
        """Return the box below a whole number, at it, and above it."""
        ends = ((-math.inf, value - 1.0), (value, value), (value + 1.0, math.inf))
        return [part for low, high in ends if not (part := box.between(column, low, high)).is_empty]

    # What rules add.

    def extremes(self, box: Box, way: float) -> list[float]:
        """Return the most that each rule can add upwards, or downwards, to the score of a row in a box on which it fires."""
        return [self._extreme(rule, box, way) if isinstance(rule, Slope) else rule for rule in self.rules]

    def _extreme(self, slope: Slope, box: Box, way: float) -> float:
        if slope.weight == 0.0 or np.isnan(self.region.x[slope.column]):
            return 0.0
        for test in slope.condition:
            box = self.holding(box, test, True)
        low, high = float(box.lower[slope.column]), float(box.upper[slope.column])
        if low > high:
            return 0.0
        return slope.at(high if way * slope.weight > 0.0 else low)

    def bounds(self, fires: Fires, box: Box) -> list[ScoreBound]:
        """Return a bound on the scores in a box; nothing if they have none, or the same for all rows."""
        fixed, moving = self.direction * self.constant, []
        for rule, fired, most in zip(self.rules, fires, self.extremes(box, self.direction), strict=True):
            if fired and isinstance(rule, Slope) and self._moves(rule, box):
                moving.append(rule)
            elif fired or (fired is None and self.direction * most > 0.0):
                fixed += self.direction * most
        lines = tuple(self._lines(slope, box) for slope in moving)
        if not lines or not all(lines) or math.isinf(fixed):
            return []
        return [ScoreBound(fixed, self.needed, tuple(slope.column for slope in moving), lines)]

    def _lines(self, slope: Slope, box: Box) -> tuple[Line, ...]:
        """Return lines the least of which bounds what a rule adds in a box, as closely as a function without a bend can.

        The factor is turned so that it brings the score the closer to the goal the greater its column is.
        """
        factor, pull = slope.factor, slope.pull
        here, low, high = (float(values[slope.column]) for values in (self.region.x, *box))
        if pull < 0.0:
            here, low, high = -here, -high, -low
            factor = Factor(slope.column, -factor.origin, -factor.upper, -factor.lower)
        lines = _rising(factor, here, low, high)
        return tuple(Line(abs(pull) * (value - factor.origin), pull * growth) for value, growth in lines)


class ClassSlopes:
    """The leads of one of many classes, that of the goal, over each other class, as slopes of one score.

    A goal for a class needs all leads at once, and other goals for a higher probability need at least a part of each. Where
    less is wanted, no single lead is needed, and boxes are halved until bounds decide.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible, goal: Goal, of: int) -> None:
        self.region, self.goal = region, goal
        n_classes = len(ensemble.intercepts)
        self.others = [output for output in range(n_classes) if output != of]
        self.leads = [
            Slopes(_lead(ensemble, of, other), region, self._lead_goal(of, other, n_classes)) for other in self.others
        ]
        self.start = self.leads[0].start
        self.sizes = np.array([self._size(ensemble.of_output(output)) for output in range(n_classes)])

    def _lead_goal(self, of: int, other: int, n_classes: int) -> Goal:
        """Return the goal for one lead where all others are as large, or as small, as can be."""
        goal = self.goal

        def met(leads: Vector) -> NDArray[np.bool_]:
            scores = np.full((len(leads), n_classes), -goal.direction * LARGEST_SCORE)
            scores[:, of], scores[:, other] = 0.0, -leads
            return goal.met(scores)

        return Goal(met, goal.direction, goal.words)

    def _size(self, ensemble: RuleEnsemble) -> float:
        """Return how large the sizes of what is added to a score can be in all."""
        slopes = Slopes(ensemble, self.region, Goal(lambda scores: scores > 0.0, 1.0, ""))
        ends = (np.abs(slopes.extremes(self.start, way)) for way in (1.0, -1.0))
        return abs(slopes.constant) + float(np.maximum(*ends).sum())

    def holding(self, box: Box, test: Test, holds: bool) -> Box:
        """Return the part of a box in which a condition holds; see `Slopes.holding`."""
        return self.leads[0].holding(box, test, holds)

    def parts(self, fires: Fires, box: Box, row: Vector) -> list[Box]:
        """Return parts of a box in which bounds are closer to the leads at a row."""
        for lead in self.leads:
            if parts := lead.parts(fires, box, row):
                return parts
        return [] if self.goal.is_class else self._halves(box)

    def _halves(self, box: Box) -> list[Box]:
        """Return the halves of a box in its widest column; none if it is too small to be told from a point."""
        columns = sorted({slope.column for lead in self.leads for slope in lead.rules if isinstance(slope, Slope)})
        widths = (box.upper - box.lower)[columns] / self.region.unit[columns]
        widths = np.where(self.region.free[columns] & ~self.region.whole[columns], widths, 0.0)
        column = columns[int(np.argmax(widths))]
        middle = 0.5 * (box.lower[column] + box.upper[column])
        if not SMALLEST_BOX < widths.max() < math.inf:
            return []
        return [box.between(column, -math.inf, middle), box.between(column, middle, math.inf)]

    def beside(self, box: Box, row: Vector) -> Box:
        """Return the part of a box on that side of all bends on which a row is."""
        for lead in self.leads:
            box = lead.beside(box, row)
        return box

    def bounds(self, fires: Fires, box: Box) -> list[ScoreBound]:
        """Return bounds on the leads in a box."""
        return [bound for lead in self.leads for bound in lead.bounds(fires, box)] if self.goal.direction > 0.0 else []

    def farthest(self, fires: Fires, box: Box, way: float) -> Vector:
        """Return leads that no row in a box exceeds, upwards or downwards, but for rounding."""
        found = []
        for lead in self.leads:
            added = zip(lead.extremes(box, way), fires, strict=True)
            found.append(lead.constant + sum(most for most, fired in added if fired or (fired is None and way * most > 0.0)))
        return np.array(found)


def slopes_of(ensemble: RuleEnsemble, region: Feasible, goal: Goal) -> Slopes | ClassSlopes | None:
    """Return the rules in a region; None if none of them has a factor."""
    if all(rule.factor is None for rule in ensemble):
        return None
    return Slopes(ensemble, region, goal) if goal.of is None else ClassSlopes(ensemble, region, goal, goal.of)


def _lead(ensemble: RuleEnsemble, of: int, other: int) -> RuleEnsemble:
    """Return by how much the score of a class leads that of another, as an ensemble."""
    rules = [Rule(rule.weights[of] - rule.weights[other], rule.condition, rule.factor) for rule in ensemble]
    return RuleEnsemble(rules, ensemble.intercepts[of] - ensemble.intercepts[other], ensemble.columns)


def _clipped(factor: Factor, value: float) -> float:
    return min(max(value, factor.lower), factor.upper)


def _rising(factor: Factor, here: float, low: float, high: float) -> list[Line]:
    """Return lines the least of which bounds a clipped value between two ends."""
    bottom, top = _clipped(factor, low), _clipped(factor, high)
    lines = []
    if low >= factor.lower:
        lines.append(Line(here, 1.0))
    elif high > factor.lower and math.isfinite(low):
        end = min(high, factor.upper)
        growth = (top - bottom) / (end - low) if math.isfinite(end) else 1.0
        lines.append(Line(bottom + growth * (here - low), growth))
    if math.isfinite(top) and (not lines or high > factor.upper):
        lines.append(Line(top, 0.0))
    return lines
