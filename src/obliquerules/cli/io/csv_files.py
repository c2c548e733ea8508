"""CSV files, read with the standard library alone, so that a file means the same whatever else is installed."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator

from obliquerules.cli.io.text_columns import Conventions, column_of_cells
from obliquerules.data.levels import Filled

SEPARATORS = (",", ";", "\t")
# What stands in quotation marks, in a header that may go on in the next line.
QUOTED = re.compile('"[^"]*(?:"|$)')
# The first bytes of text in UTF-16.
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_csv(raw_lines: Iterable[bytes], source: str, conventions: Conventions) -> list[Filled]:
    """Return the columns of CSV, whose first line has their names; messages call it ``source``."""
    lines = _checked(_decoded(raw_lines, source, conventions.encoding), source)
    header_line = next(lines, "")
    if not header_line.strip():
        raise ValueError(f"{source} is empty: the first line should have the names of the columns.")
    separator = conventions.separator or _separator(header_line)
    cells = csv.reader(itertools.chain([header_line], lines), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(cells)]
        rows = list(_rows(cells, len(header), source))
    except csv.Error as error:
        raise ValueError(f"{source} is not CSV: {error}.") from error
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return [
        column_of_cells(name, [cell.strip() for cell in column], conventions)
        for name, column in zip(header, columns, strict=True)
    ]


def _decoded(raw_lines: Iterable[bytes], source: str, encoding: str | None) -> Iterator[str]:
    """Return the lines as text."""
    if encoding is None:
        return _decoded_utf_8(raw_lines, source)
    try:
        text = b"".join(raw_lines).decode(encoding)
    except UnicodeError as error:
        raise ValueError(f"{source} is not text in the encoding {encoding}: {error}.") from error
    return io.StringIO(text.removeprefix("\ufeff"), newline="")


def _decoded_utf_8(raw_lines: Iterable[bytes], source: str) -> Iterator[str]:
    """Yield lines as text; raise at the first that is not."""
    for number, raw in enumerate(raw_lines, 1):
        try:
            yield from io.StringIO(raw.decode("utf-8-sig" if number == 1 else "utf-8"), newline="")
        except UnicodeDecodeError as error:
            likely = "utf-16" if number == 1 and raw.startswith(UTF_16_MARKS) else "latin-1"
            hint = f"If it is text in another encoding, say so: --encoding {likely}."
            raise ValueError(f"{source} is not CSV in UTF-8: line {number} is not text. {hint}") from error


def _checked(lines: Iterable[str], source: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise ValueError(f"{source} is not CSV: line {number} has a character that no text has.")
        yield line


def _separator(header: str) -> str:
    """Return the separator that gives the header the most columns."""
    return max(SEPARATORS, key=QUOTED.sub("", header).count)


def _rows(cells: Iterator[list[str]], width: int, source: str) -> Iterator[list[str]]:
    for row in cells:
        if len(row) not in (0, width):  # an empty line has no values at all
            line = cells.line_num  # type: ignore[attr-defined]
            raise ValueError(f"{source} has {len(row)} values in line {line}, but {width} columns in its header.")
        if row:
            yield row
