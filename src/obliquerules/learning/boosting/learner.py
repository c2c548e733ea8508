"""Learners: find the conditions of the next rule; the greedy one grows them test by test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import Selection
from obliquerules.learning.boosting.stage import Stage, View
from obliquerules.learning.boosting.terms import Candidate, complement
from obliquerules.rules import Conjunction, Test


class Learner(Protocol):
    """Finds conditions for the next rule of an ensemble; keeps nothing from one rule to the next."""

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield conditions for the next rule, each with as many propositions as the selection accepts.

        The selection then takes the best of them. Anything else that the fit should know goes into the record.
        """


Signs = tuple[float, ...]

# Algorithm 1 of the paper grows one condition for each sign of the gradient.
ONE_FOR_EACH_SIGN: tuple[Signs, ...] = ((-1.0,), (1.0,))
# A single condition, whose sign may change with each proposition.
ONE_FOR_BOTH_SIGNS: tuple[Signs, ...] = ((1.0, -1.0),)
# Two conditions whose sign may change, one from each side of the first threshold, because a conjunction cannot leave its side.
ONE_FROM_EACH_SIDE: tuple[Signs, ...] = ((1.0, -1.0), (-1.0, 1.0))


class Proposer(Protocol):
    """Turns gradients and a set of rows into propositions of growing complexity."""

    def propose(self, stage: View, sign: float, rows: NDArray[np.intp]) -> Iterator[tuple[Test, NDArray[np.bool_]]]:
        """Yield propositions in original units, each with the rows of the whole problem on which it holds.

        A proposition should cover rows whose gradient has the given sign and exclude the others. Only ``rows`` matter: the
        condition so far excludes the rest.
        """


@dataclass(frozen=True, eq=False)
class GreedyLearner:
    """Adds propositions to a condition one at a time, as long as the selection accepts them.

    Attributes
    ----------
    proposer : Proposer
    max_propositions : int
        Largest number of propositions in a condition, k_r in the paper.
    signs : tuple of tuple of float
        For each condition to grow, the signs of the gradients that it may follow.
    repeats : bool
        Whether a condition may cover the rows of a rule of the ensemble while it grows, as in the paper.
    """

    proposer: Proposer
    max_propositions: int
    signs: tuple[Signs, ...] = ONE_FOR_EACH_SIGN
    repeats: bool = False

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield the condition grown for each entry of ``signs``."""
        for signs in self.signs:
            grown = self.grow(stage, signs, selection, record)
            # A rule on the rows of another would change nothing, and the next round would find it again.
            if grown.tests and not stage.has_rule_on(grown.covers):
                yield grown

    def grow(self, stage: Stage, signs: Signs, selection: Selection, record: Record) -> Candidate:
        """Grow one condition; it stays empty if there is nothing to add."""
        current = stage.empty_rule()
        for _ in range(self.max_propositions):
            longer = longer_conditions(
                stage, current, signs, self.proposer, repeats=self.repeats, objectives=selection.uses_objective
            )
            chosen = selection.choose(stage, longer, record)
            if chosen is None or not selection.accepts(current, chosen):
                break
            current = chosen
        return current


def longer_conditions(
    stage: Stage,
    current: Candidate,
    signs: Signs,
    proposer: Proposer,
    views: Sequence[View] | None = None,
    *,
    repeats: bool = False,
    objectives: bool = True,
) -> Iterator[Candidate]:
    """Yield conditions with one more proposition, which excludes some learning rows but not all.

    Without ``repeats``, none of them covers the rows of a rule of the ensemble. Without ``objectives``, theirs are zero.

    The proposition that best covers the gradients of one sign also best excludes those of the other. So with both signs, each
    proposition is offered with its complement. As a first proposition, the complement would only change the constant. With many
    classes, propositions follow the gradient of each class for which the condition may have a weight, or the ``views``.
    """
    condition, rows = current.condition, np.flatnonzero(current.covers)
    assert isinstance(condition, Conjunction)
    proposed = (found for view in views or stage.views(current) for found in proposer.propose(view, signs[0], rows))
    learning = stage.problem.learning_weight > 0.0
    objective = stage.objective if objectives else lambda _: 0.0
    both_sides = len(signs) == 2 and len(current.tests) > 0
    n_learning = np.count_nonzero(current.covers & learning)
    for proposition, holds in proposed:
        for side in (holds, ~holds) if both_sides else (holds,):
            covers = current.covers & side
            if 0 < np.count_nonzero(covers & learning) < n_learning and (repeats or not stage.has_rule_on(covers)):
                test = proposition if side is holds else complement(proposition, stage.problem.X)
                yield Candidate(condition & test, covers, objective(covers))
