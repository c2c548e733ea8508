"""Slopes in a search for a change: what rules with a factor can add to a score in a box, exactly and as linear bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.change_room import Room, Wish
from obliquerules.rules import Block, Factor, Proposition, Rule, RuleEnsemble, Test

Vector = NDArray[np.float64]
# For each rule: whether it fires, None if that is undecided.
Fires = Sequence[bool | None]

# Scores beyond are taken for this one, so that the middle between two can be found.
LARGEST_SCORE = 1e300
# How exactly the score that is needed is found, if it is close to zero.
SCORE_GAP = 1e-30


class Box(NamedTuple):
    """The least and the greatest value of each column in a part of the room."""

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
    """A linear function of a column: its value where the row of the room is, and how much it grows with the column."""

    value: float
    growth: float


@dataclass(frozen=True)
class ScoreBound:
    """A bound on a score in the wanted direction: a fixed part and, for each rule that moves, the least of one or two lines."""

    fixed: float
    columns: tuple[int, ...]
    lines: tuple[tuple[Line, ...], ...]

    def at(self, steps: Vector) -> float:
        """Return the bound where each of the columns has moved by so much."""
        least = (min(line.value + line.growth * step for line in lines) for lines, step in zip(self.lines, steps, strict=True))
        return self.fixed + math.fsum(least)


class Slopes:
    """The rules of an ensemble, some of which have a factor, in a room.

    What a rule adds is monotone in its column, also as the model rounds it, so its extremes in a box are exact. Linear bounds
    are exact in a box that contains no bend of a rule towards the wish, but for rounding.
    """

    def __init__(self, ensemble: RuleEnsemble, room: Room, wish: Wish) -> None:
        self.rules, self.room, self.direction = ensemble.rules, room, wish.direction
        self.constant = ensemble.intercepts[0]
        self.start = Box(np.where(room.free, room.lower, room.x), np.where(room.free, room.upper, room.x))
        self.needed = wish.direction * self._last_unwanted(wish)

    @classmethod
    def of(cls, ensemble: RuleEnsemble, room: Room, wish: Wish) -> Slopes | None:
        """Return the rules in a room; None if none of them has a factor."""
        return cls(ensemble, room, wish) if any(rule.factor is not None for rule in ensemble) else None

    def _last_unwanted(self, wish: Wish) -> float:
        """Return the score next to those that are wanted."""
        good, bad = (self._farthest(way) for way in (wish.direction, -wish.direction))
        with np.errstate(over="ignore"):
            while abs(good - bad) > max(SCORE_GAP, math.ulp(1.0) * max(abs(good), abs(bad))):
                middle = 0.5 * good + 0.5 * bad
                good, bad = (middle, bad) if wish.by(middle) else (good, middle)
        return bad

    def _farthest(self, way: float) -> float:
        """Return a score that no row of the room exceeds, but for rounding, upwards or downwards."""
        score = self.constant + sum(way * max(0.0, way * most) for most in self.extremes(self.start, way))
        return min(max(score, -LARGEST_SCORE), LARGEST_SCORE)

    # Boxes.

    def holding(self, box: Box, test: Test, holds: bool) -> Box:
        """Return the part of a box in which a condition on a number alone holds, or does not; all of it for other conditions.

        Only conditions are looked at that compare the number itself, not a multiple that is rounded.
        """
        column = test.only_number if isinstance(test, Proposition) and abs(test.weights[0]) == 1.0 else None
        if not isinstance(test, Proposition) or column is None or np.isnan(self.room.x[column]):
            return box
        end = test.weights[0] * test.threshold
        if holds == test.is_upright:
            return self._between(box, column, end if holds else math.nextafter(end, math.inf), math.inf)
        return self._between(box, column, -math.inf, end if holds else math.nextafter(end, -math.inf))

    def _between(self, box: Box, column: int, lower: float, upper: float) -> Box:
        if self.room.whole[column]:
            lower, upper = float(np.ceil(lower)), float(np.floor(upper))
        return box.between(column, lower, upper)

    def parts(self, fires: Fires, box: Box, row: Vector) -> list[Box]:
        """Return parts of a box in which the bounds are closer to the score at a row; none if they are as close as they get."""
        moving = [rule for rule, fired in zip(self.rules, fires, strict=True) if fired and self._moves(rule, box)]
        bent = [rule for rule in moving if self._has_bend(rule, box)]
        if bent:
            return self._sides(max(bent, key=lambda rule: self._excess(rule, box, row)), box)
        whole = [factor.column for rule in moving if (factor := _factor(rule)) and self.room.whole[factor.column]]
        return self._around(box, whole[0], float(row[whole[0]])) if whole else []

    def beside(self, box: Box, row: Vector) -> Box:
        """Return the part of a box on that side of all bends on which a row is."""
        for rule in self.rules:
            if self._has_bend(rule, box):
                box = next(side for side in self._sides(rule, box) if self._contains(side, _factor(rule).column, row))
        return box

    @staticmethod
    def _contains(box: Box, column: int, row: Vector) -> bool:
        return bool(box.lower[column] <= row[column] <= box.upper[column])

    def _moves(self, rule: Rule, box: Box) -> bool:
        """Say whether what a rule adds, if it fires, may differ within a box."""
        column = None if rule.factor is None else rule.factor.column
        return column is not None and bool(box.lower[column] < box.upper[column])

    def _bend(self, rule: Rule) -> float:
        """Return the limit from which on a rule adds more and more, or up to which less and less, of what is wished for."""
        factor = _factor(rule)
        return factor.lower if self._pull(rule) > 0.0 else factor.upper

    def _pull(self, rule: Rule) -> float:
        return self.direction * rule.weights[0]

    def _has_bend(self, rule: Rule, box: Box) -> bool:
        if not self._moves(rule, box):
            return False
        column = _factor(rule).column
        return bool(box.lower[column] < self._bend(rule) < box.upper[column])

    def _excess(self, rule: Rule, box: Box, row: Vector) -> float:
        """Return by how much the bound on a rule exceeds what it adds at a row."""
        factor = _factor(rule)
        step = float(row[factor.column] - self.room.x[factor.column])
        bound = min((line.value + line.growth * step for line in self._lines(rule, box)), default=math.inf)
        return bound - self._pull(rule) * _value(factor, float(row[factor.column]))

    def _sides(self, rule: Rule, box: Box) -> list[Box]:
        column, bend = _factor(rule).column, self._bend(rule)
        above = math.floor(bend) + 1.0 if self.room.whole[column] else bend
        return [self._between(box, column, -math.inf, bend), self._between(box, column, above, math.inf)]

    def _around(self, box: Box, column: int, value: float) -> list[Box]:
        """Return the box below a whole number, at it, and above it."""
        ends = ((-math.inf, value - 1.0), (value, value), (value + 1.0, math.inf))
        return [part for low, high in ends if not (part := box.between(column, low, high)).is_empty]

    # What rules add.

    def extremes(self, box: Box, way: float) -> list[float]:
        """Return the most that each rule can add upwards, or downwards, to the score of a row in a box on which it fires."""
        return [rule.weights[0] if rule.factor is None else self._extreme(rule, box, way) for rule in self.rules]

    def _extreme(self, rule: Rule, box: Box, way: float) -> float:
        factor, weight = _factor(rule), rule.weights[0]
        if weight == 0.0 or np.isnan(self.room.x[factor.column]):
            return 0.0
        for test in rule.condition:
            box = self.holding(box, test, True)
        low, high = float(box.lower[factor.column]), float(box.upper[factor.column])
        if low > high:
            return 0.0
        return weight * _value(factor, high if way * weight > 0.0 else low)

    def times(self, pulls: Sequence[float], row: Block) -> list[float]:
        """Return the pulls of rules that fire on one row, each multiplied by the factor of its rule."""
        return [
            pull if rule.factor is None else pull * float(rule.factor(row)[0])
            for pull, rule in zip(pulls, self.rules, strict=True)
        ]

    def bound(self, fires: Fires, box: Box) -> ScoreBound | None:
        """Return a bound on the scores in a box; None if they have none, or the same for all rows."""
        fixed, moving = self.direction * self.constant, []
        for rule, fired, most in zip(self.rules, fires, self.extremes(box, self.direction), strict=True):
            if fired and self._moves(rule, box):
                moving.append(rule)
            elif fired or (fired is None and self.direction * most > 0.0):
                fixed += self.direction * most
        lines = tuple(self._lines(rule, box) for rule in moving)
        if not lines or not all(lines) or math.isinf(fixed):
            return None
        return ScoreBound(fixed, tuple(_factor(rule).column for rule in moving), lines)

    def _lines(self, rule: Rule, box: Box) -> tuple[Line, ...]:
        """Return lines the least of which bounds what a rule adds in a box, as closely as a function without a bend can.

        The factor is turned so that it adds the more the greater its column is.
        """
        factor, pull = _factor(rule), self._pull(rule)
        here, low, high = (float(values[factor.column]) for values in (self.room.x, *box))
        turned = factor if pull > 0.0 else Factor(factor.column, -factor.origin, -factor.upper, -factor.lower)
        found = _rising(turned, here, low, high) if pull > 0.0 else _rising(turned, -here, -high, -low)
        return tuple(Line(abs(pull) * (value - turned.origin), pull * growth) for value, growth in found)


def _factor(rule: Rule) -> Factor:
    if rule.factor is None:
        raise TypeError("The rule has no factor.")
    return rule.factor


def _clipped(factor: Factor, value: float) -> float:
    return min(max(value, factor.lower), factor.upper)


def _value(factor: Factor, value: float) -> float:
    """Return the factor of a row, as the model computes it, from the value of its column."""
    return _clipped(factor, value) - factor.origin


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
