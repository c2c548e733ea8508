"""Coarsening: conditions of several ensembles in shorter decimals than the rows need, as far as the loss of each allows."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.rules.columns import Block
from obliquerules.rules.numbers import rounded_to, significant_digits
from obliquerules.rules.rounding.shortening import Shortening, length
from obliquerules.rules.rounding.thresholds import Projections, clear_threshold
from obliquerules.rules.rounding.votes import is_binary
from obliquerules.rules.rule_parts import Membership, Proposition, Test

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble
    from obliquerules.rules.rule import Conjunction
    from obliquerules.rules.rule_parts import Factor

# Numbers are rounded to the most digits first, all of them, and then to fewer: so no number gets short at the cost of another.
MOST_DIGITS = 8
# Thresholds in the same direction are next to each other if they differ by no more than one unit of this digit.
NEIGHBOUR_DIGITS = 2

# What a boundary without numbers has in their place.
NO_BOUNDARY = Proposition([0], [1.0], 0.0)


class HasValue(Protocol):
    """What rounding needs of a loss."""

    def value(self, y: Vector, score: Vector) -> Vector:
        """Return the loss of each score."""
        ...


@dataclass(frozen=True, eq=False)
class Targets:
    """What scores, with an offset added to them if there is one, are compared with: targets, row weights and the loss."""

    y: Vector
    weight: Vector
    loss: HasValue
    offset: Vector | None = None

    @cached_property
    def size(self) -> float:
        """The sum of the row weights."""
        return total(self.weight)

    def values(self, score: Vector, rows: Positions | slice = slice(None)) -> Vector:
        """Return the weighted loss of each of the rows."""
        shifted = score if self.offset is None else score + self.offset[rows]
        return np.asarray(self.weight[rows] * self.loss.value(self.y[rows], shifted))

    def mean(self, score: Vector) -> float:
        """Return the mean loss."""
        return total(self.values(score)) / self.size

    def standard_error(self, score: Vector) -> float:
        """Return the standard error of the mean loss; a row of weight 2 counts as two."""
        shifted = score if self.offset is None else score + self.offset
        deviation = self.loss.value(self.y, shifted) - self.mean(score)
        # Divided by a power of two, which is exact, because squares of losses may be beyond the largest double.
        exponent = math.frexp(float(np.abs(deviation).max()))[1]
        return math.ldexp(math.sqrt(total(self.weight * np.ldexp(deviation, -exponent) ** 2)), exponent) / self.size


def coarsened(
    ensembles: Sequence[RuleEnsemble],
    scores: Sequence[Vector],
    X: Block,
    targets: Targets,
    budgets: Sequence[float],
    shortening: Shortening,
) -> list[RuleEnsemble]:
    """Return the ensembles with conditions in as few digits as the budgets allow; the rule weights stay.

    First each condition is shortened such that no row changes side. Then digits are taken away as long as the mean loss of no
    ensemble rises by more than its budget, from all that has happened to it: first all numbers get at most eight digits, then
    seven, and so on. A condition is the same in all ensembles; ``x >= t`` and ``x <= t`` share their number. Thresholds
    next to each other become one. No threshold comes so close to a row that another engine might see it on the other side.
    """
    exact = [shortening.ensemble(ensemble) for ensemble in ensembles]
    work = _Work(X, targets, shortening)
    for ensemble, score, budget in zip(exact, scores, budgets, strict=True):
        work.add(ensemble, score, budget)
    for digits in range(MOST_DIGITS, 0, -1):
        if digits >= NEIGHBOUR_DIGITS:
            work.merge_neighbours(digits)
        work.round_all(digits)
    return [ensemble.with_propositions(lambda test: shortening.with_whole_threshold(work.changed(test))) for ensemble in exact]


@dataclass(eq=False)
class _Boundary:
    """The number and the direction that ``x.w >= t`` and ``x.w <= t`` share, and the rows on either side.

    Rows with a missing value are on neither. What has no number to be rounded, such as a condition on levels, has one side.
    """

    proposition: Proposition
    above: Mask
    below: Mask
    missing: Mask | None = None
    fixed: Test | None = None

    @classmethod
    def of(cls, proposition: Proposition, projections: Vector) -> _Boundary:
        missing = np.isnan(projections)
        above, below = projections >= proposition.threshold, projections <= proposition.threshold
        return cls(proposition, above, below, missing if missing.any() else None)

    def side(self, half: _Half) -> Mask:
        """Return the rows on one side."""
        side = self.above if half.is_above else self.below
        return side | self.missing if half.missing and self.missing is not None else side


@dataclass(frozen=True)
class _Half:
    """One side of a boundary, given by the index of the boundary: what a proposition is."""

    boundary: int
    is_above: bool
    missing: bool = False


@dataclass(eq=False)
class _Member:
    """An ensemble with its scores, and by how much its total loss has risen and may rise.

    What a row gains where a condition begins to hold: the weight of the condition, and for each slope of the condition a weight
    times the value of the factor.
    """

    weights: dict[int, Vector]
    slopes: list[tuple[int, Vector, Vector]]
    score: Vector
    budget: float
    rise: float = 0.0

    def change(self, rows: Positions, changes: dict[int, Vector]) -> Vector:
        """Return how the scores of some rows change where conditions begin to hold (1) or cease to (-1)."""
        used = [index for index in changes if index in self.weights]
        parts = [np.multiply.outer(changes[index], self.weights[index]) for index in used]
        for index, weight, values in self.slopes:
            if index in changes:
                parts.append(np.multiply.outer(changes[index] * values[rows], weight))
        return np.asarray(sum(parts))


@dataclass(eq=False)
class _Work:
    """The boundaries as they are now, the conditions made of them, and the ensembles made of those."""

    X: Block
    targets: Targets
    shortening: Shortening
    boundaries: list[_Boundary] = field(default_factory=list)
    conditions: list[tuple[_Half, ...]] = field(default_factory=list)
    members: list[_Member] = field(default_factory=list)
    halves: dict[Test, _Half] = field(default_factory=dict)
    known: dict[Test, int] = field(default_factory=dict)
    numbers: dict[Conjunction, int] = field(default_factory=dict)
    factors: dict[Factor, Vector] = field(default_factory=dict)

    def add(self, ensemble: RuleEnsemble, score: Vector, budget: float) -> None:
        """Add an ensemble with its scores and by how much its mean loss may rise."""
        weights: dict[int, Vector] = {}
        slopes: list[tuple[int, Vector, Vector]] = []
        for rule in ensemble:
            if rule.condition not in self.numbers:
                self.numbers[rule.condition] = len(self.conditions)
                self.conditions.append(tuple(self._half(test) for test in rule.condition))
            number = self.numbers[rule.condition]
            if rule.factor is None:
                weights[number] = weights.get(number, 0.0) + np.array(rule.weight)
                continue
            if rule.factor not in self.factors:
                self.factors[rule.factor] = rule.factor(self.X)
            slopes.append((number, np.array(rule.weight), self.factors[rule.factor]))
        self.members.append(_Member(weights, slopes, score.copy(), budget * self.targets.size))

    def _half(self, test: Test) -> _Half:
        if test in self.halves:
            return self.halves[test]
        # No number is to be rounded on 0/1 inputs, or on a date or time.
        summands = () if isinstance(test, Membership) else test.columns
        moments = any(isinstance(one, int) and self.X.column(one).kind in ("date", "time") for one in summands)
        if isinstance(test, Membership) or moments or all(is_binary(one, self.X) for one in summands):
            holds = test(self.X)
            self.boundaries.append(_Boundary(NO_BOUNDARY, holds, ~holds, fixed=test))
            half = _Half(len(self.boundaries) - 1, True)
        else:
            upright = (test if test.is_upright else test.opposite()).with_missing(False)
            if upright not in self.known:
                self.known[upright] = len(self.boundaries)
                self.boundaries.append(_Boundary.of(upright, upright.project(self.X)))
            half = _Half(self.known[upright], test.is_upright, test.missing)
        return self.halves.setdefault(test, half)

    @cached_property
    def users(self) -> list[list[int]]:
        """The conditions that use each boundary."""
        using: list[list[int]] = [[] for _ in self.boundaries]
        for index, condition in enumerate(self.conditions):
            for boundary in dict.fromkeys(half.boundary for half in condition):
                using[boundary].append(index)
        return using

    def changed(self, test: Test) -> Test:
        """Return what a proposition of the ensembles has become."""
        half = self.halves[test]
        boundary = self.boundaries[half.boundary]
        if boundary.fixed is not None:
            return boundary.fixed
        return (boundary.proposition if half.is_above else boundary.proposition.opposite()).with_missing(half.missing)

    # ---- moves

    def merge_neighbours(self, digits: int) -> None:
        """Let thresholds in the same direction that are next to each other, at this many digits, become one number."""
        together: dict[object, list[int]] = defaultdict(list)
        for index, boundary in enumerate(self.boundaries):
            if boundary.fixed is None:
                together[boundary.proposition.columns, boundary.proposition.weights].append(index)
        ordered = [sorted(some, key=lambda index: self.boundaries[index].proposition.threshold) for some in together.values()]
        for lower, upper in [pair for some in ordered for pair in itertools.pairwise(some)]:
            one, other = self.boundaries[lower].proposition, self.boundaries[upper].proposition
            larger = max(one.threshold, other.threshold, key=abs)
            if 0.0 < other.threshold - one.threshold <= _unit(larger, digits):
                # The shorter of the two numbers is tried first.
                pairs = [(lower, other), (upper, one)]
                any(self._moves(index, to) for index, to in sorted(pairs, key=lambda pair: length(pair[1])))

    def round_all(self, digits: int) -> None:
        """Round the numbers of each boundary to this many digits: all at once or, if that costs too much, each by itself."""
        for boundary in range(len(self.boundaries)):
            if self.boundaries[boundary].fixed is not None or self._merged(boundary)[0] < boundary:
                continue  # there is nothing to round, or it was rounded with the first of them
            n_columns = len(self.boundaries[boundary].proposition.columns)
            if not self._rounds(boundary, digits, None) and n_columns > 1:
                for number in range(n_columns + 1):
                    self._rounds(boundary, digits, number)

    def _rounds(self, boundary: int, digits: int, number: int | None) -> bool:
        """Round one number of a boundary, the threshold being the last, or all of them; say whether that was allowed."""
        now = self.boundaries[boundary].proposition
        places = range(len(now.weights)) if number is None else (number,)
        weights = tuple(rounded_to(one, digits) if place in places else one for place, one in enumerate(now.weights))
        most = digits if number in (None, len(weights)) else max(digits, significant_digits(now.threshold))
        if weights == now.weights and significant_digits(now.threshold) <= most:
            return number is None  # there was nothing to do
        coarser = self._placed(boundary, weights, most)
        return coarser is not None and length(coarser) < length(now) and self._moves(boundary, coarser)

    def _placed(self, boundary: int, weights: tuple[float, ...], digits: int) -> Proposition | None:
        """Return the boundary with other weights, its threshold rounded but clear of all rows; None if there is no such one."""
        now, above = self.boundaries[boundary].proposition, self.boundaries[boundary].above
        if not all(map(math.isfinite, weights)):
            return None
        projections = now.with_numbers(weights, now.threshold).project(self.X)
        threshold = now.threshold if weights == now.weights else _dividing(projections, above)
        if threshold is None:
            return None
        largest = [float(self.column_sizes[one]) if isinstance(one, int) else 1.0 for one in now.columns]
        # The three nearest numbers of this many digits, the nearest first.
        middle = rounded_to(threshold, digits)
        numbers = dict.fromkeys(rounded_to(middle + step * _unit(middle, digits), digits) for step in (0, -1, 1))
        wanted = sorted(filter(math.isfinite, numbers), key=lambda other: abs(other - threshold))
        placed = clear_threshold(Projections.of(projections, now.summands(self.X), weights, largest), wanted)
        return None if placed is None else now.with_numbers(weights, placed)

    @cached_property
    def column_sizes(self) -> Vector:
        """The largest absolute value of each column."""
        return np.asarray(np.fmax.reduce(np.abs(self.X.matrix), axis=0, initial=0.0), dtype=np.float64)

    def _merged(self, boundary: int) -> list[int]:
        """Return the boundaries that have become one with this one, itself included."""
        proposition = self.boundaries[boundary].proposition
        return [index for index, other in enumerate(self.boundaries) if other.proposition == proposition]

    def _moves(self, boundary: int, to: Proposition) -> bool:
        """Replace a boundary, and those merged with it, if the loss of every ensemble allows it; say whether it does."""
        old, new = self.boundaries[boundary], _Boundary.of(to, to.project(self.X))
        if not 0 < np.count_nonzero(new.above) < len(new.above):
            return False
        rows = np.flatnonzero((old.above != new.above) | (old.below != new.below))
        moved = self._merged(boundary)
        users = sorted({user for index in moved for user in self.users[index]})
        risen = self._risen(rows, {user: self._change(self.conditions[user], moved, new, rows) for user in users})
        if risen is None:
            return False
        for member, change, rise in risen:
            member.score[rows] += change
            member.rise = rise
        for index in moved:
            self.boundaries[index] = new
        return True

    def _change(self, condition: tuple[_Half, ...], moved: Sequence[int], new: _Boundary, rows: Positions) -> Vector:
        """Return for each row 1 if the condition begins to hold, -1 if it ceases to, and else 0."""
        before, after = np.ones(len(rows), dtype=np.bool_), np.ones(len(rows), dtype=np.bool_)
        for half in condition:
            old = self.boundaries[half.boundary]
            before &= old.side(half)[rows]
            after &= (new if half.boundary in moved else old).side(half)[rows]
        return after.astype(np.float64) - before

    def _risen(self, rows: Positions, changes: dict[int, Vector]) -> list[tuple[_Member, Vector, float]] | None:
        """Return the ensembles concerned with the changes of scores and their losses; None if one would exceed its budget."""
        risen: list[tuple[_Member, Vector, float]] = []
        # The last ensembles of a path have the most conditions to shorten, and refuse first.
        for member in reversed(self.members):
            change = member.change(rows, changes)
            if not change.any():
                continue
            before = member.score[rows]
            rise = member.rise + total(self.targets.values(before + change, rows) - self.targets.values(before, rows))
            if not rise <= member.budget:
                return None
            risen.append((member, change, rise))
        return risen


def _dividing(projections: Vector, above: Mask) -> float | None:
    """Return the threshold that as many projections reach as there are rows above; None if there are none, or only these."""
    finite = np.isfinite(projections)
    below = int(np.count_nonzero(finite & ~above))
    if not 0 < below < np.count_nonzero(finite):
        return None
    ordered = np.partition(projections[finite], (below - 1, below))
    middle = float(ordered[below - 1] + 0.5 * (ordered[below] - ordered[below - 1]))
    return middle if math.isfinite(middle) else None


def _unit(number: float, digits: int) -> float:
    """Return one unit of the last of this many significant digits."""
    return 10.0 ** (exponent(number) - digits + 1)


def exponent(number: float) -> int:
    """Return the power of ten of the first digit."""
    return int(f"{number:e}".partition("e")[2])


def total(numbers: Vector) -> float:
    """Return the sum of numbers, the same to the last bit in whatever order they come."""
    with np.errstate(over="ignore"):
        return float(np.sort(numbers).sum())
