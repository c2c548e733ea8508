"""The console: results, messages, exit codes, and options of several commands."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

from obliquerules.status_line import opened

DONE, FAILED, REFUSED = 0, 1, 2


class WorkFailedError(Exception):
    """A valid request that could not be carried out."""


class OutputClosedError(Exception):
    """Standard output is closed, so a result would be lost."""


def prepare_streams() -> None:
    """Make standard output report failed writes; open standard error."""
    # No file opened later must become descriptor 0, 1 or 2.
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        os.set_inheritable(null, True)
        null = os.open(os.devnull, os.O_RDWR)
    os.close(null)
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115  # it stays open to the end
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if isinstance(sys.stdout.buffer, io.RawIOBase):  # without a buffer, Python ignores partial writes, as on a full disk
        buffer, stream = io.BufferedWriter(sys.stdout.buffer), sys.stdout
        sys.stdout = io.TextIOWrapper(buffer, encoding=stream.encoding, line_buffering=stream.line_buffering)
    sys.stdout.reconfigure(errors="backslashreplace")


def standard_output() -> TextIO:
    """Return standard output; raise if it is closed, which Python's print ignores."""
    if sys.stdout is None:
        raise OutputClosedError("standard output is closed.")
    return sys.stdout


def silence(stream: TextIO) -> None:
    """Redirect a stream to the null device before the exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def say(message: str) -> None:
    """Write a message to standard error, apart from results."""
    try:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()
    except OSError:  # nobody reads it, and the exit code still says how the command ended
        silence(sys.stderr)


def complain(message: str) -> None:
    """Write what went wrong to standard error, on one line."""
    say(f"obliquerules: {' '.join(message.split())}")


def note(message: str) -> None:
    """Write to standard error what the user should know."""
    say(f"Note: {message[:1].lower()}{message[1:].rstrip('.')}")


@contextlib.contextmanager
def warnings_as_notes(*, quiet: bool = False) -> Iterator[None]:
    """Turn warnings inside into notes, or silence them."""
    with warnings.catch_warnings(record=True) as caught, opened("", shown=False) if quiet else contextlib.nullcontext():
        warnings.simplefilter("always", UserWarning)
        yield
    for one in caught:
        if not issubclass(one.category, UserWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif not quiet:
            note(str(one.message))


def write_result(text: str) -> None:
    """Write a result for people, with escapes for foreign characters."""
    output = standard_output()
    output.write(text)
    output.flush()  # before anything is said of it on standard error


def write_exactly(text: str) -> None:
    """Write a result for programs, exactly or not at all."""
    output = standard_output()
    if not _takes(output, text):
        raise WorkFailedError(
            f"standard output takes only characters of {output.encoding}, and the result has others: give a file to --output, "
            "or set PYTHONIOENCODING=utf-8."
        )
    output.write(text)


def write_json(content: Any) -> None:
    """Write a result as JSON with exact numbers."""
    output = standard_output()
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=_as_json)
    output.write((text if _takes(output, text) else json.dumps(content, allow_nan=False, default=_as_json)) + "\n")


def _as_json(value: Any) -> Any:
    """Return a moment in ISO 8601, and a duration in days."""
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"A value of type {type(value).__name__} has no form in JSON.")


def _takes(output: TextIO, text: str) -> bool:
    try:
        text.encode(output.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Let a command write JSON."""
    parser.add_argument("--json", action="store_true", help=f"write {what} to standard output as JSON, with exact numbers")


def add_at(parser: argparse.ArgumentParser) -> None:
    """Let a command take a smaller model of the path."""
    parser.add_argument(
        "--at",
        type=_size,
        metavar="C",
        help="take the largest model of the path whose complexity is at most C; auto: the size that expected losses choose",
    )


def _size(text: str) -> int | str:
    return text if text == "auto" else int(text)  # argparse refuses other text


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Let a command be silent."""
    parser.add_argument("--quiet", action="store_true", help="report nothing but errors")
