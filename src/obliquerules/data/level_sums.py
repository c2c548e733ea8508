"""Level sums: the sets of levels that follow the gradient best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Positions, Vector
from obliquerules.rules import Block, Membership
from obliquerules.rules.columns import Level

# Sizes of proposed sets of levels; each listed level costs complexity.
SET_SIZES = (1, 2, 3, 4, 6, 8)
# Number of columns with proposed sets, those with the best.
MOST_COLUMNS = 4
# Number of proposed sets for each column.
MOST_SETS = 6
# Least weight of a listed level: fewer rows may follow the gradient by chance.
FEWEST_LISTED = 3.0
# Number of most frequent levels of each column in an exact search.
MOST_SORTED = 20


@dataclass(frozen=True, eq=False)
class LevelSet:
    """A lazily built condition on levels, with its approximate gain."""

    membership: Callable[[], Membership]
    gain: float


@dataclass(frozen=True, eq=False)
class LevelSums:
    """The levels of one column, and the code of each row.

    Attributes
    ----------
    column : int
    levels : tuple of str, int or bool
    ordered : bool
        Whether the levels are in ascending order.
    codes : array of shape (n_rows,)
        One more than the last level where the value is missing.
    weight : array of shape (n_rows,)
    sizes : array of shape (n_levels + 1,)
        The weight of each level, the last for missing values.
    """

    column: int
    levels: tuple[Level, ...]
    ordered: bool
    codes: Positions
    weight: Vector
    sizes: Vector

    @classmethod
    def of(cls, block: Block, column: int, weight: Vector) -> LevelSums:
        """Return the levels of a column of a block."""
        described, values = block.column(column), block.matrix[:, column]
        levels = described.levels or ()
        codes = np.where(np.isnan(values), len(levels), values).astype(np.intp)
        sizes = np.bincount(codes, weight, len(levels) + 1).astype(np.float64)
        return cls(column, levels, described.ordered, codes, weight, sizes)

    # ---- levels as inputs of sums

    @cached_property
    def _in_sums(self) -> list[Membership]:
        """The possible inputs: single levels, or cuts between ordered levels."""
        levels = self.levels
        if self.ordered:
            return [Membership(self.column, levels[cut:], ordered=True) for cut in range(1, len(levels))]
        used = levels[1:] if len(levels) == 2 and self.sizes[-1] == 0.0 else levels
        return [Membership(self.column, [level]) for level in used]

    def _sums_of_inputs(self, by_level: Vector) -> Vector:
        """Return sums by input from sums by level."""
        sums = by_level[: len(self.levels)]
        if self.ordered:
            return np.cumsum(sums[::-1])[::-1][1:]
        return sums[1:] if len(sums) == 2 and self.sizes[-1] == 0.0 else sums

    def _enough(self, fewest: float) -> NDArray[np.bool_]:
        sizes = self._sums_of_inputs(self.sizes)
        # Not sizes <= total - fewest: where weights are large, fewest is lost in the subtraction.
        return np.asarray((sizes >= fewest) & (self.sizes.sum() - sizes >= fewest))

    def indicators(self, fewest: float) -> list[tuple[Membership, float]]:
        """Return the inputs with enough rows, with their shares of rows."""
        shares = self._sums_of_inputs(self.sizes) / self.sizes.sum()
        kept = self._enough(fewest)
        return [(one, float(share)) for one, share, keep in zip(self._in_sums, shares, kept, strict=True) if keep]

    def most_frequent(self, most: int = MOST_SORTED) -> list[Membership]:
        """Return conditions on the most frequent levels."""
        kept = self._enough(FEWEST_LISTED)
        return [one for one, keep in zip(self._in_sums, kept, strict=True) if keep][:most]

    def strength(self, pull: Vector, rows: Positions, fewest: float) -> Vector:
        """Return how strongly each indicator follows the pull on some rows."""
        total, size = self._pulls(pull, rows)
        strength = np.abs(self._sums_of_inputs(total)) / np.sqrt(self._sums_of_inputs(size) + 1.0)
        return np.asarray(strength[self._enough(fewest)])

    def _pulls(self, pull: Vector, rows: Positions) -> tuple[Vector, Vector]:
        """Return the pull and the weight of each level, missing last."""
        codes, n = self.codes[rows], len(self.levels) + 1
        sums = [np.bincount(codes, values, n).astype(np.float64) for values in (pull[rows], self.weight[rows])]
        return sums[0], sums[1]

    # ---- sets of levels as conditions

    def best_sets(self, pull: Vector, rows: Positions) -> Iterator[LevelSet]:
        """Yield sets of levels, listed or excluded, with the largest pull."""
        total, size = self._pulls(pull, rows)
        yield from (self._cuts if self.ordered else self._listings)(total, size)
        if self.sizes[-1] > 0.0:
            yield self._by_missing(total, size)

    def _listings(self, total: Vector, size: Vector) -> Iterator[LevelSet]:
        """Yield sets of levels of several sizes, listed or excluded."""
        here = size[:-1] >= FEWEST_LISTED
        # Shrunken means, so that a level with few rows does not come first by chance.
        mean = np.where(here, total[:-1] / (size[:-1] + 1.0), 0.0)
        order = np.argsort(-mean, kind="stable")
        upwards, downwards = order[mean[order] > 0.0], order[::-1][mean[order[::-1]] < 0.0]
        for count in SET_SIZES:
            if count <= len(upwards):
                yield self._listed(upwards[:count], total, size, negated=False)
            if count <= len(downwards):
                yield self._listed(downwards[:count], total, size, negated=True)

    def _listed(self, codes: Positions, total: Vector, size: Vector, *, negated: bool) -> LevelSet:
        """Return the condition on these levels, with missing values that pull alike."""
        missing = bool(total[-1] > 0.0)
        inside, rows = float(total[codes].sum()), float(size[codes].sum())
        if negated:
            inside, rows = float(total[:-1].sum()) - inside, float(size[:-1].sum()) - rows
        gain = _gain(inside + missing * total[-1], rows + missing * size[-1], total, size)
        listed = sorted(codes.tolist())
        return LevelSet(lambda: Membership(self.column, [self.levels[code] for code in listed], negated, missing), gain)

    def _by_missing(self, total: Vector, size: Vector) -> LevelSet:
        """Return the condition on missing values that pulls."""
        missing = bool(total[-1] > 0.0)
        inside, rows = (total[-1], size[-1]) if missing else (total[:-1].sum(), size[:-1].sum())
        return LevelSet(partial(Membership, self.column, (), not missing, missing), _gain(inside, rows, total, size))

    def _cuts(self, total: Vector, size: Vector) -> Iterator[LevelSet]:
        """Yield the best cuts of ordered levels, above and below."""
        levels, missing = self.levels, bool(total[-1] > 0.0)
        above: list[LevelSet] = []
        below: list[LevelSet] = []
        for cut in range(1, len(levels)):
            for found, part, listed in ((above, slice(cut, -1), levels[cut:]), (below, slice(0, cut), levels[:cut])):
                inside, rows = total[part].sum() + missing * total[-1], size[part].sum() + missing * size[-1]
                membership = partial(Membership, self.column, listed, missing=missing, ordered=True)
                found.append(LevelSet(membership, _gain(inside, rows, total, size) if inside > 0.0 else 0.0))
        yield from (max(found, key=lambda one: one.gain) for found in (above, below) if found)


def _gain(inside: float, rows: float, total: Vector, size: Vector) -> float:
    """Return the approximate gain of a set of rows."""
    everything = float(size.sum())
    spread = rows * (everything - rows) / everything if everything > 0.0 else 0.0
    # Relative to the mean pull, which the constant follows.
    pull = inside - float(total.sum()) * rows / everything if everything > 0.0 else 0.0
    return float(pull * pull / (spread + 1.0))


def best_level_sets(levels: list[LevelSums], pull: Vector, rows: Positions, most: int = MOST_COLUMNS) -> Iterator[Membership]:
    """Yield the sets of levels of the columns that have the best ones."""
    by_column = [list(one.best_sets(pull, rows)) for one in levels]
    found = [sets for sets in by_column if sets]
    for sets in sorted(found, key=lambda sets: -max(one.gain for one in sets))[:most]:
        yield from (one.membership() for one in sorted(sets, key=lambda one: -one.gain)[:MOST_SETS])


def levels_of(block: Block, weight: Vector) -> list[LevelSums]:
    """Return the columns of a block that have levels."""
    special = () if block.columns is None else block.columns.special
    return [LevelSums.of(block, index, weight) for index, column in special if column.levels]
