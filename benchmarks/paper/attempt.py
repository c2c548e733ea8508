"""An attempt: one trial carried out within a time limit, whatever may happen on the way.

The limit is one of processor time, so that other programs on the machine do not decide what is finished. In the main thread of
a process, as joblib's own processes run their calls, a timer of the operating system interrupts the fit. In another thread,
as workers of Dask and Ray may run theirs, and on Windows, nothing can: there the fit goes on to its end, and counts as stopped
all the same.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.paper.contenders import Contender
from benchmarks.paper.protocol import Curves, Split, bootstrap_split, follow
from benchmarks.paper.system import ringing_after
from benchmarks.paper.trials import STOPPED, Outcome, Trial
from obliquerules.estimators.rule_model import RuleModel


class TimeIsUpError(BaseException):
    """A fit took too long. Not an Exception, because a learner may catch those and carry on."""


def attempt(data: Any, contender: Contender, trial: Trial, limit: float = math.inf) -> Outcome:
    """Fit one setting to one split, in one thread, and follow its path on the test rows; a failure is an outcome too."""
    split = bootstrap_split(data, trial.seed)
    model = contender.make(data.task, trial.seed)[trial.setting]
    clock, curves, failure = _Clock(), Curves((), {}), None
    try:
        with threadpool_limits(1), _interrupted_after(limit, clock):
            model.fit(split.X_train, split.y_train, **_groups(model, split))
        if clock.stop() > limit:
            raise TimeIsUpError
        curves = follow(model, data.task, split)
    except TimeIsUpError:
        failure = f"{STOPPED} {limit:g} s of processor time"
    except Exception as error:  # whatever a method raises is its result
        failure = f"{type(error).__name__}: {error}"
    return Outcome(trial, curves.complexities, curves.losses, clock.stop(), failure)


def _groups(model: Any, split: Split) -> dict[str, Any]:
    """Return the groups of copies for models that take groups."""
    kind = model.method_class if isinstance(model, RuleModel) else None
    return {"groups": split.copies_of} if kind is not None and kind.takes_groups else {}


class _Clock:
    """The processor time since it was made, until it is first stopped."""

    def __init__(self) -> None:
        self._start = _processor_time()
        self._seconds: float | None = None

    def now(self) -> float:
        return _processor_time() - self._start

    def stop(self) -> float:
        if self._seconds is None:
            self._seconds = self.now()
        return self._seconds


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _processor_time() -> float:
    """Return the time of all threads, or of this one alone where others work on other trials."""
    return time.process_time() if _in_main_thread() else time.thread_time()


@contextmanager
def _interrupted_after(limit: float, clock: _Clock) -> Iterator[None]:
    if not (math.isfinite(limit) and _in_main_thread()):
        yield
        return

    def interrupt() -> None:
        raise TimeIsUpError

    with ringing_after(limit, lambda: limit - clock.now(), interrupt):
        yield
