"""Reading: the one door for data: a table of any kind as a block of columns, with error messages that name the column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.levels import numbers_only
from obliquerules.rules import Block, Model
from obliquerules.rules.style import column_names

Vector = NDArray[np.float64]

# Weight times the square of a value, added over all rows, is then still a finite double.
LARGEST_VALUE = 1e75
# A column whose largest value is below this cannot be weighed against another: the quotient of two columns must be finite too.
SMALLEST_SIZE = 1e-200


def read(X: Any, names: Sequence[str] | None = None, n_columns: int | None = None, *, reader: str = "The model") -> Block:
    """Return a table of numbers as a block.

    Parameters
    ----------
    X : data frame of pandas, polars or pyarrow, array, list of rows, or Block
        Columns of booleans become numbers; other columns of levels are refused.
    names : sequence of str, optional
        The names that the columns must have, in this order; columns without names are given these.
    n_columns : int, optional
        How many columns there must be.
    reader : str
        The name of the reader in error messages.
    """
    block = numbers_only(X) if isinstance(X, Block) else as_block(X, names, reader)
    if n_columns is not None and len(block.columns) != n_columns:
        raise ValueError(f"X has {len(block.columns)} features, but {reader} is expecting {n_columns} features as input.")
    if names is not None and block.names != tuple(names):
        raise ValueError(f"The columns of X must be {', '.join(names)}, as in fit; got {', '.join(block.names)}.")
    check_finite(block.matrix, block.names)
    return block


def as_block(X: Any, names: Sequence[str] | None = None, reader: str = "The model") -> Block:
    """Return a table of numbers as a block; columns without names get the given ones, or x0, x1, and so on."""
    # Here, because both are slow to load, and a block needs neither.
    from sklearn.utils import check_array

    from obliquerules.rows.frames import check_columns, given_names

    check_columns(X)
    matrix = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X", estimator=reader)
    given = given_names(X) or (tuple(names) if names is not None and len(names) == matrix.shape[1] else None)
    return Block.of_matrix(matrix, given or column_names(range(matrix.shape[1]), None))


def read_named(X: Any, names: Sequence[str] | None, reader: str) -> Block:
    """Return a table of numbers as a block whose columns have the names that are given for them, if any are."""
    block = read(X, reader=reader)
    return block if names is None else Block.of_matrix(block.matrix, _feature_names(names, block, X))


def _feature_names(given: Sequence[str], block: Block, X: Any) -> tuple[str, ...]:
    """Return given names; raise unless each column gets one of its own, and none contradicts a name that X has."""
    from obliquerules.rows.frames import given_names

    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise ValueError(f"feature_names must be a sequence of text, one for each column of X; got {given!r}.")
    names = tuple(map(str, given))
    if len(names) != len(block.columns):
        raise ValueError(f"feature_names has {len(names)} names, but X has {len(block.columns)} columns.")
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f"feature_names must give each column a name of its own; got {list(names)}.")
    own = block.names if isinstance(X, Block) else given_names(X)
    if own is not None and own != names:
        raise ValueError("feature_names differs from the names that the columns of X have: rename the columns instead.")
    return names


def read_inputs(model: Model, X: Any) -> NDArray[np.float64]:
    """Return inputs of a model as a matrix."""
    return read(X, model.expected_names, len(model.feature_names)).matrix


def read_target(model: Model, y: Any, n_rows: int) -> Vector:
    """Return the targets of rows, of the kind that a model was fitted to, as the numbers that its loss takes."""
    target = read_numbers(y) if model.labels is None else model.labels.encode(y)
    if target.shape != (n_rows,):
        raise ValueError(f"y must have one entry for each of the {n_rows} rows of X; got shape {target.shape}.")
    return target


def read_outcomes(model: Model, y: Any, sample_weight: Any, n_rows: int) -> tuple[Vector, Vector]:
    """Return targets, as the numbers that the loss of a model takes, and weights; raise if the loss does not take them."""
    target, weight = read_target(model, y, n_rows), read_weights(sample_weight, n_rows)
    complaint = model.loss.complaint(target[weight > 0.0])
    if complaint is not None:
        raise ValueError(f"y {complaint}.")
    return target, weight


def read_numbers(y: Any) -> Vector:
    """Return targets that are numbers as doubles."""
    try:
        target = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers only: {error}") from error
    check_size(target, "y")
    return target


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


def check_sizes(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise if a value of X is too large to be learned from, naming the column."""
    for column in np.flatnonzero((np.abs(X) > LARGEST_VALUE).any(axis=0))[:1]:
        check_size(X[:, column], f"Column '{names[column]}' of X")


def check_size(values: NDArray[np.float64], what: str) -> None:
    """Raise if a value is too large to be learned from."""
    if (np.abs(values) > LARGEST_VALUE).any():
        raise ValueError(f"{what} has values beyond {LARGEST_VALUE:g}, which are too large to be squared and added.")


def check_not_tiny(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise if all values of a column are too small to compute with, naming the column."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    tiny = np.flatnonzero((largest > 0.0) & (largest < SMALLEST_SIZE))
    if len(tiny):
        raise ValueError(
            f"Column '{names[tiny[0]]}' of X has no value beyond {largest[tiny[0]]:g}, which is too small to compute with. "
            "Give it in a smaller unit, so that its numbers become larger."
        )


def read_weights(sample_weight: Any, n_rows: int) -> Vector:
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
