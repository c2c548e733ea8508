"""The boosting loop: Algorithm 1 of the paper, for any learner and any selection."""

from __future__ import annotations

from collections.abc import Iterator

from obliquerules.boosting.class_stage import first_stage
from obliquerules.boosting.learner import Learner
from obliquerules.boosting.problem import Candidate, Problem, Stage
from obliquerules.boosting.record import Record
from obliquerules.boosting.selection import Selection


def boost(
    problem: Problem, learner: Learner, selection: Selection, max_rules: int, record: Record | None = None
) -> Iterator[Stage]:
    """Yield the ensemble with no rule, with one rule, and so on, each with all weights refitted.

    Ends early if no further rule can be found. The ensembles, and what learner and selection find, go into the record.
    """
    met = Record() if record is None else record

    def next_rule(stage: Stage) -> Candidate | None:
        best = selection.best(learner.candidates(stage, selection, met))
        return None if best is None else best.upright(problem)

    stage = first_stage(problem)
    yield met.note_grown(stage)
    for _ in range(max_rules):
        rule = next_rule(stage)
        if rule is None:
            return
        stage = selection.revise(stage.with_rule(rule), next_rule)
        yield met.note_grown(stage)
