"""Problem: the data that rules are grown on, and the ensemble as it stands while it grows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from obliquerules.losses import Loss
from obliquerules.rules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.solvers.rule_weights import corrective_weights

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with targets and weights, a loss, and how much rule weights are shrunk.

    Rows marked as held out have no part in growing rules; they are there for a selection that asks how a candidate does on
    rows it has not seen. The weights of the finished ensemble are fitted to all rows.
    """

    X: NDArray[np.float64]
    y: Vector
    row_weight: Vector
    loss: Loss
    ridge: float
    held_out: Mask

    @cached_property
    def learning_weight(self) -> Vector:
        """The weight of each row while rules are grown: zero if it is held out."""
        return np.where(self.held_out, 0.0, self.row_weight)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A condition under consideration, with the rows that meet it and its objective |g.q|."""

    condition: Conjunction
    covers: Mask
    objective: float

    def extended(self, proposition: Proposition, covers: Mask, gradient: Vector) -> Candidate:
        """Return the candidate with one more proposition, which holds on the rows ``covers``."""
        both = self.covers & covers
        return Candidate(self.condition & proposition, both, abs(float(gradient[both].sum())))


@dataclass(frozen=True, eq=False)
class Stage:
    """An ensemble in training.

    Rows on which the same rules fire have the same score, so the weights are fitted to *firing patterns*, not to rows: each
    pattern with the sum of its row weights and its mean target (see `Loss` for why this is exact). A few dozen patterns stand
    for any number of rows.

    Attributes
    ----------
    conditions : tuple of Conjunction
    design : array of shape (n_patterns, 1 + n_rules)
        A column of ones, then for each pattern which rules fire.
    pattern : array of shape (n_samples,)
        The pattern of each row.
    weights : array of shape (1 + n_rules,)
        The constant and the rule weights.
    """

    problem: Problem
    conditions: tuple[Conjunction, ...]
    design: NDArray[np.float64]
    pattern: NDArray[np.intp]
    weights: Vector

    @classmethod
    def constant(cls, problem: Problem) -> Stage:
        """Return the stage without rules: the best constant."""
        n = len(problem.y)
        best = problem.loss.best_constant(problem.y, problem.row_weight)
        return cls(problem, (), np.ones((1, 1)), np.zeros(n, dtype=np.intp), np.array([best]))

    @cached_property
    def gradient(self) -> Vector:
        """The weighted derivative of the loss in the score of each row; zero on rows that are held out."""
        problem = self.problem
        score = (self.design @ self.weights)[self.pattern]
        return problem.learning_weight * problem.loss.gradient(problem.y, score)

    def everything(self) -> Candidate:
        """Return the condition that always holds, from which rules are grown."""
        covers = np.ones(len(self.problem.y), dtype=np.bool_)
        return Candidate(Conjunction(), covers, abs(float(self.gradient.sum())))

    def _with_column(self, covers: Mask) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return design and patterns with one more rule: pattern p becomes 2p where it is silent, 2p + 1 where it fires."""
        repeated = np.repeat(self.design, 2, axis=0)
        fired = np.tile([0.0, 1.0], len(self.design))[:, None]
        return np.hstack([repeated, fired]), 2 * self.pattern + covers

    def _corrected(self, design: NDArray[np.float64], pattern: NDArray[np.intp], row_weight: Vector) -> Vector:
        problem = self.problem
        weight = np.bincount(pattern, row_weight, len(design)).astype(np.float64)
        target = np.bincount(pattern, row_weight * problem.y, len(design))
        met = weight > 0.0
        start = np.append(self.weights, 0.0)
        return corrective_weights(
            design[met], target[met] / weight[met], weight[met], problem.loss, problem.ridge, start
        ).weights

    def held_out_risk(self, candidate: Candidate) -> float:
        """Return the loss on the held-out rows once the candidate is added and all weights are refitted to the others."""
        problem = self.problem
        design, pattern = self._with_column(candidate.covers)
        score = design @ self._corrected(design, pattern, problem.learning_weight)
        rows = problem.held_out
        # Not with @: BLAS would wake threads for a sum over rows, and add in an order that depends on their number.
        return float(np.sum(problem.row_weight[rows] * problem.loss.value(problem.y[rows], score[pattern[rows]])))

    def with_rule(self, candidate: Candidate) -> Stage:
        """Return the next stage: the candidate added, all weights refitted to all rows."""
        design, pattern = self._with_column(candidate.covers)
        weights = self._corrected(design, pattern, self.problem.row_weight)
        met, pattern = np.unique(pattern, return_inverse=True)
        return Stage(self.problem, (*self.conditions, candidate.condition), design[met], pattern, weights)

    def ensemble(self, feature_names: tuple[str, ...] | None = None) -> RuleEnsemble:
        """Return the ensemble as a value."""
        rules = [Rule(weight, condition) for weight, condition in zip(self.weights[1:], self.conditions, strict=True)]
        return RuleEnsemble(rules, self.weights[0], feature_names)
