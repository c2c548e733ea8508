"""The oblique proposer: propositions from L1-sparse logistic regression on the signs of the gradient (LLTBoost)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.problem import Stage
from obliquerules.boosting.threshold import best_threshold, middle_of_gap
from obliquerules.rows.scaling import Scaling
from obliquerules.rules import Proposition
from obliquerules.rules.decimals.gaps import Projections
from obliquerules.solvers.l1_logistic import L1Path, follow_path

# With fewer rows, any labels can be fitted.
FEWEST_ROWS = 4


class ObliqueProposer:
    """Proposes, for s = 1, 2, ..., the condition on s variables that best separates positive from negative gradients.

    To maximise the gradient sum over x.w >= t is to classify gradient signs under a 0/1 loss weighted by ``|g|``. The logistic
    loss is its surrogate, and the L1 path gives one solution for each number of variables.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        In original units.
    row_weight : array of shape (n_samples,)
    max_variables : int
        Largest number of variables in a proposition, k_s in the paper.
    min_alpha_ratio : float
        The smallest penalty of the L1 path, relative to the largest; reached if, for example, the gradient signs are separable.
    """

    def __init__(
        self, X: NDArray[np.float64], row_weight: NDArray[np.float64], max_variables: int, min_alpha_ratio: float = 1e-2
    ) -> None:
        self.X = X
        self.largest = np.abs(X).max(axis=0, initial=0.0).tolist()
        self.scaling = Scaling.of(X, row_weight)
        self.standardised = self.scaling.fenced(X)
        self.max_variables = max_variables
        self.min_alpha_ratio = min_alpha_ratio

    def solve(self, X: NDArray[np.float64], labels: NDArray[np.float64], weight: NDArray[np.float64]) -> L1Path:
        """Return the classifiers of labels, 0.0 or 1.0, with one variable, with two, and so on."""
        return follow_path(X, labels, weight, self.max_variables, self.min_alpha_ratio)

    def classification(
        self, pull: NDArray[np.float64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs, labels and weights of the classification problem that is the surrogate for maximising the pull.

        They have no rows if there are too few.
        """
        rows = rows[pull[rows] != 0.0]
        if len(rows) < FEWEST_ROWS:
            rows = rows[:0]
        # Selecting from the transpose keeps the columns contiguous, as the solver needs them.
        return self.standardised.T[:, rows].T, (pull[rows] > 0.0).astype(np.float64), np.abs(pull[rows])

    def propose(self, stage: Stage, sign: float, rows: NDArray[np.intp]) -> Iterator[tuple[Proposition, NDArray[np.bool_]]]:
        """Yield the proposition of each L1 level, with the rows on which it holds."""
        pull = sign * stage.gradient
        for level in self.solve(*self.classification(pull, rows)).levels:
            if level is not None:
                proposition = self.scaling.restore(level.weights, -level.intercept)
                projections = self.projections(proposition)
                threshold = middle_of_gap(projections, proposition.threshold)
                if threshold is None:
                    # With shrunken weights and a free intercept, all rows may be on one side; the direction may still be good.
                    threshold = self.objective_threshold(projections, pull, rows)
                if threshold is not None:
                    yield Proposition(proposition.columns, proposition.weights, threshold), projections.values >= threshold

    def projections(self, proposition: Proposition) -> Projections:
        """Return the sums that a condition compares with its threshold, in original units."""
        columns = proposition.columns
        largest = [self.largest[column] for column in columns]
        return Projections.of(proposition.project(self.X), self.X, columns, proposition.weights, largest)

    def objective_threshold(self, projections: Projections, pull: NDArray[np.float64], rows: NDArray[np.intp]) -> float | None:
        """Return the threshold above which the given rows have the largest sum of pull, in the middle of a gap."""
        wanted = best_threshold(projections[rows], pull[rows])
        return None if wanted is None else middle_of_gap(projections, wanted)
