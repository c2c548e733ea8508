"""Firing patterns: which terms hold on which rows, with rows on which the same rules fire as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.learning.cached import cached
from obliquerules.rules import Block, RuleEnsemble


@dataclass(frozen=True, eq=False)
class FiringPatterns:
    """The few patterns in which rules fire, and the pattern of each row.

    Attributes
    ----------
    design : array of shape (n_patterns, 1 + n_rules)
        A column of ones, then the rules that fire for each pattern.
    pattern : array of shape (n_samples,)
        The pattern of each row.
    offset : array of shape (n_patterns,) or (n_patterns, n_classes), or None
        What is added to the scores of each pattern.
    """

    design: Matrix
    pattern: Positions
    offset: Matrix | None = None

    @classmethod
    def of(cls, columns: Sequence[Any] | Mask, n_rows: int) -> FiringPatterns:
        """Return the patterns of rules; with numbers among the columns, one for each row."""
        if any(column.dtype != np.bool_ for column in columns):
            return cls(np.column_stack([np.ones(n_rows), *columns]), np.arange(n_rows, dtype=np.intp))
        pattern = np.zeros(n_rows, dtype=np.intp)
        for fired in columns:
            # Rule by rule, pattern p becomes 2p + 1 where the rule fires and 2p elsewhere; then only those that occur are kept.
            finer = 2 * pattern + fired
            pattern = (np.cumsum(np.bincount(finer) > 0) - 1)[finer]
        # All rows of a pattern are alike: any of them shows it.
        row = np.zeros(int(pattern.max(initial=-1)) + 1, dtype=np.intp)
        row[pattern] = np.arange(n_rows)
        return cls(np.column_stack([np.ones(len(row)), *(fired[row] for fired in columns)]), pattern)

    @classmethod
    def of_ensemble(cls, ensemble: RuleEnsemble, X: Block, fires: Iterable[Mask] | None = None) -> FiringPatterns:
        """Return the patterns of an ensemble, with the values of its slopes."""
        columns = [
            fired if rule.factor is None else np.where(fired, rule.factor(X), 0.0)
            for rule, fired in zip(ensemble, ensemble.fires(X).T if fires is None else fires, strict=True)
        ]
        return cls.of(columns, len(X))

    @property
    def lines(self) -> Matrix:
        """The design with a line for each column."""
        return self.design.T

    def with_offset(self, offset: Matrix | None) -> FiringPatterns:
        """Return finer patterns, whose rows have the same offset."""
        if offset is None:
            return self
        distinct, finer = np.unique(np.column_stack([self.pattern, offset]), axis=0, return_inverse=True)
        given = distinct[:, 1] if offset.ndim == 1 else distinct[:, 1:]
        return FiringPatterns(self.design[distinct[:, 0].astype(np.intp)], finer.ravel(), np.ascontiguousarray(given))

    def extended(self, fired: Mask) -> FiringPatterns:
        """Return the patterns with one more rule."""
        finer = 2 * self.pattern + fired
        occurs = np.bincount(finer, minlength=2 * len(self.design)) > 0
        met = np.flatnonzero(occurs)
        design = np.empty((len(met), self.design.shape[1] + 1))
        design[:, :-1], design[:, -1] = self.design[met // 2], met % 2
        offset = None if self.offset is None else self.offset[met // 2]
        return FiringPatterns(design, (np.cumsum(occurs) - 1)[finer], offset)

    def with_column(self, place: int, column: Vector) -> FiringPatterns:
        """Return the patterns with one column replaced, numbers only where each row is a pattern."""
        if len(self.design) == len(self.pattern):
            changed = self.design[self.pattern]
            changed[:, place] = column
            return FiringPatterns(changed, np.arange(len(self.pattern), dtype=np.intp))
        finer = 2 * self.pattern + (column != 0.0)
        occurs = np.bincount(finer, minlength=2 * len(self.design)) > 0
        changed = np.repeat(self.design, 2, axis=0)
        changed[:, place] = np.tile([0.0, 1.0], len(self.design))
        return FiringPatterns(np.ascontiguousarray(changed[occurs]), (np.cumsum(occurs) - 1)[finer])

    def of_columns(self, left: list[int]) -> FiringPatterns:
        """Return the patterns of some of the columns."""
        table = self.design[:, left]
        if self.offset is not None:
            table = np.column_stack([table, self.offset])
        rows, position = np.unique(table, axis=0, return_inverse=True)
        offset = None if self.offset is None else np.ascontiguousarray(rows[:, len(left) :]).reshape(-1, *self.offset.shape[1:])
        return FiringPatterns(np.ascontiguousarray(rows[:, : len(left)]), position.ravel()[self.pattern], offset)

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern."""
        return values[self.pattern]

    def scores(self, weights: Vector) -> Vector:
        """Return the score of each row, given the weights of the columns, without the offset."""
        return np.asarray((self.design @ weights)[self.pattern])

    def sums(self, values: Vector) -> Vector:
        """Return the sums over the rows of each pattern, column by column."""
        if values.ndim == 1:
            return np.bincount(self.pattern, values, len(self.design)).astype(np.float64)
        n_columns = values.shape[1]
        cells = n_columns * self.pattern[:, None] + np.arange(n_columns)
        found = np.bincount(cells.ravel(), values.ravel(), len(self.design) * n_columns)
        return found.astype(np.float64).reshape(-1, n_columns)

    @cached
    def sides(self) -> frozenset[bytes]:
        """The rows of each rule, or the others: see `side_of_first`."""
        fires = np.ascontiguousarray(self.design[:, 1:].T != 0.0)
        return frozenset(side_of_first(one) for one in fires[:, self.pattern])


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """One pattern per row, for ensembles with slopes and for the search.

    Ensembles share the terms they have in common; the design matrix is built on demand.

    Attributes
    ----------
    terms : tuple of Candidate
    n_rows : int
    offset : array of shape (n_rows,) or (n_rows, n_classes), or None
    """

    terms: tuple[Any, ...]
    n_rows: int
    offset: Matrix | None = None

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
    def pattern(self) -> Positions:
        """The number of each row."""
        return np.arange(self.n_rows, dtype=np.intp)

    def with_offset(self, offset: Matrix | None) -> RowPatterns:
        """Return the same terms with an offset of each row."""
        return self if offset is None else RowPatterns(self.terms, self.n_rows, offset)

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern: the same."""
        return values

    def scores(self, weights: Vector) -> Vector:
        """Return the score of each row, given the weights of the columns, without the offset."""
        return np.asarray((weights.T @ self.lines).T)

    def sums(self, values: Vector) -> Vector:
        """Return the values: each pattern has one row."""
        return values

    @cached
    def sides(self) -> frozenset[bytes]:
        """The rows of each rule, or the others: see `side_of_first`."""
        return frozenset(side_of_first(term.covers) for term in self.terms if not term.is_slope)


Patterns = FiringPatterns | RowPatterns


def side_of_first(covers: Mask) -> bytes:
    """Return a key that a rule and its complement share: the rows on the side of the first."""
    return np.packbits(covers ^ covers[0]).tobytes()
