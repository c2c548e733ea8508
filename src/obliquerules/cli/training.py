"""Training data: which rows and columns of a table are learned from, what kind of target it is, and why."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.table import Column, Table

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel

CLASSIFICATION, REGRESSION, COUNTS = "classification", "regression", "counts"
TASKS = (CLASSIFICATION, REGRESSION, COUNTS)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What is learned from, with the reasons for it.

    Attributes
    ----------
    task, why : str
        The kind of target, and what it was taken from.
    columns : tuple of str
        The columns that are inputs.
    left_out : dict of str to str
        The reason for each column that is not.
    rows_left_out : int
        The number of rows with missing values.
    """

    target: str
    task: str
    why: str
    columns: tuple[str, ...]
    left_out: Mapping[str, str]
    rows_left_out: int
    X: NDArray[np.float64]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None

    def sentences(self) -> list[str]:
        """Say it to the user."""
        names = ", ".join(self.columns[:10]) + (", ..." if len(self.columns) > 10 else "")
        rows = f"Rows: {len(self.y)}" + (f" ({self.rows_left_out} with missing values left out)" if self.rows_left_out else "")
        return [
            f"Target: {self.target}, {self.task} because {self.why}",
            rows,
            f"Columns: {len(self.columns)} ({names})",
            *(f"Left out: {name}, {reason}" for name, reason in self.left_out.items()),
        ]


def add_training(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Let a command take a target from a table."""
    parser.add_argument("--target", required=required, metavar="NAME", help="the column to predict")
    parser.add_argument("--weight", metavar="NAME", help="a column of weights: a row of weight 2 counts like two rows")
    parser.add_argument("--drop-rows", action="store_true", help="leave out rows with missing values")


def roles(options: argparse.Namespace) -> list[str]:
    """Return the columns that are no inputs."""
    return [options.target] if options.weight is None else [options.target, options.weight]


def weights(table: Table, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[np.float64] | None:
    """Return the weights of the rows, if there are any."""
    return None if options.weight is None else table[options.weight].as_numbers("The weight")[rows]


def coded_target(model: RuleModel, table: Table, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[Any]:
    """Return the targets of the rows, of the kind that a model was fitted to."""
    target = table[options.target]
    return target.labels(rows) if hasattr(model, "classes_") else target.as_numbers("The target")[rows]


def training_data(table: Table, options: argparse.Namespace) -> TrainingData:
    """Choose what to learn from."""
    for name in (*roles(options), *options.drop_columns):
        table[name]  # raises, with the names that there are
    if options.target in options.drop_columns:
        raise ValueError(f"--drop-columns must not name the target, '{options.target}'.")
    inputs, left_out = _inputs(table, roles(options), frozenset(options.drop_columns))
    rows = complete_rows(table, [*inputs, *roles(options)], options.drop_rows)
    X = table.matrix(inputs)[rows]
    constant = (X[0] == X).all(axis=0)
    left_out |= {name: "because it is the same in every row" for name, same in zip(inputs, constant, strict=True) if same}
    inputs = [name for name in inputs if name not in left_out]
    if not inputs:
        raise ValueError(f"{table.source} has no column left to learn from: {_reasons(left_out)}.")
    task, why, y = _target(table[options.target], rows, options.task)
    return TrainingData(
        options.target,
        task,
        why,
        tuple(inputs),
        left_out,
        int(np.count_nonzero(~rows)),
        X[:, ~constant],
        y,
        weights(table, rows, options),
    )


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"'{name}' is left out {reason}" for name, reason in left_out.items()) or "there is none but the target"


def _inputs(table: Table, taken: Collection[str], dropped: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Return the columns that may be learned from, and the reason for each of the others."""
    inputs, left_out = [], {}
    for column in table.columns:
        if column.name in taken:
            continue
        reason = "as asked for" if column.name in dropped else _unusable(column)
        if reason is None:
            inputs.append(column.name)
        else:
            left_out[column.name] = reason
    return inputs, left_out


def _unusable(column: Column) -> str | None:
    """Say why nothing can be learned from a column; None if something can."""
    if column.missing.all():
        return "because it has nothing but missing values"
    if column.numbers is not None:
        return None
    if column.texts is None:
        return f"because it holds {column.what}; write it as numbers to use it"
    if column.what != "text":
        raise ValueError(f"Column '{column.name}' holds {column.what}. Correct the text, or leave it out: --drop-columns.")
    values = column.texts[~column.missing].tolist()
    if len(set(values)) == len(values) > 1:
        return "because it is text that differs in every row, like an identifier"
    different = "the same in every row" if len(set(values)) == 1 else f"with {len(set(values))} different values"
    return f"because it is text, {different}; write it as numbers to use it"


def complete_rows(table: Table, names: Sequence[str], drop: bool) -> NDArray[np.bool_]:
    """Return which rows have no missing value; raise if some have, unless they are to be left out."""
    missing = np.column_stack([table[name].missing for name in names])
    complete = ~np.asarray(missing.any(axis=1))
    if not complete.all() and not drop:
        counts = {name: int(count) for name, count in zip(names, missing.sum(axis=0), strict=True) if count}
        told = ", ".join(f"'{name}' ({count})" for name, count in counts.items())
        raise ValueError(
            f"{table.source} has missing values in {told}. Fill them in, or leave out such rows with --drop-rows or, in fit, "
            "such columns with --drop-columns."
        )
    if not complete.any():
        raise ValueError(f"{table.source} has no row without missing values.")
    return complete


def _target(column: Column, rows: NDArray[np.bool_], task: str | None) -> tuple[str, str, NDArray[Any]]:
    """Return the task, the reason for it, and the targets."""
    labels = column.labels(rows)
    distinct = sorted(set(labels.tolist()))
    if len(distinct) == 1:
        raise ValueError(f"The target '{column.name}' has one value only, {distinct[0]!r}: there is nothing to predict.")
    inferred, why = _inferred(column, distinct)
    task, why = (inferred, why) if task is None else (task, "you said so")
    if task != CLASSIFICATION:
        return task, why, column.as_numbers("The target")[rows]
    if len(distinct) > 2:
        shown = ", ".join(map(repr, distinct[:5])) + (", ..." if len(distinct) > 5 else "")
        raise ValueError(
            f"The target '{column.name}' has {len(distinct)} classes ({shown}), but a model can tell only 2 apart."
        )
    return task, why, labels


def _inferred(column: Column, distinct: Sequence[Any]) -> tuple[str, str]:
    if len(distinct) == 2:
        return CLASSIFICATION, f"it has two different values, {distinct[0]!r} and {distinct[1]!r}"
    if column.numbers is None:
        return CLASSIFICATION, f"it holds {column.what}"
    if isinstance(distinct[0], int) and distinct[0] == 0:
        return COUNTS, "it holds whole numbers from 0 upwards (--task regression if they count nothing)"
    return REGRESSION, f"it holds numbers with {len(distinct)} different values"
