"""Workbooks: sheets of cells as the bytes of an .xlsx file, and back, with the standard library alone."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.sax.saxutils import escape

# The limits of Excel.
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 2**20, 2**14, 8192

Value = float | str | bool | None

# The underscore of what Excel takes for the code of a character, as in _x0041_.
CODE_START = r"_(?=x[0-9A-Fa-f]{4}_)"

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# The earliest date that a ZIP file can hold: the same sheets give the same bytes.
NO_DATE = (1980, 1, 1, 0, 0, 0)
# The position of each style among the formats in STYLE_SHEET.
STYLES = {"plain": 0, "heading": 1, "input": 2, "output": 3, "count": 4, "date": 5, "time": 6}
STYLE_SHEET = (
    f'{HEAD}<styleSheet xmlns="{MAIN}">'
    '<numFmts count="2"><numFmt numFmtId="164" formatCode="0.0####"/><numFmt numFmtId="165" formatCode="0;;"/></numFmts>'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '<fill><patternFill patternType="solid"><fgColor rgb="FFFFF8DC"/></patternFill></fill></fills>'
    '<borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="7"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1" applyAlignment="1">'
    '<alignment wrapText="1" vertical="top"/></xf>'
    '<xf numFmtId="0" fontId="0" fillId="2" borderId="0" xfId="0" applyFill="1"/>'
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
    '<xf numFmtId="14" fontId="0" fillId="2" borderId="0" xfId="0" applyFill="1" applyNumberFormat="1"/>'
    '<xf numFmtId="22" fontId="0" fillId="2" borderId="0" xfId="0" applyFill="1" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


def decoded(text: str) -> str:
    r"""Return a text with Excel's character codes decoded.

    >>> decoded("a_x000D_b"), decoded("_x005F_x0041_")
    ('a\rb', '_x0041_')
    """
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)


@dataclass(frozen=True)
class Cell:
    """What a cell holds: a value, or a formula with the value that it had when the file was written.

    Attributes
    ----------
    value : float, str, bool or None
        None for an empty cell, or for a formula that is to be computed when the file is opened.
    formula : str or None
        The formula, without the equals sign before it.
    style : str
        One of `STYLES`.
    """

    value: Value = None
    formula: str | None = None
    style: str = "plain"


@dataclass(frozen=True)
class Sheet:
    """A sheet with a row of headings, which stays in view.

    Attributes
    ----------
    name : str
    rows : tuple of tuples of Cell
    widths : tuple of float
        The width of each column, in characters.
    """

    name: str
    rows: tuple[tuple[Cell, ...], ...]
    widths: tuple[float, ...]


def letters(column: int) -> str:
    """Return the letters of a column of a sheet.

    >>> letters(0), letters(25), letters(26), letters(701), letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    return (letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def position(name: str) -> int:
    """Return the position of the column of a sheet that has certain letters.

    >>> position("A"), position("Z"), position("AA"), position("ZZ"), position("AAA")
    (0, 25, 26, 701, 702)
    """
    place = 0
    for letter in name:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1


def write_workbook(sheets: Sequence[Sheet]) -> bytes:
    """Return a file with these sheets."""
    parts = dict(_frame(sheets))
    for number, sheet in enumerate(sheets, start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet_text(sheet)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, NO_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode("utf-8"))
    return stream.getvalue()


def _frame(sheets: Sequence[Sheet]) -> Iterator[tuple[str, str]]:
    """Yield the parts of a file that say which sheets there are."""
    numbers = range(1, len(sheets) + 1)
    kinds = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{CONTENT}.{kind}+xml"/>'
        for part, kind in [
            ("workbook", "sheet.main"),
            ("styles", "styles"),
            *[(f"worksheets/sheet{number}", "worksheet") for number in numbers],
        ]
    )
    yield (
        "[Content_Types].xml",
        f'{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{kinds}</Types>',
    )
    yield "_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")])
    named = "".join(
        f'<sheet name="{escape(sheet.name)}" sheetId="{number}" r:id="rId{number}"/>'
        for number, sheet in zip(numbers, sheets, strict=True)
    )
    yield (
        "xl/workbook.xml",
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><bookViews><workbookView/></bookViews><sheets>{named}</sheets>'
        '<calcPr fullCalcOnLoad="1"/></workbook>',
    )
    related = [("worksheet", f"worksheets/sheet{number}.xml") for number in numbers]
    yield "xl/_rels/workbook.xml.rels", _relations([*related, ("styles", "styles.xml")])
    yield "xl/styles.xml", STYLE_SHEET


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'{HEAD}<Relationships xmlns="{RELATIONS}">{lines}</Relationships>'


