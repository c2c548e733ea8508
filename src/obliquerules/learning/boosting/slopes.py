"""Slopes: columns that a weight is multiplied by, as candidates beside the conditions of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix, Vector
from obliquerules.data.level_sums import LevelSums
from obliquerules.kernels.sums import sums_by_place
from obliquerules.learning.boosting.design_matrix import MOST_ROWS
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import InformationSelection, Selection
from obliquerules.learning.boosting.stage import Stage, View
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.cached import RecentCache
from obliquerules.learning.refit import TINY
from obliquerules.rules import Block, Conjunction, Factor, Membership, Proposition, Slope, Test
from obliquerules.rules.numbers import rounded_within, shortest_decimal
from obliquerules.rules.rounding.votes import in_whole_numbers

# Limits and knots are shortened by at most this share of the range of a factor.
SHORTENED = 0.005
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
# The number of hinges whose values are kept: the best ones come again.
MOST_KEPT = 64
# The shares of the rows of a column that are below its knots.
SHARES = tuple(tenths / 10 for tenths in range(1, 10))


@dataclass(frozen=True, eq=False)
class StepConditions:
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
    def of(cls, column: int, X: Block, row_weight: Vector) -> StepConditions:
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
class LinearTerms:
    """The slopes, hinges and steps that the columns of some rows allow.

    Attributes
    ----------
    selection : InformationSelection
    slopes : tuple of Candidate
    hinges : Hinges
    steps : tuple of StepConditions
        Those of columns of levels, of few values, or with missing values.
    """

    selection: InformationSelection
    slopes: tuple[Candidate, ...]
    hinges: Hinges
    steps: tuple[StepConditions, ...]

    @classmethod
    def of(cls, X: Block, row_weight: Vector, selection: InformationSelection) -> LinearTerms:
        """Return the slopes of all columns that have enough different numbers, and the steps of the others."""
        by_column = [found for column in range(X.n_columns) if (found := slopes_in(column, X, row_weight))]
        slopes = tuple(Candidate(slope, slope(X), 0.0) for found in by_column for slope in found)
        hinges = Hinges.of(X, row_weight, [found[0] for found in by_column])
        return cls(selection, slopes, hinges, tuple(StepConditions.of(column, X, row_weight) for column in range(X.n_columns)))

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
        promising = [offered[place] for place in np.argsort(-gains, kind="stable")[: stage.most_refitted]]
        return min(each(stage.with_rule, promising), key=lambda longer: longer.training_loss)

    def _of_least_criterion(self, stage: Stage, offered: list[Candidate]) -> Stage:
        """Return the ensemble of the least expected criterion."""
        return stage.with_rule(offered[int(np.argmin(self.selection.expected(stage, offered)))])


@dataclass(frozen=True, eq=False)
class SlopeLearner:
    """A learner that offers slopes beside the conditions of another."""

    learner: Learner
    lines: LinearTerms

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
            record.note_fitted(*stage.quick_fits([expected[min(expected)]]))
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


@dataclass(frozen=True, eq=False)
class Hinges:
    """The hinges in some columns: at each knot one for the values above it, and one for those below.

    Between knots a hinge is linear, so that sums of products with its values follow from sums over the rows between knots.
    Those serve all hinges of a column; the values of all of them would take many times the memory of the rows.

    Attributes
    ----------
    X : Block
    row_weight : array of shape (n_samples,)
    slopes : sequence of Slope
        The slope of each column, whose limits hinges have on their open side.
    knots : array of shape (n_slopes, n_knots)
        Those of each column, ascending; some may be equal.
    """

    X: Block
    row_weight: Vector
    slopes: Sequence[Slope]
    knots: Matrix
    _recent: RecentCache[Candidate] = field(default_factory=lambda: RecentCache(MOST_KEPT))

    @classmethod
    def of(cls, X: Block, row_weight: Vector, slopes: Sequence[Slope]) -> Hinges:
        """Return the hinges in the columns of slopes."""
        return cls(X, row_weight, slopes, np.array([_knots(slope.factor.clipped(X), row_weight) for slope in slopes]))

    def best(self, stage: Stage) -> list[Candidate]:
        """Return the most promising hinges that an ensemble does not have yet, each in another column."""
        if not self.slopes:
            return []
        gains = np.max([self._gains(view) for view in stage.views], axis=0).reshape(len(self.slopes), -1)
        best, gain = gains.argmax(axis=1), gains.max(axis=1)
        columns = [column for column in np.argsort(-gain, kind="stable")[: stage.most_refitted] if gain[column] > 0.0]
        factors = [self._factor(column, *divmod(int(best[column]), len(SHARES))) for column in columns]
        known = {one.factor for one in stage.conditions if isinstance(one, Slope)}
        return stage.problem.workers.each(self._candidate, [factor for factor in factors if factor not in known])

    def _candidate(self, factor: Factor) -> Candidate:
        return self._recent.get(factor, lambda: self._made(factor))

    def _made(self, factor: Factor) -> Candidate:
        hinge = Slope.of(factor, self.X, self.row_weight)
        return Candidate(hinge, hinge(self.X), 0.0)

    def _factor(self, column: int, side: int, knot: int) -> Factor:
        """Return the hinge above (side 0) or below (side 1) a knot, which is its origin and one of its limits."""
        line, at = self.slopes[column].factor, float(self.knots[column, knot])
        return Factor(line.column, at, line.lower, at) if side else Factor(line.column, at, at, line.upper)

    def _gains(self, stage: View) -> NDArray[np.float64]:
        """Return by how much each hinge would lower the penalised loss; shape (n_slopes, 2, n_knots), see `Stage.gain`."""
        # Where some of the rows stand for all, each stands for several.
        scale = stage.problem.size / self._size
        curvature = np.ascontiguousarray(stage.curvature[:, self._rows])
        gradient, _, *directions = scale * self._products(curvature) / self._spread
        size = scale * self._squares(curvature[1]) / self._spread**2 + stage.ridge
        left = size - np.add.reduce(np.square(directions), axis=0)
        possible = np.isfinite(self._spread) & (left > TINY * size)
        return np.where(possible, gradient**2 / (2.0 * np.where(possible, left, 1.0)), 0.0)

    @cached_property
    def _rows(self) -> slice:
        """The rows by which hinges are compared."""
        return slice(min(len(self.row_weight), MOST_ROWS))

    @cached_property
    def _size(self) -> float:
        return float(np.add.reduce(self.row_weight[self._rows]))

    @cached_property
    def _values(self) -> Matrix:
        """The values of each slope, in its unit; shape (n_slopes, n_rows)."""
        return np.array([slope(self.X)[self._rows] for slope in self.slopes])

    @cached_property
    def _standardised_knots(self) -> NDArray[np.float64]:
        """The knots in the units of the slopes, for both sides; shape (n_slopes, 1, n_knots)."""
        origin = np.array([[slope.factor.origin] for slope in self.slopes])
        scale = np.array([[slope.scale] for slope in self.slopes])
        return np.asarray((self.knots - origin) / scale)[:, None, :]

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """Between which knots each value lies; the last place of a column is for missing ones."""
        places = []
        for slope, knots in zip(self.slopes, self.knots, strict=True):
            values = slope.factor.clipped(self.X)[self._rows]
            places.append(np.where(np.isnan(values), len(knots) + 1, np.searchsorted(knots, values, side="right")))
        return np.array(places, dtype=np.intp)

    @cached_property
    def _spread(self) -> NDArray[np.float64]:
        """The standard deviation of each hinge; infinite if it has no row beyond its knot, or no row before it."""
        weight = np.ascontiguousarray(self.row_weight[self._rows])
        above, below = np.moveaxis(self._sums(weight[None], self._values)[0, 0], 1, 0)
        present = np.maximum(above + below, np.finfo(np.float64).tiny)[:, None, :]
        mean = self._products(weight[None])[0] / present
        variance = self._squares(weight) / present - mean**2
        usable = (variance > TINY) & (variance > TINY).all(axis=1, keepdims=True)
        return np.where(usable, np.sqrt(np.where(usable, variance, 1.0)), np.inf)

    def _sums(self, numbers: Matrix, values: Matrix) -> NDArray[np.float64]:
        """Return sums over the rows above and below each knot: of numbers, and of these times values.

        They have shape (2, n_quantities, n_slopes, 2, n_knots).
        """
        sums = sums_by_place(self._place, values, numbers, len(SHARES) + 2)[..., :-1]
        below = np.cumsum(sums, axis=-1)[..., :-1]
        above = np.cumsum(sums[..., ::-1], axis=-1)[..., -2::-1]
        return np.stack([above, below], axis=-2)

    def _products(self, numbers: Matrix) -> NDArray[np.float64]:
        """Return for each quantity and hinge the sum over rows of its values times a number, in the units of the slopes."""
        alone, times_value = self._sums(numbers, self._values)
        return np.asarray(times_value - self._standardised_knots * alone)

    def _squares(self, numbers: Vector) -> NDArray[np.float64]:
        """Return for each hinge the sum over rows of its squared values times a number."""
        knots, (alone, once) = self._standardised_knots, self._sums(numbers[None], self._values)[:, 0]
        twice = self._sums(numbers[None], self._values**2)[1, 0]
        return np.asarray(twice - 2.0 * knots * once + knots**2 * alone)


def _knots(values: Vector, row_weight: Vector) -> list[float]:
    """Return the deciles of a column."""
    present = ~np.isnan(values)
    return quantiles(values[present], row_weight[present], SHARES)


def short_factor(factor: Factor, X: Block) -> Factor:
    """Return a factor with short numbers near its own.

    An origin that only moves the constant may move further.
    """
    values = factor.clipped(X)
    width = float(np.ptp(values[~np.isnan(values)]))
    if not 0.0 < width < math.inf:
        return factor
    reach = SHORTENED * width
    lower, origin, upper = (
        shortest_decimal(number - reach, number + reach) if math.isfinite(number) else number
        for number in (factor.lower, factor.origin, factor.upper)
    )
    if not factor.is_hinge and factor.column not in X.incomplete:
        origin = rounded_within(factor.origin, width)
    short = replace(factor, origin=origin, lower=lower, upper=upper)
    return short if short.is_hinge == factor.is_hinge else factor


def quantiles(values: Vector, weight: Vector, shares: Sequence[float]) -> list[float]:
    """Return the least values that, with all below, have at least these shares of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) / float(np.add.reduce(weight))
    return [float(values[order[place]]) for place in np.searchsorted(reached, shares)]
