"""CSV files, read with Python's standard library."""

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
    """Return the columns of CSV, whose first line has their names."""
    lines = _lines(raw_lines, source, conventions.encoding)
    header_line = next(lines, "")
    if not header_line.strip():
        raise ValueError(f"{source} is empty: the first line should have the names of the columns.")
    # Unless it is given, the separator is the one that gives the header the most columns.
    separator = conventions.separator or max(SEPARATORS, key=QUOTED.sub("", header_line).count)
    cells = csv.reader(itertools.chain([header_line], lines), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(cells)]
        rows = []
        for row in cells:
            if len(row) not in (0, len(header)):  # an empty line has no values at all
                raise ValueError(
                    f"{source} has {len(row)} values in line {cells.line_num}, but {len(header)} columns in its header."
                )
            if row:
                rows.append(row)
    except csv.Error as error:
        raise ValueError(f"{source} is not CSV: {error}.") from error
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return [
        column_of_cells(name, [cell.strip() for cell in column], conventions)
        for name, column in zip(header, columns, strict=True)
    ]


def _lines(raw_lines: Iterable[bytes], source: str, encoding: str | None) -> Iterator[str]:
    """Yield the lines as text; raise at the first that is not."""
    for number, line in enumerate(_decoded(raw_lines, source, encoding), 1):
        if "\0" in line:
            raise ValueError(f"{source} is not CSV: line {number} has a character that no text has.")
        yield line


def _decoded(raw_lines: Iterable[bytes], source: str, encoding: str | None) -> Iterator[str]:
    if encoding is not None:
        try:
            text = b"".join(raw_lines).decode(encoding)
        except UnicodeError as error:
            raise ValueError(f"{source} is not text in the encoding {encoding}: {error}.") from error
        yield from io.StringIO(text.removeprefix("\ufeff"), newline="")
        return
    for number, raw in enumerate(raw_lines, 1):
        try:
            yield from io.StringIO(raw.decode("utf-8-sig" if number == 1 else "utf-8"), newline="")
        except UnicodeDecodeError as error:
            likely = "utf-16" if number == 1 and raw.startswith(UTF_16_MARKS) else "latin-1"
            hint = f"If it is text in another encoding, say so: --encoding {likely}."
            raise ValueError(f"{source} is not CSV in UTF-8: line {number} is not text. {hint}") from error
