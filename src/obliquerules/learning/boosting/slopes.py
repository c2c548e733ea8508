"""Slopes: columns that a weight is multiplied by, as candidates beside the conditions of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.data.level_sums import LevelSums
from obliquerules.learning.boosting.hinges import Hinges
from obliquerules.learning.boosting.information import InformationSelection
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.problem import Candidate, Stage
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import Selection
from obliquerules.learning.boosting.slope import Slope, quantiles
from obliquerules.rules import Block, Conjunction, Factor, Membership, Proposition, Test
from obliquerules.rules.rounding.votes import in_whole_numbers

# A column with fewer different values has steps, and no slope.
FEWEST_VALUES = 3
# A slope is worth its place from this share of the price of its complexity on.
SHARE = 0.5
# A slope may have a limit beyond which 1 % of the rows lie, one of them by 0.2 times the distance between both limits; from 0.5
# times on, it has one.
BEYOND = 0.01
FAR = 0.2
VERY_FAR = 0.5
# Values are counted from zero if it is no further from them than this, in the same unit; otherwise from a usual value.
NEAR = 0.25


@dataclass(frozen=True, eq=False)
class Steps:
    """The conditions on one column that a linear model offers.

    Attributes
    ----------
    candidates : tuple of Candidate
        The most frequent levels first.
    is_partition : bool
        Whether each row meets exactly one of them.
    """

    candidates: tuple[Candidate, ...]
    is_partition: bool

    @classmethod
    def of(cls, column: int, X: Block, row_weight: Vector) -> Steps:
        """Return the steps of a column."""
        candidates = [Candidate(Conjunction([test]), test(X), 0.0) for test in _tests(column, X, row_weight)]
        met = np.add.reduce([one.covers for one in candidates], dtype=np.intp) if candidates else np.zeros(len(X))
        useful = (one for one in candidates if one.covers.any() and not one.covers.all())
        return cls(tuple(useful), bool((met == 1).all()))

    def left(self, stage: Stage) -> list[Candidate]:
        """Return the conditions to offer next, none of them redundant.

        Of the last two levels that share all rows, the more frequent one is the reference; a missing value never is.
        """
        left = [one for one in self.candidates if not stage.has_rule_on(one.covers)]
        return left[1:] if self.is_partition and len(left) <= 2 else left


@dataclass(frozen=True, eq=False)
class Lines:
    """The slopes, hinges and steps that the columns of some rows allow.

    Attributes
    ----------
    selection : InformationSelection
    slopes : tuple of Candidate
    hinges : Hinges
    steps : tuple of Steps
        Those of columns of levels, of few values, or with missing values.
    """

    selection: InformationSelection
    slopes: tuple[Candidate, ...]
    hinges: Hinges
    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, X: Block, row_weight: Vector, selection: InformationSelection) -> Lines:
        """Return the slopes of all columns that have enough different numbers, and the steps of the others."""
        by_column = [found for column in range(X.n_columns) if (found := slopes_in(column, X, row_weight))]
        slopes = tuple(Candidate(slope, slope(X), 0.0) for found in by_column for slope in found)
        hinges = Hinges.of(X, row_weight, [found[0] for found in by_column])
        return cls(selection, slopes, hinges, tuple(Steps.of(column, X, row_weight) for column in range(X.n_columns)))

    def new_slopes(self, stage: Stage) -> list[Candidate]:
        """Return the slopes in columns in which an ensemble has none yet."""
        slopes = {one.condition for one in self.slopes}
        known = {one.used_columns for one in stage.conditions if one in slopes}
        return [one for one in self.slopes if one.condition.used_columns not in known]

    def grow(self, stage: Stage, max_rules: int, record: Record) -> Iterator[Stage]:
        """Yield ensembles with ever more lines, the most useful first."""
        yield record.note_grown(stage)
        for longer in self._longer(stage, max_rules, self._of_least_loss):
            if record.is_out_of_time():
                return
            yield record.note_grown(longer)

    def note(self, stage: Stage, max_rules: int, record: Record) -> None:
        """Record the ensembles of lines alone, as long as each further one lowers the criterion.

        One oblique rule may do what two or three slopes do, less well, and once it is there none of them by itself is of use.
        """
        for longer in self._longer(stage, max_rules, self._of_least_criterion):
            if self.selection.criterion(longer) >= self.selection.criterion(stage):
                return
            stage = record.note_fitted(longer)

    def _longer(self, stage: Stage, max_rules: int, best: Callable[[Stage, list[Candidate]], Stage]) -> Iterator[Stage]:
        """Yield ensembles with one more slope or step each time."""
        for _ in range(max_rules):
            offered = [*self.new_slopes(stage), *(one for steps in self.steps for one in steps.left(stage))]
            if not offered:
                return
            stage = best(stage, offered)
            yield stage

    def _of_least_loss(self, stage: Stage, offered: list[Candidate]) -> Stage:
        """Return the ensemble whose new term lowers the training loss most."""
        each = stage.problem.workers.each
        gains = stage.gains([candidate.covers for candidate in offered])
        promising = [offered[place] for place in np.argsort(-gains, kind="stable")[: stage.most_tried]]
        return min(each(stage.with_rule, promising), key=lambda longer: longer.training_loss)

    def _of_least_criterion(self, stage: Stage, offered: list[Candidate]) -> Stage:
        """Return the ensemble of the least expected criterion."""
        return stage.with_rule(offered[int(np.argmin(self.selection.expected(stage, offered)))])


@dataclass(frozen=True, eq=False)
class WithSlopes:
    """A learner that offers slopes beside the conditions of another."""

    learner: Learner
    lines: Lines

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield what the other learner does, and the best slope and the best hinge that the ensemble does not have yet."""
        for view in stage.views:
            _ = view.curvature  # asked for by both of what follows
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
        return [dict(zip(self.lines.selection.expected(stage, some), some, strict=True)) for some in offered]

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
            record.note_fitted(*stage.tried([expected[min(expected)]]))
        return worthwhile


