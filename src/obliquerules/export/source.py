"""Source: a model as exports need it, with the columns that it reads, its outputs and the limits of its inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.export.table_values import TEMPORAL, held_values, python_values
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Block, Column, Model
from obliquerules.rules.rule_parts import Proposition
from obliquerules.rules.text.style import column_names

# The column that numbers the rows of a table or frame during verification.
POSITION = "obliquerules_position"
# What a column of the user's table can hold, as far as an export must know it.
NUMBERS = ("integer", "decimal", "double")
KINDS = ("boolean", *NUMBERS, "text", *TEMPORAL)
LARGEST = float(np.finfo(np.float64).max)
LARGEST_INPUT = 1e300
# What the labels of classes can be, as far as other languages have the same.
LABEL_KINDS = {str: "text", int: "integer", float: "double"}


class Source:
    """A model to be exported.

    Rows consist of the columns of X, followed by the exposure or offset if the model has one. No condition uses that column,
    and its values cannot be missing.

    Parameters
    ----------
    model : Model
        Its ensemble is exported, with the link of its loss.
    contributions : bool, default=False
        Whether the contribution of each rule is an output, besides the scores and the prediction.
    types : mapping from str to str, optional
        What each column of the user's table holds, where known: one of `KINDS` by column name.

    Attributes
    ----------
    columns : tuple of Column
        All columns of rows.
    names : tuple of str
    kinds : tuple of str or None
        What each column of the user's table holds: one of `KINDS`, or None for some kind of number.
    used : tuple of int
        The positions of the columns that are read: those of rules in ascending order, then the exposure or offset.
    offsets : tuple of int
        The position of the exposure or offset, or those of the offsets of many classes; empty without one.
    parts : tuple of pairs of int
        What rules add to scores: the number of each rule with each score that it changes.
    factors : tuple of pairs of float and Factor
        The factors of rules, with the weights that they multiply.
    summed : tuple of int
        The positions of the numbers in sums and factors.
    task : {"score", "classes"}
        Whether there is one score with its prediction, or a score for each of many classes.
    labels : tuple
        The labels of many classes; empty for one score.
    class_position : int or None
        The position of the class among the outputs; None for one score.
    link_position : int
        The position of the prediction or of the probability among the outputs.
    largest_input, largest_offset : float
        The largest absolute values that inputs and the exposure or offset can have.
    largest_score : float
        A bound on the absolute values of scores.
    """

    def __init__(self, model: Model, contributions: bool = False, types: Mapping[str, str] | None = None) -> None:
        self.model, self.contributions, self.types = model, contributions, dict(types or {})
        for name, kind in self.types.items():
            if kind not in KINDS:
                raise ValueError(f"The type of column {name!r} must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
        self.ensemble = ensemble = model.ensemble
        self.link = model.loss.link_name
        self.n_scores = len(ensemble.intercepts)
        self.parts = tuple((index, output) for index, rule in enumerate(ensemble) for output in rule.classes_with_weight)
        tests = [test for rule in ensemble for test in rule.condition]
        self.propositions = tuple(test for test in tests if isinstance(test, Proposition))
        rules = ensemble.rules
        weighed = ((rules[index].weights[output], rules[index].factor) for index, output in self.parts)
        self.factors = tuple((weight, factor) for weight, factor in weighed if factor is not None)
        self._read_columns()
        self._read_outputs()
        self._find_limits()

    def _read_columns(self) -> None:
        """Set what is known about columns."""
        ensemble, offset = self.ensemble, self.model.offset
        read = ensemble.used_columns
        unnamed = [Column(name) for name in column_names(range(max(read, default=-1) + 1), None)]
        known = unnamed if ensemble.columns is None else ensemble.columns
        self.n_features = len(known)
        self.columns = (*known, *map(Column, () if offset is None else offset.names))
        self.n_columns = len(self.columns)
        self.names = tuple(column.name for column in self.columns)
        self.has_exposure = offset is not None and offset.kind == "exposure"
        self.offsets = tuple(range(self.n_features, self.n_columns))
        self.used = (*read, *self.offsets)
        self.used_names = tuple(self.names[index] for index in self.used)
        self.with_levels = tuple(index for index, column in enumerate(self.columns) if column.levels is not None)
        in_sums = {term for one in self.propositions for term in one.columns if isinstance(term, int)}
        self.summed = tuple(sorted(in_sums | {factor.column for _, factor in self.factors}))
        self.kinds = tuple(_kind(column, self.types.get(column.name)) for column in self.columns)

    def _read_outputs(self) -> None:
        """Set what is known about outputs; raise if labels cannot be exported."""
        classes, labels = self.ensemble.outputs, self.model.labels
        self.task, self.label_kind = "score", ""
        self.labels: tuple[Any, ...] = ()
        names = ["score", "prediction", *(f"rule_{index}" for index, _ in self.parts)]
        if classes is not None:
            self.task, self.labels = "classes", classes if labels is None else labels.values
            kinds = {type(label) for label in self.labels}
            if len(kinds) > 1 or not kinds <= set(LABEL_KINDS):
                raise ValueError(f"Classes can be exported if all are text, whole numbers or numbers; got {list(self.labels)}.")
            self.label_kind = LABEL_KINDS[kinds.pop()]
            names = [*(f"score_{name}" for name in classes), "class", "probability"]
            names += [f"rule_{index}_{classes[output]}" for index, output in self.parts]
        self.class_position = self.n_scores if self.labels else None
        self.link_position = len(names) - len(self.parts) - 1
        self._output_names = tuple(names if self.contributions else names[: self.link_position + 1])

    def _find_limits(self) -> None:
        """Set limits within which no sum or prediction overflows; raise if weights are too large for any."""
        sizes = [LARGEST / (2.0 * len(one.columns)) / max(1.0, *map(abs, one.weights)) for one in self.propositions]
        sizes += [LARGEST / (2.0 * len(self.factors)) / max(1.0, abs(weight)) for weight, _ in self.factors]
        self.largest_input = limit = min([LARGEST_INPUT, *map(_power_of_ten_below, sizes)])
        bounds, rules = [abs(constant) for constant in self.ensemble.intercepts], self.ensemble.rules
        for index, output in self.parts:
            weight, factor = rules[index].weights[output], rules[index].factor
            if factor is None:
                bounds[output] += abs(weight)
            else:
                ends = [min(max(end, factor.lower), factor.upper) for end in (-limit, limit)]
                bounds[output] += max(abs(weight * (end - factor.origin)) for end in ends)
        self.largest_score = max(bounds) + (LARGEST_INPUT if self.offsets and not self.has_exposure else 0.0)
        # With many classes, scores are subtracted from each other.
        if not math.isfinite(2.0 * self.largest_score if self.labels else self.largest_score):
            what = "products of weights and factors" if self.factors else "weights"
            raise ValueError(f"The ensemble has {what} whose sum is too large for a number, so that it cannot be exported.")
        self.largest_offset = limit
        if self.has_exposure:
            most = math.exp(min(self.largest_score, LARGEST_EXPONENT))
            self.largest_offset = min(limit, _power_of_ten_below(LARGEST / most))

    def with_contributions(self) -> Source:
        """Return the source with contributions."""
        return self if self.contributions else Source(self.model, True, self.types)

    # ---- names ----

    def output_names(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of the outputs: score, prediction, and rule_0, rule_1, ... if contributions are wanted.

        With many classes they are the score of each, such as score_red, the class, its probability and, if contributions are
        wanted, what each rule adds to the scores of classes, such as rule_0_red.
        """
        return tuple(f"{prefix}{name}" for name in self._output_names)

    def check_outputs(self, prefix: str, *, ignore_case: bool) -> None:
        """Raise if an output has the name of any column, as the table may have unused columns as well.

        The same goes for two outputs of classes whose names differ only in case.
        """
        outputs: dict[str, str] = {}
        for name in self.output_names(prefix):
            other = outputs.setdefault(name.casefold() if ignore_case else name, name)
            if other != name:
                raise ValueError(f"The outputs {other!r} and {name!r} have the same name, whatever the case: rename a class.")
        for name in self.names:
            if (name.casefold() if ignore_case else name) in outputs:
                raise ValueError(f"The column {name!r} is called like an output of the export; give outputs another prefix.")

    def check_distinct(self, names: Sequence[str], *, ignore_case: bool = False) -> None:
        """Raise if a column that is read shares its name with another of these columns."""
        alike: dict[str, list[str]] = {}
        for name in names:
            alike.setdefault(name.casefold() if ignore_case else name, []).append(name)
        for name in self.used_names:
            if len(same := alike[name.casefold() if ignore_case else name]) > 1:
                raise ValueError(
                    f"The columns {same[0]!r} and {same[1]!r} have the same name; the export could not tell them apart."
                )

    def layout(self, *, ignore_case: bool = False) -> tuple[int, ...]:
        """Return the columns that a table or frame can have: all except unused columns with the name of another column."""
        first: dict[str, int] = {}
        for column in (*self.used, *range(self.n_columns)):
            first.setdefault(self.names[column].casefold() if ignore_case else self.names[column], column)
        return tuple(sorted(first.values()))

    def free_prefix(self, prefix: str) -> str:
        """Return the prefix, extended if necessary so that no output has the name of a column, whatever the case."""
        taken = set(map(str.casefold, self.names))
        while not taken.isdisjoint(map(str.casefold, self.output_names(prefix))):
            prefix += "_"
        return prefix

    def position_name(self, outputs: Sequence[str]) -> str:
        """Return a name for the column of row numbers that differs from all columns of the model and all outputs."""
        taken, name = set(map(str.casefold, [*self.names, *outputs])), POSITION
        while name in taken:
            name += "_"
        return name

    # ---- rows ----

    def block(self, X: Matrix) -> Block:
        """Return rows, with the codes of levels, as a block of the columns of X."""
        return Block.of_matrix(X[:, : self.n_features], self.ensemble.columns)

    def scorable(self, X: Matrix) -> NDArray[np.bool_]:
        """Return which rows can be scored.

        No number in a sum or a factor is larger than `largest_input`, and the exposure is a positive number, or the offset a
        number, up to `largest_offset`.
        """
        within = np.asarray(~(np.abs(X[:, list(self.summed)]) > self.largest_input).any(axis=1))
        offsets = X[:, list(self.offsets)]
        usable = (np.abs(offsets) <= self.largest_offset) & ((offsets > 0.0) | (not self.has_exposure))
        return np.asarray(within & usable.all(axis=1))

    def offset_values(self, X: Matrix) -> Matrix | None:
        """Return the exposure or offset as `Model` takes it; 1 or 0 in rows that cannot be scored."""
        if not self.offsets:
            return None
        values = np.where(self.scorable(X)[:, None], X[:, list(self.offsets)], 1.0 if self.has_exposure else 0.0)
        return values if self.labels else values[:, 0]

    def possible(self, X: Matrix) -> Matrix:
        """Return rows in which a boolean that is neither true nor false is missing."""
        both = [index for index in self.used if self.columns[index].is_truth and len(self.columns[index].levels or ()) == 2]
        if both:
            X = X.copy()
            X[:, both] = np.where(X[:, both] < 0.0, np.nan, X[:, both])
        return X

    def held(self, X: Matrix) -> Matrix:
        """Return rows with each value as its column in the table of the user can hold it."""
        held = [held_values(*column, X[:, index]) for index, column in enumerate(zip(self.columns, self.kinds, strict=True))]
        return np.column_stack(held) if held else X

    def values(self, index: int, X: Matrix) -> list[Any]:
        """Return a column of such rows as values of Python."""
        return python_values(self.columns[index], self.kinds[index], X[:, index])

    def outputs(self, X: Matrix) -> Matrix:
        """Return the outputs of the model in the order of `output_names`, NaN for rows that cannot be scored.

        In place of a class there is its number.
        """
        block, offset = self.block(X), self.offset_values(X)
        # Rows that cannot be scored may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            score = self.model.scores(block, offset)
            mean = self.model.means(score, offset)
            columns = [score, score.argmax(axis=1), mean.max(axis=1)] if self.labels else [score, mean]
            for rule in self.ensemble if self.contributions else ():
                columns.append(rule.contribution(block).reshape(len(X), self.n_scores)[:, list(rule.classes_with_weight)])
        return np.where(self.scorable(X)[:, None], np.column_stack(columns), np.nan)

    def with_codes(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Return outputs as an engine gives them, with the number of each class in place of its label."""
        if (place := self.class_position) is None:
            return rows
        codes = self.codes(row[place] for row in rows)
        return [(*row[:place], code, *row[place + 1 :]) for row, code in zip(rows, codes, strict=True)]

    def codes(self, labels: Iterable[Any]) -> Matrix:
        """Return the numbers of classes, given their labels as an engine gives them: NaN for none, -1 for a wrong one."""
        known = {label: float(code) for code, label in enumerate(self.labels)}
        kinds: Any = str if self.label_kind == "text" else (int, float, np.number)
        return np.array(
            [known.get(one, np.nan if one != one else -1.0) if isinstance(one, kinds) else np.nan for one in labels]
        )


def _kind(column: Column, found: str | None) -> str | None:
    """Return what a column of the user's table holds, given the type found there."""
    if column.is_truth:
        return found if found in NUMBERS else "boolean"
    if column.levels is not None:
        return "integer" if column.levels and isinstance(column.levels[0], int) else "text"
    if column.kind not in TEMPORAL:
        return found if found in ("boolean", *NUMBERS) else None
    as_they_are = ("duration",) if column.kind == "duration" else ("date", "time")
    return found if found in (*NUMBERS, *as_they_are) else column.kind


def _power_of_ten_below(size: float) -> float:
    """Return the largest power of ten that is not above a positive number.

    >>> _power_of_ten_below(4.5e305), _power_of_ten_below(0.17)
    (1e+305, 0.1)
    """
    return float(f"1e{math.floor(math.log10(size))}")
