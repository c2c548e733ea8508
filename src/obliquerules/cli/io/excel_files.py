"""Excel files (.xlsx), read with the standard library: the values of one sheet, with the names of columns in the first row."""

from __future__ import annotations

import datetime
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar
from xml.etree.ElementTree import ParseError, XMLParser

import numpy as np

from obliquerules.cli.io.text_columns import Conventions, column_of_cells
from obliquerules.data.levels import Filled, column_of_objects, number_in, with_levels
from obliquerules.export.workbook import decoded
from obliquerules.rules.columns import Column

# The most bytes of a part of the file once it is unpacked: a small file must not fill the memory.
MOST_BYTES = 256_000_000
CHUNK = 1 << 16
MOST_COLUMNS = 16_384
# Formats of dates and times that every Excel knows by number; of these, the ones of times without a date, and of durations.
DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
CLOCK_FORMATS = frozenset({*range(18, 22), 32, 33, 45, 47})
ELAPSED_FORMATS = frozenset({46})
# How a number counts the days: as a date, as a time of day if it is below one day, or as a duration.
MOMENT, CLOCK, ELAPSED = "moment", "clock", "elapsed"
# What in a format of one's own is text and no letter of a date: in quotes, after a backslash, or in brackets such as [Red].
NO_DATE_LETTERS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|general', re.IGNORECASE)
HOURS = re.compile(r"\[(h+|m+|s+)\]")
# The day before the first, as Excel counts, which takes 1900 for a leap year; and the first day of old files of the Macintosh.
DAY_ZERO = datetime.datetime(1899, 12, 30)
DAY_ZERO_1904 = datetime.datetime(1904, 1, 1)
FIRST_OF_MARCH_1900 = 61
# The most cells between the first column and the last: a cell in every row and one far to the right would fill the memory.
MOST_CELLS = 100_000_000
# What the standard library raises for a file that is none of Excel, or damaged, encrypted or packed in an unknown way.
BROKEN = (zipfile.BadZipFile, zlib.error, ParseError, EOFError, RuntimeError, LookupError)

Rows = list[dict[int, Any]]


def read_excel(file: IO[bytes], source: str, conventions: Conventions) -> list[Filled]:
    """Return the columns of one sheet that have a value."""
    try:
        with zipfile.ZipFile(file) as archive:
            rows = _sheet_rows(Parts(archive, source), conventions.sheet)
    except BROKEN as error:
        raise ValueError(f"{source} is not an Excel file (.xlsx): {error}.") from error
    return _columns([row for row in rows if row], source, conventions)


class Parts:
    """The parts of an Excel file, each an XML document.

    Parameters
    ----------
    archive : ZipFile
    source : str
        What messages call the file.
    """

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self.archive, self.source = archive, source

    def read(self, name: str, target: Any) -> Any:
        """Let the target see the elements of a part, and return it; a part that is not there has none."""
        if name not in self.archive.namelist():
            return target
        if self.archive.getinfo(name).file_size > MOST_BYTES:
            raise ValueError(f"{self.source} is too large as an Excel file: write it as CSV or Parquet.")
        parser = XMLParser(target=target)
        with self.archive.open(name) as part:
            while chunk := part.read(CHUNK):
                parser.feed(chunk)
        parser.close()
        return target


