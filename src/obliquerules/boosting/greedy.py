"""The greedy learner: conditions grown proposition by proposition, from whatever proposes propositions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.problem import Candidate, Stage
from obliquerules.boosting.record import Record
from obliquerules.boosting.selection import Selection
from obliquerules.rules import Proposition

Signs = tuple[float, ...]

# The algorithm box grows one condition for each sign of the gradient.
ONE_FOR_EACH_SIGN: tuple[Signs, ...] = ((-1.0,), (1.0,))
# A single condition that may turn to the other sign with each proposition.
ONE_FOR_BOTH_SIGNS: tuple[Signs, ...] = ((1.0, -1.0),)
# Two conditions that may turn, one from either side of the first threshold: a conjunction of thresholds keeps to its side.
ONE_FROM_EACH_SIDE: tuple[Signs, ...] = ((1.0, -1.0), (-1.0, 1.0))


class Proposer(Protocol):
    """Turns gradients and a set of rows into propositions of growing complexity."""

    def propose(self, stage: Stage, sign: float, rows: NDArray[np.intp]) -> Iterator[tuple[Proposition, NDArray[np.bool_]]]:
        """Yield propositions in original units, each with the rows of the whole problem on which it holds.

        A proposition should cover rows whose gradient has the given sign and leave out those whose gradient has the other;
        ``rows`` are the ones that matter, because the rest is excluded by the condition so far.
        """
        ...


@dataclass(frozen=True, eq=False)
class GreedyLearner:
    """Adds to a condition one proposition at a time, each the one that the selection chooses, while it accepts them.

    Attributes
    ----------
    proposer : Proposer
    max_propositions : int
        Largest number of propositions in a condition, k_r in the paper.
    signs : tuple of tuple of float
        For each condition to grow, the signs of the gradients that it may go after.
    """

    proposer: Proposer
    max_propositions: int
    signs: tuple[Signs, ...] = ONE_FOR_EACH_SIGN

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield the condition that is grown for each entry of ``signs``."""
        for signs in self.signs:
            grown = self.grow(stage, signs, selection, record)
            if len(grown.condition):
                yield grown

    def grow(self, stage: Stage, signs: Signs, selection: Selection, record: Record) -> Candidate:
        """Grow one condition; it stays empty if there is nothing to add."""
        current = stage.everything()
        for _ in range(self.max_propositions):
            chosen = selection.choose(stage, longer_conditions(stage, current, signs, self.proposer), record)
            if chosen is None or not selection.accepts(current, chosen):
                break
            current = chosen
        return current


def longer_conditions(stage: Stage, current: Candidate, signs: Signs, proposer: Proposer) -> Iterator[Candidate]:
    """Yield the conditions with one more proposition that exclude some rows, not all, and repeat no rule of the ensemble.

    What covers the gradients of one sign best leaves out those of the other best: with both signs wanted, each proposition is
    taken with its opposite. To the first proposition the opposite adds nothing but another constant.
    """
    rows = np.flatnonzero(current.covers)
    for proposition, covers in proposer.propose(stage, signs[0], rows):
        sides = [(proposition, covers)]
        if len(signs) == 2 and len(current.condition):
            sides.append((proposition.opposite(), ~covers))
        for side, side_covers in sides:
            longer = current.extended(side, side_covers, stage.objective)
            if 0 < np.count_nonzero(longer.covers) < len(rows) and not stage.has_rule_on(longer.covers):
                yield longer
