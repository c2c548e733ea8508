"""The system: what the benchmark asks of it and Windows answers differently, a lock on a file and a timer of processor time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

if sys.platform == "win32":
    import msvcrt

    # Where no file ends: on Windows nobody else can read a byte that is locked.
    BEYOND_THE_END = 2**40

    def try_lock(file: BinaryIO) -> bool:
        """Lock a file until it is closed; False if somebody else has."""
        place = os.lseek(file.fileno(), 0, os.SEEK_CUR)
        os.lseek(file.fileno(), BEYOND_THE_END, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file.fileno(), place, os.SEEK_SET)
        return True

    @contextmanager
    def ringing_after(seconds: float, left: Callable[[], float], ring: Callable[[], None]) -> Iterator[None]:  # noqa: ARG001
        """Do nothing, because Windows has no timer of processor time."""
        yield

else:
    import fcntl

    SHORTEST = 0.001  # seconds: a timer of less would never ring

    def try_lock(file: BinaryIO) -> bool:
        """Lock a file until it is closed; False if somebody else has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def ringing_after(seconds: float, left: Callable[[], float], ring: Callable[[], None]) -> Iterator[None]:
        """Call ``ring`` in the main thread after so much processor time, once ``left`` says that none is left."""

        def answer(_number: int, _frame: Any) -> None:
            # The timer counts ticks, and on a busy machine it rings early.
            if (rest := left()) <= 0.0:
                ring()
            else:
                signal.setitimer(signal.ITIMER_PROF, max(rest, SHORTEST))

        before = signal.signal(signal.SIGPROF, answer)
        signal.setitimer(signal.ITIMER_PROF, max(seconds, SHORTEST))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
