"""Progress: how far a run is and how long it will take, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable
from datetime import timedelta
from statistics import fmean

from obliquerules.benchmark.tasks import Outcome, Task


class Progress:
    """Says after each outcome, but not more than once in two seconds, how far the run is.

    On a terminal one line is written over and over; in a file there is a line every half minute.
    """

    def __init__(self, total: int, known: Iterable[Outcome]):
        self._total, self._known = total, list(known)
        self._start = self._told = time.monotonic()
        self._busy = 0.0
        self._terminal = sys.stderr.isatty()
        if self._known:
            sys.stderr.write(f"{len(self._known)} of {total} fits were done before.\n")

    def tell(self, outcome: Outcome, waiting: Collection[Task]) -> None:
        """Take note of an outcome, and say so if it is time to."""
        self._known.append(outcome)
        self._busy += outcome.seconds
        now = time.monotonic()
        if not waiting or now - self._told >= (2.0 if self._terminal else 30.0):
            self._told = now
            left = seconds_left(self._known, waiting, now - self._start, self._busy)
            end = "\r" if self._terminal and waiting else "\n"
            sys.stderr.write(f"{sentence(self._known, self._total, left):<70}{end}")
            sys.stderr.flush()


def sentence(known: Collection[Outcome], total: int, left: float) -> str:
    """Return how far a run is.

    >>> sentence([], 12, 75.4)
    '0 of 12 fits, 0 failed, about 0:01:15 left'
    """
    failed = sum(outcome.failure is not None for outcome in known)
    return f"{len(known)} of {total} fits, {failed} failed, about {timedelta(seconds=round(left))} left"


def seconds_left(known: Collection[Outcome], waiting: Iterable[Task], elapsed: float, busy: float) -> float:
    """Estimate the time on the wall that the waiting tasks take.

    Each takes as much processor time as those of its method took on average, or as all did if there are none; and ``busy``
    seconds of it went by in ``elapsed`` seconds.
    """
    by_method: dict[str, list[float]] = {}
    for outcome in known:
        by_method.setdefault(outcome.task.method, []).append(outcome.seconds)
    overall = fmean(outcome.seconds for outcome in known)
    means = {method: fmean(seconds) for method, seconds in by_method.items()}
    work = sum(means.get(task.method, overall) for task in waiting)
    return work * elapsed / busy if busy > 0.0 else 0.0
