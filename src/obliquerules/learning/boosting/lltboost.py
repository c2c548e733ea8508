"""LLTBoost: boosted rules whose conditions are sparse linear combinations of inputs."""

from __future__ import annotations

from dataclasses import dataclass

from obliquerules.data.sample import Sample
from obliquerules.learning.boosting.boosting import Boosting
from obliquerules.learning.boosting.learner import ONE_FOR_BOTH_SIGNS, ONE_FOR_EACH_SIGN, GreedyLearner
from obliquerules.learning.boosting.oblique import ObliqueProposer, PoolProposer
from obliquerules.parameters import option, real, whole

# The paper's L1 penalties have no floor; this one, relative to the largest, is for separable signs and supports of all columns.
HARDLY_ANY_PENALTY = 1e-6
SELECTIONS = ("information", "validation")


@dataclass(frozen=True, kw_only=True)
class LLTBoost(Boosting):
    """Boosted rules; each condition is found by L1-sparse logistic regression on the signs of the loss gradient."""

    max_rules: int = whole(
        10, "Largest number of rules, r in the paper. One fit gives every smaller size too: see `path_` and `at`."
    )
    max_propositions: int = whole(5, "Largest number of conditions in a rule, k_r in the paper.")
    max_variables: int = whole(5, "Largest number of variables in a condition, k_s in the paper.")
    selection: str = option(
        "information",
        SELECTIONS,
        'How variables, conditions and rules are chosen. ``"information"``: from a large pool of conditions, by a criterion on '
        'all rows that charges for the complexity of the whole model. ``"validation"``: as in the paper, an additional '
        "variable must lower the risk on held-out rows, and an additional condition must raise the boosting objective.",
    )
    validation_tolerance: float = real(
        -0.02,
        'For ``"validation"``: relative change of the held-out risk that an additional variable must reach, eps_s in the '
        "paper.",
        least=-1.0,
    )
    objective_tolerance: float = real(
        0.1,
        'For ``"validation"``: relative rise of the objective that an additional condition must exceed, eps_p in the paper.',
    )

    def learner(self, sample: Sample) -> GreedyLearner:
        """Return the paper's learner, or one with a large pool of conditions, for a selection that charges for complexity."""
        if self.selection == "information":
            pool = PoolProposer(sample.X, sample.weight, self.max_variables)
            return GreedyLearner(pool, self.max_propositions, ONE_FOR_BOTH_SIGNS)
        proposer = ObliqueProposer(sample.X, sample.weight, self.max_variables, HARDLY_ANY_PENALTY)
        return GreedyLearner(proposer, self.max_propositions, ONE_FOR_EACH_SIGN, repeats=True)
