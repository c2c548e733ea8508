"""The L1 path against liblinear with bisection, by itself and inside a fit, and two threads that each follow one.

Prints three tables. Fails if the path is less than 300 times as fast as the rival, a fit less than 100 times, or the gain of a
second thread, on two free processors, less than 1.7.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.datasets import load_breast_cancer, load_friedman, load_housing
from benchmarks.paper.contenders import lltboost
from benchmarks.paper.protocol import Split, bootstrap_split
from benchmarks.stopwatch import mean_seconds
from obliquerules import L1Level, L1Path, l1_logistic_path
from obliquerules.learning.boosting.oblique import ObliqueProposer

SIZES = ((500, 4), (500, 10), (500, 30), (20000, 10))
MAX_SUPPORT, MIN_ALPHA_RATIO, PROBLEMS = 5, 1e-3, 5
# With four columns there is no sixth to end the path at, so that this size is shown but not judged.
LEAST_RATIO, NOT_JUDGED = 300.0, (500, 4)
LEAST_RATIO_OF_FITS, SPLITS = 100.0, 3
BISECTION_STEPS = 20
# The way to ask for an L1 penalty changed in 1.8.
L1 = {"l1_ratio": 1.0} if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}
THREAD_ROWS, THREAD_COLUMNS, THREAD_SUPPORT, THREAD_RUNS, LEAST_GAIN = 20_000, 30, 20, 9, 1.7


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
    for _ in range(BISECTION_STEPS):
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


def problem(n: int, d: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Draw correlated inputs, labels that depend on at most six of them, and weights as uneven as gradients."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
    X = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    score = X @ (rng.normal(size=d) * (np.arange(d) < 6)) + 0.3
    labels = (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(np.float64)
    return X, labels, rng.exponential(size=n)


def same_support(ours: L1Path, theirs: L1Path) -> int:
    """Count the levels on which both found the same variables."""
    pairs = zip(ours.levels, theirs.levels, strict=True)
    return sum(a is not None and b is not None and np.array_equal(a.weights != 0, b.weights != 0) for a, b in pairs)


def measure_path(n: int, d: int) -> float:
    """Print one line of the table and return the ratio."""
    mine, theirs, agreed, levels = [], [], 0, 0
    for seed in range(PROBLEMS):
        X, z, c = problem(n, d, seed)
        ours = partial(l1_logistic_path, X, z, sample_weight=c, max_support=MAX_SUPPORT, min_alpha_ratio=MIN_ALPHA_RATIO)
        rival = partial(liblinear_path, X, z, c, MAX_SUPPORT, MIN_ALPHA_RATIO)
        mine.append(mean_seconds(ours))
        theirs.append(mean_seconds(rival))
        agreed += same_support(ours(), rival())
        levels += len(ours().levels)
    ratio = median(b / a for a, b in zip(mine, theirs, strict=True))
    times = f"{1e3 * median(mine):10.3f} {1e3 * median(theirs):15.1f}"
    print(f"{n:6d} x {d:2d} {times} {ratio:8.0f} {f'{agreed}/{levels}':>14}", flush=True)
    return ratio


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


def measure_fit(data: Any) -> float:
    """Print one line of the table and return the ratio."""
    splits = [bootstrap_split(data, seed) for seed in range(SPLITS)]
    mine = mean_seconds(partial(fit, data.task, splits), 2.0) / SPLITS
    theirs = mean_seconds(partial(fit_by_bisection, data.task, splits)) / SPLITS
    print(f"{data.name:>14} {1e3 * mine:10.1f} {1e3 * theirs:15.0f} {theirs / mine:8.0f}", flush=True)
    return theirs / mine


def followed(seed: int) -> Callable[[], Any]:
    """Return the work of one thread."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(THREAD_ROWS, THREAD_COLUMNS)))
    labels = X @ rng.normal(size=THREAD_COLUMNS) + 3.0 * rng.logistic(size=THREAD_ROWS) > 0.0
    return partial(l1_logistic_path, X, labels, max_support=THREAD_SUPPORT)


def seconds(run: Callable[[], Any]) -> float:
    """Return the time on the wall: that of the processor is the same for both."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure_gain() -> float:
    """Measure both by turns; the least time counts, as other programs only ever add to it."""
    both = followed(0), followed(1)
    with ThreadPoolExecutor(2) as pool:
        times = [
            (seconds(lambda: [work() for work in both]), seconds(lambda: list(pool.map(lambda work: work(), both))))
            for _ in range(THREAD_RUNS)
        ]
    alone, together = (min(column) for column in zip(*times, strict=True))
    gain = alone / together
    print(f"one after the other {1e3 * alone:.0f} ms, two threads {1e3 * together:.0f} ms, gain {gain:.2f}")
    print(f"(at least {LEAST_GAIN} is expected on two free processors)")
    return gain


def main() -> int:
    """Print the tables; return how many figures fall short."""
    print(f"{'rows x cols':>11} {'ours, ms':>10} {'liblinear, ms':>15} {'ratio':>8} {'same support':>14}")
    short = [size for size in SIZES if measure_path(*size) < LEAST_RATIO and size != NOT_JUDGED]
    regression = load_housing() if os.environ.get("OBLIQUERULES_DATA") else load_friedman()
    print(f"\n{'data set':>14} {'ours, ms':>10} {'liblinear, ms':>15} {'ratio':>8}")
    slow = [data.name for data in (load_breast_cancer(), regression) if measure_fit(data) < LEAST_RATIO_OF_FITS]
    print()
    for name in (*short, *slow):
        print(f"{name} falls short.")
    return len(short) + len(slow) + (measure_gain() < LEAST_GAIN)


if __name__ == "__main__":
    sys.exit(main())
