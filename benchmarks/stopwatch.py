"""The stopwatch: time of the processor, which other programs on the machine disturb less than the time on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def cpu_seconds(work: Callable[[], Any], at_least: float = 0.2) -> float:
    """Return the mean processor time, of all threads together, over so many runs that they take ``at_least`` seconds.

    A mean over a stretch of time, for slow and quick work alike, so that what disturbs the machine disturbs both alike.
    """
    start, runs = time.process_time(), 0
    while runs == 0 or time.process_time() - start < at_least:
        work()
        runs += 1
    return (time.process_time() - start) / runs
