"""Stopwatch: the time since a fit began."""

from __future__ import annotations

import time
from collections.abc import Callable


class Stopwatch:
    """The seconds since it was started, which is when it is created.

    Parameters
    ----------
    clock : callable
        Returns seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began = clock()

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return self.clock() - self.began

    def restarted(self) -> Stopwatch:
        """Return a stopwatch by the same clock that starts now."""
        return Stopwatch(self.clock)
