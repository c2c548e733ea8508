"""Columns with a role: weights, exposures, offsets and groups."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.cli.column_summary import column_records, phrase
from obliquerules.cli.console import note
from obliquerules.cli.input_table import add_list, check_decimals
from obliquerules.cli.io.data_file import DataFile
from obliquerules.data.levels import as_labels, as_numbers, block_of, kind_of
from obliquerules.rules import Block, Model
from obliquerules.rules.columns import Column
from obliquerules.rules.text.style import plain_name

# The options that name such columns, with the word for what one of them holds.
ROLES = {"weight": "weight", "exposure": "exposure", "offset": "offset", "groups": "group"}


def add_roles(parser: argparse.ArgumentParser) -> None:
    """Let a command take exposures, offsets and groups."""
    parser.add_argument("--exposure", metavar="NAME", help="a column that says how long, or in how many units, a row counted")
    what = "given scores, to which rules are added: of two classes, log-odds of the positive one; of more, one for each, sorted"
    add_list(parser, "--offset", "NAME[,NAME]", what)
    parser.add_argument("--groups", metavar="NAME", help="a column of groups, whose rows are left out together")


def named_columns(options: argparse.Namespace) -> dict[str, Sequence[str]]:
    """Return the columns of each role that the options name."""
    given = {option: getattr(options, option, None) or [] for option in ROLES}
    return {option: [names] if isinstance(names, str) else names for option, names in given.items() if names}


def all_names(options: argparse.Namespace) -> list[str]:
    """Return all columns that have a role."""
    return [name for names in named_columns(options).values() for name in names]


def check_roles(data: DataFile, options: argparse.Namespace) -> None:
    """Raise if a column is not there, or has two roles."""
    taken = {options.target: "the target"}
    data.check_name(options.target)
    for option, names in named_columns(options).items():
        for name in names:
            data.check_name(name)
            if name in taken:
                raise ValueError(f"--{option} must not name '{name}', which is {taken[name]}.")
            taken[name] = f"already named after --{option}"
    if options.exposure is not None and options.offset:
        raise ValueError(
            "--exposure and --offset cannot be used together: add the logarithm of the exposure to the offset instead."
        )


@dataclass(frozen=True, eq=False)
class RoleColumns:
    """The columns of one role, with names as in a frame.

    Attributes
    ----------
    option : str
        One of `ROLES`.
    block : Block
        The columns, in the rows that are used.
    """

    option: str
    block: Block

    @property
    def name(self) -> str:
        """The name of the first column."""
        return self.block.names[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns; a fit looks for them here, as in a frame."""
        return self.block.names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def values(self) -> NDArray[Any]:
        """The labels of groups, or the numbers: a matrix if several."""
        if self.option == "groups":
            return as_labels(self.block.column(0), self.block.matrix[:, 0])
        matrix: NDArray[Any] = self.block.matrix
        return matrix if len(self.columns) > 1 else matrix[:, 0]

    @property
    def n_groups(self) -> int:
        """The number of different values."""
        return len(np.unique(self.block.matrix))

    def sentences(self, classes: Sequence[str]) -> list[str]:
        """Return a sentence about each column, and its class."""
        if self.option == "groups":
            return [f"Groups: {plain_name(self.name)}, {self.n_groups} different ones"]
        whose = [f" of {one}" for one in classes] if len(self.columns) > 1 else [""]
        held = [phrase(self.block.column(place), values) for place, values in enumerate(self.block.matrix.T)]
        return [
            f"{self.option.capitalize()}{of}: {plain_name(name)}, {what}"
            for of, name, what in zip(whose, self.columns, held, strict=True)
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return the same for programs."""
        return [{"role": ROLES[self.option]} | record for record in column_records(self.block)]


def role_columns(data: DataFile, rows: Any, options: argparse.Namespace) -> dict[str, RoleColumns]:
    """Return the columns of each role that the options name."""
    found = {}
    for option, names in named_columns(options).items():
        if option == "groups":
            column, values = data.column(names[0])
            _check_known(names[0], "group", values[rows])
            filled = [(column, values[rows])]
        else:
            filled = [(Column(name), role_numbers(data, name, option, rows)) for name in names]
        found[option] = RoleColumns(option, block_of(filled))
    return found


def weights(data: DataFile, rows: Mask, options: argparse.Namespace) -> Vector | None:
    """Return the weights of the rows, if there are any."""
    return None if options.weight is None else role_numbers(data, options.weight, "weight", rows)


def given_values(
    model: Model, data: DataFile, rows: Any = slice(None), *, needed: bool = False, droppable: bool = False
) -> Vector | None:
    """Return the exposure or offset by the names in the model.

    Unless it is needed, a table may lack an exposure: predictions are then those of an exposure of 1. Rows are droppable where
    the command has an option that leaves them out.
    """
    if model.offset is None:
        return None
    kind, names = model.offset.kind, model.offset.names
    if kind == "exposure" and not needed and names[0] not in data.names:
        note(f"{data.source} has no column '{names[0]}', so that predictions are those of an exposure of 1")
        return None
    found = [role_numbers(data, name, kind, rows, droppable=droppable) for name in names]
    return found[0] if len(found) == 1 else np.column_stack(found)


def role_numbers(data: DataFile, name: str, role: str, rows: Any, *, droppable: bool = True) -> Vector:
    """Return the numbers of a role; raise for impossible ones."""
    values: Vector = numbers(data, name, role)[rows]
    _check_known(name, role, values, droppable=droppable)
    conditions = [(np.isfinite(values), "be finite")]
    if role == "exposure":
        conditions.append((values > 0.0, "be positive"))
    if role == "weight":
        conditions.append((values >= 0.0, "not be negative"))
    for good, must in conditions:
        if not good.all():
            first = int(np.flatnonzero(~good)[0])
            row = int(np.arange(len(data.block))[rows][first])
            raise ValueError(f"The {role} '{name}' must {must}; it is {values[first]:g} in row {row} of {data.source}.")
    return values


def _check_known(name: str, role: str, values: Vector, *, droppable: bool = True) -> None:
    missing = np.count_nonzero(np.isnan(values))
    if missing:
        how = " with --drop-rows" if droppable else ""
        raise ValueError(f"The {role} '{name}' is missing in {missing} rows. Fill it in, or leave out such rows{how}.")


def numbers(data: DataFile, name: str, role: str) -> Vector:
    """Return a column of numbers; raise if it holds anything else."""
    check_decimals(data, [name])
    column, values = data.column(name)
    found: Vector | None = as_numbers(column, values) if column.kind == "number" else None
    if found is None:
        held = data.doubt(column, values) or kind_of(column, values)
        raise ValueError(f"The {role} '{name}' must hold numbers; it holds {held}.")
    return found
