"""Files: what the values of CSV, Parquet and Arrow files are taken for."""

import datetime
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.cli.io.data_file import read_file, read_stream
from obliquerules.cli.io.text_columns import MISSING_WORDS, Conventions, doubtful
from obliquerules.data.levels import as_labels, as_numbers, kind_of
from obliquerules.data.reading import read_table
from obliquerules.rules.columns import Column

EPOCH = datetime.datetime(1970, 1, 1)


def csv_of(text, written="utf-8", **conventions):
    return read_stream(io.BytesIO(text.encode(written)), ".csv", "the text", Conventions(**conventions))


def kinds(content):
    return [kind_of(*content.column(name)) for name in content.block.names]


def texts(content, name):
    column, codes = content.column(name)
    return [None if np.isnan(code) else column.levels[int(code)] for code in codes]


def test_numbers_text_booleans_and_missing_values():
    content = csv_of("n,t,b,m\r\n 1 ,x,true,\r\n2.5e0,NA,FALSE,?\r\n\r\n-3,z,True,None\r\n")
    assert kinds(content) == ["numbers", "text", "booleans", "numbers"]
    assert content.column("n")[1].tolist() == [1.0, 2.5, -3.0]
    assert texts(content, "t") == ["x", None, "z"]
    assert as_numbers(*content.column("b")).tolist() == [1.0, 0.0, 1.0]
    assert as_labels(*content.column("b")).tolist() == ["true", "FALSE", "True"]
    assert np.isnan(content.column("m")[1]).all()


@pytest.mark.parametrize("value", ["1_000", "0x10", "١", "1,5,2", "one", "true"])
def test_what_is_no_number(value):
    assert kinds(csv_of(f"a;b\n1;{value}\n2;3\n"))[1] == f"numbers and text ('{value}')"


def test_of_several_texts_among_numbers_the_first_is_named():
    assert kinds(csv_of("a\n1\nz\nb\n")) == ["numbers and text ('z')"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_header_tells_the_separator(separator):
    content = csv_of("\ufeffa,b\n1,2\n".replace(",", separator))
    assert content.choose(["b", "a"]).matrix.tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize("encoding", [None, "utf-8"])
@pytest.mark.parametrize("end", ["\r", "\r\n", "\n", "\r\r\n"])
def test_a_line_may_end_in_a_carriage_return(end, encoding):
    content = csv_of(f'a,b{end}1,x{end}2,"y\rz"{end}', encoding=encoding)
    assert content.column("a")[1].tolist() == [1.0, 2.0]
    assert texts(content, "b") == ["x", "y\rz"]


def test_a_header_may_be_long():
    names = [f"column {number}" for number in range(12_000)]
    content = csv_of(f"{';'.join(names)}\n{';'.join('1' for _ in names)}\n")
    assert content.names == tuple(names)


def test_separators_in_quotes_do_not_count():
    content = csv_of('"a;b;c",d\n1,2\n')
    assert content.names == ("a;b;c", "d")
    assert csv_of('a;"b,\n,,c"\n1;2\n').names == ("a", "b,\n,,c")


def test_the_separator_that_gives_more_columns_counts():
    assert csv_of("a, in kg;b;c\n1;2;3\n").names == ("a, in kg", "b", "c")
    assert csv_of("a;b|c;d\n1;2|3;4\n", separator="|").names == ("a;b", "c;d")


def test_decimal_commas_are_read_if_asked_for():
    text = "a;b\n1,5;2\n-,25;3e1\n1,5e-3;\n"
    assert kinds(csv_of(text)) == ["numbers with a decimal comma ('-,25')", "numbers"]
    np.testing.assert_array_equal(
        csv_of(text, decimal=",").choose(["a", "b"]).matrix, [[1.5, 2.0], [-0.25, 30.0], [0.0015, np.nan]]
    )


@pytest.mark.parametrize("values", [("1,5", "x"), ("1,5", "1,5,2"), ("1,", "2,")])
def test_what_has_no_decimal_comma(values):
    assert "decimal" not in kinds(csv_of("a;b\n" + "".join(f"{value};1\n" for value in values)))[0]


def test_beside_decimal_commas_a_point_makes_no_number():
    assert kinds(csv_of("a;b\n1.234;1\n2,5;2\n", decimal=","))[0] == "numbers with points and commas ('1.234', '2,5')"
    assert kinds(csv_of("a;b\n1.234,5;1\n2;2\n"))[0] == "numbers with points and commas ('1.234,5', '1.234,5')"
    assert kinds(csv_of("a;b\n1.5;1\nx,y;2\n"))[0] == "numbers and text ('x,y')"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "utf-8"])
