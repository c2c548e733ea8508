"""Terms: conditions of rules and slopes in training, with their values on the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from obliquerules.arrays import Mask, Vector
from obliquerules.learning.refit import factor_scale
from obliquerules.rules import Block, Conjunction, Factor, Rule, Test


@dataclass(frozen=True)
class Slope:
    """A factor in standard deviations: what a row has of it is a number, where of a condition it is 0 or 1.

    Like a conjunction, it can be asked for its tests; the only one is the slope itself, which nothing can shorten or refine.

    Attributes
    ----------
    factor : Factor
    scale : float
        The standard deviation of the factor on the training rows.
    incomplete : bool
        Whether values of the column are missing: then the origin says what they count as.
    """

    factor: Factor
    scale: float
    incomplete: bool = False
    is_upright: ClassVar[bool] = True

    @classmethod
    def of(cls, factor: Factor, X: Block, row_weight: Vector) -> Slope:
        """Return the slope of a factor on some rows."""
        return cls(factor, factor_scale(Rule(1.0, factor=factor), X, row_weight), factor.column in X.incomplete)

    @property
    def complexity(self) -> int:
        """What is read in the factor; see `Factor`."""
        return self.factor.complexity + (self.incomplete and self.factor.has_origin)

    @property
    def propositions(self) -> tuple[Slope, ...]:
        """The slope itself."""
        return (self,)

    @property
    def used_columns(self) -> tuple[int, ...]:
        """The column of the factor."""
        return (self.factor.column,)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Slope]:
        return iter(self.propositions)

    def __call__(self, X: Block) -> Vector:
        """Return the factor of each row, in standard deviations."""
        return self.factor(X) / self.scale


@dataclass(frozen=True, eq=False)
class Candidate:
    """A condition under consideration, with the rows that meet it and its objective (see `Objective`).

    Of a slope, the rows have numbers. The score is set by a selection; lower is better, and it is infinite before that.
    """

    condition: Any
    covers: Any
    objective: float
    score: float = math.inf

    @property
    def is_slope(self) -> bool:
        """Whether the term is a slope."""
        return isinstance(self.condition, Slope)

    def extended(self, proposition: Test, covers: Mask, objective: Callable[[Mask], float]) -> Candidate:
        """Return the candidate with one more proposition, which holds on the rows in ``covers``."""
        both = self.covers & covers
        return Candidate(self.condition & proposition, both, objective(both))

    def canonical(self, X: Block) -> Candidate:
        """Return the candidate or, if it is a single proposition whose first weight is negative, its complement.

        Both make the same model, because the constant is free, and ``x - 2 y >= 3`` is easier to read than ``-x + 2 y >= -3``.
        """
        if len(self.condition) != 1 or self.condition.propositions[0].is_upright:
            return self
        opposite = complement(self.condition.propositions[0], X)
        if opposite.complexity > self.condition.complexity:
            return self  # it would have to say what happens where a value is missing
        return replace(self, condition=Conjunction([opposite]), covers=~self.covers)


def complement(test: Test, X: Block) -> Test:
    """Return the condition that holds on the other rows.

    Where no row lacks a value, it says nothing of missing values, and so does not hold where one is missing.
    """
    opposite = test.opposite()
    return opposite if X.incomplete.intersection(test.used_columns) else opposite.with_missing(False)
