"""The matrix that a model is called on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block


def as_matrix(X: ArrayLike | Block, n_columns: int, *, exactly: bool = False) -> NDArray[np.float64]:
    """Return X (array, data frame or block) as a matrix of doubles with at least, or exactly, so many columns."""
    try:
        matrix = X.matrix if isinstance(X, Block) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only: {error}") from error
    if matrix.ndim != 2:
        raise ValueError(f"X must have rows and columns; got shape {matrix.shape}. Reshape a single row with X.reshape(1, -1).")
    if matrix.shape[1] < n_columns or (exactly and matrix.shape[1] != n_columns):
        raise ValueError(f"X has {matrix.shape[1]} columns; this model needs {'' if exactly else 'at least '}{n_columns}.")
    return matrix
