"""Stage: an ensemble while it grows, and the problem on which it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.kernels.rule_weights import term_sums
from obliquerules.learning.boosting.soft_conditions import SmoothedLoss
from obliquerules.learning.boosting.terms import Candidate, Objective
from obliquerules.learning.boosting.workers import ALONE, Workers
from obliquerules.learning.cached import cached, clear_cache
from obliquerules.learning.firing_patterns import FiringPatterns, Patterns, RowPatterns, side_of_first
from obliquerules.learning.refit import JUDGED, TINY, refit, weight_finder, whitened, whitened_lines
from obliquerules.losses import Loss
from obliquerules.rules import Block, Conjunction, Rule, RuleEnsemble, Slope, Term


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with targets and weights, the loss, the ridge, and the objective of rules.

    Rules and their weights are not learned from held-out rows; a selection may test candidates on them.

    With many classes, ``outputs`` are their names, the ridge is one for each of them, and ``price`` is by how much the loss
    must fall for each further class for which a rule has a weight.

    An ``offset`` is a part of the scores that is given, in their shape. With a ``smoothed_loss``, ensembles are not compared by
    their training loss alone. Of all candidates, as the quadratic expansion of the loss ranks them, the first ``most_refitted``
    are refitted. Independent pieces of the search are shared by ``workers``.
    """

    X: Block
    y: Vector
    row_weight: Vector
    loss: Loss
    ridge: Any
    held_out: Mask
    objective: str = "gradient"
    outputs: tuple[str, ...] | None = None
    price: float = 0.0
    offset: Matrix | None = None
    smoothed_loss: SmoothedLoss | None = None
    most_refitted: int = 10
    workers: Workers = ALONE

    @cached_property
    def size(self) -> float:
        """The number of rows; a row of weight 2 counts as two."""
        return float(np.add.reduce(self.row_weight))

    @cached_property
    def learning_weight(self) -> Vector:
        """The weight of each row while rules are grown: zero if it is held out."""
        return np.where(self.held_out, 0.0, self.row_weight)

    @cached_property
    def codes(self) -> Positions:
        """The position of the class of each row."""
        return self.y.astype(np.intp)

    @cached_property
    def shares(self) -> Matrix:
        """The share of each class in each row, 0 or 1."""
        return self.loss.in_shares(self.y)

    @cached_property
    def rows(self) -> tuple[Vector, Vector, Vector]:
        """The target, the learning weight and the offset of each row, as kernels take them."""
        offset = np.zeros(len(self.y)) if self.offset is None else self.offset
        return np.ascontiguousarray(self.y), self.learning_weight, np.ascontiguousarray(offset)


class View(Protocol):
    """What proposers and objectives look at: a stage, or a stage as seen from one class."""

    @property
    def problem(self) -> Problem:
        """The problem of the stage."""

    @property
    def pattern(self) -> Positions:
        """The firing pattern of each row."""

    @property
    def fires(self) -> Mask:
        """Which rules fire on each row, shape (n_samples, n_rules)."""

    @property
    def ridge(self) -> float:
        """The ridge on rule weights."""

    @property
    def gradient(self) -> Vector:
        """The weighted derivative of the loss with respect to a score of each row; zero on held-out rows."""

    @property
    def learning_hessian(self) -> Vector:
        """Its second derivative."""

    @property
    def curvature(self) -> Matrix:
        """The gradient g, the hessian h, and h e for each direction e of the whitened design, a line each."""

    def whitened(self, hessian: Vector) -> Matrix:
        """Return the design in coordinates in which the Hessian of its weights is the identity."""

    @property
    def objective(self) -> Objective:
        """The objective that a rule should maximise."""


def objective_of(view: View) -> Objective:
    """Return the objective that a rule should maximise; see `OBJECTIVES`."""
    kind = view.problem.objective
    if kind == "gradient":
        return Objective(view.gradient, view.pattern)
    hessian = view.learning_hessian
    basis = view.whitened(hessian) if kind == "orthogonal" else None
    return Objective(view.gradient, view.pattern, hessian, view.ridge, basis)


