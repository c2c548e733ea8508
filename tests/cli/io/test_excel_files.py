"""Excel files: what the cells of a sheet are taken for, and that a hostile file is refused with a sentence."""

import contextlib
import datetime
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.cli.io import excel_files
from obliquerules.cli.io.data_file import read_stream
from obliquerules.cli.io.text_columns import Conventions, doubtful
from obliquerules.data.levels import as_labels, kind_of

from ..workbooks import BUILT_IN_DATE, CLOCK, DATE, DAYS, ELAPSED, Inline, Styled, write_workbook


def opened(file, **conventions):
    file.seek(0)
    return read_stream(file, ".xlsx", "the file", Conventions(**conventions))


def read(rows, **conventions):
    return opened(write_workbook(io.BytesIO(), {"Sheet1": rows}), **conventions)


def test_numbers_texts_booleans_errors_and_empty_cells():
    content = read(
        [
            ["number", "text", Inline("inline"), "flag", "mixed", 2020],
            [1, "x", Inline("<p>"), True, 1, "7"],
            [None, "Köln", None, False, "#DIV/0!", "8.5"],
            [2.5, " y ", Inline("q"), None, "#N/A", None],
        ]
    )
    assert content.names == ("number", "text", "inline", "flag", "mixed", "2020")
    assert [kind_of(*content.column(name)) for name in content.names] == [
        "numbers",
        "text",
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
    assert read([["x"], *([number] for number in numbers)]).column("x")[1].tolist() == numbers
    assert read([["x"], *([str(number)] for number in numbers)]).column("x")[1].tolist() == numbers


@pytest.mark.parametrize(
    ("cells", "kind", "numbers"),
    [
        ([Styled(45000, DATE), None], "dates", [19431.0, np.nan]),
        ([Styled(45000, DATE), Styled(45000.25, BUILT_IN_DATE)], "times", [19431.0 * 86400.0, 19431.25 * 86400.0]),
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
    book = write_workbook(io.BytesIO(), {"one": [["day"], [Styled(0, DATE)], [Styled(366, DATE)]]}, properties='date1904="1"')
    assert opened(book).column("day")[1].tolist() == [-24107.0, -23741.0]


def test_a_time_of_excel_is_read_to_the_millisecond():
    half_past_two = 44256 + 14.5 / 24
    assert read([["t"], [Styled(half_past_two, BUILT_IN_DATE)]]).column("t")[1].tolist() == [1614609000.0]


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


def test_a_number_that_is_no_date_is_refused():
    with pytest.raises(ValueError, match="should hold a date, but holds the number 1e\\+09"):
        read([["t"], [Styled(1e9, DATE)]])


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


def test_cells_without_a_place_follow_each_other():
    header, row = '<c t="str"><v>a</v></c><c t="str"><v>b</v></c>', "<c><v>1</v></c><c><v>2</v></c>"
    sheet = f"<worksheet><sheetData><row>{header}</row><row>{row}</row></sheetData></worksheet>"
    content = opened(write_workbook(io.BytesIO(), {"one": []}, **{"xl/worksheets/sheet1.xml": sheet}))
    assert content.choose(["b", "a"]).matrix.tolist() == [[2.0, 1.0]]


def test_how_a_text_is_spoken_is_no_part_of_it():
    texts = "<sst><si><t>a</t><rPh><t>spoken</t></rPh></si></sst>"
    content = opened(write_workbook(io.BytesIO(), {"one": [["a"], [1]]}, **{"xl/sharedStrings.xml": texts}))
    assert content.names == ("a",)


BOMB = (
    '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    '<worksheet><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>'
)
THIEF = BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"')


def one_cell(attributes, value):
    return f"<worksheet><sheetData><row><c {attributes}><v>{value}</v></c></row></sheetData></worksheet>"


@pytest.mark.parametrize(
    ("sheet", "sentence"),
    [
        (BOMB, "document type definition is refused"),
        (THIEF, "document type definition is refused"),
        ("<worksheet><sheetData>", "the file is not an Excel file .*no element found"),
        ("", "the file is not an Excel file"),
        (one_cell('r="ZZZ1"', 1), "A sheet has no cell 'ZZZ1'"),
        (one_cell('r="1"', 1), "A sheet has no cell '1'"),
        (one_cell('t="s"', 7), "has the text number '7', but there are only 0"),
        (one_cell('t="s"', -1), "has the text number '-1'"),
        (one_cell("", "much"), "should hold a number, but holds 'much'"),
        ("<worksheet/>", "the file is empty: the first row should have the names"),
        (one_cell('t="str"', "a"), "the file has a header, but no rows"),
    ],
)
def test_a_broken_or_hostile_sheet_is_refused(sheet, sentence):
    file = write_workbook(io.BytesIO(), {"one": []}, **{"xl/worksheets/sheet1.xml": sheet})
    with pytest.raises(ValueError, match=sentence):
        opened(file)


def test_a_file_without_a_sheet_is_refused():
    with pytest.raises(ValueError, match="it has no sheet"):
        opened(write_workbook(io.BytesIO(), {}))


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(excel_files, "MOST_BYTES", 100_000)
    padded = "<worksheet>" + " " * 200_000 + "</worksheet>"
    file = write_workbook(io.BytesIO(), {"one": []}, **{"xl/worksheets/sheet1.xml": padded})
    assert len(file.getvalue()) < 5000
    with pytest.raises(ValueError, match="the file is too large as an Excel file: write it as CSV or Parquet"):
        opened(file)


def test_rows_times_columns_have_a_limit(monkeypatch):
    monkeypatch.setattr(excel_files, "MOST_CELLS", 5)
    with pytest.raises(ValueError, match="the file is too large as an Excel file"):
        read([["a", "b"], [1, 2], [3, 4]])


@given(st.data())
def test_a_damaged_file_is_read_or_refused_with_a_sentence(data):
    raw = bytearray(write_workbook(io.BytesIO(), {"one": [["a", "b"], [1, "x"], [2, "y"]]}).getvalue())
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
    rows = [["a_x000D_b", Inline("c")], ["x_x000D_y", Inline("_x005F_x0041_")], ["z", Inline("_x0041_")]]
    content = read(rows)
    assert content.names == ("a\rb", "c")
    assert as_labels(*content.column("a\rb")).tolist() == ["x\ry", "z"]
    assert as_labels(*content.column("c")).tolist() == ["_x0041_", "A"]
