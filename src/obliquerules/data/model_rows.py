"""Rows for a fitted model, read once, with offsets and unseen levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.data.levels import recoded
from obliquerules.data.offsets import OffsetValues, Outcomes, model_offset, read_model_offset
from obliquerules.data.reading import check_not_infinite, read_numbers, read_table, read_weights
from obliquerules.data.user_warnings import warn_caller
from obliquerules.rules import Block, Model
from obliquerules.rules.columns import Level


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows in the columns of a model.

    Attributes
    ----------
    model : Model
    X : Block
        The inputs in the columns and levels of the model.
    table : Block
        The same rows in levels of their own.
    given : array of shape (n_rows,) or (n_rows, n_classes), or None
        The exposure or offset of each row; None without one, or before it is read.
    """

    model: Model
    X: Block
    table: Block
    given: Vector | None = None

    def __len__(self) -> int:
        return len(self.X)

    def with_offset(self, exposure: Any = None, offset: Any = None) -> ModelRows:
        """Return the rows with the exposure or offset that the model needs."""
        if exposure is None and offset is None and self.model.offset is None:
            return self
        return replace(self, given=read_model_offset(self.model, exposure, offset, len(self)))

    def with_given(self, given: Any) -> ModelRows:
        """Return the rows with their exposure or offset, whichever the model has."""
        return replace(self, given=model_offset(self.model, given, len(self)))

    def rows(self, which: Any) -> ModelRows:
        """Return some of the rows, chosen by a slice, a mask or positions."""
        given = None if self.given is None else self.given[which]
        return ModelRows(self.model, self.X.rows(which), self.table.rows(which), given)

    @cached_property
    def unseen_levels(self) -> dict[tuple[int, int], Level]:
        """The levels that were never seen in fit, by row and column."""
        found: dict[tuple[int, int], Level] = {}
        for column in self.model.columns.with_levels:
            levels = self.table.column(column).levels
            for row in np.flatnonzero(self.X.matrix[:, column] < 0.0).tolist() if levels else ():
                code = int(self.table.matrix[row, column])
                if code >= 0:
                    found[row, column] = (levels or ())[code]
        return found

    @property
    def scores(self) -> Vector:
        """The score of each row."""
        if type(self.X) is Block:
            return self.model.scores(self.X, self.given)
        from obliquerules.data.sparse import scores_of  # here, because it loads SciPy

        return scores_of(self.model, self.X, self.given)

    def target(self, y: Any) -> Vector:
        """Return targets as the numbers that the loss takes."""
        labels = self.model.labels
        target = read_numbers(y) if labels is None else labels.encode(y)
        if target.shape != (len(self),):
            raise ValueError(f"y must have one entry for each of the {len(self)} rows of X; got shape {target.shape}.")
        return target

    def target_and_weight(self, y: Any, sample_weight: Any = None) -> tuple[Vector, Vector]:
        """Return targets and weights; raise if the loss does not take the targets."""
        target, weight = self.target(y), read_weights(sample_weight, len(self))
        complaint = self.model.loss.complaint(target[weight > 0.0])
        if complaint is not None:
            raise ValueError(f"y {complaint}.")
        return target, weight

    def outcomes(self, y: Any, sample_weight: Any = None) -> Outcomes:
        """Return targets and weights with the exposure or offset in them."""
        target, weight = self.target_and_weight(y, sample_weight)
        found = None if self.given is None or self.model.offset is None else OffsetValues(self.model.offset, self.given)
        return Outcomes.of(self.model.loss, target, weight, found)


def read_rows(
    model: Model, X: Any, reader: str = "The model", *, warned: bool = True, check: Callable[[Any], None] | None = None
) -> ModelRows:
    """Return the rows of a table of any kind for a fitted model.

    Parameters
    ----------
    model : Model
    X : data frame, array, sparse matrix, list of rows, Block or ModelRows
    reader : str
        The name of the reader in error messages.
    warned : bool, default=True
        Whether missing values and levels unknown to fit give a warning.
    check : callable, optional
        Called with X once it is known to be a table; raises if its columns are not those of the fit.
    """
    if isinstance(X, ModelRows):
        return X
    columns = model.columns
    table = read_table(X, columns, reader)
    if check is not None and not isinstance(X, Block):
        check(X)
    if table.n_columns != len(columns):
        raise ValueError(f"X has {table.n_columns} features, but {reader} is expecting {len(columns)} features as input.")
    names = table.names
    if model.expected_names is not None and names != columns.names:
        raise ValueError(f"The columns of X must be {', '.join(columns.names)}, as in fit; got {', '.join(names)}.")
    check_not_infinite(table.extremes, names)
    rows = ModelRows(model, recoded(table, columns), table)
    if warned:
        warn_of_new_values(model, rows.X)
    return rows


def warn_of_new_values(model: Model, block: Block) -> None:
    """Warn of new missing values and unseen levels in used columns."""
    used = set(model.ensemble.used_columns)
    missing = [f"'{block.column(index).name}'" for index in sorted(block.incomplete & used) if not model.columns[index].missing]
    levels = [index for index in model.columns.with_levels if index in used]
    counts = {index: int(np.count_nonzero(block.matrix[:, index] < 0.0)) for index in levels}
    unseen = [
        f"'{block.column(index).name}' ({count} row{'' if count == 1 else 's'})" for index, count in counts.items() if count
    ]
    if missing:
        warn_caller(
            f"Values are missing in {', '.join(missing)}, which had none in fit: conditions on a missing value do not hold, "
            "unless they say so."
        )
    if unseen:
        warn_caller(
            f"Levels that were not seen in fit occur in {', '.join(unseen)}: conditions on levels do not hold for them, and "
            "negated conditions do."
        )
