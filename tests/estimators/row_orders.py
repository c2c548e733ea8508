"""Random frames of every kind of column, with targets, estimators and weights, and the bytes of the models they give."""

from __future__ import annotations

import datetime
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    LTRNetClassifier,
    LTRNetRegressor,
    TGBClassifier,
    TGBClassifierCV,
    TGBRegressor,
    TGBRegressorCV,
)

TOWNS = ["Ulm", "Bonn", "Kiel", "Jena", "Trier", "Gera", "Hof", "Köln", "Aue", "ulm"]
GRADES = ["low", "mid", "high", "top"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with targets and all that a fit is given for each of them."""

    X: pd.DataFrame
    y: np.ndarray
    besides: dict[str, np.ndarray]

    def at(self, places: np.ndarray) -> Rows:
        """Return rows at places, which may repeat."""
        besides = {name: values[places] for name, values in self.besides.items()}
        return Rows(self.X.iloc[places].reset_index(drop=True), self.y[places], besides)

    def weighted(self, weight: np.ndarray) -> Rows:
        """Return the rows with weights."""
        return replace(self, besides=self.besides | {"sample_weight": weight})


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return coarse numbers, so that values tie, or fine ones."""
    return rng.choice(
        [rng.integers(0, 5, n), rng.normal(size=n).round(1), rng.normal(40.0, 10.0, n).round(), rng.lognormal(size=n)]
    )


def with_gaps(rng: np.random.Generator, values: Any) -> Any:
    """Return values of which some are missing, in one of two cases."""
    gaps = rng.random(len(values)) < (0.15 if rng.random() < 0.5 else 0.0)
    return pd.Series(values).mask(gaps)


def towns(rng: np.random.Generator, n: int) -> Any:
    """Return text: levels that are equally frequent or not, or nearly as many as rows."""
    few = TOWNS[: rng.integers(2, len(TOWNS))]
    equal = np.resize(few, n)[rng.permutation(n)]
    many = np.array([f"house {number}" for number in rng.integers(0, n, n)])
    return pd.Series([equal, rng.choice(few, n), many][rng.choice(3, p=[0.5, 0.3, 0.2])], dtype=object)


COLUMNS = {
    "town": lambda rng, n: with_gaps(rng, towns(rng, n)),
    "z": lambda rng, n: with_gaps(rng, numbers(rng, n)),
    "bmi": lambda rng, n: with_gaps(rng, rng.normal(25.0, 4.0, n).round(1)),
    "smoker": lambda rng, n: pd.Series(rng.random(n) < 0.4),
    "drug": lambda rng, n: pd.Series(rng.integers(0, 2, n)),
    "grade": lambda rng, n: pd.Series(pd.Categorical(rng.choice(GRADES, n), GRADES, ordered=True)),
    "ward": lambda rng, n: with_gaps(rng, pd.Series(pd.Categorical(rng.choice(TOWNS[:4], n), TOWNS))),
    "since": lambda rng, n: with_gaps(
        rng, pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 40, n), unit="D"))
    ),
    "born": lambda rng, n: pd.Series([datetime.date(1980, 1, 1 + int(day)) for day in rng.integers(0, 25, n)], dtype=object),
    "code": lambda rng, n: pd.Series(pd.Categorical(rng.integers(0, 4, n))),
}


def random_rows(rng: np.random.Generator, kind: str) -> Rows:
    """Return rows of some of the columns, with a target of a kind to which they matter."""
    n = int(rng.integers(40, 100))
    names = ["town", *rng.choice(list(COLUMNS)[1:], rng.integers(1, 5), replace=False)]
    X = pd.DataFrame({name: COLUMNS[name](rng, n) for name in rng.permutation(names)})
    # Some rows are there several times.
    again = np.where(rng.random(n) < 0.2, rng.integers(0, n, n), np.arange(n))
    X = X.iloc[again].reset_index(drop=True)
    codes = np.column_stack([pd.factorize(X[name], sort=True)[0] for name in X])
    score = (codes / (1.0 + codes.max(axis=0))) @ rng.normal(0.0, 2.0, X.shape[1]) + rng.normal(0.0, 0.7, n)
    return Rows(X, target(rng, kind, score), {})