def test_other_encodings(encoding):
    content = csv_of("größe,ort\r\n1,Köln\r\n2,Zürich\r\n", encoding, encoding=encoding)
    assert content.names == ("größe", "ort")
    assert texts(content, "ort") == ["Köln", "Zürich"]


@pytest.mark.parametrize(("encoding", "hint"), [("latin-1", "latin-1"), ("utf-16", "utf-16")])
def test_text_in_another_encoding_gets_a_hint(encoding, hint):
    with pytest.raises(ValueError, match=f"is not CSV in UTF-8: line 1 is not text.*--encoding {hint}"):
        csv_of("größe\n1\n", encoding)


def test_text_that_is_not_in_the_given_encoding():
    with pytest.raises(ValueError, match="the text is not text in the encoding ascii"):
        csv_of("größe\n1\n", encoding="ascii")


def test_a_first_column_without_a_name_is_an_index():
    content = csv_of(",a,b\nx,1,2\ny,3,4\n")
    assert content.names == ("a", "b")
    assert content.has_index
    assert content.choose(["a"]).matrix.tolist() == [[1.0], [3.0]]
    assert not csv_of("a,b\n1,2\n").has_index


def test_columns_without_a_name_or_a_value_do_not_matter():
    assert csv_of("a;b;;\n1;2;;\n").names == ("a", "b")


@pytest.mark.parametrize(("text", "column"), [("a,,b\n1,2,3\n", 2), (",,b\n1,2,3\n", 2), ("a,b,\n1,2,3\n", 3)])
def test_other_columns_need_a_name(text, column):
    with pytest.raises(ValueError, match=f"the text has no name for column {column}: give each column a name."):
        csv_of(text)


def test_a_table_of_an_index_alone():
    with pytest.raises(ValueError, match="the text has no column with a name"):
        csv_of('""\n1\n')


def test_names_and_values_may_be_quoted():
    content = csv_of('"a, with ""comma""",b\n"1","x\ny"\n')
    assert content.names == ('a, with "comma"', "b")
    assert texts(content, "b") == ["x\ny"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_through_exactly(numbers):
    assert csv_of("x\n" + "\n".join(map(repr, numbers)) + "\n").column("x")[1].tolist() == numbers


@given(st.lists(st.none() | st.text("ab", min_size=1), min_size=1))
def test_text_comes_through_as_levels_in_order(values):
    content = csv_of("x\n" + "\n".join(value or "NA" for value in values) + "\n")
    column, found = content.column("x")
    if any(values):
        assert texts(content, "x") == values
        assert column.levels == tuple(sorted({value for value in values if value}))
    else:
        assert column.levels is None
        assert np.isnan(found).all()


def frame():
    return pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "real": [0.5, float("nan"), 1.5],
            "flag": [True, False, None],
            "text": pa.array(["x", "y", None]).dictionary_encode(),
            "grade": pa.array([2, 1, None]).dictionary_encode(),
            "empty": pa.nulls(3, pa.int64()),
            "day": pa.array([0, 1, None], pa.date32()),
            "moment": pa.array([0, 90_000, None], pa.timestamp("s", "UTC")),
            "stay": pa.array([86_400_000, None, 0], pa.duration("ms")),
            "clock": pa.array([43_200, None, 0], pa.time32("s")),
            "size": pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), ["small", "large"], ordered=True),
            "list": [[1], [2], [3]],
        }
    )


def check_frame(content, grade="categories"):
    assert kinds(content) == [
        "numbers",
        "numbers",
        "booleans",
        "text",
        grade,
        "numbers",
        "dates",
        "times",
        "durations",
        "durations",
        "text",
    ]
    assert content.names == tuple(frame().column_names)
    assert content.unread == {"list": "values of type List(Int64)"}
    assert [np.isnan(values).tolist() for values in content.block.matrix.T] == [
        [False, True, False],
        [False, True, False],
        [False, False, True],
        [False, False, True],
        [False, False, True],
        [True, True, True],
        [False, False, True],
        [False, False, True],
        [False, True, False],
        [False, True, False],
        [False, False, True],
    ]
    flag, values = content.column("flag")
    assert as_labels(flag, values[:2]).tolist() == [True, False]
    np.testing.assert_array_equal(as_numbers(flag, values), [1.0, 0.0, np.nan])
    assert texts(content, "text") == ["x", "y", None]
    np.testing.assert_array_equal(content.column("whole")[1], [1.0, np.nan, 3.0])
    assert content.column("grade")[0].levels == ((1, 2) if grade == "categories" else None)
    assert content.column("day")[1][:2].tolist() == [0.0, 1.0]
    assert content.column("moment")[1][:2].tolist() == [0.0, 90_000.0]
    assert content.column("stay")[1][0] == 1.0
    assert content.column("clock")[1][0] == 0.5
    assert content.column("size")[0] == Column("size", ("small", "large"), ordered=True)
    assert texts(content, "size") == ["large", "small", None]
    with pytest.raises(ValueError, match=r"Column 'list' of .* holds values of type List\(Int64\), which cannot be used"):
        content.choose(["whole", "list"])


