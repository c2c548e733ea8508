"""Levels: text and booleans as codes, with one for unseen levels."""

from __future__ import annotations

import datetime
import graphlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules.columns import DAY, UNSEEN, Block, Column, Columns, Level, as_level, is_nothing, seconds_since_1970
from obliquerules.rules.numbers import WHOLE_LIMIT

# Booleans in CSV are words, in any case; as labels of classes they stay the words that the file has.
TRUTH = {"true": 1.0, "false": 0.0}

# A whole number, or one with a decimal comma; and what only numbers consist of, however they are grouped.
COMMA_NUMBER = re.compile(r"[+-]?(?:[0-9]*,)?[0-9]+(?:[eE][+-]?[0-9]+)?")
GROUPED_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)*")

Filled = tuple[Column, NDArray[Any]]


def missing_numbers(name: str, n_rows: int) -> Filled:
    """Return a column of missing values, which counts as one of numbers."""
    return Column(name), np.full(n_rows, np.nan)


def with_levels(name: str, values: Sequence[Level | None]) -> Filled:
    """Return text or booleans as a column with sorted levels."""
    levels = sorted({value for value in values if value is not None})
    if not levels:
        return missing_numbers(name, len(values))
    codes: dict[Level | None, float] = {level: float(code) for code, level in enumerate(levels)} | {None: np.nan}
    return Column(name, tuple(levels)), np.array([codes[value] for value in values], dtype=np.float64)


def first_come(name: str, values: Iterable[Any]) -> Filled:
    """Return values as a column with levels in order of appearance."""
    codes: dict[Level, int] = {}
    # Most values repeat: a lookup is much quicker than a test of their type.
    known: dict[Any, float] = {}
    found: list[float] = []
    for value in values:
        if value in known:
            found.append(known[value])
        elif is_nothing(value):
            found.append(np.nan)
        else:
            known[value] = float(codes.setdefault(as_level(value), len(codes)))
            found.append(known[value])
    if not codes:
        return missing_numbers(name, len(found))
    kinds = {type(level) for level in codes}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        return _mixed_levels(name, codes, np.array(found, dtype=np.float64))
    return Column(name, tuple(codes)), np.array(found, dtype=np.float64)


def merged_order(name: str, orders: Iterable[Sequence[Any]]) -> list[Any]:
    """Merge orders of levels; raise if they contradict each other."""
    before_each: dict[Any, list[Any]] = {}
    for order in orders:
        known = [level for level in order if level is not None]
        for level, before in zip(known, [None, *known], strict=False):
            before_each.setdefault(level, []).extend([] if before is None else [before])
    try:
        return list(graphlib.TopologicalSorter(before_each).static_order())
    except graphlib.CycleError as error:
        raise ValueError(f"The parts of column '{name}' of X have the same categories in different orders.") from error


def _mixed_levels(name: str, codes: Mapping[Any, int], values: NDArray[np.float64]) -> Filled:
    """Return levels that are numbers as numbers; raise for other mixtures."""
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in codes):
        return Column(name), looked_up(np.array([*codes, np.nan, np.nan], dtype=np.float64), values)
    kinds = " and ".join(
        sorted({KINDS_OF_LEVELS.get(type(level), f"values of type {type(level).__name__}") for level in codes})
    )
    raise ValueError(f"Column '{name}' of X holds {kinds}. Make all of them text, or leave the column out.")


KINDS_OF_LEVELS = {str: "text", int: "numbers", float: "numbers", bool: "booleans"}


def column_of_objects(name: str, values: Sequence[Any]) -> Filled:
    """Return Python objects as numbers, dates, durations or levels."""
    kinds = {type(value) for value in values if not is_nothing(value)}
    if not kinds:
        return missing_numbers(name, len(values))
    if all(issubclass(kind, np.datetime64 | np.timedelta64) for kind in kinds):
        values = [None if is_nothing(value) else value.astype(f"{value.dtype.str[:3]}[us]").item() for value in values]
        kinds = {type(value) for value in values if value is not None}
    if all(issubclass(kind, datetime.date) for kind in kinds):
        seconds = [np.nan if is_nothing(value) else seconds_since_1970(value) for value in values]
        return column_of_moments(name, np.array(seconds))
    if all(issubclass(kind, datetime.timedelta) for kind in kinds):
        days = [np.nan if is_nothing(value) else value.total_seconds() / DAY for value in values]
        return Column(name, kind="duration"), np.array(days)
    if not any(issubclass(kind, bool | np.bool_ | str) for kind in kinds):  # text may be of NumPy's own type
        try:
            return Column(name), np.array([np.nan if is_nothing(value) else float(value) for value in values])
        except (TypeError, ValueError, OverflowError) as error:
            odd = next(kind.__name__ for kind in kinds if not issubclass(kind, int | float | np.number))
            raise ValueError(refusal(name, f"values of type {odd}")) from error
    return first_come(name, values)


def column_of_moments(name: str, seconds: NDArray[np.float64]) -> Filled:
    """Return seconds since 1970 as times, or as dates at midnight."""
    if ((seconds % DAY == 0.0) | np.isnan(seconds)).all():
        return Column(name, kind="date"), seconds / DAY
    return Column(name, kind="time"), seconds


def block_of(filled: Sequence[Filled]) -> Block:
    """Return columns with their values as a block."""
    columns = Columns.of([column for column, _ in filled])
    return Block(columns, np.column_stack([values for _, values in filled]) if filled else np.empty((0, 0)))


