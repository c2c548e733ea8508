"""The default fit, cross-validation, regression and EBM on raw frames.

Twenty frames of either half of ``frames.py``, taken by a hash of their names: eight of two classes, four of three to five
classes, five of numbers, three of counts. Five splits, 70 to 30.

Regression is logistic, linear or Poisson regression: missing numbers become the median with an indicator, levels become
columns of 0 and 1, columns are standardised, and the ridge is chosen by cross-validation. EBM is the explainable boosting
machine at its defaults, on one processor. A difference counts from two standard errors of the paired difference; the variance
is corrected for overlapping splits (Nadeau and Bengio): (1/5 + 0.3/0.7) times that of the five differences.

For each frame are printed the mean test loss, complexity and seconds of each method, and the differences to regression and
EBM in standard errors, positive where ours is behind; then, over all frames, on how many it is behind by more than two
standard errors, and on how many it is ahead in the mean.

Results are kept in --output as soon as they are known; those of the rivals serve every version of the package.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks import real
from benchmarks.frames import FRAMES, TEST_SHARE, Frame, Half, frames, splits
from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor, LLTBoostRegressorCV
from obliquerules.losses import LOSSES, class_loss

Vector = NDArray[np.float64]

N_SPLITS = 5
# Differences count from this many standard errors.
CLEARLY = 2.0
# How many frames of each task.
QUOTA = {"two classes": 8, "many classes": 4, "number": 5, "count": 3}
MOST_CLASSES = 5
MOST_COMPLEXITY = 40
LOSS_OF = {"two classes": "logistic", "number": "squared", "count": "poisson"}


def chosen_frames(half: Half) -> list[Frame]:
    """Return twenty frames, whatever the fits on them say."""
    ordered = sorted(frames(half), key=lambda frame: hashlib.sha256(f"rivals{frame.name}".encode()).digest())
    found = []
    for task, quota in QUOTA.items():
        own = (
            frame for frame in ordered if frame.task == task and (task != "many classes" or n_classes(frame) <= MOST_CLASSES)
        )
        found += [frame for frame, _ in zip(own, range(quota), strict=False)]
    return found


def n_classes(frame: Frame) -> int:
    """Return the number of classes of a frame."""
    return len(pd.unique(frame.read()[1]))


# ---- models ---------------------------------------------------------------------------------------------------------------


def prepared(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with dates as days, flags as 0 and 1, and everything else as numbers or text."""
    found = {}
    for name in X.columns:
        column = X[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            found[name] = (pd.to_datetime(column, utc=True) - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        elif pd.api.types.is_numeric_dtype(column):
            found[name] = column.astype(float)
        else:
            found[name] = column.astype(object).where(column.notna(), "(missing)").astype(str)
    return pd.DataFrame(found)


def regression(task: str, X: pd.DataFrame) -> Any:
    """Return the regression of a task, behind the usual preparation."""
    numbers = [name for name in X.columns if X[name].dtype == float and X[name].notna().any()]
    text = [name for name in X.columns if X[name].dtype != float]
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
            ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop="if_binary"), text),
        ]
    )
    penalties = np.logspace(-4, 4, 17)
    if task.endswith("classes"):
        last = LogisticRegressionCV(
            Cs=1.0 / penalties, cv=5, scoring="neg_log_loss", max_iter=2000, l1_ratios=(0.0,), use_legacy_attributes=False
        )
    elif task == "number":
        last = RidgeCV(np.logspace(-4, 6, 21))
    else:
        last = GridSearchCV(
            PoissonRegressor(max_iter=2000), {"alpha": np.logspace(-5, 2, 15)}, cv=5, scoring="neg_mean_poisson_deviance"
        )
    return make_pipeline(columns, last)


