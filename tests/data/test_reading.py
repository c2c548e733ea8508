"""Columns and weights: what passes, what is refused, and that the complaint names it."""

import datetime
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

from obliquerules import LLTBoostClassifier, TGBRegressor
from obliquerules.data.frames import special_frame
from obliquerules.data.reading import check_not_infinite, read_training, read_weights
from obliquerules.data.training_columns import LARGEST_VALUE, SMALLEST_SIZE, check_size, check_sizes
from obliquerules.rules import Block, Column, Columns

from .reading import read_in

NUMBERS: list[Any] = [
    np.zeros((2, 2)),
    [[1, 2], [3, 4]],
    None,
    "not even a matrix: that is for others to say",
    pd.Series([1.0]),
    pl.Series([1.0]),
    pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
    pd.DataFrame({0: [1, 2], 1: [0.5, np.nan]}),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    pd.DataFrame({"a": pd.Series([1, 2], dtype="int64[pyarrow]")}),
    pl.DataFrame({"a": [1, None], "b": [0.5, float("nan")], "d": [decimal.Decimal("1.5"), None]}),
    pa.table({"a": [1, None], "b": [0.5, float("nan")], "d": [decimal.Decimal("1.5"), None]}),
    pa.record_batch({"a": [1, 2]}),
    pd.DataFrame(),
    pl.DataFrame(),
]


@pytest.mark.parametrize("X", NUMBERS, ids=range(len(NUMBERS)))
def test_numbers_need_no_special_care(X: Any) -> None:
    assert special_frame(X) is None


NAN = float("nan")
MISSING = Column("c", missing=True)
DATES = Column("c", kind="date", missing=True)
STAYS = Column("c", kind="duration", missing=True)
COLOURS = Column("c", ("b", "a"), missing=True)
SPECIAL: list[tuple[Any, Column, list[float]]] = [
    (pd.Series(["b", "a", None, "b"], dtype=object), COLOURS, [0, 1, NAN, 0]),
    (pd.Series(["b", "a", None, "b"], dtype="str"), COLOURS, [0, 1, NAN, 0]),
    (pd.Series(["b", "a", None, "b"], dtype="category"), COLOURS, [0, 1, NAN, 0]),
    (pd.Series(["b", "a", None, "b"], dtype="string[pyarrow]"), COLOURS, [0, 1, NAN, 0]),
    (pl.Series(["b", "a", None, "b"]), COLOURS, [0, 1, NAN, 0]),
    (pl.Series(["b", "a", None, "b"], dtype=pl.Categorical), COLOURS, [0, 1, NAN, 0]),
    (pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["z", "a", "b"])), COLOURS, [0, 1, NAN, 0]),
    (pa.array(["b", "a", None, "b"]), COLOURS, [0, 1, NAN, 0]),
    (pa.array(["b", "a", None, "b"]).dictionary_encode(), COLOURS, [0, 1, NAN, 0]),
    (pd.Series([7, 5, None, 7], dtype="category"), Column("c", (7, 5), missing=True), [0, 1, NAN, 0]),
    (pd.Series([0.5, 5, None, 7], dtype="category"), MISSING, [0.5, 5, NAN, 7]),
    (
        pd.Series(pd.Categorical(["b", "a", None, "b"], categories=["b", "z", "a"], ordered=True)),
        Column("c", ("b", "a"), ordered=True, missing=True),
        [0, 1, NAN, 0],
    ),
    (pd.Series([True, False, False, True]), Column("c", (False, True)), [1, 0, 0, 1]),
    (pd.Series([True, None, False, True], dtype="boolean"), Column("c", (False, True), missing=True), [1, NAN, 0, 1]),
    (pd.Series([True, None, False, True], dtype=object), Column("c", (False, True), missing=True), [1, NAN, 0, 1]),
    (pl.Series([True, None, False, True]), Column("c", (False, True), missing=True), [1, NAN, 0, 1]),
    (pa.array([True, None, False, True]), Column("c", (False, True), missing=True), [1, NAN, 0, 1]),
    (pd.Series([None, None, None, None], dtype=object), MISSING, [NAN] * 4),
    (pl.Series([None, None, None, None]), MISSING, [NAN] * 4),
    (
        pd.Series(pd.to_datetime(["1970-01-02", None, "1970-01-05", "1969-12-31"])),
        Column("c", kind="date", missing=True),
        [1, NAN, 4, -1],
    ),
    (pd.Series(pd.date_range("1970-01-01 00:00:01", periods=4, tz="UTC", freq="s")), Column("c", kind="time"), [1, 2, 3, 4]),
    (
        pd.Series([datetime.date(1970, 1, 3), None, None, datetime.date(1970, 1, 1)], dtype=object),
        Column("c", kind="date", missing=True),
        [2, NAN, NAN, 0],
    ),
    (pl.Series([1, 2, None, 4]).cast(pl.Date), Column("c", kind="date", missing=True), [1, 2, NAN, 4]),
    (pa.array([1, 2, None, 4], type=pa.date32()), Column("c", kind="date", missing=True), [1, 2, NAN, 4]),
    (pd.Series(pd.to_timedelta([1, 2, None, 4], unit="D")), STAYS, [1, 2, NAN, 4]),
    (
        pl.Series([86400 * 10**6, None, 0, 0]).cast(pl.Duration("us")),
        Column("c", kind="duration", missing=True),
        [1, NAN, 0, 0],
    ),
    (pd.Series([1, 0, None, 1], dtype="Int64"), Column("c", kind="flag", missing=True), [1, 0, NAN, 1]),
    (pl.Series([1, 0, None, 1]), Column("c", kind="flag", missing=True), [1, 0, NAN, 1]),
    (pd.Series([1, 0.5, None, 1]), MISSING, [1, 0.5, NAN, 1]),
]


