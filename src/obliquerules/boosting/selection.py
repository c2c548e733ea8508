"""Selection: which of the proposed conditions is taken, and when a rule has grown enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from obliquerules.boosting.problem import Candidate, Stage


class Selection(Protocol):
    """Judges candidates; knows nothing of how they were found."""

    @property
    def signs(self) -> tuple[tuple[float, ...], ...]:
        """For each condition to grow, the signs of the gradients it may go after."""
        ...

    def choose(self, stage: Stage, candidates: Iterable[Candidate]) -> Candidate | None:
        """Return one of the candidates, which come in the order of their complexity, or None if none will do."""
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

    def path(self, grown: Iterable[Stage]) -> list[Stage]:
        """Return the ensembles of growing complexity to choose from, given one for each number of rules."""
        ...


@dataclass(frozen=True)
class ValidationSelection:
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
    # The algorithm box grows one condition for each sign; on a tie the second is taken.
    signs: tuple[tuple[float, ...], ...] = ((-1.0,), (1.0,))

    def choose(self, stage: Stage, candidates: Iterable[Candidate]) -> Candidate | None:
        """Go through the sparsity levels; each must lower the risk of the last one taken by the tolerance."""
        chosen, least = None, math.inf
        for candidate in candidates:
            risk = stage.held_out_risk(candidate)
            if chosen is None or (least > 0.0 and (risk - least) / least <= self.validation_tolerance):
                chosen, least = candidate, risk
        return chosen

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept the first proposition always: the objective of the empty condition is zero after a corrective step."""
        if len(longer.condition) == 1:
            return True
        return longer.objective - shorter.objective > self.objective_tolerance * shorter.objective

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:  # noqa: ARG002
        """Leave earlier rules as they are; only their weights change."""
        return stage

    def path(self, grown: Iterable[Stage]) -> list[Stage]:
        """Return one ensemble for each number of rules."""
        return list(grown)

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate with the largest objective."""
        return max(grown, key=lambda candidate: candidate.objective, default=None)
