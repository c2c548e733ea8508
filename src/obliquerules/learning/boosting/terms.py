"""Terms: conditions of rules and slopes in training, with their values on the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from obliquerules.arrays import Mask
from obliquerules.rules import Block, Conjunction, Slope, Term, Test


@dataclass(frozen=True, eq=False)
class Candidate:
    """A condition under consideration, with the rows that meet it and its objective (see `Objective`).

    Of a slope, the rows have numbers. The score is set by a selection; lower is better, and it is infinite before that.
    """

    condition: Term
    covers: Any
    objective: float
    score: float = math.inf

    @property
    def is_slope(self) -> bool:
        """Whether the term is a slope."""
        return isinstance(self.condition, Slope)

    def extended(self, proposition: Test, covers: Mask, objective: Callable[[Mask], float]) -> Candidate:
        """Return the candidate with one more proposition, which holds on the rows in ``covers``."""
        assert isinstance(self.condition, Conjunction)
        both = self.covers & covers
        return Candidate(self.condition & proposition, both, objective(both))

    def canonical(self, X: Block) -> Candidate:
        """Return the candidate or, if it is a single proposition whose first weight is negative, its complement.

        Both make the same model, because the constant is free, and ``x - 2 y >= 3`` is easier to read than ``-x + 2 y >= -3``.
        """
        if not isinstance(self.condition, Conjunction) or len(self.condition) != 1 or self.condition.propositions[0].is_upright:
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
