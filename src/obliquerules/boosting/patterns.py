"""Patterns: which rules of an ensemble in training fire on each row, kept for many ensembles at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.kept import kept
from obliquerules.method import patterns_of

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


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

    def extended(self, fired: Any) -> Patterns:
        """Return the patterns with one more rule: p becomes 2p + 1 where the rule fires and 2p elsewhere.

        Some of them may occur on no row. With a slope, each row is a pattern of its own.
        """
        if fired.dtype != np.bool_:
            return RowPatterns((*(self.design[:, 1:] != 0.0).T[:, self.pattern], fired))
        last = np.tile([0.0, 1.0], len(self.design))[:, None]
        return FiringPatterns(np.hstack([np.repeat(self.design, 2, axis=0), last]), 2 * self.pattern + fired)

    def met(self) -> FiringPatterns:
        """Return the patterns that occur."""
        met = np.bincount(self.pattern, minlength=len(self.design)) > 0
        return FiringPatterns(self.design[met], (np.cumsum(met) - 1)[self.pattern])

    @kept
    def _sizes(self) -> NDArray[np.intp]:
        return np.bincount(self.pattern, minlength=len(self.design))

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern."""
        return values[self.pattern]

    def sums(self, values: Vector) -> Vector:
        """Return for each pattern the sum over its rows."""
        return np.bincount(self.pattern, values, len(self.design)).astype(np.float64)

    def has_rule_on(self, covers: Mask) -> bool:
        """Say whether a rule fires on exactly these rows or exactly on the others."""
        covered = np.bincount(self.pattern, covers, len(self.design))
        if not ((covered == 0) | (covered == self._sizes)).all():
            return False
        fires, wanted = self.design[:, 1:], (covered > 0)[:, None]
        return bool(((fires == wanted).all(axis=0) | (fires == ~wanted).all(axis=0)).any())


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """With slopes, rows have hardly anything in common, and each is a pattern of its own.

    Ensembles that have a rule or a slope in common share its column, and masks take an eighth of what numbers do: a design is
    made when it is asked for.

    Attributes
    ----------
    columns : tuple of array of shape (n_samples,)
        Where each rule fires, and the values of each slope.
    """

    columns: tuple[Any, ...]

    @kept
    def design(self) -> Matrix:
        """A column of ones, then the values of all rules and slopes."""
        return np.column_stack([np.ones(len(self.columns[0])), *self.columns])

    @kept
    def pattern(self) -> NDArray[np.intp]:
        """The number of each row."""
        return np.arange(len(self.columns[0]), dtype=np.intp)

    def extended(self, fired: Any) -> RowPatterns:
        """Return the patterns with one more rule or slope."""
        return RowPatterns((*self.columns, fired))

    def met(self) -> RowPatterns:
        """Return the patterns that occur, which are all."""
        return self

    def of_rows(self, values: Any) -> Any:
        """Return for each row what there is for its pattern: the same."""
        return values

    def sums(self, values: Vector) -> Vector:
        """Return the values: each pattern has one row."""
        return values

    def has_rule_on(self, covers: Mask) -> bool:
        """Say whether a rule fires on exactly these rows or exactly on the others."""
        return _side_of_first(covers) in self._sides

    @kept
    def _sides(self) -> frozenset[bytes]:
        """The rows of each rule, or the others."""
        return frozenset(_side_of_first(column) for column in self.columns if column.dtype == np.bool_)


Patterns = FiringPatterns | RowPatterns


def _side_of_first(covers: Mask) -> bytes:
    """Return the rows on the side of the first one, which a rule and its complement share."""
    return np.packbits(covers ^ covers[0]).tobytes()


def patterns_in(columns: Sequence[Any], n_rows: int) -> Patterns:
    """Return the patterns of rules that fire on these rows and of slopes with these values."""
    if any(column.dtype != np.bool_ for column in columns):
        return RowPatterns(tuple(columns))
    return FiringPatterns(*patterns_of(columns, n_rows))
