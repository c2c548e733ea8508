"""Excel files: what the cells of a sheet are taken for, and that a damaged file is refused with a sentence."""

import contextlib
import datetime
import io
import sys

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from obliquerules.cli.io import excel_files
from obliquerules.cli.io.data_file import read_stream
from obliquerules.cli.io.text_columns import Conventions, doubtful
from obliquerules.data.levels import as_labels, kind_of
from obliquerules.export import workbook
from obliquerules.export.workbook import MAIN, Cell, Sheet

from ..workbooks import CLOCK, DATE, DAYS, ELAPSED, MOMENT, Styled, with_part, write_workbook


def opened(file, **conventions):
    file.seek(0)
    return read_stream(file, ".xlsx", "the file", Conventions(**conventions))


def read(rows, **conventions):
    return opened(write_workbook(io.BytesIO(), {"Sheet1": rows}), **conventions)


def test_numbers_texts_booleans_errors_and_empty_cells():
    content = read(
        [
            ["number", "text", "flag", "mixed", 2020],
            [1, "x", True, 1, "7"],
            [None, "Köln", False, "#DIV/0!", "8.5"],
            [2.5, " y ", None, "#N/A", None],
        ]
    )
    assert content.names == ("number", "text", "flag", "mixed", "2020")
    assert [kind_of(*content.column(name)) for name in content.names] == [
        "numbers",
        "text",
        "booleans",
        "numbers and text ('#DIV/0!')",
        "numbers",
    ]
    np.testing.assert_array_equal(content.column("number")[1], [1.0, np.nan, 2.5])
    np.testing.assert_array_equal(content.column("2020")[1], [7.0, 8.5, np.nan])
    assert as_labels(*content.column("text")).tolist() == ["x", "Köln", "y"]
    flag, codes = content.column("flag")
    assert as_labels(flag, codes[:2]).tolist() == [True, False]
    assert np.isnan(content.column("mixed")[1]).tolist() == [False, False, True]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_come_through_exactly(numbers):
    for cells in (numbers, map(str, numbers)):
        rows = ((Cell("x"),), *((Cell(cell),) for cell in cells))
        content = opened(io.BytesIO(workbook.write_workbook([Sheet("one", rows, (9.0,))])))
        assert content.column("x")[1].tolist() == numbers


@pytest.mark.parametrize(
    ("cells", "kind", "numbers"),
    [
        ([Styled(45000, DATE), None], "dates", [19431.0, np.nan]),
        ([Styled(45000, DATE), Styled(45000.25, MOMENT)], "times", [19431.0 * 86400.0, 19431.25 * 86400.0]),
        ([datetime.date(2024, 1, 1), Styled(45292, DATE)], "dates", [19723.0, 19723.0]),
        # Excel takes 1900 for a leap year.
        ([Styled(1, DATE), Styled(61, DATE)], "dates", [-25567.0, -25508.0]),
        ([Styled(0.5, CLOCK), Styled(0.75, CLOCK)], "durations", [0.5, 0.75]),
        ([Styled(1.5, ELAPSED), Styled(0.75, ELAPSED)], "durations", [1.5, 0.75]),
        ([Styled(45000, CLOCK), None], "dates", [19431.0, np.nan]),
    ],
)
def test_dates_times_and_durations(cells, kind, numbers):
    column, values = read([["a", "when"], *([1, cell] for cell in cells)]).column("when")
    assert kind_of(column, values) == kind
    np.testing.assert_array_equal(values, numbers)


def test_days_are_counted_from_1904_in_some_files():
    book = write_workbook(io.BytesIO(), {"one": [["day"], [Styled(1, DATE)], [Styled(366, DATE)]]}, epoch=CALENDAR_MAC_1904)
    assert opened(book).column("day")[1].tolist() == [-24106.0, -23741.0]


def test_dates_written_as_text():
    rows = [["day", "hour"], [datetime.date(2024, 1, 1), datetime.time(6)], [datetime.date(2024, 1, 2), datetime.time(18)]]
    content = opened(write_workbook(io.BytesIO(), {"one": rows}, iso_dates=True))
    assert content.column("day")[1].tolist() == [19723.0, 19724.0]
    assert content.column("hour")[1].tolist() == [0.25, 0.75]


def test_of_merged_cells_the_first_has_the_value():
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2], [3, 4]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(file := io.BytesIO())
    np.testing.assert_array_equal(opened(file).column("a")[1], [1.0, np.nan])


def test_a_time_of_excel_is_read_to_the_millisecond():
    half_past_two = 44256 + 14.5 / 24
    assert read([["t"], [Styled(half_past_two, MOMENT)]]).column("t")[1].tolist() == [1614609000.0]


def test_dates_beside_words_and_beside_text():
    rows = [["a", "b", "c"], [Styled(45000, DATE), Styled(45000, DATE), Styled(45000, DATE)], ["n/a", "unknown", 45001]]
    content = read(rows)
    assert content.column("a")[0].kind == "date"
    assert doubtful(*content.column("b"), Conventions()) == "dates and text ('unknown')"
    assert doubtful(*content.column("c"), Conventions()) == "dates and numbers"
    assert read(rows, missing=frozenset({"unknown"})).column("b")[0].kind == "date"


