"""The exact learner: the best conjunction of thresholds on single columns, by branch and bound (TGB)."""

from __future__ import annotations

import time
from collections.abc import Iterator

from obliquerules.kernels.axis_rules import RuleSearch
from obliquerules.learning.boosting.axis import AxisProposer, SortedColumns
from obliquerules.learning.boosting.learner import longer_conditions
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import SAME_OBJECTIVE, Selection
from obliquerules.learning.boosting.stage import Stage, View
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.rules import Conjunction

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
