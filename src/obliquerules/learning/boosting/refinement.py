"""Refinement: conditions made soft, moved jointly with rule weights, and made hard again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.kernels.soft_rules import SoftRules
from obliquerules.learning.boosting.soft_conditions import SoftConditions, SoftTest, Standardised
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.cached import RecentCache
from obliquerules.losses import NO_FORMULA
from obliquerules.rules import Conjunction, Proposition, Slope, Term, Test
from obliquerules.rules.rounding.thresholds import middle_of_gap
from obliquerules.rules.rounding.votes import in_whole_numbers

# The conditions of each rule.
Soft = Sequence[Sequence[SoftTest]]
# A condition, and the rows on which it holds.
Placed = tuple[Test, Mask]

# Sharpness of the sigmoids, for sums of standard deviation one.
SHARPNESS = 16.0
# Maximum number of refinement steps on all rows after a subsampled search.
STEPS_ON_ALL_ROWS = 4
# The curvature of a row counts as at least this share of that at the best constant.
LEAST_CURVATURE = 4e-3
# The number of conditions whose rows are kept.
MOST_KEPT = 64


@dataclass(frozen=True, eq=False)
class Refiner:
    """Moves all numbers of an ensemble at once; its variables stay.

    Each condition ``x.w >= t`` becomes ``sigmoid(sharpness (z.w - t))`` on standardised inputs z, and a rule the product of its
    conditions. Levels, dates and 0/1 columns by themselves stay as they are. After the descent, thresholds are placed in the
    middle of gaps again, and the rule weights are fitted to the hard conditions.
    """

    conditions: SoftConditions
    problem: Problem
    _recent: RecentCache[Candidate] = field(default_factory=lambda: RecentCache(MOST_KEPT))

    def transferred(self, stage: Stage, ridge: Any) -> Stage:
        """Refit an ensemble on these rows with a ridge, refined if that lowers its loss."""
        refiner = replace(self, problem=replace(self.problem, ridge=ridge))
        constant = Stage.constant(refiner.problem)
        if not stage.conditions:
            return constant
        terms = [self._recent.get(one, partial(self._term, one)) for one in stage.conditions]
        here = constant.of_terms(terms, stage.weights)
        placed = refiner._hardened(here, *refiner._soft(here)) or here
        refined = refiner.refined(placed, STEPS_ON_ALL_ROWS)
        return placed if refined is None or placed.selection_loss < refined.selection_loss else refined

    def refined(self, stage: Stage, n_steps: int) -> Stage | None:
        """Return the refined ensemble; None if nothing moves or a rule would fire always or never."""
        soft, start = self._soft(stage)
        compiled = self.problem.loss.family != NO_FORMULA
        if not compiled or not any(one.movable for rule in soft for one in rule):
            return None
        found = self._kernel(soft, len(stage.weights)).descend(start, SHARPNESS, n_steps)
        return None if found is None else self._hardened(stage, soft, found)

    def _soft(self, stage: Stage) -> tuple[Soft, Vector]:
        """Return the conditions of each rule made soft, a slope as itself, and the parameters.

        These are the rule weights, then the weights and the threshold of each condition.
        """
        tests = ([one] if isinstance(one, Slope) else one.propositions for one in stage.conditions)
        soft = [[self.conditions.soft(test) for test in rule] for rule in tests]
        return soft, np.concatenate([stage.weights, *(np.append(one.weights, one.threshold) for rule in soft for one in rule)])

    def _kernel(self, soft: Soft, n_weights: int) -> SoftRules:
        problem, rows, flat = self.problem, self.conditions.rows, [one for rule in soft for one in rule]
        place = {key: at for at, key in enumerate(dict.fromkeys(key for one in flat for key in one.inputs))}
        some = problem.X.rows(rows)
        # A single weight is only a unit, and does not move.
        moving = [[*[one.movable and len(one.weights) > 1] * len(one.weights), one.movable] for one in flat]
        # A ridge in rows is a smaller share of all rows than of some of them.
        share = float(np.add.reduce(problem.row_weight[rows])) / problem.size
        return SoftRules(
            np.array(
                [key.values if isinstance(key, Standardised) else np.asarray(key(some), dtype=np.float64) for key in place]
            ),
            problem.y[rows],
            problem.row_weight[rows],
            np.zeros(rows.stop) if problem.offset is None else np.ascontiguousarray(problem.offset[rows]),
            np.array([index for index, rule in enumerate(soft) for _ in rule], dtype=np.intc),
            np.cumsum([0, *(len(one.weights) for one in flat)]).astype(np.intc),
            np.array([place[key] for one in flat for key in one.inputs], dtype=np.intc),
            np.array([one.movable for one in flat], dtype=np.uint8),
            np.array([isinstance(one.test, Proposition) and one.test.missing for one in flat], dtype=np.uint8),
            np.array([True] * n_weights + [moves for one in moving for moves in one], dtype=np.uint8),
            len(soft),
            problem.loss.family,
            share * float(problem.ridge),
            problem.loss.power,
            LEAST_CURVATURE * float(problem.loss.curvature(problem.y, problem.row_weight)),
        )

    def _hardened(self, stage: Stage, soft: Soft, found: Vector) -> Stage | None:
        """Return the ensemble of these parameters; None if a rule fires always or never."""
        at, terms, numbers = len(stage.weights), [], found.tolist()
        for term, rule in zip(stage.terms, soft, strict=True):
            placed = []
            for one in rule:
                end = at + len(one.weights)
                hard = None if term.is_slope else self._hard(one, numbers[at:end], numbers[end])
                placed += [] if hard is None else [hard]
                at = end + 1
            if term.is_slope:
                terms.append(term)
                continue
            if len(placed) < len(rule):
                return None
            covers = reduce(np.logical_and, [rows for _, rows in placed])
            if not 0 < np.count_nonzero(covers) < len(covers):
                return None
            terms.append(Candidate(Conjunction(test for test, _ in placed), covers))
        return stage.of_terms(terms, found[: len(stage.weights)])

    def _hard(self, one: SoftTest, weights: Sequence[float], threshold: float) -> Placed | None:
        """Return a condition in original units with its rows, if there is a gap for its threshold."""
        if not one.movable or not isinstance(one.test, Proposition):
            assert not isinstance(one.test, Slope)
            alone = Conjunction([one.test])
            return one.test, self._recent.get(alone, partial(self._term, alone)).covers
        order = sorted(range(len(weights)), key=lambda index: -abs(weights[index]))
        columns = [one.test.columns[index] for index in order]
        terms = [self.conditions.term(column) for column in columns]
        raw = [weights[index] / term.scale for index, term in zip(order, terms, strict=True)]
        unit = abs(raw[0])
        if not 0.0 < unit < math.inf:
            return None
        moved = (threshold + sum(weight * term.mean for weight, term in zip(raw, terms, strict=True))) / unit
        relative = [weight / unit for weight in raw]
        if not (math.isfinite(moved) and all(map(math.isfinite, relative))) or 0.0 in relative:
            return None
        return self.placed(Proposition(columns, relative, moved, one.test.missing))

    def _term(self, condition: Term) -> Candidate:
        """Return a rule or a slope on the rows of this problem."""
        X = self.problem.X
        return Candidate.of(
            Slope.of(condition.factor, X, self.problem.row_weight) if isinstance(condition, Slope) else condition, X
        )

    def placed(self, test: Proposition) -> Placed | None:
        """Return a condition with its threshold in the middle of a gap, and its rows, if there is one."""
        projections = self.conditions.inputs.projections(test)
        threshold = middle_of_gap(projections, test.threshold)
        if threshold is None:
            return None
        covers = projections.values >= threshold
        if test.missing:
            covers |= np.isnan(projections.values)
        return in_whole_numbers(test.with_numbers(test.weights, threshold), self.problem.X), covers
