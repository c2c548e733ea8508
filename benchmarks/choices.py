"""What each part of complexity-aware growth is worth: the paper's protocol with one part changed at a time.

Prints, for each variant, the geometric means over the data sets of complexity at the risk target and of risk at the complexity
target, relative to the paper's LLTBoost; the mean log risk at complexities 4, 6, 8, 10, 15, 20 and 30 (the steadiest of the
three); and the processor time of all fits, relative to the paper's selection. With ``--each``, also both ratios on every
data set. Needs the data that OBLIQUERULES_DATA names.
"""

import argparse
import itertools
import sys
from contextlib import ExitStack
from unittest import mock

import numpy as np
from joblib import Parallel, delayed

from benchmarks.datasets import DATASETS
from benchmarks.paper.attempt import attempt
from benchmarks.paper.contenders import Contender
from benchmarks.paper.measures import MEASURES
from benchmarks.paper.protocol import loss_within
from benchmarks.paper.runner import load
from benchmarks.paper.trials import Trial
from obliquerules import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.learning.boosting import boosting, loop, refinement, selection, soft_conditions
from obliquerules.learning.boosting.oblique import HARDLY_ANY_SHRINKAGE, PoolProposer
from obliquerules.learning.l1_logistic import CentredProblem

# The first of the seeds on whose splits choices are made; those of the reports are others.
DEVELOPMENT = 100
SIZES = (4, 6, 8, 10, 15, 20, 30)


def levels_as_they_are(self, pull, rows, _):
    """Return directions without the unshrunk ones."""
    design, labels, weight = self.classification(pull, rows)
    levels = self.solve(design.standardised, labels, weight).levels
    return [design.restore(level.weights, -level.intercept) for level in levels if level is not None]


def with_swaps(self, pull, rows, workers):
    """Return directions with, for each support, the two in which the next variable to enter has replaced another."""
    return [*DIRECTIONS(self, pull, rows, workers), *swapped_directions(self, pull, rows)]


def swapped_directions(self, pull, rows):
    """Yield the directions of supports in which the next variable to enter has taken the place of another."""
    design, labels, weight = self.classification(pull, rows)
    levels = [level for level in self.solve(design.standardised, labels, weight).levels if level is not None]
    for level, following in itertools.pairwise(levels):
        support, newcomers = np.flatnonzero(level.weights), np.flatnonzero((following.weights != 0) & (level.weights == 0))
        for out in support[np.argsort(np.abs(level.weights[support]))][:2] if len(support) > 1 and len(newcomers) else ():
            swapped = np.append(support[support != out], newcomers[0])
            problem = CentredProblem.of(design.standardised[:, swapped], labels, weight)
            path = problem.path(len(swapped), HARDLY_ANY_SHRINKAGE)
            if (found := path.at_support(len(swapped))) is not None:
                weights = np.zeros(len(level.weights))
                weights[swapped] = found.weights
                yield design.restore(weights, -found.intercept)


DIRECTIONS = PoolProposer.directions

