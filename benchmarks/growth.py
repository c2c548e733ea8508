"""Cost against the number of rows: the L1 path and a whole fit of two rules, from ten thousand rows to a million."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.stopwatch import least_seconds
from obliquerules import LLTBoostClassifier, l1_logistic_path

ROWS = [round(10**exponent) for exponent in (4.0, 4.5, 5.0, 5.5, 6.0)]
COLUMNS = 20
STEEPEST = 1.1


def problem(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw labels that depend on six of the inputs, in part through products and corners."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, COLUMNS))
    score = X[:, 0] + 0.5 * X[:, 1] * (X[:, 2] > 0.0) + X[:, 3] - X[:, 4] * X[:, 5]
    return X, (score + rng.logistic(size=n) > 0.0).astype(np.int64)


def slope(seconds: list[float]) -> float:
    """Return the exponent p of the power law n^p through the times, by least squares of log time on log n."""
    return float(np.polyfit(np.log(ROWS), np.log(seconds), 1)[0])


def main() -> None:
    """Measure both and print the exponents."""
    paths, fits = [], []
    print(f"{'rows':>8} {'L1 path, s':>12} {'fit of two rules, s':>21}")
    for n in ROWS:
        X, y = problem(n)
        model = LLTBoostClassifier(max_rules=2, selection="validation", random_state=0)
        paths.append(least_seconds(partial(l1_logistic_path, X, y)))
        fits.append(least_seconds(partial(model.fit, X, y)))
        print(f"{n:8d} {paths[-1]:12.4f} {fits[-1]:21.3f}", flush=True)
    for name, seconds in (("L1 path", paths), ("fit of two rules", fits)):
        print(f"The time of the {name} grows like n^{slope(seconds):.2f} (at most n^{STEEPEST} is expected).")


if __name__ == "__main__":
    main()
