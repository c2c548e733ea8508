"""Reading: a table of any kind as a block of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.levels import block_of, column_of_objects
from obliquerules.data.training_columns import SMALLEST_SIZE, check_size, training_columns
from obliquerules.rules import Block, Columns
from obliquerules.rules.columns import is_finite
from obliquerules.rules.text.style import column_names


def read_table(
    X: Any,
    columns: Columns | None = None,
    reader: str = "The model",
    ordered: tuple[str, ...] = (),
    *,
    in_doubles: bool = True,
    rows: NDArray[np.intp] | None = None,
) -> Block:
    """Return a table as a block in levels of its own.

    Unless ``in_doubles``, an array in single precision stays so: it is for those who convert it block by block. With ``rows``,
    the table has no other rows.
    """
    if isinstance(X, Block):
        return X if rows is None else X.rows(rows)
    # Here, because they are slow to load, and a block needs none of them.
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    from obliquerules.data.frames import block_of_frame, own_names, special_frame
    from obliquerules.data.sparse import sparse_block

    if issparse(X):
        return sparse_block(X if rows is None else X.tocsr()[rows], columns, reader)
    frame = special_frame(X)
    if frame is not None:
        if len(frame) == 0:
            raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {reader}.")
        return block_of_frame(frame if rows is None else frame[rows], ordered)
    array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X", estimator=reader)
    given = own_names(X) or (columns.names if columns is not None and len(columns) == array.shape[1] else None)
    names = given or column_names(range(array.shape[1]), None)
    array = array if rows is None else array[rows]
    if array.dtype.kind in "OUS":
        return block_of([column_of_objects(*one) for one in zip(names, array.T.tolist(), strict=True)])
    as_it_is = array.dtype == np.float32 and not in_doubles
    return Block.of_matrix(array if as_it_is else np.asarray(array, dtype=np.float64), names)


def read_training(
    X: Any, names: Sequence[str] | None, reader: str, ordered: tuple[str, ...] = (), weight: Vector | None = None
) -> Block:
    """Return a table as a block to learn from.

    Rows of weight zero are left out before anything is read of them.

    Parameters
    ----------
    X : data frame, array, sparse matrix, list of rows, or Block
        What the columns of a sparse matrix hold is left to `screened`.
    names : sequence of str or None
        Names for columns that have none.
    reader : str
        The name of the reader in error messages.
    ordered : tuple of str
        The names of columns of categories whose order counts.
    weight : array of shape (n_rows,), optional
        How often each row counts.
    """
    from obliquerules.data.sparse import SparseBlock

    rows = None if weight is None or weight.all() else np.flatnonzero(weight)
    block = read_table(X, None, reader, ordered, in_doubles=False, rows=rows)
    check_not_infinite(block.extremes, block.names)
    named = block.names if names is None else _feature_names(names, block, X)
    if isinstance(block, SparseBlock):
        return block.read_as(Columns.of(named))
    known = training_columns(block, weight if rows is None or weight is None else weight[rows])
    if names is None:
        return known
    columns = known.columns if known.columns is not None else Columns.of(named)
    renamed = [replace(column, name=name) for column, name in zip(columns, named, strict=True)] if columns.special else named
    return Block.of_matrix(known.matrix, renamed)


def _feature_names(given: Sequence[str], block: Block, X: Any) -> tuple[str, ...]:
    """Return ``feature_names``; raise unless they suit the columns."""
    from obliquerules.data.frames import own_names

    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise ValueError(f"feature_names must be a sequence of text, one for each column of X; got {given!r}.")
    names = tuple(map(str, given))
    if len(names) != block.n_columns:
        raise ValueError(f"feature_names has {len(names)} names, but X has {block.n_columns} columns.")
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f"feature_names must give each column a name of its own; got {list(names)}.")
    own = block.names if isinstance(X, Block) else own_names(X)
    if own is not None and own != names:
        raise ValueError("feature_names differs from the names that the columns of X have: rename the columns instead.")
    return names


def read_numbers(y: Any) -> Vector:
    """Return targets that are numbers as doubles."""
    try:
        target = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers only: {error}") from error
    check_size(target, "y")
    return target


def check_not_infinite(X: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise for the first infinite value, by column and row."""
    if is_finite(X):
        return
    infinite = np.isinf(X)
    if not infinite.any():
        return
    column = int(np.flatnonzero(infinite.any(axis=0))[0])
    row = int(np.flatnonzero(infinite[:, column])[0])
    raise ValueError(f"Input X has an infinite value (inf) in column '{names[column]}', first in row {row}.")


def read_weights(sample_weight: Any, n_rows: int) -> Vector:
    """Return the weights of rows; raise if nothing can be learned."""
    weight = read_block_weights(sample_weight, n_rows)
    check_weights(float(weight.max()))
    return weight


def check_weights(largest: float) -> None:
    """Raise if nothing can be learned with weights, given the largest."""
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every row, so there is nothing to learn from.")
    if largest < SMALLEST_SIZE:
        raise ValueError(f"sample_weight has no entry beyond {largest:g}, which is too small to compute with.")


def read_block_weights(sample_weight: Any, n_rows: int) -> Vector:
    """Return the weights of some rows, ones by default."""
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
    check_size(weight, "sample_weight")
    return weight
