"""Training data: which rows and columns of a table are used, what kind of target it has, and why."""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.counts import against_counts
from obliquerules.cli.data import check_decimals
from obliquerules.cli.speech import remark
from obliquerules.cli.understood import column_lines
from obliquerules.rows.cells import doubtful, has_numbers
from obliquerules.rows.files import DataFile
from obliquerules.rows.levels import Filled, as_labels, as_numbers, block_of, kind_of, number_in
from obliquerules.rows.training_columns import training_columns
from obliquerules.rules import Block, Labels, Model
from obliquerules.rules.columns import Column

# How pandas calls an index that had no name.
INDEX_NAME = re.compile(r"Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__")
# How identifiers are called.
ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|nr|no|index|key|code|number|row|rownames|case))|.*[a-z](ID|Id|Nr|No)")

CLASSIFICATION, REGRESSION, COUNTS = "classification", "regression", "counts"
TASKS = (CLASSIFICATION, REGRESSION, COUNTS)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data, with the reasons for each choice.

    Attributes
    ----------
    task, why : str
        The kind of target, and how it was inferred.
    left_out : dict of str to str
        The reason for each column that is no input.
    rows : KnownRows
        Which rows are learned from.
    X : Block
        The inputs, with what was understood of each.
    positive : object
        The class that scores are about, if the user named one.
    remarks : tuple of str
        What the user should know about some columns.
    """

    target: str
    task: str
    why: str
    left_out: Mapping[str, str]
    rows: KnownRows
    X: Block
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    positive: Any = None
    remarks: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Return the choices as sentences for the user."""
        left_out = self.rows.left_out()
        return [
            f"Target: {self.target}, {self.task} because {self.why}",
            *self._about(),
            f"Rows: {len(self.y)}" + (f" ({left_out})" if left_out else ""),
            f"Columns: {len(self.X.names)}",
            *column_lines(self.X),
            *(f"Left out: {name}, {reason}" for name, reason in self.left_out.items()),
            *(f"Note: {remark}" for remark in self.remarks),
        ]

    def _about(self) -> list[str]:
        """Say which class scores are about."""
        if self.task != CLASSIFICATION:
            return []
        positive = Labels.of(self.y).word() if self.positive is None else Labels.of(self.y).about(self.positive).word()
        return [f"Scores: log-odds of {positive}" + (" (--positive names the other class)" if self.positive is None else "")]


