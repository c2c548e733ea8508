"""Small tasks of every kind, and the estimators that learn from the same data."""

import numpy as np

from obliquerules.learning.method import Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Labels
from obliquerules.status_line import Stopwatch

LOSS_NAMES = {"classes": "logistic", "numbers": "squared", "counts": "poisson"}


def data(kind, seed=0, n_rows=120):
    """Return inputs, some of them with few values and some rows twice, targets and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 2)), rng.integers(0, 5, n_rows)])
    score = X[:, 0] + 0.7 * X[:, 1] + (X[:, 2] > 2.0) * (X[:, 0] > -0.5)
    noisy = score + rng.normal(scale=0.5, size=n_rows)
    X[:10] = X[10:20]
    targets = {
        "classes": np.where(noisy > 0.4, "yes", "no"),
        "numbers": noisy,
        "counts": rng.poisson(np.exp(0.6 * score)) * 1.0,
    }
    return X, targets[kind], rng.integers(0, 8, n_rows) / 4.0


def task_of(kind, X, y, weight=None, learner="fit", stopwatch=None):
    """Return what an estimator would learn from."""
    labels = Labels.of(y) if kind == "classes" else None
    target = y if labels is None else labels.encode(y)
    weight = np.ones(len(y)) if weight is None else weight
    names = tuple(f"x{column}" for column in range(X.shape[1]))
    return Task(
        Block.of_matrix(X, names), target, weight, LOSSES[LOSS_NAMES[kind]], labels, learner, stopwatch=stopwatch or Stopwatch()
    )


def estimator_of(kind, classifier, regressor, **parameters):
    """Return the estimator that learns from the same data."""
    return classifier(**parameters) if kind == "classes" else regressor(loss=LOSS_NAMES[kind], **parameters)


def ordered(path):
    """Return the ensembles as estimators hold them: with rules on one variable in the order of their thresholds."""
    return tuple(member.ordered() for member in path)
