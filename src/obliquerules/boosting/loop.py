"""The boosting loop: Algorithm 1 of the paper, for any learner and any selection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from obliquerules.boosting.learner import ConditionLearner, Learner
from obliquerules.boosting.problem import Candidate, Problem, Stage
from obliquerules.boosting.selection import Selection


def boost(
    problem: Problem, learner: Learner | ConditionLearner, selection: Selection, max_rules: int, max_propositions: int
) -> Iterator[Stage]:
    """Yield the ensemble with no rule, with one rule, and so on, each with all weights refitted.

    Ends early if no further rule can be found.
    """

    def learn(stage: Stage) -> Candidate | None:
        return next_rule(stage, learner, selection, max_propositions)

    stage = Stage.constant(problem)
    yield stage
    for _ in range(max_rules):
        rule = learn(stage)
        if rule is None:
            return
        stage = selection.revise(stage.with_rule(rule), learn)
        yield stage


def next_rule(
    stage: Stage, learner: Learner | ConditionLearner, selection: Selection, max_propositions: int
) -> Candidate | None:
    """Return the best rule to add to an ensemble."""
    if isinstance(learner, ConditionLearner):
        best = selection.choose(stage, learner.conditions(stage, max_propositions))
    else:
        grown = (grow(stage, signs, learner, selection, max_propositions) for signs in selection.signs)
        best = selection.best(candidate for candidate in grown if candidate is not None)
    return None if best is None else best.upright()


def grow(
    stage: Stage, signs: tuple[float, ...], learner: Learner, selection: Selection, max_propositions: int
) -> Candidate | None:
    """Grow one condition, proposition by proposition, towards rows whose gradients have one of the given signs."""
    current = stage.everything()
    for _ in range(max_propositions):
        chosen = selection.choose(stage, longer_conditions(stage, current, signs, learner))
        if chosen is None or not selection.accepts(current, chosen):
            break
        current = chosen
    return current if len(current.condition) else None


def longer_conditions(stage: Stage, current: Candidate, signs: tuple[float, ...], learner: Learner) -> Iterator[Candidate]:
    """Yield the conditions with one more proposition that exclude some rows, not all, and repeat no rule of the ensemble.

    What covers the gradients of one sign best leaves out those of the other best: with both signs wanted, each proposition is
    taken with its opposite. To the first proposition the opposite adds nothing but another constant.
    """
    rows = np.flatnonzero(current.covers)
    for proposition, covers in learner.propose(stage, signs[0], rows):
        sides = [(proposition, covers)]
        if len(signs) == 2 and len(current.condition):
            sides.append((proposition.opposite(), ~covers))
        for side, side_covers in sides:
            longer = current.extended(side, side_covers, stage.objective)
            if 0 < np.count_nonzero(longer.covers) < len(rows) and not stage.has_rule_on(longer.covers):
                yield longer
