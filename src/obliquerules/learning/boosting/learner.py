"""Learner: the protocol for finding the conditions of rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from obliquerules.learning.boosting.problem import Candidate, Stage
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import Selection


class Learner(Protocol):
    """Finds conditions for the next rule of an ensemble; keeps nothing from one rule to the next."""

    def candidates(self, stage: Stage, selection: Selection, record: Record) -> Iterator[Candidate]:
        """Yield conditions for the next rule, each with as many propositions as the selection accepts.

        The selection then takes the best of them. Anything else that the fit should know goes into the record.
        """
        ...