def test_parquet(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(frame(), tmp_path / "t.parquet")
    check_frame(read_file(tmp_path / "t.parquet"), "numbers")  # of dictionaries, Parquet keeps those of text alone


@pytest.mark.parametrize("kind", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow(tmp_path, kind):
    with open(tmp_path / "t.arrow", "wb") as file, kind(file, frame().schema) as writer:
        writer.write_table(frame())
    check_frame(read_file(tmp_path / "t.arrow"))


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.date32(), pa.bool_()])
def test_nothing_but_missing_values_counts_as_numbers_whatever_the_type(tmp_path, kind):
    table = pa.table({"a": [1, 2], "empty": pa.nulls(2, kind)})
    with open(tmp_path / "t.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    column, values = read_file(tmp_path / "t.arrow").column("empty")
    assert column.levels is None
    assert np.isnan(values).all()


def test_labels_are_what_the_values_look_like():
    content = csv_of("i,f,t\n1,0.5,x\n0,1.5,y\n")
    labels = [as_labels(*content.column(name)).tolist() for name in "ift"]
    assert labels == [[1, 0], [0.5, 1.5], ["x", "y"]]
    assert all(isinstance(label, int) for label in labels[0])


def test_every_word_for_missing_is_missing():
    content = csv_of("a,b\n" + "".join(f"{word.upper()},1\n" for word in sorted(MISSING_WORDS)))
    assert np.isnan(content.column("a")[1]).all()


def test_a_block_of_a_file_is_what_a_data_frame_with_the_same_values_is():
    content = csv_of("n,b,t,d\n1,true,x,2021-03-01\n2,FALSE,,2021-03-02\n,,y,\n")
    frame = pd.DataFrame(
        {
            "n": [1, 2, None],
            "b": pd.Series([True, False, None], dtype=object),
            "t": ["x", None, "y"],
            "d": pd.to_datetime(["2021-03-01", "2021-03-02", None]),
        }
    )
    ours, theirs = read_table(content.choose(["n", "b", "t", "d"])), read_table(frame)
    np.testing.assert_array_equal(ours.matrix[:, [0, 2, 3]], theirs.matrix[:, [0, 2, 3]])
    assert ours.column(1) == Column("b", (False, True))
    np.testing.assert_array_equal(ours.matrix[:, 1], [1.0, 0.0, np.nan])
    assert [column.kind for column in ours.columns] == [column.kind for column in theirs.columns]


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        (("2021-03-01", "1969-12-31"), "dates", [18687.0, -1.0]),
        (("2021-03-01", "NA"), "dates", [18687.0, np.nan]),
        (("2021-03-01 00:00", "2021-03-01T00:00:00"), "dates", [18687.0, 18687.0]),
        (("2021-03-01 14:30", "2021-03-01T14:30:05.5Z"), "times", [1614609000.0, 1614609005.5]),
        (("2021-03-01 14:30+01:00", "2021-03-01"), "times", [1614605400.0, 1614556800.0]),
    ],
)
def test_dates_of_iso_8601_are_dates(values, kind, numbers):
    content = csv_of("a;b\n" + "".join(f"{value};1\n" for value in values))
    assert kinds(content)[0] == kind
    np.testing.assert_array_equal(content.column("a")[1], numbers)


@pytest.mark.parametrize("value", ["20210301", "2021-W09-1", "2021-02-30", "1.3.2021", "2021-3-1", "14:30", "2021-03"])
def test_what_is_no_date(value):
    column, _ = csv_of(f"a;b\n2021-03-01;1\n{value};2\n").column("a")
    assert column.levels is not None


