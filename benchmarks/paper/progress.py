"""Progress: how far a run is and how long it will take, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable
from datetime import timedelta
from statistics import fmean

from benchmarks.paper.trials import Outcome, Trial


class Progress:
    """Reports how far a run is: on a terminal every two seconds, on one line; in a file a line every half minute."""

    def __init__(self, total: int, known: Iterable[Outcome]):
        self._total, self._known = total, list(known)
        self._start = self._last_report = time.monotonic()
        self._busy = 0.0
        self._terminal = sys.stderr.isatty()
        if self._known:
            sys.stderr.write(f"{len(self._known)} of {total} fits were done before.\n")

    def tell(self, outcome: Outcome, waiting: Collection[Trial]) -> None:
        """Count an outcome, and report if it is time to."""
        self._known.append(outcome)
        self._busy += outcome.seconds
        now = time.monotonic()
        if not waiting or now - self._last_report >= (2.0 if self._terminal else 30.0):
            self._last_report = now
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


def seconds_left(known: Collection[Outcome], waiting: Iterable[Trial], elapsed: float, busy: float) -> float:
    """Estimate the wall-clock time that the waiting trials take.

    Each is expected to take the mean processor time of its method, or of all methods if its own has no outcome yet. So far,
    ``busy`` seconds of processor time took ``elapsed`` seconds.
    """
    by_method: dict[str, list[float]] = {}
    for outcome in known:
        by_method.setdefault(outcome.trial.method, []).append(outcome.seconds)
    overall = fmean(outcome.seconds for outcome in known)
    means = {method: fmean(seconds) for method, seconds in by_method.items()}
    work = sum(means.get(trial.method, overall) for trial in waiting)
    return work * elapsed / busy if busy > 0.0 else 0.0
