"""The L1 path against liblinear with bisection: the same weighted problems, s = 1..5, in one run."""

from __future__ import annotations

import sys
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.liblinear import liblinear_path
from benchmarks.stopwatch import mean_seconds
from obliquerules import L1Path, l1_logistic_path

SIZES = ((500, 4), (500, 10), (500, 30), (20000, 10))
MAX_SUPPORT, MIN_ALPHA_RATIO, PROBLEMS = 5, 1e-3, 5
# With four columns there is no sixth to end the path at, so that this size is shown but not judged.
LEAST_RATIO, NOT_JUDGED = 300.0, (500, 4)


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


def measure(n: int, d: int) -> float:
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


def main() -> int:
    """Measure all sizes; return how many of those that are judged fall short."""
    print(f"{'rows x cols':>11} {'ours, ms':>10} {'liblinear, ms':>15} {'ratio':>8} {'same support':>14}")
    ratios = {size: measure(*size) for size in SIZES}
    short = [size for size, ratio in ratios.items() if ratio < LEAST_RATIO and size != NOT_JUDGED]
    for n, d in short:
        print(f"{n} x {d} is below {LEAST_RATIO:g}.")
    return len(short)


if __name__ == "__main__":
    sys.exit(main())
