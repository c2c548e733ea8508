"""The record of a fit: what learners and selections, which are stateless, find on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from obliquerules.boosting.problem import Stage
from obliquerules.pareto import pareto


@dataclass
class Record:
    """The record of one fit, which creates it and reads it at the end.

    Attributes
    ----------
    grown : list of Stage
        The ensembles that the loop has grown, one for each number of rules.
    front : list of Stage
        The Pareto front, in complexity and training loss, of these and of all ensembles fitted to judge a candidate.
    complete : bool
        Whether every search was completed.
    """

    grown: list[Stage] = field(default_factory=list)
    front: list[Stage] = field(default_factory=list)
    complete: bool = True

    def note_grown(self, stage: Stage) -> Stage:
        """Record and return an ensemble that the loop has grown."""
        self.grown.append(stage)
        return self.note_fitted(stage)

    def note_fitted(self, stage: Stage) -> Stage:
        """Record and return an ensemble whose weights have been fitted."""
        complexity, loss = stage.complexity, stage.training_loss
        if not any(one.complexity <= complexity and one.training_loss <= loss for one in self.front):
            self.front = pareto([*self.front, stage], lambda one: (one.complexity, one.training_loss))
        return stage

    def note_search(self, *, to_the_end: bool) -> None:
        """Record whether a search was completed or stopped at a limit."""
        self.complete &= to_the_end