def target(rng: np.random.Generator, kind: str, score: np.ndarray) -> np.ndarray:
    """Return numbers, classes of which each has some rows, or counts."""
    if kind == "numbers":
        return score.round(1)
    if kind == "counts":
        return rng.poisson(np.exp(np.clip(score, -2.0, 2.0))).astype(float)
    names = np.array(["no", "yes"] if kind == "two" else ["b", "a", "c"])
    cuts = np.quantile(score, [0.4] if kind == "two" else [0.35, 0.7])
    return names[np.searchsorted(cuts, score)]


NET = {"n_penalties": 2, "n_restarts": 1, "max_iter": 30, "random_state": 0}
LEARNERS = [
    ("numbers", LLTBoostRegressor, {}),
    ("numbers", TGBRegressor, {}),
    ("two", LLTBoostClassifier, {}),
    ("three", LLTBoostClassifier, {}),
    ("counts", LLTBoostRegressor, {"loss": "poisson"}),
    ("numbers", TGBRegressor, {"search": "exact", "max_propositions": 2}),
    ("two", LLTBoostClassifier, {"selection": "validation", "random_state": 0}),
    ("numbers", LLTBoostRegressorCV, {"cv": 2, "effort": 0, "max_rules": 2, "max_propositions": 2}),
    ("two", TGBClassifier, {"selection": "information", "effort": 0, "class_weight": "balanced"}),
    ("numbers", LLTBoostRegressor, {"linear_terms": "only"}),
    ("three", TGBClassifier, {"class_weight": "balanced"}),
    ("numbers", LLTBoostRegressor, {"linear_terms": False, "effort": 0, "ridge": 1.0}),
    ("two", LLTBoostClassifierCV, {"cv": 2, "effort": 0, "linear_terms": False, "max_rules": 2, "max_propositions": 2}),
    ("counts", TGBRegressor, {"loss": "poisson", "selection": "validation", "random_state": 1}),
    ("two", TGBClassifier, {"search": "exact", "max_propositions": 2}),
    ("numbers", LLTBoostRegressor, {"selection": "validation", "random_state": 0}),
    ("three", TGBClassifierCV, {"cv": 3, "max_rules": 2}),
    ("numbers", TGBRegressorCV, {"cv": 3, "max_rules": 2}),
    ("three", LLTBoostClassifier, {"selection": "validation", "random_state": 2}),
    ("two", LLTBoostClassifier, {"linear_terms": "only", "class_weight": {"yes": 2.0}}),
    ("numbers", LTRNetRegressor, NET),
    ("two", DRNetClassifier, {"n_penalties": 2, "max_iter": 100, "random_state": 0}),
    ("three", LTRNetClassifier, NET),
]


def case(seed: int) -> tuple[Any, Rows, np.ndarray]:
    """Return an estimator, rows to fit it to, and whole weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    kind, estimator, parameters = LEARNERS[seed % len(LEARNERS)]
    rows = random_rows(rng, kind)
    n = len(rows.y)
    if kind == "counts" and rng.random() < 0.5:
        rows = replace(rows, besides={"exposure": rng.integers(1, 5, n) / 4.0})
    elif kind in ("numbers", "two") and estimator is not DRNetClassifier and rng.random() < 0.3:
        rows = replace(rows, besides={"offset": rng.normal(size=n).round(1)})
    sizes = {"max_rules": int(rng.integers(2, 5))} if "max_rules" in estimator.parameters else {}
    return estimator(**sizes | parameters), rows, rng.integers(0, 4, n)


def saved(estimator: Any, rows: Rows, folder: Path) -> bytes:
    """Return the file of a model."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Nothing is learned from", UserWarning)
        estimator.fit(rows.X, rows.y, **rows.besides).save(folder / "model.json")
    return (folder / "model.json").read_bytes()
