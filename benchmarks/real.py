"""Twelve real data sets that ship inside packages on PyPI: risk and complexity of the default and of the chosen size.

Five folds. The models are rules alone (for slopes, see ``slopes.py``) of LLTBoost and TGB, at their defaults and with their
size chosen by cross-validation, and rivals: a linear model (least squares, logistic or Poisson regression), a tree of eight
leaves, FIGS (imodels), the explainable boosting machine (interpret; only with --ebm, which takes long) and histogram gradient
boosting. Then the size that LLTBoost's cross-validation chooses on all rows, for five seeds. Text columns become columns of 0
and 1, and rows with missing values are left out.

The data are files inside ISLP, lifelines and statsmodels, which need not be importable: ``pip install --no-deps`` is enough.
Every result is kept in --output as soon as it is known; another run with the same package goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import obliquerules
from benchmarks.paper import sizes
from obliquerules import (
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    TGBClassifier,
    TGBClassifierCV,
    TGBRegressor,
    TGBRegressorCV,
)
from obliquerules.losses import LOSSES

Matrix = NDArray[np.float64]
N_FOLDS = 5
SEEDS = range(5)
# What is asked of the chosen size: a risk of at most this many times that of the default.
NO_WORSE = 1.01
ENOUGH = 10


@dataclass(frozen=True)
class Data:
    """A data set: a file of a package, its target, the loss that goes with it, and columns to leave out.

    For classes, ``event`` says which target is the second class.
    """

    file: str
    target: str
    loss: str
    drop: tuple[str, ...] = ()
    event: Callable[[Any], Any] | None = None

    def read(self) -> tuple[Matrix, Matrix]:
        """Return inputs and target."""
        package, _, inside = self.file.partition("/")
        table = pd.read_csv(home(package) / inside).drop(columns=list(self.drop)).dropna()
        target = table.pop(self.target)
        y = target if self.event is None else self.event(target)
        return pd.get_dummies(table, drop_first=True).to_numpy(np.float64), y.to_numpy(np.float64)


def home(package: str) -> Path:
    """Return the directory of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"{package} is not installed: pip install --no-deps {package}")
    return Path(found.origin).parent


def named(value: Any) -> Callable[[Any], Any]:
    """Return a function that says where a column has the given value."""
    return lambda column: column == value


DATA = {
    "Default": Data("ISLP/data/Default.csv", "default", "logistic", event=named("Yes")),
    "OJ": Data("ISLP/data/OJ.csv", "Purchase", "logistic", event=named("MM")),
    "Affairs": Data("statsmodels/datasets/fair/fair.csv", "affairs", "logistic", event=lambda hours: hours > 0),
    "Rossi": Data("lifelines/datasets/rossi.csv", "arrest", "logistic", ("week",), named(1)),
    "College": Data("ISLP/data/College.csv", "Outstate", "squared"),
    "Credit": Data("ISLP/data/Credit.csv", "Balance", "squared", ("ID",)),
    "Hitters": Data("ISLP/data/Hitters.csv", "Salary", "squared"),
    "Wage": Data("ISLP/data/Wage.csv", "wage", "squared", ("logwage",)),
    "Carseats": Data("ISLP/data/Carseats.csv", "Sales", "squared"),
    "Boston": Data("ISLP/data/Boston.csv", "medv", "squared"),
    "Bikeshare": Data("ISLP/data/Bikeshare.csv", "bikers", "poisson", ("casual", "registered")),
    "RAND": Data("statsmodels/datasets/randhie/randhie.csv", "mdvis", "poisson"),
}


def ours(classifier: Any, regressor: Any, loss: str, seed: int = 0) -> Any:
    """Return one of our estimators, which learns rules alone."""
    if loss == "logistic":
        return classifier(linear_terms=False, random_state=seed)
    return regressor(loss=loss, linear_terms=False, random_state=seed)


def linear(loss: str) -> Any:
    """Return the linear model of a loss, with next to no penalty, on standardised inputs."""
    models = {
        "squared": LinearRegression(),
        "logistic": LogisticRegression(C=1e4, max_iter=10_000),
        "poisson": PoissonRegressor(alpha=1e-6, max_iter=10_000),
    }
    return make_pipeline(StandardScaler(), models[loss])


def tree(loss: str) -> Any:
    """Return a tree of eight leaves."""
    if loss == "logistic":
        return DecisionTreeClassifier(max_leaf_nodes=8, criterion="log_loss", random_state=0)
    criterion = "poisson" if loss == "poisson" else "squared_error"
    return DecisionTreeRegressor(max_leaf_nodes=8, criterion=criterion, random_state=0)


def figs(loss: str) -> Any:
    """Return FIGS, which knows no loss for counts."""
    from imodels import FIGSClassifier, FIGSRegressor

    return (FIGSClassifier if loss == "logistic" else FIGSRegressor)(random_state=0)


