"""Method: a way to learn rules, with its parameters; every estimator has one, and nothing else learns."""

from __future__ import annotations

import dataclasses
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from obliquerules.losses import Loss
from obliquerules.parameters import check_declared, real, seed, verbosity
from obliquerules.rows.sample import Sample
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.labels import Labels
from obliquerules.solvers.rule_weights import weights_of_patterns

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """What is learned from.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    y, weight : array of shape (n_samples,)
        Targets as the numbers that the loss takes, and the weights of the rows.
    loss : Loss
    feature_names : tuple of str
    labels : Labels or None
        What the targets 0 and 1 stand for, if they are classes.
    learner : str
        Who learns: what reports of progress begin with.
    """

    X: NDArray[np.float64]
    y: Vector
    weight: Vector
    loss: Loss
    feature_names: tuple[str, ...]
    labels: Labels | None = None
    learner: str = "fit"

    @cached_property
    def sample(self) -> Sample:
        """The rows made distinct."""
        return Sample.of(self.X, self.y, self.weight)

    def on(self, rows: NDArray[Any], weight: Vector | None = None) -> Task:
        """Return the task on some of the rows, with other weights if they are given."""
        kept = self.weight[rows] if weight is None else weight
        return dataclasses.replace(self, X=self.X[rows], y=self.y[rows], weight=kept)

    def report(self, progress: str) -> None:
        """Say on standard error how far learning has come."""
        sys.stderr.write(f"[{self.learner}] {progress}\n")


@dataclass(frozen=True, eq=False)
class Growth:
    """What was learned.

    Attributes
    ----------
    path : tuple of RuleEnsemble
        Ensembles of growing complexity, the first of them the constant.
    n_iter : int
        The number of steps that it took.
    chosen : int
        The position of the one that predicts; -1 for the last.
    notes : dict
        What else is known of the fit, by the name of the attribute that the estimator gets.
    """

    path: tuple[RuleEnsemble, ...]
    n_iter: int
    chosen: int = -1
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to learn rules.

    A subclass is a frozen dataclass whose fields are its parameters, each declared in one line with the functions of
    `obliquerules.parameters`: estimators take signature, checks and documentation from there. Making one checks them.
    """

    ridge: float = real(0.0, "Penalty on squared rule weights, not on the constant, measured in rows.")
    random_state: Any = seed("Draws what is random.")
    verbose: int = verbosity("If not zero, report progress on standard error.")

    def __post_init__(self) -> None:
        check_declared(self)
        self.check()

    def check(self) -> None:  # noqa: B027  # most have nothing to say
        """Raise if parameters that are right by themselves do not fit together; a subclass says which."""

    def check_task(self, task: Task) -> None:  # noqa: B027  # the same
        """Raise, before any work is done, if the parameters do not fit what is to be learned; a subclass says when."""

    @abstractmethod
    def grow(self, task: Task) -> Growth:
        """Learn a path of ensembles."""

    @property
    def plain(self) -> Method:
        """The method that grows one path and does nothing else, such as without cross-validation: this one, mostly."""
        return self

    def reseeded(self, seed: int) -> Self:
        """Return the same method with a seed of its own, and silent: for fits inside a fit."""
        return dataclasses.replace(self, random_state=seed, verbose=0)

    def penalty(self, loss: Loss, y: Vector, weight: Vector) -> float:
        """Return the ridge under which weights of rules are fitted to these targets, in units of the loss."""
        return self.ridge * loss.curvature(y, weight)

    def refitted(self, ensemble: RuleEnsemble, sample: Sample, loss: Loss, start: Vector, fixed: NDArray[np.bool_]) -> Vector:
        """Return the constant and the weights of the rules, fitted as in `grow`; the fixed ones as they are at the start."""
        ridge = self.penalty(loss, sample.y, sample.weight)
        design, pattern = firing_patterns(ensemble, sample.X)
        return weights_of_patterns(design, pattern, sample.y, sample.weight, loss, ridge, start, fixed=fixed)


def firing_patterns(ensemble: RuleEnsemble, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return which rules fire together, with a column of ones before them, and which of these patterns each row has."""
    fires, pattern = np.unique(ensemble.fires(X), axis=0, return_inverse=True)
    return np.column_stack([np.ones(len(fires)), fires]), pattern.ravel()
