"""CSV: text read with the standard library alone, so that a file means the same whatever else is installed."""

from __future__ import annotations

import contextlib
import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.table import Column, Table

DELIMITERS = (",", ";", "\t")
# What stands for a missing value, in any case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
BOOLEANS = {"true": 1.0, "false": 0.0}


def read_csv(name: str, delimiter: str | None) -> Table:
    """Read CSV in UTF-8; the first line has the names of the columns."""
    source = "standard input" if name == "-" else f"'{name}'"
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"--delimiter must be one character; got {delimiter!r}.")
    with _opened(name) as file:
        try:
            lines = _lines(file, source)
            header_line = next(lines, "")
            if not header_line.strip():
                raise ValueError(f"{source} is empty: the first line should have the names of the columns.")
            reader = csv.reader(_from(header_line, lines), delimiter=delimiter or _delimiter(header_line), strict=True)
            header = _checked_header(next(reader), source)
            rows = list(_rows(reader, len(header), source))
        except csv.Error as error:
            raise ValueError(f"{source} is not CSV: {error}.") from error
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    return Table(source, tuple(_column(name, list(values)) for name, values in zip(header, cells, strict=True)))


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed, so no table can be read from it.")
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def _lines(file: Iterable[bytes], source: str) -> Iterator[str]:
    """Yield lines as text; raise at the first that is none."""
    for number, raw in enumerate(file, 1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{source} is not CSV in UTF-8: line {number} is not text.") from error
        if "\0" in line:
            raise ValueError(f"{source} is not CSV: line {number} has a character that no text has.")
        yield line


def _from(first: str, others: Iterator[str]) -> Iterator[str]:
    yield first
    yield from others


def _delimiter(header: str) -> str:
    """Return what occurs in the header; a comma if there are several or none."""
    return next((character for character in DELIMITERS if character in header), DELIMITERS[0])


def _checked_header(header: Sequence[str], source: str) -> list[str]:
    names = [name.strip() for name in header]
    if "" in names:
        raise ValueError(f"{source} has no name for column {names.index('') + 1}: give each column a name in the first line.")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ValueError(f"{source} has two columns named '{double}': each needs a name of its own.")
    return names


def _rows(reader: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    for row in reader:
        if len(row) not in (0, width):  # an empty line has no values at all
            line = reader.line_num  # type: ignore[attr-defined]
            raise ValueError(f"{source} has {len(row)} values in line {line}, but {width} columns in its header.")
        if row:
            yield row


def _column(name: str, cells: list[str]) -> Column:
    values = [cell.strip() for cell in cells]
    missing = np.array([value.lower() in MISSING for value in values], dtype=np.bool_)
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    texts = np.array([None if gone else value for value, gone in zip(values, missing, strict=True)], dtype=object)
    if present and all(value.lower() in BOOLEANS for value in present):
        return Column(name, missing, _filled(missing, [BOOLEANS[value.lower()] for value in present]), texts, "booleans")
    numbers = [_number(value) for value in present]
    odd = next((value for value, number in zip(present, numbers, strict=True) if number is None), None)
    if odd is None:
        return Column(name, missing, _filled(missing, numbers), None, "numbers")
    if all(number is None for number in numbers):
        return Column(name, missing, None, texts, "text")
    return Column(name, missing, None, texts, f"numbers and text ('{odd}')")


def _number(value: str) -> float | None:
    """Return the number that a text is; None if it is none. Python would also read 1_000 and digits of other scripts."""
    if "_" in value or not value.isascii():
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _filled(missing: NDArray[np.bool_], present: Sequence[float | None]) -> NDArray[np.float64]:
    numbers = np.full(len(missing), np.nan)
    numbers[~missing] = present
    return numbers
