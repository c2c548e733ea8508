"""Models with many classes: fitted ones with their data, and drawn ones."""

import functools

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from obliquerules import LLTBoostClassifier, Rule, RuleEnsemble, TGBClassifier
from obliquerules.losses import class_loss
from obliquerules.rules import Labels, Model

from ..rules.strategies import N_COLUMNS, conjunctions, factors, ordinary

NAMES = ("red", "green", "blue")


def class_model(ensemble, labels=None):
    """Return rules with many weights as a model; without labels, the classes are the names of its outputs."""
    values = ensemble.outputs if labels is None else labels
    return Model.of(ensemble, class_loss(len(values)), Labels(tuple(values), np.array(values).dtype))


def weights(n_classes, numbers=ordinary):
    """Draw one weight for each class, many of them zero."""
    return st.lists(numbers | st.just(0.0), min_size=n_classes, max_size=n_classes)


@st.composite
def class_ensembles(draw, names=NAMES, max_rules=4):
    """Draw rules that speak for some of the classes."""
    each = st.builds(Rule, weights(len(names)), conjunctions(), st.none() | factors())
    columns = [f"x{column}" for column in range(N_COLUMNS)]
    return RuleEnsemble(draw(st.lists(each, max_size=max_rules)), draw(weights(len(names))), columns, names)


@functools.cache
def irises():
    """Return a model of three species, its inputs and targets."""
    X, codes = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    return LLTBoostClassifier(max_rules=6, linear_terms=False, random_state=0).fit(X, y), X, y


@functools.cache
def sloped_irises():
    """Return a model of three species with slopes and rules, its inputs and targets."""
    _, X, y = irises()
    return LLTBoostClassifier(max_rules=6, random_state=0).fit(X, y), X, y


@functools.cache
def ten():
    """Return a model of ten classes, which are numbers, its inputs and targets."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.0, 10.0, (400, 3)).round(1), columns=["width", "height", "noise"])
    y = (5 * (X["height"] >= 5.0) + np.clip(X["width"] // 2, 0, 4)).astype(int).to_numpy()
    return TGBClassifier(max_rules=12, random_state=0).fit(X, y), X, y
