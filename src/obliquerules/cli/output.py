"""Output files: never overwritten unasked, and never seen half-written."""

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


def check_output(options: argparse.Namespace, *inputs: str | None) -> None:
    """Raise, before any work, if the output cannot be written."""
    path: Path | None = options.output
    if path is None:
        return
    try:
        before = regular_file(path)
    except NotRegularError as error:
        raise ValueError(f"--output must name a file; {error}") from error
    except OSError as error:
        raise ValueError(f"--output must name a file that can be written; '{path}': {error.strerror}.") from error
    for name in inputs:
        if before is not None and name is not None and _is_same(name, before):
            source = "standard input" if name == "-" else f"'{name}'"
            raise ValueError(f"--output must not be an input: '{path}' is the file that is read as {source}.")
    if before is not None and not options.force:
        raise ValueError(f"'{path}' is there already: give another name to --output, or --force to overwrite it.")
    directory = Path(os.path.realpath(path)).parent
    if not directory.is_dir():
        raise ValueError(f"The directory '{path.parent}' does not exist, so '{path.name}' cannot be written there.")
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ValueError(f"No file can be written in the directory '{path.parent}': {error.strerror}.") from error


def _is_same(name: str, before: os.stat_result) -> bool:
    """Return whether an input is that very file, under whatever name."""
    try:
        found = os.fstat(0) if name == "-" else Path(name).stat()
    except OSError:
        return False  # it cannot be read either, which is said when it is read
    return os.path.samestat(found, before)


@contextlib.contextmanager
def writing(options: argparse.Namespace) -> Iterator[Path]:
    """Yield where to write the output, a new file unless forced."""
    path, force = options.output, options.force
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
