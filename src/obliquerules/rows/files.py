"""Files of rows and named columns, read by their suffix into blocks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from obliquerules.rows.csv_files import read_csv
from obliquerules.rows.levels import Filled
from obliquerules.rules.columns import Block

SUFFIXES = (".csv", ".parquet", ".arrow")


@dataclass(frozen=True, eq=False)
class DataFile:
    """What a file of rows holds.

    Attributes
    ----------
    source : str
        What messages call the file.
    block : Block
        The columns of numbers, booleans and text.
    unread : mapping of str to str
        What each of the other columns holds, such as dates.
    names : tuple of str
        The names of all columns, in the order of the file.
    """

    source: str
    block: Block
    unread: Mapping[str, str]
    names: tuple[str, ...]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.block.names)}

    def column(self, name: str) -> Filled:
        """Return a column and its values; raise if there is none of that name, or if it was not read."""
        self.check_name(name)
        if name in self.unread:
            raise ValueError(f"Column '{name}' of {self.source} holds {self.unread[name]}, neither numbers nor text.")
        position = self._positions[name]
        return self.block.columns[position], self.block.values[position]

    def check_name(self, name: str) -> None:
        """Raise if there is no column of that name."""
        if name not in self._positions and name not in self.unread:
            raise ValueError(f"{self.source} has no column '{name}'; it has {_listed(self.names)}.")

    def choose(self, names: Sequence[str]) -> Block:
        """Return some of the columns, in the given order."""
        chosen = [self.column(name) for name in names]
        return Block(tuple(column for column, _ in chosen), tuple(values for _, values in chosen))


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def read_file(path: str | os.PathLike[str]) -> DataFile:
    """Read a file by its suffix."""
    with open(path, "rb") as file:
        return read_stream(file, Path(path).suffix.lower(), f"'{os.fspath(path)}'")


def read_stream(file: IO[bytes], suffix: str, source: str, delimiter: str | None = None) -> DataFile:
    """Read an open file; raise ValueError if it is not what its suffix says."""
    columns, unread, names = _read(file, suffix, source, delimiter)
    check_names(names, source)
    block = Block(tuple(column for column, _ in columns), tuple(values for _, values in columns))
    if columns and not len(block):
        raise ValueError(f"{source} has a header, but no rows.")
    return DataFile(source, block, unread, tuple(names))


def _read(file: IO[bytes], suffix: str, source: str, delimiter: str | None) -> tuple[list[Filled], dict[str, str], list[str]]:
    """Return the columns that can be read, what the others hold, and the names of all."""
    if suffix == ".csv":
        columns = read_csv(file, source, delimiter)
        return columns, {}, [column.name for column, _ in columns]
    from obliquerules.rows.arrow_files import read_arrow  # here, because it loads narwhals

    return read_arrow(file, suffix, source)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise unless each column has a name of its own."""
    if "" in names:
        raise ValueError(f"{source} has no name for column {list(names).index('') + 1}: give each column a name.")
    double, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{source} has two columns named '{double}': each needs a name of its own.")
