"""Scaling: inputs brought to mean zero and unit variance for learning, and directions taken back to original units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Proposition

# A standard deviation below this, relative to the size of the column, is rounding error around a constant.
CONSTANT_COLUMN = 1e-12


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean and standard deviation of each column; a constant column has the scale 1 and becomes zero."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, X: NDArray[np.float64], weight: NDArray[np.float64]) -> Scaling:
        """Measure the columns of X, row i counting ``weight[i]`` times."""
        share = weight / weight.sum()
        # einsum, not @: BLAS would wake threads for a sum over rows, and add in an order that depends on their number.
        mean = np.einsum("i,ij->j", share, X)
        scale = np.array([_size(column - centre, share) for column, centre in zip(X.T, mean, strict=True)])
        constant = scale <= CONSTANT_COLUMN * np.maximum(np.abs(mean), scale)
        return cls(mean, np.where(constant, 1.0, scale), constant)

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standardised columns, each contiguous in memory."""
        standardised = np.empty(X.shape, order="F")
        for j in range(X.shape[1]):
            standardised[:, j] = 0.0 if self.constant[j] else (X[:, j] - self.mean[j]) / self.scale[j]
        return standardised

    def restore(self, weights: NDArray[np.float64], threshold: float) -> Proposition:
        """Return the condition ``standardised x . weights >= threshold`` in original units.

        The columns stand in the order of their influence (their weight on standardised inputs), and the first gets the weight
        +1 or -1, so that the condition reads in the units of its most influential variable.
        """
        columns = np.flatnonzero(weights)
        columns = columns[np.argsort(-np.abs(weights[columns]), kind="stable")]
        raw = weights[columns] / self.scale[columns]
        unit = abs(raw[0])
        return Proposition(columns.tolist(), (raw / unit).tolist(), (threshold + raw @ self.mean[columns]) / unit)


def _size(deviation: NDArray[np.float64], share: NDArray[np.float64]) -> float:
    """Return the root mean square; of numbers brought to 1 first, because the squares of very large or small ones are lost."""
    largest = float(np.abs(deviation).max())
    return largest * float(np.sqrt(np.einsum("i,i->", share, (deviation / largest) ** 2))) if largest > 0.0 else 0.0
