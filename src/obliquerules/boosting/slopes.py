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
# Values are counted from zero if it is no further from them than this, in the same unit; otherwise from a usual value.
NEAR = 0.25
# The digits of limits and origins, in units of the distance between the limits.
DIGITS = 2


@dataclass(frozen=True, eq=False)
class WithSlopes:
    """A learner that offers slopes beside the conditions of another.

    Attributes
    ----------
    learner : Learner
    selection : InformationSelection
    slopes : tuple of Slope
    columns : tuple of array of shape (n_samples,)
        The values of the slopes on the training rows.
    steps : tuple of Candidate
        The conditions on single columns of few values.
    """

    learner: Learner
    selection: InformationSelection
    slopes: tuple[Slope, ...]
    columns: tuple[Vector, ...]
    steps: tuple[Candidate, ...]

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield what the other learner does, and the best slope that the ensemble does not have yet."""
        yield from self.learner.candidates(stage, selection, record)
        expected = {self.selection.expected(stage, one): one for one in self._new(stage)}
        if not expected:
            return
        # Rules that do not lower the criterion are learned nevertheless, so that the path goes on. Slopes are cheap, and
        # useless ones would take their places: they come on the path where they are better than what is there, and no further.
        now = self.selection.criterion_of_training(stage)
        pays = now + (1.0 - SHARE) * self.selection.price(stage, 1 + Slope.complexity)
        worthwhile = [one for value, one in expected.items() if value < pays]
        if not worthwhile:
            record.note_fitted(stage.tried(expected[min(expected)]))
        best = selection.choose(stage, worthwhile, record)
        if best is not None:
            yield best

    def note_lines(self, stage: Stage, max_rules: int, record: Record) -> None:
        """Record an ensemble with slopes and steps alone, added one at a time while the criterion falls.

        One oblique rule may do what two or three slopes do, less well, and once it is there none of them by itself is of use.
        """
        for _ in range(max_rules):
            new = [*self._new(stage), *(step for step in self.steps if step.condition not in stage.conditions)]
            best = min(new, key=lambda one: self.selection.expected(stage, one), default=None)
            longer = stage if best is None else stage.with_rule(best)
            if self.selection.criterion(longer) >= self.selection.criterion(stage):
                return
            stage = record.note_fitted(longer)

    def _new(self, stage: Stage) -> Iterator[Candidate]:
        """Yield the slopes that the ensemble does not have yet."""
        for slope, values in zip(self.slopes, self.columns, strict=True):
            if slope not in stage.conditions:
                yield Candidate(slope, values, 0.0)


def with_slopes(learner: Learner, selection: InformationSelection, X: Block, row_weight: Vector) -> WithSlopes:
    """Return a learner that offers the slopes of all columns that have enough different numbers."""
    slopes = [slope for column in range(X.n_columns) if (slope := slope_in(column, X, row_weight)) is not None]
    return WithSlopes(learner, selection, tuple(slopes), tuple(slope(X) for slope in slopes), tuple(_steps(X)))


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


def slope_in(column: int, X: Block, row_weight: Vector) -> Slope | None:
    """Return the slope in a column; None if the column has levels or few different numbers."""
    values = X.matrix[:, column]
    present = ~np.isnan(values)
    if X.column(column).levels is not None or X.column(column).kind == "flag":
        return None
    if len(np.unique(values[present])) < FEWEST_VALUES:
        return None
    factor = _factor(column, values[present], row_weight[present], has_holes=not present.all())
    return Slope(factor, factor_scale(Rule(1.0, factor=factor), X, row_weight))


def _factor(column: int, values: Vector, weight: Vector, *, has_holes: bool) -> Factor:
    """Return the factor of a column: limits where values lie far beyond the others, and an origin where zero is far away."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weight[order]) / float(np.add.reduce(weight))
    low, middle, high = (float(values[order][np.searchsorted(shares, share)]) for share in (BEYOND, 0.5, 1.0 - BEYOND))
    width = high - low
    if not 0.0 < width < math.inf:
        return Factor(column)
    least, most = float(values[order[0]]), float(values[order[-1]])
    lower = _short(low, width) if low - least > FAR * width else -math.inf
    upper = _short(high, width) if most - high > FAR * width else math.inf
    is_far = not low - NEAR * width <= 0.0 <= high + NEAR * width
    # What is missing counts as the origin, which therefore is a usual value.
    origin = _short(middle, width) if has_holes or is_far else 0.0
    return Factor(column, origin, lower, upper)


def _short(value: float, width: float) -> float:
    """Return a number with as many digits as tell values within this width apart."""
    if value == 0.0:
        return 0.0
    more = math.floor(math.log10(abs(value))) - math.floor(math.log10(width))
    return rounded_to(value, max(1, DIGITS + more))
