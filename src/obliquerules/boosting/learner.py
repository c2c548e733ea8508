"""Learner: the protocol of what proposes conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Proposition


class Learner(Protocol):
    """Turns gradients and a set of rows into propositions of growing complexity."""

    def propose(self, pull: NDArray[np.float64], rows: NDArray[np.intp]) -> Iterator[tuple[Proposition, NDArray[np.bool_]]]:
        """Yield propositions in original units, each with the rows of the whole problem on which it holds.

        A proposition should cover rows whose ``pull`` is positive and leave out those whose pull is negative; ``rows`` are the
        ones that matter, because the rest is excluded by the condition so far.
        """
        ...
