"""Training data larger than memory: Parquet files in blocks."""

from __future__ import annotations

import argparse
import functools
import operator
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obliquerules.cli.column_summary import LISTED_COLUMNS, aligned
from obliquerules.cli.input_table import conventions_of
from obliquerules.cli.io.arrow_files import columns_of_table, kind_of_type
from obliquerules.cli.io.data_file import DataFile, check_names
from obliquerules.cli.roles import RoleColumns, all_names
from obliquerules.cli.target_column import TargetColumn
from obliquerules.cli.training_table import KnownRows, TrainingData, check_left, input_names, target_and_roles
from obliquerules.data.levels import block_of
from obliquerules.data.parquet_tables import ParquetTable, parquet_dataset
from obliquerules.rules.text.style import plain_name

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?B)?", re.IGNORECASE | re.ASCII)
# The rows take this part of the machine's memory: while they are read and learned from, they are there several times.
SHARE = 0.25
# The default where a machine does not tell how much memory it has.
DEFAULT_MEMORY = 2 * 10**9
# What needs all rows at once.
IN_MEMORY = ("groups", "categorical", "missing_values")


@dataclass(frozen=True, eq=False)
class LargeFile:
    """A Parquet dataset, its name, and the reason for reading blocks."""

    dataset: Any
    source: str
    why: str


def large_file(options: argparse.Namespace) -> LargeFile | None:
    """Return the file or folder to read in blocks, if any."""
    path, source = Path(options.data), f"'{options.data}'"
    if path.is_dir():
        return LargeFile(parquet_dataset(path), source, "it is a folder")
    if path.suffix.lower() != ".parquet":
        if options.memory is not None:
            raise ValueError(f"--memory is for .parquet; it cannot be used with {source}.")
        return None
    if options.memory is None:
        try:
            limit = int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (AttributeError, ValueError, OSError):  # not every system has them
            limit = DEFAULT_MEMORY
    else:
        limit = memory_size(options.memory)
    if not path.is_file():
        return None
    dataset = parquet_dataset(path)
    # Rows take what those of the file take when decompressed or, where it repeats values, what doubles take.
    groups = [group for fragment in dataset.get_fragments() for group in fragment.row_groups]
    n_values = len(dataset.schema) * sum(group.num_rows for group in groups)
    taken = max(sum(group.total_byte_size for group in groups), 8 * n_values)
    why = f"its rows take {_readable(taken)}, and --memory is {_readable(limit)}"
    return LargeFile(dataset, source, why) if taken > limit else None


def memory_size(text: str) -> int:
    """Return the number of bytes that the user wrote."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"--memory must be a size, such as 500MB, 2GB or a number of bytes; got {text!r}.")
    return int(float(found[1]) * UNITS[(found[2] or "B").upper()])


def _readable(size: int) -> str:
    unit = [unit for unit, factor in UNITS.items() if factor <= max(size, 1)][-1]
    return f"{size / UNITS[unit]:.3g} {unit}"


def training_blocks(file: LargeFile, options: argparse.Namespace) -> TrainingData:
    """Choose rows and columns; read only the target and the roles."""
    in_blocks = f"{file.source}, which is read in blocks: {file.why}."
    for option in IN_MEMORY:
        if getattr(options, option):
            raise ValueError(f"--{option.replace('_', '-')} cannot be used with {in_blocks}")
    if len(options.offset) > 1:
        raise ValueError(f"--offset must name one column of {in_blocks}")
    data = _without_inputs(file, options)
    names, left_out = input_names(data, options)
    fields = {name: file.dataset.schema.field(name) for name in names}
    found = {name: _kind(field) for name, field in fields.items()}
    left_out |= {name: "because it has nothing but missing values" for name in names if found[name] == "nothing"}
    kinds = {name: str(kind) for name, kind in found.items() if kind != "nothing"}
    check_left(kinds, left_out, file.source)
    needed = [*kinds, *all_names(options)] if options.drop_rows else []
    known = ~np.isnan(data.column(options.target)[1])
    complete = np.ones_like(known)
    if needed:
        complete = file.dataset.to_table(columns={"complete": _present(needed)})["complete"].to_numpy()
    rows = KnownRows.of(known, complete, options.target, file.source).counted(data, options)
    target, roles = target_and_roles(data, rows.mask, options)
    projection = _projection([fields[name] for name in kinds], target, roles)
    X = ParquetTable(file.dataset.filter(_present([target.name, *needed])), projection=projection)
    arguments = {"X": X, "y": target.name}
    arguments |= {"sample_weight" if option == "weight" else option: columns.name for option, columns in roles.items()}
    ordered = [name for name in kinds if getattr(fields[name].type, "ordered", False)]
    remarks = tuple(f"the order of the levels of {name} is not learned from in blocks" for name in ordered)
    cells = [(plain_name(name), kind) for name, kind in kinds.items()]
    lines = aligned(cells[:LISTED_COLUMNS], len(cells))
    records = [{"name": name, "kind": kind} for name, kind in kinds.items()]
    return TrainingData(X, arguments, target, rows, roles, left_out, remarks, lines, records, file.why)


def _without_inputs(file: LargeFile, options: argparse.Namespace) -> DataFile:
    """Return a file with the target and the roles alone."""
    schema, conventions = file.dataset.schema, conventions_of(options, ".parquet")
    check_names(schema.names, file.source)
    unread = {field.name: kind_of_type(field.type) for field in schema if _kind(field) is None}
    read = {options.target, *all_names(options)} & set(schema.names) - set(unread)
    columns, _, _ = columns_of_table(file.dataset.to_table(columns=sorted(read)), conventions)
    return DataFile(file.source, block_of(columns), unread, tuple(schema.names), conventions=conventions, typed=True)


def _kind(field: Any) -> str | None:
    """Return the kind of a column by its type; None if useless."""
    from pyarrow import types

    if types.is_dictionary(field.type):
        return "levels" if types.is_integer(field.type.value_type) else "text"
    tests = {
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "boolean": (types.is_boolean,),
        "date": (types.is_date,),
        "time": (types.is_timestamp,),
        "duration": (types.is_duration, types.is_time),
        "nothing": (types.is_null,),
    }
    return next((kind for kind, those in tests.items() if any(test(field.type) for test in those)), None)


def _projection(inputs: Sequence[Any], target: TargetColumn, roles: Mapping[str, RoleColumns]) -> dict[str, Any]:
    """Return expressions for inputs, target and roles; times of day become durations."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    found = {field.name: ds.field(field.name) for field in inputs}
    for field in inputs:
        if pa.types.is_time(field.type):
            counted = found[field.name].cast(pa.int32() if pa.types.is_time32(field.type) else pa.int64())
            found[field.name] = counted.cast(pa.int64()).cast(pa.duration(field.type.unit))
    kind = pa.string() if target.y.dtype.kind == "U" else pa.from_numpy_dtype(target.y.dtype)
    kinds = {target.name: kind} | {columns.name: pa.float64() for columns in roles.values()}
    return found | {name: ds.field(name).cast(kind, safe=False) for name, kind in kinds.items()}


def _present(names: Sequence[str]) -> Any:
    """Return the expression that no value of some columns is missing."""
    import pyarrow.dataset as ds

    return functools.reduce(operator.and_, (~ds.field(name).is_null(nan_is_null=True) for name in names))
