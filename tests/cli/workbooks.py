"""Excel files as Excel writes them, made by hand: shared and inline texts, numbers, booleans, dates and errors."""

import datetime
import zipfile
from xml.sax.saxutils import escape

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LINKS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
STYLES = (
    f'<styleSheet {MAIN}><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="0.0 &quot;days&quot;;[Red]0"/><numFmt numFmtId="166" formatCode="hh:mm"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/><xf numFmtId="166"/>'
    '<xf numFmtId="46"/></cellXfs></styleSheet>'
)
DATE, DAYS, BUILT_IN_DATE, CLOCK, ELAPSED = 1, 2, 3, 4, 5


class Styled(float):
    """A number with a style."""

    def __new__(cls, number, style):
        """Return the number."""
        styled = super().__new__(cls, number)
        styled.style = style
        return styled


class Inline(str):
    """A text that is not shared."""

    __slots__ = ()


def write_workbook(path, sheets, properties="", **parts):
    """Write sheets, given as lists of rows of Python values; None is an empty cell."""
    shared = []
    written = {f"xl/worksheets/sheet{i}.xml": sheet(rows, shared) for i, rows in enumerate(sheets.values(), 1)}
    entries = "".join(f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(sheets, 1))
    links = "".join(f'<Relationship Id="rId{i}" Target="worksheets/sheet{i}.xml"/>' for i in range(1, len(sheets) + 1))
    texts = "".join(f"<si><r><t>{escape(text[:1])}</t></r><r><t>{escape(text[1:])}</t></r></si>" for text in shared)
    content = {
        "xl/workbook.xml": f"<workbook {MAIN} {LINKS}><workbookPr {properties}/><sheets>{entries}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {MAIN}>{texts}</sst>",
        "xl/styles.xml": STYLES,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (content | written | parts).items():
            archive.writestr(name, text)
    return path


def sheet(rows, shared):
    """Return the document of a sheet."""
    lines = (
        f'<row r="{i}">{"".join(cell(f"{letters(j)}{i}", value, shared) for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows, 1)
    )
    return f"<worksheet {MAIN}><sheetData>{''.join(lines)}</sheetData></worksheet>"


def letters(column):
    """Return the letters of a column, numbered from 0."""
    first, last = divmod(column, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + last)


def cell(place, value, shared):
    """Return a cell."""
    if value is None:
        return f'<c r="{place}" s="0"/>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Inline):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{place}" t="d"><v>{value.isoformat()}</v></c>'
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        shared.append(value)
        return f'<c r="{place}" t="s"><v>{len(shared) - 1}</v></c>'
    return f'<c r="{place}" s="{getattr(value, "style", 0)}"><v>{float(value)!r}</v></c>'
