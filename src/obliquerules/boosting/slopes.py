"""Slopes: columns that a weight is multiplied by, as candidates beside the conditions of rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import Learner
from obliquerules.boosting.problem import Candidate, Stage
from obliquerules.boosting.record import Record
from obliquerules.boosting.selection import Selection
from obliquerules.boosting.slope import Slope
from obliquerules.method import factor_scale
from obliquerules.rules import Block, Conjunction, Factor, Membership, Proposition, Rule, Test
from obliquerules.rules.numbers import rounded_to
from obliquerules.rules.votes import in_whole_numbers

Vector = NDArray[np.float64]

# A column with fewer different values has steps, and no slope.
FEWEST_VALUES = 6
# A slope is worth its place from this share of the price of its complexity on.
SHARE = 0.5
# A column has a limit where this share of its rows lies beyond, one of them by this many times the distance between the limits.
BEYOND = 0.01
FAR = 0.2
# Up to this many times the distance, it may have it at its last value instead.
VERY_FAR = 0.5
# Values are counted from zero if it is no further from them than this, in the same unit; otherwise from a usual value.
NEAR = 0.25
# The digits of limits and origins, in units of the distance between the limits.
DIGITS = 2


@dataclass(frozen=True, eq=False)
class Lines:
    """The slopes and steps that the columns of some rows allow.

    Attributes
    ----------
    selection : InformationSelection
    slopes : tuple of Candidate
    steps : tuple of Candidate
        The conditions on single columns of few values.
    """

    selection: InformationSelection
    slopes: tuple[Candidate, ...]
    steps: tuple[Candidate, ...]

    @classmethod
    def of(cls, X: Block, row_weight: Vector, selection: InformationSelection) -> Lines:
        """Return the slopes of all columns that have enough different numbers, and the steps of the others."""
        slopes = (slope for column in range(X.n_columns) for slope in slopes_in(column, X, row_weight))
        return cls(selection, tuple(Candidate(slope, slope(X), 0.0) for slope in slopes), tuple(_steps(X)))

    def new_slopes(self, stage: Stage) -> list[Candidate]:
        """Return the slopes in columns in which an ensemble has none yet."""
        known = {one.used_columns for one in stage.conditions if isinstance(one, Slope)}
        return [one for one in self.slopes if one.condition.used_columns not in known]

    def grow(self, stage: Stage, max_rules: int, record: Record) -> Iterator[Stage]:
        """Yield the ensemble with no line, with one, and so on, until there is none left."""
        yield record.note_grown(stage)
        for longer in self._longer(stage, max_rules):
            if record.is_out_of_time():
                return
            yield record.note_grown(longer)

    def note(self, stage: Stage, max_rules: int, record: Record) -> None:
        """Record the ensembles of lines alone, as long as each further one lowers the criterion.

        One oblique rule may do what two or three slopes do, less well, and once it is there none of them by itself is of use.
        """
        for longer in self._longer(stage, max_rules):
            if self.selection.criterion(longer) >= self.selection.criterion(stage):
                return
            stage = record.note_fitted(longer)

    def _longer(self, stage: Stage, max_rules: int) -> Iterator[Stage]:
        """Yield the ensemble with one more slope or step, with two more, and so on, each time the most promising one."""
        for _ in range(max_rules):
            steps = (one for one in self.steps if one.condition not in stage.conditions)
            best = min([*self.new_slopes(stage), *steps], key=lambda one: self.selection.expected(stage, one), default=None)
            if best is None:
                return
            stage = stage.with_rule(best)
            yield stage


@dataclass(frozen=True, eq=False)
class WithSlopes:
    """A learner that offers slopes beside the conditions of another."""

    learner: Learner
    lines: Lines

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield what the other learner does, and the best slope that the ensemble does not have yet."""
        yield from self.learner.candidates(stage, selection, record)
        criterion = self.lines.selection
        expected = {criterion.expected(stage, one): one for one in self.lines.new_slopes(stage)}
        if not expected:
            return
        # Rules that do not lower the criterion are learned nevertheless, so that the path goes on. Slopes are cheap, and
        # useless ones would take their places: they come on the path where they are better than what is there, and no further.
        now = criterion.criterion_of_training(stage)
        pays = now + (1.0 - SHARE) * criterion.price(stage, 1 + Slope.complexity)
        worthwhile = [one for value, one in expected.items() if value < pays]
        if not worthwhile:
            record.note_fitted(stage.tried(expected[min(expected)]))
        best = selection.choose(stage, worthwhile, record)
        if best is not None:
            yield best