def ebm(task: str) -> Any:
    """Return the explainable boosting machine at its defaults, on one processor."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    if task.endswith("classes"):
        return ExplainableBoostingClassifier(n_jobs=1)
    return ExplainableBoostingRegressor(n_jobs=1, objective="poisson_deviance" if task == "count" else "rmse")


def ours(task: str, *, cv: bool = False, **parameters: Any) -> Any:
    """Return LLTBoost with its defaults."""
    if task.endswith("classes"):
        return (LLTBoostClassifierCV if cv else LLTBoostClassifier)(**parameters)
    return (LLTBoostRegressorCV if cv else LLTBoostRegressor)(loss=LOSS_OF[task], **parameters)


RIVALS = ("regression", "EBM")


# ---- one split -------------------------------------------------------------------------------------------------------------


def rows_of(name: str, number: int) -> tuple[Frame, pd.DataFrame, NDArray[Any], pd.DataFrame, NDArray[Any]]:
    """Return training and test rows of a split."""
    frame = FRAMES[name]
    X, y = frame.read()
    train, test = list(splits(frame, number + 1))[number]
    return frame, X.iloc[train], y[train], X.iloc[test], y[test]


def losses_of(task: str, model: Any, X: Any, y: NDArray[Any], n_training: int) -> float:
    """Return the mean loss of a rival's predictions; probabilities and rates are at least half a training row."""
    edge = 0.5 / n_training
    if task.endswith("classes"):
        p = np.clip(model.predict_proba(X), edge, 1.0)
        code = np.searchsorted(model.classes_, y)
        return float(-np.log((p / p.sum(axis=1, keepdims=True))[np.arange(len(y)), code]).mean())
    mean = np.asarray(model.predict(X), dtype=float)
    score = np.log(np.maximum(mean, edge)) if task == "count" else mean
    return float(LOSSES[LOSS_OF[task]].value(y.astype(float), score).mean())


def rival_on_split(name: str, method: str, number: int) -> dict[str, Any]:
    """Fit a rival; return its mean loss on test rows, and seconds."""
    frame, X, y, X_test, y_test = rows_of(name, number)
    start = process_time()
    if method == "regression":
        both = prepared(pd.concat([X, X_test]))
        train, test = both.iloc[: len(X)], both.iloc[len(X) :]
        model = real.fitted(lambda: regression(frame.task, train), train, y)
    else:
        train, test = for_ebm(X), for_ebm(X_test)
        model = real.fitted(lambda: ebm(frame.task), train, y)
    return {"loss": losses_of(frame.task, model, test, y_test, len(y)), "seconds": process_time() - start}


