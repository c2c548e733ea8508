"""Data: the table that a command reads, and the inputs of a model in it."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rows.cells import Conventions
from obliquerules.rows.files import SUFFIXES, DataFile, read_stream
from obliquerules.rows.levels import has_decimal_commas, kind_of, numbers_only
from obliquerules.rows.reading import check_finite
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.ensemble import used_columns

# Separators that are hard to type.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
# Which files each option is about.
MEANT_FOR = {"separator": (".csv",), "encoding": (".csv",), "decimal": (".csv", ".xlsx"), "sheet": (".xlsx",)}


def add_data(
    parser: argparse.ArgumentParser, name: str = "data", what: str = "a table with a header", *, optional: bool = False
) -> None:
    """Let a command read a table: as an argument or, if the name starts with dashes, as an option."""
    help_text = f"{what}: {', '.join(SUFFIXES)}; '-' is CSV on standard input"
    parser.add_argument(name, metavar="DATA", nargs="?" if optional else None, help=help_text)
    reading = parser.add_argument_group("how DATA is written")
    reading.add_argument(
        "--separator", metavar="C", help="what separates the values of CSV (default: , ; or tab, as the header shows)"
    )
    reading.add_argument("--decimal", choices=(".", ","), help="the decimal mark of numbers in CSV (default: .)")
    reading.add_argument("--encoding", metavar="NAME", help="the encoding of CSV, such as latin-1 (default: utf-8)")
    reading.add_argument("--sheet", metavar="NAME", help="the sheet of an Excel file (default: the first)")


def read_data(options: argparse.Namespace) -> DataFile:
    """Read the table that the options name; raise ValueError if it cannot be read or is not what its suffix says."""
    name = options.data
    suffix = ".csv" if name == "-" else Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"DATA must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be '-'; got '{name}'.")
    conventions = _conventions(options, suffix)
    source = "standard input" if name == "-" else f"'{name}'"
    try:
        with _opened(name) as file:
            return read_stream(file, suffix, source, conventions)
    except OSError as error:
        raise ValueError(f"'{name}' cannot be read: {error.strerror or error}.") from error


def _conventions(options: argparse.Namespace, suffix: str) -> Conventions:
    """Return how the table is written; raise if an option makes no sense for it."""
    given = {name: value for name in MEANT_FOR if (value := getattr(options, name)) is not None}
    for name in given:
        if suffix not in MEANT_FOR[name]:
            raise ValueError(f"--{name} is for {' and '.join(MEANT_FOR[name])}; it cannot be used with '{options.data}'.")
    if "separator" in given:
        given["separator"] = _separator(given["separator"])
    if "encoding" in given:
        _check_encoding(given["encoding"])
    return Conventions(**given)


def _separator(text: str) -> str:
    separator = SEPARATORS.get(text, text)
    if len(separator) != 1 or separator in '"\r\n':
        raise ValueError(f"--separator must be one character, 'tab' or 'space'; got {text!r}.")
    return separator


def _check_encoding(name: str) -> None:
    try:
        known = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        known = False
    if not known:
        raise ValueError(f"--encoding must name an encoding of text, such as latin-1 or utf-16; got {name!r}.")


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed, so no table can be read from it.")
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def used_names(*ensembles: RuleEnsemble, names: tuple[str, ...]) -> list[str]:
    """Return the names of the columns that rules use."""
    return [names[column] for column in used_columns(ensembles)]


def inputs(
    model: Model, data: DataFile, rows: Any = slice(None), *, ensembles: Iterable[RuleEnsemble] = ()
) -> NDArray[np.float64]:
    """Return the inputs of a model, or of the given members of its path.

    Columns that their rules do not use need not be there, whatever they hold, and become zero.
    """
    names = used_names(model.ensemble, *ensembles, names=model.feature_names)
    check_decimals(data, names)
    chosen = numbers_only(data.choose(names).rows(rows))
    X = np.zeros((len(np.arange(len(data.block))[rows]), len(model.feature_names)))
    for name, values in zip(chosen.names, chosen.matrix.T, strict=True):
        X[:, model.feature_names.index(name)] = values
    check_finite(X, model.feature_names)
    return X


def check_decimals(data: DataFile, names: Iterable[str]) -> None:
    """Raise if a column holds numbers with a decimal comma, which were read as text."""
    for name in names:
        column, values = data.column(name)
        if has_decimal_commas(column):
            raise ValueError(f"Column '{name}' of {data.source} holds {kind_of(column, values)}. To read them: --decimal ','.")
