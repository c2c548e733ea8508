"""Excel files for tests: rows of values, numbers with a format, and parts put in the place of others."""

import io
import zipfile
from dataclasses import dataclass

import openpyxl

DATE, DAYS, MOMENT, CLOCK, ELAPSED = "yyyy\\-mm\\-dd", '0.0 "days";[Red]0', "m/d/yy h:mm", "hh:mm", "[h]:mm:ss"


@dataclass
class Styled:
    """A number with a format."""

    number: float
    format: str


def write_workbook(path, sheets, **settings):
    """Write sheets, given as lists of rows of Python values; None is an empty cell."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, value in settings.items():
        setattr(book, name, value)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for i, row in enumerate(rows, 1):
            for j, value in enumerate(row, 1):
                if isinstance(value, Styled):
                    sheet.cell(i, j, value.number).number_format = value.format
                else:
                    sheet.cell(i, j, value)
    book.save(path)
    return path


def with_part(file, name, text):
    """Return a workbook with another text in one of its parts."""
    changed = io.BytesIO()
    with zipfile.ZipFile(file) as before, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as after:
        for part in before.namelist():
            after.writestr(part, text if part == name else before.read(part))
    return changed
