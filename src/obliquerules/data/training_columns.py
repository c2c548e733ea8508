"""Training columns: what the columns of a model are, from the rows that it is learned from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.levels import Filled, block_of, looked_up
from obliquerules.data.user_warnings import warn_caller
from obliquerules.rules.columns import UNSEEN, Block, Column, Level

# Text is taken for an identifier if at least this share of its values differ, given at least this many values.
NEARLY_ALL = 0.9
ENOUGH_VALUES = 20


def training_columns(block: Block, weight: Vector | None = None) -> Block:
    """Return a block whose columns say what they hold: levels in order of their frequency, flags, and missing values.

    Levels that do not occur are left out. A column of text that is different in nearly every row says nothing of other rows: it
    keeps no level, with a warning. Weights, none of them zero, say how often each row counts.
    """
    special = {} if block.columns is None else dict(block.columns.special)
    flags = _flags(block.matrix)
    unusual = set(special) | set(flags) | set(block.incomplete)
    if not unusual:
        return block
    names = block.names
    filled = [
        _described(special.get(index, Column(name)), values, weight, index in flags)
        if index in unusual
        else (Column(name), values)
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


def _described(column: Column, values: Vector, weight: Vector | None, flag: bool) -> Filled:
    missing = bool(np.isnan(values).any())
    if column.levels is None:
        kind = "flag" if flag and column.kind == "number" else column.kind
        return replace(column, kind=kind, missing=missing), values
    column, codes = _by_frequency(column, values, weight)
    return replace(column, missing=missing), codes


def _by_frequency(column: Column, values: Vector, weight: Vector | None) -> Filled:
    """Return the levels that occur, in the order of `Frequencies`."""
    if column.is_truth:
        # Both levels, even if one of them does not occur: "not smoker" must say something of it.
        codes = [float(level) for level in column.levels or ()]
        return Column(column.name, (False, True)), looked_up(np.array([*codes, UNSEEN, np.nan]), values)
    found = Frequencies.of(column, values, weight)
    if found.like_identifiers:
        return Column(column.name, ()), np.where(np.isnan(values), np.nan, UNSEEN)
    levels = found.in_order
    places = np.full(len(found.levels) + 2, UNSEEN)
    places[[column.codes[type(level), level] for level in levels]] = np.arange(len(levels))
    places[-1] = np.nan
    return Column(column.name, levels, column.ordered), looked_up(places, values)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often the levels of a column occur.

    Attributes
    ----------
    levels : tuple of str, int or bool
    ordered : bool
        Whether the levels are in ascending order.
    weight : array of shape (n_levels,)
        The weight of the rows of each level.
    n_values : int
        The number of rows that have a level.
    """

    levels: tuple[Level, ...]
    ordered: bool
    weight: Vector
    n_values: int

    @classmethod
    def of(cls, column: Column, values: Vector, weight: Vector | None) -> Frequencies:
        """Return the frequencies of levels; rows count once without weights."""
        levels, present = column.levels or (), values >= 0.0
        sums = np.bincount(values[present].astype(np.intp), None if weight is None else weight[present], len(levels))
        return cls(levels, column.ordered, sums.astype(np.float64), int(np.count_nonzero(present)))

    def __add__(self, other: Frequencies) -> Frequencies:
        place = {level: code for code, level in enumerate(dict.fromkeys((*self.levels, *other.levels)))}
        weight = np.zeros(len(place))
        weight[: len(self.levels)] = self.weight
        weight[[place[level] for level in other.levels]] += other.weight
        return Frequencies(tuple(place), self.ordered, weight, self.n_values + other.n_values)

    @property
    def in_order(self) -> tuple[Level, ...]:
        """The levels that occur, in order.

        Without an order of their own, the most frequent come first, and equally frequent ones are sorted.
        """
        occur = np.flatnonzero(self.weight).tolist()
        if not self.ordered and occur:
            # In single precision, shares of weight do not depend on the order in which weights were added.
            share = (self.weight / self.weight.max()).astype(np.float32)
            occur.sort(key=lambda code: (-share[code], self.levels[code]))
        return tuple(self.levels[code] for code in occur)

    @property
    def like_identifiers(self) -> bool:
        """Whether text is different in nearly every row."""
        is_text = bool(self.levels) and isinstance(self.levels[0], str)
        # Weights count rows; shares, which add up to less than there are rows, do not.
        n_values = max(float(np.add.reduce(self.weight)), self.n_values)
        return is_text and n_values >= ENOUGH_VALUES and int(np.count_nonzero(self.weight)) >= NEARLY_ALL * n_values


def warn_of_identifiers(names: list[str]) -> None:
    """Warn of columns that keep no level."""
    if names:
        listed = ", ".join(f"'{name}'" for name in names)
        warn_caller(f"Nothing is learned from {listed}: text that differs in nearly every row, like an identifier.")
