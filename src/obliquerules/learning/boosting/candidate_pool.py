"""The pool: a proposer of more conditions than the L1 levels, for a selection that penalises complexity."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.data.level_sums import best_level_sets
from obliquerules.learning.boosting.design_matrix import Design
from obliquerules.learning.boosting.objective import Objective
from obliquerules.learning.boosting.oblique import ObliqueProposer
from obliquerules.learning.boosting.problem import View
from obliquerules.learning.boosting.sorted_columns import SortedColumns
from obliquerules.learning.boosting.workers import ALONE, Workers
from obliquerules.learning.l1_logistic import CentredProblem, L1Level
from obliquerules.rules import Block, Proposition, Test
from obliquerules.rules.rounding.thresholds import Projections, best_threshold, middle_of_gap

# The unshrunk direction is the L1 solution at this fraction of the largest alpha: almost no penalty, but finite if separable.
HARDLY_ANY_SHRINKAGE = 1e-3
# The number of axis-parallel splits offered at a time: the best ones on different columns.
AXIS_SPLITS = 3
NONE_TAKEN = np.empty(0, dtype=np.uint64)


class PoolProposer(ObliqueProposer):
    """Proposes the best axis-parallel splits and sets of levels and, for each number of variables, four conditions.

    The L1 solution gives a direction that is biased by shrinkage; refitting its support without the penalty gives another. Each
    direction comes with two thresholds: that of the logistic regression, which is robust, and the one that exactly maximises
    the boosting objective on the given rows.
    """

    def __init__(self, X: Block, row_weight: Vector, max_variables: int, min_alpha_ratio: float = 1e-2) -> None:
        super().__init__(X, row_weight, max_variables, min_alpha_ratio)
        self.columns = SortedColumns(X)

    def propose(self, stage: View, sign: float, rows: Positions) -> Iterator[tuple[Test, Mask]]:
        """Yield the conditions of the pool, each once."""
        pull = sign * stage.gradient
        pull_here = np.zeros(len(pull))
        pull_here[rows] = pull[rows]
        workers = stage.problem.workers
        splits, directions = workers.beside(
            lambda: list(self.axis_splits(pull_here, workers)), lambda: self.directions(pull, rows, workers)
        )
        yield from splits
        for membership in best_level_sets(self.inputs.levels, pull, rows):
            yield membership, membership(self.X)
        seen = set()
        placed = workers.each(lambda condition: self._placed(condition, pull, rows), directions)
        for condition, (projections, thresholds) in zip(directions, placed, strict=True):
            for threshold in thresholds:
                if threshold is not None and (condition.columns, condition.weights, threshold) not in seen:
                    seen.add((condition.columns, condition.weights, threshold))
                    yield from self.sides(condition, threshold, projections, pull, rows)

    def _placed(self, condition: Proposition, pull: Vector, rows: Positions) -> tuple[Projections, tuple[float | None, ...]]:
        """Return the projections on a direction, and both thresholds."""
        projections = self.inputs.projections(condition)
        logistic = middle_of_gap(projections, condition.threshold)
        return projections, (logistic, self.objective_threshold(projections, pull, rows))

    def objective_threshold(self, projections: Projections, pull: Vector, rows: Positions) -> float | None:
        """Return the threshold with the largest sum of pull above it.

        It lies in the middle of a gap; the sum is over the given rows.
        """
        rows = rows[~np.isnan(projections.values[rows])]
        wanted = best_threshold(projections[rows], pull[rows])
        return None if wanted is None else middle_of_gap(projections, wanted)

    def directions(self, pull: Vector, rows: Positions, workers: Workers = ALONE) -> list[Proposition]:
        """Return directions with logistic thresholds: each L1 level and its unpenalised refit."""
        design, labels, weight = self.classification(pull, rows)
        if len(labels) == 0:
            return []
        problem = CentredProblem.of(design.standardised, labels, weight)
        levels = [level for level in problem.path(self.max_variables, self.min_alpha_ratio).levels if level is not None]
        unshrunk = workers.each(lambda level: _unshrunk(level, design, problem), levels)
        shrunk = [design.restore(level.weights, -level.intercept) for level in levels]
        return [one for pair in zip(shrunk, unshrunk, strict=True) for one in pair if one is not None]

    def axis_splits(self, pull: Vector, workers: Workers = ALONE) -> Iterator[tuple[Test, Mask]]:
        """Yield the splits of single columns that have the largest sum of pull on one side."""
        everything = np.ones(len(pull), dtype=np.bool_)
        objective = Objective(pull, np.zeros(len(pull), dtype=np.intp)).directed(1.0)
        yield from itertools.islice(self.columns.best_splits(objective, everything, NONE_TAKEN, workers), AXIS_SPLITS)


def _unshrunk(level: L1Level, design: Design, problem: CentredProblem) -> Proposition | None:
    """Return the direction of an L1 level without its shrinkage; None if there is none, or only one variable."""
    support = np.flatnonzero(level.weights)
    if len(support) == 1:
        return None
    intercept, found = problem.unpenalised(support, HARDLY_ANY_SHRINKAGE)
    if not (np.isfinite(found).all() and (found != 0.0).all()):
        return None
    weights = np.zeros(len(level.weights))
    weights[support] = found
    return design.restore(weights, -intercept)