def frame_of(column: Any) -> Any:
    """Return a frame of the package of a column, with another column that says which package it is."""
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    return frames[type(column).__module__.split(".")[0]]({"fine": [1, 2, 3, 4], "c": column})


@pytest.mark.parametrize(("column", "described", "values"), SPECIAL, ids=range(len(SPECIAL)))
def test_columns_are_taken_as_they_are(column: Any, described: Column, values: list[float]) -> None:
    block = read_training(frame_of(column), None, "The model")
    assert block.column(1) == described
    assert np.array_equal(block.matrix[:, 1], values, equal_nan=True)


@pytest.mark.parametrize(("column", "described", "values"), SPECIAL, ids=range(len(SPECIAL)))
def test_what_was_learned_from_reads_the_same_again(column: Any, described: Column, values: list[float]) -> None:
    columns = Columns.of(["fine", described])
    assert np.array_equal(read_in(columns, frame_of(column)).matrix[:, 1], values, equal_nan=True)


def test_the_order_of_an_enum_counts_on_request() -> None:
    frame = pl.DataFrame({"c": pl.Series(["b", "a", "b"], dtype=pl.Enum(["z", "a", "b"]))})
    assert read_training(frame, None, "The model", ("c",)).column(0) == Column("c", ("a", "b"), ordered=True)


@pytest.mark.parametrize("values", [[datetime.date(2021, 3, 1), datetime.date(2021, 3, 2)], [1, 2], ["u", "v"]], ids=repr)
def test_objects_are_the_same_after_many_missing_ones(values: list[Any]) -> None:
    objects = pd.DataFrame({"c": pd.Series([None] * 200 + values * 10, dtype=object)})
    assert read_training(objects, None, "The model").columns == read_training(objects[::-1], None, "The model").columns


def test_an_array_of_objects_has_levels_too() -> None:
    block = read_training(np.array([["u", 1], ["v", None], ["u", 2.5]], dtype=object), None, "The model")
    assert (block.column(0), block.column(1)) == (Column("x0", ("u", "v")), Column("x1", missing=True))
    assert np.array_equal(block.matrix, [[0, 1], [1, NAN], [0, 2.5]], equal_nan=True)


