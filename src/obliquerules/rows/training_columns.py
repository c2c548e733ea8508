"""Training columns: what the columns of a model are, from the rows that it is learned from."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.levels import Filled, block_of, looked_up
from obliquerules.rules.columns import UNSEEN, Block, Column

# A column of text is like an identifier if at least this share of its values are different, of at least so many values.
NEARLY_ALL = 0.9
ENOUGH_VALUES = 20


def training_columns(block: Block) -> Block:
    """Return a block whose columns say what they hold: levels in order of their frequency, flags, and missing values.

    Levels that do not occur are left out. So the order and the names of levels, and levels without rows, change nothing. A
    column of text that is different in nearly every row says nothing of other rows: it keeps no level, with a warning.
    """
    special = {} if block.columns is None else dict(block.columns.special)
    flags = _flags(block.matrix)
    unusual = set(special) | set(flags) | set(block.incomplete)
    if not unusual:
        return block
    names = block.names
    filled = [
        _described(special.get(index, Column(name)), values, index in flags) if index in unusual else (Column(name), values)
        for index, (name, values) in enumerate(zip(names, block.matrix.T, strict=True))
    ]
    warn_of_identifiers([column.name for column, _ in filled if column.levels == ()])
    if not any(special[index].levels is not None for index in special):
        return Block.of_matrix(block.matrix, [column for column, _ in filled])
    return block_of(filled)


def _flags(X: NDArray[np.float64]) -> frozenset[int]:
    """Return the columns whose values are all 0 or 1, where they are not missing."""
    if len(X) == 0:
        return frozenset()
    # Few columns pass the first test, which is quick.
    possible = np.flatnonzero(np.isin(X[0], (0.0, 1.0)) | np.isnan(X[0]))
    return frozenset(int(index) for index in possible if _is_flag(X[:, index]))


def _is_flag(values: NDArray[np.float64]) -> bool:
    present = values[~np.isnan(values)]
    return bool(((present == 0.0) | (present == 1.0)).all()) and len(present) > 0


def _described(column: Column, values: NDArray[np.float64], flag: bool) -> Filled:
    missing = bool(np.isnan(values).any())
    if column.levels is None:
        kind = "flag" if flag and column.kind == "number" else column.kind
        return replace(column, kind=kind, missing=missing), values
    column, codes = _by_frequency(column, values)
    return replace(column, missing=missing), codes


def _by_frequency(column: Column, values: NDArray[np.float64]) -> Filled:
    """Return the levels that occur, the most frequent first, of equally frequent ones the first to come."""
    if column.is_truth:
        # Both levels, even if one of them does not occur: "not smoker" must say something of it.
        codes = [float(level) for level in column.levels or ()]
        return Column(column.name, (False, True)), looked_up(np.array([*codes, UNSEEN, np.nan]), values)
    present = values[values >= 0.0].astype(np.intp)
    found, first, count = np.unique(present, return_index=True, return_counts=True)
    order = np.arange(len(found)) if column.ordered else np.lexsort((first, -count))
    levels = tuple((column.levels or ())[code] for code in found[order])
    if like_identifiers(levels, len(present)):
        return Column(column.name, ()), np.where(np.isnan(values), np.nan, UNSEEN)
    places = np.full(len(column.levels or ()) + 2, UNSEEN)
    places[found[order]] = np.arange(len(found))
    places[-1] = np.nan
    return Column(column.name, levels, column.ordered), looked_up(places, values)


def like_identifiers(levels: tuple[object, ...], n_values: int) -> bool:
    """Say whether text is different in nearly every row."""
    is_text = bool(levels) and isinstance(levels[0], str)
    return is_text and n_values >= ENOUGH_VALUES and len(levels) >= NEARLY_ALL * n_values


def warn_of_identifiers(names: list[str]) -> None:
    """Warn of columns that keep no level."""
    if names:
        listed = ", ".join(f"'{name}'" for name in names)
        warnings.warn(
            f"Nothing is learned from {listed}: text that differs in nearly every row, like an identifier.",
            UserWarning,
            stacklevel=6,
        )
