"""Training data: which rows and columns of a table are used, what kind of target it has, and why."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.counts import against_counts
from obliquerules.cli.data import check_decimals
from obliquerules.rows.files import DataFile
from obliquerules.rows.levels import as_labels, as_numbers, block_of, kind_of, number_in, numbers_only
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
    rows_left_out : int
        The number of rows with missing values.
    X : Block
        The inputs, as numbers.
    positive : object
        The class that scores are about, if the user named one.
    remarks : tuple of str
        What the user should know about some columns.
    """

    target: str
    task: str
    why: str
    left_out: Mapping[str, str]
    rows_left_out: int
    X: Block
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    positive: Any = None
    remarks: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Return the choices as sentences for the user."""
        names = ", ".join(self.X.names[:10]) + (", ..." if len(self.X.names) > 10 else "")
        rows = f"Rows: {len(self.y)}" + (f" ({self.rows_left_out} with missing values left out)" if self.rows_left_out else "")
        return [
            f"Target: {self.target}, {self.task} because {self.why}",
            *self._about(),
            rows,
            f"Columns: {len(self.X.names)} ({names})",
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
    parser.add_argument("--drop-rows", action="store_true", help="leave out rows with missing values")


def roles(options: argparse.Namespace) -> list[str]:
    """Return the names of the target and of the weights."""
    return [options.target] if options.weight is None else [options.target, options.weight]


def weights(data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[np.float64] | None:
    """Return the weights of the rows, if there are any."""
    return None if options.weight is None else _numbers(data, options.weight, "weight")[rows]


def target_values(model: Model, data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[Any]:
    """Return the targets of the rows, of the kind that a model was fitted to."""
    if model.labels is None:
        return _numbers(data, options.target, "target")[rows]
    column, values = data.column(options.target)
    return as_labels(column, values[rows])


def _numbers(data: DataFile, name: str, role: str) -> NDArray[np.float64]:
    check_decimals(data, [name])
    column, values = data.column(name)
    numbers = as_numbers(column, values)
    if numbers is None:
        raise ValueError(f"The {role} '{name}' must hold numbers; it holds {kind_of(column, values)}.")
    return numbers


def training_data(data: DataFile, options: argparse.Namespace) -> TrainingData:
    """Choose what to learn from."""
    for name in (*roles(options), *options.drop):
        data.check_name(name)
    if options.target in options.drop:
        raise ValueError(f"--drop must not name the target, '{options.target}'.")
    names, left_out = _inputs(data, roles(options), frozenset(options.drop))
    check_decimals(data, roles(options))
    rows = complete_rows(data, [*names, *roles(options)], options.drop_rows)
    X = numbers_only(data.choose(names).rows(rows))
    constant = [name for name, values in zip(names, X.matrix.T, strict=True) if (values == values[0]).all()]
    left_out |= dict.fromkeys(constant, "because it is the same in every row")
    if len(constant) == len(names):
        raise ValueError(f"{data.source} has no column left to learn from: {_reasons(left_out)}.")
    task, why, y = _target(data, rows, options)
    inputs = _without(X, frozenset(constant))
    return TrainingData(
        options.target,
        task,
        why,
        left_out,
        int(np.count_nonzero(~rows)),
        inputs,
        y,
        weights(data, rows, options),
        _positive(options.positive, task, y),
        _remarks(data, inputs),
    )


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
    alike = [name for name, values in zip(X.names, X.matrix.T, strict=True) if _like_identifiers(name, values)]
    return (
        *index,
        *(
            f"{name} is a different whole number in every row, like an identifier (to leave it out: --drop {shlex.quote(name)})"
            for name in alike
        ),
    )


def _like_identifiers(name: str, values: NDArray[np.float64]) -> bool:
    """Say whether numbers are whole, all different, and either called like identifiers or without a gap."""
    gaps = np.ptp(values) - (len(values) - 1)
    # Too close together, they cannot all be different; this saves most columns the sorting.
    if len(values) < 3 or gaps < 0.0 or not (values == np.rint(values)).all() or len(np.unique(values)) < len(values):
        return False
    return bool(gaps == 0.0) or ID_NAME.fullmatch(name) is not None


def _without(block: Block, names: Collection[str]) -> Block:
    kept = [position for position, name in enumerate(block.names) if name not in names]
    return block_of([(block.column(position), block.matrix[:, position]) for position in kept])


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
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return "because it has nothing but missing values"
    if column.levels is None or as_numbers(column, values) is not None:
        return None
    check_decimals(data, [name])
    if (kind := kind_of(column, values)) != "text":
        raise ValueError(f"Column '{name}' holds {kind}. Correct the text, or leave it out: --drop.")
    if len(column.levels) == len(present) > 1:
        return "because it is text that differs in every row, like an identifier"
    different = "the same in every row" if len(column.levels) == 1 else f"with {len(column.levels)} different values"
    return f"because it is text, {different}; write it as numbers to use it"


def complete_rows(data: DataFile, names: Sequence[str], drop: bool) -> NDArray[np.bool_]:
    """Return which rows have no missing value; raise if some have, unless they are to be left out."""
    missing = np.isnan(data.choose(names).matrix)
    complete = ~np.asarray(missing.any(axis=1))
    if not complete.all() and not drop:
        counts = zip(names, missing.sum(axis=0).tolist(), strict=True)
        listed = ", ".join(f"'{name}' ({count})" for name, count in counts if count)
        raise ValueError(
            f"{data.source} has missing values in {listed}. Fill them in, or leave out such rows with --drop-rows or, in fit, "
            "such columns with --drop."
        )
    if not complete.any():
        raise ValueError(f"{data.source} has no row without missing values.")
    return complete


def _target(data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> tuple[str, str, NDArray[Any]]:
    """Return the task, the reason for it, and the targets."""
    column, values = data.column(options.target)
    labels = as_labels(column, values[rows])
    distinct = sorted(set(labels.tolist()))
    if len(distinct) == 1:
        raise ValueError(f"The target '{column.name}' has one value only, {distinct[0]!r}: there is nothing to predict.")
    inferred, why = _inferred(column, values, rows, distinct)
    task, why = (inferred, why) if options.task is None else (options.task, "you said so")
    if task != CLASSIFICATION:
        return task, why, _numbers(data, options.target, "target")[rows]
    if len(distinct) > 2:
        shown = ", ".join(map(repr, distinct[:5])) + (", ..." if len(distinct) > 5 else "")
        raise ValueError(
            f"The target '{column.name}' has {len(distinct)} classes ({shown}), but a model can tell only 2 apart."
        )
    return task, why, labels


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
