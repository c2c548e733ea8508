"""Scaling: standardised inputs for learning, and conditions in original units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector, weighted_quantiles
from obliquerules.rules import Proposition

# A standard deviation below this, relative to the size of the column, is rounding error around a constant.
CONSTANT_COLUMN = 1e-12
# A column is stretched by outliers if its standard deviation exceeds this multiple of its spread: the distance from the median
# within which this share of the rows off the median lie. Heavy tails, such as those of incomes, stay below.
STRETCHED = 30.0
KEEPING_CLOSE = 0.75
# Where a column is stretched, values further from the median than this multiple of the spread are clipped to that distance.
FENCE = 2.0
# A spread below this, relative to the median, is too narrow for a threshold; the other is the least that can be divided by.
NARROW = 1e-9
SMALLEST_SPREAD = 1e-200


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean and standard deviation of each column; constant columns become zero.

    A few outliers can dominate a standard deviation, so that all other values become nearly equal once they are divided by it.
    Such a column is measured with its outliers clipped to fences around the other values. Other columns have no fences.

    Attributes
    ----------
    mean, scale : array of shape (n_features,)
    constant : array of shape (n_features,)
        Which columns are constant.
    lower, upper : array of shape (n_features,)
        The fences, infinite where there are none.
    """

    mean: Vector
    scale: Vector
    constant: NDArray[np.bool_]
    lower: Vector
    upper: Vector

    @classmethod
    def of(cls, X: NDArray[np.float64], weight: NDArray[np.float64]) -> Scaling:
        """Measure the columns of X, row i counting ``weight[i]`` times."""
        share = weight / weight.sum()
        # einsum, not @: BLAS would wake threads for a sum over rows, and add in an order that depends on their number.
        mean = np.einsum("i,ij->j", share, X)
        scale = np.array([_size(column - centre, share) for column, centre in zip(X.T, mean, strict=True)])
        lower, upper = np.array([_fences(*column, share) for column in zip(X.T, scale, strict=True)]).reshape(-1, 2).T
        for j in np.flatnonzero(np.isfinite(lower)):
            fenced = np.clip(X[:, j], lower[j], upper[j])
            mean[j] = np.einsum("i,i->", share, fenced)
            scale[j] = _size(fenced - mean[j], share)
        constant = scale <= CONSTANT_COLUMN * np.maximum(np.abs(mean), scale)
        return cls(mean, np.where(constant, 1.0, scale), constant, lower, upper)

    def extended(self, mean: Vector, scale: Vector) -> Scaling:
        """Return the scaling of these columns and of more, which have no fences."""
        free = np.full(len(mean), np.inf)
        return Scaling(
            np.concatenate([self.mean, mean]),
            np.concatenate([self.scale, scale]),
            np.concatenate([self.constant, np.zeros(len(mean), dtype=np.bool_)]),
            np.concatenate([self.lower, -free]),
            np.concatenate([self.upper, free]),
        )

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standardised columns, each contiguous in memory."""
        standardised = np.empty(X.shape, order="F")
        for j in range(X.shape[1]):
            standardised[:, j] = 0.0 if self.constant[j] else (X[:, j] - self.mean[j]) / self.scale[j]
        return standardised

    def fenced(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standardised columns with outliers clipped to the fences, for learning directions."""
        standardised = self.transform(X)
        for j in np.flatnonzero(np.isfinite(self.lower)):
            lower, upper = (np.array([self.lower[j], self.upper[j]]) - self.mean[j]) / self.scale[j]
            np.clip(standardised[:, j], lower, upper, out=standardised[:, j])
        return standardised

    def restore(self, weights: NDArray[np.float64], threshold: float) -> Proposition:
        """Return the condition ``standardised x . weights >= threshold`` in original units.

        The columns stand in the order of their influence (their weight on standardised inputs), and the first gets the weight
        +1 or -1, so that the condition reads in the units of its most influential variable.
        """
        return Proposition(*self.unscaled(weights, threshold))

    def unscaled(self, weights: NDArray[np.float64], threshold: float) -> tuple[list[int], list[float], float]:
        """Return columns, weights and threshold of what `restore` returns."""
        sizes = weights.tolist()
        columns = sorted(np.flatnonzero(weights).tolist(), key=lambda column: -abs(sizes[column]))
        raw = [sizes[column] / float(self.scale[column]) for column in columns]
        unit = abs(raw[0])
        shift = sum(weight * float(self.mean[column]) for weight, column in zip(raw, columns, strict=True))
        return columns, [weight / unit for weight in raw], (threshold + shift) / unit


def _size(deviation: Vector, share: Vector) -> float:
    """Return the root mean square without overflow."""
    largest = float(np.abs(deviation).max())
    return largest * float(np.sqrt(np.einsum("i,i->", share, (deviation / largest) ** 2))) if largest > 0.0 else 0.0


def _fences(column: Vector, scale: float, share: Vector) -> tuple[float, float]:
    """Return the fences of a column, infinite if it needs none."""
    centre = float(weighted_quantiles(column, share, [0.5])[0])
    distance = np.abs(column - centre)
    # Off the median, because most values may be the same, as zeros are.
    off = (distance > 0.0) & (share > 0.0)
    if not off.any():
        return -np.inf, np.inf
    spread = float(weighted_quantiles(distance[off], share[off], [KEEPING_CLOSE])[0])
    if scale <= STRETCHED * spread or spread <= max(NARROW * abs(centre), SMALLEST_SPREAD):
        return -np.inf, np.inf
    return centre - FENCE * spread, centre + FENCE * spread


def filled_with_means(X: NDArray[np.float64], weight: Vector) -> NDArray[np.float64]:
    """Return a matrix with missing values replaced by weighted column means."""
    filled = np.array(X, order="F")
    for column in filled.T:
        missing = np.isnan(column)
        if missing.any():
            column[missing] = np.average(column[~missing], weights=weight[~missing]) if not missing.all() else 0.0
    return filled
