"""Source: a model as an export needs it, with the columns that it reads and the outputs that are wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.style import column_names

# The column that numbers the rows of a table or frame during verification.
POSITION = "obliquerules_position"


@dataclass(frozen=True)
class Source:
    """A model to be exported.

    Attributes
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    contributions : bool
        Whether the contribution of each rule is wanted, besides the score and the prediction.
    """

    model: Model
    contributions: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(sum((abs(rule.weight) for rule in self.ensemble), abs(self.ensemble.intercept))):
            raise ValueError("The ensemble has weights whose sum is too large for a number, so that it cannot be exported.")

    @property
    def ensemble(self) -> RuleEnsemble:
        """The rules."""
        return self.model.ensemble

    @property
    def link(self) -> str:
        """One of identity, logistic and exponential."""
        return self.model.loss.link_name

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that occur in rules, in ascending order."""
        return tuple(
            sorted({column for rule in self.ensemble for proposition in rule.condition for column in proposition.columns})
        )

    @property
    def n_columns(self) -> int:
        """The number of columns of X."""
        names = self.ensemble.feature_names
        return max(self.columns, default=-1) + 1 if names is None else len(names)

    def name(self, column: int) -> str:
        """Return the name of a column."""
        return column_names([column], self.ensemble.feature_names)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns of X."""
        return tuple(self.name(column) for column in range(self.n_columns))

    @property
    def used_names(self) -> tuple[str, ...]:
        """The names of the columns that occur in rules."""
        return tuple(self.name(column) for column in self.columns)

    def check_outputs(self, prefix: str, *, ignore_case: bool) -> None:
        """Raise if an output has the name of a column, even one that no rule uses, because the table has that column, too."""
        outputs = {_key(name, ignore_case) for name in self.output_names(prefix)}
        for name in self.names:
            if _key(name, ignore_case) in outputs:
                raise ValueError(f"The column {name!r} is called like an output of the export; give outputs another prefix.")

    def check_distinct(self, names: Sequence[str], *, ignore_case: bool = False) -> None:
        """Raise if a column that rules use shares its name with another of these columns."""
        alike: dict[str, list[str]] = {}
        for name in names:
            alike.setdefault(_key(name, ignore_case), []).append(name)
        for name in self.used_names:
            if len(same := alike[_key(name, ignore_case)]) > 1:
                raise ValueError(
                    f"The columns {same[0]!r} and {same[1]!r} have the same name; the export could not tell them apart."
                )

    def layout(self, *, ignore_case: bool = False) -> tuple[int, ...]:
        """Return the columns that a table or frame can have: all except unused columns with the name of another column."""
        first: dict[str, int] = {}
        for column in (*self.columns, *range(self.n_columns)):
            first.setdefault(_key(self.name(column), ignore_case), column)
        return tuple(sorted(first.values()))

    def output_names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of the outputs: score, prediction, and rule_0, rule_1, ... if they are wanted."""
        rules = [f"rule_{index}" for index in range(len(self.ensemble))] if self.contributions else []
        return tuple(f"{prefix}{name}" for name in ("score", "prediction", *rules))

    def free_prefix(self, prefix: str) -> str:
        """Return the prefix, extended if necessary so that no output has the name of a column, whatever the case."""
        taken = _folded(self.names)
        while not taken.isdisjoint(_folded(self.output_names(prefix))):
            prefix += "_"
        return prefix

    def position_name(self, outputs: Sequence[str]) -> str:
        """Return a name for the column of row numbers that differs from all columns of the model and all outputs."""
        taken, name = _folded([*self.names, *outputs]), POSITION
        while name in taken:
            name += "_"
        return name

    def with_contributions(self) -> Source:
        """Return the source with contributions."""
        return replace(self, contributions=True)

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of the model for each row, in the order of `output_names`."""
        score = self.ensemble(X)
        columns = [score, self.model.means(score)]
        if self.contributions:
            columns += [rule.contribution(X) for rule in self.ensemble]
        return np.column_stack(columns)


def _key(name: str, ignore_case: bool) -> str:
    return name.casefold() if ignore_case else name


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
