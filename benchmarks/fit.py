"""A whole fit against the same fit with liblinear and bisection in the place of the L1 path."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import load_breast_cancer, load_friedman, load_housing
from benchmarks.liblinear import liblinear_path
from benchmarks.paper.contenders import lltboost
from benchmarks.paper.protocol import Split, bootstrap_split
from benchmarks.stopwatch import mean_seconds
from obliquerules import L1Path
from obliquerules.learning.boosting.oblique import ObliqueProposer

LEAST_RATIO = 100.0
SPLITS = 3


class LiblinearProposer(ObliqueProposer):
    """LLTBoost's proposer, but for the solver."""

    def solve(self, X: NDArray[np.float64], labels: NDArray[np.float64], weight: NDArray[np.float64]) -> L1Path:
        """Classify labels with one variable, with two, and so on, by bisection."""
        return liblinear_path(X, labels, weight, self.max_variables, self.min_alpha_ratio)


def fit(task: str, splits: Sequence[Split]) -> None:
    """Fit ten rules to the 500 training rows of each split."""
    for seed, split in enumerate(splits):
        lltboost("validation").make(task, seed)["default"].fit(split.X_train, split.y_train)


def fit_by_bisection(task: str, splits: Sequence[Split]) -> None:
    """Fit the same, with the other solver."""
    with patch("obliquerules.learning.boosting.lltboost.ObliqueProposer", LiblinearProposer), warnings.catch_warnings():
        # On nearly separable gradients liblinear gives up after its default number of steps; more would only take longer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(task, splits)


def measure(data: Any) -> float:
    """Print one line of the table and return the ratio."""
    splits = [bootstrap_split(data, seed) for seed in range(SPLITS)]
    mine = mean_seconds(partial(fit, data.task, splits), 2.0) / SPLITS
    theirs = mean_seconds(partial(fit_by_bisection, data.task, splits)) / SPLITS
    print(f"{data.name:>14} {1e3 * mine:10.1f} {1e3 * theirs:15.0f} {theirs / mine:8.0f}", flush=True)
    return theirs / mine


def main() -> int:
    """Measure a classifier and a regressor; return how many fall short."""
    regression = load_housing() if os.environ.get("OBLIQUERULES_DATA") else load_friedman()
    print(f"{'data set':>14} {'ours, ms':>10} {'liblinear, ms':>15} {'ratio':>8}")
    short = [data.name for data in (load_breast_cancer(), regression) if measure(data) < LEAST_RATIO]
    for name in short:
        print(f"{name} is below {LEAST_RATIO:g}.")
    return len(short)


if __name__ == "__main__":
    sys.exit(main())
