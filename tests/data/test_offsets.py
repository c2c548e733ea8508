"""Exposures and offsets are read once, with sentences that say what is wrong with them."""

import numpy as np
import pandas as pd
import pytest

from obliquerules.data.offsets import Outcomes, read_groups, read_offset
from obliquerules.losses import LOSSES


def test_a_series_gives_its_name_and_an_array_is_called_what_it_is():
    assert read_offset(pd.Series([1.0, 2.0], name="years"), None, 2, None).offset.names == ("years",)
    assert read_offset([1.0, 2.0], None, 2, None).offset.names == ("exposure",)
    assert read_offset(None, np.zeros((2, 3)), 2, ("a", "b", "c")).offset.names == ("offset_a", "offset_b", "offset_c")
    assert read_offset(None, pd.DataFrame({"u": [0.0], "v": [1.0]}), 1, ("a", "b")).offset.names == ("u", "v")
    assert read_offset(None, None, 2, None) is None


@pytest.mark.parametrize(
    ("exposure", "offset", "complaint"),
    [
        ([1.0, 0.0], None, "exposure must be positive; row 1 is not"),
        ([1.0, np.nan], None, "exposure has missing or infinite entries"),
        ([1.0], None, "exposure must have one number for each of the 2 rows"),
        (["a", "b"], None, "exposure must hold numbers only"),
        (None, [np.inf, 0.0], "offset has missing or infinite entries"),
        (None, np.zeros((2, 2)), "offset must have one number for each of the 2 rows"),
        ([1.0, 1.0], [0.0, 0.0], "cannot be given together"),
    ],
)
def test_bad_ones_are_refused(exposure, offset, complaint):
    with pytest.raises(ValueError, match=complaint):
        read_offset(exposure, offset, 2, None)


def test_an_exposure_makes_rates_with_weights_and_an_offset_of_numbers_other_numbers():
    y, weight = np.array([2.0, 6.0]), np.array([1.0, 2.0])
    counts = Outcomes.of(LOSSES["poisson"], y, weight, read_offset([2.0, 3.0], None, 2, None))
    assert (counts.y.tolist(), counts.weight.tolist(), counts.offset) == ([1.0, 2.0], [2.0, 6.0], None)
    numbers = Outcomes.of(LOSSES["squared"], y, weight, read_offset(None, [1.0, 2.0], 2, None))
    assert (numbers.y.tolist(), numbers.weight.tolist(), numbers.offset) == ([1.0, 4.0], [1.0, 2.0], None)
    classes = Outcomes.of(LOSSES["logistic"], np.array([0.0, 1.0]), weight, read_offset(None, [1.0, 2.0], 2, None), (5.0, 7.0))
    assert (classes.y.tolist(), classes.weight.tolist(), classes.offset.tolist()) == ([0.0, 1.0], [5.0, 14.0], [1.0, 2.0])


def test_groups_are_numbered():
    assert read_groups(["b", "a", "b"], np.ones(3)).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="groups must have one entry for each of the 2 rows"):
        read_groups([1], np.ones(2))
    with pytest.raises(ValueError, match="groups holds labels of different types"):
        read_groups(np.array(["a", 1], dtype=object), np.ones(2))
