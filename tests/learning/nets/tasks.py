"""Small tasks for the tests of methods: classes, few and many, numbers and counts, with weights of which some are zero."""

import numpy as np

from obliquerules.learning.method import Task
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Block, Labels

NAMES = ("a", "b", "c")


def numbers(loss="squared", n=120, seed=0):
    """Return inputs, a target for the loss, and weights."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).round(2)
    mean = 1.0 + 2.0 * (X[:, 0] + X[:, 1] > 0.3) - 0.8 * (X[:, 2] > 0.0)
    y = random.poisson(np.exp(mean)) * 1.0 if loss == "poisson" else mean + random.normal(scale=0.3, size=n)
    return X, y, random.integers(0, 4, n) * 1.0


def classes(n=120, seed=0, labels=("in", "out")):
    """Return inputs, labels and weights."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).round(2)
    inside = (X[:, 0] > 0.3) & (X[:, 2] < 0.8) | (X[:, 0] < -1.0)
    return X, np.where(inside ^ (random.random(n) < 0.05), *labels), random.integers(0, 4, n) * 1.0


def many_classes(n=160, seed=0, labels=("side", "one", "two", "up")):
    """Return inputs, one of four labels and weights; nothing tells the second and the third class apart."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).round(2)
    either = np.where(random.random(n) < 0.5, labels[1], labels[2])
    y = np.select([X[:, 0] + X[:, 1] > 0.6, X[:, 2] > 0.3], [labels[3], labels[0]], either)
    return X, np.where(random.random(n) < 0.05, either, y), random.integers(0, 4, n) * 1.0


def regression_task(X, y, weight, loss="squared", learner="fit"):
    return Task(Block.of_matrix(X, NAMES), y, weight, LOSSES[loss], learner=learner)


def classification_task(X, y, weight, learner="fit"):
    labels = Labels.of(y)
    return Task(Block.of_matrix(X, NAMES), labels.encode(y), weight, class_loss(len(labels)), labels, learner)


def ordered(path):
    """Return the ensembles as estimators hold them: with rules on one variable in the order of their thresholds."""
    return tuple(member.ordered() for member in path)
