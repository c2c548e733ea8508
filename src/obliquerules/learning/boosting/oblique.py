"""The oblique proposer: propositions from L1-sparse logistic regression on the signs of the gradient (LLTBoost)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Positions, Vector
from obliquerules.learning.boosting.design_matrix import Design, Inputs
from obliquerules.learning.boosting.problem import View
from obliquerules.learning.l1_logistic import L1Path, follow_path
from obliquerules.rules import Block, Proposition, Test
from obliquerules.rules.rounding.thresholds import Projections, middle_of_gap
from obliquerules.rules.rounding.votes import in_whole_numbers

# With fewer rows, any labels can be fitted.
FEWEST_ROWS = 4


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
        return follow_path(X, labels, weight, self.max_variables, self.min_alpha_ratio)

    def classification(self, pull: Vector, rows: Positions) -> tuple[Design, Vector, Vector]:
        """Return inputs, labels and weights of the classification problem that is the surrogate for maximising the pull.

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
        """Yield the condition with this threshold and, where missing values pull the same way, with those rows too."""
        placed = proposition.with_numbers(proposition.weights, threshold)
        covers = projections.values >= threshold
        yield in_whole_numbers(placed, self.X), covers
        missing = np.isnan(projections.values) if self.X.incomplete.intersection(placed.used_columns) else None
        if missing is not None and pull[rows[missing[rows]]].sum() > 0.0:
            yield in_whole_numbers(placed.with_missing(True), self.X), covers | missing