def as_numbers(column: Column, values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return numbers, booleans as 0 and 1; None for other columns."""
    if column.levels is None:
        return values
    truth = [TRUTH.get(str(level).lower()) for level in column.levels]
    if None in truth:
        return None
    return np.array([*truth, np.nan], dtype=np.float64)[np.where(values >= 0.0, values, len(truth)).astype(np.intp)]


def as_labels(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    """Return values, none missing, as labels of classes."""
    if column.levels is not None:
        codes, place = np.unique(values, return_inverse=True)
        return np.array([column.levels[int(code)] for code in codes.tolist()])[place]
    whole = (values == np.rint(values)).all() and (np.abs(values) < WHOLE_LIMIT).all()
    return values.astype(np.int64) if whole else values


def kind_of(column: Column, values: NDArray[Any]) -> str:
    """Return what a column holds, in words."""
    if column.levels is None:
        return f"{'number' if column.kind == 'flag' else column.kind}s"
    if as_numbers(column, values) is not None:
        return "booleans"
    if has_decimal_commas(column):
        return f"numbers with a decimal comma ('{_first_with(',', column.levels)}')"
    if _has_points_and_commas(column.levels):
        return f"numbers with points and commas ('{_first_with('.', column.levels)}', '{_first_with(',', column.levels)}')"
    if isinstance(column.levels[0], int):
        return "categories"
    is_text = np.array([number_in(str(level)) is None for level in column.levels])
    if is_text.all():
        return "text"
    if not is_text.any():
        return "numbers written as text"
    first = next((int(code) for code in values.tolist() if code >= 0 and is_text[int(code)]), None)
    return "text" if first is None else f"numbers and text ('{column.levels[first]}')"


def has_decimal_commas(column: Column) -> bool:
    """Say whether a column holds numbers with decimal commas."""
    texts = [str(level) for level in column.levels or ()]
    return any("," in text for text in texts) and all(COMMA_NUMBER.fullmatch(text) for text in texts)


def _has_points_and_commas(levels: Sequence[Level]) -> bool:
    marks = {mark for level in levels for mark in ".," if mark in str(level)}
    return len(marks) == 2 and all(GROUPED_NUMBER.fullmatch(str(level)) for level in levels)


def _first_with(mark: str, levels: Sequence[Level]) -> Level:
    return next(level for level in levels if mark in str(level))


def number_in(text: str) -> float | None:
    """Return the number that a text is, None for anything else."""
    # Python alone would also read 1_000 and the digits of other scripts.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def refusal(name: str, kind: str) -> str:
    """Return the sentence that refuses an input that does not hold numbers."""
    return (
        f"Column '{name}' of X holds {kind}, not numbers. Encode it as numbers (for example one 0/1 column for each level) or "
        "leave it out."
    )


def recoded(block: Block, columns: Columns) -> Block:
    """Return a block in the levels of other columns."""
    given = columns if block.columns is None else block.columns
    special = [column for _, column in (*given.special, *columns.special)]
    if given == columns or all(column.levels is None and column.kind in ("number", "flag") for column in special):
        return block.read_as(columns)
    filled = [recoded_values(one, wanted, values) for one, wanted, values in zip(given, columns, block.matrix.T, strict=True)]
    return Block(columns, np.column_stack(filled))


# Factors that convert the numbers of one kind of column to another.
RATIOS = {("date", "time"): DAY, ("time", "date"): 1.0 / DAY}


def recoded_values(given: Column, wanted: Column, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a column in the levels of another."""
    if given.levels == wanted.levels:
        kinds = tuple("number" if column.kind == "flag" else column.kind for column in (given, wanted))
        if kinds[0] == kinds[1] or np.isnan(values).all():
            return values
        if kinds not in RATIOS:
            raise ValueError(f"Column '{wanted.name}' of X holds {kinds[0]}s, but held {kinds[1]}s in fit.")
        return values * RATIOS[kinds]
    if wanted.levels is None:
        numbers = as_numbers(given, values)
        if numbers is None:
            raise ValueError(f"Column '{wanted.name}' of X holds {kind_of(given, values)}, but held numbers in fit.")
        return numbers
    if given.levels is None:
        return _codes_of_numbers(wanted, values)
    kinds_of_levels = {type(level) for level in (*given.levels, *wanted.levels)}
    if len(kinds_of_levels) > 1 and values.size and (values >= 0.0).any():
        raise ValueError(
            f"Column '{wanted.name}' of X holds {kind_of(given, values)}, but held {kind_of(wanted, np.zeros(0))} in fit."
        )
    # A level never seen in fit has the code of unseen levels.
    table = [float(wanted.codes.get((type(level), level), UNSEEN)) for level in given.levels]
    return looked_up(np.array([*table, UNSEEN, np.nan]), values)


def _codes_of_numbers(wanted: Column, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the codes of levels that are whole numbers or booleans."""
    if np.isnan(values).all():
        return values
    if wanted.levels and isinstance(wanted.levels[0], str):
        raise ValueError(f"Column '{wanted.name}' of X holds numbers, but held text in fit.")
    codes = {float(level): float(code) for code, level in enumerate(wanted.levels or ())}
    return np.array([codes.get(value, UNSEEN) if value == value else np.nan for value in values.tolist()])


def looked_up(table: NDArray[np.float64], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return table entries at codes, the last two for unseen and missing."""
    size = len(table)
    place = np.where(np.isnan(codes), size - 1, np.where(codes < 0.0, size - 2, codes))
    return table[place.astype(np.intp)]
