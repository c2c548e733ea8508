"""The ledger: a file to which outcomes are added one by one, and which survives being cut off at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import obliquerules
from benchmarks.paper.system import try_lock
from benchmarks.paper.trials import Outcome, Trial

FORMAT = "python -m benchmarks.paper"
# How the line of an outcome starts.
BEGINNING = '{"dataset":"'


class Ledger:
    """Outcomes on disk, one to a line after a heading; the last line counts only if it is complete.

    Made by `open_ledger`, which reads what is there.
    """

    def __init__(self, file: BinaryIO, outcomes: dict[Trial, Outcome]):
        self._file = file
        self.outcomes = outcomes

    def add(self, outcome: Outcome) -> None:
        """Write an outcome so that it is there for good when this returns."""
        _append(self._file, outcome.line())
        self.outcomes[outcome.trial] = outcome


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """Open the ledger in a file, or a new one; nobody else can add to it meanwhile. A file of something else stays as it is."""
    with open(path, "a+b") as file:
        if not try_lock(file):
            raise ValueError(f"Another run is writing to '{path}': wait for it to end, or give another directory.")
        file.seek(0)
        content = file.read()
        outcomes = _read(path, content)
        file.truncate(content.rfind(b"\n") + 1)  # only now that all of it is known to be ours
        file.seek(0, os.SEEK_END)
        if not file.tell():
            _append(file, _heading())
        yield Ledger(file, {outcome.trial: outcome for outcome in outcomes})


def _heading() -> str:
    return json.dumps({"format": FORMAT, "version": obliquerules.__version__})


def _append(file: BinaryIO, line: str) -> None:
    file.write(f"{line}\n".encode())
    file.flush()
    os.fsync(file.fileno())


def _read(path: Path, content: bytes) -> list[Outcome]:
    """Return the outcomes, once it is known that every line is ours; what follows the last end of a line does not count."""
    *lines, rest = content.decode("utf-8", errors="replace").split("\n")
    if not lines:
        _check_heading(path, rest, _heading()[: len(rest)])
        return []
    _check_heading(path, lines[0], _heading())
    outcomes = [_outcome(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    if not (rest.startswith(BEGINNING) or BEGINNING.startswith(rest)):
        raise ValueError(f"Line {len(lines) + 1} of '{path}' is neither an outcome nor the beginning of one: remove it.")
    return outcomes


def _check_heading(path: Path, heading: str, expected: str) -> None:
    if heading != expected:
        raise ValueError(f"'{path}' must start with {_heading()}; it starts with {heading[:80]!r}. Give another directory.")


def _outcome(path: Path, number: int, line: str) -> Outcome:
    try:
        return Outcome.of_line(line)
    except ValueError as error:
        raise ValueError(f"Line {number} of '{path}' is not an outcome ({error}): remove it to repeat its trial.") from error
