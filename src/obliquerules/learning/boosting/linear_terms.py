"""Linear terms: slopes and hinges as candidates beside the conditions of rules, and models of them alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from obliquerules.arrays import Matrix, Vector, weighted_quantiles
from obliquerules.data.level_sums import LevelSums
from obliquerules.data.sample import Sample
from obliquerules.kernels.sums import sums_by_place
from obliquerules.learning.boosting.design_matrix import MOST_ROWS
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.selection import InformationSelection, Record, Selection
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
        """Return the conditions on the levels, the few numbers and the missing values of a column."""
        tests: list[Test] = []
        levels = X.column(column).levels
        if levels:
            tests += LevelSums.of(X, column, row_weight).most_frequent()
        elif levels is None:
            values = np.unique(X.matrix[~np.isnan(X.matrix[:, column]), column])
            middles = values[:-1] + 0.5 * np.diff(values) if len(values) < FEWEST_VALUES else ()
            tests += [in_whole_numbers(Proposition([column], [1.0], middle), X) for middle in middles]
        if column in X.incomplete:
            tests.append(Membership(column, (), missing=True))
        candidates = [Candidate.of(Conjunction([test]), X) for test in tests]
        observed = np.add.reduce([one.covers for one in candidates], dtype=np.intp) if candidates else np.zeros(len(X))
        useful = (one for one in candidates if one.covers.any() and not one.covers.all())
        return cls(tuple(useful), bool((observed == 1).all()))

    def left(self, stage: Stage) -> list[Candidate]:
        """Return the conditions to offer next, none of them redundant.

        Of the last two levels that share all rows, the more frequent one is the reference; a missing value never is.
        """
        left = [one for one in self.candidates if not stage.has_rule_on(one.covers)]
        return left[1:] if self.is_partition and len(left) <= 2 else left


class LinearTerms:
    """The slopes, hinges and steps that the columns of some rows allow.

    Parameters
    ----------
    X : Block
    row_weight : array of shape (n_samples,)
    selection : InformationSelection
    """

    def __init__(self, X: Block, row_weight: Vector, selection: InformationSelection) -> None:
        self.selection = selection
        by_column = [found for column in range(X.n_columns) if (found := slopes_in(column, X, row_weight))]
        self.slopes = {slope: Candidate.of(slope, X) for found in by_column for slope in found}
        self.hinges = Hinges(X, row_weight, [found[0] for found in by_column])
        self.steps = tuple(StepConditions.of(column, X, row_weight) for column in range(X.n_columns))

    def new_slopes(self, stage: Stage) -> list[Candidate]:
        """Return the slopes in columns in which an ensemble has none yet."""
        known = {one.factor.column for one in stage.conditions if isinstance(one, Slope) and one in self.slopes}
        return [one for slope, one in self.slopes.items() if slope.factor.column not in known]

    def grow(self, stage: Stage, max_rules: int, record: Record) -> Iterator[Stage]:
        """Yield ensembles with ever more lines, the most useful first."""
        yield record.note_grown(stage)
        for longer in self._longer(stage, max_rules, _with_least_loss):
            if record.is_out_of_time():
                return
            yield record.note_grown(longer)

    def note(self, stage: Stage, max_rules: int, record: Record) -> None:
        """Record the ensembles of lines alone, as long as each further one lowers the criterion.

        One oblique rule may replace two or three slopes, less well; beside it, none of them alone lowers the criterion.
        """
        selection = self.selection
        for longer in self._longer(
            stage, max_rules, lambda one, offered: one.with_rule(offered[int(np.argmin(selection.expected(one, offered)))])
        ):
            if selection.criterion(longer) >= selection.criterion(stage):
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


def _with_least_loss(stage: Stage, offered: list[Candidate]) -> Stage:
    """Return the ensemble whose new term lowers the training loss most."""
    problem, gains = stage.problem, stage.gains(offered)
    promising = [offered[place] for place in np.argsort(-gains, kind="stable")[: problem.most_refitted]]
    return min(problem.workers.each(stage.with_rule, promising), key=lambda longer: longer.training_loss)


@dataclass(frozen=True, eq=False)
class SlopeLearner:
    """A learner that offers slopes beside the conditions of another."""

    learner: Learner
    lines: LinearTerms

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield what the other learner does, then the best new slope and the best new hinge."""
        for view in stage.views():
            _ = view.curvature  # computed once, before both threads below need it
        criterion = self.lines.selection
        # New slopes and new hinges, by the criterion to expect with each of them.
        by_criterion, rules = stage.problem.workers.both(
            lambda: [
                dict(zip(criterion.expected(stage, offered), offered, strict=True))
                for offered in (self.lines.new_slopes(stage), self.lines.hinges.best(stage))
            ],
            lambda: list(self.learner.candidates(stage, selection, record)),
        )
        yield from rules
        for expected, share in zip(by_criterion, (SHARE, 1.0), strict=True):
            best = selection.choose(stage, self._worthwhile(stage, expected, share, record), record)
            if best is not None:
                yield best

    def _worthwhile(self, stage: Stage, expected: dict[float, Candidate], share: float, record: Record) -> list[Candidate]:
        """Return the slopes or hinges worth a share of their price; if there is none, record the best.

        Rules that do not lower the criterion are learned nevertheless, so that the path goes on. Slopes are cheap, and useless
        ones would take the places of rules. On the path they come only where they are better than rules.
        """
        criterion = self.lines.selection
        now = criterion.criterion(stage, stage.training_loss)
        worthwhile = [
            one
            for value, one in expected.items()
            if value < now + (1.0 - share) * criterion.price(stage, 1 + one.condition.complexity)
        ]
        if expected and not worthwhile:
            record.note_fitted(*stage.quick_fits([expected[min(expected)]]))
        return worthwhile


