"""Levels: values are looked up among the levels of another column."""

import numpy as np
import pandas as pd
import pytest

from obliquerules.data.reading import read_table
from obliquerules.rules import Column, Columns

from .reading import read_in


@pytest.mark.parametrize("empty", [None, np.nan])
@pytest.mark.parametrize("levels", [["red", "blue"], [True, False]])
def test_a_column_with_levels_may_be_missing_in_all_rows(levels: list[str] | list[bool], empty: float | None) -> None:
    columns = read_table(pd.DataFrame({"colour": levels})).columns
    assert np.isnan(read_in(columns, pd.DataFrame({"colour": [empty]})).matrix).all()


def test_text_of_numpy_is_text() -> None:
    text = np.array(["1", "b", "1"])
    for missing in ([], [None]):
        values = pd.Series([*text, *missing], dtype=object)
        assert type(values[0]) is np.str_
        block = read_table(values.to_frame("a"))
        assert block.columns is not None
        assert block.columns[0].levels == ("1", "b")
        assert block.matrix[:3, 0].tolist() == [0.0, 1.0, 0.0]


def test_booleans_of_which_some_are_missing():
    block = read_table(pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}))
    assert block.column(0).is_truth
    np.testing.assert_array_equal(block.matrix[:, 0], [1.0, np.nan, 0.0])


def test_text_all_of_which_is_missing():
    columns = Columns.of([Column("colour", ("red", "blue"))])
    assert np.isnan(read_in(columns, pd.DataFrame({"colour": [None, None]})).matrix).all()
