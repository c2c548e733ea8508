"""Terms: conditions of rules and slopes in training, with their values on the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from obliquerules.rules import Block, Conjunction, Slope, Term, Test


@dataclass(frozen=True, eq=False)
class Candidate:
    """A term under consideration, with its value on each row and its objective (see `Objective`).

    The values of a condition are the rows that it covers, those of a slope numbers. The score is set by a selection; lower is
    better, and it is infinite before that.
    """

    condition: Term
    covers: NDArray[Any]
    objective: float = 0.0
    score: float = math.inf

    @property
    def is_slope(self) -> bool:
        """Whether the term is a slope."""
        return isinstance(self.condition, Slope)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The propositions of the condition; a slope has none."""
        return () if isinstance(self.condition, Slope) else self.condition.propositions

    @classmethod
    def of(cls, condition: Term, X: Block) -> Candidate:
        """Return a term with its values on some rows."""
        return cls(condition, condition(X))

    def canonical(self, X: Block) -> Candidate:
        """Return the candidate, or its complement if its only proposition begins with a minus.

        Both make the same model, because the constant is free, and ``x - 2 y >= 3`` is easier to read than ``-x + 2 y >= -3``.
        """
        if len(self.tests) != 1 or self.tests[0].is_upright:
            return self
        opposite = complement(self.tests[0], X)
        if opposite.complexity > self.condition.complexity:
            return self  # its complement would be longer by ``or missing``
        return replace(self, condition=Conjunction([opposite]), covers=~self.covers)


def complement(test: Test, X: Block) -> Test:
    """Return the condition that holds on the other rows.

    Where no row lacks a value, it says nothing of missing values, and so does not hold where one is missing.
    """
    opposite = test.opposite()
    return opposite if X.incomplete.intersection(test.used_columns) else opposite.with_missing(False)