# Each variant: parameters of the estimator, and what to put in the place of a part of the library.
VARIANTS = {
    "paper's selection": ({"selection": "validation"}, []),
    "complexity-aware, as it is": ({}, []),
    "with slopes": ({"linear_terms": "auto"}, []),
    "supports not refitted": ({}, [(PoolProposer, "directions", levels_as_they_are)]),
    "logistic thresholds only": ({}, [(PoolProposer, "objective_threshold", lambda *_: None)]),
    "no axis-parallel splits": ({}, [(PoolProposer, "axis_splits", lambda *_: iter(()))]),
    "one candidate refitted": ({}, [(boosting, "LEAST_REFITTED", 1)]),
    "ten candidates refitted": ({}, [(boosting, "LEAST_REFITTED", 10)]),
    "ten refitted beside slopes": ({"linear_terms": "auto"}, [(boosting, "LEAST_REFITTED_BESIDE_SLOPES", 10)]),
    "thresholds not blurred": ({}, [(soft_conditions, "SHARE", 0.0)]),
    "blurred loss alone": ({}, [(soft_conditions, "SHARE", 1.0)]),
    "blurred half as wide": ({}, [(soft_conditions, "WIDTH", 0.6)]),
    "blurred twice as wide": ({}, [(soft_conditions, "WIDTH", 2.4)]),
    "not refined": ({}, [(refinement.Refiner, "refined", lambda *_, **__: None)]),
    "refined at sharpness 8": ({}, [(refinement, "SHARPNESS", 8.0)]),
    "refined at sharpness 24": ({}, [(refinement, "SHARPNESS", 24.0)]),
    "not grown again, not simplified": ({"effort": 0}, []),
    "only the best grown again": ({}, [(loop, "LARGEST_GROWN_AGAIN", 0)]),
    "grown again up to complexity 9": ({}, [(loop, "LARGEST_GROWN_AGAIN", 9)]),
    "grown again up to complexity 18": ({}, [(loop, "LARGEST_GROWN_AGAIN", 18)]),
    "grown again, not simplified": ({}, [(loop, "simplify", lambda *_: None)]),
    "effort=1": ({"effort": 1}, []),
    "effort=4": ({"effort": 4}, []),
    "simplified from 30": ({}, [(loop, "SIZES", range(30, 2, -1))]),
    "swaps of variables": ({}, [(PoolProposer, "directions", with_swaps)]),
    "one ensemble per rule on the path": ({}, [(selection.InformationSelection, "path", lambda _, met: met.grown)]),
    "complexity_penalty=1": ({"complexity_penalty": 1.0}, []),
    "complexity_penalty=2": ({"complexity_penalty": 2.0}, []),
    "complexity_penalty=3": ({"complexity_penalty": 3.0}, []),
    "complexity_penalty=6": ({"complexity_penalty": 6.0}, []),
    "ridge=1": ({"ridge": 1.0}, []),
    "ridge=4": ({"ridge": 4.0}, []),
    "ridge=16": ({"ridge": 16.0}, []),
    "a unit counts as one weight": ({}, [(boosting, "weights_per_unit", lambda _: 1.0)]),
    "a unit counts as six weights": ({}, [(boosting, "weights_per_unit", lambda _: 6.0)]),
}


def method(name):
    """Return the variant as a method of the benchmark."""

    def make(task, seed):
        kind = LLTBoostRegressor if task == "regression" else LLTBoostClassifier
        return {name: kind(**{"linear_terms": False, "random_state": seed} | VARIANTS[name][0])}

    return Contender(name, "LLTB", make)


def measure(data, name, seed):
    """Return what came of one repetition of a variant."""
    with ExitStack() as stack:
        for place, part, substitute in VARIANTS[name][1]:
            stack.enter_context(mock.patch.object(place, part, substitute))
        return attempt(data, method(name), Trial(data.name, name, name, seed))


def summary(name, datasets, seeds):
    """Return both ratios on each data set, the mean log risk over sizes and data sets, and the time of a variant."""
    ratios, areas, seconds = ([], []), [], 0.0
    for data in datasets:
        done = Parallel(2)(delayed(measure)(data, name, seed) for seed in seeds)
        for ratio, kind in zip(ratios, MEASURES[:2], strict=True):
            row = kind.paper[data.name]
            values = [kind.of(r.complexities, r.losses[kind.loss], row.target) for r in done]
            ratio.append(np.median(values) / row.reached["LLTB"].median)
        risks = [loss_within(r.complexities, r.losses["risk"], size) for r in done for size in SIZES]
        areas.append(np.mean(np.log(np.minimum(risks, 1.0 if data.task == "regression" else np.log(2)))))
        seconds += sum(r.seconds for r in done)
    return *ratios, np.mean(areas), seconds


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repetitions", type=int, nargs="?", default=10, help="default: 10")
    parser.add_argument("first", type=int, nargs="?", default=DEVELOPMENT, help=f"the first seed; default: {DEVELOPMENT}")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="default: all")
    parser.add_argument("--each", action="store_true", help="also print both ratios on every data set")
    return parser.parse_args()


def main():
    """Print one line for each variant."""
    options = parse()
    datasets, left_out = load(tuple(DATASETS))
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    print(f"{'variant':36s} {'complexity':>10s} {'risk':>6s} {'log risk':>9s} {'time':>6s}")
    unit = None
    for name in options.variants or VARIANTS:
        *ratios, area, seconds = summary(name, datasets, range(options.first, options.first + options.repetitions))
        unit = unit or seconds
        complexity, risk = (np.exp(np.mean(np.log(ratio))) for ratio in ratios)
        print(f"{name:36s} {complexity:10.3f} {risk:6.3f} {area:9.4f} {seconds / unit:6.2f}", flush=True)
        for data, *both in zip(datasets, *ratios, strict=True) if options.each else ():
            print("{:>36s} {:10.3f} {:6.3f}".format(data.name, *both), flush=True)


if __name__ == "__main__":
    main()