@given(st.lists(st.dates() | st.datetimes().map(lambda moment: moment.replace(microsecond=0)), min_size=1))
def test_dates_come_through_exactly(moments):
    column, values = csv_of("x\n" + "\n".join(map(str, moments)) + "\n").column("x")
    unit = 86400.0 if column.kind == "date" else 1.0
    seconds = [(datetime.datetime.fromisoformat(str(moment)) - EPOCH).total_seconds() for moment in moments]
    assert (values * unit).tolist() == seconds


@pytest.mark.parametrize(
    ("values", "held"),
    [
        (["1", "2", "3", "two"], "numbers and text ('two')"),
        (["2021-03-01", "2021-03-02", "unknown"], "dates and text ('unknown')"),
        (["2021-03-01", "2021", "2021-03-02"], "dates and numbers"),
        ([*map(str, range(100)), *(f"<{limit}" for limit in range(11))], "numbers and text ('<0')"),
        ([*map(str, range(80)), *(f"PC {number}" for number in range(20))], None),
        (["red", "blue", "3"], None),
        (["red", "blue"], None),
    ],
)
def test_a_column_of_numbers_with_a_few_texts_is_doubtful(values, held):
    column, codes = csv_of("x\n" + "\n".join(values) + "\n").column("x")
    assert doubtful(column, codes, Conventions()) == held


def test_beside_decimal_commas_numbers_are_told_from_text():
    content = csv_of("x\n1,5\n2,5\nhigh\n", separator=";", decimal=",")
    assert doubtful(*content.column("x"), content.conventions) == "numbers and text ('high')"


def test_words_and_numbers_that_the_user_names_are_missing():
    missing = frozenset({"Unknown", "-999"})
    content = csv_of("a,b,c\n1,x,-999\nunknown,UNKNOWN,2\n-999.0,y,3\n", missing=missing)
    np.testing.assert_array_equal(content.column("a")[1], [1.0, np.nan, np.nan])
    assert texts(content, "b") == ["x", None, "y"]
    np.testing.assert_array_equal(content.column("c")[1], [np.nan, 2.0, 3.0])


def test_they_are_missing_in_typed_files_as_well(tmp_path):
    table = pa.table(
        {"a": [1, -999, None], "b": ["x", "Unknown", None], "c": pa.array(["u", "unknown", "v"]).dictionary_encode()}
    )
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    with open(tmp_path / "t.arrow", "rb") as file:
        content = read_stream(file, ".arrow", "t", Conventions(missing=frozenset({"unknown", "-999"})))
    np.testing.assert_array_equal(content.column("a")[1], [1.0, np.nan, np.nan])
    assert texts(content, "b") == ["x", None, None]
    assert texts(content, "c") == ["u", None, "v"]


@pytest.mark.parametrize(
    ("values", "kind", "levels"),
    [
        (["1", "2", "2.0", ""], None, (1, 2)),
        (["1", "2", "2.0", ""], str, ("1", "2", "2.0")),
        (["01", "2", "10"], None, ("01", "10", "2")),
        (["1.5", "2"], None, ("1.5", "2")),
        (["2021-03-01", "2021-03-02"], None, ("2021-03-01", "2021-03-02")),
    ],
)
def test_numbers_as_levels(values, kind, levels):
    column, codes = csv_of("a;b\n" + "".join(f"{value};0\n" for value in values), levels={"a": kind}).column("a")
    assert column.levels == levels
    assert np.isnan(codes).tolist() == [value == "" for value in values]


def test_words_of_truth_stay_text_where_levels_are_asked_for():
    text = "a,b\ntrue,true\nfalse,FALSE\n"
    content = csv_of(text, levels={"a": str})
    assert [content.input(name)[0].levels for name in "ab"] == [("false", "true"), (False, True)]


def test_numbers_of_typed_files_as_levels(tmp_path):
    table = pa.table({"a": [1, 2, None], "b": [1.0, 2.5, float("nan")], "c": [1.0, 2.0, None]})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    with open(tmp_path / "t.arrow", "rb") as file:
        content = read_stream(file, ".arrow", "t", Conventions(levels={"a": None, "b": None, "c": str}))
    assert [content.column(name)[0].levels for name in "abc"] == [(1, 2), ("1", "2.5"), ("1", "2")]
    assert all(np.isnan(content.column(name)[1][2]) for name in "abc")


def test_text_of_a_typed_file_is_text_even_if_it_looks_like_numbers(tmp_path):
    table = pa.table({"a": ["1", "2", "x"], "b": ["1", "2", "3"]})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    content = read_file(tmp_path / "t.arrow")
    assert content.typed
    assert kinds(content) == ["numbers and text ('x')", "numbers written as text"]
    assert texts(content, "b") == ["1", "2", "3"]
