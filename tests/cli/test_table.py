"""Tables: what the values of CSV, Parquet and Arrow files are taken for."""

import io
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.cli.csv_table import MISSING
from obliquerules.cli.table import Table, read_table


def csv_of(path, text):
    path.write_bytes(text.encode())
    return read_table(str(path))


def test_numbers_text_booleans_and_missing_values(tmp_path):
    table = csv_of(tmp_path / "t.csv", "n,t,b,m\r\n 1 ,x,true,\r\n2.5e0,NA,FALSE,?\r\n\r\n-3,z,True,None\r\n")
    assert [column.what for column in table.columns] == ["numbers", "text", "booleans", "numbers"]
    assert table["n"].numbers.tolist() == [1.0, 2.5, -3.0]
    assert table["t"].texts.tolist() == ["x", None, "z"]
    assert table["b"].numbers.tolist() == [1.0, 0.0, 1.0]
    assert table["m"].missing.all()


@pytest.mark.parametrize("value", ["1_000", "0x10", "١", "1,5", "one"])
def test_what_is_no_number(tmp_path, value):
    table = csv_of(tmp_path / "t.csv", f"a;b\n1;{value}\n2;3\n")
    assert table["b"].what == f"numbers and text ('{value}')"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(tmp_path, delimiter):
    table = csv_of(tmp_path / "t.csv", "\ufeffa,b\n1,2\n".replace(",", delimiter))
    assert table.matrix(["b", "a"]).tolist() == [[2.0, 1.0]]


def test_names_and_values_may_be_quoted(tmp_path):
    table = csv_of(tmp_path / "t.csv", '"a, with ""comma""",b\n"1","x\ny"\n')
    assert [column.name for column in table.columns] == ['a, with "comma"', "b"]
    assert table["b"].texts.tolist() == ["x\ny"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_through_exactly(numbers):
    text = "x\n" + "\n".join(map(repr, numbers)) + "\n"
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(text.encode()))
    try:
        assert read_table("-")["x"].numbers.tolist() == numbers
    finally:
        sys.stdin = stdin


def frame():
    return pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "real": [0.5, float("nan"), 1.5],
            "flag": [True, False, None],
            "text": pa.array(["x", "y", None]).dictionary_encode(),
            "day": pa.array([0, 1, 2], pa.date32()),
            "list": [[1], [2], [3]],
        }
    )


def check_frame(table: Table):
    assert [column.what for column in table.columns[:5]] == ["numbers", "numbers", "booleans", "text", "dates or times"]
    assert table["list"].what.startswith("values of type list")
    assert [column.missing.tolist() for column in table.columns[:4]] == [
        [False, True, False],
        [False, True, False],
        [False, False, True],
        [False, False, True],
    ]
    assert table["flag"].labels(np.array([True, True, False])).tolist() == [True, False]
    assert table["text"].texts.tolist() == ["x", "y", None]
    np.testing.assert_array_equal(table["whole"].numbers, [1.0, np.nan, 3.0])


def test_parquet(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(frame(), tmp_path / "t.parquet")
    check_frame(read_table(str(tmp_path / "t.parquet")))


@pytest.mark.parametrize("kind", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow(tmp_path, kind):
    with open(tmp_path / "t.arrow", "wb") as file, kind(file, frame().schema) as writer:
        writer.write_table(frame())
    check_frame(read_table(str(tmp_path / "t.arrow")))


def test_labels_are_what_the_values_look_like(tmp_path):
    table = csv_of(tmp_path / "t.csv", "i,f,t\n1,0.5,x\n0,1.5,y\n")
    rows = np.array([True, True])
    assert [table[name].labels(rows).tolist() for name in "ift"] == [[1, 0], [0.5, 1.5], ["x", "y"]]
    assert all(isinstance(label, int) for label in table["i"].labels(rows).tolist())


def test_every_word_for_missing_is_missing(tmp_path):
    table = csv_of(tmp_path / "t.csv", "a,b\n" + "".join(f"{word.upper()},1\n" for word in sorted(MISSING)))
    assert table["a"].missing.all()
