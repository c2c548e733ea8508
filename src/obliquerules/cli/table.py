"""Tables: what a file of rows and named columns holds, read by its suffix."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUFFIXES = (".csv", ".parquet", ".arrow")
# Whole numbers up to here are exact as doubles.
LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    missing : array of bool
    numbers : array of float or None
        NaN where a value is missing; None if the column does not hold numbers or booleans.
    texts : array of object or None
        The values as text where the column holds text, or booleans written as text.
    what : str
        What the column holds: ``"numbers"``, ``"booleans"``, ``"text"``, or in words something that nothing can be done with.
    """

    name: str
    missing: NDArray[np.bool_]
    numbers: NDArray[np.float64] | None
    texts: NDArray[np.object_] | None
    what: str

    def labels(self, rows: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the values of the rows as classes: as text, booleans, whole numbers or numbers."""
        if self.texts is not None:
            return np.array(self.texts[rows].tolist())
        if self.numbers is None:
            raise ValueError(f"Column '{self.name}' holds {self.what}, which cannot be classes.")
        numbers = self.numbers[rows]
        if self.what == "booleans":
            return numbers.astype(np.bool_)
        whole = (numbers == np.rint(numbers)).all() and (np.abs(numbers) < LARGEST_WHOLE).all()
        return numbers.astype(np.int64) if whole else numbers

    def as_numbers(self, role: str) -> NDArray[np.float64]:
        """Return the numbers; raise if there are none."""
        if self.numbers is None:
            raise ValueError(f"{role} '{self.name}' must hold numbers; it holds {self.what}.")
        return self.numbers


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file; `source` is what messages call it."""

    source: str
    columns: tuple[Column, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].missing)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise ValueError(f"{self.source} has no column '{name}'; it has {_listed(list(self._by_name))}.")
        return self._by_name[name]

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return columns of numbers in the given order."""
        columns = [self[name].as_numbers("Column") for name in names]
        return np.column_stack(columns) if columns else np.empty((self.n_rows, 0))


def check_names(names: Sequence[str], source: str) -> None:
    """Raise unless each column has a name of its own."""
    if "" in names:
        raise ValueError(f"{source} has no name for column {list(names).index('') + 1}: give each column a name.")
    double, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{source} has two columns named '{double}': each needs a name of its own.")


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def add_table(
    parser: argparse.ArgumentParser, name: str = "data", what: str = "a table with a header", *, optional: bool = False
) -> None:
    """Let a command read a table; an option, which starts with dashes, is never asked for."""
    help_text = f"{what}: {', '.join(SUFFIXES)}; '-' is CSV on standard input"
    parser.add_argument(name, metavar="DATA", nargs="?" if optional else None, help=help_text)
    parser.add_argument("--delimiter", metavar="C", help="what parts the values of CSV (default: the header tells , ; or tab)")


def read_table(name: str, delimiter: str | None = None) -> Table:
    """Read a table; raise ValueError if it is not what its suffix says."""
    suffix = ".csv" if name == "-" else Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"DATA must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be '-'; got '{name}'.")
    try:
        table = _read(name, suffix, delimiter)
    except OSError as error:
        raise ValueError(f"'{name}' cannot be read: {error.strerror or error}.") from error
    if table.n_rows == 0:
        raise ValueError(f"{table.source} has a header, but no rows.")
    return table


def _read(name: str, suffix: str, delimiter: str | None) -> Table:
    if suffix == ".csv":
        from obliquerules.cli.csv_table import read_csv

        return read_csv(name, delimiter)
    from obliquerules.cli.arrow_table import read_arrow

    return read_arrow(name, suffix)
