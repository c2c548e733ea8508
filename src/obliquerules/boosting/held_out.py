"""Held-out losses: what each row loses under ensembles that were fitted without it, at each ridge and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Array = NDArray[np.float64]

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """The losses of the test rows of one fold under ensembles that were fitted to its training rows.

    Attributes
    ----------
    rows : array of shape (n_tested,)
        The positions of the test rows.
    loss : array of shape (n_ridges, n_sizes, n_tested)
    stopped : str or None
        Why the path of these ensembles ended before its end, if it did.
    """

    rows: NDArray[np.intp]
    loss: Array
    stopped: str | None = None


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The held-out losses of weighted rows at each of some sizes, from one repetition of the folds or more.

    A row that was tested more than once counts with its mean loss; one that was never tested does not count.

    Attributes
    ----------
    weight, times : array of shape (n_rows,)
        The weight of each row, and how often it was tested.
    total : array of shape (n_ridges, n_sizes, n_rows)
        The sum of its losses.
    folds, repetitions : tuple of array of shape (n_ridges, n_sizes)
        The risk on each fold, and in each repetition.
    nested : array of shape (n_rows,)
        The sum of its losses at the ridge and size that the other folds of a repetition choose.
    stopped : str or None
        Why the path of a fold ended before its end, if one did.
    """

    weight: Array
    times: Array
    total: Array
    folds: tuple[Array, ...]
    repetitions: tuple[Array, ...] = ()
    nested: Array = field(default_factory=lambda: np.zeros(0))
    stopped: str | None = None

    @classmethod
    def of(cls, folds: Sequence[FoldLosses], weight: Array) -> HeldOut:
        """Collect the folds of one repetition; what is nested is left to the caller, who knows how to choose."""
        times, total = np.zeros(len(weight)), np.zeros((*folds[0].loss.shape[:2], len(weight)))
        for fold in folds:
            times[fold.rows] += 1.0
            total[..., fold.rows] += fold.loss
        risks = tuple(np.average(fold.loss, axis=-1, weights=weight[fold.rows]) for fold in folds)
        stopped = next((fold.stopped for fold in folds if fold.stopped is not None), None)
        once = cls(weight, times, total, risks, stopped=stopped)
        return replace(once, repetitions=(once.risk,))

    def __add__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            self.weight,
            self.times + other.times,
            self.total + other.total,
            self.folds + other.folds,
            self.repetitions + other.repetitions,
            self.nested + other.nested,
            self.stopped or other.stopped,
        )

    @cached_property
    def _tested(self) -> NDArray[np.bool_]:
        return self.times > 0.0

    @cached_property
    def _share(self) -> Array:
        """The share of each tested row in their weight."""
        weight = self.weight[self._tested]
        return np.asarray(weight / np.add.reduce(weight))

    def _loss(self, ridge: int) -> Array:
        """Return the mean losses of the tested rows at each size."""
        return np.asarray(self.total[ridge][:, self._tested] / self.times[self._tested])

    @cached_property
    def risk(self) -> Array:
        """The mean loss at each ridge and size."""
        return np.array([np.sum(self._loss(ridge) * self._share, axis=-1) for ridge in range(len(self.total))])

    @np.errstate(over="ignore")
    def standard_error(self, ridge: int, less: tuple[int, int] | None = None) -> Array:
        """Return the standard error of the risk at each size or, paired row by row, of its excess over another ridge and size.

        Distinct rows are independent; a row of weight 2 is one observation, not two.
        """
        loss = self._loss(ridge)
        if less is not None:
            loss = loss - self._loss(less[0])[less[1]]
        return self._error(loss)

    def _error(self, loss: Array) -> Array:
        """Return the standard error of the mean of the losses of the tested rows, which are along the last axis."""
        mean = np.sum(loss * self._share, axis=-1, keepdims=True)
        return np.asarray(np.sqrt(np.sum((self._share * (loss - mean)) ** 2, axis=-1)))

    @cached_property
    def nested_risk(self) -> tuple[float, float]:
        """The mean of the nested losses, and its standard error: no row has a part in the choice by which it is judged."""
        loss = self.nested[self._tested] / self.times[self._tested]
        return float(np.sum(loss * self._share)), float(self._error(loss))

    def doubt(self, ridge: int, less: tuple[int, int]) -> Array:
        """Return how far the excess of each size over another ridge and size may be from its mean over all repetitions.

        It is the half-width of a confidence interval by Student's t, which is wide for few repetitions; infinite after one. It
        says how far the excess depends on which rows come into the same fold.
        """
        if (n := len(self.repetitions)) < 2:
            return np.full(self.total.shape[1], np.inf)
        excess = np.array([risk[ridge] - risk[less] for risk in self.repetitions])
        return np.asarray(stdtrit(n - 1, 0.5 + 0.5 * CONFIDENCE) * excess.std(axis=0, ddof=1) / np.sqrt(n))