class Elements:
    """What sees the elements of a document, one after the other, and keeps none of them."""

    def doctype(self, *_: Any) -> None:
        """Refuse definitions, with which a document could name other files or grow without end."""
        raise ValueError("An Excel file with a document type definition is refused: no Excel writes one.")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note the beginning of an element."""

    def end(self, tag: str) -> None:
        """Note the end of an element."""

    def data(self, text: str) -> None:
        """Note text inside an element."""

    def close(self) -> None:
        """Note the end of the document."""


class Found(Elements):
    """The attributes of all elements of one name.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: list[dict[str, str]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Keep the attributes, without the namespaces of their names."""
        if _local(tag) == self.name:
            self.attributes.append({_local(name): value for name, value in attributes.items()})


class Texts(Elements):
    """Elements that hold a text in pieces; how it is spoken, as in Japanese, is no part of it."""

    whole: ClassVar[str]

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.reading = self.phonetic = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        """Begin a text or a piece of one."""
        name = _local(tag)
        self.pieces = [] if name == self.whole else self.pieces
        self.phonetic = self.phonetic or name == "rPh"
        self.reading = name in ("t", "v") and not self.phonetic

    def data(self, text: str) -> None:
        """Keep a piece."""
        if self.reading:
            self.pieces.append(text)

    def end(self, tag: str) -> None:
        """Keep a text."""
        name, self.reading = _local(tag), False
        self.phonetic = self.phonetic and name != "rPh"
        if name == self.whole:
            self.keep("".join(self.pieces))

    def keep(self, text: str) -> None:  # noqa: ARG002
        """Keep the text of an element that ends."""
        raise AttributeError(f"{type(self).__name__} does not say what it does with a text.")


class SharedTexts(Texts):
    """The texts that cells refer to by their number."""

    whole = "si"

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def keep(self, text: str) -> None:
        """Keep a text."""
        self.texts.append(text)


class DateStyles(Elements):
    """The styles of cells under which numbers are dates, times or durations, by their number."""

    def __init__(self) -> None:
        self.own: dict[str, str] = {}
        self.styles: list[str | None] = []
        self.inside = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note a format or a style."""
        name = _local(tag)
        self.inside = self.inside or name == "cellXfs"
        if name == "numFmt":
            self.own[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "xf" and self.inside:
            self.styles.append(self._kind(attributes.get("numFmtId", "0")))

    def end(self, tag: str) -> None:
        """Leave the styles of cells."""
        self.inside = self.inside and _local(tag) != "cellXfs"

    def _kind(self, number: str) -> str | None:
        if number in self.own:
            return _kind_of_format(NO_DATE_LETTERS.sub("", self.own[number].lower()))
        known = int(number) if number.isdecimal() else -1
        if known not in DATE_FORMATS:
            return None
        return CLOCK if known in CLOCK_FORMATS else ELAPSED if known in ELAPSED_FORMATS else MOMENT

    def kind(self, style: str) -> str | None:
        """Return what numbers of a style are: a moment, a time of day, a duration, or nothing but a number."""
        return self.styles[int(style)] if style.isdecimal() and int(style) < len(self.styles) else None


def _kind_of_format(letters: str) -> str | None:
    """Return what numbers in a format of one's own are."""
    if HOURS.search(letters):
        return ELAPSED
    if not any(letter in "ymdhs" for letter in letters):
        return None
    return CLOCK if ("h" in letters or "s" in letters) and not ("y" in letters or "d" in letters) else MOMENT


class SheetRows(Texts):
    """The values of a sheet, row by row.

    Parameters
    ----------
    texts : sequence of str
        The shared texts.
    dates : DateStyles
    from_1904 : bool
        Whether days are counted from 1904.
    """

    whole = "c"

    def __init__(self, texts: Sequence[str], dates: DateStyles, from_1904: bool) -> None:
        super().__init__()
        self.texts, self.dates, self.from_1904 = texts, dates, from_1904
        self.rows: Rows = []
        self.column = -1
        self.cell: Mapping[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin a row, a cell, or its value."""
        super().start(tag, attributes)
        if _local(tag) == "row":
            self.rows.append({})
            self.column = -1
        elif _local(tag) == "c":
            self.cell = attributes
            self.column = _column_number(attributes["r"]) if "r" in attributes else self.column + 1

    def keep(self, text: str) -> None:
        """Keep the value of a cell, unless it is empty."""
        if text and self.rows:
            self.rows[-1][self.column] = self._value(text)

    def _value(self, text: str) -> Any:
        kind = self.cell.get("t", "n")
        if kind == "s":
            return decoded(_shared(self.texts, text))
        if kind == "b":
            return text.strip() == "1"
        if kind == "d":
            return _written_date(text)
        if kind != "n":
            return decoded(text)
        number, style = _number(text), self.dates.kind(self.cell.get("s", ""))
        return number if style is None else _moment(number, style, self.from_1904)


def _local(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]


def _column_number(reference: str) -> int:
    """Return the column, from 0, of a cell such as B7."""
    letters = re.match(r"[A-Z]{1,3}", reference)
    number = 0
    for letter in letters.group() if letters else "":
        number = 26 * number + ord(letter) - ord("A") + 1
    if not 1 <= number <= MOST_COLUMNS:
        raise ValueError(f"A sheet has no cell {reference!r}.")
    return number - 1


def _shared(texts: Sequence[str], number: str) -> str:
    if not number.strip().isdecimal() or int(number) >= len(texts):
        raise ValueError(f"A cell of the Excel file has the text number {number!r}, but there are only {len(texts)}.")
    return texts[int(number)]


def _number(text: str) -> float:
    number = number_in(text)
    if number is None:
        raise ValueError(f"A cell of the Excel file should hold a number, but holds {text!r}.")
    return number


def _written_date(text: str) -> datetime.datetime | str:
    """Return a date that is written as text; a time without a date stays text."""
    try:
        return datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return text


def _moment(days: float, style: str, from_1904: bool) -> datetime.datetime | datetime.timedelta:
    """Return the date or the duration that a number of days is, to the millisecond: that is as far as Excel goes."""
    try:
        passed = datetime.timedelta(milliseconds=round(days * 86_400_000.0))
        if style == ELAPSED or (style == CLOCK and days < 1.0):
            return passed
        if from_1904:
            return DAY_ZERO_1904 + passed
        return DAY_ZERO + passed + datetime.timedelta(days=int(days < FIRST_OF_MARCH_1900 - 1))
    except (OverflowError, ValueError) as error:
        raise ValueError(f"A cell of the Excel file should hold a date, but holds the number {days:g}.") from error


def _sheet_rows(parts: Parts, wanted: str | None) -> Rows:
    """Return the rows of a sheet."""
    path = _sheet_path(parts, wanted)
    texts = parts.read("xl/sharedStrings.xml", SharedTexts()).texts
    dates = parts.read("xl/styles.xml", DateStyles())
    properties = parts.read("xl/workbook.xml", Found("workbookPr")).attributes
    from_1904 = any(one.get("date1904") in ("1", "true") for one in properties)
    rows: Rows = parts.read(path, SheetRows(texts, dates, from_1904)).rows
    return rows


def _sheet_path(parts: Parts, wanted: str | None) -> str:
    """Return where in the file a sheet is."""
    links = parts.read("xl/_rels/workbook.xml.rels", Found("Relationship")).attributes
    # Relative to the directory of the workbook, or from the root.
    paths = {one.get("Id", ""): posixpath.normpath(posixpath.join("/xl", one.get("Target", ""))).lstrip("/") for one in links}
    sheets = parts.read("xl/workbook.xml", Found("sheet")).attributes
    found = {one.get("name", ""): paths.get(one.get("id", ""), "") for one in sheets}
    found = {name: path for name, path in found.items() if path in parts.archive.namelist()}
    if not found:
        raise ValueError(f"{parts.source} is not an Excel file (.xlsx): it has no sheet.")
    if wanted is not None and wanted not in found:
        raise ValueError(f"{parts.source} has no sheet '{wanted}'; it has {', '.join(map(repr, found))}.")
    return found[next(iter(found)) if wanted is None else wanted]


def _columns(rows: Rows, source: str, conventions: Conventions) -> list[Filled]:
    """Return the columns that have a value."""
    if not rows:
        raise ValueError(f"{source} is empty: the first row should have the names of the columns.")
    used = sorted({column for row in rows for column in row})
    if len(used) * len(rows) > MOST_CELLS:
        raise ValueError(f"{source} is too large as an Excel file: write it as CSV or Parquet.")
    return [_column(_text(rows[0].get(place)).strip(), [row.get(place) for row in rows[1:]], conventions) for place in used]


def _column(name: str, values: Sequence[Any], conventions: Conventions) -> Filled:
    """Return a column of numbers, of dates, of durations, of booleans, or of what its values are as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 and name not in conventions.levels:
        if kinds == {float}:
            numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
            return Column(name), np.where(np.isin(numbers, conventions.missing_numbers), np.nan, numbers)
        if kinds == {bool}:
            return with_levels(name, values)
        if kinds <= {datetime.datetime, datetime.timedelta}:
            return column_of_objects(name, values)
    return column_of_cells(name, [_cell(value, conventions.decimal) for value in values], conventions)


def _cell(value: Any, decimal: str) -> str:
    """Return a value as a cell of CSV has it."""
    return _text(value).replace(".", decimal) if isinstance(value, float) else _text(value).strip()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == datetime.time() and value.tzinfo is None else str(value)
    return str(value)