def for_ebm(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame that EBM takes: as it is, but for dates and booleans."""
    return pd.DataFrame(
        {
            name: prepared(X[[name]])[name]
            if X[name].dtype.kind in "Mb"
            else X[name].astype(object)
            if X[name].dtype.kind not in "if"
            else X[name]
            for name in X.columns
        }
    )


def path_losses(task: str, model: Any, X: pd.DataFrame, y: NDArray[Any]) -> list[float]:
    """Return the mean loss of each member of a path."""
    found = []
    loss = class_loss(len(model.classes_)) if task.endswith("classes") else LOSSES[LOSS_OF[task]]
    labels = model.model_.labels
    target = y.astype(float) if labels is None else labels.encode(y)
    for member in model.path_:
        other = model.at(member.complexity)
        found.append(float(np.mean(loss.value(target, other.score_samples(X)))))
    return found


def our_fit(name: str, method: str, number: int, **parameters: Any) -> dict[str, Any]:
    """Fit ours; return complexities and losses along the path, what was chosen, and seconds."""
    frame, X, y, X_test, y_test = rows_of(name, number)
    start = process_time()
    model = real.fitted(lambda: ours(frame.task, cv=method.startswith("CV"), **parameters), X, y)
    seconds = process_time() - start
    with np.errstate(all="ignore"):
        losses = real.quietly(lambda: path_losses(frame.task, model, X_test, y_test))
        training = real.quietly(lambda: path_losses(frame.task, model, X, y))
    found = {
        "complexities": [member.complexity for member in model.path_],
        "losses": losses,
        "training": training,
        "complexity": model.ensemble_.complexity,
        "expected": list(model.model_.expected) if hasattr(model.model_, "expected") else [],
        "ridges": list(model.model_.ridges) if hasattr(model.model_, "ridges") else [],
        "seconds": seconds,
    }
    return found | ({"risk": model.risk_, "risk_error": model.risk_standard_error_} if method.startswith("CV") else {})


# ---- the command -----------------------------------------------------------------------------------------------------------

METHODS = ("ours", "CV", *RIVALS)


def measured(name: str, method: str, number: int) -> dict[str, Any]:
    """Fit a method on one split; return its loss on test rows, that of the constant, its complexity if any, and seconds."""
    if method in RIVALS:
        return rival_on_split(name, method, number)
    found = our_fit(name, method, number)
    chosen = found["complexities"].index(found["complexity"])
    return found | {"loss": found["losses"][chosen], "constant": found["losses"][0]}


def key(name: str, method: str, number: int) -> str:
    """Return the name of a result; those of the rivals serve every version of the package."""
    version = "" if method in RIVALS else f" {real.fingerprint()}"
    return f"{name}, {method}, {number}{version}"


def difference(ours: list[dict[str, Any]], other: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the mean paired difference of losses and its corrected standard error."""
    gap = np.array([one["loss"] - two["loss"] for one, two in zip(ours, other, strict=True)])
    correction = 1.0 / len(gap) + TEST_SHARE / (1.0 - TEST_SHARE)
    return float(gap.mean()), float(np.sqrt(correction * gap.var(ddof=1)))


def line(name: str, results: dict[str, list[dict[str, Any]]]) -> str:
    """Return the figures of a frame."""
    cells = [f"{name:<26}"]
    for method, found in results.items():
        cells.append(f"{np.mean([one['loss'] for one in found]):11.4g}")
        if method not in RIVALS:
            cells.append(f"{np.mean([one['complexity'] for one in found]):7.1f}")
        cells.append(f"{np.mean([one['seconds'] for one in found]):9.1f}")
    for own, rival in pairs(results):
        mean, error = difference(results[own], results[rival])
        cells.append(f"{mean / error if error > 0.0 else np.nan:+{len(heading(own, rival)) + 2}.1f}")
    return "".join(cells)


def pairs(methods: Iterable[str]) -> list[tuple[str, str]]:
    """Return which methods are compared: each of ours with each rival."""
    given = list(methods)
    return [(own, rival) for own in given if own not in RIVALS for rival in given if rival in RIVALS]


def heading(own: str, rival: str) -> str:
    """Return the heading of a comparison."""
    return f"{own} - {rival}"


def sums(results: list[dict[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield a line for each comparison: on how many frames ours is clearly behind, and on how many it is ahead in the mean."""
    for own, rival in pairs(results[0]):
        found = [difference(one[own], one[rival]) for one in results]
        behind = sum(mean > CLEARLY * error for mean, error in found)
        ahead = sum(mean < 0.0 for mean, _ in found)
        yield (
            f"{own} beside {rival}, on {len(found)} frames: behind by more than two standard errors on {behind}, "
            f"ahead in the mean on {ahead}"
        )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "half", nargs="?", choices=("development", "reporting"), default="development", help="default: development"
    )
    parser.add_argument("--frames", nargs="+", metavar="NAME", help="default: the twenty of the half")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="default: all")
    parser.add_argument("--splits", type=int, default=N_SPLITS, metavar="N", help=f"two or more; default: {N_SPLITS}")
    parser.add_argument("--output", type=Path, default=Path("build/rivals.json"), help="default: build/rivals.json")
    options = parser.parse_args()
    if options.splits < 2:  # a single difference has no standard error
        parser.error("--splits must be at least 2")
    return options


def main() -> int:
    """Do the work that is not yet done, and print the tables."""
    options = parse()
    names = options.frames or [frame.name for frame in chosen_frames(options.half)]
    known = [frame.name for frame in frames(options.half)]
    if strangers := [name for name in names if name not in known]:
        sys.exit(f"--frames: {', '.join(strangers)} not in the {options.half} half, which has {', '.join(known)}")
    methods = list(dict.fromkeys(options.methods))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    columns = [f"{method:>11}" + ("" if method in RIVALS else "   size") + "  seconds" for method in methods]
    compared = [f"  {heading(*pair)}" for pair in pairs(methods)]
    print(f"{'mean loss':<26}" + "".join([*columns, *compared]) + (" (in standard errors)" if compared else ""), flush=True)
    results = []
    for name in names:
        found: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
        for method, number in itertools.product(methods, range(options.splits)):
            place = key(name, method, number)
            if place not in kept:
                kept[place] = measured(name, method, number)
                unfinished = options.output.with_suffix(".tmp")
                unfinished.write_text(json.dumps(kept), encoding="utf-8")
                unfinished.replace(options.output)
            found[method].append(kept[place])
        results.append(found)
        print(line(name, found), flush=True)
    for comparison in sums(results):
        print(comparison)
    return 0


if __name__ == "__main__":
    sys.exit(main())
