"""Excel files (.xlsx), read with the standard library: the values of one sheet, with the names of columns in the first row."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar
from xml.etree.ElementTree import ParseError, XMLParser

import numpy as np

from obliquerules.rows.cells import Conventions, column_of_cells
from obliquerules.rows.levels import Filled, number_in, with_levels
from obliquerules.rules.columns import Column

# The most bytes of a part of the file once it is unpacked: a small file must not fill the memory.
MOST_BYTES = 256_000_000
CHUNK = 1 << 16
MOST_COLUMNS = 16_384
# Formats of dates and times that every Excel knows by number.
DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
# What in a format of one's own is text and no letter of a date: in quotes, after a backslash, or in brackets such as [Red].
NO_DATE_LETTERS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|general', re.IGNORECASE)
DATES = "dates or times"
# The most cells between the first column and the last: a cell in every row and one far to the right would fill the memory.
MOST_CELLS = 100_000_000
# What the standard library raises for a file that is none of Excel, or damaged, encrypted or packed in an unknown way.
BROKEN = (zipfile.BadZipFile, zlib.error, ParseError, EOFError, RuntimeError, LookupError)

Rows = list[dict[int, Any]]


class Date:
    """A date or a time, which is neither a number nor text."""


def read_excel(file: IO[bytes], source: str, conventions: Conventions) -> tuple[list[Filled], dict[str, str], list[str]]:
    """Read one sheet.

    Returns
    -------
    columns : list of (Column, array)
    unread : dict of str to str
        What the columns hold that are neither numbers nor text.
    names : list of str
        The names of all columns, in the order of the sheet.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            rows = _sheet_rows(Parts(archive, source), conventions.sheet)
    except BROKEN as error:
        raise ValueError(f"{source} is not an Excel file (.xlsx): {error}.") from error
    return _columns([row for row in rows if row], source, conventions.decimal)


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
    """The styles of cells under which numbers are dates or times, by their number."""

    def __init__(self) -> None:
        self.own: dict[str, str] = {}
        self.styles: list[bool] = []
        self.inside = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note a format or a style."""
        name = _local(tag)
        self.inside = self.inside or name == "cellXfs"
        if name == "numFmt":
            self.own[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "xf" and self.inside:
            self.styles.append(self._is_date(attributes.get("numFmtId", "0")))

    def end(self, tag: str) -> None:
        """Leave the styles of cells."""
        self.inside = self.inside and _local(tag) != "cellXfs"

    def _is_date(self, number: str) -> bool:
        if number in self.own:
            return any(letter in "ymdhs" for letter in NO_DATE_LETTERS.sub("", self.own[number].lower()))
        return number.isdecimal() and int(number) in DATE_FORMATS

    def __contains__(self, style: str) -> bool:
        return style.isdecimal() and int(style) < len(self.styles) and self.styles[int(style)]


class SheetRows(Texts):
    """The values of a sheet, row by row.

    Parameters
    ----------
    texts : sequence of str
        The shared texts.
    dates : DateStyles
    """

    whole = "c"

    def __init__(self, texts: Sequence[str], dates: DateStyles) -> None:
        super().__init__()
        self.texts, self.dates = texts, dates
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
            return _shared(self.texts, text)
        if kind == "b":
            return text.strip() == "1"
        if kind == "d" or (kind == "n" and self.cell.get("s", "") in self.dates):
            return Date
        return _number(text) if kind == "n" else text


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


def _sheet_rows(parts: Parts, wanted: str | None) -> Rows:
    """Return the rows of a sheet."""
    path = _sheet_path(parts, wanted)
    texts = parts.read("xl/sharedStrings.xml", SharedTexts()).texts
    dates = parts.read("xl/styles.xml", DateStyles())
    rows: Rows = parts.read(path, SheetRows(texts, dates)).rows
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


def _columns(rows: Rows, source: str, decimal: str) -> tuple[list[Filled], dict[str, str], list[str]]:
    """Return the columns that have a value, what the unread ones hold, and the names of all."""
    if not rows:
        raise ValueError(f"{source} is empty: the first row should have the names of the columns.")
    used = sorted({column for row in rows for column in row})
    if len(used) * len(rows) > MOST_CELLS:
        raise ValueError(f"{source} is too large as an Excel file: write it as CSV or Parquet.")
    names, columns, unread = [], [], {}
    for place in used:
        name, values = _text(rows[0].get(place)).strip(), [row.get(place) for row in rows[1:]]
        names.append(name)
        if Date in values:
            unread[name] = DATES
        else:
            columns.append(_column(name, values, decimal))
    return columns, unread, names


def _column(name: str, values: Sequence[Any], decimal: str) -> Filled:
    """Return a column of numbers, of booleans, or of what its values are as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {float}:
        return Column(name), np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kinds == {bool}:
        return with_levels(name, values)
    return column_of_cells(name, [_cell(value, decimal) for value in values], decimal)


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
    return "a date" if value is Date else str(value)
