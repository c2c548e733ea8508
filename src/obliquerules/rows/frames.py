"""Data frames of pandas, polars and pyarrow: what their columns hold and are called."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from obliquerules.rows.levels import refusal

NOTHING = "nothing but missing values"


def given_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame; None if X is something else, or its columns have numbers."""
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not all(isinstance(name, str) for name in frame.columns):
        return None
    return tuple(frame.columns)


def check_columns(X: Any) -> None:
    """Raise if X is a data frame with columns that are not numbers; anything but a data frame passes."""
    try:
        frame = nw.from_native(X, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"The columns of X need different names, so that a rule can say which it means. {reason}") from error
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame, which holds no values yet: collect it first.")
    for name, column in zip(schema, frame.iter_columns() if schema else (), strict=True):
        if (kind := kind_of_series(column)) not in ("numbers", "booleans"):
            raise ValueError(refusal(name, kind))


def _odd_one_out(column: nw.Series[Any]) -> str | None:
    """Return the type of the first Python object in a column that is neither a number nor None; None if all are."""
    for value in column.to_list():
        try:
            float(0.0 if value is None else value)
        except (TypeError, ValueError, OverflowError):
            return type(value).__name__
    return None


def kind_of_series(column: nw.Series[Any]) -> str:
    """Return what a column holds, in words."""
    if column.dtype.is_numeric() or (column.dtype == nw.Object and _odd_one_out(column) is None):
        return "numbers"
    if column.dtype == nw.Boolean:
        return "booleans"
    if column.is_null().all():
        return NOTHING
    if column.dtype == nw.String:
        return "text"
    if column.dtype in (nw.Categorical, nw.Enum):
        return "categories"
    if column.dtype == nw.Object:
        return f"values of type {_odd_one_out(column)}"
    native = column.to_native()
    return "dates or times" if column.dtype.is_temporal() else f"values of type {getattr(native, 'dtype', column.dtype)}"


def column_kinds(X: Any) -> dict[str, str]:
    """Return the columns of a data frame that hold booleans, integers, decimals or doubles; empty if X is something else."""
    frame = nw.from_native(X, pass_through=True)
    schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    return {name: kind for name, dtype in schema.items() if (kind := _kind_of_type(dtype)) is not None}


def _kind_of_type(dtype: Any) -> str | None:
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_integer():
        return "integer"
    return "decimal" if dtype.is_decimal() else "double" if dtype.is_float() else None


def misplaced_column(X: Any, expected: tuple[str, ...]) -> str:
    """Say which column of a data frame is the first that stands in another's place."""
    names = nw.from_native(X, eager_only=True).columns
    index = next(i for i, (name, wanted) in enumerate(zip(names, expected, strict=True)) if name != wanted)
    return f"Column '{names[index]}' stands where '{expected[index]}' stood in fit."
