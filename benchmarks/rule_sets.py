"""What DRNet's networks come to: error over the grid of penalties, and complexity as trained and as simplified."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.protocol import bootstrap_split, smallest_complexity
from benchmarks.paper.published import COMPLEXITY_AT_ZERO_ONE_LOSS
from benchmarks.paper.runner import load
from benchmarks.paper.trials import SEEDS_APART
from obliquerules.data.sample import Sample
from obliquerules.learning.nets.boxes import Boxes, binarise, levels_of, shortest
from obliquerules.learning.nets.decision_network import Schedule
from obliquerules.learning.nets.drnet import complexity_of, learn_rule_sets

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
DATASETS = ("breast_cancer", "banknote", "voice", "magic", "liver")


@dataclass(frozen=True)
class Outcome:
    """One network: the share of wrong rows in training and test, as trained and as simplified, and both complexities."""

    described: int
    training_error: float
    error: float
    simplified_error: float
    raw: int
    simplified: int


def outcomes(data: Any, seed: int, n_jobs: int) -> list[Outcome]:
    """Train a network for each class and penalty on one split; keep those of the class with the lower mean training error."""
    split = bootstrap_split(data, seed)
    sample = Sample.of(split.X_train, split.y_train, np.ones(len(split.y_train)))
    binarisation = binarise(sample.X, sample.weight, 9)
    levels, test = levels_of(sample.X, binarisation), levels_of(split.X_test, binarisation)
    found = []
    for rule_set in learn_rule_sets(
        binarisation(sample.X), sample.y, sample.weight, (0, 1), PENALTIES, Schedule(), seed=seed, n_jobs=n_jobs
    ):
        raw = Boxes.of(rule_set.signs, binarisation, split.X_train.shape[1])
        simplified = shortest(Boxes.of(rule_set.signs, binarisation, levels.shape[1]), levels)
        found.append(
            Outcome(
                rule_set.described,
                error(raw, levels, sample.y == rule_set.described, sample.weight),
                error(raw, test, split.y_test == rule_set.described),
                error(simplified, test, split.y_test == rule_set.described),
                complexity_of(rule_set.signs),
                sum(1 + condition.complexity for condition in simplified.conjunctions(binarisation) if len(condition)),
            )
        )
    by_class = [[one for one in found if one.described == label] for label in (0, 1)]
    return min(by_class, key=lambda members: mean([one.training_error for one in members]))


def error(
    boxes: Boxes, levels: NDArray[np.intp], expected: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
) -> float:
    """Return the share of rows that are in some box and should not be, or the other way round."""
    return float(np.average(boxes.fires(levels).any(axis=1) != expected, weights=weight))


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return float(np.mean(values))


def line(data: Any, repetitions: Sequence[Sequence[Outcome]]) -> str:
    """Return the figures of one data set; the target of the complexities is the mean error over repetitions and penalties."""
    target = mean([one.error for members in repetitions for one in members])
    simplified_target = mean([one.simplified_error for members in repetitions for one in members])
    raw = [smallest_complexity([o.raw for o in ones], [o.error for o in ones], target) for ones in repetitions]
    short = [
        smallest_complexity([o.simplified for o in ones], [o.simplified_error for o in ones], target) for ones in repetitions
    ]
    paper = COMPLEXITY_AT_ZERO_ONE_LOSS[data.name]
    reached = paper.reached["DRNet"]
    medians = f"{np.median(raw):8.1f} {np.median(short):11.1f} {reached.median if reached else inf:6g}"
    return f"{data.name:>14} {target:10.3f} {simplified_target:11.3f} {paper.target:7.2f} {medians}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="NAME", help="default: all five")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other splits")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    present, left_out = load(options.datasets)
    print(f"{'':14} {'mean 0/1 loss':>30} {'smallest C at its own mean':>27}")
    print(f"{'data set':>14} {'as trained':>10} {'simplified':>11} {'paper':>7} {'raw':>8} {'simplified':>11} {'paper':>6}")
    for data in present:
        seeds = [SEEDS_APART * options.seed + repetition for repetition in range(options.repetitions)]
        print(line(data, [outcomes(data, seed, options.jobs) for seed in seeds]), flush=True)
    for reason in left_out.values():
        print(reason)


if __name__ == "__main__":
    main()
