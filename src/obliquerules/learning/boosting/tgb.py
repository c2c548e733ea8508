"""TGB: boosted rules whose conditions are thresholds on single inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from obliquerules.data.level_sums import levels_of
from obliquerules.data.sample import Sample
from obliquerules.data.user_warnings import warn_caller
from obliquerules.learning.boosting.axis import AxisProposer, SortedColumns
from obliquerules.learning.boosting.boosting import Boosting
from obliquerules.learning.boosting.learner import ONE_FOR_EACH_SIGN, ONE_FROM_EACH_SIDE, ExactLearner, GreedyLearner, Learner
from obliquerules.learning.boosting.selection import Record
from obliquerules.learning.boosting.terms import OBJECTIVES
from obliquerules.parameters import option, real, whole

SELECTIONS = ("objective", "information", "validation")
SEARCHES = ("greedy", "exact")


@dataclass(frozen=True, kw_only=True)
class TGB(Boosting):
    """Boosted rules; each is the conjunction of thresholds that follows the loss gradient best."""

    # Files have always had ``max_seconds``.
    left_out_if_none: ClassVar[frozenset[str]] = frozenset()

    objective: str = option(
        "orthogonal",
        OBJECTIVES,
        'What a rule q maximises, with g the gradient of the loss and h its second derivative. ``"gradient"``: the '
        'gradient sum ``|g.q|``, the paper\'s. ``"second-order"``: ``|g.q| / sqrt(h.q + ridge)``, as in XGBoost. '
        '``"orthogonal"``: the same, but only the part of q that is orthogonal to the constant and the rules so far counts as '
        "size, as in orthogonal gradient boosting.",
    )
    search: str = option(
        "greedy",
        SEARCHES,
        '``"greedy"``: conditions are added to a rule one at a time, always the best one. ``"exact"``: the best rule of '
        "each length is found by branch and bound, and the selection chooses the length.",
    )
    selection: str = option(
        "objective",
        SELECTIONS,
        'How conditions and rules are chosen. ``"objective"``: by the objective alone, while it rises, as in the paper. '
        '``"information"``: by a criterion that charges for the complexity of the whole model; it gives more sizes and takes '
        'longer. ``"validation"``: columns by the risk on held-out rows, further conditions by the objective.',
    )
    validation_tolerance: float = real(
        -0.02,
        'For ``"validation"``: relative change of the held-out risk that another column must reach to be taken instead of the '
        "one with the largest objective.",
        least=-1.0,
    )
    objective_tolerance: float = real(
        0.3,
        'For ``"validation"`` and ``"objective"``: relative rise of the objective that an additional condition must exceed. '
        "Zero is the paper's choice.",
    )
    max_nodes: int = whole(
        10000,
        'For ``"exact"``: the largest number of conjunctions to extend in the search for one rule. At this limit the best rule '
        "found so far, which is at least as good as the greedy one, is taken with a ``ConvergenceWarning``.",
    )

    def learner(self, sample: Sample) -> Learner:
        """Return the learner that adds thresholds, or the one that finds the best conjunction of each length."""
        levels = levels_of(sample.X, sample.weight)
        if self.search == "exact":
            frequent = [one for sums in levels for one in sums.most_frequent()]
            return ExactLearner(SortedColumns(sample.X, frequent), self.max_propositions, self.max_nodes)
        # By the objective alone, only the best column counts.
        proposer = AxisProposer(SortedColumns(sample.X), 1 if self.selection == "objective" else None, levels)
        signs = ONE_FROM_EACH_SIDE if self.selection == "information" else ONE_FOR_EACH_SIGN
        return GreedyLearner(proposer, self.max_propositions, signs)

    @property
    def rule_objective(self) -> str:
        """The objective that a rule maximises."""
        return self.objective

    def notes(self, record: Record) -> Mapping[str, Any]:
        """Say whether every search was completed, and warn if one was not."""
        if not record.complete:
            warn_caller(
                "The exact search came to the limit of max_nodes or max_seconds before its end: some rules are the best that "
                "were seen, which need not be the best there are.",
                ConvergenceWarning,
            )
        return {"search_complete_": record.complete}
