"""The protocol of the paper's tables: bootstrap splits, the risks along a path, and what is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from obliquerules.benchmark.methods import Method
from obliquerules.losses import LOSSES

Vector = NDArray[np.float64]

MOST_TRAINING_ROWS = 500


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows, standardised by the training rows; a class is 1.0 where it is the positive one."""

    X_train: NDArray[np.float64]
    y_train: Vector
    X_test: NDArray[np.float64]
    y_test: Vector


@dataclass(frozen=True)
class Repetition:
    """What one setting of one method reached on one split.

    Attributes
    ----------
    dataset, method, setting : str
        The names under which they are reported.
    seed : int
        Of the split, and of the method's own random choices.
    complexities : tuple of int
        One for each member of the path, from one rule upwards.
    losses : mapping from str to tuple of float
        The test risk of each member: ``"risk"``, which is the mean squared error or the log loss, and for classes also
        ``"0/1 loss"``.
    """

    dataset: str
    method: str
    setting: str
    seed: int
    complexities: tuple[int, ...]
    losses: Mapping[str, tuple[float, ...]]


def bootstrap_split(data: Any, seed: int) -> Split:
    """Draw min(n, 500) rows with replacement to train on; the rows that were not drawn are for the test."""
    n = len(data.target)
    drawn = np.random.default_rng(seed).integers(0, n, min(n, MOST_TRAINING_ROWS))
    left = np.setdiff1d(np.arange(n), drawn)
    scaler = StandardScaler().fit(data.data[drawn])
    y = _target(data, drawn)
    return Split(scaler.transform(data.data[drawn]), y[drawn], scaler.transform(data.data[left]), y[left])


def _target(data: Any, drawn: NDArray[np.int64]) -> Vector:
    if data.task == "classification":
        return np.asarray(data.target == data.positive, dtype=np.float64)
    known = data.target[drawn]
    return np.asarray((data.target - known.mean()) / known.std(), dtype=np.float64)


def mean_losses(task: str, y: Vector, score: Vector) -> dict[str, float]:
    """Return the mean losses of scores: squared for numbers; logistic and 0/1 for classes."""
    if task == "regression":
        return {"risk": float(np.mean((y - score) ** 2))}
    return {"risk": float(np.mean(LOSSES["logistic"].value(y, score))), "0/1 loss": float(np.mean((score > 0.0) != y))}


def repeat(data: Any, method: Method, seed: int) -> list[Repetition]:
    """Fit each setting of a method to one split of a data set and follow its path on the test rows."""
    split = bootstrap_split(data, seed)
    repetitions = []
    for setting, model in method.make(data.task, seed).items():
        path = model.fit(split.X_train, split.y_train).path_[1:]  # the constant comes first; the paper starts with one rule
        losses = [mean_losses(data.task, split.y_test, ensemble(split.X_test)) for ensemble in path]
        curves = {name: tuple(loss[name] for loss in losses) for name in losses[0]} if losses else {}
        complexities = tuple(ensemble.complexity for ensemble in path)
        repetitions.append(Repetition(data.name, method.name, setting, seed, complexities, curves))
    return repetitions


def smallest_complexity(complexities: Sequence[int], losses: Sequence[float], target: float) -> float:
    """Return the smallest complexity at which the loss is not above the target; infinite if there is none."""
    return min((size for size, loss in zip(complexities, losses, strict=True) if loss <= target), default=inf)


def loss_within(complexities: Sequence[int], losses: Sequence[float], target: float) -> float:
    """Return the loss at the greatest complexity that is not above the target; infinite if there is none.

    Of several members with that complexity it is the last, which has the most rules.
    """
    small_enough = [pair for pair in zip(complexities, losses, strict=True) if pair[0] <= target]
    return max(reversed(small_enough), key=lambda pair: pair[0], default=(0, inf))[1]
