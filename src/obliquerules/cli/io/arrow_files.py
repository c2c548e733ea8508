"""Parquet and Arrow (Feather) files, read with pyarrow, an extra."""

from __future__ import annotations

from typing import IO, Any

import narwhals.stable.v2 as nw
import numpy as np

from obliquerules.cli.io.text_columns import Conventions, column_of_levels
from obliquerules.data.frames import column_of_series, kind_of_series
from obliquerules.data.levels import Filled, merged_order, missing_numbers, with_levels
from obliquerules.rules.columns import Column

# The length of a day in each unit.
OF_A_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}

# Columns that can be read, what the others hold, such as lists, and the names of all in the order of the file.
TypedColumns = tuple[list[Filled], dict[str, str], list[str]]


def read_arrow(file: IO[bytes], suffix: str, source: str, conventions: Conventions) -> TypedColumns:
    """Read a Parquet file, or an Arrow (Feather) file or stream."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(f"Reading {suffix} files needs pyarrow: pip install 'obliquerules[arrow]'.") from error
    try:
        if suffix == ".parquet":
            table = pq.read_table(file)
        else:
            try:
                table = pa.ipc.open_file(file).read_all()
            except pa.ArrowInvalid:
                file.seek(0)
                table = pa.ipc.open_stream(file).read_all()
    except (pa.ArrowException, pa.ArrowInvalid) as error:
        kind = "a Parquet" if suffix == ".parquet" else "an Arrow"
        raise ValueError(f"{source} is not {kind} file: {str(error).splitlines()[0]}") from error
    if not table.column_names:
        raise ValueError(f"{source} is empty: it has no columns.")
    return columns_of_table(table, conventions)


def columns_of_table(table: Any, conventions: Conventions) -> TypedColumns:
    """Return the columns of a table of pyarrow."""
    pairs = zip(table.column_names, table.columns, strict=True)
    found = [(name, _column(name, values, conventions)) for name, values in pairs]
    columns = [column for _, column in found if not isinstance(column, str)]
    return columns, {name: kind for name, kind in found if isinstance(kind, str)}, table.column_names


def _column(name: str, values: Any, conventions: Conventions) -> Filled | str:
    """Return a column, or its kind if it is useless."""
    import pyarrow.types as kinds

    if values.null_count == len(values):
        return missing_numbers(name, len(values))
    categories = kinds.is_dictionary(values.type)
    ordered = categories and values.type.ordered
    order = merged_order(name, (chunk.dictionary.to_pylist() for chunk in values.chunks)) if ordered else []
    plain = values.cast(values.type.value_type) if categories else values
    if name in conventions.levels:
        return column_of_levels(name, [_cell(value, conventions) for value in plain.to_pylist()], conventions.levels[name])
    if kinds.is_string(plain.type) or kinds.is_large_string(plain.type) or kinds.is_string_view(plain.type):
        return _texts(name, plain, order if ordered else None, conventions)
    if categories and kinds.is_integer(plain.type):
        codes = [None if value in conventions.missing_numbers else value for value in plain.to_pylist()]
        return _ordered(name, codes, order) if ordered else with_levels(name, codes)
    return _numbers(name, plain, conventions)


def _texts(name: str, values: Any, order: list[Any] | None, conventions: Conventions) -> Filled:
    """Return text as levels; only different texts become objects of Python."""
    import pyarrow as pa

    encoded = values.cast(pa.large_string()).dictionary_encode().unify_dictionaries()
    texts = [None if conventions.says_missing(text) else text for text in encoded.chunk(0).dictionary.to_pylist()]
    column, codes = with_levels(name, texts) if order is None else _ordered(name, texts, order)
    places = [chunk.indices.fill_null(len(texts)).to_numpy() for chunk in encoded.chunks]
    return column, np.append(codes, np.nan)[np.concatenate(places)]


def _numbers(name: str, values: Any, conventions: Conventions) -> Filled | str:
    """Return numbers, booleans, dates or durations, or what else a column holds."""
    import pyarrow as pa

    if pa.types.is_time(values.type):
        counted = values.cast(pa.int32() if pa.types.is_time32(values.type) else pa.int64())
        return Column(name, kind="duration"), _doubles(counted) / OF_A_DAY[values.type.unit]
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        numbers = _doubles(values)
        return Column(name), np.where(np.isin(numbers, conventions.missing_numbers), np.nan, numbers)
    series = nw.from_native(values, series_only=True)
    if series.dtype == nw.Boolean or series.dtype in (nw.Date, nw.Datetime, nw.Duration):
        return column_of_series(name, series)
    return kind_of_series(series)


def kind_of_type(kind: Any) -> str:
    """Return in words what a column of a useless type holds."""
    import pyarrow as pa

    return kind_of_series(nw.from_native(pa.chunked_array([], type=kind), series_only=True))


def _doubles(values: Any) -> Any:
    import pyarrow as pa

    return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)


def _ordered(name: str, values: list[Any], order: list[Any]) -> Filled:
    occurring = set(values)
    levels = tuple(level for level in order if level in occurring and level is not None)
    codes = {level: float(code) for code, level in enumerate(levels)} | {None: np.nan}
    return Column(name, levels, ordered=True), np.array([codes[value] for value in values], dtype=np.float64)


def _cell(value: Any, conventions: Conventions) -> str | None:
    """Return a value as text, None if it is missing."""
    if value is None or value != value or value in conventions.missing_numbers:
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return None if conventions.says_missing(text) else text
