"""The boosting loop: Algorithm 1 of the paper, for any learner and any selection, and a longer search by a criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from obliquerules.learning.boosting.class_stage import first_stage
from obliquerules.learning.boosting.information import InformationSelection
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.problem import Candidate, Problem, Stage
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.selection import Selection
from obliquerules.learning.boosting.simplification import SIZES, simplify

# Maximum number of refinement steps after a rule is added.
STEPS = 8
# Every ensemble of the Pareto front up to this complexity is grown again.
LARGEST_GROWN_AGAIN = 13


def boost(
    problem: Problem, learner: Learner, selection: Selection, max_rules: int, record: Record | None = None
) -> Iterator[Stage]:
    """Yield the ensemble with no rule, with one rule, and so on, each with all weights refitted.

    Ends early if no further rule can be found, or if time is up. The ensembles, and what learner and selection find, go into
    the record.
    """
    met = Record() if record is None else record

    def next_rule(stage: Stage) -> Candidate | None:
        return best_rule(stage, learner, selection, met)

    stage = first_stage(problem)
    yield met.note_grown(stage)
    for _ in range(max_rules):
        rule = next_rule(stage)
        if rule is None:
            return
        stage = selection.revise(stage.with_rule(rule), next_rule)
        yield met.note_grown(stage)


def best_rule(stage: Stage, learner: Learner, selection: Selection, record: Record) -> Candidate | None:
    """Return the best rule to add to an ensemble; None if there is none, or no time to look for it."""
    if record.is_out_of_time():
        return None
    record.tried = None
    best = selection.best(learner.candidates(stage, selection, record))
    stage.let_go()
    return None if best is None else best.upright(stage.problem)


@dataclass(frozen=True, eq=False)
class Search:
    """A longer search by a criterion: ensembles are refined as they grow and, once grown, grown again and simplified.

    Attributes
    ----------
    problem : Problem
    learner : Learner
    selection : InformationSelection
    refiner : Refiner
    max_rules : int
    record : Record
    """

    problem: Problem
    learner: Learner
    selection: InformationSelection
    refiner: Refiner
    max_rules: int
    record: Record

    def grow(self) -> Iterator[Stage]:
        """Yield the ensemble with no rule, with one rule, and so on; all rules are refined whenever one is added."""
        stage = first_stage(self.problem)
        yield self.record.note_grown(stage)
        for _ in range(self.max_rules):
            extended = self._with_next_rule(stage)
            if extended is None:
                return
            stage = self.record.note_grown(extended)
            yield stage

    def improve(self) -> Iterator[tuple[int, int]]:
        """Add a rule to every small ensemble of the Pareto front and the best of each number of rules; then simplify.

        Yields, after each step, the number of steps done and that of all.
        """
        front, largest = self.record.front, LARGEST_GROWN_AGAIN
        small = [one for one in front if one.complexity <= largest and len(one.conditions) < self.max_rules]
        steps: list[Callable[[], object]] = [
            *(partial(self._with_next_rule, stage) for stage in small),
            *(partial(self._extend_best, n_rules) for n_rules in range(1, self.max_rules)),
            *(partial(simplify, complexity, self.record, self.refiner) for complexity in SIZES),
        ]
        for done, step in enumerate(steps, start=1):
            step()
            yield done, len(steps)

    def _extend_best(self, n_rules: int) -> None:
        """Add a rule to the best known ensemble with this number of rules."""
        known = [stage for stage in self.record.front if len(stage.conditions) == n_rules]
        if known:
            self._with_next_rule(min(known, key=self.selection.criterion))

    def _with_next_rule(self, stage: Stage) -> Stage | None:
        """Return the ensemble with one more rule, refined if that lowers the criterion; None if there is none that is new."""
        if not self.record.is_new("extended", stage) or best_rule(stage, self.learner, self.selection, self.record) is None:
            return None
        assert self.record.tried is not None
        extended = self.record.tried[1]
        refined = self.refiner.refined(extended, STEPS)
        if refined is None:
            return extended
        return min(extended, self.record.note_fitted(refined), key=self.selection.criterion)
