"""The record of a fit: what learners and selections, which are stateless, find on the way."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter

from obliquerules.learning.boosting.stage import Stage
from obliquerules.rules import Term
from obliquerules.rules.path_table import pareto
from obliquerules.status_line import Stopwatch

# Why growth may have ended before its end.
MAX_SECONDS, INTERRUPTED = "max_seconds", "interrupted"


@dataclass
class Record:
    """The record of one fit, which creates it and reads it at the end.

    Attributes
    ----------
    grown : list of Stage
        The ensembles that the loop has grown, one for each number of rules.
    front : list of Stage
        The Pareto front, in complexity and selection loss, of these and of all quick fits.
    best_quick_fit : (float, Stage) or None
        The best score of a quick fit for the next rule, with its ensemble.
    explored : set of (str, tuple of Term)
        What was done to ensembles of which conditions: the same again would find the same.
    complete : bool
        Whether every search was completed.
    stopwatch : Stopwatch
        Started when the fit began.
    max_seconds : float
        The time limit of the fit.
    stopped : str or None
        Why growth ended before its end, if it did.
    """

    grown: list[Stage] = field(default_factory=list)
    front: list[Stage] = field(default_factory=list)
    best_quick_fit: tuple[float, Stage] | None = None
    explored: set[tuple[str, tuple[Term, ...]]] = field(default_factory=set)
    complete: bool = True
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    max_seconds: float = math.inf
    stopped: str | None = None

    def note_grown(self, stage: Stage) -> Stage:
        """Record and return an ensemble that the loop has grown."""
        # In this order, so that nothing is grown that the front does not know, whenever an interrupt comes.
        self.grown.append(self.note_fitted(stage))
        return stage

    def note_fitted(self, stage: Stage) -> Stage:
        """Record and return an ensemble whose weights have been fitted."""
        complexity, loss = stage.scored().complexity, stage.selection_loss
        # Losses fall along the front, so only its last member of at most this complexity can dominate.
        place = bisect_right(self.front, complexity, key=attrgetter("complexity"))
        if place == 0 or self.front[place - 1].selection_loss > loss:
            self.front = pareto([*self.front, stage], lambda one: (one.complexity, one.selection_loss))
        return stage

    def note_quick_fit(self, stage: Stage, score: float) -> None:
        """Record a quick fit for the next rule; a lower score is better."""
        if self.best_quick_fit is None or score < self.best_quick_fit[0]:
            self.best_quick_fit = score, stage

    def clear(self) -> None:
        """Drop all ensembles once the path is known."""
        self.grown, self.front, self.best_quick_fit = [], [], None

    def is_new(self, what: str, stage: Stage) -> bool:
        """Record a step on an ensemble, and say whether it is the first of its kind."""
        known = (what, stage.conditions) in self.explored
        self.explored.add((what, stage.conditions))
        return not known

    def note_search(self, *, to_the_end: bool) -> None:
        """Record whether a search was completed or stopped at a limit."""
        self.complete &= to_the_end
        if not to_the_end and self.seconds_left <= 0.0:
            self.stopped = MAX_SECONDS

    @property
    def seconds_left(self) -> float:
        """The time until the limit; not positive once it has passed."""
        return self.max_seconds - self.stopwatch.seconds

    def is_out_of_time(self) -> bool:
        """Say whether time is up, and record it as the end of growth."""
        if self.seconds_left <= 0.0:
            self.stopped = MAX_SECONDS
        return self.stopped is not None
