"""Data frames of pandas, polars and pyarrow as columns with values."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from obliquerules.data.levels import (
    Filled,
    block_of,
    column_of_moments,
    column_of_objects,
    first_come,
    looked_up,
    merged_order,
    missing_numbers,
    refusal,
)
from obliquerules.rules.columns import DAY, UNSEEN, Block, Column, as_level, is_nothing


def own_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, None without text names."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not all(isinstance(name, str) for name in frame.columns):
        return None
    return tuple(frame.columns)


def special_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return X as a data frame, None if it holds numbers only."""
    try:
        frame = nw.from_native(X, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"The columns of X need different names, so that a rule can say which it means. {reason}") from error
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame, which holds no values yet: collect it first.")
    return frame if any(not dtype.is_numeric() for dtype in schema.values()) else None


def block_of_frame(frame: nw.DataFrame[Any], ordered: tuple[str, ...] = ()) -> Block:
    """Return a data frame as a block; ``ordered`` names ordered categories."""
    if not frame.columns:
        raise ValueError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return block_of([column_of_series(str(name), frame.get_column(name), name in ordered) for name in frame.columns])


def column_of_series(name: str, series: nw.Series[Any], ordered: bool = False) -> Filled:
    """Return a column of a data frame with its values."""
    native = series.to_native()
    if series.dtype == nw.Unknown and getattr(getattr(native, "dtype", None), "tz", None) is not None:
        # A time zone that narwhals cannot read.
        series = nw.from_native(native.dt.tz_convert("UTC"), series_only=True)
    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name), _numbers(series)
    if dtype == nw.Boolean:
        return Column(name, (False, True)), np.array([np.nan if is_nothing(one) else float(one) for one in series.to_list()])
    if series.is_null().all():
        return missing_numbers(name, len(series))
    if dtype in (nw.Categorical, nw.Enum):
        return _categories(name, series, ordered)
    # Among Python objects, narwhals looks only at the first.
    if dtype == nw.Object or getattr(native, "dtype", None) == np.dtype(object):
        return column_of_objects(name, series.to_list())
    if dtype == nw.String:
        return first_come(name, series.to_list())
    if dtype in (nw.Date, nw.Datetime):
        moments = series.cast(nw.Datetime("us")) if dtype == nw.Date else series
        return column_of_moments(name, _numbers(moments.dt.timestamp("us")) / 1e6)
    if dtype == nw.Duration:
        return Column(name, kind="duration"), _numbers(series.dt.total_microseconds()) / (1e6 * DAY)
    raise ValueError(refusal(name, kind_of_series(series)))


def _numbers(series: nw.Series[Any]) -> Any:
    """Return numbers as doubles, NaN where one is missing."""
    # pyarrow refuses to cast whole numbers beyond 2^53, which NumPy rounds; NumPy lacks these types.
    foreign = series.dtype.is_decimal() or series.dtype in (nw.Int128, nw.UInt128)
    numbers = series.cast(nw.Float64) if foreign else series
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def _categories(name: str, series: nw.Series[Any], ordered: bool) -> Filled:
    """Return categories as levels, all of them where they are ordered."""
    order = _order_of(name, series, ordered)
    column, codes = first_come(name, series.to_list())
    if order is None or column.levels is None:
        return column, codes
    levels = list(map(as_level, order))
    places = [float(levels.index(level)) for level in column.levels]
    return Column(name, tuple(levels), ordered=True), looked_up(np.array([*places, UNSEEN, np.nan]), codes)


def _order_of(name: str, series: nw.Series[Any], ordered: bool) -> list[Any] | None:
    """Return the categories in order, None without an order."""
    native = series.to_native()
    kind = getattr(native, "dtype", getattr(native, "type", None))
    arrow = getattr(kind, "pyarrow_dtype", kind)  # pandas may hold an array of pyarrow
    if not (ordered or getattr(arrow, "ordered", False)):
        return None
    if not hasattr(arrow, "value_type"):
        return list(series.cat.get_categories().to_list())
    chunks = native.array.__arrow_array__() if arrow is not kind else native
    return merged_order(name, (chunk.dictionary.to_pylist() for chunk in chunks.chunks))


def kind_of_series(column: nw.Series[Any]) -> str:
    """Return the type of an unreadable column, in words."""
    return f"values of type {getattr(column.to_native(), 'dtype', column.dtype)}"


def column_kinds(X: Any) -> dict[str, str]:
    """Return "boolean", "integer", "decimal" or "double" by column name."""
    frame = nw.from_native(X, pass_through=True)
    kinds: dict[str, str] = {}
    for name, dtype in frame.schema.items() if isinstance(frame, nw.DataFrame) else ():
        if dtype == nw.Boolean:
            kinds[name] = "boolean"
        elif dtype.is_integer():
            kinds[name] = "integer"
        elif dtype.is_decimal() or dtype.is_float():
            kinds[name] = "decimal" if dtype.is_decimal() else "double"
    return kinds


def misplaced_column(X: Any, expected: tuple[str, ...]) -> str:
    """Name the first column of a data frame in another's place."""
    names = nw.from_native(X, eager_only=True).columns
    index = next(i for i, (name, wanted) in enumerate(zip(names, expected, strict=True)) if name != wanted)
    return f"Column '{names[index]}' stands where '{expected[index]}' stood in fit."
