"""Training data: which rows and columns of a table are used, and why."""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.cli.column_summary import column_lines, column_records
from obliquerules.cli.console import note
from obliquerules.cli.input_table import check_decimals, inputs
from obliquerules.cli.io.data_file import DataFile
from obliquerules.cli.io.text_columns import has_numbers
from obliquerules.cli.roles import (
    RoleColumns,
    all_names,
    check_roles,
    given_values,
    numbers,
    role_columns,
    weights,
)
from obliquerules.cli.target_column import TargetColumn, read_target
from obliquerules.data.levels import as_labels, as_numbers, block_of
from obliquerules.data.training_columns import training_columns
from obliquerules.rules import Block, Model
from obliquerules.rules.columns import Column

# How pandas calls an index that had no name.
INDEX_NAME = re.compile(r"Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__")
# How identifiers are called.
ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|nr|no|index|key|code|number|row|rownames|case))|.*[a-z](ID|Id|Nr|No)")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data, with the reasons for each choice.

    Attributes
    ----------
    X : Block or ParquetTable
    arguments : mapping of str to object
        The arguments of a fit.
    target, rows, roles
        The targets, the rows, and the columns of each role by the option that names them.
    left_out : mapping of str to str
        The reason for each column that is no input.
    remarks, lines, records
        Notes on some columns; what each input was taken for, for people and for programs.
    in_blocks : str
        Why the rows are read in blocks, if they are.
    """

    X: Any
    arguments: Mapping[str, Any]
    target: TargetColumn
    rows: KnownRows
    roles: Mapping[str, RoleColumns]
    left_out: Mapping[str, str]
    remarks: tuple[str, ...]
    lines: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    in_blocks: str = ""

    def sentences(self) -> list[str]:
        """Return the choices as sentences for the user."""
        left_out = self.rows.left_out()
        return [
            *([f"Read in blocks: {self.in_blocks}"] if self.in_blocks else []),
            *self.target.sentences(),
            f"Rows: {len(self.target.y)}" + (f" ({left_out})" if left_out else ""),
            f"Columns: {len(self.records)}",
            *self.lines,
            *(line for columns in self.roles.values() for line in columns.sentences(self.target.class_words)),
            *(f"Left out: {name}, {reason}" for name, reason in self.left_out.items()),
            *(f"Note: {remark}" for remark in self.remarks),
        ]


def add_training(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Let a command take a target from a table."""
    parser.add_argument("--target", required=required, metavar="NAME", help="the column to predict")
    parser.add_argument("--weight", metavar="NAME", help="a column of weights: a row of weight 2 counts like two rows")
    parser.add_argument(
        "--drop-rows", action="store_true", help="leave out rows with missing values (default: learn from them)"
    )


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows to learn from, or to measure on.

    Attributes
    ----------
    mask : array of bool
        Whether each row is one.
    without_target, incomplete, weightless : int
        The number of rows that are none because the target is missing, another value is, or the weight is zero.
    target : str
        The name of the target.
    """

    mask: Mask
    without_target: int
    incomplete: int
    target: str
    weightless: int = 0

    @classmethod
    def of(cls, known: Mask, complete: Mask, target: str, source: str) -> KnownRows:
        """Return the known and complete rows; raise without any."""
        if not known.any():
            raise ValueError(f"The target '{target}' has nothing but missing values.")
        if not (known & complete).any():
            raise ValueError(f"{source} has no row without missing values.")
        return cls(known & complete, int(np.count_nonzero(~known)), int(np.count_nonzero(known & ~complete)), target)

    def counted(self, data: DataFile, options: argparse.Namespace) -> KnownRows:
        """Return the rows that have weight.

        All of them if none has, so that the fit says so.
        """
        weight = weights(data, self.mask, options)
        if weight is None or not weight.any():
            return self
        mask = self.mask.copy()
        mask[self.mask] = weight > 0.0
        return replace(self, mask=mask, weightless=int(np.count_nonzero(weight == 0.0)))

    def left_out(self) -> str:
        """Say which rows were left out; an empty text if none were."""
        parts = []
        if self.without_target:
            parts.append(f"{self.without_target} without a value of '{self.target}'")
        if self.incomplete:
            parts.append(f"{self.incomplete} with {'other ' if parts else ''}missing values")
        if self.weightless:
            parts.append(f"{self.weightless} of weight 0")
        return f"{' and '.join(parts)} left out" if parts else ""


def known_rows(data: DataFile, names: Sequence[str], options: argparse.Namespace) -> KnownRows:
    """Return the rows with a target; with --drop-rows, complete ones."""
    known = ~np.isnan(data.column(options.target)[1])
    complete = np.ones_like(known)
    others = [*names, *all_names(options)]
    if others and options.drop_rows:
        complete &= ~np.isnan(data.choose(others).matrix).any(axis=1)
    return KnownRows.of(known, complete, options.target, data.source)


def measured_arguments(model: Model, data: DataFile, names: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Return the known rows as arguments of an estimator's method."""
    given = () if model.offset is None else model.offset.names
    known = known_rows(data, (*names, *given), options)
    if known.left_out() and not getattr(options, "quiet", False):
        note(f"of {len(known.mask)} rows, {known.left_out()}")
    rows = known.mask
    if model.labels is None:
        y = numbers(data, options.target, "target")[rows]
    else:
        column, values = data.column(options.target)
        y = as_labels(column, values[rows])
    found = {"X": inputs(model, data, rows, names), "y": y, "sample_weight": weights(data, rows, options)}
    if model.offset is not None:
        found[model.offset.kind] = given_values(model, data, rows, needed=True, droppable=True)
    return found


