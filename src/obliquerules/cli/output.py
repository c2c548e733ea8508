"""Output: files that are never overwritten unasked, and never seen half-written."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from obliquerules.cli.speech import WorkFailedError


def add_output(parser: argparse.ArgumentParser, what: str, *, required: bool = False) -> None:
    """Let a command write a file."""
    parser.add_argument("-o", "--output", type=Path, required=required, metavar="FILE", help=what)
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it is there")


def check_output(path: Path | None, force: bool) -> None:
    """Raise, before any work is done, if a file must not or cannot be written."""
    if path is None:
        return
    if path.exists() and not path.is_file():
        raise ValueError(f"--output must name a file; '{path}' is something else.")
    if path.exists() and not force:
        raise ValueError(f"'{path}' is there already: give another name to --output, or --force to overwrite it.")
    if not path.parent.is_dir():
        raise ValueError(f"The directory '{path.parent}' does not exist, so '{path.name}' cannot be written there.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"No file can be written in the directory '{path.parent}': {error.strerror}.") from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell which file it was that could not be written."""
    try:
        yield
    except OSError as error:
        raise WorkFailedError(f"'{path}' could not be written, and is as it was before: {error.strerror}.") from error