def test_numbers_that_stand_for_missing_values_and_numbers_as_levels():
    content = read([["a", "b"], [1, 3], [-9, 4], [2.5, None]], missing=frozenset({"-9"}), levels={"b": None})
    np.testing.assert_array_equal(content.column("a")[1], [1.0, np.nan, 2.5])
    assert content.column("b")[0].levels == (3, 4)


def test_a_number_that_is_no_date_is_an_error_of_excel():
    content = read([["t"], [Styled(45000, DATE)], [Styled(1e9, DATE)]])
    assert doubtful(*content.column("t"), Conventions()) == "dates and text ('#VALUE!')"


def test_a_date_as_a_name():
    assert read([["a", Styled(45000, DATE)], [1, 2]]).names == ("a", "2023-03-15")


def test_a_number_of_days_is_a_number():
    assert read([["days"], [Styled(3.5, DAYS)]]).column("days")[1].tolist() == [3.5]


def test_decimal_commas_in_texts():
    rows = [["a"], ["1,5"], [2.25], [3]]
    assert read(rows, decimal=",").column("a")[1].tolist() == [1.5, 2.25, 3.0]


def test_blank_rows_and_columns_and_an_index_without_a_name():
    content = read([[], [None, None, "a", None, "b"], [None, 0, 1, None, 2], [], [None, 1, 3, None, 4]])
    assert content.names == ("a", "b")
    assert content.has_index
    assert content.choose(["b"]).matrix.tolist() == [[2.0], [4.0]]


def test_a_sheet_by_name():
    file = write_workbook(io.BytesIO(), {"one": [["a"], [1]], "two & more": [["b"], [2]]})
    assert opened(file).names == ("a",)
    assert opened(file, sheet="two & more").names == ("b",)
    with pytest.raises(ValueError, match="the file has no sheet 'three'; it has 'one', 'two & more'"):
        opened(file, sheet="three")


def with_sheet(text):
    return opened(with_part(write_workbook(io.BytesIO(), {"one": []}), "xl/worksheets/sheet1.xml", text))


def one_cell(attributes, value):
    return f'<worksheet xmlns="{MAIN}"><sheetData><row><c {attributes}><v>{value}</v></c></row></sheetData></worksheet>'


@pytest.mark.parametrize(
    ("sheet", "sentence"),
    [
        ('<!DOCTYPE b [<!ENTITY b SYSTEM "file:///etc/passwd">]>' + one_cell('t="str"', "&b;"), "undefined entity"),
        ("<worksheet><sheetData>", "the file is not an Excel file .*no element found"),
        ("", "the file is not an Excel file"),
        (one_cell('t="s"', 7), "the file is not an Excel file"),
        (one_cell("", "much"), "the file is not an Excel file .*'much'"),
        (f'<worksheet xmlns="{MAIN}"/>', "the file is empty: the first row should have the names"),
        (one_cell('t="str"', "a"), "the file has a header, but no rows"),
    ],
)
def test_a_damaged_or_hostile_sheet_is_refused(sheet, sentence):
    with pytest.raises(ValueError, match=sentence):
        with_sheet(sheet)


def test_without_openpyxl_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"needs openpyxl: pip install 'obliquerules\[excel\]'"):
        opened(io.BytesIO())


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(excel_files, "MOST_BYTES", 100_000)
    with pytest.raises(ValueError, match="the file is too large as an Excel file: write it as CSV or Parquet"):
        with_sheet("<worksheet>" + " " * 200_000 + "</worksheet>")


def test_rows_times_columns_have_a_limit(monkeypatch):
    monkeypatch.setattr(excel_files, "MOST_CELLS", 5)
    with pytest.raises(ValueError, match="the file is too large as an Excel file"):
        read([["a", "b"], [1, 2], [3, 4]])


@given(st.data())
def test_a_damaged_file_is_read_or_refused_with_a_sentence(data):
    rows = tuple(tuple(map(Cell, row)) for row in (("a", "b"), (1.0, "x"), (2.0, "y")))
    raw = bytearray(workbook.write_workbook([Sheet("one", rows, (9.0, 9.0))]))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        assert len(opened(io.BytesIO(bytes(raw))).names) <= 2


def test_an_encrypted_part_is_refused():
    file = write_workbook(io.BytesIO(), {"one": [["a"], [1]]})
    raw = file.getvalue()
    # The flag of encryption, in the directory at the end of the file.
    for start in [i for i in range(len(raw)) if raw[i : i + 4] == b"PK\x01\x02"]:
        raw = raw[: start + 8] + bytes([raw[start + 8] | 1]) + raw[start + 9 :]
    with pytest.raises(ValueError, match="is not an Excel file"):
        opened(io.BytesIO(raw))


def test_characters_that_excel_writes_by_their_code_are_read():
    content = read([["a_x000D_b", "c"], ["x_x000D_y", "_x005F_x0041_"], ["z", "_x0041_"]])
    assert content.names == ("a\rb", "c")
    assert as_labels(*content.column("a\rb")).tolist() == ["x\ry", "z"]
    assert as_labels(*content.column("c")).tolist() == ["_x0041_", "A"]
