"""Learner: the protocols of what proposes conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from obliquerules.boosting.problem import Candidate, Stage
from obliquerules.rules import Proposition


class Learner(Protocol):
    """Turns gradients and a set of rows into propositions of growing complexity."""

    def propose(self, stage: Stage, sign: float, rows: NDArray[np.intp]) -> Iterator[tuple[Proposition, NDArray[np.bool_]]]:
        """Yield propositions in original units, each with the rows of the whole problem on which it holds.

        A proposition should cover rows whose gradient has the given sign and leave out those whose gradient has the other;
        ``rows`` are the ones that matter, because the rest is excluded by the condition so far.
        """
        ...


@runtime_checkable
class ConditionLearner(Protocol):
    """Finds whole conditions, instead of proposition after proposition."""

    def conditions(self, stage: Stage, max_propositions: int) -> Iterator[Candidate]:
        """Yield conditions for the next rule in the order of their complexity."""
        ...
