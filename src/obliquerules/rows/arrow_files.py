"""Parquet and Arrow files, read with pyarrow, which is an extra."""

from __future__ import annotations

from typing import IO, Any

import narwhals.stable.v2 as nw
import numpy as np

from obliquerules.rows.frames import NOTHING, kind_of_series
from obliquerules.rows.levels import Filled, missing_numbers, with_levels
from obliquerules.rules.columns import Column


def read_arrow(file: IO[bytes], suffix: str, source: str) -> tuple[list[Filled], dict[str, str], list[str]]:
    """Read a Parquet file, or an Arrow file (also known as Feather) or stream.

    Returns
    -------
    columns : list of (Column, array)
    unread : dict of str to str
        What the columns hold that are neither numbers nor text.
    names : list of str
        The names of all columns, in the order of the file.
    """
    table = _table(file, suffix, source)
    if not table.column_names:
        raise ValueError(f"{source} is empty: it has no columns.")
    found = [(name, _column(name, values)) for name, values in zip(table.column_names, table.columns, strict=True)]
    columns = [column for _, column in found if not isinstance(column, str)]
    return columns, {name: kind for name, kind in found if isinstance(kind, str)}, table.column_names


def _table(file: IO[bytes], suffix: str, source: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"Reading {suffix} files needs pyarrow: pip install 'obliquerules[arrow]'.") from error
    try:
        return _parquet(file) if suffix == ".parquet" else _arrow(file)
    except (pa.ArrowException, pa.ArrowInvalid) as error:
        kind = "a Parquet" if suffix == ".parquet" else "an Arrow"
        raise ValueError(f"{source} is not {kind} file: {str(error).splitlines()[0]}") from error


def _parquet(file: IO[bytes]) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(file)


def _arrow(file: IO[bytes]) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(file).read_all()
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file).read_all()


def _column(name: str, values: Any) -> Filled | str:
    """Return a column, or what it holds if that is neither numbers nor text."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = kind_of_series(nw.from_native(values, series_only=True))
    if kind == NOTHING:
        return missing_numbers(name, len(values))
    if kind == "numbers":
        return Column(name), values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    return with_levels(name, values.to_pylist()) if kind in ("booleans", "text") else kind
