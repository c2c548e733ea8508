"""Columns and weights: what passes, what is refused, and that the complaint names it."""

import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from obliquerules import LLTBoostClassifier
from obliquerules.rows.frames import check_columns
from obliquerules.rows.reading import (
    LARGEST_VALUE,
    SMALLEST_SIZE,
    check_finite,
    check_not_tiny,
    check_size,
    read_weights,
)
from obliquerules.rules import Block

NUMBERS: list[Any] = [
    np.zeros((2, 2)),
    [[1, 2], [3, 4]],
    None,
    "not even a matrix: that is for others to say",
    pd.Series([1.0]),
    pl.Series([1.0]),
    pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": [True, False]}),
    pd.DataFrame({0: [1, 2], 1: [0.5, np.nan]}),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}),
    pd.DataFrame({"a": pd.Series([decimal.Decimal("1.5"), None], dtype=object), "b": pd.Series([1, 2**70], dtype=object)}),
    pd.DataFrame({"a": pd.Series([1, 2], dtype="int64[pyarrow]")}),
    pl.DataFrame({"a": [1, None], "b": [0.5, float("nan")], "c": [True, None], "d": [decimal.Decimal("1.5"), None]}),
    pa.table({"a": [1, None], "b": [0.5, float("nan")], "c": [True, None], "d": [decimal.Decimal("1.5"), None]}),
    pa.record_batch({"a": [1, 2]}),
    pd.DataFrame(),
    pl.DataFrame(),
]


@pytest.mark.parametrize("X", NUMBERS, ids=range(len(NUMBERS)))
def test_numbers_pass(X: Any) -> None:
    check_columns(X)


ODD: list[tuple[Any, str]] = [
    (pd.Series(["a", "b"], dtype=object), "text"),
    (pd.Series(["a", "b"], dtype="str"), "text"),
    (pd.Series(["a", "b"], dtype="category"), "categories"),
    (pd.Series([1, 2], dtype="category"), "categories"),
    (pd.Series([1, "b"], dtype=object), "values of type str"),
    (pd.Series([1, [2]], dtype=object), "values of type list"),
    (pd.Series([None, None], dtype=object), "nothing but missing values"),
    (pd.Series(pd.date_range("2020-01-01", periods=2)), "dates or times"),
    (pd.Series(pd.date_range("2020-01-01", periods=2, tz="UTC")), "dates or times"),
    (pd.Series(pd.to_timedelta([1, 2], unit="s")), "dates or times"),
    (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), "period"),
    (pd.Series([1j, 2j]), "complex128"),
    (pl.Series(["a", "b"]), "text"),
    (pl.Series(["a", "b"], dtype=pl.Categorical), "categories"),
    (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), "categories"),
    (pl.Series([None, None]), "nothing but missing values"),
    (pl.Series([[1], [2]]), "List"),
    (pl.Series([{"x": 1}, {"x": 2}]), "Struct"),
    (pl.Series([1, 2]).cast(pl.Date), "dates or times"),
    (pl.Series([1, 2]).cast(pl.Duration("us")), "dates or times"),
    (pa.array(["a", "b"]), "text"),
    (pa.array(["a", "b"]).dictionary_encode(), "categories"),
    (pa.array([None, None]), "nothing but missing values"),
    (pa.array([1, 2], type=pa.date32()), "dates or times"),
    (pa.array([[1], [2]]), "List"),
]


@pytest.mark.parametrize(("column", "what"), ODD, ids=range(len(ODD)))
def test_other_columns_are_named(column: Any, what: str) -> None:
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    frame = frames[type(column).__module__.split(".")[0]]({"fine": [1, 2], "it's odd": column})
    with pytest.raises(ValueError, match="Column 'it's odd' of X") as caught:
        check_columns(frame)
    assert what in str(caught.value)


