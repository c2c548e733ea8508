"""Is the cross-validated risk that of new rows? Simulated problems, coarse and fine, against 100,000 new rows each.

A problem is drawn by its seed: classes, numbers or counts, 150 to 1,000 rows, and columns of numbers or, in coarse problems, of
few values, so that rows are repeated. For each, ``risk_`` is set against the mean loss of the chosen model on new rows, in
standard errors. It should be within two of them in 85 of 100 problems.

Usage: ``python -m benchmarks.cv_risk`` takes the development seeds 0 to 39, with ``reporting`` the seeds 1000 to 1099.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.losses import LOSSES

SEEDS = {"development": range(40), "reporting": range(1000, 1100)}
NEW_ROWS = 100_000
ENOUGH = 0.85
LOSS_NAMES = ("logistic", "squared", "poisson")


@dataclass(frozen=True)
class Problem:
    """A distribution of rows, drawn by a seed."""

    seed: int

    @property
    def coarse(self) -> bool:
        """Whether columns have few values."""
        return self.seed % 2 == 1

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return LOSS_NAMES[self.seed // 2 % 3]

    def rows(self, n: int, draw: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return n rows with their targets."""
        fixed, rng = np.random.default_rng((self.seed, 0)), np.random.default_rng((self.seed, 1, draw))
        n_columns = int(fixed.integers(3, 6 if self.coarse else 11))
        if self.coarse:
            X, middle, cut = rng.integers(0, fixed.integers(2, 6, n_columns), (n, n_columns)) * 1.0, 1.5, 1.0
        else:
            X, middle, cut = rng.normal(size=(n, n_columns)), 0.0, 0.5
        slopes = fixed.normal(size=n_columns) * (fixed.random(n_columns) < 0.6)
        score = (X - middle) @ slopes + fixed.normal(scale=2.0) * ((X[:, 0] > cut) & (X[:, 1] > 0.0))
        score = fixed.uniform(0.3, 1.5) * score
        if self.loss == "squared":
            return X, score + fixed.uniform(0.5, 3.0) * rng.normal(size=n)
        if self.loss == "poisson":
            return X, rng.poisson(np.exp(np.clip(0.4 * score, -4.0, 4.0))) * 1.0
        return X, (score + rng.logistic(size=n) > 0.0).astype(int)


def measured(seed: int, tolerance: str | float) -> dict[str, Any]:
    """Return how far the risks are from that of new rows, in standard errors."""
    problem = Problem(seed)
    n = int(np.random.default_rng((seed, 2)).integers(150, 1001))
    X, y = problem.rows(n, 0)
    classes = problem.loss == "logistic"
    model = (
        LLTBoostClassifierCV(tolerance=tolerance) if classes else LLTBoostRegressorCV(loss=problem.loss, tolerance=tolerance)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    new_X, new_y = problem.rows(NEW_ROWS, 1)
    risk = float(LOSSES[problem.loss].value(new_y * 1.0, model.score_samples(new_X)).mean())
    return {
        "seed": seed,
        "kind": f"{problem.loss}{', coarse' if problem.coarse else ''}",
        "rows": n,
        "complexity": model.complexity_,
        "risk": risk,
        "error": (model.risk_ - risk) / model.risk_standard_error_,
        "excess": model.risk_ / risk - 1.0,
    }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", nargs="?", choices=list(SEEDS), default="development", help="default: development")
    parser.add_argument(
        "--tolerance", default="0.02", help="1se, paired or a share of the gain over the constant; default: 0.02"
    )
    return parser.parse_args()


def main() -> int:
    """Print a line for each problem, and how many risks are within two standard errors."""
    options = parse()
    tolerance = options.tolerance if options.tolerance in {"1se", "paired"} else float(options.tolerance)
    print(f"{'seed':>5}  {'problem':<18}{'rows':>6}{'complexity':>12}{'risk':>9}{'risk_':>8} (in s.e. above the risk)")
    found = []
    for seed in SEEDS[options.half]:
        one = measured(seed, tolerance)
        found.append(one)
        figures = f"{one['rows']:6d}{one['complexity']:12d}{one['risk']:9.4f}{one['error']:8.2f}"
        print(f"{seed:5d}  {one['kind']:<18}{figures}", flush=True)
    errors = np.array([one["error"] for one in found])
    within = np.abs(errors) <= 2.0
    print(f"{within.sum()} of {len(errors)} within two standard errors; mean {errors.mean():+.2f}")
    print(f"risk_ is {np.mean([one['excess'] for one in found]):+.1%} above the risk on average")
    return int(within.mean() < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
