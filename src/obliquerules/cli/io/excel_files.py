"""Excel files (.xlsx), read with openpyxl, an extra."""

from __future__ import annotations

import contextlib
import datetime
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from obliquerules.cli.io.text_columns import Conventions, column_of_cells
from obliquerules.data.levels import Filled, column_of_objects, with_levels
from obliquerules.export.workbook import decoded
from obliquerules.rules.columns import Column
from obliquerules.rules.numbers import WHOLE_LIMIT

# The most bytes of an unpacked part, and the most cells of the table: a small file must not fill the memory.
MOST_BYTES = 256_000_000
MOST_CELLS = 100_000_000
MIDNIGHT = datetime.time()


def read_excel(file: IO[bytes], source: str, conventions: Conventions) -> list[Filled]:
    """Return the columns of one sheet that have a value."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError("Reading .xlsx files needs openpyxl: pip install 'obliquerules[excel]'.") from error
    with _reading(source):
        with zipfile.ZipFile(file) as archive:
            too_large = any(part.file_size > MOST_BYTES for part in archive.infolist())
        sheets = {} if too_large else {sheet.title: sheet for sheet in openpyxl.load_workbook(file, True, data_only=True)}
    if too_large:
        raise ValueError(f"{source} is too large as an Excel file: write it as CSV or Parquet.")
    if not sheets:
        raise ValueError(f"{source} is not an Excel file (.xlsx): it has no sheet.")
    if conventions.sheet is not None and conventions.sheet not in sheets:
        raise ValueError(f"{source} has no sheet '{conventions.sheet}'; it has {', '.join(map(repr, sheets))}.")
    with _reading(source):
        rows = list(_rows(sheets[conventions.sheet or next(iter(sheets))]))
    return _columns(rows, source, conventions)


@contextlib.contextmanager
def _reading(source: str) -> Iterator[None]:
    """Turn any error of openpyxl, as for damaged files, into a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of styles, validations and other parts that are not read
            yield
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise ValueError(f"{source} is not an Excel file (.xlsx): {error}.") from error


def _rows(sheet: Any) -> Iterator[dict[int, Any]]:
    """Yield the values of each row that has any, by column."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    for cells in sheet.iter_rows(values_only=True):
        row = {place: _value(cell) for place, cell in enumerate(cells) if cell is not None and cell != ""}
        if row:
            yield row


def _value(cell: Any) -> Any:
    """Return a float, datetime, timedelta, boolean or decoded text."""
    if isinstance(cell, str):
        return decoded(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, datetime.time):
        return datetime.datetime.combine(datetime.date.min, cell) - datetime.datetime.min
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, MIDNIGHT)
    return cell


def _columns(rows: Sequence[Mapping[int, Any]], source: str, conventions: Conventions) -> list[Filled]:
    """Return the columns that have a value."""
    if not rows:
        raise ValueError(f"{source} is empty: the first row should have the names of the columns.")
    used = sorted({column for row in rows for column in row})
    if len(used) * len(rows) > MOST_CELLS:
        raise ValueError(f"{source} is too large as an Excel file: write it as CSV or Parquet.")
    return [_column(_text(rows[0].get(place)).strip(), [row.get(place) for row in rows[1:]], conventions) for place in used]


def _column(name: str, values: Sequence[Any], conventions: Conventions) -> Filled:
    """Return a typed column; mixed values are read like CSV."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and name not in conventions.levels:
        if kinds == {float}:
            numbers = np.array(values, dtype=np.float64)
            return Column(name), np.where(np.isin(numbers, conventions.missing_numbers), np.nan, numbers)
        if kinds == {bool}:
            return with_levels(name, values)
        if kinds <= {datetime.datetime, datetime.timedelta}:
            return column_of_objects(name, values)
    written = [(value, _text(value)) for value in values]
    cells = [text.replace(".", conventions.decimal) if isinstance(value, float) else text.strip() for value, text in written]
    return column_of_cells(name, cells, conventions)


def _text(value: Any) -> str:
    """Return the text of a value in CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < WHOLE_LIMIT else repr(value)
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == MIDNIGHT and value.tzinfo is None else str(value)
    return str(value)
