"""Selection: which of the proposed conditions is taken, and when a rule has grown enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from obliquerules.boosting.problem import Candidate, Stage
from obliquerules.boosting.record import Record

# Relative: objectives that differ by less are equal but for rounding.
SAME_OBJECTIVE = 1e-9


class Selection(Protocol):
    """Judges candidates; knows nothing of how they were found, and keeps nothing from one choice to the next."""

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:
        """Return one of the candidates, which come in the order of their complexity, or None if none will do.

        Ensembles that were fitted to judge them may go into the record, for `path`.
        """
        ...

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether a condition is worth its last proposition."""
        ...

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate that becomes a rule, among the full-grown ones."""
        ...

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:
        """Return the ensemble, or a better one of as many rules; ``relearn`` finds the best rule to add to an ensemble."""
        ...

    def path(self, record: Record) -> list[Stage]:
        """Return the ensembles of growing complexity to choose from, among those that the fit has met."""
        ...


class OneByOne:
    """Grows conditions while the objective rises, and leaves the rules as they were added."""

    objective_tolerance: float

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept the first proposition always: the objective of the empty condition is zero after a corrective step."""
        return len(longer.condition) == 1 or self.rises(shorter, longer)

    def rises(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether the objective rises: by the tolerance for more propositions, and by more than rounding in any case."""
        asked = self.objective_tolerance if len(longer.condition) > len(shorter.condition) else 0.0
        return longer.objective - shorter.objective > max(asked, SAME_OBJECTIVE) * shorter.objective

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:  # noqa: ARG002
        """Leave earlier rules as they are; only their weights change."""
        return stage

    def path(self, record: Record) -> list[Stage]:
        """Return one ensemble for each number of rules."""
        return record.grown

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate with the largest objective, of equals the simplest."""
        candidates = list(grown)
        least = max((candidate.objective for candidate in candidates), default=0.0) * (1.0 - SAME_OBJECTIVE)
        largest = (candidate for candidate in candidates if candidate.objective >= least)
        return min(largest, key=lambda candidate: candidate.condition.complexity, default=None)


@dataclass(frozen=True)
class ObjectiveSelection(OneByOne):
    """Take what has the largest objective, proposition by proposition, as long as it rises; hold out no rows.

    Parameters
    ----------
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept.
    """

    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Return the candidate with the largest objective; more propositions than the last one taken need the tolerance."""
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
        Relative change of the held-out risk that an additional variable must reach, eps_s in the paper: -0.01 asks for a fall
        by one per cent.
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept, eps_p in the paper.
    """

    validation_tolerance: float
    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Go through the sparsity levels; each must lower the risk of the last one taken by the tolerance."""
        chosen, least = None, math.inf
        for candidate in candidates:
            risk = stage.held_out_risk(candidate)
            if chosen is None or (least > 0.0 and (risk - least) / least <= self.validation_tolerance):
                chosen, least = candidate, risk
        return chosen
