"""A fit of DRNet's networks against the same networks written in PyTorch, one after the other, on one core."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import numpy as np
from stopwatch import mean_seconds

from obliquerules.benchmark.protocol import bootstrap_split
from obliquerules.boosting.sample import Sample
from obliquerules.datasets import load_banknote, load_breast_cancer
from obliquerules.nets.binarisation import binarise
from obliquerules.nets.drnet import Examples, Schedule, train_networks

PENALTIES = np.array([1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0])
# Enough of both layers' turns to tell the time of a step; a fit has 10 000.
SCHEDULE = Schedule(n_steps=400, phase_length=100, early_stopping=False)
LEAST_RATIO = 1.0


def examples_of(data: Any) -> Examples:
    """Return the training rows of a split of the paper's protocol as binary inputs."""
    split = bootstrap_split(data, 0)
    sample = Sample.of(split.X_train, split.y_train, np.ones(len(split.y_train)))
    return Examples.of(binarise(sample.X, sample.weight, 9)(sample.X), sample.y == 1.0, sample.weight)


def ours(examples: Examples, penalties: Any) -> None:
    """Train one network for each penalty, all at once."""
    train_networks(examples, penalties, SCHEDULE, np.random.default_rng(0))


def measure(name: str, examples: Examples, theirs: Any) -> float:
    """Print one line of the table and return the ratio for a single network."""
    per_fit = 10_000 / SCHEDULE.n_steps
    single = per_fit * mean_seconds(partial(ours, examples, PENALTIES[2:3]), 2.0)
    batch = per_fit * mean_seconds(partial(ours, examples, PENALTIES), 2.0) / len(PENALTIES)
    rival = per_fit * mean_seconds(partial(theirs, examples, float(PENALTIES[2]), SCHEDULE), 2.0)
    size = f"{examples.inputs.shape[0]} x {examples.inputs.shape[1]}"
    print(
        f"{name:>14} {size:>9} {single:9.2f} {batch:14.2f} {rival:10.2f} {rival / single:6.1f} {rival / batch:14.1f}",
        flush=True,
    )
    return rival / single


def main() -> int:
    """Measure a small and a large set of inputs; return how many fall short."""
    try:
        from torch_drnet import train_with_torch
    except ModuleNotFoundError:
        print("This comparison needs PyTorch, which nothing else here does: install torch==2.13.0 to run it.")
        return 0
    loaders = [load_breast_cancer, load_banknote] if os.environ.get("OBLIQUERULES_DATA") else [load_breast_cancer]
    print("Seconds of one core for the 10 000 steps of one network; our batch trains the six penalties of a fit at once.")
    print(
        f"{'data set':>14} {'inputs':>9} {'ours, one':>9} {'ours, of batch':>14} {'PyTorch':>10} {'ratio':>6} {'of batch':>14}"
    )
    ratios = [measure(data.name, examples_of(data), train_with_torch) for data in (load() for load in loaders)]
    return sum(ratio < LEAST_RATIO for ratio in ratios)


if __name__ == "__main__":
    sys.exit(main())
