"""Soft conditions, which rows meet to a degree, and the loss that they smooth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import mul

import numpy as np

from obliquerules.arrays import Matrix, Vector
from obliquerules.kernels.sums import degrees, standard_deviation
from obliquerules.learning.boosting.design_matrix import MOST_ROWS, Inputs
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.cached import RecentCache
from obliquerules.learning.refit import losses_of_each
from obliquerules.losses import Loss
from obliquerules.rules import Proposition, Slope, Test
from obliquerules.rules.rounding.votes import is_binary
from obliquerules.rules.rule_parts import Summand, summand_values

# The number of cached sums: one serves several thresholds.
MOST_SUMS = 32
# The width of a blurred threshold is this many standard deviations of its sum, divided by the cube root of the number of rows:
# where the truth is a slope and not a step, the error of an estimated threshold falls at that rate.
WIDTH = 1.2
# The share of the smoothed loss in the loss by which ensembles are compared; the rest is the training loss.
SHARE = 0.5
# The number of digits of the loss by which ensembles are compared: rounding must not decide between equally good ones.
DIGITS = 10
# The number of conditions with cached degrees: most ensembles share all rules but one.
MOST_CONDITIONS = 64


@dataclass(frozen=True, eq=False)
class Standardised:
    """A standardised term of sums: its values, mean and scale."""

    values: Vector
    mean: float
    scale: float


@dataclass(frozen=True, eq=False)
class StandardisedSum(Standardised):
    """A sum of standardised terms, less its mean, with their weights."""

    weights: Vector


@dataclass(frozen=True, eq=False)
class SoftTest:
    """A condition on standardised inputs, scaled such that their sum has standard deviation one.

    A condition that is not ``movable`` has no numbers to move, and is its own input.
    """

    test: Test | Slope
    inputs: tuple[Standardised | Test | Slope, ...]
    weights: Vector
    threshold: float
    movable: bool


class SoftConditions:
    """Makes conditions soft: ``x.w >= t`` becomes ``sigmoid(sharpness (z.w - t))`` on standardised inputs z.

    Levels, dates and 0/1 columns by themselves stay as they are.

    Parameters
    ----------
    inputs : Inputs
    row_weight : array of shape (n_samples,)
    """

    def __init__(self, inputs: Inputs, row_weight: Vector) -> None:
        self.inputs = inputs
        self.row_weight = row_weight
        # The rows on which degrees are computed.
        self.rows = slice(min(len(row_weight), MOST_ROWS))
        # The place of each column of numbers among the inputs.
        self.place = {column: place for place, column in enumerate(inputs.numbers)}
        self._terms: dict[Summand, Standardised] = {}
        self._sums = RecentCache[StandardisedSum](MOST_SUMS)

    def term(self, term: Summand) -> Standardised:
        """Return a term of a sum."""
        if term in self._terms:
            return self._terms[term]
        block = self.inputs.block
        if isinstance(term, int):
            place, scaling = self.place[term], self.inputs.scaling
            missing = np.isnan(block.matrix[self.rows, term])
            values = np.where(missing, np.nan, self.inputs.standardised[self.rows, place])
            made = Standardised(values, float(scaling.mean[place]), float(scaling.scale[place]))
        else:
            values = summand_values(term, block)
            mean = float(np.average(values, weights=self.row_weight))
            scale = float(np.sqrt(mean * (1.0 - mean))) if 0.0 < mean < 1.0 else 1.0
            made = Standardised((values[self.rows] - mean) / scale, mean, scale)
        return self._terms.setdefault(term, made)

    def is_movable(self, test: Test | Slope) -> bool:
        """Say whether a condition has numbers to move."""
        if not isinstance(test, Proposition) or (len(test.columns) == 1 and is_binary(test.columns[0], self.inputs.block)):
            return False
        return all(not isinstance(term, int) or term in self.place for term in test.columns)

    def soft(self, test: Test | Slope) -> SoftTest:
        """Return a condition on standardised terms."""
        if not isinstance(test, Proposition) or not self.is_movable(test):
            return SoftTest(test, (test,), np.ones(1), 0.0, movable=False)
        total, inputs = self._sum(test), tuple(map(self.term, test.columns))
        return SoftTest(test, inputs, total.weights / total.scale, (test.threshold - total.mean) / total.scale, movable=True)

    def degree(self, test: Test, sharpness: float) -> Vector:
        """Return the degree to which rows meet a condition, 0 or 1 where a value is missing."""
        if not isinstance(test, Proposition) or not self.is_movable(test):
            return np.asarray(test(self.inputs.block.rows(self.rows)), dtype=np.float64)
        total = self._sum(test)
        return degrees(total.values, test.threshold - total.mean, sharpness / total.scale, test.missing)

    def _sum(self, test: Proposition) -> StandardisedSum:
        """Return the sum that a condition compares with its threshold."""

        def made() -> StandardisedSum:
            terms = [self.term(column) for column in test.columns]
            scaled = np.array([weight * term.scale for weight, term in zip(test.weights, terms, strict=True)])
            total = scaled[0] * terms[0].values
            for weight, term in zip(scaled[1:], terms[1:], strict=True):
                total += weight * term.values
            spread = standard_deviation(total)
            mean = sum(weight * term.mean for weight, term in zip(test.weights, terms, strict=True))
            return StandardisedSum(total, mean, spread if spread > 0.0 else 1.0, scaled)

        return self._sums.get((test.columns, test.weights), made)


class SmoothedLoss:
    """Compares ensembles by their loss on the training rows, half of it with blurred thresholds.

    Of many conditions that are equally good in truth, the one with the least training loss is that whose threshold happens to
    part the noise of the training rows best. Near a blurred threshold, rows count for both sides, and luck counts for less.

    Parameters
    ----------
    conditions : SoftConditions
    size : float
        The number of rows; a row of weight 2 counts as two.
    """

    def __init__(self, conditions: SoftConditions, size: float) -> None:
        self.conditions = conditions
        # The sharpness of blurred conditions.
        self.sharpness = float(np.cbrt(size)) / WIDTH
        # The number of rows for each on which degrees are computed.
        self.scale = size / float(np.add.reduce(conditions.row_weight[conditions.rows]))
        self._degrees = RecentCache[Vector](MOST_CONDITIONS)

    def _smooth(self, term: Candidate) -> Vector:
        """Return the smoothed indicator of a rule, or the values of a slope."""
        if term.is_slope:
            return np.asarray(term.covers[self.conditions.rows])
        return reduce(mul, [self.conditions.degree(test, self.sharpness) for test in term.tests])

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

        def total(values: Callable[[Candidate], Vector]) -> Vector:
            shared = np.array([values(one) for one in common]).reshape(len(common), rows.stop)
            ends = np.array([values(one) for one in last])
            return losses_of_each(shared, ends, weights, y, row_weight, offset, loss)

        sharp = losses
        if rows.stop < len(targets[0]):
            sharp = total(lambda term: np.asarray(term.covers[rows], dtype=np.float64))
        smoothed = total(lambda term: self._degrees.get(term, partial(self._smooth, term)))
        # Where some of the rows stand for all, they may have more than their share of the loss.
        compared = np.maximum(losses + SHARE * self.scale * (smoothed - sharp), (1.0 - SHARE) * losses)
        return np.array([float(f"{one:.{DIGITS}g}") for one in compared.tolist()])
