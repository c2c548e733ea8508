"""Class stage: an ensemble in training with many classes, which share its rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.kernels.rule_weights import weighted_products
from obliquerules.learning.boosting.stage import Problem, Stage, View, objective_of
from obliquerules.learning.boosting.terms import Candidate, Objective
from obliquerules.learning.cached import cached
from obliquerules.learning.firing_patterns import FiringPatterns, Patterns, RowPatterns
from obliquerules.learning.refit import EXACT, JUDGED, TINY, refit, whitened

# The number of candidates to refit at a time: many classes propose much the same.
MOST_REFITTED = 5


@dataclass(frozen=True, eq=False)
class ClassView:
    """A stage as seen from one of its classes: what proposers and objectives look at."""

    stage: ClassStage
    output: int
    problem: Problem
    pattern: Positions
    ridge: float
    gradient: Vector

    @property
    def fires(self) -> Mask:
        """Which rules fire on each row."""
        return self.stage.fires

    @cached
    def learning_hessian(self) -> Vector:
        """The weighted second derivative with respect to the score of the class."""
        mean = self.stage.means[self.pattern, self.output]
        return np.asarray(self.problem.learning_weight * mean * (1.0 - mean))

    def whitened(self, hessian: Vector) -> Matrix:
        """Return the whitened design of the rules with a weight for the class."""
        design = np.ascontiguousarray(self.stage.patterns.design[:, self.stage.support[:, self.output]])
        return whitened(design, self.stage.patterns.sums(hessian), self.ridge)

    @cached
    def curvature(self) -> Matrix:
        """The lines of `Stage.curvature`, for the score of the class."""
        hessian = self.learning_hessian
        directions = self.stage.patterns.of_rows(self.whitened(hessian)).T
        return np.vstack([self.gradient, hessian, directions * hessian])

    @cached
    def objective(self) -> Objective:
        """The objective that a rule for the class should maximise."""
        return objective_of(self)


@dataclass(frozen=True, eq=False)
class BestObjective:
    """The largest of the objectives of several classes."""

    objectives: Sequence[Objective]
    pull: Callable[[Mask], Vector]

    def __call__(self, covers: Mask) -> float:
        """Return the objective of a rule on these rows for its best class."""
        if all(objective.mass is None for objective in self.objectives):
            return float(np.abs(self.pull(covers)).max())
        return max(objective(covers) for objective in self.objectives)


@dataclass(frozen=True, eq=False)
class ClassStage(Stage):
    """An ensemble in training, with a score for each class.

    The weights have a column for each class. K - 1 scores would do for K classes, but with K of them a rule can have a
    weight for any single class, and no class is a reference. The constants add up to zero.

    Attributes
    ----------
    support : array of shape (1 + n_rules, n_classes)
        Whether the constant, and each rule, has a weight for each class.
    focus : tuple of int
        The classes that the next rule should follow; all, if none is named. Where a rule was taken away, they are its classes.
    rate : float
        By how much the last rule lowered the loss for each unit of its complexity; infinite before the first.
    """

    is_refined: ClassVar[bool] = False

    support: Mask
    focus: tuple[int, ...] = ()
    rate: float = math.inf

    @classmethod
    def constant(cls, problem: Problem) -> ClassStage:
        """Return the stage without rules: the best constants."""
        n, best = len(problem.y), problem.loss.best_constant(problem.y, problem.learning_weight)
        problem, support = replace(problem, most_refitted=MOST_REFITTED), np.ones((1, len(best)), dtype=np.bool_)
        patterns = FiringPatterns(np.ones((1, 1)), np.zeros(n, dtype=np.intp)).with_offset(problem.offset)
        stage = cls(problem, (), patterns, best[None, :], support)
        return stage if problem.offset is None else stage.refitted()

    # ---- derivatives of the loss

    def views(self, current: Candidate | None = None) -> Sequence[View]:
        """Return the views of the classes for which a condition has a weight, by default of all."""
        if current is None:
            return self._views
        if not current.tests:
            followed = self.focus
        else:
            followed = tuple(np.flatnonzero(self.classes_with_weight([current])[0][0]).tolist())
        return tuple(self._views[output] for output in followed) or self._views

    @cached
    def _views(self) -> tuple[ClassView, ...]:
        gradients, ridges = np.ascontiguousarray(self.gradient.T), self.ridges.tolist()
        return tuple(
            ClassView(self, output, self.problem, self.pattern, ridge, gradient)
            for output, (ridge, gradient) in enumerate(zip(ridges, gradients, strict=True))
        )

    @cached
    def objective(self) -> Any:
        """The objective that the next rule should maximise, for any class."""
        return BestObjective([view.objective for view in self._views], self.pull)

    @property
    def ridges(self) -> Vector:
        """The ridge on weights for each class."""
        return np.asarray(self.problem.ridge)

    @cached
    def means(self) -> Matrix:
        """The probability of each class for each pattern."""
        score, offset = self.patterns.design @ self.weights, self.patterns.offset
        return self.problem.loss.inverse_link(score if offset is None else score + offset)

    @cached
    def gradient(self) -> Matrix:
        """The weighted derivative of the loss with respect to each score of each row; zero on held-out rows."""
        return np.asarray(self.problem.learning_weight[:, None] * (self.means[self.pattern] - self.problem.shares))

    @cached
    def complexity(self) -> int:
        """The complexity of the ensemble: of its conditions, and one for each weight of a rule."""
        return int(self.support[1:].sum()) + int(sum(condition.complexity for condition in self.conditions))

    @property
    def discount(self) -> float:
        """The share of its full price that a unit of complexity costs here.

        A path goes on where no rule is worth the full price, and then the price is what the last rule was worth: otherwise
        each rule would have a weight for one class, because the second would have to be worth more than the first. It is never
        below that of the Bayesian information criterion.
        """
        full = self.problem.price
        return float(self._price_at(self.rate)) / full if full > 0.0 else 1.0

    def _price_at(self, rate: Any) -> Any:
        """Return the price of a unit of complexity that lowers the loss by this rate, within bounds."""
        return np.minimum(np.maximum(rate, 0.5 * math.log(self.problem.size)), self.problem.price)

    # ---- the classes for which a rule has a weight

    def pull(self, covers: Mask) -> Vector:
        """Return for each class the sum of the gradient: the expected number of rows less the observed."""
        weight = covers * self.problem.learning_weight
        return np.asarray(np.einsum("p,pk->k", self.patterns.sums(weight), self.means) - self._observed(weight))

    def _observed(self, weight: Vector) -> Vector:
        """Return the number of rows of each class."""
        return np.asarray(np.bincount(self.problem.codes, weight, self.support.shape[1]), dtype=np.float64)

    @cached
    def _lines(self) -> Matrix:
        """A line of ones, then one for each class with its means."""
        return np.ascontiguousarray(np.vstack([np.ones(len(self.means)), self.means.T]))

    def _derivatives(self, weights: Sequence[Vector]) -> tuple[Vector, Vector]:
        """Return gradients and Hessians of the constants, on rows with each of these weights."""
        products = np.array([weighted_products(self._lines, self.patterns.sums(weight)) for weight in weights])
        expected, own = products[:, 0, 1:], np.arange(products.shape[1] - 1)
        hessian = -products[:, 1:, 1:]
        hessian[:, own, own] += expected
        return expected - np.array([self._observed(weight) for weight in weights]), hessian

    @cached
    def _inverse_of_constants(self) -> Matrix:
        """The inverse of the Hessian of the constants, without the direction common to all."""
        total = self._derivatives([self.problem.learning_weight])[1][0]
        size = max(float(np.trace(total)), np.finfo(np.float64).tiny / TINY)
        inverse = np.linalg.inv(total + size / len(total) ** 2 + TINY * size * np.eye(len(total)))
        return np.asarray(inverse, dtype=np.float64)

    def classes_with_weight(self, candidates: Sequence[Candidate], sizes: Positions | None = None) -> tuple[Mask, Vector]:
        """Return the classes for which each rule should have a weight, and the fall of the penalised loss.

        Both are to second order, with the constants free and the other rules fixed. Classes are taken one at a time, always the
        one that lowers the loss most, as long as each is worth its price or, for its unit of complexity, as much as the others
        are for theirs; ``sizes`` are the complexities of the conditions.
        """
        if sizes is None:
            sizes = np.array([candidate.condition.complexity for candidate in candidates])
        pull, left, least = self._without_constants(candidates)
        chosen, gain, going = np.zeros(pull.shape, dtype=np.bool_), np.zeros(len(pull)), np.arange(len(pull))
        for n_taken in range(pull.shape[1]):
            # What is left of a class that is taken, or of one that follows from those, is rounding error.
            own = left.diagonal(axis1=1, axis2=2)
            worth = 0.5 * pull * pull / np.maximum(own, least) * (own > least)
            price = self._price_at(np.minimum(self.rate, gain[going] / (sizes[going] + n_taken))) if n_taken else 0.0
            best, most = worth.argmax(axis=1), worth.max(axis=1)
            goes = most > price
            if not goes.any():
                break
            going, best = going[goes], best[goes]
            chosen[going, best] = True
            gain[going] += most[goes]
            # Eliminate the chosen class of each rule from its gradient and Hessian.
            pull, left, least, rules = pull[goes], left[goes], least[goes], np.arange(len(best))
            column = left[rules, :, best] / left[rules, best, best][:, None]
            pull = pull - column * pull[rules, best][:, None]
            left = left - column[:, :, None] * left[rules, best][:, None, :]
            pull[chosen[going]] = 0.0
        return chosen, gain

    def _without_constants(self, candidates: Sequence[Candidate]) -> tuple[Vector, Vector, Vector]:
        """Return gradients, Hessians (constants profiled out) and least curvatures of several rules."""
        weighted = [one.covers * self.problem.learning_weight for one in candidates]
        pull, part = self._derivatives(weighted)
        ridges, whole = np.diag(self.ridges), part
        if any(one.is_slope for one in candidates):
            # The square of 0 or 1 is the same, that of a slope is not.
            whole = self._derivatives([one.covers * weight for one, weight in zip(candidates, weighted, strict=True)])[1]
        own = whole.diagonal(axis1=1, axis2=2)
        least = np.maximum(1e-9 * (own + self.ridges), np.finfo(np.float64).tiny)
        return pull, whole - part @ self._inverse_of_constants @ part + ridges, least

    def gains(self, candidates: Sequence[Candidate]) -> Vector:
        """Return by how much each term would lower the penalised loss to second order."""
        ones = np.ones(len(candidates), dtype=np.intp)
        return self.classes_with_weight(candidates, ones)[1] if candidates else np.zeros(0)

    def expected_losses(self, candidates: Sequence[Candidate]) -> list[tuple[float, int]]:
        """Return the loss to expect with each candidate, and the number of its weights."""

        def expected(share: slice) -> list[tuple[float, int]]:
            if not candidates[share]:
                return []
            chosen, gain = self.classes_with_weight(candidates[share])
            losses, counts = np.maximum(self.training_loss - gain, 0.0), np.maximum(chosen.sum(axis=1), 1)
            return list(zip(losses.tolist(), counts.tolist(), strict=True))

        workers = self.problem.workers
        return [one for some in workers.each(expected, workers.shares(len(candidates))) for one in some]

    # ---- other ensembles, with refitted weights

    def with_rule(self, candidate: Candidate, tolerance: float = EXACT) -> ClassStage:
        """Return the next stage, with the candidate and refitted weights."""
        patterns: Patterns
        chosen = self.classes_with_weight([candidate])[0]
        support, start = np.vstack([self.support, chosen]), np.vstack([self.weights, np.zeros(chosen.shape)])
        if isinstance(self.patterns, RowPatterns) or candidate.is_slope:
            patterns = RowPatterns((*self.terms, candidate), len(self.problem.y), self.problem.offset)
        else:
            patterns = self.patterns.extended(candidate.covers)
        weights = self._class_weights(patterns, start, support, tolerance)
        conditions = (*self.conditions, candidate.condition)
        grown = ClassStage(self.problem, conditions, patterns, weights, support, rate=self.rate)
        size = int(chosen.sum()) + candidate.condition.complexity
        # A rule in the place of another is worth more than the last one: what it takes over was there before.
        rated = grown if self.focus else replace(grown, rate=(self.training_loss - grown.training_loss) / size)
        vars(rated).update(training_loss=grown.training_loss, complexity=self.complexity + size)
        return rated

    def quick_fits(self, candidates: Sequence[Candidate]) -> list[Stage]:
        """Return the next stage with each of some candidates, with weights just good enough to score it."""
        return self.problem.workers.each(lambda candidate: self.with_rule(candidate, JUDGED).scored(), candidates)

    def refitted(self) -> ClassStage:
        """Return the stage with its weights fitted anew."""
        return replace(self, weights=self._class_weights(self.patterns, self.weights, self.support))

    # The weights of a quick fit are not exact.
    with_exact_weights = refitted

    def without(self, index: int) -> ClassStage:
        """Return the stage without one of its rules, for another rule on the same classes."""
        left = [j for j in range(len(self.weights)) if j != index + 1]
        if isinstance(self.patterns, RowPatterns):
            # Without its only slope, an ensemble stays one of rows until it is grown anew.
            patterns: Patterns = replace(self.patterns, terms=self.terms[:index] + self.terms[index + 1 :])
        else:
            patterns = self.patterns.of_columns(left)
        weights = self._class_weights(patterns, self.weights[left], self.support[left])
        conditions = self.conditions[:index] + self.conditions[index + 1 :]
        focus = tuple(np.flatnonzero(self.support[index + 1]).tolist())
        return ClassStage(self.problem, conditions, patterns, weights, self.support[left], focus, self.rate)

    def _class_weights(self, patterns: Patterns, start: Matrix, support: Mask, tolerance: float = EXACT) -> Matrix:
        """Return the best weights for patterns, without held-out rows."""
        targets = self.problem.shares, self.problem.learning_weight, self.problem.loss
        return refit(patterns, *targets, self.ridges, start, free=support, tolerance=tolerance)
