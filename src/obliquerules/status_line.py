"""The progress of long work on one line of the terminal, and the stopwatch of a fit."""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO, TypeVar

Result = TypeVar("Result")

# The seconds of silence at the beginning, and those between two changes of the line.
SILENCE, PAUSE = 2.0, 0.2
# The width of a line on a stream of unknown width.
COLUMNS = 80


class Stopwatch:
    """The seconds since its creation, by a clock that never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began = clock()

    @property
    def seconds(self) -> float:
        """The seconds since then."""
        return self.clock() - self.began

    def restarted(self) -> Stopwatch:
        """Return a stopwatch by the same clock that starts now."""
        return Stopwatch(self.clock)


class StatusLine:
    """One line with the progress of long work, erased at its end.

    A part of the work, such as a fold, may be a fit that reports its own progress: this counts within the part. Without a
    stream, a report costs nothing.

    Parameters
    ----------
    name : str
        The beginning of the line.
    clock : callable
        Returns seconds that never go back.
    stream : text stream or None
        None for no line.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        self.name, self.clock, self.stream = name, clock, stream
        self.began, self.drawn = 0.0 if stream is None else clock(), -math.inf
        self.part, self.first, self.last, self.share, self.told = "", 0.0, 1.0, 0.0, 0.0
        self.width, self.process, self.lock = 0, os.getpid(), threading.Lock()

    def begin(self, part: str, first: float, last: float) -> None:
        """Begin a part of the work, from one share to another."""
        if self.stream is not None:
            self.part, self.first, self.last, self.share = part, first, last, first
            self.tell(part, 0.0)

    def tell(self, doing: str, share: float) -> None:
        """Report the present step and the finished share."""
        if self.stream is None:
            return
        now, self.told = self.clock(), share
        # The share never falls, although each fit of a part begins anew.
        self.share = max(self.share, self.first + share * (self.last - self.first))
        # A forked process has a copy of the line, and draws none.
        if now - self.began > SILENCE and now - self.drawn >= PAUSE and os.getpid() == self.process:
            self.drawn = now
            self._write(f"{self.name}: {self.part or doing}{progress(self.share, now - self.began)}")

    def counter(self, doing: str, steps: int) -> Callable[[Result], Result]:
        """Return a function that counts results as the last steps of a part."""
        before, done = self.told, itertools.count(1)

        def counted(result: Result) -> Result:
            self.tell(doing, before + (1.0 - before) * next(done) / steps)
            return result

        return counted

    def end(self) -> None:
        """Erase the line for good."""
        if self.width:
            self._write("")
        self.stream = None

    def _write(self, text: str) -> None:
        """Overwrite the line; after a failure, never again."""
        with self.lock:
            if self.stream is None:
                return
            try:
                # Set before writing, so that an interrupt at any moment leaves nothing.
                self.width = min(max(self.width, len(text)), columns_of(self.stream) - 1)
                # Spaces erase in every terminal and notebook; other output begins on the left, over this line.
                self.stream.write(f"\r{text[: self.width]:<{self.width}}\r")
                self.stream.flush()
            except (OSError, ValueError):  # a closed stream, or one without a character: no reason for work to fail
                self.stream = None


NO_LINE = StatusLine("")
_open: ContextVar[StatusLine | None] = ContextVar("open", default=None)


def status_line() -> StatusLine:
    """Return the open line, or one that shows nothing."""
    return _open.get() or NO_LINE


@contextmanager
def opened(name: str, clock: Callable[[], float] = time.monotonic, *, shown: bool = True) -> Iterator[StatusLine]:
    """Open a line, unless the surrounding work has one; if it is not shown, work inside has none either."""
    outer = _open.get()
    if outer is not None:
        yield outer
        return
    line = StatusLine(name, clock, watched_stream() if shown else None)
    token = _open.set(line)
    try:
        yield line
    finally:
        _open.reset(token)
        line.end()


def watched_stream() -> TextIO | None:
    """Return standard error on a terminal or in a notebook, but not in worker threads and processes."""
    import multiprocessing  # only here, since commands that do not fit should start quickly

    if threading.current_thread() is not threading.main_thread() or multiprocessing.parent_process() is not None:
        return None
    try:
        return sys.stderr if sys.stderr.isatty() or in_notebook() else None
    except (AttributeError, ValueError):  # it is None, closed, or anything with a method to write
        return sys.stderr if in_notebook() else None


def in_notebook() -> bool:
    """Return whether this runs in a kernel of IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def columns_of(stream: TextIO) -> int:
    """Return the width of a terminal, or a usual one."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or COLUMNS
    except (AttributeError, OSError, ValueError):  # a stream of a notebook, for example
        return COLUMNS


def progress(share: float, seconds: float) -> str:
    """Return the finished share and, if known, the remaining time.

    >>> progress(0.62, 13.0), progress(0.0, 3.0), progress(0.99, 10.0)
    (', 62 %, about 8 s left', ', 0 %', ', 99 %')
    """
    left = seconds * (1.0 - share) / share if share > 0.0 else 0.0
    # At most 99 %: work is not finished while there is a line.
    return f", {min(99, int(100.0 * share + 1e-9))} %" + (f", about {rough(left)} left" if left >= 1.0 else "")


def rough(seconds: float) -> str:
    """Return a time in whole seconds, minutes or hours.

    >>> rough(7.4), rough(200.0), rough(20000.0)
    ('7 s', '3 min', '6 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
