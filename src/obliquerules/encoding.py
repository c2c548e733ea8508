"""Encoding: the columns of a data frame as numbers, with complaints that name the column."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def check_columns(X: Any) -> None:
    """Raise if X is a data frame with columns that are not numbers; anything else passes."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    for name, dtype in frame.schema.items():
        # Object columns may well hold numbers: the conversion to an array will tell.
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object)):
            raise ValueError(
                f"Column '{name}' of X holds {_kind(dtype)}, not numbers. Encode it as numbers (for example one 0/1 column for "
                "each level) or leave it out."
            )


def _kind(dtype: Any) -> str:
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return "dates or times" if dtype.is_temporal() else f"values of type {dtype}"


def check_finite(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise if X has a missing or infinite value, naming the first such column and row."""
    finite = np.isfinite(X)
    if finite.all():
        return
    column = int(np.flatnonzero(~finite.all(axis=0))[0])
    row = int(np.flatnonzero(~finite[:, column])[0])
    what = "a missing value (NaN)" if np.isnan(X[row, column]) else "an infinite value (inf)"
    raise ValueError(
        f"Input X has {what} in column '{names[column]}', first in row {row}. Fill in or drop such values before fitting or "
        "predicting."
    )


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of the rows as doubles; all ones if there are none."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry for each of the {n_rows} rows of X; got shape {weight.shape}.")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight has missing or infinite entries.")
    if (weight < 0.0).any():
        raise ValueError("sample_weight has negative entries.")
    if not (weight > 0.0).any():
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    return weight
