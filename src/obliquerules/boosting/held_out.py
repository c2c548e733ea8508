"""Held-out losses: what each row loses under ensembles that were fitted without it, in each variant and at each size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Array = NDArray[np.float64]
Arrays = tuple[Array, ...]

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """The losses of the test rows of one fold under ensembles that were fitted to its training rows.

    Attributes
    ----------
    rows : array of shape (n_tested,)
        The positions of the test rows.
    loss : sequence of arrays of shape (n_sizes, n_tested)
        One for each variant, that is a family of paths at a ridge, whose sizes are its own.
    stopped : str or None
        Why the path of these ensembles ended before its end, if it did.
    share : array of shape (n_tested,) or float
        The share of each row that was tested.
    """

    rows: NDArray[np.intp]
    loss: Sequence[Array]
    stopped: str | None = None
    share: Array | float = 1.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The held-out losses of weighted rows at each of some sizes, from one repetition of the folds or more.

    A row that was tested more than once counts with its mean loss; one that was never tested does not count.

    Attributes
    ----------
    weight, observations : array of shape (n_rows,)
        The weight of each row, and how many independent observations it stands for, at least one.
    times : array of shape (n_rows,)
        How often it was tested; the shares of a row that were tested add up.
    total : tuple of arrays of shape (n_sizes, n_rows)
        The sum of its losses, in each variant.
    folds, repetitions : tuple of tuples of arrays of shape (n_sizes,)
        The risk on each fold, and in each repetition, in each variant.
    nested : array of shape (n_rows,)
        The sum of its losses in the variant and at the size that the other folds of a repetition choose.
    stopped : str or None
        Why the path of a fold ended before its end, if one did.
    """

    weight: Array
    observations: Array
    times: Array
    total: Arrays
    folds: tuple[Arrays, ...]
    repetitions: tuple[Arrays, ...] = ()
    nested: Array = field(default_factory=lambda: np.zeros(0))
    stopped: str | None = None

    @classmethod
    def of(cls, folds: Sequence[FoldLosses], weight: Array, observations: Array | float = 1.0) -> HeldOut:
        """Collect the folds of one repetition; what is nested is left to the caller, who knows how to choose."""
        times, total = np.zeros(len(weight)), tuple(np.zeros((len(loss), len(weight))) for loss in folds[0].loss)
        for fold in folds:
            times[fold.rows] += fold.share
            for losses, loss in zip(total, fold.loss, strict=True):
                losses[:, fold.rows] += fold.share * loss
        risks = tuple(
            tuple(np.average(loss, axis=-1, weights=fold.share * weight[fold.rows]) for loss in fold.loss) for fold in folds
        )
        stopped = next((fold.stopped for fold in folds if fold.stopped is not None), None)
        once = cls(weight, np.broadcast_to(observations, weight.shape), times, total, risks, stopped=stopped)
        return replace(once, repetitions=(once.risk,))

    def __add__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            self.weight,
            self.observations,
            self.times + other.times,
            tuple(own + others for own, others in zip(self.total, other.total, strict=True)),
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

    def _loss(self, variant: int) -> Array:
        """Return the mean losses of the tested rows at each size."""
        return np.asarray(self.total[variant][:, self._tested] / self.times[self._tested])

    @cached_property
    def risk(self) -> Arrays:
        """The mean loss at each size, in each variant."""
        return tuple(np.sum(self._loss(variant) * self._share, axis=-1) for variant in range(len(self.total)))

    @np.errstate(over="ignore")
    def standard_error(self, variant: int, less: tuple[int, int] | None = None) -> Array:
        """Return the standard error of the risk at each size or, paired row by row, of its excess over another one.

        A row of weight 2 is two observations.
        """
        loss = self._loss(variant)
        if less is not None:
            loss = loss - self._loss(less[0])[less[1]]
        return self._error(loss)

    def _error(self, loss: Array) -> Array:
        """Return the standard error of the mean of the losses of the tested rows, which are along the last axis."""
        mean = np.sum(loss * self._share, axis=-1, keepdims=True)
        return np.asarray(np.sqrt(np.sum((self._share * (loss - mean)) ** 2 / self.observations[self._tested], axis=-1)))

    @cached_property
    def nested_risk(self) -> tuple[float, float]:
        """The mean of the nested losses, and its standard error: no row has a part in the choice by which it is judged."""
        loss = self.nested[self._tested] / self.times[self._tested]
        return float(np.sum(loss * self._share)), float(self._error(loss))

    def doubt(self, variant: int, less: tuple[int, int]) -> Array:
        """Return how far the excess of each size over another variant and size may be from its mean over all repetitions.

        It is the half-width of a confidence interval by Student's t, which is wide for few repetitions; infinite after one. It
        says how far the excess depends on which rows come into the same fold.
        """
        if (n := len(self.repetitions)) < 2:
            return np.full(len(self.total[variant]), np.inf)
        excess = np.array([risk[variant] - risk[less[0]][less[1]] for risk in self.repetitions])
        return np.asarray(stdtrit(n - 1, 0.5 + 0.5 * CONFIDENCE) * excess.std(axis=0, ddof=1) / np.sqrt(n))
