"""Streams: standard output and standard error for a command, with no output lost unnoticed."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare_streams() -> None:
    """Make standard output report failed writes and accept every character, and make sure that standard error exists."""
    _open_what_is_closed()
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115  # it stays open to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        _buffer_output(sys.stdout)
        sys.stdout.reconfigure(errors="backslashreplace")


def _open_what_is_closed() -> None:
    """Open the null device as descriptors 0, 1 and 2 if they are closed, so that no file opened later becomes one of them."""
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        os.set_inheritable(null, True)
        null = os.open(os.devnull, os.O_RDWR)
    os.close(null)


def _buffer_output(stream: io.TextIOWrapper) -> None:
    """Buffer a standard output that has no buffer: without one, Python ignores partial writes, as on a full disk."""
    if isinstance(stream.buffer, io.RawIOBase):
        buffer = io.BufferedWriter(stream.buffer)
        sys.stdout = io.TextIOWrapper(buffer, encoding=stream.encoding, line_buffering=stream.line_buffering)


class OutputClosedError(Exception):
    """Standard output is closed, so a result would be lost."""


def standard_output() -> TextIO:
    """Return standard output; raise if it is closed, which Python's print ignores."""
    if sys.stdout is None:
        raise OutputClosedError("standard output is closed.")
    return sys.stdout


def silence(stream: TextIO) -> None:
    """Redirect a stream that cannot be written to the null device, so that Python does not try to flush it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
