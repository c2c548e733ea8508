"""Proposition: one condition, a sparse weighted sum of inputs that reaches a threshold."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block, Column, Columns, as_block
from obliquerules.rules.membership import Membership
from obliquerules.rules.text.style import PLAIN, Style

Summand = int | Membership


@dataclass(frozen=True, slots=True)
class Proposition:
    """The condition x.w >= t, with w given by its non-zero entries.

    What it means is fixed to the last bit: the products weight * value are added from left to right in double precision, and
    the sum is compared with ``>=`` to the threshold. A row with a missing value in one of the columns meets it only if
    ``missing`` is true. A membership in the sum is 1 where it holds and 0 elsewhere, and never missing.

    Parameters
    ----------
    columns : sequence of int or Membership
        The columns of X that take part, and conditions on levels, each once, in the order in which their products are added and
        printed.
    weights : sequence of float
        One finite, non-zero weight for each column.
    threshold : float
    missing : bool, default=False
        Whether the condition holds where a value that it needs is missing.

    Attributes
    ----------
    used_columns : tuple of int
        The columns that take part, those of memberships too, each once.

    Examples
    --------
    >>> condition = Proposition([0, 1], [2.81, 1.5], -0.28)
    >>> print(condition.describe(["variance", "skewness"]))
    2.81 variance + 1.5 skewness >= -0.28
    >>> condition([[0.0, 0.0], [-1.0, 1.0]]).tolist()
    [True, False]
    >>> print(Proposition([0, Membership(1, ["yes"])], [1, 12], 60).describe(["age", "smoker"]))
    age + 12 (smoker = yes) >= 60
    """

    columns: tuple[Summand, ...]
    weights: tuple[float, ...]
    threshold: float
    missing: bool = False
    used_columns: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(self, columns: Sequence[Summand], weights: Sequence[float], threshold: float, missing: bool = False) -> None:
        summands = tuple(one if isinstance(one, Membership) else operator.index(one) for one in columns)
        used = dict.fromkeys(summand if isinstance(summand, int) else summand.column for summand in summands)
        object.__setattr__(self, "columns", summands)
        object.__setattr__(self, "used_columns", tuple(used))
        self._set(weights, threshold, missing)
        if len(set(summands)) != len(summands) or min(used) < 0:
            raise ValueError(f"The columns of a proposition must be different and not negative; got {list(summands)}.")

    def _set(self, weights: Iterable[float], threshold: float, missing: bool) -> None:
        """Set the numbers, once they are known to be good."""
        object.__setattr__(self, "weights", tuple(map(float, weights)))
        object.__setattr__(self, "threshold", float(threshold) + 0.0)  # no negative zero, which prints as zero
        object.__setattr__(self, "missing", bool(missing))
        if not self.columns or len(self.columns) != len(self.weights):
            raise ValueError(
                f"A proposition needs one weight for each of one or more columns; got {len(self.columns)} columns and "
                f"{len(self.weights)} weights."
            )
        if not all(map(math.isfinite, self.weights)) or 0.0 in self.weights:
            raise ValueError(f"The weights of a proposition must be finite and not zero; got {list(self.weights)}.")
        if not math.isfinite(self.threshold):
            raise ValueError(f"The threshold of a proposition must be finite; got {self.threshold}.")

    def with_numbers(self, weights: Sequence[float], threshold: float) -> Proposition:
        """Return the condition on the same columns, which need no check, with other weights and another threshold."""
        other = object.__new__(Proposition)
        object.__setattr__(other, "columns", self.columns)
        object.__setattr__(other, "used_columns", self.used_columns)
        other._set(weights, threshold, self.missing)
        return other

    def with_missing(self, missing: bool) -> Proposition:
        """Return the condition with another answer where a value is missing."""
        return self if missing == self.missing else self._turned(self.weights, self.threshold, missing)

    def _turned(self, weights: tuple[float, ...], threshold: float, missing: bool) -> Proposition:
        """Return a condition on the same columns with the same numbers, or all of them with the other sign."""
        other = object.__new__(Proposition)
        values = (self.columns, weights, threshold, missing, self.used_columns)
        for name, value in zip(_SLOTS, values, strict=True):
            object.__setattr__(other, name, value)
        return other

    @property
    def complexity(self) -> int:
        """One for the threshold, one for each column, one for each level of a membership and one for ``or missing``."""
        return 1 + self.missing + sum(1 if isinstance(summand, int) else summand.listing for summand in self.columns)

    @property
    def only_number(self) -> int | None:
        """The column of numbers that the condition is on alone; None if it is on anything else."""
        return self.columns[0] if len(self.columns) == 1 and isinstance(self.columns[0], int) else None

    @property
    def is_upright(self) -> bool:
        """Whether the first weight is positive."""
        return self.weights[0] > 0.0

    def summands(self, X: ArrayLike | Block) -> list[Vector]:
        """Return the values of each column and membership of the sum."""
        block = as_block(X, 1 + max(self.used_columns))
        return [summand_values(summand, block) for summand in self.columns]

    def project(self, X: ArrayLike | Block) -> Vector:
        """Return x.w for each row, added in the order that defines the model; NaN where a value is missing."""
        block = as_block(X, 1 + max(self.used_columns))
        summands = [summand_values(summand, block) for summand in self.columns]
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.weights[0] * summands[0]
            for weight, values in zip(self.weights[1:], summands[1:], strict=True):
                total = total + weight * values
        return total

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether the condition holds."""
        block = as_block(X, 1 + max(self.used_columns))
        holds: NDArray[np.bool_] = self.project(block) >= self.threshold
        return holds | self.lacks(block) if self.missing else holds

    def lacks(self, block: Block) -> NDArray[np.bool_]:
        """Return which rows lack a value that the condition needs."""
        numbers = [summand for summand in self.columns if isinstance(summand, int)]
        return np.asarray(np.isnan(block.matrix[:, numbers]).any(axis=1))

    def opposite(self) -> Proposition:
        """Return -x.w >= -t, with the other answer where a value is missing.

        It holds where this condition does not; where x.w equals t, both hold.
        """
        weights = tuple([-weight for weight in self.weights])
        return self._turned(weights, 0.0 - self.threshold, not self.missing)

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text, turned so that the first variable has no minus."""
        return style.proposition(None if columns is None else Columns.of(columns), self)

    def __str__(self) -> str:
        return self.describe()


Test = Proposition | Membership
_SLOTS = ("columns", "weights", "threshold", "missing", "used_columns")


def summand_values(summand: Summand, block: Block) -> Vector:
    """Return the values of a column, or 1 where a membership holds and 0 elsewhere."""
    return block.matrix[:, summand] if isinstance(summand, int) else summand(block).astype(np.float64)