ZONES = ["America/New_York", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Kolkata", "UTC"]


@pytest.mark.parametrize("zone", ZONES)
def test_times_of_any_zone_are_those_of_the_moment(zone: str) -> None:
    moments = pd.date_range("2021-03-01 12:30", periods=4, freq="h", tz=zone)
    seconds = [moment.timestamp() for moment in moments]
    objects = np.array([[moment, "text"] for moment in moments], dtype=object)
    for X in (
        pd.DataFrame({"c": moments}),
        pd.DataFrame({"c": pd.Series(moments).astype(f"timestamp[us, tz={zone}][pyarrow]")}),
        pl.DataFrame({"c": pl.Series(moments.tz_convert("UTC")).dt.convert_time_zone(zone)}),
        pa.table({"c": pa.array(moments)}),
        objects,
    ):
        block = read_training(X, None, "The model")
        assert block.column(0).kind == "time"
        assert block.matrix[:, 0].tolist() == seconds


@pytest.mark.parametrize("make", [pd.Timestamp, np.datetime64, datetime.datetime.fromisoformat])
def test_objects_that_are_times_are_those_of_a_column_of_times(make: Any) -> None:
    texts = ["1969-12-31T23:59:59.999999", "2021-03-01T12:30:00.123457", "2199-01-01T00:00:00.000001"]
    objects = [make(text) for text in texts]
    as_objects = read_training(np.array([[one, "a"] for one in (*objects, None)], dtype=object), None, "The model")
    as_times = read_training(pd.DataFrame({"c": pd.to_datetime(pd.Series([*texts, None]))}), None, "The model")
    np.testing.assert_array_equal(as_objects.matrix[:, 0], as_times.matrix[:, 0])
    assert as_objects.column(0).kind == as_times.column(0).kind == "time"


@pytest.mark.parametrize("make", [pd.Timedelta, np.timedelta64])
def test_objects_that_are_durations_are_days(make: Any) -> None:
    block = read_training(np.array([[make(36, "h"), "a"], [None, "b"]], dtype=object), None, "The model")
    assert block.column(0).kind == "duration"
    np.testing.assert_array_equal(block.matrix[:, 0], [1.5, NAN])


def test_whole_numbers_beyond_what_doubles_hold_are_rounded() -> None:
    numbers = [2**53 + 1, 2**62 + 1, None, -(2**60) - 1]
    expected = [NAN if number is None else float(number) for number in numbers]
    text = ["a", "b", "a", "b"]
    for X in (
        pa.table({"c": numbers, "d": text}),
        pl.DataFrame({"c": numbers, "d": text}),
        pl.DataFrame({"c": pl.Series(numbers, dtype=pl.Int128), "d": text}),
        pd.DataFrame({"c": pd.array(numbers, dtype="Int64"), "d": text}),
        pd.DataFrame({"c": pd.array(numbers, dtype="int64[pyarrow]"), "d": text}),
    ):
        np.testing.assert_array_equal(read_training(X, None, "The model").matrix[:, 0], expected)


def in_dictionaries(*chunks: tuple[list[int], list[Any]]) -> pa.ChunkedArray:
    parts = [pa.DictionaryArray.from_arrays(codes, values, ordered=True) for codes, values in chunks]
    return pa.chunked_array(parts)


@pytest.mark.parametrize("in_pandas", [False, True])
@pytest.mark.parametrize(
    "stages",
    [
        in_dictionaries(([0, 2, 1, None], ["low", "mid", "high"])),
        in_dictionaries(([0, 1], ["low", "high"]), ([1, None], ["low", "mid", "high"])),
        in_dictionaries(([0, 1], ["mid", "high"]), ([0, 1], ["low", "mid"])),
    ],
)
def test_the_order_of_a_dictionary_of_pyarrow_counts(stages: pa.ChunkedArray, in_pandas: bool) -> None:
    X = pd.DataFrame({"c": pd.arrays.ArrowExtensionArray(stages)}) if in_pandas else pa.table({"c": stages})
    block = read_training(X, None, "The model")
    column, places = block.column(0), {"low": 0.0, "mid": 1.0, "high": 2.0, None: NAN}
    assert column.ordered
    assert column.levels == ("low", "mid", "high")
    np.testing.assert_array_equal(block.matrix[:, 0], [places[stage] for stage in stages.to_pylist()])


def test_contradictory_orders_in_one_column_are_refused() -> None:
    stages = in_dictionaries(([0, 1], ["low", "high"]), ([0, 1], ["high", "low"]))
    with pytest.raises(ValueError, match="parts of column 'c' of X have the same categories in different orders"):
        read_training(pa.table({"c": stages}), None, "The model")


def test_an_identifier_is_left_out_with_a_warning() -> None:
    frame = pd.DataFrame({"patient": [f"p{i}" for i in range(30)], "ward": list("ab") * 15})
    with pytest.warns(UserWarning, match="Nothing is learned from 'patient': text that differs in nearly every row"):
        block = read_training(frame, None, "The model")
    assert (block.column(0).levels, block.column(1).levels) == ((), ("a", "b"))


OTHER: list[tuple[Any, Column, str]] = [
    (pd.Series(["a", "b", "c", "d"]), Column("c"), "holds text, but held numbers in fit"),
    (pd.Series([1.0, 2.0, 3.0, 4.0]), Column("c", ("a", "b")), "holds numbers, but held text in fit"),
    (pd.Series([True, False, True, True]), Column("c", ("a", "b")), "holds booleans, but held text in fit"),
    (pd.Series([1.0, 2.0, 3.0, 4.0]), Column("c", kind="date"), "holds numbers, but held dates in fit"),
    (pd.Series(pd.date_range("2020-01-01", periods=4)), Column("c"), "holds dates, but held numbers in fit"),
]


@pytest.mark.parametrize(("column", "described", "what"), OTHER, ids=range(len(OTHER)))
def test_columns_that_hold_something_else_than_in_fit_are_named(column: Any, described: Column, what: str) -> None:
    with pytest.raises(ValueError, match=f"Column 'c' of X {what}"):
        read_in(Columns.of(["fine", described]), frame_of(column))


def test_levels_never_seen_and_dates_as_times_are_read() -> None:
    columns = Columns.of(["fine", Column("c", ("b", "a"))])
    levels = read_in(columns, frame_of(pd.Series(["a", "new", None, "b"])))
    assert np.array_equal(levels.matrix[:, 1], [1, -1, NAN, 0], equal_nan=True)
    columns = Columns.of(["fine", Column("c", kind="time")])
    times = read_in(columns, frame_of(pd.Series(pd.date_range("1970-01-01", periods=4))))
    assert times.matrix[:, 1].tolist() == [0.0, 86400.0, 2 * 86400.0, 3 * 86400.0]


ODD: list[tuple[Any, str]] = [
    (pd.Series([1, "b", 2, 3], dtype=object), "numbers and text"),
    (pd.Series([True, "b", 2, 3], dtype=object), "booleans and numbers and text"),
    (pd.Series([1, [2], 3, 4], dtype=object), "values of type list"),
    (pd.Series(pd.period_range("2020-01", periods=4, freq="M")), "period"),
    (pd.Series([1j, 2j, 3j, 4j]), "complex128"),
    (pl.Series([[1], [2], [3], [4]]), "List"),
    (pl.Series([{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}]), "Struct"),
    (pa.array([[1], [2], [3], [4]]), "List"),
]


@pytest.mark.parametrize(("column", "what"), ODD, ids=range(len(ODD)))
def test_other_columns_are_named(column: Any, what: str) -> None:
    with pytest.raises(ValueError, match="Column 'c' of X") as caught:
        read_training(frame_of(column), None, "The model")
    assert what in str(caught.value)


def test_lazy_frames_and_twins_are_refused() -> None:
    with pytest.raises(ValueError, match="collect"):
        special_frame(pl.LazyFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"different names.*'a'"):
        special_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@given(
    X=hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.sampled_from([0.0, NAN, np.inf, -np.inf]))
)
def test_the_first_infinite_value_is_named(X: np.ndarray) -> None:
    names = tuple("abcd"[: X.shape[1]])
    bad = [(column, row) for column in range(X.shape[1]) for row in range(len(X)) if np.isinf(X[row, column])]
    if not bad:
        check_not_infinite(X, names)
        return
    column, row = bad[0]
    with pytest.raises(ValueError, match=f"'{names[column]}', first in row {row}[.]"):
        check_not_infinite(X, names)


