"""The ledger: a file to which outcomes are added one by one, and which survives being cut off at any moment."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import obliquerules
from obliquerules.benchmark.tasks import Outcome, Task

FORMAT = "obliquerules benchmark"


class Ledger:
    """Outcomes on disk, one to a line after a heading; the last line counts only if it is complete.

    Made by `open_ledger`, which reads what is there.
    """

    def __init__(self, file: BinaryIO, outcomes: dict[Task, Outcome]):
        self._file = file
        self.outcomes = outcomes

    def add(self, outcome: Outcome) -> None:
        """Write an outcome so that it is there for good when this returns."""
        _append(self._file, outcome.line())
        self.outcomes[outcome.task] = outcome


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """Open the ledger in a file, or a new one; nobody else can add to it meanwhile."""
    with open(path, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"Another run is writing to '{path}': wait for it to end, or give another directory.") from None
        heading, *lines = _complete_lines(file) or [_heading()]
        _check(path, heading)
        if not file.tell():
            _append(file, heading)
        outcomes = (_read(path, number, line) for number, line in enumerate(lines, start=2))
        yield Ledger(file, {outcome.task: outcome for outcome in outcomes})


def _heading() -> str:
    return json.dumps({"format": FORMAT, "version": obliquerules.__version__})


def _append(file: BinaryIO, line: str) -> None:
    file.write(f"{line}\n".encode())
    file.flush()
    os.fsync(file.fileno())


def _complete_lines(file: BinaryIO) -> list[str]:
    """Return the lines that end, and cut off the one that does not: it was being written when the run was stopped."""
    file.seek(0)
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    file.truncate(len(whole))
    file.seek(len(whole))
    return whole.decode("utf-8", errors="replace").splitlines()


def _check(path: Path, heading: str) -> None:
    expected = _heading()
    if heading != expected:
        raise ValueError(f"'{path}' must start with {expected}; it starts with {heading[:80]!r}. Give another directory.")


def _read(path: Path, number: int, line: str) -> Outcome:
    try:
        return Outcome.of_line(line)
    except ValueError as error:
        raise ValueError(f"Line {number} of '{path}' is not an outcome ({error}): remove it to do its task anew.") from error
