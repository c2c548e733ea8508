"""One table of speed: what a person waits for, beside scikit-learn and beside another build of this library.

Processor time of one thread; each case is a process of its own, and the builds take turns. ``--beside PYTHON`` names an
interpreter in which another build is installed, such as that of an older commit; without it, that column is empty.
The ten data sets of the paper need OBLIQUERULES_DATA.

    python -m benchmarks.speed                      # every case
    python -m benchmarks.speed paper rows           # some groups of cases
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

# Fits to few rows are repeated, and the least time counts: disturbance only ever adds.
REPEATS = {"paper": 5, "cv": 1, "rows": 1, "columns": 2, "classes": 1, "mixed": 2}
ROWS = (3_000, 20_000, 100_000, 300_000, 1_000_000)
PAPER = ("housing", "red_wine", "diabetes", "friedman", "used_cars", "breast_cancer", "banknote", "voice", "magic", "liver")


def generated(n: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes whose log-odds are slopes, a product, an oblique step and a square."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    score = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] * (X[:, 3] > 0.0) + 2.0 * (X[:, 4] - X[:, 5] > 0.5) + 0.3 * X[:, 6] ** 2 - 1.0
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(int)


def mixed(n: int = 3_000) -> tuple[Any, np.ndarray]:
    """Return a frame of numbers, levels and missing values, with a target that needs all of them."""
    import pandas as pd

    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 20))
    y = 2.0 * (Z[:, 0] + Z[:, 1] > 0.5) - 1.5 * (Z[:, 2] > 0.0) * (Z[:, 12] > 0.0) + (np.abs(Z[:, 15]) > 1.0) + Z[:, 3]
    frame = pd.DataFrame(Z.round(2), columns=[f"x{column}" for column in range(20)])
    for column, k in zip(range(12, 20), (2, 3, 5, 8, 12, 20, 50, 100), strict=True):
        order = rng.permutation(k)
        frame[f"x{column}"] = np.array([f"level {i}" for i in range(k)])[order[pd.qcut(Z[:, column], k, labels=False)]]
    return frame.mask(rng.random((n, 20)) < 0.05), y + rng.normal(0.0, 0.5, n)


def of_paper(name: str) -> tuple[Any, Any, str]:
    """Return the training rows of the first split of a data set of the paper."""
    from benchmarks.datasets import DATASETS
    from benchmarks.paper.protocol import bootstrap_split

    data = DATASETS[name]()
    split = bootstrap_split(data, 0)
    return split.X_train, split.y_train, data.task


def ours(task: str, **parameters: Any) -> Any:
    """Return LLTBoost with one thread."""
    from obliquerules import LLTBoostClassifier, LLTBoostRegressor

    return (LLTBoostRegressor if task == "regression" else LLTBoostClassifier)(n_jobs=1, **parameters)


def prepared(group: str, case: str, rival: bool) -> Callable[[], Any]:
    """Return the fit of one case, ours or scikit-learn's."""
    import sklearn.ensemble as ensembles

    from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV

    if group in ("paper", "cv"):
        X, y, task = of_paper(case)
        kind = "Regressor" if task == "regression" else "Classifier"
        chosen = {"Regressor": LLTBoostRegressorCV, "Classifier": LLTBoostClassifierCV}[kind]
        model = chosen(random_state=0) if group == "cv" else ours(task)
        rivals = getattr(ensembles, f"GradientBoosting{kind}")()
        return lambda: (rivals if rival else model).fit(X, y)
    if group in ("rows", "columns"):
        n, n_columns = (int(case), 20) if group == "rows" else (2_000, int(case))
        X, y = generated(n, n_columns)
        boosted = ensembles.HistGradientBoostingClassifier()
        return lambda: (boosted if rival else ours("classification")).fit(X, y)
    if group == "classes":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        boosted = ensembles.HistGradientBoostingClassifier()
        return lambda: (boosted if rival else ours("classification", max_rules=int(case))).fit(X, y)
    X, y = mixed()
    categories = X.astype({name: "category" for name in X.columns if X[name].dtype.kind not in "fi"})
    boosted = ensembles.HistGradientBoostingRegressor(categorical_features="from_dtype")
    return lambda: boosted.fit(categories, y) if rival else ours("regression").fit(X, y)


def measure(group: str, case: str, rival: bool) -> float:
    """Return the least processor time of some fits."""
    warnings.simplefilter("ignore")
    fit, times = prepared(group, case, rival), []
    if group != "cv" and not (group == "rows" and int(case) > 10_000):
        fit()  # what is loaded late
    for _ in range(REPEATS[group]):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)


def elsewhere(python: str, *case: Any) -> float:
    """Return what a measurement by an interpreter, in a process of its own, finds."""
    command = [python, "-m", "benchmarks.speed", "--measure", json.dumps(case)]
    done = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout)


def cases(groups: list[str]) -> list[tuple[str, str]]:
    """Return the cases of some groups."""
    found = {
        "paper": PAPER if os.environ.get("OBLIQUERULES_DATA") else ("breast_cancer", "diabetes", "friedman"),
        "cv": ("breast_cancer", "diabetes"),
        "rows": ROWS,
        "columns": (64, 1_000),
        "classes": (80,),
        "mixed": ("3000 x 20",),
    }
    return [(group, str(case)) for group in found if not groups or group in groups for case in found[group]]


def main() -> None:
    """Print one line for each case, and means for each group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"some of {', '.join(REPEATS)}; default: all")
    parser.add_argument("--beside", metavar="PYTHON", help="an interpreter with another build of this library")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.stdout.write(str(measure(*json.loads(options.measure))))
        return
    print(f"{'group':8s} {'case':>14s} {'old, s':>8s} {'new, s':>8s} {'new/old':>8s} {'rival, s':>8s} {'new/rival':>9s}")
    ratios: dict[str, list[tuple[float, float]]] = {}
    for group, case in cases(options.groups):
        old = elsewhere(options.beside, group, case, False) if options.beside else np.nan
        new = elsewhere(sys.executable, group, case, False)
        rival = np.nan if group == "cv" else elsewhere(sys.executable, group, case, True)
        ratios.setdefault(group, []).append((new / old, new / rival))
        print(f"{group:8s} {case:>14s} {old:8.2f} {new:8.2f} {new / old:8.2f} {rival:8.2f} {new / rival:9.2f}", flush=True)
    for group, each in ratios.items():
        geometric, (_, mean) = np.exp(np.mean(np.log(each), axis=0)), np.mean(each, axis=0)
        print(f"{group}: new/old {geometric[0]:.2f}, new/rival {geometric[1]:.2f} (geometric means; mean {mean:.2f})")


if __name__ == "__main__":
    main()
