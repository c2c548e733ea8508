"""Slopes beside rules on 22 data sets: at equal complexity against rules alone, and against a linear model and an EBM.

The data are the twelve real sets of ``real.py``, in five folds, and the paper's ten, in ten of its bootstrap splits. LLTBoost
is fitted with and without ``linear_terms``, otherwise with its defaults. The ratios are of mean risks at equal complexity, the
last a geometric mean over the sizes 5 to 40. Then: risks of the largest model whose complexity is at most 40, of rules alone
and with slopes, and of the size that cross-validation on the training rows chooses, from slopes and rules,
again of at most 40 and with up to sixteen rules, since ten rules and slopes seldom reach 40; beside a linear model (least
squares, logistic or Poisson regression, unpenalised) and the explainable boosting machine, here of two bags of rows: its
default, fourteen, takes seven times as long. A difference counts from one standard error of the paired differences over folds
or splits.

Every result is kept in --output as soon as it is known; another run with the same package goes on from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit

from benchmarks import real
from benchmarks.datasets import DATASETS
from benchmarks.paper.protocol import Split, bootstrap_split, loss_within
from benchmarks.paper.runner import load
from benchmarks.paper.trials import SEEDS_APART
from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor, LLTBoostRegressorCV
from obliquerules.losses import LOSSES

Results = Mapping[tuple[str, str], list[dict[str, Any]]]
SIZES = (5, 10, 15, 20, 25, 30, 35, 40)
LIMIT = SIZES[-1]
N_SPLITS = 10
# The largest number of rules and slopes together, where cross-validation chooses the size.
MOST_CHOSEN = 16
# What is asked for: of 22 data sets, as many no higher and as many lower by 5 %; behind a line on so few; level with an EBM.
NO_HIGHER, LOWER, BEHIND, LEVEL = 18, 8, 2, 11


def ours(linear_terms: bool, loss: str) -> Any:
    """Return LLTBoost with its defaults."""
    if loss == "logistic":
        return LLTBoostClassifier(linear_terms=linear_terms, random_state=0)
    return LLTBoostRegressor(loss=loss, linear_terms=linear_terms, random_state=0)


def chosen(loss: str, X: real.Matrix) -> Any:
    """Return LLTBoost that chooses the size of the least risk by cross-validation, from slopes and rules.

    Equal rows are in one fold.
    """
    _, row = np.unique(X, axis=0, return_inverse=True)
    folds = PredefinedSplit(np.random.default_rng(0).permutation(row.max() + 1)[row] % 5)
    if loss == "logistic":
        return LLTBoostClassifierCV(max_rules=MOST_CHOSEN, tolerance=0.0, cv=folds)
    return LLTBoostRegressorCV(loss=loss, max_rules=MOST_CHOSEN, tolerance=0.0, cv=folds)


# From the loss and the training rows to an estimator.
Maker = Callable[[str, real.Matrix], Any]
OURS: dict[str, Maker] = {
    "rules": lambda loss, _: ours(False, loss),
    "slopes": lambda loss, _: ours(True, loss),
    "chosen": chosen,
}
AT_EQUAL_COMPLEXITY = ("rules", "slopes")
RIVALS: dict[str, Maker] = {"linear": lambda loss, _: real.linear(loss), "EBM": lambda loss, _: real.ebm(2, loss)}


def split_of(name: str, number: int) -> tuple[str, Any]:
    """Return the loss of a data set, and the training and test rows of the split with a number."""
    if name not in real.DATA:
        (data,), _ = load((name,))
        return {"regression": "squared", "classification": "logistic"}[data.task], bootstrap_split(data, number)
    X, y = real.DATA[name].read()
    seed, fold = divmod(number, SEEDS_APART)
    train = np.random.default_rng(seed).permutation(len(y)) % real.N_FOLDS != fold
    split = Split(X[train], y[train], X[~train], y[~train], np.arange(int(train.sum())))
    return real.DATA[name].loss, split


def on_split(name: str, method: str, number: int) -> dict[str, Any]:
    """Fit a model to the training rows of a split; return complexities, risks on the test rows, and seconds."""
    loss_name, split = split_of(name, number)
    loss = LOSSES[loss_name]
    start = process_time()
    y = split.y_train.astype(int) if loss_name == "logistic" else split.y_train
    given = {"groups": split.copies_of} if method in OURS else {}
    model = real.fitted(partial((OURS | RIVALS)[method], loss_name, split.X_train), split.X_train, y, **given)
    seconds = process_time() - start
    if method in OURS:
        most = model.complexity_ if method == "chosen" else np.inf
        path = [member for member in model.path_ if 0 < member.complexity <= most] or model.path_[:1]
        sizes, scores = [member.complexity for member in path], [member(split.X_test) for member in path]
    else:
        sizes, scores = [0], [real.scores(model, split.X_test, loss_name, len(y))]
    return {
        "complexities": sizes,
        "losses": [float(loss.value(split.y_test, score).mean()) for score in scores],
        "seconds": seconds,
    }


def risks(results: list[dict[str, Any]], size: int) -> np.ndarray:
    """Return the risk of each split at a complexity."""
    return np.array([loss_within(result["complexities"], result["losses"], size) for result in results])


def excess(own: np.ndarray, other: np.ndarray) -> float:
    """Return by how many standard errors the own risk is higher, over the paired splits."""
    difference = own - other
    return float(difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference))))


def against_rules(results: Results, names: list[str]) -> list[bool]:
    """Print the ratios of risks at equal complexity; return whether they are as asked for."""
    print(f"{'data set':>14}" + "".join(f"{f'at {size}':>9}" for size in SIZES) + f"{'mean':>9}")
    ratios = {}
    for name in names:
        at = [risks(results[name, "slopes"], size).mean() / risks(results[name, "rules"], size).mean() for size in SIZES]
        ratios[name] = float(np.exp(np.mean(np.log(at))))
        print(f"{name:>14}" + "".join(f"{ratio:9.3f}" for ratio in (*at, ratios[name])))
    no_higher, lower = (sum(ratio <= bound for ratio in ratios.values()) for bound in (1.0, 0.95))
    print(f"with slopes, the risk is no higher on {no_higher} of {len(names)}, lower by 5 % on {lower}\n")
    return [no_higher >= NO_HIGHER, lower >= LOWER]


def against_rivals(results: Results, names: list[str]) -> list[bool]:
    """Print risks, and by how many standard errors those of the chosen size are higher; return whether that is as asked for."""
    columns = (*OURS, *(title for rival in RIVALS for title in (rival, "s.e.")))
    print(f"{'data set':>14}" + "".join(f"{title:>12}" for title in columns))
    higher: dict[tuple[str, str], list[float]] = {(ours, rival): [] for ours in ("slopes", "chosen") for rival in RIVALS}
    for name in names:
        risk = {method: risks(results[name, method], LIMIT) for method in OURS | RIVALS}
        for (ours, rival), by in higher.items():
            by.append(excess(risk[ours], risk[rival]))
        figures = [f"{risk[method].mean():12.4g}" for method in OURS]
        figures += [f"{risk[rival].mean():12.4g}{higher['chosen', rival][-1]:+12.1f}" for rival in RIVALS]
        print(f"{name:>14}" + "".join(figures))
    behind = {pair: sum(one > 1.0 for one in by) for pair, by in higher.items()}
    for (ours, rival), count in behind.items():
        print(f"{ours}: worse than {rival} by more than one standard error on {count} of {len(names)}")
    return [behind["chosen", "linear"] <= BEHIND, len(names) - behind["chosen", "EBM"] >= LEVEL]


def parse() -> argparse.Namespace:
    """Read the command line."""
    names = [*real.DATA, *DATASETS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=names, default=names, metavar="NAME", help="default: all")
    parser.add_argument("--seed", type=int, default=0, help="of folds and splits; default: 0")
    parser.add_argument("--output", type=Path, default=Path("build/slopes"), metavar="DIR", help="default: build/slopes")
    parser.add_argument("--no-rivals", action="store_true", help="only against rules alone")
    return parser.parse_args()


def main() -> int:
    """Print one line for each data set and how many are as asked for; return how many expectations are not met."""
    options = parse()
    own = {name: OURS[name] for name in AT_EQUAL_COMPLEXITY} if options.no_rivals else OURS
    directories = {options.output / real.fingerprint(): own}
    if not options.no_rivals:
        directories[options.output / "rivals"] = RIVALS
    results: dict[tuple[str, str], Any] = {}
    for directory, methods in directories.items():
        directory.mkdir(parents=True, exist_ok=True)
        for group, n_splits in ((real.DATA, real.N_FOLDS), (DATASETS, N_SPLITS)):
            names = [name for name in options.datasets if name in group]
            numbers = range(SEEDS_APART * options.seed, SEEDS_APART * options.seed + n_splits)
            results |= real.all_results(directory, on_split, names, methods, numbers)
    met = against_rules(results, options.datasets)
    if not options.no_rivals:
        met += against_rivals(results, options.datasets)
    return met.count(False)


if __name__ == "__main__":
    sys.exit(main())