def _sheet_text(sheet: Sheet) -> str:
    widths = "".join(
        f'<col min="{number}" max="{number}" width="{width}" customWidth="1"/>'
        for number, width in enumerate(sheet.widths, start=1)
    )
    rows = ""
    for number, cells in enumerate(sheet.rows, start=1):
        written = "".join(_cell_text(f"{letters(column)}{number}", cell) for column, cell in enumerate(cells))
        rows += f'<row r="{number}">{written}</row>'
    pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    return (
        f'{HEAD}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">{pane}</sheetView></sheetViews>'
        f"<cols>{widths}</cols><sheetData>{rows}</sheetData></worksheet>"
    )


def _cell_text(place: str, cell: Cell) -> str:
    """Return a cell, with the attribute for its type."""
    kind, value = "", "" if cell.value is None else f"<v>{cell.value!r}</v>"
    if isinstance(cell.value, bool):
        kind, value = ' t="b"', f"<v>{int(cell.value)}</v>"
    elif isinstance(cell.value, str) and cell.formula is not None:
        kind, value = ' t="str"', f"<v>{_text(cell.value)}</v>"
    elif isinstance(cell.value, str):
        kind, value = ' t="inlineStr"', f'<is><t xml:space="preserve">{_text(cell.value)}</t></is>'
    formula = "" if cell.formula is None else f"<f>{escape(cell.formula)}</f>"
    return f'<c r="{place}" s="{STYLES[cell.style]}"{kind}>{formula}{value}</c>'


def _text(value: str) -> str:
    """Return the text of a cell for XML, with codes of Excel for characters that XML cannot hold and for what looks like one.

    Formulas must have neither: programs differ in whether they decode them.

    >>> _text("a < b"), _text(chr(7)), _text("_x0007_")
    ('a &lt; b', '_x0007_', '_x005F_x0007_')
    """
    kept = re.sub(CODE_START, "_x005F_", value)
    return escape(re.sub(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]", lambda found: f"_x{ord(found[0]):04X}_", kept))


def read_cells(raw: bytes, number: int) -> dict[str, Cell]:
    """Return the cells of a sheet, counted from 1, by their places; styles are not read."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        sheet = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))
        shared = "xl/sharedStrings.xml"
        known = ElementTree.fromstring(archive.read(shared)).iter(f"{{{MAIN}}}si") if shared in archive.namelist() else ()
    texts = ["".join(item.itertext()) for item in known]
    return {str(cell.get("r")): _read_cell(cell, texts) for cell in sheet.iter(f"{{{MAIN}}}c")}


def _read_cell(cell: ElementTree.Element, texts: Sequence[str]) -> Cell:
    formula, kind = cell.findtext(f"{{{MAIN}}}f"), cell.get("t", "n")
    inline, value = cell.find(f"{{{MAIN}}}is"), cell.findtext(f"{{{MAIN}}}v")
    if inline is not None:
        return Cell(decoded("".join(inline.itertext())), formula)
    if value is None:
        return Cell(None, formula)
    if kind == "s":
        return Cell(decoded(texts[int(value)]), formula)
    if kind in ("str", "e"):
        return Cell(decoded(value), formula)
    return Cell(value == "1" if kind == "b" else float(value), formula)
