"""Held-out losses: what each row loses under each member of a path, by models that were fitted without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """The losses of the test rows of a fold.

    Attributes
    ----------
    rows : array of shape (n_tested,)
        The positions of the test rows.
    loss : array of shape (n_members, n_tested)
        Their losses under the model of the fold at the complexity of each member of the path.
    share : array of shape (n_tested,) or float
        The share of each row that was tested.
    stopped : str or None
        Why the path of the fold ended before its end, if it did.
    """

    rows: NDArray[np.intp]
    loss: Array
    share: Array | float = 1.0
    stopped: str | None = None

    def at(self, member: int) -> FoldLosses:
        """Return the losses at one member alone."""
        return FoldLosses(self.rows, self.loss[[member]], self.share, self.stopped)

    def risk(self, weight: Array) -> Array:
        """Return the mean loss of the test rows at each member."""
        return np.asarray(np.average(self.loss, axis=1, weights=self.share * weight[self.rows]))


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """The rows that folds test.

    Attributes
    ----------
    weight, observations : array of shape (n_rows,)
        The weight of each row, and how many independent observations it stands for, at least one.
    groups : array of shape (n_rows,) or None
        The number of the group of each row; the rows of a group are one observation.
    """

    weight: Array
    observations: Array
    groups: NDArray[np.intp] | None = None

    def some(self, rows: NDArray[np.bool_]) -> JudgedRows:
        """Return some of the rows."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1].ravel()
        return JudgedRows(self.weight[rows], self.observations[rows], groups)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A table of held-out losses: of tested rows, at each member of a path.

    A row that was tested more than once counts with its mean loss; one that was never tested does not count.

    Attributes
    ----------
    loss : array of shape (n_members, n_tested)
    rows : JudgedRows
        The tested rows.
    """

    loss: Array
    rows: JudgedRows

    @classmethod
    def of(cls, folds: Sequence[FoldLosses], rows: JudgedRows) -> HeldOut:
        """Collect the losses of folds."""
        times, total = np.zeros(len(rows.weight)), np.zeros((len(folds[0].loss), len(rows.weight)))
        for fold in folds:
            times[fold.rows] += fold.share
            total[:, fold.rows] += fold.share * fold.loss
        tested = times > 0.0
        return cls(total[:, tested] / times[tested], rows.some(tested))

    @cached_property
    def _share(self) -> Array:
        """The share of each row in the weight of all."""
        return np.asarray(self.rows.weight / np.add.reduce(self.rows.weight))

    @cached_property
    def risk(self) -> Array:
        """The mean loss at each member."""
        return np.asarray(np.sum(self.loss * self._share, axis=1))

    @np.errstate(over="ignore")
    def standard_error(self, less: int | None = None) -> Array:
        """Return the standard error of each risk or, paired row by row, of its excess over that of another member.

        A row of weight 2 is two observations, and so are two groups.
        """
        loss = self.loss if less is None else self.loss - self.loss[less]
        deviation = self._share * (loss - np.sum(loss * self._share, axis=1, keepdims=True))
        if self.rows.groups is None:
            n, squares = float(np.add.reduce(self.rows.observations)), deviation**2 / self.rows.observations
        else:
            squares = np.array([np.bincount(self.rows.groups, one) for one in deviation]) ** 2
            n = squares.shape[1]
        return np.asarray(np.sqrt(np.sum(squares, axis=1) * n / max(n - 1.0, 1.0)))