def test_values_too_large_to_be_squared_are_refused() -> None:
    check_size(np.array([[LARGEST_VALUE, -LARGEST_VALUE]]), "X")
    for value in (2.0 * LARGEST_VALUE, -1e300):
        with pytest.raises(ValueError, match=r"^y has values beyond"):
            check_size(np.array([0.0, value]), "y")


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e-201])
def test_columns_and_weights_too_small_to_compute_with_are_refused(largest: float) -> None:
    check_sizes(np.array([[0.0, SMALLEST_SIZE, largest], [0.0, 0.0, -1.0]]), ("a", "b", "c"))
    with pytest.raises(ValueError, match=r"^Column 'b' of X has no value beyond .* too small"):
        check_sizes(np.array([[0.0, -largest], [1.0, 0.0]]), ("a", "b"))
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
    with pytest.raises(ValueError, match=r"infinite value .* in column 'b', first in row 3"):
        model.predict(Block.of_matrix(np.where(X == 7.0, np.inf, X), ("a", "b")))


def test_values_missing_where_none_was_in_fit_are_told_of_once():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) >= 10
    model = LLTBoostClassifier(max_rules=1).fit(Block.of_matrix(X, ("a", "b")), y)
    used = model.ensemble_.feature_names[model.ensemble_.used_columns[0]]
    with pytest.warns(UserWarning, match=f"Values are missing in '{used}', which had none in fit") as caught:
        model.predict(Block.of_matrix(np.full((1, 2), NAN), ("a", "b")))
    assert len(caught) == 1


