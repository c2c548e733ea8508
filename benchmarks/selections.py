"""What complexity-aware growth costs: a default fit against a fit by the paper's selection, on the paper's splits."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from benchmarks.datasets import DATASETS
from benchmarks.paper.contenders import lltboost
from benchmarks.paper.protocol import Split, bootstrap_split
from benchmarks.paper.runner import load
from benchmarks.stopwatch import mean_seconds

LARGEST_RATIO = 12.0
SPLITS = 3


def fit(selection: str, task: str, splits: list[Split]) -> None:
    """Fit ten rules to the training rows, at most 500, of each split."""
    for seed, split in enumerate(splits):
        lltboost(selection).make(task, seed)["default"].fit(split.X_train, split.y_train)


def measure(data: Any) -> float:
    """Print one line of the table and return the ratio."""
    splits = [bootstrap_split(data, seed) for seed in range(SPLITS)]
    paper, ours = (mean_seconds(partial(fit, kind, data.task, splits), 1.0) / SPLITS for kind in ("validation", "information"))
    print(f"{data.name:>14} {1e3 * paper:16.0f} {1e3 * ours:20.0f} {ours / paper:8.2f}", flush=True)
    return ours / paper


def main() -> int:
    """Measure every data set that is at hand; return 1 if the ratios are on average too large."""
    print(f"{'data set':>14} {'as paper, ms':>16} {'complexity-aware, ms':>20} {'ratio':>8}")
    ratios = [measure(data) for data in load(tuple(DATASETS))[0]]
    mean = sum(ratios) / len(ratios)
    print(f"mean ratio {mean:.2f} (at most {LARGEST_RATIO:g} is expected)")
    return int(mean > LARGEST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
