"""What the objective is worth: the mean test risk over complexities 1..50 of TGB, for each objective, on the paper's splits.

The ensembles of one path stand for all complexities: at each, the largest that is not more complex, or else the constant. All
else is at its default.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.datasets import DATASETS
from benchmarks.paper.protocol import bootstrap_split, mean_losses
from benchmarks.paper.runner import load
from benchmarks.paper.trials import SEEDS_APART
from obliquerules import TGBClassifier, TGBRegressor
from obliquerules.learning.boosting.terms import OBJECTIVES

MOST_COMPLEX = 50
# A rule costs at least three: one for itself, one for its threshold and one for its variable.
MAX_RULES = MOST_COMPLEX // 3 + 1


def mean_risk(data: Any, objective: str, seed: int) -> float:
    """Return the mean over complexities of the risk on the test rows of one split."""
    split = bootstrap_split(data, seed)
    kind = TGBRegressor if data.task == "regression" else TGBClassifier
    path = kind(max_rules=MAX_RULES, objective=objective).fit(split.X_train, split.y_train, groups=split.copies_of).path_
    risks = [mean_losses(data.task, split.y_test, ensemble(split.X_test))["risk"] for ensemble in path]
    sizes = np.searchsorted([ensemble.complexity for ensemble in path], np.arange(1, MOST_COMPLEX + 1), side="right") - 1
    return float(np.mean(np.array(risks)[sizes]))


def measure(data: Any, repetitions: int, seed: int) -> dict[str, float]:
    """Print one line of the table and return the mean risk of each objective."""
    seeds = range(SEEDS_APART * seed, SEEDS_APART * seed + repetitions)
    means = {
        objective: float(np.mean(Parallel(2)(delayed(mean_risk)(data, objective, one) for one in seeds)))
        for objective in OBJECTIVES
    }
    print(f"{data.name:>14} " + " ".join(f"{means[objective]:12.3f}" for objective in OBJECTIVES), flush=True)
    return means


def main() -> int:
    """Measure every data set that is at hand; return 1 if the orthogonal objective is not the better one on most of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'data set':>14} " + " ".join(f"{objective:>12}" for objective in OBJECTIVES))
    rows = [measure(data, options.repetitions, options.seed) for data in load(tuple(DATASETS))[0]]
    better = sum(row["orthogonal"] < row["gradient"] for row in rows)
    mean = float(np.exp(np.mean([np.log(row["orthogonal"] / row["gradient"]) for row in rows])))
    print(f"orthogonal is below gradient on {better} of {len(rows)}; geometric mean of the ratios {mean:.3f}")
    return int(2 * better <= len(rows))


if __name__ == "__main__":
    sys.exit(main())