def _tests(column: int, X: Block, row_weight: Vector) -> list[Test]:
    """Return the conditions on levels, few numbers and missing values."""
    missing: list[Test] = [Membership(column, (), missing=True)] if column in X.incomplete else []
    levels = X.column(column).levels
    if levels is not None:
        return [*(LevelSums.of(X, column, row_weight).most_frequent() if levels else ()), *missing]
    values = np.unique(X.matrix[~np.isnan(X.matrix[:, column]), column])
    if len(values) >= FEWEST_VALUES:
        return missing
    middles = values[:-1] + 0.5 * np.diff(values)
    return [*(in_whole_numbers(Proposition([column], [1.0], middle), X) for middle in middles), *missing]


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

    Where values lie far beyond the others, there may be limits, which cost complexity. Where they lie very far, there are.
    """
    low, middle, high = quantiles(values, weight, (BEYOND, 0.5, 1.0 - BEYOND))
    width = high - low
    if not 0.0 < width < math.inf:
        return [Factor(column)]
    is_far = not low - NEAR * width <= 0.0 <= high + NEAR * width
    # What is missing counts as the origin, which therefore is a usual value.
    origin = middle if has_holes or is_far else 0.0
    least, most = float(values.min()), float(values.max())
    return [Factor(column, origin, *pair) for pair in product(_limits(low, least, -width), _limits(high, most, width))]


def _limits(usual: float, last: float, width: float) -> tuple[float, ...]:
    """Return the limits to choose from on one side, given the last usual value and the last of all, the widest first.

    The width is negative on the lower side.
    """
    beyond, none = (last - usual) / width, math.copysign(math.inf, width)
    if beyond <= FAR:
        return (none,)
    return (none, usual) if beyond <= VERY_FAR else (usual,)
