"""Proposition: one condition, a sparse weighted sum of inputs that reaches a threshold."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, as_matrix
from obliquerules.rules.style import PLAIN, Style, column_names


@dataclass(frozen=True, slots=True)
class Proposition:
    """The condition x.w >= t, with w given by its non-zero entries.

    What it means is fixed to the last bit: the products weight * value are added from left to right in double precision, and
    the sum is compared with ``>=`` to the threshold. A row with a missing value (NaN) in one of the columns does not meet it.

    Parameters
    ----------
    columns : sequence of int
        The columns of X that take part, each once, in the order in which their products are added and printed.
    weights : sequence of float
        One finite, non-zero weight for each column.
    threshold : float

    Examples
    --------
    >>> condition = Proposition([0, 1], [2.81, 1.5], -0.28)
    >>> print(condition.describe(["variance", "skewness"]))
    2.81 variance + 1.5 skewness >= -0.28
    >>> condition([[0.0, 0.0], [-1.0, 1.0]]).tolist()
    [True, False]
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    threshold: float

    def __init__(self, columns: Sequence[int], weights: Sequence[float], threshold: float) -> None:
        object.__setattr__(self, "columns", tuple(operator.index(column) for column in columns))
        object.__setattr__(self, "weights", tuple(float(weight) for weight in weights))
        object.__setattr__(self, "threshold", float(threshold))
        self._check()

    def _check(self) -> None:
        if not self.columns or len(self.columns) != len(self.weights):
            raise ValueError(
                f"A proposition needs one weight for each of one or more columns; got {len(self.columns)} columns and "
                f"{len(self.weights)} weights."
            )
        if len(set(self.columns)) != len(self.columns) or min(self.columns) < 0:
            raise ValueError(f"The columns of a proposition must be different and not negative; got {list(self.columns)}.")
        if not all(math.isfinite(weight) and weight != 0.0 for weight in self.weights):
            raise ValueError(f"The weights of a proposition must be finite and not zero; got {list(self.weights)}.")
        if not math.isfinite(self.threshold):
            raise ValueError(f"The threshold of a proposition must be finite; got {self.threshold}.")

    def __reduce__(self) -> tuple[type[Proposition], tuple[tuple[int, ...], tuple[float, ...], float]]:
        return type(self), (self.columns, self.weights, self.threshold)

    def with_numbers(self, weights: Sequence[float], threshold: float) -> Proposition:
        """Return the condition on the same columns with other weights and another threshold."""
        return Proposition(self.columns, weights, threshold)

    @property
    def complexity(self) -> int:
        """One for the threshold and one for each non-zero weight."""
        return 1 + len(self.weights)

    def project(self, X: ArrayLike | Block) -> NDArray[np.float64]:
        """Return x.w for each row, added in the order that defines the model."""
        X = as_matrix(X, 1 + max(self.columns))
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.weights[0] * X[:, self.columns[0]]
            for weight, column in zip(self.weights[1:], self.columns[1:], strict=True):
                total = total + weight * X[:, column]
        return total

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.bool_]:
        """Return for each row of X whether the condition holds."""
        return self.project(X) >= self.threshold

    def opposite(self) -> Proposition:
        """Return -x.w >= -t, which holds where this condition does not.

        Where x.w equals t, both hold; where a value is missing, neither does.
        """
        return self.with_numbers(tuple(-weight for weight in self.weights), -self.threshold)

    def describe(self, feature_names: Sequence[str] | None = None, style: Style = PLAIN) -> str:
        """Return the condition as text, turned so that the first variable has no minus."""
        return style.inequality(column_names(self.columns, feature_names), self.weights, self.threshold)

    def __str__(self) -> str:
        return self.describe()
