"""The input table of a command, and a model's columns in it."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.console import warnings_as_notes
from obliquerules.cli.io.data_file import SUFFIXES, DataFile, read_stream
from obliquerules.cli.io.text_columns import Conventions, same_level
from obliquerules.data.levels import has_decimal_commas, kind_of, recoded_values
from obliquerules.data.model_rows import warn_of_new_values
from obliquerules.data.reading import check_not_infinite
from obliquerules.rules import Block, Model, RuleEnsemble
from obliquerules.rules.columns import UNSEEN, Column, Level
from obliquerules.rules.ensemble import used_columns

# Separators that are hard to type.
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
# Which files each option is about.
MEANT_FOR = {"separator": (".csv",), "encoding": (".csv",), "decimal": (".csv", ".xlsx"), "sheet": (".xlsx",)}


def add_data(
    parser: argparse.ArgumentParser, name: str = "data", what: str = "a table with a header", *, optional: bool = False
) -> None:
    """Let a command read a table, as argument or option."""
    help_text = f"{what}: {', '.join(SUFFIXES)}; '-' is CSV on standard input"
    parser.add_argument(name, metavar="DATA", nargs="?" if optional else None, help=help_text)
    reading = parser.add_argument_group("how DATA is written")
    reading.add_argument(
        "--separator", metavar="C", help="what separates the values of CSV (default: , ; or tab, as the header shows)"
    )
    reading.add_argument("--decimal", choices=(".", ","), help="the decimal mark of numbers in CSV (default: .)")
    reading.add_argument("--encoding", metavar="NAME", help="the encoding of CSV, such as latin-1 (default: utf-8)")
    reading.add_argument("--sheet", metavar="NAME", help="the sheet of an Excel file (default: the first)")
    what = "words or numbers that stand for a missing value, beside nothing, NA, NaN, null, None and ?; may be repeated"
    add_list(reading, "--missing-values", "WORD[,WORD]", what)


def add_list(parser: argparse._ActionsContainer, option: str, metavar: str, what: str) -> None:
    """Let a command take words separated by commas, as in CSV."""
    parser.add_argument(option, action="extend", type=_words, default=[], metavar=metavar, help=what)


def _words(text: str) -> list[str]:
    try:
        return [word.strip() for word in next(csv.reader([text], strict=True, skipinitialspace=True), [])]
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{error}; got {text!r}") from error


def read_data(options: argparse.Namespace, model: Model | None = None) -> DataFile:
    """Read the named table, with levels where the model has levels."""
    name = options.data
    suffix = ".csv" if name == "-" else Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"DATA must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be '-'; got '{name}'.")
    conventions = conventions_of(options, suffix, model)
    source = "standard input" if name == "-" else f"'{name}'"
    if name == "-" and sys.stdin is None:
        raise ValueError("standard input is closed, so no table can be read from it.")
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            return read_stream(file, suffix, source, conventions)
    except OSError as error:
        raise ValueError(f"'{name}' cannot be read: {error.strerror or error}.") from error


def conventions_of(options: argparse.Namespace, suffix: str, model: Model | None = None) -> Conventions:
    """Return the conventions of the table; raise for misplaced options."""
    given = {name: value for name in MEANT_FOR if (value := getattr(options, name)) is not None}
    for name in given:
        if suffix not in MEANT_FOR[name]:
            raise ValueError(f"--{name} is for {' and '.join(MEANT_FOR[name])}; it cannot be used with '{options.data}'.")
    if "separator" in given:
        separator = given["separator"] = SEPARATORS.get(options.separator, options.separator)
        if len(separator) != 1 or separator in '"\r\n':
            raise ValueError(f"--separator must be one character, 'tab' or 'space'; got {separator!r}.")
    if "encoding" in given:
        try:
            known = codecs.lookup(options.encoding)._is_text_encoding
        except (LookupError, ValueError):
            known = False
        if not known:
            raise ValueError(f"--encoding must name an encoding of text, such as latin-1 or utf-16; got {options.encoding!r}.")
    levels: dict[str, type[str] | None] = dict.fromkeys(getattr(options, "categorical", ()))
    if model is not None:
        columns = [column for _, column in model.columns.special if column.levels and not column.is_truth]
        levels = {column.name: str if isinstance((column.levels or ("",))[0], str) else None for column in columns}
    return Conventions(**given, missing=frozenset(options.missing_values), levels=levels)


def check_row(row: int, data: DataFile) -> None:
    """Raise if a table has no such row."""
    n_rows = len(data.block)
    if not 0 <= row < n_rows:
        raise ValueError(f"--row must lie between 0 and {n_rows - 1}, the last row of {data.source}; got {row}.")


def used_names(model: Model, *ensembles: RuleEnsemble) -> tuple[str, ...]:
    """Return the names of the columns that rules use."""
    return tuple(model.feature_names[column] for column in used_columns((model.ensemble, *ensembles)))


def inputs(model: Model, data: DataFile, rows: Any = slice(None), names: Iterable[str] | None = None) -> Block:
    """Return the inputs that rules use, in the model's levels.

    Other columns need not be there, whatever they hold, and become zero or the first level.
    """
    columns, positions = model.columns, {name: place for place, name in enumerate(model.feature_names)}
    X = np.zeros((len(np.arange(len(data.block))[rows]), len(columns)))
    X[:, [place for place, column in columns.special if column.levels == ()]] = UNSEEN
    for name in used_names(model) if names is None else names:
        X[:, positions[name]] = _as_in_fit(data, columns[positions[name]])[rows]
    check_not_infinite(X, model.feature_names)
    return Block(columns, X)


def _as_in_fit(data: DataFile, wanted: Column) -> NDArray[np.float64]:
    """Return a column as in fit; raise for another kind."""
    column, values = data.input(wanted.name)
    if np.isnan(values).all():
        return np.full(len(values), np.nan)
    check_decimals(data, [wanted.name])
    kind = _kind(wanted)
    if {_kind(column), kind} not in ALIKE:
        found = data.doubt(column, values) or kind_of(column, values)
        raise ValueError(
            f"Column '{wanted.name}' of {data.source} holds {found}, but held {kind_of(wanted, np.zeros(0))} in fit."
            + (" If the text stands for a missing value: --missing-values." if "text" in found else "")
        )
    if kind != "levels":
        return recoded_values(column, wanted, values)
    # Levels are looked up as what those of the model are: text or whole numbers.
    of = type((wanted.levels or ("",))[0])
    codes = [wanted.codes.get((of, same_level(level, of)), UNSEEN) for level in column.levels or ()]  # type: ignore[arg-type]
    return np.array([*codes, np.nan])[np.where(np.isnan(values), len(codes), values).astype(np.intp)]


# The kinds of columns of which one can stand for the other.
ALIKE = (
    *({kind} for kind in ("number", "date", "time", "duration", "truth", "levels", "nothing")),
    *({"date", "time"}, {"truth", "number"}, {"nothing", "levels"}),
)


def _kind(column: Column) -> str:
    if column.levels is None:
        return "number" if column.kind == "flag" else column.kind
    return "truth" if column.is_truth else "levels" if column.levels else "nothing"


def unseen_levels(model: Model, data: DataFile, X: Block, first: int = 0) -> dict[tuple[int, int], Level]:
    """Return unknown levels by row and column."""
    found: dict[tuple[int, int], Level] = {}
    for place in set(model.ensemble.used_columns) & set(model.columns.with_levels):
        column, values = data.input(model.feature_names[place])
        for row in np.flatnonzero(X.matrix[:, place] == UNSEEN).tolist() if column.levels else ():
            found[row, place] = (column.levels or ())[int(values[row + first])]
    return found


def note_new_values(model: Model, block: Block) -> None:
    """Say which columns have missing values or levels unknown to fit."""
    with warnings_as_notes():
        warn_of_new_values(model, block)


def check_decimals(data: DataFile, names: Iterable[str]) -> None:
    """Raise if a column holds numbers with a decimal comma."""
    for name in names:
        column, values = data.column(name)
        if has_decimal_commas(column) and not data.typed and name not in data.conventions.levels:
            raise ValueError(f"Column '{name}' of {data.source} holds {kind_of(column, values)}. To read them: --decimal ','.")