def add_training(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Let a command take a target from a table."""
    parser.add_argument("--target", required=required, metavar="NAME", help="the column to predict")
    parser.add_argument("--weight", metavar="NAME", help="a column of weights: a row of weight 2 counts like two rows")
    parser.add_argument(
        "--drop-rows", action="store_true", help="leave out rows with missing values (default: learn from them)"
    )


def roles(options: argparse.Namespace) -> list[str]:
    """Return the names of the target and of the weights."""
    return [options.target] if options.weight is None else [options.target, options.weight]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows that something can be learned from, or measured on.

    Attributes
    ----------
    mask : array of bool
        Whether each row is one.
    without_target, incomplete : int
        The number of rows that are none because the target is missing, or because another value is.
    target : str
        The name of the target.
    """

    mask: NDArray[np.bool_]
    without_target: int
    incomplete: int
    target: str

    def left_out(self) -> str:
        """Say which rows were left out; an empty text if none were."""
        parts = []
        if self.without_target:
            parts.append(f"{self.without_target} without a value of '{self.target}'")
        if self.incomplete:
            parts.append(f"{self.incomplete} with {'other ' if parts else ''}missing values")
        return f"{' and '.join(parts)} left out" if parts else ""


def known_rows(data: DataFile, names: Sequence[str], options: argparse.Namespace) -> KnownRows:
    """Return the rows whose target is known and, if the user asks for it, that miss none of the named columns."""
    known = ~np.isnan(data.column(options.target)[1])
    if not known.any():
        raise ValueError(f"The target '{options.target}' has nothing but missing values.")
    others = [*names, *roles(options)[1:]]
    complete = ~np.isnan(data.choose(others).matrix).any(axis=1) if others and options.drop_rows else np.ones_like(known)
    if not (known & complete).any():
        raise ValueError(f"{data.source} has no row without missing values.")
    return KnownRows(known & complete, int(np.count_nonzero(~known)), int(np.count_nonzero(known & ~complete)), options.target)


def measured_rows(data: DataFile, names: Sequence[str], options: argparse.Namespace) -> NDArray[np.bool_]:
    """Return the same as a mask for a command that does not learn, and say which rows are left out."""
    rows = known_rows(data, names, options)
    if rows.left_out() and not getattr(options, "quiet", False):
        remark(f"of {len(rows.mask)} rows, {rows.left_out()}")
    return rows.mask


def weights(data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[np.float64] | None:
    """Return the weights of the rows, if there are any."""
    if options.weight is None:
        return None
    found = _numbers(data, options.weight, "weight")[rows]
    if np.isnan(found).any():
        raise ValueError(
            f"The weight '{options.weight}' is missing in {np.count_nonzero(np.isnan(found))} rows. Fill it in, or leave out "
            "such rows with --drop-rows."
        )
    return found


def target_values(model: Model, data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[Any]:
    """Return the targets of the rows, of the kind that a model was fitted to."""
    if model.labels is None:
        return _numbers(data, options.target, "target")[rows]
    column, values = data.column(options.target)
    return as_labels(column, values[rows])


def _numbers(data: DataFile, name: str, role: str) -> NDArray[np.float64]:
    check_decimals(data, [name])
    column, values = data.column(name)
    numbers = as_numbers(column, values) if column.kind == "number" else None
    if numbers is None:
        held = (None if data.typed else doubtful(column, values, data.conventions)) or kind_of(column, values)
        raise ValueError(f"The {role} '{name}' must hold numbers; it holds {held}.")
    return numbers


def training_data(data: DataFile, options: argparse.Namespace) -> TrainingData:
    """Choose what to learn from."""
    for name in (*roles(options), *options.drop, *options.categorical):
        data.check_name(name)
    for option in ("drop", "categorical"):
        if options.target in getattr(options, option):
            raise ValueError(f"--{option} must not name the target, '{options.target}'.")
    names, left_out = _inputs(data, roles(options), frozenset(options.drop))
    check_decimals(data, roles(options))
    rows = known_rows(data, names, options)
    X, useless = _learnable(data.choose(names).rows(rows.mask))
    left_out |= useless
    if not X.names:
        raise ValueError(f"{data.source} has no column left to learn from: {_reasons(left_out)}.")
    task, why, y = _target(data, rows.mask, options)
    return TrainingData(
        options.target,
        task,
        why,
        left_out,
        rows,
        X,
        y,
        weights(data, rows.mask, options),
        _positive(options.positive, task, y),
        _remarks(data, X),
    )


def _learnable(block: Block) -> tuple[Block, dict[str, str]]:
    """Return the columns that something can be learned from, with what is known of them, and why the others are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a column is like an identifier is said below
        known = training_columns(block)
    useless = {
        name: reason
        for place, name in enumerate(known.names)
        if (reason := _useless(known.column(place), block.matrix[:, place])) is not None
    }
    kept = [place for place, name in enumerate(known.names) if name not in useless]
    return block_of([(known.column(place), known.matrix[:, place]) for place in kept]), useless


def _useless(column: Column, values: NDArray[np.float64]) -> str | None:
    """Say why nothing can be learned from a column; None if something can."""
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return "because it has nothing but missing values"
    if (values == values[0]).all():
        return "because it is the same in every row"
    if column.levels is None or column.is_truth or (column.levels and not isinstance(column.levels[0], str)):
        return None
    all_differ = len(np.unique(present)) == len(present) > 1
    if column.levels == () or all_differ:
        return f"because it is text that differs in {'' if all_differ else 'nearly '}every row, like an identifier"
    return None


def _positive(text: str | None, task: str, y: NDArray[Any]) -> Any:
    """Return the class that the user wrote."""
    if text is None:
        return None
    if task != CLASSIFICATION:
        raise ValueError(f"--positive cannot be used: the task is {task}, which has no classes.")
    classes = Labels.of(y).values
    # As the table has them: text must be the same, but 1 and 1.0 are one number, and true and TRUE one boolean.
    found = [one for one in classes if text == str(one)] + [
        one for one in classes if not isinstance(one, str) and (text.lower() == str(one).lower() or number_in(text) == one)
    ]
    if not found:
        raise ValueError(f"--positive must be one of the classes, {' and '.join(map(repr, classes))}; got {text!r}.")
    return found[0]


def _remarks(data: DataFile, X: Block) -> tuple[str, ...]:
    """Return what the user should know about columns that are learned from, or that had no name."""
    index = ["the first column has no name, like the index that pandas writes, and is left out"] if data.has_index else []
    numbers = [(column, values) for column, values in _filled(X) if column.levels is None and column.kind == "number"]
    alike = [column.name for column, values in numbers if _like_identifiers(column.name, values[~np.isnan(values)])]
    mixed = [
        column.name
        for column, _ in _filled(X)
        if not data.typed and column.name not in data.conventions.levels and has_numbers(column, data.conventions)
    ]
    return (
        *index,
        *(f"{name} holds text and numbers, and is taken for text" for name in mixed),
        *(
            f"{name} is a different whole number in every row, like an identifier (to leave it out: --drop {shlex.quote(name)})"
            for name in alike
        ),
    )


def _filled(block: Block) -> Iterator[Filled]:
    """Yield the columns of a block with their values."""
    return ((block.column(place), values) for place, values in enumerate(block.matrix.T))


def _like_identifiers(name: str, values: NDArray[np.float64]) -> bool:
    """Say whether numbers are whole, all different, and either called like identifiers or without a gap."""
    if len(values) < 3:
        return False
    gaps = np.ptp(values) - (len(values) - 1)
    # Too close together, they cannot all be different; this saves most columns the sorting.
    if gaps < 0.0 or not (values == np.rint(values)).all() or len(np.unique(values)) < len(values):
        return False
    return bool(gaps == 0.0) or ID_NAME.fullmatch(name) is not None


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"'{name}' is left out {reason}" for name, reason in left_out.items()) or "there is none but the target"


def _inputs(data: DataFile, taken: Collection[str], dropped: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Return the columns that may be learned from, and the reason for each of the others."""
    names, left_out = [], {}
    for name in data.names:
        if name in taken:
            continue
        reason = "as asked for" if name in dropped else _unusable(data, name)
        if reason is None:
            names.append(name)
        else:
            left_out[name] = reason
    return names, left_out


def _unusable(data: DataFile, name: str) -> str | None:
    """Say why nothing can be learned from a column; None if something can."""
    if name in data.unread:
        return f"because it holds {data.unread[name]}; write it as numbers to use it"
    if INDEX_NAME.fullmatch(name):
        return "because it is called like an index that pandas wrote"
    column, values = data.column(name)
    if column.levels is None or data.typed or name in data.conventions.levels or as_numbers(column, values) is not None:
        return None
    check_decimals(data, [name])
    doubt, kind = doubtful(column, values, data.conventions), kind_of(column, values)
    held = doubt or kind
    if doubt is not None or kind.startswith("numbers with"):
        raise ValueError(f"Column '{name}' holds {held}. {_ways_out(name, 'text' in held)}")
    return None


def _ways_out(name: str, has_text: bool) -> str:
    """Say what can be done about a column of numbers, or dates, that also has something else."""
    missing = "say that the text stands for a missing value (--missing-values), " if has_text else ""
    quoted = shlex.quote(name)
    return f"Correct it, {missing}take it for levels (--categorical {quoted}), or leave it out (--drop {quoted})."


def _check_no_dates(column: Column) -> None:
    if column.kind not in ("number", "flag"):
        raise ValueError(f"The target '{column.name}' holds {column.kind}s, which cannot be predicted.")


def _target(data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> tuple[str, str, NDArray[Any]]:
    """Return the task, the reason for it, and the targets."""
    column, values = data.column(options.target)
    _check_no_dates(column)
    labels = as_labels(column, values[rows])
    distinct = sorted(set(labels.tolist()))
    if len(distinct) == 1:
        raise ValueError(f"The target '{column.name}' has one value only, {distinct[0]!r}: there is nothing to predict.")
    inferred, why = _inferred(column, values, rows, distinct)
    asked_for = _asked_for(options)
    task, why = (inferred, why) if asked_for is None else (asked_for, "you said so")
    if task != CLASSIFICATION:
        return task, why, _numbers(data, options.target, "target")[rows]
    if len(distinct) > 2:
        shown = ", ".join(map(repr, distinct[:5])) + (", ..." if len(distinct) > 5 else "")
        raise ValueError(
            f"The target '{column.name}' has {len(distinct)} classes ({shown}), but a model can tell only 2 apart."
        )
    return task, why, labels


def _asked_for(options: argparse.Namespace) -> str | None:
    """Return the task that the user named, or whose loss the user named; None if there is none."""
    if options.loss is None:
        return None if options.task is None else str(options.task)
    task = COUNTS if options.loss == "poisson" else REGRESSION
    if options.task not in (None, REGRESSION, task):
        raise ValueError(f"--loss {options.loss} cannot be used with --task {options.task}.")
    return options.task or task


def _inferred(column: Column, values: NDArray[Any], rows: NDArray[np.bool_], distinct: Sequence[Any]) -> tuple[str, str]:
    if len(distinct) == 2:
        return CLASSIFICATION, f"it has two different values, {distinct[0]!r} and {distinct[1]!r}"
    if (numbers := as_numbers(column, values)) is None:
        return CLASSIFICATION, f"it holds {kind_of(column, values)}"
    return _numeric(numbers[rows], len(distinct))


def _numeric(values: NDArray[np.float64], n_distinct: int) -> tuple[str, str]:
    """Return the task for a target of numbers, and the reason for it."""
    if (doubt := against_counts(values)) is None:
        low, high = int(values.min()), int(values.max())
        return COUNTS, f"it holds whole numbers from {low} to {high}, spread like counts (--task regression if they are none)"
    found = f"it holds numbers with {n_distinct} different values"
    return REGRESSION, f"{found}; they {doubt} (--task counts if they are)" if doubt else found
