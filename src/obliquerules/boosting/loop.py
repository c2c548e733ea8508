"""The boosting loop: Algorithm 1 of the paper, for any learner and any selection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from obliquerules.boosting.learner import Learner
from obliquerules.boosting.problem import Candidate, Problem, Stage
from obliquerules.boosting.selection import Selection


def boost(problem: Problem, learner: Learner, selection: Selection, max_rules: int, max_propositions: int) -> Iterator[Stage]:
    """Yield the ensemble with no rule, with one rule, and so on, each with all weights refitted.

    Ends early if no further rule can be found.
    """
    stage = Stage.constant(problem)
    yield stage
    for _ in range(max_rules):
        grown = (grow(stage, sign, learner, selection, max_propositions) for sign in (-1.0, 1.0))
        rule = selection.best(candidate for candidate in grown if candidate is not None)
        if rule is None:
            return
        stage = stage.with_rule(rule)
        yield stage


def grow(stage: Stage, sign: float, learner: Learner, selection: Selection, max_propositions: int) -> Candidate | None:
    """Grow one condition, proposition by proposition, towards rows whose gradient has the given sign."""
    current = stage.everything()
    for _ in range(max_propositions):
        chosen = selection.choose(stage, longer_conditions(stage, current, sign, learner))
        if chosen is None or not selection.accepts(current, chosen):
            break
        current = chosen
    return current if len(current.condition) else None


def longer_conditions(stage: Stage, current: Candidate, sign: float, learner: Learner) -> Iterator[Candidate]:
    """Yield the conditions with one more proposition, leaving out those that exclude no row or all."""
    rows = np.flatnonzero(current.covers)
    for proposition, covers in learner.propose(sign * stage.gradient, rows):
        longer = current.extended(proposition, covers, stage.gradient)
        if 0 < np.count_nonzero(longer.covers) < len(rows):
            yield longer
