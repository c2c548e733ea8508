"""Training data: which rows and columns of a table are used, and why."""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.column_summary import column_lines, column_records
from obliquerules.cli.console import remark
from obliquerules.cli.input_table import check_decimals
from obliquerules.cli.io.data_file import DataFile
from obliquerules.cli.io.text_columns import doubtful, has_numbers
from obliquerules.cli.roles import RoleColumns, Weights, add_weight, check_roles, named, numbers, role_columns, weights
from obliquerules.cli.target_column import TargetColumn, read_target
from obliquerules.data.levels import Filled, as_labels, as_numbers, block_of, kind_of
from obliquerules.data.training_columns import training_columns
from obliquerules.rules import Block, Model
from obliquerules.rules.columns import Column

# How pandas calls an index that had no name.
INDEX_NAME = re.compile(r"Unnamed: 0(\.[0-9]+)?|__index_level_[0-9]+__")
# How identifiers are called.
ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|nr|no|index|key|code|number|row|rownames|case))|.*[a-z](ID|Id|Nr|No)")


@dataclass(frozen=True, eq=False)
class TrainingData(ABC):
    """Training data, with the reasons for each choice.

    Attributes
    ----------
    target : TargetColumn
        The targets, and what kind they are.
    left_out : dict of str to str
        The reason for each column that is no input.
    rows : KnownRows
        Which rows are learned from.
    roles : dict of str to RoleColumns
        The columns of each role, by the option that names them.
    remarks : tuple of str
        What the user should know about some columns.
    """

    target: TargetColumn
    left_out: Mapping[str, str]
    rows: KnownRows
    roles: Mapping[str, RoleColumns]
    remarks: tuple[str, ...]

    @property
    def y(self) -> NDArray[Any]:
        """The targets."""
        return self.target.y

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""

    @property
    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """What a fit is given, by the name of its argument."""

    @abstractmethod
    def column_lines(self) -> list[str]:
        """Return a line for each of the first inputs: what was understood of it."""

    @abstractmethod
    def column_records(self) -> list[dict[str, Any]]:
        """Return what was understood of each input."""

    def sentences(self) -> list[str]:
        """Return the choices as sentences for the user."""
        left_out = self.rows.left_out()
        return [
            *self.target.sentences(),
            f"Rows: {len(self.y)}" + (f" ({left_out})" if left_out else ""),
            f"Columns: {len(self.names)}",
            *self.column_lines(),
            *(line for columns in self.roles.values() for line in columns.sentences(self.target.class_words)),
            *(f"Left out: {name}, {reason}" for name, reason in self.left_out.items()),
            *(f"Note: {remark}" for remark in self.remarks),
        ]


@dataclass(frozen=True, eq=False)
class TrainingBlock(TrainingData):
    """Training data in memory.

    Attributes
    ----------
    X : Block
        The inputs, with what was understood of each.
    """

    X: Block

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return self.X.names

    @property
    def arguments(self) -> dict[str, Any]:
        """What a fit is given, by the name of its argument."""
        given: dict[str, Any] = dict(self.roles)
        weight = {"sample_weight": given.pop("weight").values} if "weight" in given else {}
        return {"X": self.X, "y": self.y} | weight | given

    def column_lines(self) -> list[str]:
        """Return a line for each of the first inputs: its name, kind, levels or range, and how many values are missing."""
        return column_lines(self.X)

    def column_records(self) -> list[dict[str, Any]]:
        """Return what was understood of each input."""
        return column_records(self.X)


