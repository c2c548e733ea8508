"""One small fitted model of each public kind, with its data: what all of them must do is tested on all of them."""

import functools

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor, LLTBoostRegressorCV

NAMES = ["age", "body mass", 'pulse "rest"', "a - b"]


@functools.cache
def data():
    """Return a frame, labels and counts that depend on two sums of columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)).round(2), columns=NAMES)
    score = 2.0 * (X["age"] + X["body mass"] >= 0.2) - 1.5 * (X["a - b"] >= 0.5) + 0.3 * rng.normal(size=150)
    return X, np.where(score > 0.5, "yes", "no"), rng.poisson(np.exp(score)).astype(float)


# Rules alone: where a rule with a factor differs from others is tested elsewhere.
LARGE = {"max_rules": 4, "complexity_penalty": 1.0, "linear_terms": False, "random_state": 0}
SMALL = {**LARGE, "max_rules": 3, "effort": 0, "cv": 2}
MAKERS = {
    "classifier": lambda: LLTBoostClassifier(**LARGE),
    "classifier cv": lambda: LLTBoostClassifierCV(**SMALL),
    "squared": lambda: LLTBoostRegressor(**LARGE),
    "poisson": lambda: LLTBoostRegressor(loss="poisson", **LARGE),
    "squared cv": lambda: LLTBoostRegressorCV(**SMALL),
    "poisson cv": lambda: LLTBoostRegressorCV(loss="poisson", **SMALL),
}
every_kind = pytest.mark.parametrize("kind", MAKERS)


@functools.cache
def fitted(kind):
    """Return a model and its data."""
    X, labels, counts = data()
    y = labels if kind.startswith("classifier") else counts
    return MAKERS[kind]().fit(X, y), X, y
