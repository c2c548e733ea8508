"""Soft conditions: conditions on standardised inputs, which a row meets to a degree between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from obliquerules.arrays import Matrix, Vector
from obliquerules.kernels.sums import degrees, standard_deviation
from obliquerules.learning.boosting.design_matrix import MOST_ROWS, Inputs
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.cached import RecentCache
from obliquerules.learning.refit import losses_of_each
from obliquerules.losses import Loss
from obliquerules.rules import Proposition, Slope, Test
from obliquerules.rules.proposition import Summand, summand_values
from obliquerules.rules.rounding.votes import is_binary

# The number of sums that are kept: one is asked for with several thresholds.
MOST_SUMS = 32
# The width of a blurred threshold, in standard deviations of its sum, is this much by the cube root of the number of rows:
# so fast do estimates of a threshold converge where the truth is a slope and not a step.
WIDTH = 1.2
# The share of the blurred loss in what ensembles are judged by; the rest is the loss as it is.
SHARE = 0.5
# The number of digits of what ensembles are judged by: rounding must not decide between two that are equally good.
DIGITS = 10
# The number of conditions whose degrees are kept: most ensembles share all rules but one with those judged before.
MOST_CONDITIONS = 64


@dataclass(frozen=True, eq=False)
class SoftTest:
    """A condition on standardised terms, scaled such that their sum has standard deviation one.

    A condition that is not ``movable`` is on a single term, itself.
    """

    test: Test | Slope
    weights: Vector
    threshold: float
    movable: bool

    @property
    def keys(self) -> tuple[tuple[Summand | Test | Slope, bool], ...]:
        """The terms of the sum, or the condition itself, and whether they are standardised."""
        if self.movable and isinstance(self.test, Proposition):
            return tuple((term, True) for term in self.test.columns)
        return ((self.test, False),)

    @property
    def free(self) -> list[bool]:
        """Whether each weight, and the threshold, moves: a single weight is only a unit."""
        return [*[self.movable and len(self.weights) > 1] * len(self.weights), self.movable]


@dataclass(frozen=True, eq=False)
class Standardised:
    """A term of sums: its values on the rows that count, and the mean and the scale by which they were standardised."""

    values: Vector
    mean: float
    scale: float


@dataclass(frozen=True, eq=False)
class StandardisedSum(Standardised):
    """A sum of standardised terms, less its mean, with their weights."""

    weights: Vector


@dataclass(frozen=True, eq=False)
class SoftConditions:
    """Makes conditions soft: ``x.w >= t`` becomes ``sigmoid(sharpness (z.w - t))`` on standardised inputs z.

    Levels, dates and 0/1 columns by themselves stay as they are.

    Attributes
    ----------
    inputs : Inputs
    row_weight : array of shape (n_samples,)
    """

    inputs: Inputs
    row_weight: Vector
    _terms: dict[Summand, Standardised] = field(default_factory=dict)
    _recent: RecentCache[StandardisedSum] = field(default_factory=lambda: RecentCache(MOST_SUMS))

    @cached_property
    def rows(self) -> slice:
        """The rows on which degrees are computed."""
        return slice(min(len(self.row_weight), MOST_ROWS))

    @cached_property
    def place(self) -> dict[int, int]:
        """The place of each column of numbers among the inputs."""
        return {column: place for place, column in enumerate(self.inputs.numbers)}

    def term(self, term: Summand) -> Standardised:
        """Return a term of a sum."""
        if term not in self._terms:
            self._terms[term] = self._term(term)
        return self._terms[term]

    def _term(self, term: Summand) -> Standardised:
        block = self.inputs.block
        if isinstance(term, int):
            place, scaling = self.place[term], self.inputs.scaling
            missing = np.isnan(block.matrix[self.rows, term])
            values = np.where(missing, np.nan, self.inputs.standardised[self.rows, place])
            return Standardised(values, float(scaling.mean[place]), float(scaling.scale[place]))
        values = summand_values(term, block)
        mean = float(np.average(values, weights=self.row_weight))
        scale = float(np.sqrt(mean * (1.0 - mean))) if 0.0 < mean < 1.0 else 1.0
        return Standardised((values[self.rows] - mean) / scale, mean, scale)

    def is_movable(self, test: Test) -> bool:
        """Say whether a condition has numbers to move."""
        if not isinstance(test, Proposition) or (len(test.columns) == 1 and is_binary(test.columns[0], self.inputs.block)):
            return False
        return all(not isinstance(term, int) or term in self.place for term in test.columns)

    def soft(self, test: Test | Slope) -> SoftTest:
        """Return a condition on standardised terms."""
        if not isinstance(test, Proposition) or not self.is_movable(test):
            return SoftTest(test, np.ones(1), 0.0, movable=False)
        total = self._sum(test.columns, test.weights)
        return SoftTest(test, total.weights / total.scale, (test.threshold - total.mean) / total.scale, movable=True)

    def degree(self, test: Test | Slope, sharpness: float) -> Vector:
        """Return to what degree rows meet a condition; where a value is missing, it holds or does not."""
        if not isinstance(test, Proposition) or not self.is_movable(test):
            return np.asarray(test(self.inputs.block.rows(self.rows)), dtype=np.float64)
        total = self._sum(test.columns, test.weights)
        return degrees(total.values, test.threshold - total.mean, sharpness / total.scale, test.missing)

    def _sum(self, columns: tuple[Summand, ...], weights: tuple[float, ...]) -> StandardisedSum:
        return self._recent.get((columns, weights), lambda: self._made(columns, weights))

    def _made(self, columns: tuple[Summand, ...], weights: tuple[float, ...]) -> StandardisedSum:
        """Return a sum of terms with these weights."""
        terms = [self.term(column) for column in columns]
        scaled = np.array([weight * term.scale for weight, term in zip(weights, terms, strict=True)])
        total = scaled[0] * terms[0].values
        for weight, term in zip(scaled[1:], terms[1:], strict=True):
            total += weight * term.values
        spread = standard_deviation(total)
        mean = sum(weight * term.mean for weight, term in zip(weights, terms, strict=True))
        return StandardisedSum(total, mean, spread if spread > 0.0 else 1.0, scaled)


@dataclass(frozen=True, eq=False)
class SmoothedLoss:
    """Judges ensembles by their loss on the training rows, half of it with blurred thresholds.

    Of many conditions that are equally good in truth, the one with the least training loss is that whose threshold happens to
    part the noise of the training rows best. Near a blurred threshold, rows count for both sides, and luck counts for less.

    Attributes
    ----------
    conditions : SoftConditions
    size : float
        The number of rows; a row of weight 2 counts as two.
    """

    conditions: SoftConditions
    size: float
    _recent: RecentCache[Vector] = field(default_factory=lambda: RecentCache(MOST_CONDITIONS))

    @property
    def sharpness(self) -> float:
        """The sharpness of blurred conditions."""
        return float(np.cbrt(self.size)) / WIDTH

    @cached_property
    def _scale(self) -> float:
        """How many rows there are for each on which degrees are computed."""
        return self.size / float(np.add.reduce(self.conditions.row_weight[self.conditions.rows]))

    def smooth(self, term: Candidate) -> Vector:
        """Return the smoothed indicator of a rule, or the values of a slope."""
        return self._recent.get(term, lambda: self._smooth(term))

    def _smooth(self, term: Candidate) -> Vector:
        if term.is_slope:
            return np.asarray(term.covers[self.conditions.rows])
        first, *others = (self.conditions.degree(test, self.sharpness) for test in term.condition)
        for other in others:
            first = first * other
        return first

    def of_each(
        self,
        targets: tuple[Vector, Vector, Vector],
        loss: Loss,
        common: Sequence[Candidate],
        last: Sequence[Candidate],
        weights: Matrix,
        losses: Vector,
    ) -> Vector:
        """Return the losses by which ensembles that differ only in their last term are compared.

        ``targets`` are those of `Problem.rows`; ``weights`` has a line for each ensemble, ``losses`` its loss on all rows.
        """
        rows = self.conditions.rows
        y, row_weight, offset = (one[rows] for one in targets)

        def smoothed(values: Callable[[Candidate], Vector]) -> Vector:
            shared = np.array([values(one) for one in common]).reshape(len(common), rows.stop)
            return losses_of_each(shared, np.array([values(one) for one in last]), weights, y, row_weight, offset, loss)

        sharp = losses
        if rows.stop < len(targets[0]):
            sharp = smoothed(lambda term: np.asarray(term.covers[rows], dtype=np.float64))
        # Where some of the rows stand for all, they may have more than their share of the loss.
        compared = np.maximum(losses + SHARE * self._scale * (smoothed(self.smooth) - sharp), (1.0 - SHARE) * losses)
        return np.array([float(f"{one:.{DIGITS}g}") for one in compared.tolist()])
