"""Measured rows: the rows on which a workbench measures the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Block

Vector = NDArray[np.float64]


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
    """

    X: Block
    y: Vector
    weight: Vector
    name: str
    least: int

    @classmethod
    def counted(cls, X: Block, y: Vector, weight: Vector, name: str, least: int) -> MeasuredRows:
        """Return the rows that have weight; raise if there are too few."""
        has_weight = weight > 0.0
        if np.count_nonzero(has_weight) < least:
            raise ValueError(f"X must have at least min_count={least} rows with weight; got {np.count_nonzero(has_weight)}.")
        return cls(X.rows(has_weight), y[has_weight], weight[has_weight], name, least)
