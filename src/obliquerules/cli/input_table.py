"""Data: the table that a command reads, and the inputs of a model in it."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.console import spoken
from obliquerules.cli.io.data_file import SUFFIXES, DataFile, read_stream
from obliquerules.cli.io.text_columns import Conventions, doubtful, same_level
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
    reading.add_argument(
        "--missing-values",
        action=Listed,
        default=(),
        metavar="WORD[,WORD]",
        help="words or numbers that stand for a missing value, beside nothing, NA, NaN, null, None and ?; may be repeated",
    )


class Listed(argparse.Action):
    """An option with words that are separated by commas; one with a comma is put in quotes, as in CSV. It may be repeated."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Append the words."""
        try:
            words = [word.strip() for word in next(csv.reader([str(values)], strict=True, skipinitialspace=True), [])]
        except csv.Error as error:
            parser.error(f"argument --{self.dest.replace('_', '-')}: {error}; got {values!r}")
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), *words))


def read_data(options: argparse.Namespace, model: Model | None = None) -> DataFile:
    """Read the table that the options name; raise ValueError if it cannot be read or is not what its suffix says.

    Columns that have levels in the model are read as levels, even if all of them look like numbers.
    """
    name = options.data
    suffix = ".csv" if name == "-" else Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"DATA must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be '-'; got '{name}'.")
    conventions = conventions_of(options, suffix, model)
    source = "standard input" if name == "-" else f"'{name}'"
    try:
        with _opened(name) as file:
            return read_stream(file, suffix, source, conventions)
    except OSError as error:
        raise ValueError(f"'{name}' cannot be read: {error.strerror or error}.") from error


def conventions_of(options: argparse.Namespace, suffix: str, model: Model | None = None) -> Conventions:
    """Return how the table is written; raise if an option makes no sense for it."""
    given = {name: value for name in MEANT_FOR if (value := getattr(options, name)) is not None}
    for name in given:
        if suffix not in MEANT_FOR[name]:
            raise ValueError(f"--{name} is for {' and '.join(MEANT_FOR[name])}; it cannot be used with '{options.data}'.")
    if "separator" in given:
        given["separator"] = _separator(given["separator"])
    if "encoding" in given:
        _check_encoding(given["encoding"])
    return Conventions(**given, missing=frozenset(options.missing_values), levels=_levels(options, model))


def _levels(options: argparse.Namespace, model: Model | None) -> dict[str, type[str] | None]:
    """Return the columns that are read as levels: those that the user names, or those of the model."""
    if model is None:
        return dict.fromkeys(getattr(options, "categorical", ()))
    columns = [column for _, column in model.columns.special if column.levels and not column.is_truth]
    return {column.name: str if isinstance((column.levels or ("",))[0], str) else None for column in columns}


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


def inputs(model: Model, data: DataFile, rows: Any = slice(None), *, ensembles: Iterable[RuleEnsemble] = ()) -> Block:
    """Return the inputs of a model, or of the given members of its path, in its levels.

    Columns that their rules do not use need not be there, whatever they hold, and become zero or the first level.
    """
    return _inputs(model, data, rows, used_names(model.ensemble, *ensembles, names=model.feature_names))


def all_inputs(model: Model, data: DataFile, rows: Any = slice(None)) -> Block:
    """Return all inputs of a model in its levels, also those that no rule uses: they are needed to learn anew."""
    return _inputs(model, data, rows, model.feature_names)


def _inputs(model: Model, data: DataFile, rows: Any, names: Iterable[str]) -> Block:
    columns, positions = model.columns, {name: place for place, name in enumerate(model.feature_names)}
    X = np.zeros((len(np.arange(len(data.block))[rows]), len(columns)))
    X[:, [place for place, column in columns.special if column.levels == ()]] = UNSEEN
    for name in names:
        X[:, positions[name]] = _as_in_fit(data, columns[positions[name]])[rows]
    check_not_infinite(X, model.feature_names)
    return Block(columns, X)


def _as_in_fit(data: DataFile, wanted: Column) -> NDArray[np.float64]:
    """Return the values of a column as the model has them; raise if they are of another kind than in fit."""
    column, values = data.input(wanted.name)
    if np.isnan(values).all():
        return np.full(len(values), np.nan)
    check_decimals(data, [wanted.name])
    if frozenset({_kind(column), _kind(wanted)}) not in ALIKE:
        found = (None if data.typed else doubtful(column, values, data.conventions)) or kind_of(column, values)
        raise ValueError(
            f"Column '{wanted.name}' of {data.source} holds {found}, but held {kind_of(wanted, np.zeros(0))} in fit."
            + (" If the text stands for a missing value: --missing-values." if "text" in found else "")
        )
    return _codes(column, wanted, values) if _kind(wanted) == "levels" else recoded_values(column, wanted, values)


def _codes(column: Column, wanted: Column, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the codes of levels among those of the model: text or whole numbers, as which they are looked up."""
    kind = type((wanted.levels or ("",))[0])
    codes = [wanted.codes.get((kind, same_level(level, kind)), UNSEEN) for level in column.levels or ()]  # type: ignore[arg-type]
    return np.array([*codes, np.nan])[np.where(np.isnan(values), len(codes), values).astype(np.intp)]


# The kinds of columns of which one can stand for the other.
ALIKE = [
    *map(frozenset, ({"number"}, {"date"}, {"time"}, {"duration"}, {"truth"}, {"levels"}, {"nothing"})),
    *map(frozenset, ({"date", "time"}, {"truth", "number"}, {"nothing", "levels"})),
]


def _kind(column: Column) -> str:
    if column.levels is None:
        return "number" if column.kind == "flag" else column.kind
    return "truth" if column.is_truth else "levels" if column.levels else "nothing"


def unseen_levels(model: Model, data: DataFile, X: Block, first: int = 0) -> dict[tuple[int, int], Level]:
    """Return what the levels that the model does not know are called, by row and column, in rows from the first on."""
    found: dict[tuple[int, int], Level] = {}
    for place in set(model.ensemble.used_columns) & set(model.columns.with_levels):
        column, values = data.input(model.feature_names[place])
        for row in np.flatnonzero(X.matrix[:, place] == UNSEEN).tolist() if column.levels else ():
            found[row, place] = (column.levels or ())[int(values[row + first])]
    return found


def remark_on_new_values(model: Model, block: Block) -> None:
    """Say which columns have missing values or levels unknown to fit."""
    with spoken():
        warn_of_new_values(model, block)


def check_decimals(data: DataFile, names: Iterable[str]) -> None:
    """Raise if a column holds numbers with a decimal comma, which were read as text."""
    for name in names:
        column, values = data.column(name)
        if has_decimal_commas(column) and not data.typed and name not in data.conventions.levels:
            raise ValueError(f"Column '{name}' of {data.source} holds {kind_of(column, values)}. To read them: --decimal ','.")
