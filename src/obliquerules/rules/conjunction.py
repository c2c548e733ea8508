"""Conjunction: conditions that must all hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, Column, Columns, as_block
from obliquerules.rules.membership import Membership
from obliquerules.rules.proposition import Proposition, Summand, Test
from obliquerules.rules.text.parsing import Reader
from obliquerules.rules.text.style import PLAIN, Style, column_at


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The condition of a rule: the logical AND of propositions and memberships; with none of them it always holds.

    Attributes
    ----------
    propositions : tuple of Proposition or Membership
    used_columns : tuple of int
        Their columns, in ascending order.

    Examples
    --------
    >>> print(Conjunction([Proposition([0], [1], 20), Proposition([1, 0], [1, -2], 0)]))
    x0 >= 20 & x1 - 2 x0 >= 0
    >>> print(Conjunction())
    True
    """

    propositions: tuple[Test, ...]
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(self, propositions: Iterable[Test] = ()) -> None:
        object.__setattr__(self, "propositions", tuple(propositions))
        for proposition in self.propositions:
            if not isinstance(proposition, Proposition | Membership):
                raise TypeError(f"A conjunction is made of propositions and memberships; got {type(proposition).__name__}.")
        used = sorted({column for proposition in self.propositions for column in proposition.used_columns})
        object.__setattr__(self, "used_columns", tuple(used))

    def __len__(self) -> int:
        return len(self.propositions)

    def __iter__(self) -> Iterator[Test]:
        return iter(self.propositions)

    def __and__(self, proposition: Test) -> Conjunction:
        if not isinstance(proposition, Proposition | Membership):
            return Conjunction((*self.propositions, proposition))  # which raises
        longer = object.__new__(Conjunction)
        object.__setattr__(longer, "propositions", (*self.propositions, proposition))
        object.__setattr__(longer, "used_columns", tuple(sorted({*self.used_columns, *proposition.used_columns})))
        return longer

    @property
    def complexity(self) -> int:
        """The sum of the complexities of the propositions, c(q) in the paper."""
        return sum(proposition.complexity for proposition in self.propositions)

    @property
    def summands(self) -> Iterator[Summand]:
        """The columns and memberships in all sums, and the memberships beside them."""
        return (one for test in self for one in ((test,) if isinstance(test, Membership) else test.columns))

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether all propositions hold."""
        block = as_block(X, 1 + max(self.used_columns, default=-1))
        holds = np.ones(len(block), dtype=np.bool_)
        for proposition in self.propositions:
            holds &= proposition(block)
        return holds

    def check(self, columns: Columns) -> None:
        """Raise unless conditions on levels are on columns that have levels, and those on numbers on columns of numbers."""
        for summand in self.summands:
            column = columns[summand if isinstance(summand, int) else summand.column]
            if isinstance(summand, int) and column.levels is not None:
                raise ValueError(f"Column '{column.name}' has levels, and no numbers for a sum.")
            if not isinstance(summand, int) and summand.levels and column.levels is None:
                raise ValueError(f"Column '{column.name}' holds numbers, and has no levels for a condition.")

    def check_levels(self, columns: Columns | None) -> None:
        """Raise if a column does not have a listed level."""
        for summand in self.summands:
            if isinstance(summand, Membership):
                summand.check_levels(column_at(columns, summand.column))

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text, in the names of the given columns."""
        return style.both.join(proposition.describe(columns, style) for proposition in self.propositions) or "True"

    @classmethod
    def parse(cls, text: str, columns: Iterable[str | Column] | None = None) -> Conjunction:
        """Return the condition that prints as this text; see `RuleEnsemble.parse`.

        It may also have ``>``, ``<`` and ``=``: the threshold is then the next double, and ``=`` becomes two conditions.

        >>> print(Conjunction.parse("age >= 50 & bmi - 0.2 age <= 18.5", ["age", "bmi"]))
        x0 >= 50 & x1 - 0.2 x0 <= 18.5
        """
        return cls(test for test, _ in Reader(columns).condition(text))

    def __str__(self) -> str:
        return self.describe()
