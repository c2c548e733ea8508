"""Patterns: which rules of an ensemble in training fire on each row, kept for many ensembles at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Matrix, Vector
from obliquerules.learning.cached import cached

if TYPE_CHECKING:
    from obliquerules.learning.boosting.terms import Candidate


@dataclass(frozen=True, eq=False)
class FiringPatterns:
    """The few patterns in which rules fire, and the pattern of each row.

    Attributes
    ----------
    design : array of shape (n_patterns, 1 + n_rules)
        A column of ones, then the rules that fire for each pattern.
    pattern : array of shape (n_samples,)
        The pattern of each row.
    """

    design: Matrix
    pattern: NDArray[np.intp]

    def extended(self, fired: Mask) -> FiringPatterns:
        """Return the patterns with one more rule: p becomes 2p + 1 where it fires and 2p elsewhere, as far as they occur."""
        finer = 2 * self.pattern + fired
        occurs = np.bincount(finer, minlength=2 * len(self.design)) > 0
        met = np.flatnonzero(occurs)
        design = np.empty((len(met), self.design.shape[1] + 1))
        design[:, :-1], design[:, -1] = self.design[met // 2], met % 2
        return FiringPatterns(design, (np.cumsum(occurs) - 1)[finer])

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern."""
        return values[self.pattern]

    def scores(self, weights: Vector) -> Vector:
        """Return the score of each row, given the weights of the columns."""
        return np.asarray((self.design @ weights)[self.pattern])

    def sums(self, values: Vector) -> Vector:
        """Return for each pattern the sum over its rows."""
        return np.bincount(self.pattern, values, len(self.design)).astype(np.float64)

    def has_rule_on(self, covers: Mask) -> bool:
        """Say whether a rule fires on exactly these rows or exactly on the others."""
        return _side_of_first(covers) in self._sides

    @cached
    def _sides(self) -> frozenset[bytes]:
        """The rows of each rule, or the others."""
        fires = np.ascontiguousarray(self.design[:, 1:].T != 0.0)
        return frozenset(_side_of_first(one) for one in fires[:, self.pattern])


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """One pattern per row, for ensembles with slopes and for the search.

    Ensembles share the terms they have in common; the design matrix is built on demand.

    Attributes
    ----------
    terms : tuple of Candidate
    n_rows : int
    """

    terms: tuple[Candidate, ...]
    n_rows: int

    @property
    def lines(self) -> Matrix:
        """A line of ones, then one for each rule and slope with its values."""
        lines = np.empty((1 + len(self.terms), self.n_rows))
        lines[0] = 1.0
        for place, term in enumerate(self.terms, start=1):
            lines[place] = term.covers
        return lines

    @cached
    def design(self) -> Matrix:
        """A column of ones, then the values of all rules and slopes."""
        return np.ascontiguousarray(self.lines.T)

    @cached
    def pattern(self) -> NDArray[np.intp]:
        """The number of each row."""
        return np.arange(self.n_rows, dtype=np.intp)

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern: the same."""
        return values

    def scores(self, weights: Vector) -> Vector:
        """Return the score of each row, given the weights of the columns."""
        return np.asarray((weights.T @ self.lines).T)

    def sums(self, values: Vector) -> Vector:
        """Return the values: each pattern has one row."""
        return values

    def has_rule_on(self, covers: Mask) -> bool:
        """Say whether a rule fires on exactly these rows or exactly on the others."""
        return _side_of_first(covers) in self._sides

    @cached
    def _sides(self) -> frozenset[bytes]:
        """The rows of each rule, or the others."""
        return frozenset(_side_of_first(term.covers) for term in self.terms if not term.is_slope)


Patterns = FiringPatterns | RowPatterns


def _side_of_first(covers: Mask) -> bytes:
    """Return the rows on the side of the first one, which a rule and its complement share."""
    return np.packbits(covers ^ covers[0]).tobytes()
