"""Design matrix: numbers, and levels as columns of 0 and 1, from which sums are learned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix, Vector
from obliquerules.data.level_sums import levels_of
from obliquerules.data.scaling import Scaling, filled_with_means
from obliquerules.kernels.sums import project
from obliquerules.learning.cached import RecentCache
from obliquerules.rules import Block, Proposition
from obliquerules.rules.rounding.thresholds import Projections, largest_of
from obliquerules.rules.rule_parts import Summand

# Refinement, hinges and smoothed losses use at most this many rows, in random order; more rows change little.
MOST_ROWS = 10_000
# Only this many levels, those with the strongest pull, take part in one regression: it would take longer with all of them.
MOST_LEVELS = 25
# A level with fewer rows, by weight, is no input of a sum.
FEWEST_ROWS = 5.0


@dataclass(frozen=True, eq=False)
class Design:
    """The inputs of one regression.

    Attributes
    ----------
    terms : tuple of int or Membership
    scaling : Scaling
    standardised : array of shape (n_rows, n_terms)
        Each column contiguous in memory.
    """

    terms: tuple[Summand, ...]
    scaling: Scaling
    standardised: Matrix

    def restore(self, weights: Vector, threshold: float) -> Proposition:
        """Return the condition ``standardised x . weights >= threshold`` in original units."""
        columns, restored, placed = self.scaling.unscaled(weights, threshold)
        return Proposition([self.terms[column] for column in columns], restored, placed)


class Inputs:
    """The inputs of all regressions of a fit.

    Missing numbers count as the mean of their column. Dates and durations take no part, because a sum has no unit for them.

    Parameters
    ----------
    block : Block
    row_weight : array of shape (n_rows,)
    """

    def __init__(self, block: Block, row_weight: Vector) -> None:
        special = {} if block.columns is None else dict(block.columns.special)
        self.block = block
        self.matrix = np.asfortranarray(block.matrix)
        others = {j for j, one in special.items() if one.levels is not None or one.kind not in ("number", "flag")}
        self.numbers = [j for j in range(block.n_columns) if j not in others]
        X = block.matrix if len(self.numbers) == block.n_columns else np.asfortranarray(block.matrix[:, self.numbers])
        if block.incomplete.intersection(self.numbers):
            X = filled_with_means(X, row_weight)
        self.scaling = Scaling.of(X, row_weight)
        self.standardised = self.scaling.fenced(X)
        self.levels = levels_of(block, row_weight)
        self.candidates = [one for sums in self.levels for one in sums.indicators(FEWEST_ROWS)]
        self._recent = RecentCache[NDArray[np.bool_]](2 * MOST_LEVELS)
        self.largest = dict(zip(self.numbers, largest_of(list(X.T)), strict=True))

    def design(self, pull: Vector, rows: NDArray[np.intp]) -> Design:
        """Return the inputs of the regression that follows a pull on some of the rows."""
        # Selecting from the transpose keeps the columns contiguous, as the solver needs them.
        numbers = self.standardised.T[:, rows]
        if not self.candidates:
            return Design(tuple(self.numbers), self.scaling, numbers.T)
        chosen = self.candidates
        if len(chosen) > MOST_LEVELS:
            # The levels that pull most for their number of rows, in a fixed order.
            strength = np.concatenate([sums.strength(pull, rows, FEWEST_ROWS) for sums in self.levels])
            chosen = [chosen[index] for index in np.sort(np.argsort(-strength, kind="stable")[:MOST_LEVELS])]
        members = [membership for membership, _ in chosen]
        mean, scale = np.array([share for _, share in chosen]), np.array([np.sqrt(s * (1.0 - s)) for _, s in chosen])
        holds = [self._recent.get(member, partial(member, self.block))[rows] for member in members]
        indicators = [(one - m) / s for one, m, s in zip(holds, mean, scale, strict=True)]
        return Design((*self.numbers, *members), self.scaling.extended(mean, scale), np.vstack([numbers, *indicators]).T)

    def projections(self, proposition: Proposition) -> Projections:
        """Return the sums that a condition compares with its threshold, in original units."""
        columns, weights = proposition.columns, proposition.weights
        if columns == proposition.used_columns:
            values = project(self.matrix, proposition.used_columns, weights)
        else:
            values = proposition.project(self.block)
        # The largest absolute value of each term.
        largest = [self.largest[term] if isinstance(term, int) else 1.0 for term in columns]
        return Projections.of_sum(values, partial(proposition.summands, self.block), weights, largest)