def ebm(bags: int, loss: str) -> Any:
    """Return the explainable boosting machine, the mean of models of as many bags of rows."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    if loss == "logistic":
        return ExplainableBoostingClassifier(n_jobs=1, outer_bags=bags)
    objective = "poisson_deviance" if loss == "poisson" else "rmse"
    return ExplainableBoostingRegressor(n_jobs=1, outer_bags=bags, objective=objective)


def trees(loss: str) -> Any:
    """Return histogram gradient boosting."""
    if loss == "logistic":
        return HistGradientBoostingClassifier(random_state=0)
    return HistGradientBoostingRegressor(random_state=0, loss="poisson" if loss == "poisson" else "squared_error")


# Each model: how to make it for a loss, and how to count it.
Maker = Callable[[str], Any]
MODELS: dict[str, tuple[Maker, Callable[[Any], int]]] = {
    "LLTBoost": (partial(ours, LLTBoostClassifier, LLTBoostRegressor), lambda model: model.ensemble_.complexity),
    "LLTBoostCV": (partial(ours, LLTBoostClassifierCV, LLTBoostRegressorCV), lambda model: model.ensemble_.complexity),
    "TGB": (partial(ours, TGBClassifier, TGBRegressor), lambda model: model.ensemble_.complexity),
    "TGBCV": (partial(ours, TGBClassifierCV, TGBRegressorCV), lambda model: model.ensemble_.complexity),
    "linear": (linear, lambda model: sizes.linear_size(model[-1])),
    "tree": (tree, sizes.tree_size),
    "FIGS": (figs, sizes.figs_size),
    "EBM": (partial(ebm, 14), sizes.ebm_size),
    "EBM-2": (partial(ebm, 2), sizes.ebm_size),
    "HistGB": (trees, sizes.histogram_boosting_size),
}


def scores(model: Any, X: Matrix, loss: str, n_training: int) -> Matrix:
    """Return the score of each row: predictions, log-odds or log rates.

    Probabilities of 0 and 1 and counts of zero or less, which may cost an infinite loss, are taken as half a training row.
    """
    edge = 0.5 / n_training
    if loss == "logistic":
        share = np.clip(model.predict_proba(X)[:, 1], edge, 1.0 - edge)
        return np.log(share / (1.0 - share))
    prediction = np.asarray(model.predict(X), dtype=np.float64)
    return np.log(np.maximum(prediction, edge)) if loss == "poisson" else prediction


def fold_of_rows(n: int) -> NDArray[np.intp]:
    """Return the fold of each row, dealt at random."""
    return np.random.default_rng(0).permutation(n) % N_FOLDS


def quietly(work: Callable[[], Any]) -> Any:
    """Do some work; what a package has to say is not printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def fitted(make: Callable[[], Any], X: Matrix, y: Matrix, **given: Any) -> Any:
    """Fit a model; what a package has to say about its own code or its convergence is not printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
        model.fit(X, y, **given)
    return model


def on_fold(name: str, method: str, fold: int) -> dict[str, float]:
    """Fit a model without one fold; return its risk there relative to that of the constant, complexity and seconds."""
    data = DATA[name]
    (X, y), loss = data.read(), LOSSES[data.loss]
    train = fold_of_rows(len(y)) != fold
    make, size = MODELS[method]
    start = perf_counter()
    model = fitted(partial(make, data.loss), X[train], y[train].astype(int) if data.loss == "logistic" else y[train])
    seconds = perf_counter() - start
    held_out, score = y[~train], scores(model, X[~train], data.loss, int(train.sum()))
    return {"loss": float(loss.value(held_out, score).mean()), "complexity": size(model), "seconds": seconds}


def constant_loss(name: str) -> float:
    """Return the mean loss of the best constant on the five folds."""
    data = DATA[name]
    (_, y), loss, fold = data.read(), LOSSES[data.loss], fold_of_rows(len(data.read()[1]))
    best = [loss.best_constant(y[fold != k], np.ones(int((fold != k).sum()))) for k in range(N_FOLDS)]
    return float(np.mean([loss.value(y[fold == k], np.full(int((fold == k).sum()), best[k])).mean() for k in range(N_FOLDS)]))


def on_all_rows(name: str, method: str, seed: int) -> dict[str, float]:
    """Return what cross-validation on all rows chooses with a seed."""
    data = DATA[name]
    X, y = data.read()
    start = perf_counter()
    model = fitted(partial(MODELS[method][0], data.loss, seed=seed), X, y.astype(int) if data.loss == "logistic" else y)
    return {"complexity": model.complexity_, "ridge": model.ridge_, "seconds": perf_counter() - start}


# ---- results that are kept ------------------------------------------------------------------------------------------------


def fingerprint() -> str:
    """Return a hash of the installed package: results of another version are not taken for those of this one."""
    root = Path(obliquerules.__file__).parent
    content = (path.read_bytes() for path in sorted(root.rglob("*")) if path.suffix in {".py", ".so"})
    return hashlib.sha256(b"".join(content)).hexdigest()[:12]


def kept(directory: Path, work: Callable[..., dict[str, float]], name: str, method: str, number: int) -> dict[str, float]:
    """Return the result of some work from its file, or do the work and keep its result."""
    file = directory / f"{name}-{method}-{work.__name__}-{number}.json"
    if not file.exists():
        file.write_text(json.dumps(work(name, method, number)), encoding="utf-8")
    return dict(json.loads(file.read_text(encoding="utf-8")))


Results = Mapping[tuple[str, str], list[dict[str, float]]]


def all_results(
    directory: Path, work: Callable[..., dict[str, float]], names: Iterable[str], methods: Iterable[str], numbers: range
) -> Results:
    """Do all the work, on all processors; return the results of each data set and method."""
    cases = [(name, method) for name in names for method in methods]
    jobs = (delayed(kept)(directory, work, *case, number) for case in cases for number in numbers)
    done = iter(Parallel(n_jobs=-1)(jobs))
    return {case: [next(done) for _ in numbers] for case in cases}


# ---- tables ---------------------------------------------------------------------------------------------------------------


def mean(results: Iterable[Mapping[str, float]], what: str) -> float:
    """Return the mean of a figure over folds."""
    return float(np.mean([result[what] for result in results]))


def print_table(title: str, names: Iterable[str], methods: Iterable[str], cell: Callable[[str, str], str]) -> None:
    """Print a line for each data set and a column for each method."""
    print(f"\n{title}\n{'data set':>10}" + "".join(f"{method:>12}" for method in methods))
    for name in names:
        print(f"{name:>10}" + "".join(f"{cell(name, method):>12}" for method in methods))


def compare(results: Results, names: list[str], plain: str, chosen: str) -> list[bool]:
    """Print the ratios of the chosen size to the default; return whether risk and complexity are as asked for."""
    print(f"\n{chosen} / {plain}\n{'data set':>10}{'risk':>9}{'complexity':>12}{'seconds':>9}")
    no_worse, smaller = [], []
    for name in names:
        risk, size, seconds = (
            mean(results[name, chosen], what) / mean(results[name, plain], what) for what in ("loss", "complexity", "seconds")
        )
        no_worse.append(risk <= NO_WORSE)
        smaller.append(size < 1.0)
        print(f"{name:>10}{risk:9.3f}{size:12.2f}{seconds:9.1f}")
    print(f"risk at most {NO_WORSE} of the default's on {sum(no_worse)} of {len(names)}, smaller on {sum(smaller)}")
    return [sum(no_worse) >= min(ENOUGH, len(names)), sum(smaller) >= min(ENOUGH, len(names))]


def compare_seeds(results: Results, names: list[str], method: str) -> bool:
    """Print what was chosen with each seed; return whether the size is the same on most data sets."""
    print(f"\n{method} on all rows: complexity and ridge for {len(SEEDS)} seeds\n")
    same = 0
    for name in names:
        chosen = [(int(result["complexity"]), result["ridge"]) for result in results[name, method]]
        same += len({complexity for complexity, _ in chosen}) == 1
        words = ", ".join(f"{complexity} ({ridge:g})" for complexity, ridge in chosen)
        print(f"{name:>10}  {words}")
    print(f"the same complexity for all seeds on {same} of {len(names)}")
    return same >= min(ENOUGH, len(names))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATA, default=list(DATA), metavar="NAME", help="default: all")
    parser.add_argument(
        "--ebm",
        nargs="?",
        const="EBM",
        choices=("EBM", "EBM-2"),
        help="also the explainable boosting machine, as it is by default or with two bags of rows, in a seventh of the time",
    )
    parser.add_argument("--only", choices=("folds", "seeds"), help="default: both")
    parser.add_argument("--output", type=Path, default=Path("build/real"), metavar="DIR", help="default: build/real")
    return parser.parse_args()


def main() -> int:
    """Print the tables; return how many expectations are not met."""
    options = parse()
    directory = options.output / fingerprint()
    directory.mkdir(parents=True, exist_ok=True)
    met, names = [], options.datasets
    if options.only != "seeds":
        methods = [method for method in MODELS if not method.startswith("EBM") or method == options.ebm]
        results = all_results(directory, on_fold, names, methods, range(N_FOLDS))
        constant = {name: constant_loss(name) for name in names}
        print_table(
            "risk, relative to that of the best constant",
            names,
            methods,
            lambda name, method: f"{mean(results[name, method], 'loss') / constant[name]:.4f}",
        )
        print_table("complexity", names, methods, lambda name, method: f"{mean(results[name, method], 'complexity'):.1f}")
        met += compare(results, names, "LLTBoost", "LLTBoostCV")
        compare(results, names, "TGB", "TGBCV")
    if options.only != "folds":
        met.append(compare_seeds(all_results(directory, on_all_rows, names, ["LLTBoostCV"], SEEDS), names, "LLTBoostCV"))
    return met.count(False)


if __name__ == "__main__":
    sys.exit(main())
