"""Output: files that are never overwritten unasked, and never seen half-written."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from obliquerules.cli.console import WorkFailedError
from obliquerules.rules.files.whole_files import NotRegularError, give_new_name, regular_file, temporary_beside


def add_output(parser: argparse.ArgumentParser, what: str, *, required: bool = False) -> None:
    """Let a command write a file."""
    parser.add_argument("-o", "--output", type=Path, required=required, metavar="FILE", help=what)
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it is there")


def check_output(path: Path | None, force: bool, *inputs: str | None) -> None:
    """Raise, before any work is done, if a file must not or cannot be written; never over a file that the command reads."""
    if path is None:
        return
    before = _there(path)
    for name in inputs:
        if before is not None and name is not None and _is(name, before):
            raise ValueError(f"--output must not be an input: '{path}' is the file that is read as {_source(name)}.")
    if before is not None and not force:
        raise ValueError(f"'{path}' is there already: give another name to --output, or --force to overwrite it.")
    _check_directory(path)


def _there(path: Path) -> os.stat_result | None:
    """Return the status of the file, or None if there is none."""
    try:
        return regular_file(path)
    except NotRegularError as error:
        raise ValueError(f"--output must name a file; {error}") from error
    except OSError as error:
        raise ValueError(f"--output must name a file that can be written; '{path}': {error.strerror}.") from error


def _is(name: str, before: os.stat_result) -> bool:
    """Return whether an input is that very file, under whatever name."""
    try:
        found = os.fstat(0) if name == "-" else Path(name).stat()
    except OSError:
        return False  # it cannot be read either, which is said when it is read
    return os.path.samestat(found, before)


def _source(name: str) -> str:
    return "standard input" if name == "-" else f"'{name}'"


def _check_directory(path: Path) -> None:
    directory = Path(os.path.realpath(path)).parent
    if not directory.is_dir():
        raise ValueError(f"The directory '{path.parent}' does not exist, so '{path.name}' cannot be written there.")
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ValueError(f"No file can be written in the directory '{path.parent}': {error.strerror}.") from error


@contextlib.contextmanager
def writing(path: Path, force: bool) -> Iterator[Path]:
    """Yield where to write a file, new unless forced."""
    target = Path(os.path.realpath(path))  # what a link leads to
    place = path if force else temporary_beside(target)
    try:
        yield place
        if not force:
            give_new_name(place, target)
    except FileExistsError as error:
        raise WorkFailedError(
            f"'{path}' was written by another program meanwhile, and is left as it is: give another name to --output, or "
            "--force to overwrite it."
        ) from error
    except OSError as error:
        raise WorkFailedError(f"'{path}' could not be written, and is as it was before: {error.strerror or error}.") from error
    finally:
        if not force:
            place.unlink(missing_ok=True)
