"""Binarisation: numeric columns as the answers to ``x <= t`` at a few thresholds each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.rules.numbers import shortest_decimal
from obliquerules.rules.rounding.thresholds import Projections, middle_half


@dataclass(frozen=True, eq=False)
class Binarisation:
    """Questions ``x <= t``, sorted by column and within a column by threshold.

    Attributes
    ----------
    columns : array of shape (n_inputs,)
    thresholds : array of shape (n_inputs,)
        Each the shortest decimal in the middle half of the gap between the nearest rows on either side.
    """

    columns: NDArray[np.intp]
    thresholds: Vector

    def __len__(self) -> int:
        return len(self.columns)

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the answers, shape (n_samples, n_inputs)."""
        return X[:, self.columns] <= self.thresholds


def binarise(X: NDArray[np.float64], weight: Vector, n_thresholds: int) -> Binarisation:
    """Choose thresholds at the quantiles of each column, or between all its values if ``n_thresholds`` are enough for that."""
    cuts = [(column, cut) for column, values in enumerate(X.T) for cut in _thresholds(values, weight, n_thresholds)]
    columns = np.array([column for column, _ in cuts], dtype=np.intp)
    return Binarisation(columns, np.array([cut for _, cut in cuts], dtype=np.float64))


def _thresholds(column: Vector, weight: Vector, most: int) -> Iterator[float]:
    values, position = np.unique(column, return_inverse=True)
    few = len(values) <= most + 1
    projections = Projections.of_column(values)
    total = np.bincount(position, weight).astype(np.float64)
    for index in range(len(values) - 1) if few else _quantiles(total, most):
        gap = middle_half(projections, np.arange(len(values)) > index)
        if gap is not None:  # values that are the same but for rounding cannot be told apart
            yield shortest_decimal(*gap)


def _quantiles(weight: Vector, most: int) -> NDArray[np.intp]:
    """Return the indices of the values at which the quantiles lie; a value of weight 2 counts as two rows."""
    cumulated = np.cumsum(weight)
    rank = np.arange(1, most + 1) / (most + 1) * (cumulated[-1] - 1.0)
    below = np.unique(np.searchsorted(cumulated, rank, side="right"))
    return below[below < len(weight) - 1]
