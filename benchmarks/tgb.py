"""TGB against other learners of readable models, and against gradient-boosted trees on many rows: processor time of a fit.

The rivals of the first table come with ``pip install '.[bench]'``: RuleFit and BoostedRules of imodels, and the explainable
boosting machine of interpret, all at their defaults. Each fits the same at most 500 rows of each of the paper's data sets. The
second table is for whole data sets, and the rival is scikit-learn's histogram gradient boosting at its defaults. A rival that
takes longer than --longest seconds is stopped there, and its ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from imodels import BoostedRulesClassifier, BoostedRulesRegressor, RuleFitClassifier, RuleFitRegressor
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.datasets import DATASETS
from benchmarks.paper.protocol import bootstrap_split
from benchmarks.paper.runner import load
from benchmarks.stopwatch import mean_seconds
from obliquerules import TGBClassifier, TGBRegressor

Maker = Callable[[], Any]
OURS: dict[str, Maker] = {"regression": TGBRegressor, "classification": TGBClassifier}
# One processor each: the time of all processors is what is measured.
RIVALS: dict[str, dict[str, Maker]] = {
    "regression": {
        "BoostedRules": BoostedRulesRegressor,
        "RuleFit": RuleFitRegressor,
        "EBM": partial(ExplainableBoostingRegressor, n_jobs=1),
    },
    "classification": {
        "BoostedRules": BoostedRulesClassifier,
        "RuleFit": RuleFitClassifier,
        "EBM": partial(ExplainableBoostingClassifier, n_jobs=1),
    },
}
TREES: dict[str, dict[str, Maker]] = {
    "regression": {"trees": HistGradientBoostingRegressor},
    "classification": {"trees": HistGradientBoostingClassifier},
}


def fit(make: Maker, X: Any, y: Any) -> None:
    """Fit a new model; what a rival has to say about its own code or convergence is not our business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(X, y)


class Stopped(BaseException):
    """A fit has used up its processor time; not an Exception, so that no rival takes it for a failure of its own."""


def fit_until(longest: float, stopped: list[Maker], make: Maker, X: Any, y: Any) -> None:
    """Fit a new model, but stop when its processor time is up, and take note of that."""

    def stop(*_: Any) -> None:
        raise Stopped

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, longest)
    try:
        fit(make, X, y)
    except Stopped:
        stopped.append(make)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def parse() -> argparse.Namespace:
    """Read the command line."""
    names, rivals = tuple(DATASETS), tuple(RIVALS["regression"])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rivals", nargs="+", choices=rivals, default=rivals, metavar="NAME", help=f"among: {', '.join(rivals)}"
    )
    parser.add_argument("--datasets", nargs="+", choices=names, default=names, metavar="NAME", help="default: all")
    parser.add_argument(
        "--longest", type=float, default=30.0, metavar="SECONDS", help="of processor time for a rival's fit (default: 30)"
    )
    return parser.parse_args()


def measure(name: str, task: str, rivals: dict[str, Maker], X: Any, y: Any, longest: float) -> list[float]:
    """Print one line of the table and return how many times longer than ours the rivals take."""
    fit(OURS[task], X, y)  # the first call of anything loads what it needs
    mine, ratios, stopped = mean_seconds(partial(fit, OURS[task], X, y), 0.5), [], list[Maker]()
    print(f"{name:>14} {1e3 * mine:10.0f} ms", end="", flush=True)
    for make in rivals.values():
        theirs = mean_seconds(partial(fit_until, longest, stopped, make, X, y))
        ratios.append(theirs / mine)
        mark = ">" if make in stopped else " "
        print(f" {mark}{1e3 * theirs:9.0f} ms {mark}{theirs / mine:6.1f}", end="", flush=True)
    print()
    return ratios


def heading(rivals: Sequence[str]) -> None:
    """Print the names of the columns."""
    print(f"\n{'data set':>14} {'TGB':>13} " + " ".join(f"{rival:>13} {'ratio':>7}" for rival in rivals))


def main() -> int:
    """Measure every data set that is at hand; return how many comparisons are lost."""
    options, ratios = parse(), []
    present = load(options.datasets)[0]
    heading(options.rivals)
    for data in present:
        split = bootstrap_split(data, 0)
        y = split.y_train if data.task == "regression" else split.y_train.astype(int)
        rivals = {name: RIVALS[data.task][name] for name in options.rivals}
        ratios += measure(data.name, data.task, rivals, split.X_train, y, options.longest)
    heading(tuple(TREES["regression"]))
    for data in present:
        if len(data.target) > 10_000:
            X, y = np.asarray(data.data), np.asarray(data.target)
            ratios += measure(data.name, data.task, TREES[data.task], X, y, options.longest)
    lost = sum(ratio <= 1.0 for ratio in ratios)
    print(f"\nTGB is faster in {len(ratios) - lost} of {len(ratios)} comparisons; the least ratio is {min(ratios):.1f}.")
    return lost


if __name__ == "__main__":
    sys.exit(main())
