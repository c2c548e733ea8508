"""Data: the table that a command reads, and the inputs of a model in it."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.files import SUFFIXES, DataFile, read_stream
from obliquerules.rows.reading import read_inputs
from obliquerules.rules import Model


def add_data(
    parser: argparse.ArgumentParser, name: str = "data", what: str = "a table with a header", *, optional: bool = False
) -> None:
    """Let a command read a table: as an argument or, if the name starts with dashes, as an option."""
    help_text = f"{what}: {', '.join(SUFFIXES)}; '-' is CSV on standard input"
    parser.add_argument(name, metavar="DATA", nargs="?" if optional else None, help=help_text)
    parser.add_argument(
        "--delimiter", metavar="C", help="what separates the values of CSV (default: , ; or tab, whichever the header has)"
    )


def read_data(name: str, delimiter: str | None = None) -> DataFile:
    """Read a table; raise ValueError if it cannot be read or is not what its suffix says."""
    suffix = ".csv" if name == "-" else Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"DATA must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be '-'; got '{name}'.")
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"--delimiter must be one character; got {delimiter!r}.")
    source = "standard input" if name == "-" else f"'{name}'"
    try:
        with _opened(name) as file:
            return read_stream(file, suffix, source, delimiter)
    except OSError as error:
        raise ValueError(f"'{name}' cannot be read: {error.strerror or error}.") from error


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed, so no table can be read from it.")
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def inputs(model: Model, data: DataFile, rows: Any = slice(None)) -> NDArray[np.float64]:
    """Return the inputs of a model; other columns do not matter."""
    return read_inputs(model, data.choose(model.feature_names).rows(rows))
