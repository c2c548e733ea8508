"""Parquet and Arrow files, read with pyarrow, which is an extra."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquerules.cli.table import Column, Table, check_names

TEXTS = ("string", "large_string", "string_view")


def read_arrow(name: str, suffix: str) -> Table:
    """Read a Parquet file, or an Arrow file (also known as Feather) or stream."""
    source = f"'{name}'"
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"Reading {suffix} files needs pyarrow: pip install 'obliquerules[arrow]'.") from error
    try:
        with open(name, "rb") as file:
            table = _parquet(file) if suffix == ".parquet" else _arrow(file)
    except (pa.ArrowException, pa.ArrowInvalid) as error:
        kind = "a Parquet" if suffix == ".parquet" else "an Arrow"
        raise ValueError(f"{source} is not {kind} file: {str(error).splitlines()[0]}") from error
    names = table.column_names
    if not names:
        raise ValueError(f"{source} is empty: it has no columns.")
    check_names(names, source)
    return Table(source, tuple(map(_column, names, table.columns)))


def _parquet(file: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(file)


def _arrow(file: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(file).read_all()
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file).read_all()


def _column(name: str, values: Any) -> Column:
    import pyarrow as pa
    from pyarrow import types

    kind = values.type.value_type if types.is_dictionary(values.type) else values.type
    missing = np.array(values.is_null(nan_is_null=True).to_pylist(), dtype=np.bool_)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = values.cast(kind).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
        return Column(name, missing, numbers, None, "booleans" if types.is_boolean(kind) else "numbers")
    if str(kind) in TEXTS:
        return Column(name, missing, None, np.array(values.cast(kind).to_pylist(), dtype=object), "text")
    what = "dates or times" if types.is_temporal(kind) else f"values of type {values.type}"
    return Column(name, missing, None, None, "nothing but missing values" if missing.all() else what)
