"""Membership: one condition on the levels of a column, or on whether its value is missing."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, Column, Columns, Level, as_block, as_level
from obliquerules.rules.text.style import PLAIN, Style, listed_levels


@dataclass(frozen=True, slots=True)
class Membership:
    """The condition that a column has one of the listed levels.

    A level that was never seen is in no list: it does not meet ``in``, and it meets ``not in``. Where the value is missing,
    the condition holds only if it says so.

    Parameters
    ----------
    column : int
    levels : iterable of str, int or bool
        The listed levels; none of them for the condition that the value is missing.
    negated : bool, default=False
        Whether the condition is that the level is none of those listed.
    missing : bool, default=False
        Whether the condition holds where the value is missing.
    ordered : bool, default=False
        Whether the levels are all those from one level on, or up to one, of a column whose levels are ordered. The condition
        then prints as ``at least`` or ``at most`` that level, and counts as one level.

    Examples
    --------
    >>> print(Membership(0, ["red", "blue"]).describe(["colour"]))
    colour in {red, blue}
    >>> print(Membership(0, ["yes"], missing=True).describe(["smoker"]))
    smoker = yes or missing
    >>> print(Membership(0, [], missing=True).describe(["age"]))
    age is missing
    """

    column: int
    levels: tuple[Level, ...]
    negated: bool = False
    missing: bool = False
    ordered: bool = False
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self, column: int, levels: Iterable[Level], negated: bool = False, missing: bool = False, ordered: bool = False
    ) -> None:
        listed = tuple(map(as_level, [levels] if isinstance(levels, str | int | bool) else levels))
        if negated and len(listed) == 1 and isinstance(listed[0], bool):
            # Booleans have two levels, so that one of them is enough.
            listed, negated = (not listed[0],), False
        place = operator.index(column)
        values = place, listed, bool(negated), bool(missing), bool(ordered), (place,)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)
        if self.column < 0:
            raise ValueError(f"The column of a membership must not be negative; got {self.column}.")
        if not all(isinstance(level, str | int | bool) for level in self.levels):
            raise ValueError(f"Levels are text, whole numbers or booleans; got {list(self.levels)}.")
        if len({(type(level), level) for level in self.levels}) < len(self.levels):
            raise ValueError(f"The levels of a membership must be different; got {list(self.levels)}.")
        if not self.levels and self.negated == self.missing:
            raise ValueError("A membership without levels says that a value is missing, or that it is not.")
        if self.ordered and not self.levels:
            raise ValueError("A membership in ordered levels lists one or more of them.")

    @property
    def complexity(self) -> int:
        """One for the condition, one for each listed level (one for all that are in a row) and one for ``missing``."""
        return 1 + self.listing

    @property
    def listing(self) -> int:
        """What is read of the condition besides that it is one: its levels and whether a value is missing."""
        return (1 if self.ordered else len(self.levels)) + (self.missing or not self.levels)

    @property
    def is_upright(self) -> bool:
        """Whether the condition reads without a negation."""
        return not self.negated

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether the condition holds."""
        block = as_block(X, 1 + self.column)
        column = block.column(self.column)
        if self.levels and column.levels is None:
            raise ValueError(f"Column '{column.name}' holds numbers, so that a condition on levels says nothing of it.")
        # A place for each level, then one for levels that the column does not have, then one for missing values.
        size = len(column.levels or ())
        if self.column not in block.places:
            values = block.matrix[:, self.column]
            known = np.where((values < 0.0) | (size == 0), size, values)
            block.places[self.column] = np.where(np.isnan(values), size + 1, known).astype(np.intp)
        answers = np.full(size + 2, self.negated)
        keys = [(type(level), level) for level in self.levels]
        answers[[column.codes[key] for key in keys if key in column.codes]] = not self.negated
        answers[-1] = self.missing
        return answers[block.places[self.column]]

    def has(self, level: Level) -> bool:
        """Say whether the condition holds for a level that is not missing."""
        return any(type(level) is type(one) and level == one for one in self.levels) != self.negated

    def check_levels(self, column: Column) -> None:
        """Raise if the column does not have a listed level."""
        unknown = [level for level in self.levels if (type(level), level) not in column.codes]
        if unknown and column.levels is not None:
            listed = listed_levels(column.levels)
            raise ValueError(f"Column '{column.name}' has no level {PLAIN.level(unknown[0])}; its levels are {listed}.")

    def opposite(self) -> Membership:
        """Return the condition that holds exactly where this one does not."""
        return Membership(self.column, self.levels, not self.negated, not self.missing, self.ordered)

    def with_missing(self, missing: bool) -> Membership:
        """Return the same condition on levels, with another answer where the value is missing."""
        if not self.levels or missing == self.missing:
            return self
        return Membership(self.column, self.levels, self.negated, missing, self.ordered)

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text."""
        column = Column(f"x{self.column}") if columns is None else Columns.of(columns)[self.column]
        return style.membership(column, self)

    def __str__(self) -> str:
        return self.describe()
