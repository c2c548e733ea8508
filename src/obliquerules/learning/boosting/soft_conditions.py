"""Soft conditions: conditions on standardised inputs, which a row meets to a degree between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.kernels.sums import degrees, standard_deviation
from obliquerules.learning.boosting.design_matrix import MOST_ROWS, Inputs
from obliquerules.learning.cached import Recent
from obliquerules.rules import Proposition, Test
from obliquerules.rules.proposition import Summand, summand_values
from obliquerules.rules.rounding.votes import is_binary

# The number of sums that are kept: one is asked for with several thresholds.
MOST_KEPT = 32


@dataclass(frozen=True, eq=False)
class SoftTest:
    """A condition on standardised terms, scaled such that their sum has standard deviation one.

    A condition that is not ``movable`` is on a single term, itself.
    """

    test: Test
    weights: Vector
    threshold: float
    movable: bool

    @property
    def keys(self) -> tuple[tuple[Summand | Test, bool], ...]:
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
    _recent: Recent[StandardisedSum] = field(default_factory=lambda: Recent(MOST_KEPT))

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

    def soft(self, test: Test) -> SoftTest:
        """Return a condition on standardised terms."""
        if not isinstance(test, Proposition) or not self.is_movable(test):
            return SoftTest(test, np.ones(1), 0.0, movable=False)
        total = self._sum(test.columns, test.weights)
        return SoftTest(test, total.weights / total.scale, (test.threshold - total.mean) / total.scale, movable=True)

    def degree(self, test: Test, sharpness: float) -> Vector:
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
