"""Streams: standard output and standard error as a command needs them, where nothing is lost unnoticed."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare_streams() -> None:
    """Make standard output complain of what it does not take, and take every character; let standard error be there."""
    _open_what_is_closed()
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115  # it stays open to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        _buffer_output(sys.stdout)
        sys.stdout.reconfigure(errors="backslashreplace")


def _open_what_is_closed() -> None:
    """Let descriptors 0, 1 and 2 lead to nothing if they are closed: a file that is opened must not become one of them."""
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        os.set_inheritable(null, True)
        null = os.open(os.devnull, os.O_RDWR)
    os.close(null)


def _buffer_output(stream: io.TextIOWrapper) -> None:
    """Put a buffer before a standard output that has none: without one, Python ignores that a disk took only a part."""
    if isinstance(stream.buffer, io.RawIOBase):
        buffer = io.BufferedWriter(stream.buffer)
        sys.stdout = io.TextIOWrapper(buffer, encoding=stream.encoding, line_buffering=stream.line_buffering)


class OutputClosedError(Exception):
    """Standard output is closed, so that a result would be lost."""


def standard_output() -> TextIO:
    """Return standard output; raise if it is closed, where Python's own print says nothing."""
    if sys.stdout is None:
        raise OutputClosedError("standard output is closed.")
    return sys.stdout


def silence(stream: TextIO) -> None:
    """Lead a stream that cannot be written to nowhere, so that Python does not try again when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
