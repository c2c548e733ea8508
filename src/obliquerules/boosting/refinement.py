"""Refinement: the conditions of an ensemble made soft, moved jointly with its weights, and made hard again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.problem import Problem, Stage
from obliquerules.boosting.slope import Slope
from obliquerules.boosting.soft_conditions import SoftConditions, SoftTest
from obliquerules.kernels.soft_rules import SoftRules
from obliquerules.rules import Conjunction, Proposition, Test
from obliquerules.rules.decimals.threshold import middle_of_gap
from obliquerules.rules.votes import in_whole_numbers
from obliquerules.solvers.refinement import descend

Vector = NDArray[np.float64]
# Sharpness of the sigmoids, for sums of standard deviation one, and the number of steps with it; one after the other.
Schedule = tuple[tuple[float, int], ...]

# The curvature of a row counts as at least this share of that at the best constant.
LEAST_CURVATURE = 4e-3


@dataclass(frozen=True, eq=False)
class Refiner:
    """Moves all numbers of an ensemble at once: rule weights, and weights and thresholds of conditions; variables stay.

    Each condition ``x.w >= t`` becomes ``sigmoid(sharpness (z.w - t))`` on standardised inputs z, and a rule the product of its
    conditions. Levels, dates and 0/1 columns by themselves stay as they are. After the descent, thresholds are placed in the
    middle of gaps again, and the rule weights are fitted to the hard conditions.
    """

    conditions: SoftConditions
    problem: Problem

    def refinements(self, stage: Stage, schedule: Schedule) -> Iterator[Stage]:
        """Yield the ensemble after each sharpness of a schedule; ends early where nothing can be moved."""
        for sharpness, n_steps in schedule:
            refined = self.refined(stage, sharpness, n_steps)
            if refined is None:
                return
            yield refined
            stage = refined

    def judged_refinements(self, stage: Stage, schedule: Schedule) -> list[Stage]:
        """Return the ensemble after each sharpness of a schedule, judged."""
        return [refined.judged() for refined in self.refinements(stage, schedule)]

    def refined(self, stage: Stage, sharpness: float, n_steps: int) -> Stage | None:
        """Return the ensemble after a number of steps; None if nothing moves, or if a rule would fire on all rows or none."""
        soft = [[self.conditions.soft(test) for test in condition] for condition in stage.conditions]
        flat = [one for rule in soft for one in rule]
        if not any(one.movable for one in flat):
            return None
        start = np.concatenate([stage.weights, *(np.append(one.weights, one.threshold) for one in flat)])
        found = descend(self._kernel(soft, flat, len(stage.weights)), start, sharpness, n_steps)
        return None if found is start else self._hardened(stage, soft, found)

    def _kernel(self, soft: Sequence[Sequence[SoftTest]], flat: Sequence[SoftTest], n_weights: int) -> SoftRules:
        problem, rows = self.problem, self.conditions.rows
        place = {key: at for at, key in enumerate(dict.fromkeys(key for one in flat for key in one.keys))}
        # A ridge in rows is a smaller share of all rows than of some of them.
        share = float(np.add.reduce(problem.row_weight[rows])) / problem.size
        return SoftRules(
            np.ascontiguousarray(np.column_stack([self._values(*key) for key in place])),
            problem.y[rows],
            problem.row_weight[rows],
            np.zeros(rows.stop) if problem.offset is None else np.ascontiguousarray(problem.offset[rows]),
            np.array([index for index, rule in enumerate(soft) for _ in rule], dtype=np.intc),
            np.cumsum([0, *(len(one.weights) for one in flat)]).astype(np.intc),
            np.array([place[key] for one in flat for key in one.keys], dtype=np.intc),
            np.array([one.movable for one in flat], dtype=np.uint8),
            np.array([isinstance(one.test, Proposition) and one.test.missing for one in flat], dtype=np.uint8),
            np.array([True] * n_weights + [moves for one in flat for moves in one.free], dtype=np.uint8),
            len(soft),
            problem.loss.family,
            share * float(problem.ridge),
            problem.loss.power,
            self._least_curvature,
        )

    def _values(self, key: Any, standardised: bool) -> Vector:
        """Return the values of a term, or those of a condition that does not move, 0 or 1."""
        if standardised:
            return self.conditions.term(key).values
        return np.asarray(key(self.problem.X.rows(self.conditions.rows)), dtype=np.float64)

    @cached_property
    def _least_curvature(self) -> float:
        return LEAST_CURVATURE * float(self.problem.loss.curvature(self.problem.y, self.problem.row_weight))

    def _hardened(self, stage: Stage, soft: Sequence[Sequence[SoftTest]], found: Vector) -> Stage | None:
        """Return the ensemble with the conditions that parameters of soft ones stand for."""
        at, conditions = len(stage.weights), []
        for rule in soft:
            tests = []
            for one in rule:
                end = at + len(one.weights)
                hard = self._hard(one, found[at:end], float(found[end]))
                if hard is None:
                    return None
                tests.append(hard)
                at = end + 1
            conditions.append(tests[0] if isinstance(tests[0], Slope) else Conjunction(tests))
        covers = [condition(self.problem.X) for condition in conditions]
        return stage.with_conditions(conditions, covers, found[: len(stage.weights)])

    def _hard(self, one: SoftTest, weights: Vector, threshold: float) -> Test | None:
        """Return a condition in original units, its threshold in the middle of a gap; None if there is none."""
        if not one.movable or not isinstance(one.test, Proposition):
            return one.test
        if not (np.isfinite(weights).all() and (weights != 0.0).all()):
            return None
        order = np.argsort(-np.abs(weights), kind="stable")
        terms = [self.conditions.term(one.test.columns[index]) for index in order]
        raw = weights[order] / np.array([term.scale for term in terms])
        unit = abs(float(raw[0]))
        moved = (threshold + float(np.add.reduce(raw * np.array([term.mean for term in terms])))) / unit
        if not (np.isfinite(moved) and np.isfinite(raw / unit).all()):
            return None
        return self.placed(Proposition([one.test.columns[index] for index in order], raw / unit, moved, one.test.missing))

    def placed(self, test: Proposition) -> Test | None:
        """Return a condition with its threshold in the middle of the gap in which it lies; None if there is none."""
        threshold = middle_of_gap(self.conditions.inputs.projections(test), test.threshold)
        return None if threshold is None else in_whole_numbers(test.with_numbers(test.weights, threshold), self.problem.X)