class Hinges:
    """The hinges in some columns: at each knot one for the values above it, and one for those below.

    Between knots a hinge is linear, so that sums of products with its values follow from sums over the rows between knots.
    Those serve all hinges of a column; the values of all of them would take many times the memory of the rows.

    Parameters
    ----------
    X : Block
    row_weight : array of shape (n_samples,)
    slopes : sequence of Slope
        The slope of each column, whose limits hinges have on their open side.
    """

    def __init__(self, X: Block, row_weight: Vector, slopes: Sequence[Slope]) -> None:
        self.X, self.row_weight, self.slopes = X, row_weight, slopes
        self._recent = RecentCache[Candidate](MOST_KEPT)
        if not slopes:
            return
        # The rows by which hinges are compared.
        self.rows = slice(min(len(row_weight), MOST_ROWS))
        weight = np.ascontiguousarray(row_weight[self.rows])
        self.size = float(np.add.reduce(weight))
        clipped = [slope.factor.clipped(X) for slope in slopes]
        present = [~np.isnan(values) for values in clipped]
        # The knots of each column, ascending; some may be equal.
        knots = [
            weighted_quantiles(values[known], row_weight[known], SHARES) for values, known in zip(clipped, present, strict=True)
        ]
        self.knots = np.array(knots)
        origin, scale = np.array([[one.factor.origin, one.scale] for one in slopes]).T
        # In the units of the slopes, for both sides; shape (n_slopes, 1, n_knots).
        self.standardised_knots = np.asarray((self.knots - origin[:, None]) / scale[:, None])[:, None, :]
        self.values = np.array([slope(X)[self.rows] for slope in slopes])
        # Between which knots each value lies; the last place of a column is for missing ones.
        self.place = np.array(
            [
                np.where(known, np.searchsorted(own, values, side="right"), len(SHARES) + 1)[self.rows]
                for values, known, own in zip(clipped, present, self.knots, strict=True)
            ],
            dtype=np.intp,
        )
        # The standard deviation of each hinge; infinite if it has no row beyond its knot, or no row before it.
        above, below = np.moveaxis(self._sums(weight[None], self.values)[0, 0], 1, 0)
        share = np.maximum(above + below, np.finfo(np.float64).tiny)[:, None, :]
        mean = self._products(weight[None])[0] / share
        variance = self._squares(weight) / share - mean**2
        usable = (variance > TINY) & (variance > TINY).all(axis=1, keepdims=True)
        self.spread = np.where(usable, np.sqrt(np.where(usable, variance, 1.0)), np.inf)

    def best(self, stage: Stage) -> list[Candidate]:
        """Return the most promising new hinges, each in another column."""
        if not self.slopes:
            return []
        gains = np.max([self.gains(view) for view in stage.views()], axis=0).reshape(len(self.slopes), -1)
        best, gain = gains.argmax(axis=1), gains.max(axis=1)
        known = {one.factor for one in stage.conditions if isinstance(one, Slope)}
        columns = [column for column in np.argsort(-gain, kind="stable")[: stage.problem.most_refitted] if gain[column] > 0.0]
        factors = [self.hinge(column, *divmod(int(best[column]), len(SHARES))) for column in columns]
        return stage.problem.workers.each(self._candidate, [factor for factor in factors if factor not in known])

    def hinge(self, column: int, side: int, knot: int) -> Factor:
        """Return the hinge above (side 0) or below (side 1) a knot, which is its origin and one of its limits."""
        line, at = self.slopes[column].factor, float(self.knots[column, knot])
        return Factor(line.column, at, line.lower, at) if side else Factor(line.column, at, at, line.upper)

    def _candidate(self, factor: Factor) -> Candidate:
        return self._recent.get(factor, lambda: Candidate.of(Slope.of(factor, self.X, self.row_weight), self.X))

    def gains(self, view: View) -> Matrix:
        """Return the fall of the penalised loss with each hinge; shape (n_slopes, 2, n_knots)."""
        # Where some of the rows stand for all, each stands for several.
        scale = view.problem.size / self.size
        curvature = np.ascontiguousarray(view.curvature[:, self.rows])
        gradient, _, *directions = scale * self._products(curvature) / self.spread
        size = scale * self._squares(curvature[1]) / self.spread**2 + view.ridge
        left = size - np.add.reduce(np.square(directions), axis=0)
        possible = np.isfinite(self.spread) & (left > TINY * size)
        return np.where(possible, gradient**2 / (2.0 * np.where(possible, left, 1.0)), 0.0)

    def _sums(self, numbers: Matrix, values: Matrix) -> Matrix:
        """Return sums over the rows above and below each knot: of numbers, and of these times values.

        They have shape (2, n_quantities, n_slopes, 2, n_knots).
        """
        sums = sums_by_place(self.place, values, numbers, len(SHARES) + 2)[..., :-1]
        below = np.cumsum(sums, axis=-1)[..., :-1]
        above = np.cumsum(sums[..., ::-1], axis=-1)[..., -2::-1]
        return np.stack([above, below], axis=-2)

    def _products(self, numbers: Matrix) -> Matrix:
        """Return for each quantity and hinge the sum over rows of its values times a number."""
        alone, times_value = self._sums(numbers, self.values)
        return np.asarray(times_value - self.standardised_knots * alone)

    def _squares(self, numbers: Vector) -> Matrix:
        """Return for each hinge the sum over rows of its squared values times a number."""
        knots, (alone, once) = self.standardised_knots, self._sums(numbers[None], self.values)[:, 0]
        twice = self._sums(numbers[None], self.values**2)[1, 0]
        return np.asarray(twice - 2.0 * knots * once + knots**2 * alone)