def training_data(data: DataFile, options: argparse.Namespace) -> TrainingData:
    """Choose what to learn from."""
    names, left_out = input_names(data, options)
    rows = known_rows(data, names, options).counted(data, options)
    weight = weights(data, rows.mask, options)
    block = data.choose(names).rows(rows.mask)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a column is like an identifier is said below
        known = training_columns(block, weight)
    reasons = [_useless(known.column(place), values, weight) for place, values in enumerate(block.matrix.T)]
    left_out |= {name: reason for name, reason in zip(known.names, reasons, strict=True) if reason is not None}
    X = block_of([(known.column(place), known.matrix[:, place]) for place, reason in enumerate(reasons) if reason is None])
    check_left(X.names, left_out, data.source)
    target, roles = target_and_roles(data, rows.mask, options)
    arguments = {"X": X, "y": target.y} | {option: columns for option, columns in roles.items() if option != "weight"}
    if "weight" in roles:
        arguments["sample_weight"] = roles["weight"].values
    lines, records = column_lines(X), column_records(X)
    return TrainingData(X, arguments, target, rows, roles, left_out, _remarks(data, X, weight), lines, records)


def input_names(data: DataFile, options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """Return the possible inputs, and why other columns are left out."""
    check_roles(data, options)
    for name in (*options.drop, *options.categorical):
        data.check_name(name)
    for option in ("drop", "categorical"):
        if options.target in getattr(options, option):
            raise ValueError(f"--{option} must not name the target, '{options.target}'.")
    check_decimals(data, [options.target])
    taken, dropped = {options.target, *all_names(options)}, frozenset(options.drop)
    reasons = {name: "as asked for" if name in dropped else _unusable(data, name) for name in data.names if name not in taken}
    names = [name for name, reason in reasons.items() if reason is None]
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    check_left(names, left_out, data.source)
    return names, left_out


def check_left(names: Collection[str], left_out: Mapping[str, str], source: str) -> None:
    """Raise if no column is left to learn from."""
    if not names and not left_out:
        raise ValueError(f"{source} has no column to learn from: the target, and columns with a role, are no inputs.")
    if not names:
        reasons = "; ".join(f"'{name}' is left out {reason}" for name, reason in left_out.items())
        raise ValueError(f"{source} has no column left to learn from: {reasons}.")


def target_and_roles(data: DataFile, rows: Mask, options: argparse.Namespace) -> tuple[TargetColumn, dict[str, RoleColumns]]:
    """Return the target and the roles; check the number of offsets."""
    target, roles = read_target(data, rows, options), role_columns(data, rows, options)
    offsets, wanted = roles.get("offset"), target.n_scores
    if offsets is not None and len(offsets.columns) != wanted:
        each = f"{wanted} columns, one for each class: {', '.join(target.class_words)}" if wanted > 1 else "one column"
        raise ValueError(f"--offset must name {each}; got {', '.join(map(repr, offsets.columns))}.")
    return target, roles


def _useless(column: Column, values: Vector, weight: Vector | None) -> str | None:
    """Say why nothing can be learned from a column; None if something can."""
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return "because it has nothing but missing values"
    if (values == values[0]).all():
        return "because it is the same in every row"
    if column.levels is None or column.is_truth or (column.levels and not isinstance(column.levels[0], str)):
        return None
    all_differ = _all_differ(values, weight) and len(present) > 1
    if column.levels == () or all_differ:
        return f"because it is text that differs in {'' if all_differ else 'nearly '}every row, like an identifier"
    return None


def _all_differ(values: Vector, weight: Vector | None) -> bool:
    """Return whether no value occurs twice; a row of weight 2 is there twice."""
    present = ~np.isnan(values)
    once = weight is None or bool((weight[present] <= 1.0).all())
    return once and len(np.unique(values[present])) == np.count_nonzero(present)


def _remarks(data: DataFile, X: Block, weight: Vector | None) -> tuple[str, ...]:
    """Return notes on inputs and on a column without a name."""
    found = ["the first column has no name, like the index that pandas writes, and is left out"] if data.has_index else []
    alike = []
    for place, values in enumerate(X.matrix.T):
        column = X.column(place)
        name = column.name
        if not data.typed and name not in data.conventions.levels and has_numbers(column, data.conventions):
            found.append(f"{name} holds text and numbers, and is taken for text")
        if column.levels is None and column.kind == "number" and _like_identifiers(name, values, weight):
            how = f"to leave it out: --drop {shlex.quote(name)}"
            alike.append(f"{name} is a different whole number in every row, like an identifier ({how})")
    return (*found, *alike)


def _like_identifiers(name: str, values: Vector, weight: Vector | None) -> bool:
    """Return whether whole numbers look like identifiers."""
    present = values[~np.isnan(values)]
    if len(present) < 3:
        return False
    gaps = np.ptp(present) - (len(present) - 1)
    # Too close together, they cannot all be different; this saves most columns the sorting.
    if gaps < 0.0 or not (present == np.rint(present)).all() or not _all_differ(values, weight):
        return False
    return bool(gaps == 0.0) or ID_NAME.fullmatch(name) is not None


def _unusable(data: DataFile, name: str) -> str | None:
    """Say why nothing can be learned from a column; None if something can."""
    if name in data.unread:
        return f"because it holds {data.unread[name]}; write it as numbers to use it"
    if INDEX_NAME.fullmatch(name):
        return "because it is called like an index that pandas wrote"
    if data.typed or name in data.conventions.levels:
        return None
    column, values = data.column(name)
    if column.levels is None or as_numbers(column, values) is not None:
        return None
    check_decimals(data, [name])
    held, quoted = data.doubt(column, values), shlex.quote(name)
    if held is None:
        return None
    missing = "say that the text stands for a missing value (--missing-values), " if "text" in held else ""
    raise ValueError(
        f"Column '{name}' holds {held}. Correct it, {missing}take it for levels (--categorical {quoted}), or leave it out "
        f"(--drop {quoted})."
    )
