"""Learners find the conditions of the next rule: the greedy one test by test, the exact one by branch and bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.kernels.axis_rules import RuleSearch
from obliquerules.learning.boosting.axis import AxisProposer, SortedColumns
from obliquerules.learning.boosting.selection import SAME_OBJECTIVE, Record, Selection
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
            grown = stage.empty_rule()
            for _ in range(self.max_propositions):
                longer = longer_conditions(
                    stage, grown, signs, self.proposer, repeats=self.repeats, objectives=selection.uses_objective
                )
                chosen = selection.choose(stage, longer, record)
                if chosen is None or not selection.accepts(grown, chosen):
                    break
                grown = chosen
            # A rule on the rows of another would change nothing, and the next round would find it again.
            if grown.tests and not stage.has_rule_on(grown.covers):
                yield grown


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


SIGNS = (1.0, -1.0)


class ExactLearner:
    """Finds for each number of propositions the conjunction with the largest objective.

    Parameters
    ----------
    columns : SortedColumns
    max_propositions : int
        Largest number of propositions in a conjunction.
    max_nodes : int
        The largest number of conjunctions to extend in the search for one rule. At this limit the best one found so far is
        taken; it is at least as good as the greedy one. The time limit of the fit does the same.
    """

    def __init__(self, columns: SortedColumns, max_propositions: int, max_nodes: int) -> None:
        self.columns = columns
        self.proposer = AxisProposer(columns)
        self.max_propositions = max_propositions
        self.max_nodes = max_nodes

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield the best condition of the length that the selection chooses."""
        chosen = selection.choose(stage, self.conditions(stage, record), record)
        if chosen is not None:
            yield chosen

    def conditions(self, stage: Stage, record: Record) -> Iterator[Candidate]:
        """Yield the best condition of each length, as long as the objective rises."""
        deadline, nodes_left = time.perf_counter() + record.seconds_left, self.max_nodes
        searches = {(view, sign): self._search(view, sign) for view in stage.views() for sign in SIGNS}
        greedy, best = dict.fromkeys(searches, stage.empty_rule()), None
        for length in range(1, self.max_propositions + 1):
            before = best
            for (view, sign), search in searches.items():
                # The greedy condition is a good start, on which the search can only improve.
                longer = longer_conditions(stage, greedy[view, sign], (sign,), self.proposer, [view])
                grown = greedy[view, sign] = next(longer, greedy[view, sign])
                if grown.tests:
                    best = _better(best, grown)
                found, nodes, ended = search.run(length, best.objective if best else 0.0, nodes_left, deadline)
                nodes_left -= nodes
                record.note_search(to_the_end=ended)
                if found is not None:
                    best = _better(best, self._candidate(stage, found))
            if best is not None and best is not before:
                yield best

    def _search(self, view: View, sign: float) -> RuleSearch:
        objective = view.objective
        directed, ranking = objective.directed(sign), objective.ranking(sign)
        columns, between = self.columns, objective.between_patterns()
        return RuleSearch(columns.order, columns.group, directed, ranking, between, columns.keys, columns.keys_of(view.fires))

    def _candidate(self, stage: Stage, found: list[list[int]]) -> Candidate:
        """Return the candidate of propositions with a kind (column and side) and groups inside and outside."""
        condition = Conjunction(
            self.columns.proposition(kind // 2, min(inside, outside), max(inside, outside), upper=kind % 2 == 0)
            for kind, inside, outside in found
        )
        covers = condition(stage.problem.X)
        return Candidate(condition, covers, stage.objective(covers))


def _better(best: Candidate | None, other: Candidate) -> Candidate:
    """Return the candidate with the larger objective, the first of equal ones."""
    return other if best is None or other.objective > (1.0 + SAME_OBJECTIVE) * best.objective else best
