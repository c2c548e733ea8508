"""Slopes: columns that a weight is multiplied by, as candidates beside the conditions of rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.hinges import Hinges
from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import Learner
from obliquerules.boosting.problem import Candidate, Stage
from obliquerules.boosting.record import Record
from obliquerules.boosting.selection import Selection
from obliquerules.boosting.slope import Slope, quantiles
from obliquerules.rules import Block, Conjunction, Factor, Membership, Proposition, Test
from obliquerules.rules.numbers import rounded_within
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


@dataclass(frozen=True, eq=False)
class Lines:
    """The slopes, hinges and steps that the columns of some rows allow.

    Attributes
    ----------
    selection : InformationSelection
    slopes : tuple of Candidate
    hinges : Hinges
    steps : tuple of Candidate
        The conditions on single columns of few values.
    """

    selection: InformationSelection
    slopes: tuple[Candidate, ...]
    hinges: Hinges
    steps: tuple[Candidate, ...]

    @classmethod
    def of(cls, X: Block, row_weight: Vector, selection: InformationSelection) -> Lines:
        """Return the slopes of all columns that have enough different numbers, and the steps of the others."""
        by_column = [found for column in range(X.n_columns) if (found := slopes_in(column, X, row_weight))]
        slopes = tuple(Candidate(slope, slope(X), 0.0) for found in by_column for slope in found)
        return cls(selection, slopes, Hinges.of(X, row_weight, [found[0] for found in by_column]), tuple(_steps(X)))

    def new_slopes(self, stage: Stage) -> list[Candidate]:
        """Return the slopes in columns in which an ensemble has none yet."""
        slopes = {one.condition for one in self.slopes}
        known = {one.used_columns for one in stage.conditions if one in slopes}
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
            offered = [*self.new_slopes(stage), *(one for one in self.steps if one.condition not in stage.conditions)]
            if not offered:
                return
            stage = stage.with_rule(offered[int(np.argmin(self.expected(stage, offered)))])
            yield stage

    def expected(self, stage: Stage, offered: list[Candidate]) -> list[float]:
        """Return the criterion to expect with each of some candidates."""
        return stage.problem.workers.each(partial(self.selection.expected, stage), offered)


@dataclass(frozen=True, eq=False)
class WithSlopes:
    """A learner that offers slopes beside the conditions of another."""

    learner: Learner
    lines: Lines

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield what the other learner does, and the best slope and the best hinge that the ensemble does not have yet."""
        _ = stage.curvature  # asked for by both of what follows
        lines, rules = stage.problem.workers.beside(
            partial(self._lines, stage), lambda: list(self.learner.candidates(stage, selection, record))
        )
        yield from rules
        for expected, share in zip(lines, (SHARE, 1.0), strict=True):
            best = selection.choose(stage, self._worthwhile(stage, expected, share, record), record)
            if best is not None:
                yield best

    def _lines(self, stage: Stage) -> list[dict[float, Candidate]]:
        """Return new slopes and new hinges by the criterion to expect with each of them."""
        offered = (self.lines.new_slopes(stage), self.lines.hinges.best(stage))
        return [dict(zip(self.lines.expected(stage, some), some, strict=True)) for some in offered]

    def _worthwhile(self, stage: Stage, expected: dict[float, Candidate], share: float, record: Record) -> list[Candidate]:
        """Return the slopes or hinges that are worth a share of their price; if there is none, the best is recorded only.

        Rules that do not lower the criterion are learned nevertheless, so that the path goes on. Slopes are cheap, and useless
        ones would take their places: they come on the path where they are better than what is there, and no further.
        """
        criterion = self.lines.selection
        now = criterion.criterion_of_training(stage)
        prices = {value: criterion.price(stage, 1 + one.condition.complexity) for value, one in expected.items()}
        worthwhile = [one for value, one in expected.items() if value < now + (1.0 - share) * prices[value]]
        if expected and not worthwhile:
            record.note_fitted(stage.tried(expected[min(expected)]))
        return worthwhile


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
    return [Slope.of(factor, X, row_weight) for factor in factors]


def _factors(column: int, values: Vector, weight: Vector, *, has_holes: bool) -> list[Factor]:
    """Return the factors of a column, with an origin where zero is far away.

    Where values lie far beyond the others, there are limits. Unless they are very far, the line may also go on to the last of
    them, and the loss decides.
    """
    low, middle, high = quantiles(values, weight, (BEYOND, 0.5, 1.0 - BEYOND))
    width = high - low
    if not 0.0 < width < math.inf:
        return [Factor(column)]
    is_far = not low - NEAR * width <= 0.0 <= high + NEAR * width
    # What is missing counts as the origin, which therefore is a usual value.
    origin = rounded_within(middle, width) if has_holes or is_far else 0.0
    least, most = float(values.min()), float(values.max())
    limits = [
        (_limit(low, least, -width, goes_on=goes_on), _limit(high, most, width, goes_on=goes_on)) for goes_on in (False, True)
    ]
    return [Factor(column, origin, *pair) for pair in dict.fromkeys(limits)]


def _limit(usual: float, last: float, width: float, *, goes_on: bool) -> float:
    """Return where a factor ends, given the last usual value and the last of all; the width is negative on the lower side."""
    beyond = (last - usual) / width
    if beyond <= FAR:
        return math.copysign(math.inf, width)
    return rounded_within(last if goes_on and beyond <= VERY_FAR else usual, abs(width))