def test_lazy_frames_and_twins_are_refused() -> None:
    with pytest.raises(ValueError, match="collect"):
        check_columns(pl.LazyFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"different names.*'a'"):
        check_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@given(
    X=hnp.arrays(
        float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.sampled_from([0.0, 1e308, np.nan, np.inf, -np.inf])
    )
)
def test_first_value_that_is_not_finite_is_named(X: np.ndarray) -> None:
    names = tuple("abcd"[: X.shape[1]])
    bad = [(column, row) for column in range(X.shape[1]) for row in range(len(X)) if not np.isfinite(X[row, column])]
    if not bad:
        check_finite(X, names)
        return
    column, row = bad[0]
    with pytest.raises(ValueError, match=f"'{names[column]}', first in row {row}[.]") as caught:
        check_finite(X, names)
    assert ("NaN" in str(caught.value)) == bool(np.isnan(X[row, column]))


def test_values_too_large_to_be_squared_are_refused() -> None:
    check_size(np.array([[LARGEST_VALUE, -LARGEST_VALUE]]), "X")
    for value in (2.0 * LARGEST_VALUE, -1e300):
        with pytest.raises(ValueError, match=r"^y has values beyond"):
            check_size(np.array([0.0, value]), "y")


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e-201])
def test_columns_and_weights_too_small_to_compute_with_are_refused(largest: float) -> None:
    check_not_tiny(np.array([[0.0, SMALLEST_SIZE, largest], [0.0, 0.0, -1.0]]), ("a", "b", "c"))
    with pytest.raises(ValueError, match=r"^Column 'b' of X has no value beyond .* too small"):
        check_not_tiny(np.array([[0.0, -largest], [1.0, 0.0]]), ("a", "b"))
    assert read_weights([largest, 1.0], 2).tolist() == [largest, 1.0]
    with pytest.raises(ValueError, match=r"^sample_weight has no entry beyond .* too small"):
        read_weights([largest, 0.0], 2)


@given(weight=st.lists(st.floats(0.0, 1e75, allow_subnormal=True), min_size=1, max_size=9).filter(lambda w: max(w) >= 1e-200))
def test_weights_pass_as_doubles(weight: list[float]) -> None:
    for given_as in (weight, np.array(weight), tuple(weight), pd.Series(weight), pl.Series(weight), pa.array(weight)):
        checked = read_weights(given_as, len(weight))
        assert checked.dtype == np.float64
        assert checked.tolist() == weight


def test_absent_and_single_weights_are_spread() -> None:
    assert read_weights(None, 3).tolist() == [1.0, 1.0, 1.0]
    assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert read_weights([True, False], 2).tolist() == [1.0, 0.0]


BAD_WEIGHTS: list[tuple[Any, str]] = [
    ([1.0, np.nan], "missing or infinite"),
    ([1.0, None], "missing or infinite"),
    ([np.inf, 1.0], "missing or infinite"),
    ([1.0, -1.0], "negative"),
    ([0.0, -0.0], "zero"),
    ([1.0], "2 rows"),
    ([[1.0, 1.0]], "2 rows"),
    ([1.0, 1e76], "beyond"),
    (["1", "heavy"], "numbers"),
    ([1.0, 1j], "numbers"),
]


@pytest.mark.parametrize(("weight", "what"), BAD_WEIGHTS, ids=str)
def test_other_weights_are_refused(weight: Any, what: str) -> None:
    with pytest.raises(ValueError, match=f"^sample_weight.*{what}"):
        read_weights(weight, 2)


def test_columns_with_names_need_no_data_frame():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[:, 1] += 2.0 * y
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = Block.of_matrix(X, ("a", "b"))
    model = LLTBoostClassifier(max_rules=2).fit(named, y)
    assert model.ensemble_ == LLTBoostClassifier(max_rules=2).fit(frame, y).ensemble_
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.decision_function(named).tolist() == model.decision_function(frame).tolist()


def test_columns_with_other_names_are_refused():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) >= 10
    model = LLTBoostClassifier(max_rules=1).fit(Block.of_matrix(X, ("a", "b")), y)
    with pytest.raises(ValueError, match="must be a, b, as in fit; got b, a"):
        model.predict(Block.of_matrix(X, ("b", "a")))
    with pytest.raises(ValueError, match=r"missing value .* in column 'b', first in row 3"):
        model.predict(Block.of_matrix(np.where(X == 7.0, np.nan, X), ("a", "b")))