def _steps(X: Block) -> Iterator[Candidate]:
    """Yield the conditions on single columns that have few values, none of them missing."""
    for column in range(X.n_columns):
        values = np.unique(X.matrix[:, column])
        if len(values) < FEWEST_VALUES and column not in X.incomplete:
            for test in _tests(column, X, values):
                covers = test(X)
                if covers.any() and not covers.all():
                    yield Candidate(Conjunction([test]), covers, 0.0)


def _tests(column: int, X: Block, values: Vector) -> list[Test]:
    """Return a condition for each level of a column or, if it has numbers, for the middle between any two of them."""
    levels = X.column(column).levels
    if levels is not None:
        return [Membership(column, (levels[int(code)],)) for code in values if code >= 0.0]  # below: no level that is known
    return [in_whole_numbers(Proposition([column], [1.0], middle), X) for middle in values[:-1] + 0.5 * np.diff(values)]


def slopes_in(column: int, X: Block, row_weight: Vector) -> list[Slope]:
    """Return the slopes to choose from in a column; none if the column has levels or few different numbers."""
    values = X.matrix[:, column]
    present = ~np.isnan(values)
    if X.column(column).levels is not None or X.column(column).kind == "flag":
        return []
    if len(np.unique(values[present])) < FEWEST_VALUES:
        return []
    factors = _factors(column, values[present], row_weight[present], has_holes=not present.all())
    return [Slope(factor, factor_scale(Rule(1.0, factor=factor), X, row_weight)) for factor in factors]


def _factors(column: int, values: Vector, weight: Vector, *, has_holes: bool) -> list[Factor]:
    """Return the factors of a column, with an origin where zero is far away.

    Where values lie far beyond the others, there are limits. Unless they are very far, the line may also go on to the last of
    them, and the loss decides.
    """
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weight[order]) / float(np.add.reduce(weight))
    low, middle, high = (float(values[order][np.searchsorted(shares, share)]) for share in (BEYOND, 0.5, 1.0 - BEYOND))
    width = high - low
    if not 0.0 < width < math.inf:
        return [Factor(column)]
    is_far = not low - NEAR * width <= 0.0 <= high + NEAR * width
    # What is missing counts as the origin, which therefore is a usual value.
    origin = _short(middle, width) if has_holes or is_far else 0.0
    least, most = float(values[order[0]]), float(values[order[-1]])
    limits = [
        (_limit(low, least, -width, goes_on=goes_on), _limit(high, most, width, goes_on=goes_on)) for goes_on in (False, True)
    ]
    return [Factor(column, origin, *pair) for pair in dict.fromkeys(limits)]


def _limit(usual: float, last: float, width: float, *, goes_on: bool) -> float:
    """Return where a factor ends, given the last usual value and the last of all; the width is negative on the lower side."""
    beyond = (last - usual) / width
    if beyond <= FAR:
        return math.copysign(math.inf, width)
    return _short(last if goes_on and beyond <= VERY_FAR else usual, abs(width))


def _short(value: float, width: float) -> float:
    """Return a number with as many digits as tell values within this width apart."""
    if value == 0.0:
        return 0.0
    more = math.floor(math.log10(abs(value))) - math.floor(math.log10(width))
    return rounded_to(value, max(1, DIGITS + more))
