"""Measured rows: the rows on which a workbench measures the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.rules import Block, Model


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """The rows on which the model is measured, with targets as the numbers that the loss takes.

    Attributes
    ----------
    X : Block
    y, weight : array of shape (n_samples,)
    name : str
        What they are called, such as ``"test rows"``.
    least : int
        The least number of rows in a group that is written to the file.
    offset : array of shape (n_samples,) or (n_samples, n_classes), or None
        Their exposure or offset, if the model has one.
    """

    X: Block
    y: Vector
    weight: Vector
    name: str
    least: int
    offset: Vector | None = None

    @classmethod
    def counted(cls, X: Block, y: Vector, weight: Vector, name: str, least: int, offset: Vector | None = None) -> MeasuredRows:
        """Return the rows that have weight; raise if there are too few."""
        has_weight = weight > 0.0
        if np.count_nonzero(has_weight) < least:
            raise ValueError(f"X must have at least min_count={least} rows with weight; got {np.count_nonzero(has_weight)}.")
        kept = None if offset is None else offset[has_weight]
        return cls(X.rows(has_weight), y[has_weight], weight[has_weight], name, least, kept)

    def under(self, model: Model) -> MeasuredRows:
        """Return the rows as the model scores them; raise without an exposure or offset that the model needs.

        Rows with an exposure become rows of exposure 1 with the same loss, but for what no score can change: of counts, a row
        of exposure e counts as e rows, with its target spread over them. Only an offset remains.
        """
        kind = None if model.offset is None else model.offset.kind
        if (kind is None) != (self.offset is None):
            raise ValueError(
                f"The rows must come with the {kind} of each." if kind else "The model takes no exposure and no offset."
            )
        if kind != "exposure" or self.offset is None:
            return self
        y, weight = model.loss.exposed(self.y, self.weight, self.offset)
        return replace(self, y=y, weight=weight, offset=None)