@dataclass(frozen=True, eq=False)
class Stage:
    """An ensemble in training.

    Rows on which the same rules fire have the same score, so the weights are fitted to *firing patterns*, not to rows: each
    pattern with the sum of its row weights and its mean target (see `Loss` for why this is exact). A few dozen patterns stand
    for any number of rows. With slopes, rows have hardly anything in common, and each is a pattern of its own.

    Attributes
    ----------
    conditions : tuple of Conjunction or Slope
    patterns : FiringPatterns or RowPatterns
    weights : array of shape (1 + n_rules,)
        The constant and the rule weights.
    """

    # Whether conditions are refined jointly with weights.
    is_refined: ClassVar[bool] = True

    problem: Problem
    conditions: tuple[Term, ...]
    patterns: Patterns
    weights: Vector

    @classmethod
    def constant(cls, problem: Problem) -> Stage:
        """Return the stage without rules: the best constant."""
        n = len(problem.y)
        best = problem.loss.best_constant(problem.y, problem.learning_weight)
        alike = FiringPatterns(np.ones((1, 1)), np.zeros(n, dtype=np.intp))
        stage = cls(problem, (), alike if problem.smoothed_loss is None else RowPatterns((), n), np.array([best]))
        return stage if problem.offset is None else stage.refitted()

    # ---- the ensemble on the rows

    @property
    def pattern(self) -> Positions:
        """The pattern of each row."""
        return self.patterns.pattern

    @property
    def terms(self) -> tuple[Candidate, ...]:
        """The rules and slopes, each with its values."""
        if isinstance(self.patterns, RowPatterns):
            return self.patterns.terms
        return tuple(Candidate(*one) for one in zip(self.conditions, self.fires.T, strict=True))

    @property
    def ridge(self) -> float:
        """The ridge on rule weights."""
        return float(self.problem.ridge)

    @cached
    def fires(self) -> Mask:
        """Which rules fire on each row, shape (n_samples, n_rules)."""
        fires: Mask = self.patterns.of_rows(self.patterns.design[:, 1:] != 0.0)
        return fires

    @cached
    def score(self) -> Vector:
        """The score of each row."""
        score = self.patterns.scores(self.weights)
        return score if self.problem.offset is None else score + self.problem.offset

    @cached
    def training_loss(self) -> float:
        """The weighted loss over all rows."""
        problem = self.problem
        return float(np.add.reduce(problem.row_weight * problem.loss.value(problem.y, self.score)))

    @cached
    def selection_loss(self) -> float:
        """The loss by which ensembles are compared: half of it with blurred thresholds."""
        # With a smoothed loss, it is known once weights are fitted; without rules, there is nothing to smooth.
        return self.training_loss

    @cached
    def complexity(self) -> int:
        """The complexity of the ensemble, C(f) in the paper."""
        return sum(1 + condition.complexity for condition in self.conditions)

    @property
    def discount(self) -> float:
        """The share of its full price that a unit of complexity costs."""
        return 1.0

    @property
    def ensemble(self) -> RuleEnsemble:
        """The ensemble as a value."""
        rules = [
            Rule(weight / term.scale, factor=term.factor) if isinstance(term, Slope) else Rule(weight, term)
            for weight, term in zip(self.weights[1:], self.conditions, strict=True)
        ]
        return RuleEnsemble(rules, self.weights[0], self.problem.X.columns, self.problem.outputs)

    def has_rule_on(self, covers: Mask) -> bool:
        """Say whether a rule of the ensemble covers exactly these rows or exactly their complement."""
        return side_of_first(covers) in self.patterns.sides

    def scored(self) -> Self:
        """Return the ensemble with nothing kept but how good and how large it is."""
        _ = self.selection_loss, self.complexity
        self.clear_cache()
        return self

    def clear_cache(self) -> None:
        """Forget what can be computed again: of many scored ensembles, few are used again."""
        clear_cache(self)
        clear_cache(self.patterns)

    # ---- derivatives of the loss

    def views(self, current: Candidate | None = None) -> Sequence[View]:  # noqa: ARG002  # one signature for all stages
        """Return what proposers look at to extend a condition, by default the empty one."""
        return (self,)

    @cached
    def objective(self) -> Objective:
        """The objective that the next rule should maximise."""
        return objective_of(self)

    @cached
    def gradient(self) -> Vector:
        """The weighted derivative of the loss with respect to the score of each row; zero on held-out rows."""
        return self.problem.learning_weight * self.problem.loss.gradient(self.problem.y, self.score)

    @cached
    def learning_hessian(self) -> Vector:
        """The weighted second derivative of the loss with respect to the score of each row; zero on held-out rows."""
        return self.problem.learning_weight * self.problem.loss.hessian(self.score)

    @cached
    def curvature(self) -> Matrix:
        """The gradient g, the hessian h, and h e for each direction e of the whitened design, a line each."""
        problem = self.problem
        hessian = problem.row_weight * problem.loss.hessian(self.score)
        if isinstance(self.patterns, RowPatterns):
            directions = whitened_lines(self.patterns.lines, hessian, self.ridge)
        else:
            directions = self.patterns.of_rows(self.whitened(hessian)).T
        lines = np.empty((2 + len(directions), len(hessian)))
        lines[0], lines[1] = self.gradient, hessian
        np.multiply(directions, hessian, out=lines[2:])
        return lines

    def whitened(self, hessian: Vector) -> Matrix:
        """Return the design in coordinates in which the Hessian of the present weights is the identity."""
        return whitened(self.patterns.design, self.patterns.sums(hessian), self.ridge)

    def gains(self, candidates: Sequence[Candidate]) -> Vector:
        """Return by how much each term would lower the penalised loss to second order.

        That is ``(g.q)^2 / 2 (|q_perp|^2 + ridge)``, where q_perp is the part of q that is orthogonal (under the hessian) to
        the present rules, as in orthogonal gradient boosting. For the squared loss it is exact.
        """
        if not candidates:
            return np.zeros(0)
        curvature, terms = self.curvature, np.asarray([one.covers for one in candidates], dtype=np.float64)
        workers = self.problem.workers
        sums = np.concatenate(workers.each(lambda some: term_sums(terms[some], curvature), workers.shares(len(terms))))
        size = sums[:, 1] + self.ridge
        orthogonal = size - np.einsum("ij,ij->i", sums[:, 2:], sums[:, 2:])
        possible = orthogonal > TINY * size
        return np.where(possible, sums[:, 0] ** 2 / (2.0 * np.where(possible, orthogonal, 1.0)), 0.0)

    def expected_losses(self, candidates: Sequence[Candidate]) -> list[tuple[float, int]]:
        """Return the loss to expect with each candidate, and the number of its weights."""
        return [(max(self.training_loss - gain, 0.0), 1) for gain in self.gains(candidates).tolist()]

    # ---- other ensembles, with refitted weights

    def empty_rule(self) -> Candidate:
        """Return the condition that always holds, from which rules are grown."""
        covers = np.ones(len(self.problem.y), dtype=np.bool_)
        return Candidate(Conjunction(), covers, self.objective(covers))

    def with_rule(self, candidate: Candidate, tolerance: float = 0.0) -> Stage:  # noqa: ARG002  # for many classes
        """Return the next stage, with the candidate and refitted weights."""
        start = np.append(self.weights, 0.0)
        if isinstance(self.patterns, RowPatterns) or candidate.is_slope:
            return self._with_each(self.terms, (candidate,), start)[0]
        patterns = self.patterns.extended(candidate.covers)
        return Stage(self.problem, (*self.conditions, candidate.condition), patterns, self._fitted(patterns, start))

    def quick_fits(self, candidates: Sequence[Candidate]) -> list[Stage]:
        """Return the next stage with each candidate, its weights just good enough to score it."""
        workers = self.problem.workers
        if isinstance(self.patterns, FiringPatterns):
            return workers.each(lambda candidate: self.with_rule(candidate).scored(), candidates)
        shares = [candidates[some] for some in workers.shares(len(candidates))]
        start = np.append(self.weights, 0.0)
        found = workers.each(lambda some: self._with_each(self.terms, some, start), shares)
        return [stage for some in found for stage in some]

    def held_out_risk(self, candidate: Candidate) -> float:
        """Return the loss on the held-out rows with the candidate and refitted weights."""
        problem, rows = self.problem, self.problem.held_out
        score = self.with_rule(candidate, JUDGED).score[rows]
        # Not with @: BLAS would start threads for a sum over rows, and add in an order that depends on their number.
        return float(np.sum(problem.row_weight[rows] * problem.loss.value(problem.y[rows], score)))

    def of_terms(self, terms: Sequence[Candidate], start: Vector) -> Stage:
        """Return the stage of one or more other terms."""
        return self._with_each(tuple(terms[:-1]), terms[-1:], start)[0]

    def without(self, index: int) -> Stage:
        """Return the stage without one of its rules."""
        left = [j for j in range(len(self.weights)) if j != index + 1]
        if isinstance(self.patterns, RowPatterns):
            if len(self.conditions) == 1:
                return Stage.constant(self.problem)
            return self.of_terms(self.terms[:index] + self.terms[index + 1 :], self.weights[left])
        patterns = self.patterns.of_columns(left)
        conditions = self.conditions[:index] + self.conditions[index + 1 :]
        return Stage(self.problem, conditions, patterns, self._fitted(patterns, self.weights[left]))

    def with_slopes(self, others: Mapping[Slope, Candidate]) -> Stage:
        """Return the stage with other slopes in the place of its own."""
        if not any(isinstance(one, Slope) and one in others for one in self.conditions):
            return self
        terms = tuple(others.get(one.condition, one) if isinstance(one.condition, Slope) else one for one in self.terms)
        patterns = RowPatterns(terms, len(self.problem.y), self.problem.offset)
        return replace(self, conditions=tuple(one.condition for one in terms), patterns=patterns).refitted()

    def with_ridge(self, ridge: Any) -> Stage:
        """Return the stage with weights fitted with a ridge."""
        if np.array_equal(self.problem.ridge, ridge):
            return self
        return replace(self, problem=replace(self.problem, ridge=ridge)).refitted().scored()

    def with_exact_weights(self) -> Stage:
        """Return the stage of a quick fit with exact weights."""
        return self

    def refitted(self) -> Stage:
        """Return the stage with its weights fitted anew."""
        if isinstance(self.patterns, RowPatterns) and self.conditions:
            return self.of_terms(self.terms, self.weights)
        return replace(self, weights=self._fitted(self.patterns, self.weights))

    def _fitted(self, patterns: Patterns, start: Vector) -> Vector:
        """Return the best weights for patterns, without held-out rows."""
        problem, finer = self.problem, patterns.with_offset(self.problem.offset)
        return refit(finer, problem.y, problem.learning_weight, problem.loss, problem.ridge, start)

    def _with_each(self, common: tuple[Candidate, ...], last: Sequence[Candidate], start: Vector) -> list[Stage]:
        """Fit and score one stage per last term, all sharing the common terms."""
        problem, n = self.problem, len(self.problem.y)
        if not last:
            return []
        lines = RowPatterns((*common, last[0]), n).lines
        ends = np.array([one.covers for one in last], dtype=np.float64)
        finder = weight_finder(lines, *problem.rows, problem.loss, float(problem.ridge))
        weights, losses = finder.run_each(ends, start)
        compared = losses
        if problem.smoothed_loss is not None:
            compared = problem.smoothed_loss.of_each(problem.rows, problem.loss, common, last, weights, losses)
        conditions = tuple(one.condition for one in common)
        found = []
        for one, own, loss, value in zip(last, weights, losses.tolist(), compared.tolist(), strict=True):
            stage = Stage(problem, (*conditions, one.condition), RowPatterns((*common, one), n), own)
            vars(stage).update(training_loss=loss, selection_loss=value)
            found.append(stage)
        return found
