"""Data files: reading by suffix, and the columns of a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.cli.io.csv_files import read_csv
from obliquerules.cli.io.text_columns import Conventions, doubtful
from obliquerules.data.levels import Filled, as_numbers, block_of, kind_of
from obliquerules.rules.columns import Block, Column

SUFFIXES = (".csv", ".xlsx", ".parquet", ".arrow")
# Files that record the types of their columns.
TYPED = (".parquet", ".arrow")


@dataclass(frozen=True, eq=False)
class DataFile:
    """The content of a file of rows.

    Attributes
    ----------
    source : str
        The file in messages.
    block : Block
        The columns of numbers, dates, durations, booleans and text.
    unread : mapping of str to str
        What each of the other columns holds, such as lists.
    names : tuple of str
        The names of all columns, in the order of the file, also of those that nobody asked to read.
    has_index : bool
        Whether a first column without a name, as pandas writes its index, was left out.
    conventions : Conventions
        How the file is written.
    typed : bool
        Whether the file records types, so that text is text even if it looks like numbers.
    """

    source: str
    block: Block
    unread: Mapping[str, str]
    names: tuple[str, ...]
    has_index: bool = False
    conventions: Conventions = field(default_factory=Conventions)
    typed: bool = False

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.block.names)}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def check_name(self, name: str, most: int = 20) -> None:
        """Raise if there is no column of that name."""
        if name not in self._known:
            shown = ", ".join(f"'{one}'" for one in self.names[:most])
            others = f" and {len(self.names) - most} more" if len(self.names) > most else ""
            raise ValueError(f"{self.source} has no column '{name}'; it has {shown}{others}.")

    def column(self, name: str) -> Filled:
        """Return a column and its values; raise if it is unusable."""
        self.check_name(name)
        if name in self.unread:
            raise ValueError(f"Column '{name}' of {self.source} holds {self.unread[name]}, which cannot be used.")
        position = self._positions[name]
        return self.block.column(position), self.block.matrix[:, position]

    def doubt(self, column: Column, values: Vector) -> str | None:
        """Say which numbers or dates a column of text holds."""
        if self.typed:
            return None
        kind = kind_of(column, values)
        return doubtful(column, values, self.conventions) or (kind if kind.startswith("numbers with") else None)

    def input(self, name: str) -> Filled:
        """Return a column as an input: true and false are booleans."""
        column, values = self.column(name)
        if column.levels is None or column.is_truth or name in self.conventions.levels:
            return column, values
        truth = as_numbers(column, values)
        return (column, values) if truth is None else (Column(name, (False, True)), truth)

    def choose(self, names: Sequence[str]) -> Block:
        """Return some of the columns as inputs, in the given order."""
        return block_of([self.input(name) for name in names])


def read_file(path: str | os.PathLike[str]) -> DataFile:
    """Read a file by its suffix."""
    with open(path, "rb") as file:
        return read_stream(file, Path(path).suffix.lower(), f"'{os.fspath(path)}'")


def read_stream(file: IO[bytes], suffix: str, source: str, conventions: Conventions | None = None) -> DataFile:
    """Read an open file; raise if it contradicts its suffix."""
    conventions = conventions or Conventions()
    unread: dict[str, str] = {}
    if suffix in TYPED:
        from obliquerules.cli.io.arrow_files import read_arrow  # here, because it loads narwhals

        columns, unread, names = read_arrow(file, suffix, source, conventions)
    else:
        if suffix == ".csv":
            columns = read_csv(file, source, conventions)
        else:
            from obliquerules.cli.io.excel_files import read_excel  # here, because few files need it

            columns = read_excel(file, source, conventions)
        names = [column.name for column, _ in columns]
    if columns and not len(columns[0][1]):
        raise ValueError(f"{source} has a header, but no rows.")
    # A column without a name must be empty, unless it is the first, as pandas writes its index.
    nameless, has_index = [values for column, values in columns if column.name == ""], names[0] == ""
    others = nameless[1:] if has_index and "" not in unread else nameless
    if ("" in unread and not has_index) or not all(np.isnan(values).all() for values in others):
        place = next(place for place, name in enumerate(names, 1) if name == "" and place > 1)
        raise ValueError(f"{source} has no name for column {place}: give each column a name.")
    named = [name for name in names if name != ""]
    check_names(named, source)
    block = block_of([(column, values) for column, values in columns if column.name != ""])
    unread = {name: kind for name, kind in unread.items() if name != ""}
    return DataFile(source, block, unread, tuple(named), has_index, conventions, suffix in TYPED)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise unless each column has a name of its own."""
    if not names:
        raise ValueError(f"{source} has no column with a name.")
    double, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{source} has two columns named '{double}': each needs a name of its own.")
