"""Source: a model as an export needs it, with the columns that it reads and the outputs that are wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.export.table_values import TEMPORAL, held_values, python_values
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Block, Factor, Model, Rule, RuleEnsemble
from obliquerules.rules.columns import Column
from obliquerules.rules.proposition import Proposition
from obliquerules.rules.text.style import column_at, column_names

# The column that numbers the rows of a table or frame during verification.
POSITION = "obliquerules_position"
# What a column of the user's table can hold, as far as an export must know it.
NUMBERS = ("integer", "decimal", "double")
KINDS = ("boolean", *NUMBERS, "text", *TEMPORAL)
LARGEST = float(np.finfo(np.float64).max)
LARGEST_INPUT = 1e300
# What the labels of classes can be, as far as other languages have the same.
LABEL_KINDS = {str: "text", int: "integer", float: "double"}


@dataclass(frozen=True)
class Source:
    """A model to be exported.

    Its rows are those of X, followed by the exposure or the offset if the model has one: a column like others, except that it
    must be given and that no condition looks into it.

    Attributes
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    contributions : bool
        Whether the contribution of each rule is wanted, besides the scores and the prediction.
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
        # Of many classes, the scores are subtracted from each other.
        if not math.isfinite(2.0 * self.largest_score if self.has_many_classes else self.largest_score):
            what = "products of weights and factors" if self.factors else "weights"
            raise ValueError(f"The ensemble has {what} whose sum is too large for a number, so that it cannot be exported.")
        kinds = {type(label) for label in self.labels} if self.has_many_classes else set()
        if len(kinds) > 1 or not kinds <= set(LABEL_KINDS):
            raise ValueError(f"Classes can be exported if all are text, whole numbers or numbers; got {list(self.labels)}.")

    @property
    def ensemble(self) -> RuleEnsemble:
        """The rules."""
        return self.model.ensemble

    @property
    def link(self) -> str:
        """One of identity, logistic, exponential and softmax."""
        return self.model.loss.link_name

    @property
    def has_many_classes(self) -> bool:
        """Whether there is a score for each of many classes."""
        return self.ensemble.outputs is not None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of many classes; the names of the scores where nothing else is known."""
        return (self.ensemble.outputs or ()) if self.model.labels is None else self.model.labels.values

    @property
    def label_kind(self) -> str:
        """What the labels of many classes are: one of `LABEL_KINDS`."""
        return LABEL_KINDS[type(self.labels[0])]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that are read: those that occur in rules, in ascending order, then the exposure or the offset."""
        return (*self.ensemble.used_columns, *self.given)

    @property
    def given(self) -> tuple[int, ...]:
        """The column of the exposure or the offset, or those of the offsets of many classes; none if there are none."""
        first = self.n_features
        return () if self.model.offset is None else tuple(range(first, first + len(self.model.offset.names)))

    @property
    def has_exposure(self) -> bool:
        """Whether the prediction is multiplied by an exposure."""
        return self.model.offset is not None and self.model.offset.kind == "exposure"

    @property
    def propositions(self) -> tuple[Proposition, ...]:
        """The conditions on sums."""
        return tuple(test for rule in self.ensemble for test in rule.condition if isinstance(test, Proposition))

    @property
    def factors(self) -> tuple[tuple[float, Factor], ...]:
        """The factors of rules, with the weights that they multiply."""
        with_factor = ((rule, rule.factor) for rule in self.ensemble if rule.factor is not None)
        return tuple((rule.weights[output], factor) for rule, factor in with_factor for output in rule.classes_with_weight)

    @property
    def summed(self) -> tuple[int, ...]:
        """The columns of numbers that are computed with, in sums and factors, in ascending order."""
        terms = {term for one in self.propositions for term in one.columns if isinstance(term, int)}
        return tuple(sorted(terms | {factor.column for _, factor in self.factors}))

    @property
    def with_levels(self) -> tuple[int, ...]:
        """The columns that have levels."""
        return () if self.ensemble.columns is None else self.ensemble.columns.with_levels

    def column(self, index: int) -> Column:
        """Return a column."""
        return Column(self.name(index)) if index in self.given else column_at(self.ensemble.columns, index)

    def kind(self, index: int) -> str | None:
        """Return what a column of the user's table holds, one of `KINDS`; None if it holds some kind of number."""
        column, given = self.column(index), self.kinds.get(self.name(index))
        if column.is_truth:
            return given if given in NUMBERS else "boolean"
        if column.levels is not None:
            return "integer" if column.levels and isinstance(column.levels[0], int) else "text"
        if column.kind not in TEMPORAL:
            return given if given in ("boolean", *NUMBERS) else None
        as_they_are = ("duration",) if column.kind == "duration" else ("date", "time")
        return given if given in (*NUMBERS, *as_they_are) else column.kind

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        names = self.ensemble.feature_names
        return max(self.ensemble.used_columns, default=-1) + 1 if names is None else len(names)

    @property
    def n_columns(self) -> int:
        """The number of columns of rows: those of X, and the exposure or the offset."""
        return self.n_features + len(self.given)

    def name(self, column: int) -> str:
        """Return the name of a column."""
        if self.model.offset is not None and column >= self.n_features:
            return self.model.offset.names[column - self.n_features]
        return column_names([column], self.ensemble.feature_names)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(self.name(column) for column in range(self.n_columns))

    @property
    def used_names(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(self.name(column) for column in self.columns)

    @property
    def largest_input(self) -> float:
        """The size that an input may have: 1e300, or less if weights are so large that a sum might overflow."""
        sizes = [
            LARGEST / (2.0 * len(proposition.columns)) / max(1.0, *map(abs, proposition.weights))
            for proposition in self.propositions
        ]
        sizes += [LARGEST / (2.0 * len(self.factors)) / max(1.0, abs(weight)) for weight, _ in self.factors]
        return min([LARGEST_INPUT, *map(_power_of_ten_below, sizes)])

    @property
    def largest_score(self) -> float:
        """A bound on the size of scores."""
        offset, limit = LARGEST_INPUT if self.given and not self.has_exposure else 0.0, self.largest_input
        return max(
            sum((_largest_contribution(rule, output, limit) for rule in self.ensemble), abs(constant)) + offset
            for output, constant in enumerate(self.ensemble.intercepts)
        )

    @property
    def largest_given(self) -> float:
        """The size that an exposure or an offset may have: that of inputs, or less if a prediction might overflow."""
        if not self.has_exposure:
            return self.largest_input
        most = math.exp(min(self.largest_score, LARGEST_EXPONENT))
        return min(self.largest_input, _power_of_ten_below(LARGEST / most))

    def check_outputs(self, prefix: str, *, ignore_case: bool) -> None:
        """Raise if an output has the name of a column, even one that no rule uses, because the table has that column, too.

        The same goes for two outputs of classes whose names differ only in case.
        """
        outputs: dict[str, str] = {}
        for name in self.output_names(prefix):
            other = outputs.setdefault(_key(name, ignore_case), name)
            if other != name:
                raise ValueError(f"The outputs {other!r} and {name!r} have the same name, whatever the case: rename a class.")
        for name in self.names:
            if _key(name, ignore_case) in outputs:
                raise ValueError(f"The column {name!r} is called like an output of the export; give outputs another prefix.")

    def check_distinct(self, names: Sequence[str], *, ignore_case: bool = False) -> None:
        """Raise if a column that is read shares its name with another of these columns."""
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
        """Return the names of the outputs: score, prediction, and rule_0, rule_1, ... if they are wanted.

        With many classes they are the score of each, such as score_red, the class, its probability and, if they are wanted,
        what each rule adds to the scores of the classes that it speaks for, such as rule_0_red.
        """
        classes = self.ensemble.outputs
        if classes is None:
            names = ["score", "prediction", *(f"rule_{index}" for index, _ in self.parts)]
        else:
            names = [*(f"score_{name}" for name in classes), "class", "probability"]
            names += [f"rule_{index}_{classes[output]}" for index, output in self.parts]
        n_parts = 0 if self.contributions else len(self.parts)
        return tuple(f"{prefix}{name}" for name in names[: len(names) - n_parts])

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """What rules add to scores: the number of each rule with each score that it changes."""
        return tuple((index, output) for index, rule in enumerate(self.ensemble) for output in rule.classes_with_weight)

    @property
    def n_scores(self) -> int:
        """How many scores there are."""
        return len(self.ensemble.intercepts)

    @property
    def class_position(self) -> int | None:
        """The position of the class among the outputs; None unless there are many."""
        return self.n_scores if self.has_many_classes else None

    @property
    def link_position(self) -> int:
        """The position of the prediction or the probability among the outputs."""
        return self.n_scores + self.has_many_classes

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

    def block(self, X: NDArray[np.float64]) -> Block:
        """Return rows, with the codes of levels, as a block of the columns that conditions look into."""
        return Block.of_matrix(X[:, : self.n_features], self.ensemble.columns)

    def scorable(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which rows can be scored.

        No number in a sum or a factor is larger than `largest_input`, and the exposure is a positive number, or the offset a
        number, up to `largest_given`.
        """
        within = np.asarray(~(np.abs(X[:, list(self.summed)]) > self.largest_input).any(axis=1))
        given = X[:, list(self.given)]
        usable = (np.abs(given) <= self.largest_given) & ((given > 0.0) | (not self.has_exposure))
        return within & usable.all(axis=1)

    def given_values(self, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the exposure or the offset as `Model` takes it; 1 or 0 in rows that cannot be scored."""
        if not self.given:
            return None
        neutral = 1.0 if self.has_exposure else 0.0
        values = np.where(self.scorable(X)[:, None], X[:, list(self.given)], neutral)
        return values if self.has_many_classes else values[:, 0]

    def possible(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows without a level that there cannot be: booleans that are neither true nor false are missing."""
        both = [index for index in self.columns if self.column(index).is_truth and len(self.column(index).levels or ()) == 2]
        if both:
            X = X.copy()
            X[:, both] = np.where(X[:, both] < 0.0, np.nan, X[:, both])
        return X

    def held(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows with each value as its column in the table of the user can hold it."""
        columns = [held_values(self.column(index), X[:, index], self.kind(index)) for index in range(self.n_columns)]
        return np.column_stack(columns) if columns else X

    def values(self, index: int, X: NDArray[np.float64]) -> list[Any]:
        """Return a column of such rows as values of Python."""
        return python_values(self.column(index), X[:, index], self.kind(index))

    def outputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs of the model in the order of `output_names`, NaN for rows that cannot be scored.

        In place of a class there is its number.
        """
        block, given = self.block(X), self.given_values(X)
        # Rows that cannot be scored may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            score = self.model.scores(block, given)
            mean = self.model.means(score, given)
            columns = [score, score.argmax(axis=1), mean.max(axis=1)] if self.has_many_classes else [score, mean]
            for rule in self.ensemble if self.contributions else ():
                columns.append(rule.contribution(block).reshape(len(X), self.n_scores)[:, list(rule.classes_with_weight)])
        return np.where(self.scorable(X)[:, None], np.column_stack(columns), np.nan)

    def codes(self, labels: Iterable[Any]) -> NDArray[np.float64]:
        """Return the numbers of classes, given their labels as an engine gives them: NaN for none, -1 for a wrong one."""
        known = {label: float(code) for code, label in enumerate(self.labels)}
        kinds: Any = str if self.label_kind == "text" else (int, float, np.number)
        return np.array(
            [known.get(one, np.nan if one != one else -1.0) if isinstance(one, kinds) else np.nan for one in labels]
        )


def _largest_contribution(rule: Rule, output: int, largest_input: float) -> float:
    """Return the size of what a rule adds to a score at most; with a factor, that is at one end of what its column may have."""
    if rule.factor is None:
        return abs(rule.weights[output])
    ends = [min(max(end, rule.factor.lower), rule.factor.upper) for end in (-largest_input, largest_input)]
    return max(abs(rule.weights[output] * (end - rule.factor.origin)) for end in ends)


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
