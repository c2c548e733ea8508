"""Models for the browser: one for each loss, on data that ship with scikit-learn, with hostile names, and of many classes."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, LLTBoostRegressorCV, RuleEnsemble, TGBClassifier
from obliquerules.data.sample import Sample
from obliquerules.losses import class_loss
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.rules import Block, Labels, Rule
from obliquerules.rules.model import Offset

from ..report.mixed import learned, made_up

KINDS = ("logistic", "squared", "poisson", "gamma", "tweedie")
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    """' " ` &lt; \\ {{payload}}""",
    "🩺 emoji 👩‍⚕️",
    "\u202emirrored\u202c \u200f",
    "10 kB " * 1700,
    "\u200f",
)


@functools.cache
def fitted(kind):
    """Return a model, rows and targets."""
    if kind == "logistic":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        y = y.map({0: "malignant", 1: "benign"})
        return LLTBoostClassifier(max_rules=6, linear_terms=False, random_state=0).fit(X, y), X, y
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    if kind == "squared":
        return LLTBoostRegressorCV(max_rules=6, linear_terms=False, random_state=0).fit(X, y), X, y
    if kind == "poisson":
        return LLTBoostRegressor(loss="poisson", max_rules=5, linear_terms=False, random_state=0).fit(X, y // 10), X, y // 10
    y = y if kind == "gamma" else np.maximum(y - 80.0, 0.0)
    return LLTBoostRegressor(loss=kind, tweedie_power=1.4, max_rules=5, linear_terms=False).fit(X, y), X, y


def holding(ensemble, loss):
    """Return a model that holds one given ensemble and nothing else, with rows and targets."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)).round(2), rng.integers(0, 2, 80)
    if loss.name == "gamma":
        y = y + 1  # amounts are positive
    names = ensemble.feature_names or ("x0", "x1", "x2")
    X = pd.DataFrame(X, columns=list(names))
    model = LLTBoostClassifier(max_rules=1) if loss.name == "logistic" else LLTBoostRegressor(loss=loss.name, max_rules=1)
    model.fit(X, y)
    path = (RuleEnsemble(ensemble.rules, ensemble.intercept, names),)
    model.model_ = replace(model.model_, path=path, chosen=0, ridges=(), expected=())
    return model, X, y


@functools.cache
def stairs():
    """Return a model with several rules on one variable, one of them an interval, and a 0/1 column; its rows and labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"balance": rng.gamma(4.0, 220.0, 900).round(1), "student": rng.integers(0, 2, 900)})
    odds = np.exp(-5.0 + 0.005 * X["balance"] - 0.7 * X["student"])
    y = np.where(rng.random(900) < odds / (1.0 + odds), "Yes", "No")
    text = (
        "-4.5 if True\n+1.5 if balance >= 700\n+1.25 if balance >= 1000\n+0.9 if balance >= 1200 & balance <= 1500\n"
        "-0.5 if balance <= 400\n+1.75 if balance >= 1600.5\n-0.75 if student >= 0.5"
    )
    model = LLTBoostClassifier(max_rules=1).fit(X, y)
    ranges = Sample.of(Block.of_matrix(X.to_numpy(float), list(X)), np.zeros(len(X)), np.ones(len(X))).ranges([0, 1])
    model.model_ = replace(model.model_.alone(), path=(RuleEnsemble.parse(text, list(X)),), ranges=ranges)
    return model, X, y


@functools.cache
def hostile():
    """Return a model whose names and labels are hostile."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, len(HOSTILE))).round(3), columns=list(HOSTILE))
    y = np.where((X > 0.0).sum(axis=1) + rng.normal(size=300) > 3.5, "</script><b>yes", "'\"<!-- no")
    return TGBClassifier(max_rules=10, complexity_penalty=0.2, random_state=0).fit(X, y), X, y


CULTIVARS = ("Barolo", "Grignolino", "Barbera")
# More classes than fit in columns, with names that no page should have to show.
ODD_CLASSES = tuple(
    sorted([*HOSTILE[:6], "</script><b>yes", "'\"<!-- no", *(f"class of a rather long name, number {n}" for n in range(6))])
)


@functools.cache
def three():
    """Return a model of three classes, its rows and labels."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = np.array(CULTIVARS)[y]
    return LLTBoostClassifier(max_rules=7, complexity_penalty=0.5, linear_terms=False, random_state=0).fit(X, y), X, y


def of_classes(seed, names=("3", "blue", "green", "red"), n_rules=40):
    """Return a model of conditions of all kinds whose rules speak for some of many classes, and rows with labels."""
    rng = np.random.default_rng(seed)
    ensemble, (estimator, X, _) = made_up(seed, n_rules), learned()
    rules = [Rule(rng.normal(size=len(names)) * (rng.random(len(names)) < 0.5), rule.condition) for rule in ensemble]
    given = estimator.model_
    loss, labels = class_loss(len(names)), Labels.of_classes(np.array(names))
    path = (RuleEnsemble(rules, rng.normal(size=len(names)), ensemble.columns, labels.outputs),)
    model = replace(given.alone(), path=path, ridges=(), loss=loss, labels=labels)
    return model, measured(model, estimator._read(X).X, rng.integers(0, len(names), len(X)).astype(float))


def measured(model, X, y, least=5, given=None):
    """Return rows to measure a model on."""
    block = X if isinstance(X, Block) else model.ensemble.block(np.asarray(X, dtype=float))
    return MeasuredRows.counted(block, np.asarray(y, dtype=float), np.ones(len(y)), "rows", least, given)


def with_offset(model, kind, *names):
    """Return a model that must be given an exposure or offset."""
    return replace(model, offset=Offset(kind, names))
