"""The protocol of the paper's tables: bootstrap splits, the risks along a path, and what is read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from obliquerules.arrays import Vector
from obliquerules.losses import LOSSES

MOST_TRAINING_ROWS = 500


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, standardised by the training rows.

    The positive class is 1.0.

    ``copies_of`` says of which row of the data set each training row is a copy.
    """

    X_train: NDArray[np.float64]
    y_train: Vector
    X_test: NDArray[np.float64]
    y_test: Vector
    copies_of: NDArray[np.int64]


@dataclass(frozen=True)
class Curves:
    """The complexity and the mean test losses of each member of a path, from one rule upwards."""

    complexities: tuple[int, ...]
    losses: Mapping[str, tuple[float, ...]]


def bootstrap_split(data: Any, seed: int) -> Split:
    """Draw min(n, 500) rows with replacement to train on; the rows that were not drawn are for the test."""
    n = len(data.target)
    drawn = np.random.default_rng(seed).integers(0, n, min(n, MOST_TRAINING_ROWS))
    left = np.setdiff1d(np.arange(n), drawn)
    scaler = StandardScaler().fit(data.data[drawn])
    y = _target(data, drawn)
    return Split(scaler.transform(data.data[drawn]), y[drawn], scaler.transform(data.data[left]), y[left], drawn)


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


def follow(model: Any, task: str, split: Split) -> Curves:
    """Follow the path of a fitted model on the test rows, from one rule upwards, as in the paper; constants are left out."""
    path = [member for member in model.path_ if member.complexity > 0]
    losses = [mean_losses(task, split.y_test, member(split.X_test)) for member in path]
    if not all(np.isfinite(list(loss.values())).all() for loss in losses):
        raise ValueError("a test risk is not a finite number.")
    curves = {name: tuple(loss[name] for loss in losses) for name in losses[0]} if losses else {}
    return Curves(tuple(member.complexity for member in path), curves)


def smallest_complexity(complexities: Sequence[int], losses: Sequence[float], target: float) -> float:
    """Return the smallest complexity at which the loss is not above the target; infinite if there is none."""
    return min((size for size, loss in zip(complexities, losses, strict=True) if loss <= target), default=inf)


def loss_within(complexities: Sequence[int], losses: Sequence[float], target: float) -> float:
    """Return the loss at the greatest complexity that is not above the target; infinite if there is none.

    Of several members with that complexity it is the last, which has the most rules.
    """
    small_enough = [pair for pair in zip(complexities, losses, strict=True) if pair[0] <= target]
    return max(reversed(small_enough), key=lambda pair: pair[0], default=(0, inf))[1]
