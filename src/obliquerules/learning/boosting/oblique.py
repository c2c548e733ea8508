"""The oblique proposer: propositions from L1-sparse logistic regression on the signs of the gradient (LLTBoost)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.data.level_sums import best_level_sets
from obliquerules.learning.boosting.axis import SortedColumns
from obliquerules.learning.boosting.design_matrix import Design, Inputs
from obliquerules.learning.boosting.stage import View
from obliquerules.learning.boosting.terms import Objective
from obliquerules.learning.boosting.workers import ALONE, Workers
from obliquerules.learning.l1_logistic import CentredProblem, L1Level, L1Path
from obliquerules.rules import Block, Proposition, Test
from obliquerules.rules.rounding.thresholds import Projections, best_threshold, middle_of_gap
from obliquerules.rules.rounding.votes import in_whole_numbers

# With fewer rows, any labels can be fitted.
FEWEST_ROWS = 4
# The unshrunk direction is the L1 solution at this fraction of the largest alpha: almost no penalty, but finite if separable.
HARDLY_ANY_SHRINKAGE = 1e-3
# The number of axis-parallel splits offered at a time: the best ones on different columns.
AXIS_SPLITS = 3
NONE_TAKEN = np.empty(0, dtype=np.uint64)


class ObliqueProposer:
    """Proposes, for s = 1, 2, ..., the condition on s variables that best separates positive from negative gradients.

    To maximise the gradient sum over x.w >= t is to classify gradient signs under a 0/1 loss weighted by ``|g|``. The logistic
    loss is its surrogate, and the L1 path gives one solution for each number of variables. Levels take part as columns of 0 and
    1, and rows with a missing value go to the better side of the condition.

    Parameters
    ----------
    X : Block
        In original units.
    row_weight : array of shape (n_samples,)
    max_variables : int
        Largest number of variables in a proposition, k_s in the paper.
    min_alpha_ratio : float
        The smallest penalty of the L1 path, relative to the largest; reached if, for example, the gradient signs are separable.
    """

    def __init__(self, X: Block, row_weight: Vector, max_variables: int, min_alpha_ratio: float = 1e-2) -> None:
        self.X = X
        self.inputs = Inputs(X, row_weight)
        self.max_variables = max_variables
        self.min_alpha_ratio = min_alpha_ratio

    def solve(self, X: NDArray[np.float64], labels: Vector, weight: Vector) -> L1Path:
        """Return the classifiers of labels, 0.0 or 1.0, with one variable, with two, and so on."""
        return CentredProblem.of(X, labels, weight).path(self.max_variables, self.min_alpha_ratio)

    def classification(self, pull: Vector, rows: Positions) -> tuple[Design, Vector, Vector]:
        """Return inputs, labels and weights of the classification that stands for maximising the pull.

        They have no rows if there are too few.
        """
        rows = rows[pull[rows] != 0.0]
        if len(rows) < FEWEST_ROWS:
            rows = rows[:0]
        return self.inputs.design(pull, rows), (pull[rows] > 0.0).astype(np.float64), np.abs(pull[rows])

    def propose(self, stage: View, sign: float, rows: Positions) -> Iterator[tuple[Test, Mask]]:
        """Yield the proposition of each L1 level, with the rows on which it holds."""
        pull = sign * stage.gradient
        design, labels, weight = self.classification(pull, rows)
        for level in self.solve(design.standardised, labels, weight).levels:
            if level is not None:
                proposition = design.restore(level.weights, -level.intercept)
                projections = self.inputs.projections(proposition)
                threshold = middle_of_gap(projections, proposition.threshold)
                if threshold is not None:
                    yield from self.sides(proposition, threshold, projections, pull, rows)

    def sides(
        self, proposition: Proposition, threshold: float, projections: Projections, pull: Vector, rows: Positions
    ) -> Iterator[tuple[Test, Mask]]:
        """Yield the condition with this threshold, with missing values too if they pull the same way."""
        placed = proposition.with_numbers(proposition.weights, threshold)
        covers = projections.values >= threshold
        yield in_whole_numbers(placed, self.X), covers
        missing = np.isnan(projections.values) if self.X.incomplete.intersection(placed.used_columns) else None
        if missing is not None and pull[rows[missing[rows]]].sum() > 0.0:
            yield in_whole_numbers(placed.with_missing(True), self.X), covers | missing


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
        splits, directions = workers.both(
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
    """Return the unshrunk direction of an L1 level, if it has several variables."""
    support = np.flatnonzero(level.weights)
    if len(support) == 1:
        return None
    intercept, found = problem.unpenalised(support, HARDLY_ANY_SHRINKAGE)
    if not (np.isfinite(found).all() and (found != 0.0).all()):
        return None
    weights = np.zeros(len(level.weights))
    weights[support] = found
    return design.restore(weights, -intercept)
