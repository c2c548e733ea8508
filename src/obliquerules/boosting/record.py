"""The record of a fit: what learners and selections come across on their way, which they do not keep themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from obliquerules.boosting.problem import Stage
from obliquerules.pareto import pareto


@dataclass
class Record:
    """Belongs to one fit, which makes it and reads it when it is over.

    Attributes
    ----------
    grown : list of Stage
        The ensembles that the loop has grown, one for each number of rules.
    front : list of Stage
        The Pareto front, in complexity and training loss, of these and of all that were fitted to judge a candidate.
    complete : bool
        Whether every search came to its end.
    """

    grown: list[Stage] = field(default_factory=list)
    front: list[Stage] = field(default_factory=list)
    complete: bool = True

    def note_grown(self, stage: Stage) -> Stage:
        """Note, and return, an ensemble with one more rule than the last."""
        self.grown.append(stage)
        return self.note_fitted(stage)

    def note_fitted(self, stage: Stage) -> Stage:
        """Note, and return, an ensemble whose weights have been fitted."""
        self.front = pareto([*self.front, stage], lambda one: (one.complexity, one.training_loss))
        return stage

    def note_search(self, *, to_the_end: bool) -> None:
        """Note that a search is over: at its end, or at a limit."""
        self.complete &= to_the_end
