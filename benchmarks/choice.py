"""The size that cross-validation chooses: how much worse than the best on the path, and how much smaller than the largest."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_friedman1

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.losses import LOSSES

REPETITIONS = 10
MOST_TRAINING_ROWS = 500
# What is asked for, on average over the repetitions: a size of at most this share of the largest.
SMALL = 2 / 3
# Data set, largest number of rules, linear_terms: the defaults, of which it is asked, and others.
ASKED = (("Friedman, noise 3", 20, "auto"), ("Breast Cancer", 20, "auto"))
OTHERS = (
    ("Friedman, noise 3", 20, False),
    ("Breast Cancer", 20, False),
    ("Friedman, noise 3", 10, False),
    ("Breast Cancer", 10, False),
    ("Friedman", 20, False),
    ("Friedman", 120, False),
)


def split(n: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of a bootstrap sample of at most 500 and the rows that it leaves out."""
    drawn = np.random.default_rng(seed).integers(0, n, min(n, MOST_TRAINING_ROWS))
    return drawn, np.setdiff1d(np.arange(n), drawn)


def rows_of(name: str) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss, inputs and target of a data set."""
    if name == "Breast Cancer":
        return "logistic", *load_breast_cancer(return_X_y=True)
    noise = 3.0 if name.endswith("noise 3") else 0.1
    return "squared", *make_friedman1(n_samples=2000, n_features=10, noise=noise, random_state=1000)


def measure(model: Any, loss: str, X: NDArray[np.float64], y: NDArray[np.float64], seed: int) -> list[list[float]]:
    """Return, for either rule, the complexities of the chosen, the best and the largest member, and two excess risks.

    The best is the one with the least test risk, and an excess is in standard errors of that: first of the chosen member, then
    of the best among those of at most two thirds of the largest complexity, below which no choice from this path can come.
    """
    train, test = split(len(y), seed)
    model.fit(X[train], y[train], groups=train)
    losses = np.array([LOSSES[loss].value(y[test], ensemble(X[test])) for ensemble in model.path_])
    complexity = [ensemble.complexity for ensemble in model.path_]
    best = int(losses.mean(axis=1).argmin())
    standard_error = losses[best].std(ddof=1) / np.sqrt(len(test))
    excess = (losses.mean(axis=1) - losses[best].mean()) / standard_error
    least = min(excess[: int(np.searchsorted(complexity, SMALL * complexity[-1], side="right"))])
    chosen = (model.complexity_, model.best_complexity_)
    return [[c, complexity[best], complexity[-1], excess[complexity.index(c)], least] for c in chosen]


def report(name: str, max_rules: int, linear_terms: bool | str, seeds: range) -> bool:
    """Print two lines of the table; return whether the choice by one standard error is as asked for."""
    loss, X, y = rows_of(name)
    kind = LLTBoostClassifierCV if loss == "logistic" else LLTBoostRegressorCV
    repetitions = []
    for seed in seeds:
        model = kind(max_rules=max_rules, linear_terms=linear_terms, random_state=seed, n_jobs=-1)
        repetitions.append(measure(model, loss, X, y, seed))
    rows = np.array(repetitions).transpose(1, 2, 0)
    for rule, (chosen, best, largest, excess, least) in zip(("1 s.e.", "best"), rows, strict=True):
        good, small = excess <= 1.0, chosen <= SMALL * largest
        print(
            f"{name:>17} {max_rules:6d} {linear_terms!s:>7} {rule:>7} {chosen.mean():7.1f} {best.mean():7.1f} "
            f"{largest.mean():8.1f} {excess.mean():7.2f} {least.mean():7.2f} {good.sum():7d} {small.sum():6d}",
            flush=True,
        )
    chosen, _, largest, excess, _ = rows[0]
    return bool(excess.mean() <= 1.0 and chosen.mean() <= SMALL * largest.mean())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first of ten repetitions; default: 0")
    parser.add_argument("--asked", action="store_true", help="only the cases of which something is asked")
    return parser.parse_args()


def main() -> int:
    """Print the table: means over the repetitions, and in how many the choice is good, and small; return how many fail."""
    options = parse()
    seeds = range(options.seed, options.seed + REPETITIONS)
    print(f"{'':>17} {'max':>6} {'linear':>7} {'':>7} {'complexity':^24} {'excess (s.e.)':^15} {'within':>7} {'<= 2/3':>6}")
    print(
        f"{'data':>17} {'rules':>6} {'terms':>7} {'rule':>7} {'chosen':>7} {'best':>7} {'largest':>8} {'chosen':>7} "
        f"{'small':>7} {'1 s.e.':>7} {'size':>6}"
    )
    met = [report(*case, seeds) for case in ASKED]
    if not options.asked:
        for case in OTHERS:
            report(*case, seeds)
    return met.count(False)


if __name__ == "__main__":
    sys.exit(main())
