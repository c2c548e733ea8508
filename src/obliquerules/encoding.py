"""Encoding: the columns of a data frame as numbers, with complaints that name the column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

# Weight times the square of a value, added over all rows, is then still a finite double.
LARGEST_VALUE = 1e75
# A column whose largest value is below this cannot be weighed against another: the quotient of two columns must be finite too.
SMALLEST_SIZE = 1e-200


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """Numbers in columns that have names: inputs for those who have no library of data frames.

    Attributes
    ----------
    values : array of shape (n_samples, n_features)
    names : tuple of str
        One for each column.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]

    def matching(self, expected: tuple[str, ...]) -> NDArray[np.float64]:
        """Return the numbers; raise unless the columns are those that a model was fitted to, in that order."""
        if self.names != expected:
            raise ValueError(f"The columns of X must be {', '.join(expected)}, as in fit; got {', '.join(self.names)}.")
        return self.values


def check_columns(X: Any) -> None:
    """Raise if X is a data frame with columns that are not numbers; anything but a data frame passes."""
    try:
        frame = nw.from_native(X, pass_through=True)
        schema = frame.schema if isinstance(frame, nw.DataFrame) else {}
    except nw.exceptions.DuplicateError as error:
        told = " ".join(str(error).split())
        raise ValueError(f"The columns of X need different names, so that a rule can say which it means. {told}") from error
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame, which holds no values yet: collect it first.")
    for name, dtype in schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean or (dtype == nw.Object and _odd_one_out(frame[name]) is None)):
            raise ValueError(
                f"Column '{name}' of X holds {_kind(frame[name])}, not numbers. Encode it as numbers (for example one 0/1 "
                "column for each level) or leave it out."
            )


def _odd_one_out(column: nw.Series[Any]) -> str | None:
    """Return the type of the first Python object in a column that is neither a number nor None; None if all are."""
    for value in column.to_list():
        try:
            float(0.0 if value is None else value)
        except (TypeError, ValueError, OverflowError):
            return type(value).__name__
    return None


def _kind(column: nw.Series[Any]) -> str:
    if column.is_null().all():
        return "nothing but missing values"
    if column.dtype == nw.String:
        return "text"
    if column.dtype in (nw.Categorical, nw.Enum):
        return "categories"
    if column.dtype == nw.Object:
        return f"values of type {_odd_one_out(column)}"
    native = column.to_native()
    return "dates or times" if column.dtype.is_temporal() else f"values of type {getattr(native, 'dtype', column.dtype)}"


def misplaced_column(X: Any, expected: tuple[str, ...]) -> str:
    """Say which column of a data frame is the first that stands in another's place."""
    names = nw.from_native(X, eager_only=True).columns
    index = next(i for i, (name, wanted) in enumerate(zip(names, expected, strict=True)) if name != wanted)
    return f"Column '{names[index]}' stands where '{expected[index]}' stood in fit."


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


def check_size(values: NDArray[np.float64], what: str) -> None:
    """Raise if a value is too large to be learned from."""
    if (np.abs(values) > LARGEST_VALUE).any():
        raise ValueError(f"{what} has values beyond {LARGEST_VALUE:g}, which are too large to be squared and added.")


def check_not_tiny(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise if all values of a column are so small that they cannot be computed with, naming the column."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    tiny = np.flatnonzero((largest > 0.0) & (largest < SMALLEST_SIZE))
    if len(tiny):
        raise ValueError(
            f"Column '{names[tiny[0]]}' of X has no value beyond {largest[tiny[0]]:g}, which is too small to compute with. "
            "Give it in a smaller unit, so that its numbers become larger."
        )


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of the rows as doubles; all ones if there are none."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers only: {error}") from error
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
    check_size(weight, "sample_weight")
    if weight.max() < SMALLEST_SIZE:
        raise ValueError(f"sample_weight has no entry beyond {weight.max():g}, which is too small to compute with.")
    return weight
