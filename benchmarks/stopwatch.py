"""The stopwatch: time of the processor, which other programs on the machine disturb less than the time on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def mean_seconds(work: Callable[[], Any], at_least: float = 0.2) -> float:
    """Return the mean processor time, of all threads together, over runs that together take ``at_least`` seconds.

    For a comparison with a rival: what disturbs the machine disturbs both alike, be their work quick or slow.
    """
    start, runs = time.process_time(), 0
    while runs == 0 or time.process_time() - start < at_least:
        work()
        runs += 1
    return (time.process_time() - start) / runs
