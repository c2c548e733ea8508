"""The rival: the same levels from scikit-learn's liblinear, by bisection on the penalty for each number of non-zeros."""

from __future__ import annotations

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from obliquerules import L1Level, L1Path

STEPS = 20
# The way to ask for an L1 penalty changed in 1.8.
L1 = {"l1_ratio": 1.0} if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}


def liblinear_path(
    X: NDArray[np.float64],
    labels: NDArray[np.float64],
    weight: NDArray[np.float64],
    max_support: int,
    min_alpha_ratio: float,
) -> L1Path:
    """Search, for each s, for the smallest alpha with at most s non-zeros, as the paper describes it."""
    if labels.min() == labels.max():
        return L1Path((), 0.0, "one-sided")
    largest = float(np.abs((weight * (np.average(labels, weights=weight) - labels)) @ X).max())
    sizes = range(1, min(max_support, X.shape[1]) + 1)
    levels = tuple(bisect(X, labels, weight, size, largest, min_alpha_ratio) for size in sizes)
    return L1Path(levels, largest, "complete")


def bisect(
    X: NDArray[np.float64], labels: NDArray[np.float64], weight: NDArray[np.float64], size: int, largest: float, ratio: float
) -> L1Level | None:
    """Halve the interval of log alpha; None if no alpha that was tried has exactly ``size`` non-zeros."""
    low, high, found = np.log(largest * ratio), np.log(largest), None
    for _ in range(STEPS):
        alpha = float(np.exp(0.5 * (low + high)))
        model = LogisticRegression(solver="liblinear", C=1.0 / alpha, random_state=0, **L1).fit(X, labels, weight)
        support = np.count_nonzero(model.coef_)
        if support == size:
            found = L1Level(model.coef_[0], float(model.intercept_[0]), alpha)
        if support <= size:
            high = np.log(alpha)
        else:
            low = np.log(alpha)
    return found