def add_training(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Let a command take a target from a table."""
    parser.add_argument("--target", required=required, metavar="NAME", help="the column to predict")
    add_weight(parser)
    parser.add_argument(
        "--drop-rows", action="store_true", help="leave out rows with missing values (default: learn from them)"
    )


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows that something can be learned from, or measured on.

    Attributes
    ----------
    mask : array of bool
        Whether each row is one.
    without_target, incomplete, weightless : int
        The number of rows that are none because the target is missing, another value is, or the weight is zero.
    target : str
        The name of the target.
    """

    mask: NDArray[np.bool_]
    without_target: int
    incomplete: int
    target: str
    weightless: int = 0

    @classmethod
    def of(cls, known: NDArray[np.bool_], complete: NDArray[np.bool_], target: str, source: str) -> KnownRows:
        """Return the rows whose target is known and that are complete; raise if there is none."""
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
    """Return the rows whose target is known and, if the user asks for it, that miss none of the named columns."""
    known = ~np.isnan(data.column(options.target)[1])
    others = [*names, *(name for _, name in named(options))]
    complete = np.ones_like(known)
    if others and options.drop_rows:
        complete &= ~np.isnan(data.choose(others).matrix).any(axis=1)
    return KnownRows.of(known, complete, options.target, data.source)


def measured_rows(data: DataFile, names: Sequence[str], options: argparse.Namespace) -> NDArray[np.bool_]:
    """Return the same as a mask for a command that does not learn, and say which rows are left out."""
    rows = known_rows(data, names, options)
    if rows.left_out() and not getattr(options, "quiet", False):
        remark(f"of {len(rows.mask)} rows, {rows.left_out()}")
    return rows.mask


def target_values(model: Model, data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace) -> NDArray[Any]:
    """Return the targets of the rows, of the kind that a model was fitted to."""
    if model.labels is None:
        return numbers(data, options.target, "target")[rows]
    column, values = data.column(options.target)
    return as_labels(column, values[rows])


def training_data(data: DataFile, options: argparse.Namespace) -> TrainingBlock:
    """Choose what to learn from."""
    names, left_out = inputs(data, options)
    rows = known_rows(data, names, options).counted(data, options)
    weight = weights(data, rows.mask, options)
    X, useless = _learnable(data.choose(names).rows(rows.mask), weight)
    left_out |= useless
    check_left(X.names, left_out, data.source)
    target, roles = target_and_roles(data, rows.mask, options)
    return TrainingBlock(target, left_out, rows, roles, _remarks(data, X, weight), X)


def inputs(data: DataFile, options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """Return the columns that may be learned from, and the reason for each that is left out; raise if options name others."""
    check_roles(data, options)
    for name in (*options.drop, *options.categorical):
        data.check_name(name)
    for option in ("drop", "categorical"):
        if options.target in getattr(options, option):
            raise ValueError(f"--{option} must not name the target, '{options.target}'.")
    check_decimals(data, [options.target])
    taken = {options.target, *(name for _, name in named(options))}
    names, left_out = _inputs(data, taken, frozenset(options.drop))
    check_left(names, left_out, data.source)
    return names, left_out


def check_left(names: Collection[str], left_out: Mapping[str, str], source: str) -> None:
    """Raise if no column is left to learn from."""
    if not names and not left_out:
        raise ValueError(f"{source} has no column to learn from: the target, and columns with a role, are no inputs.")
    if not names:
        raise ValueError(f"{source} has no column left to learn from: {_reasons(left_out)}.")


def target_and_roles(
    data: DataFile, rows: NDArray[np.bool_], options: argparse.Namespace
) -> tuple[TargetColumn, dict[str, RoleColumns]]:
    """Return the targets of the rows, and the columns of each role."""
    target, roles = read_target(data, rows, options), role_columns(data, rows, options)
    _check_offsets(target, roles)
    return target, roles


def _check_offsets(target: TargetColumn, roles: Mapping[str, RoleColumns]) -> None:
    """Raise unless there is one offset or, of more than two classes, one for each."""
    offsets, wanted = roles.get("offset"), target.n_classes if target.n_classes > 2 else 1
    if offsets is not None and len(offsets.columns) != wanted:
        each = f"{wanted} columns, one for each class: {', '.join(target.class_words)}" if wanted > 1 else "one column"
        raise ValueError(f"--offset must name {each}; got {', '.join(map(repr, offsets.columns))}.")


def _learnable(block: Block, weight: Weights) -> tuple[Block, dict[str, str]]:
    """Return the columns that something can be learned from, with what is known of them, and why the others are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a column is like an identifier is said below
        known = training_columns(block, weight)
    useless = {
        name: reason
        for place, name in enumerate(known.names)
        if (reason := _useless(known.column(place), block.matrix[:, place], weight)) is not None
    }
    kept = [place for place, name in enumerate(known.names) if name not in useless]
    return block_of([(known.column(place), known.matrix[:, place]) for place in kept]), useless


def _useless(column: Column, values: NDArray[np.float64], weight: Weights) -> str | None:
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


def _all_differ(values: NDArray[np.float64], weight: Weights) -> bool:
    """Say whether no value occurs twice.

    Missing values do not count; a row of weight 2 is there twice.
    """
    present = ~np.isnan(values)
    once = weight is None or bool((weight[present] <= 1.0).all())
    return once and len(np.unique(values[present])) == np.count_nonzero(present)


def _remarks(data: DataFile, X: Block, weight: Weights) -> tuple[str, ...]:
    """Return what the user should know about columns that are learned from, or that had no name."""
    index = ["the first column has no name, like the index that pandas writes, and is left out"] if data.has_index else []
    numbers = [(column, values) for column, values in _filled(X) if column.levels is None and column.kind == "number"]
    alike = [column.name for column, values in numbers if _like_identifiers(column.name, values, weight)]
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


def _like_identifiers(name: str, values: NDArray[np.float64], weight: Weights) -> bool:
    """Say whether numbers are whole, all different, and either called like identifiers or without a gap."""
    present = values[~np.isnan(values)]
    if len(present) < 3:
        return False
    gaps = np.ptp(present) - (len(present) - 1)
    # Too close together, they cannot all be different; this saves most columns the sorting.
    if gaps < 0.0 or not (present == np.rint(present)).all() or not _all_differ(values, weight):
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
    if data.typed or name in data.conventions.levels:
        return None
    column, values = data.column(name)
    if column.levels is None or as_numbers(column, values) is not None:
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
