"""Conjunction: conditions that must all hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, as_matrix
from obliquerules.rules.parsing import Reader
from obliquerules.rules.proposition import Proposition
from obliquerules.rules.style import PLAIN, Style


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The condition of a rule: the logical AND of its propositions; with none of them it always holds.

    Examples
    --------
    >>> print(Conjunction([Proposition([0], [1], 20), Proposition([1, 0], [1, -2], 0)]))
    x0 >= 20 & x1 - 2 x0 >= 0
    >>> print(Conjunction())
    True
    """

    propositions: tuple[Proposition, ...]

    def __init__(self, propositions: Iterable[Proposition] = ()) -> None:
        object.__setattr__(self, "propositions", tuple(propositions))
        for proposition in self.propositions:
            if not isinstance(proposition, Proposition):
                raise TypeError(f"A conjunction is made of propositions; got {type(proposition).__name__}.")

    def __reduce__(self) -> tuple[type[Conjunction], tuple[tuple[Proposition, ...]]]:
        return type(self), (self.propositions,)

    def __len__(self) -> int:
        return len(self.propositions)

    def __iter__(self) -> Iterator[Proposition]:
        return iter(self.propositions)

    def __and__(self, proposition: Proposition) -> Conjunction:
        return Conjunction((*self.propositions, proposition))

    @property
    def complexity(self) -> int:
        """The sum of the complexities of the propositions, c(q) in the paper."""
        return sum(proposition.complexity for proposition in self.propositions)

    @property
    def n_columns(self) -> int:
        """The least number of columns that X must have."""
        return max((1 + max(proposition.columns) for proposition in self.propositions), default=0)

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether all propositions hold."""
        X = as_matrix(X, self.n_columns)
        holds = np.ones(len(X), dtype=np.bool_)
        for proposition in self.propositions:
            holds &= proposition(X)
        return holds

    def describe(self, feature_names: Sequence[str] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text, in the given names."""
        return style.both.join(proposition.describe(feature_names, style) for proposition in self.propositions) or "True"

    @classmethod
    def parse(cls, text: str, feature_names: Sequence[str] | None = None) -> Conjunction:
        """Return the condition that prints as this text; see `RuleEnsemble.parse`.

        It may also have ``>``, ``<`` and ``=``: the threshold is then the next double, and ``=`` becomes two conditions.

        >>> print(Conjunction.parse("age >= 50 & bmi - 0.2 age <= 18.5", ["age", "bmi"]))
        x0 >= 50 & x1 - 0.2 x0 <= 18.5
        """
        return read_condition(text, Reader(feature_names))

    def __str__(self) -> str:
        return self.describe()


def read_condition(text: str, reader: Reader) -> Conjunction:
    """Return a condition from its text, in the names that the reader knows."""
    return Conjunction(Proposition(*inequality[:3]) for inequality in reader.inequalities(text))
