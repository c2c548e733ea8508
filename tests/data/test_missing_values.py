"""Missing values in columns of booleans and text, and columns of nothing else."""

import numpy as np
import pandas as pd

from obliquerules.data.reading import read
from obliquerules.rules import Column, Columns


def test_booleans_of_which_some_are_missing():
    block = read(pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}))
    assert block.column(0).is_truth
    np.testing.assert_array_equal(block.matrix[:, 0], [1.0, np.nan, 0.0])


def test_text_all_of_which_is_missing():
    columns = Columns.of([Column("colour", ("red", "blue"))])
    assert np.isnan(read(pd.DataFrame({"colour": [None, None]}), columns).matrix).all()
