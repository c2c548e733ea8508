"""Levels: values are looked up among the levels of another column."""

import numpy as np
import pandas as pd
import pytest

from obliquerules.rows.reading import read


@pytest.mark.parametrize("empty", [None, np.nan])
@pytest.mark.parametrize("levels", [["red", "blue"], [True, False]])
def test_a_column_with_levels_may_be_missing_in_all_rows(levels: list[str] | list[bool], empty: float | None) -> None:
    columns = read(pd.DataFrame({"colour": levels})).columns
    assert np.isnan(read(pd.DataFrame({"colour": [empty]}), columns).matrix).all()
