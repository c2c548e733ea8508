"""Rows for a fitted model, read once: inputs in its columns, exposures or offsets, unseen levels, targets and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.data.offsets import OffsetValues, Outcomes, model_offset, read_model_offset
from obliquerules.data.reading import read, read_outcomes, read_table, read_target, warn_of_new_values
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
    amounts : array of shape (n_rows,) or (n_rows, n_classes), or None
        The exposure or offset of each row; None without one, or before `given` has read it.
    """

    model: Model
    X: Block
    table: Block
    amounts: Vector | None = None

    def __len__(self) -> int:
        return len(self.X)

    def given(self, exposure: Any = None, offset: Any = None) -> ModelRows:
        """Return the rows with their exposure or offset; raise unless it is what the model was fitted with."""
        return replace(self, amounts=read_model_offset(self.model, exposure, offset, len(self)))

    def given_amounts(self, amounts: Any) -> ModelRows:
        """Return the rows with their exposure or offset, whichever the model has."""
        return replace(self, amounts=model_offset(self.model, amounts, len(self)))

    def rows(self, which: Any) -> ModelRows:
        """Return some of the rows, chosen by a slice, a mask or positions."""
        amounts = None if self.amounts is None else self.amounts[which]
        return ModelRows(self.model, self.X.rows(which), self.table.rows(which), amounts)

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
        """The score of each row; of a sparse table, only used columns are made dense."""
        if type(self.X) is Block:
            return self.model.scores(self.X, self.amounts)
        from obliquerules.data.sparse import scores_of  # here, because it loads SciPy

        return scores_of(self.model, self.X, self.amounts)

    def target(self, y: Any) -> Vector:
        """Return the targets of the rows as the numbers that the loss of the model takes."""
        return read_target(self.model, y, len(self))

    def outcomes(self, y: Any, sample_weight: Any = None) -> Outcomes:
        """Return targets and weights as the loss takes them, with the exposure or offset taken into account."""
        target, weight = read_outcomes(self.model, y, sample_weight, len(self))
        found = None if self.amounts is None or self.model.offset is None else OffsetValues(self.model.offset, self.amounts)
        return Outcomes.of(self.model.loss, target, weight, found)


def read_rows(model: Model, X: Any, reader: str = "The model", *, warned: bool = True) -> ModelRows:
    """Return the rows of a table of any kind for a fitted model.

    Parameters
    ----------
    model : Model
    X : data frame, array, sparse matrix, list of rows, Block or ModelRows
    reader : str
        The name of the reader in error messages.
    warned : bool, default=True
        Whether missing values and levels unknown to fit give a warning.
    """
    if isinstance(X, ModelRows):
        return X
    columns, named = model.columns, model.expected_names is not None
    table = read_table(X, columns, reader)
    rows = ModelRows(model, read(table, columns, len(columns), named=named, reader=reader), table)
    if warned:
        warn_of_new_values(model, rows.X)
    return rows