def with_towns(n_rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    row = np.arange(n_rows)
    X = pd.DataFrame({"town": np.array(["Ulm", "Bonn"])[row % 2], "ward": np.array(["a", "b", "c"])[row % 3], "idle": "x"})
    return X, 3.0 * (X.town == "Ulm") + (X.ward == "a") + 0.01 * np.sin(row)


def test_levels_never_seen_in_fit_are_told_of_once_with_their_rows():
    X, y = with_towns()
    model = TGBRegressor(max_rules=3).fit(X, y)
    assert {X.columns[column] for column in model.ensemble_.used_columns} == {"town", "ward"}
    new = X.assign(town=X.town.where(np.arange(60) >= 7, "Jena"), ward=X.ward.where(np.arange(60) != 5, "d"), idle="z")
    for ask in (model.predict, model.score_samples, model.explain, model.rule_table, lambda X: list(model.staged_predict(X))):
        with pytest.warns(UserWarning, match=r"not seen in fit occur in 'town' \(7 rows\), 'ward' \(1 row\): ") as caught:
            ask(new)
        assert len(caught) == 1
    with pytest.warns(UserWarning, match="'town'") as caught:
        model.closest_change(new.iloc[0], new, below=1.0)
    assert len(caught) == 1


def test_missing_values_and_levels_in_columns_without_rules_are_not_told_of():
    X, y = with_towns()
    gaps = X.assign(town=X.town.where(np.arange(60) >= 7, None))
    model = TGBRegressor(max_rules=3).fit(gaps, y)
    model.predict(gaps)
    constant = model.at(0)
    constant.predict(X.assign(town="Jena"))
