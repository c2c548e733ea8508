"""CSV files, read with the standard library alone, so that a file means the same whatever else is installed."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from obliquerules.rows.levels import Filled, number_in, with_levels
from obliquerules.rules.columns import Column

DELIMITERS = (",", ";", "\t")
# What stands for a missing value, in any case.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})


def read_csv(raw_lines: Iterable[bytes], source: str, delimiter: str | None = None) -> list[Filled]:
    """Return the columns of CSV in UTF-8, whose first line has their names; messages call it ``source``."""
    lines = _decoded(raw_lines, source)
    header_line = next(lines, "")
    if not header_line.strip():
        raise ValueError(f"{source} is empty: the first line should have the names of the columns.")
    cells = csv.reader(itertools.chain([header_line], lines), delimiter=delimiter or _delimiter(header_line), strict=True)
    try:
        header = [name.strip() for name in next(cells)]
        rows = list(_rows(cells, len(header), source))
    except csv.Error as error:
        raise ValueError(f"{source} is not CSV: {error}.") from error
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return [_column(name, [cell.strip() for cell in column]) for name, column in zip(header, columns, strict=True)]


def _decoded(raw_lines: Iterable[bytes], source: str) -> Iterator[str]:
    """Yield lines as text; raise at the first that is not text."""
    for number, raw in enumerate(raw_lines, 1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{source} is not CSV in UTF-8: line {number} is not text.") from error
        if "\0" in line:
            raise ValueError(f"{source} is not CSV: line {number} has a character that no text has.")
        yield line


def _delimiter(header: str) -> str:
    """Return the first delimiter that occurs in the header, or a comma."""
    return next((character for character in DELIMITERS if character in header), DELIMITERS[0])


def _rows(cells: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    for row in cells:
        if len(row) not in (0, width):  # an empty line has no values at all
            line = cells.line_num  # type: ignore[attr-defined]
            raise ValueError(f"{source} has {len(row)} values in line {line}, but {width} columns in its header.")
        if row:
            yield row


def _column(name: str, cells: list[str]) -> Filled:
    """Return a column of numbers if every value is one, and otherwise of levels."""
    numbers = {cell: np.nan if cell.lower() in MISSING_WORDS else number_in(cell) for cell in set(cells)}
    if None not in numbers.values():
        return Column(name), np.array([numbers[cell] for cell in cells], dtype=np.float64)
    return with_levels(name, [None if cell.lower() in MISSING_WORDS else cell for cell in cells])
