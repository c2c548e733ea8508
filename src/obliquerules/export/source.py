"""Source: a model as an export needs it, with the columns that it reads and the outputs that are wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.style import column_names

# The column that numbers the rows of a table or frame during verification.
POSITION = "obliquerules_position"
# What a column of the user's table can hold, as far as an export must know it.
KINDS = ("boolean", "integer", "decimal", "double")
LARGEST = float(np.finfo(np.float64).max)
LARGEST_INPUT = 1e300


@dataclass(frozen=True)
class Source:
    """A model to be exported.

    Attributes
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    contributions : bool
        Whether the contribution of each rule is wanted, besides the score and the prediction.
    kinds : mapping from str to str
        What the columns of the user's tables hold, as far as it is known: one of `KINDS` by the name of the column.
    """

    model: Model
    contributions: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            if kind not in KINDS:
                raise ValueError(f"The type of column {name!r} must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
        if not math.isfinite(self.largest_score):
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
        return self.ensemble.used_columns

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

    @property
    def largest_input(self) -> float:
        """The size that an input may have: 1e300, or less if weights are so large that a sum might overflow."""
        sizes = [
            LARGEST / (2.0 * len(proposition.columns)) / max(1.0, *map(abs, proposition.weights))
            for rule in self.ensemble
            for proposition in rule.condition
        ]
        return min([LARGEST_INPUT, *map(_power_of_ten_below, sizes)])

    @property
    def largest_score(self) -> float:
        """A bound on the size of scores."""
        return sum((abs(rule.weight) for rule in self.ensemble), abs(self.ensemble.intercept))

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

    def scorable(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which rows can be scored: none of the inputs that rules use is missing or larger than `largest_input`."""
        return np.asarray((np.abs(X[:, list(self.columns)]) <= self.largest_input).all(axis=1))

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of the model in the order of `output_names`, NaN for rows that cannot be scored."""
        score = self.ensemble(X)
        columns = [score, self.model.means(score)]
        if self.contributions:
            columns += [rule.contribution(X) for rule in self.ensemble]
        return np.where(self.scorable(X)[:, None], np.column_stack(columns), np.nan)


def _power_of_ten_below(size: float) -> float:
    """Return the largest power of ten that is not above a positive number.

    >>> _power_of_ten_below(4.5e305), _power_of_ten_below(0.17)
    (1e+305, 0.1)
    """
    return float(f"1e{math.floor(math.log10(size))}")


def _key(name: str, ignore_case: bool) -> str:
    return name.casefold() if ignore_case else name


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
