"""Selection: which of the proposed conditions is taken, and when a rule is complete."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from obliquerules.learning.boosting.problem import Candidate, Stage
from obliquerules.learning.boosting.record import Record

# Objectives whose relative difference is smaller are equal up to rounding.
SAME_OBJECTIVE = 1e-9


class Selection(Protocol):
    """Judges candidates; does not know how they were found, and keeps nothing from one choice to the next."""

    @property
    def uses_objective(self) -> bool:
        """Whether candidates are judged by their objective."""
        ...

    @property
    def complexity_price(self) -> float:
        """The price of one unit of complexity, in units of log(n) on the scale of -2 log likelihood."""
        ...

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:
        """Return one of the candidates, which come in order of complexity, or None if there is no good one.

        Ensembles fitted to judge them may be recorded for `path`.
        """
        ...

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether a condition is worth its last proposition."""
        ...

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate that becomes a rule, among the fully grown ones."""
        ...

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:
        """Return the ensemble or a better one with the same number of rules; ``relearn`` finds the best rule to add to one."""
        ...

    def path(self, record: Record) -> list[Stage]:
        """Return the recorded ensembles that make the path, in order of complexity."""
        ...


class OneByOne:
    """Grows conditions while the objective rises, and never revises a rule."""

    objective_tolerance: float
    # Only how many classes a rule speaks for has a price, that of the Bayesian information criterion.
    complexity_price = 1.0
    uses_objective = True

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept a rise, and always the first proposition: after a corrective step the empty condition has objective zero."""
        return len(longer.condition) == 1 or self.rises(shorter, longer)

    def rises(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether the objective rises by more than rounding and, with more propositions, by more than the tolerance."""
        asked = self.objective_tolerance if len(longer.condition) > len(shorter.condition) else 0.0
        return longer.objective - shorter.objective > max(asked, SAME_OBJECTIVE) * shorter.objective

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:  # noqa: ARG002
        """Return the ensemble unchanged."""
        return stage

    def path(self, record: Record) -> list[Stage]:
        """Return one ensemble for each number of rules."""
        return record.grown

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate with the largest objective; of equal ones, the simplest."""
        candidates = list(grown)
        least = max((candidate.objective for candidate in candidates), default=0.0) * (1.0 - SAME_OBJECTIVE)
        largest = (candidate for candidate in candidates if candidate.objective >= least)
        return min(largest, key=lambda candidate: candidate.condition.complexity, default=None)


@dataclass(frozen=True)
class ObjectiveSelection(OneByOne):
    """Take the largest objective, proposition by proposition, as long as it rises; no rows are held out.

    Parameters
    ----------
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept.
    """

    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Return the candidate with the largest objective; additional propositions must raise it by the tolerance."""
        chosen = None
        for candidate in candidates:
            if chosen is None or self.rises(chosen, candidate):
                chosen = candidate
        return chosen


@dataclass(frozen=True)
class ValidationSelection(OneByOne):
    """The paper's selection: variables by risk on held-out rows, propositions by the boosting objective.

    Parameters
    ----------
    validation_tolerance : float
        Relative change of the held-out risk that an additional variable must reach, eps_s in the paper: -0.01 requires a fall
        by one per cent.
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept, eps_p in the paper.
    """

    validation_tolerance: float
    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Return the last sparsity level that lowers the risk of the one taken before it by the tolerance."""
        chosen, least = None, math.inf
        for candidate in candidates:
            risk = stage.held_out_risk(candidate)
            if chosen is None or (least > 0.0 and (risk - least) / least <= self.validation_tolerance):
                chosen, least = candidate, risk
        return chosen
