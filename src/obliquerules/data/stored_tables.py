"""Stored tables: roles of columns, one pass of summaries, blocks of rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from joblib import effective_n_jobs

from obliquerules.arrays import Vector
from obliquerules.data.blocks import RowBlock, RowBlocks, Statistic, StoredTable
from obliquerules.data.dask_tables import dask_table
from obliquerules.data.frames import block_of_frame
from obliquerules.data.levels import recoded
from obliquerules.data.offsets import OffsetValues, Outcomes, exposure_unit, read_offset
from obliquerules.data.parquet_tables import parquet_table
from obliquerules.data.reading import read_block_weights, read_numbers
from obliquerules.data.training_columns import ColumnSummary
from obliquerules.losses import Loss
from obliquerules.rules.columns import Block, Columns
from obliquerules.rules.labels import Labels
from obliquerules.rules.model import Offset

S = TypeVar("S", bound=Statistic)


def stored_table(X: Any, n_jobs: int | None) -> StoredTable | None:
    """Return X as a stored table, None if it is in memory.

    Paths and datasets of pyarrow are Parquet tables, and Dask DataFrames are Dask tables. A further kind of table needs a
    module of its own, and a line here.
    """
    if isinstance(X, StoredTable):
        return X
    # Objects of these libraries exist only where they are imported.
    found = dask_table(X) if "dask" in sys.modules else None
    is_parquet = isinstance(X, str | os.PathLike) or "pyarrow.dataset" in sys.modules
    return parquet_table(X, effective_n_jobs(n_jobs)) if found is None and is_parquet else found


@dataclass(frozen=True)
class ColumnRoles:
    """The names of target, weights, offsets and inputs.

    Attributes
    ----------
    target : str
    weight, exposure, offset : str or None
    inputs : tuple of str
    """

    target: str
    weight: str | None
    exposure: str | None
    offset: str | None
    inputs: tuple[str, ...]

    @classmethod
    def of(cls, table: StoredTable, target: Any, sample_weight: Any, exposure: Any, offset: Any) -> ColumnRoles:
        """Return the roles of columns; raise for unknown or repeated names."""
        given = {"y": target, "sample_weight": sample_weight, "exposure": exposure, "offset": offset}
        named = {role: name for role, name in given.items() if name is not None}
        for role, name in named.items():
            if not isinstance(name, str) or name not in table.names:
                known = ", ".join(table.names)
                raise ValueError(f"Of a table that is not in memory, {role} is the name of a column: {known}; got {name!r}.")
        if len(set(named.values())) < len(named):
            raise ValueError(f"y, sample_weight, exposure and offset must be different columns; got {named}.")
        inputs = tuple(name for name in table.names if name not in named.values())
        if target is None:
            raise ValueError("Of a table that is not in memory, y is the name of the column to predict.")
        return cls(target, sample_weight, exposure, offset, inputs)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.inputs, *filter(None, (self.target, self.weight, self.exposure, self.offset)))

    def counted(self, frame: Any) -> Any:
        """Return the rows of a block that have weight."""
        weight = self.values(frame, self.weight)
        if weight is None or (rows := read_block_weights(weight, len(weight)) > 0.0).all():
            return frame
        return nw.from_native(frame, eager_only=True)[np.flatnonzero(rows)].to_native()

    def values(self, frame: Any, name: str | None) -> Any:
        """Return the values of a column that is no input."""
        if name is None:
            return None
        column = nw.from_native(frame, eager_only=True).get_column(name)
        values = column.to_numpy()
        if column.is_null().any() or (values.dtype.kind == "f" and np.isnan(values).any()):
            raise ValueError(f"Column '{name}' has missing values, but it is no input.")
        return values.astype(str) if values.dtype == object and all(isinstance(one, str) for one in values) else values

    def block(self, frame: Any) -> Block:
        """Return the inputs of a block of rows, in levels of their own."""
        return block_of_frame(nw.from_native(frame, eager_only=True).select(self.inputs))


@dataclass(frozen=True, eq=False)
class TableSummary:
    """What one pass over a table tells of columns, classes and exposure.

    Attributes
    ----------
    columns : tuple of ColumnSummary
    classes : dict of label to float
        The weight of each class; empty if the targets are numbers.
    weight, largest_weight : float
        The sum of weights, and the largest.
    exposure : float
        The sum of weighted exposures.
    n_counted : int
        The number of rows that have weight.
    """

    columns: tuple[ColumnSummary, ...]
    classes: dict[Any, float]
    weight: float
    largest_weight: float
    exposure: float
    n_counted: int

    @classmethod
    def of(cls, frame: Any, roles: ColumnRoles, has_classes: bool) -> TableSummary:
        """Return what a block tells."""
        frame = roles.counted(frame)
        block = roles.block(frame)
        weight = read_block_weights(roles.values(frame, roles.weight), len(block))
        given = read_offset(roles.values(frame, roles.exposure), roles.values(frame, roles.offset), len(block), None)
        exposed = 0.0 if given is None else float(np.add.reduce(weight * given.values))
        classes: dict[Any, float] = {}
        if has_classes:
            labels, place = np.unique(roles.values(frame, roles.target), return_inverse=True)
            classes = dict(zip(labels.tolist(), np.bincount(place, weight, len(labels)).tolist(), strict=True))
        total, largest = float(np.add.reduce(weight)), float(weight.max(initial=0.0))
        columns = tuple(
            ColumnSummary.of(block.column(index), block.matrix[:, index], weight) for index in range(block.n_columns)
        )
        return cls(columns, classes, total, largest, exposed, len(weight))

    def __add__(self, other: TableSummary) -> TableSummary:
        classes = {
            label: self.classes.get(label, 0.0) + other.classes.get(label, 0.0)
            for label in dict.fromkeys((*self.classes, *other.classes))
        }
        return TableSummary(
            tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)),
            classes,
            self.weight + other.weight,
            max(self.largest_weight, other.largest_weight),
            self.exposure + other.exposure,
            self.n_counted + other.n_counted,
        )

    def offset(self, roles: ColumnRoles, labels: Labels | None) -> Offset | None:
        """Return the name and the unit of the exposure or offset."""
        if roles.exposure is not None:
            return Offset("exposure", (roles.exposure,), exposure_unit(self.exposure / self.weight))
        if roles.offset is None:
            return None
        if labels is not None and labels.many:
            raise ValueError("offset is for numbers and two classes if the table is not in memory; y has more classes.")
        return Offset("offset", (roles.offset,))


@dataclass(frozen=True, eq=False)
class TableReader:
    """How blocks of a table become what a loss takes.

    Attributes
    ----------
    roles : ColumnRoles
    columns : Columns
        The columns of the model.
    loss : Loss
    labels : Labels or None
    offset : Offset or None
        The exposure or offset, with its unit.
    class_weights : tuple of float or None
    unit : float
        By what weights are multiplied: they count rows, one or more for each.
    """

    roles: ColumnRoles
    columns: Columns
    loss: Loss
    labels: Labels | None
    offset: Offset | None
    class_weights: tuple[float, ...] | None
    unit: float

    def part(self, frame: Any) -> RowBlock:
        """Return a block of rows with what is known of them."""
        roles, frame = self.roles, self.roles.counted(frame)
        block = recoded(roles.block(frame), self.columns)
        weight = read_block_weights(roles.values(frame, roles.weight), len(block)) * self.unit
        given = read_offset(roles.values(frame, roles.exposure), roles.values(frame, roles.offset), len(block), None)
        if given is not None and self.offset is not None:
            given = OffsetValues(self.offset, given.values)
        outcomes = Outcomes.of(self.loss, self._target(frame, weight), weight, given, self.class_weights)
        matrix = Block(block.columns, np.asfortranarray(block.matrix))
        return RowBlock(matrix, outcomes.y, outcomes.weight, outcomes.offset, outcomes.frequency)

    def _target(self, frame: Any, weight: Vector) -> Vector:
        values = self.roles.values(frame, self.roles.target)
        if self.labels is not None:
            return self.labels.encode(values)
        target = read_numbers(values)
        complaint = self.loss.complaint(target[weight > 0.0])
        if complaint is not None:
            raise ValueError(f"Column '{self.roles.target}' {complaint} (loss='{self.loss.name}').")
        return target


@dataclass(frozen=True, eq=False)
class StoredRows(RowBlocks):
    """The rows of a table as a loss takes them."""

    table: StoredTable
    reading: TableReader

    @property
    def columns(self) -> Columns | None:
        """The columns of the rows."""
        return self.reading.columns

    @property
    def n_offsets(self) -> int:
        """The number of offsets of each row that targets cannot absorb."""
        return int(self.reading.offset is not None and self.reading.labels is not None)

    def fold(self, statistic: Callable[[RowBlock], S]) -> S:
        """Return the sum of a statistic over all blocks."""
        part = self.reading.part  # without the table, which must not travel to the blocks
        return self.table.fold(lambda frame: statistic(part(frame)), self.reading.roles.columns)