def slopes_in(column: int, X: Block, row_weight: Vector) -> list[Slope]:
    """Return the slopes of a column; none if it has levels or few different numbers.

    They have an origin where zero is far away. Where values lie far beyond the others, there may be limits, which cost
    complexity. Where they lie very far, there are.
    """
    numbers = X.matrix[:, column]
    present = ~np.isnan(numbers)
    if X.column(column).levels is not None or X.column(column).kind == "flag":
        return []
    if len(np.unique(numbers[present])) < FEWEST_VALUES:
        return []
    values = numbers[present]
    low, middle, high = weighted_quantiles(values, row_weight[present], (BEYOND, 0.5, 1.0 - BEYOND)).tolist()
    width = high - low
    if not 0.0 < width < math.inf:
        return [Slope.of(Factor(column), X, row_weight)]
    is_far = not low - NEAR * width <= 0.0 <= high + NEAR * width
    # What is missing counts as the origin, which therefore is a usual value.
    origin = middle if is_far or not present.all() else 0.0
    limits = product(_limits(low, float(values.min()), -width), _limits(high, float(values.max()), width))
    return [Slope.of(Factor(column, origin, *both), X, row_weight) for both in limits]


def _limits(usual: float, last: float, width: float) -> tuple[float, ...]:
    """Return the limits of one side, the widest first, given its last usual and its last value.

    The width is negative on the lower side.
    """
    beyond, none = (last - usual) / width, math.copysign(math.inf, width)
    if beyond <= FAR:
        return (none,)
    return (none, usual) if beyond <= VERY_FAR else (usual,)


def short_slopes(stages: Iterable[Stage], sample: Sample) -> dict[Slope, Candidate]:
    """Return each slope of some ensembles with shorter numbers, unless another has them."""
    short: dict[Factor, Slope] = {}
    for slope in dict.fromkeys(one for stage in stages for one in stage.conditions if isinstance(one, Slope)):
        factor = short_factor(slope.factor, sample.X)
        short[slope.factor if factor in short else factor] = slope
    return {slope: Candidate.of(Slope.of(factor, sample.X, sample.weight), sample.X) for factor, slope in short.items()}


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
