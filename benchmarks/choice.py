"""The size that cross-validation chooses: how much worse than the best on the path, and how much smaller than the largest."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_friedman1

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.losses import LOSSES

REPETITIONS = 10
MOST_TRAINING_ROWS = 500
MAX_RULES = {"Friedman": (10, 30, 120), "Breast Cancer": (10, 30)}


def split(n: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of a bootstrap sample of at most 500 and the rows that it leaves out."""
    drawn = np.random.default_rng(seed).integers(0, n, min(n, MOST_TRAINING_ROWS))
    return drawn, np.setdiff1d(np.arange(n), drawn)


def measure(model: Any, loss: str, X: NDArray[np.float64], y: NDArray[np.float64], seed: int) -> list[list[float]]:
    """Return, for either rule, the complexities of the chosen, the best and the largest member, and two excess risks.

    The best is the one with the least test risk, and an excess is in standard errors of that: first of the chosen member, then
    of the best among those of at most half the largest complexity, below which no choice from this path can come.
    """
    train, test = split(len(y), seed)
    model.fit(X[train], y[train])
    losses = np.array([LOSSES[loss].value(y[test], ensemble(X[test])) for ensemble in model.path_])
    complexity = [ensemble.complexity for ensemble in model.path_]
    best = int(losses.mean(axis=1).argmin())
    standard_error = losses[best].std(ddof=1) / np.sqrt(len(test))
    excess = (losses.mean(axis=1) - losses[best].mean()) / standard_error
    least = min(excess[: int(np.searchsorted(complexity, complexity[-1] / 2, side="right"))])
    chosen = (model.complexity_, model.best_complexity_)
    return [[c, complexity[best], complexity[-1], excess[complexity.index(c)], least] for c in chosen]


def report(name: str, max_rules: int) -> None:
    """Print two lines of the table."""
    repetitions = []
    for seed in range(REPETITIONS):
        parameters = {"max_rules": max_rules, "linear_terms": False, "random_state": seed, "n_jobs": -1}
        if name == "Friedman":
            data = make_friedman1(n_samples=2000, n_features=10, noise=0.1, random_state=1000)
            repetitions.append(measure(LLTBoostRegressorCV(**parameters), "squared", *data, seed))
        else:
            data = load_breast_cancer(return_X_y=True)
            repetitions.append(measure(LLTBoostClassifierCV(**parameters), "logistic", *data, seed))
    for rule, rows in zip(("1 s.e.", "best"), np.array(repetitions).transpose(1, 2, 0), strict=True):
        chosen, best, largest, excess, least = rows
        good, small = excess <= 1.0, chosen <= largest / 2
        print(
            f"{name:>14} {max_rules:6d} {rule:>7} {chosen.mean():7.1f} {best.mean():7.1f} {largest.mean():8.1f} "
            f"{excess.mean():7.2f} {least.mean():7.2f} {good.sum():7d} {small.sum():6d} {(good & small).sum():5d}",
            flush=True,
        )


def main() -> int:
    """Print the table: means over the repetitions, and in how many of them the chosen model is good, small, and both."""
    print(f"{'':>14} {'max':>6} {'':>7} {'complexity':^24} {'excess (s.e.)':^15} {'within':>7} {'<= 1/2':>6} {'':>5}")
    print(
        f"{'data':>14} {'rules':>6} {'rule':>7} {'chosen':>7} {'best':>7} {'largest':>8} {'chosen':>7} {'half':>7} "
        f"{'1 s.e.':>7} {'size':>6} {'both':>5}"
    )
    for name, sizes in MAX_RULES.items():
        for max_rules in sizes:
            report(name, max_rules)
    return 0


if __name__ == "__main__":
    sys.exit(main())
