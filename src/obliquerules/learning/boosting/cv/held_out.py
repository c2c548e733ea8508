"""Held-out losses of each member of a path, and the size that they choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.learning.method import Task
from obliquerules.parameters import check_real
from obliquerules.rules.path_table import TOLERANCE

ONE_STANDARD_ERROR, PAIRED = "1se", "paired"
DEFAULT_TOLERANCE: str | float = TOLERANCE


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """The losses of the test rows of a fold.

    Attributes
    ----------
    rows, share : array of shape (n_tested,)
        The positions of the test rows, and the share of each that was tested.
    loss : array of shape (n_members, n_tested)
        Their losses under the model of the fold at the complexity of each member of the path.
    risk : array of shape (n_members,)
        The means of their losses.
    stopped : str or None
        Why the path of the fold ended before its end, if it did.
    """

    rows: NDArray[np.intp]
    share: Matrix
    loss: Matrix
    risk: Matrix
    stopped: str | None = None


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A table of held-out losses: of tested rows, at each member of a path.

    A row that was tested more than once counts with its mean loss; one that was never tested does not count.

    Attributes
    ----------
    loss : array of shape (n_members, n_tested)
    share, observations : array of shape (n_tested,)
        The share of each row in the weight of all, and how many independent observations it stands for, at least one.
    groups : array of shape (n_tested,) or None
        The number of the group of each row, counted from zero; the rows of a group are one observation.
    """

    loss: Matrix
    share: Matrix
    observations: Matrix
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, folds: Sequence[FoldLosses], task: Task) -> HeldOut:
        """Collect the losses of folds of the rows of a task."""
        times, total = np.zeros(len(task.y)), np.zeros((len(folds[0].loss), len(task.y)))
        for fold in folds:
            times[fold.rows] += fold.share
            total[:, fold.rows] += fold.share * fold.loss
        tested = times > 0.0
        weight = task.weight[tested]
        frequency = weight if task.frequency is None else task.frequency[tested]
        groups = None if task.groups is None else np.unique(task.groups[tested], return_inverse=True)[1].ravel()
        share = weight / np.add.reduce(weight)
        return cls(total[:, tested] / times[tested], share, np.maximum(frequency, 1.0), groups)

    @cached_property
    def risk(self) -> Matrix:
        """The mean loss at each member."""
        return np.asarray(np.sum(self.loss * self.share, axis=1))

    @np.errstate(over="ignore")
    def standard_error(self, less: int | None = None) -> Matrix:
        """Return the standard error of each risk, or of its excess over that of another member.

        A row of weight 2 is two observations, and so are two groups.
        """
        loss = self.loss if less is None else self.loss - self.loss[less]
        deviation = self.share * (loss - np.sum(loss * self.share, axis=1, keepdims=True))
        if self.groups is None:
            n, squares = float(np.add.reduce(self.observations)), deviation**2 / self.observations
        else:
            squares = np.array([np.bincount(self.groups, one) for one in deviation]) ** 2
            n = squares.shape[1]
        return np.asarray(np.sqrt(np.sum(squares, axis=1) * n / max(n - 1.0, 1.0)))


@dataclass(frozen=True)
class Choice:
    """The chosen member of a path.

    Attributes
    ----------
    best, chosen : int
        The positions of the member of the least risk and of the chosen one.
    still_falls : bool
        Whether the last member is the best, and better than every other by more than a standard error.
    """

    best: int
    chosen: int
    still_falls: bool


def choose(held_out: HeldOut, tolerance: str | float) -> Choice:
    """Choose the smallest member within the tolerance; the first is the constant."""
    risk = held_out.risk
    best = int(risk.argmin())
    excess, error = risk - risk[best], held_out.standard_error(less=best)
    limit = error if tolerance == PAIRED else held_out.standard_error()[best]
    if not isinstance(tolerance, str):
        limit = min(limit, float(tolerance) * excess[0])
    within = excess <= limit
    if tolerance != 0.0 and excess[0] <= error[0]:  # any share of what noise gains is nothing
        within[0] = True
    still_falls = 0 < best == len(risk) - 1 and bool((excess > error)[:-1].all())
    return Choice(best, int(within.argmax()), still_falls)


def check_tolerance(name: str, value: Any) -> None:
    """Raise unless the value is "1se", "paired" or a number of at least 0."""
    if isinstance(value, str) and value in (ONE_STANDARD_ERROR, PAIRED):
        return
    try:
        check_real(name, value, 0.0)
    except ValueError as error:
        known = f"'{ONE_STANDARD_ERROR}', '{PAIRED}' or a finite number of at least 0"
        raise ValueError(f"{name} must be {known}; got {value!r}.") from error
