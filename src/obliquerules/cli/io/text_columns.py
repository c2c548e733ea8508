"""Is a column of text numbers, dates or levels? Conventions of files."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.data.levels import Filled, column_of_objects, number_in, with_levels
from obliquerules.rules.columns import Column, Level

# What stands for a missing value, in any case.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
# A date of ISO 8601, alone or with a time; Python alone would also read 20210301 and 2021-W09-1.
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d(?::?\d\d)?))?)?", re.ASCII)
# A whole number as a code: 01 differs from 1, but 1.0 is the code 1, as pandas writes it beside missing values.
WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0*)?")
# A column of numbers or dates has mistakes, or words for missing values, if not more than this share of its values, or than
# this number of different values, is text. Of a column of text, more is.
FEW_ROWS = 0.1
FEW_WORDS = 10

Value = TypeVar("Value")


@dataclass(frozen=True)
class Conventions:
    """The conventions of a file: separator, decimal mark, missing values.

    Attributes
    ----------
    separator : str or None
        What separates the values of CSV; None means the one that the header has.
    decimal : {".", ","}
        The decimal mark of numbers that are written as text.
    encoding : str or None
        The encoding of CSV; None means UTF-8.
    sheet : str or None
        The name of the sheet of an Excel file; None means the first.
    missing : frozenset of str
        What stands for a missing value, besides the usual words; a number stands for all its spellings.
    levels : mapping from str to type or None
        The columns that have levels, whatever they look like: text (str), or whole numbers if all are, otherwise text (None).
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    sheet: str | None = None
    missing: frozenset[str] = frozenset()
    levels: Mapping[str, type[str] | None] = field(default_factory=dict)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.strip().lower() for word in self.missing)

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """The numbers that stand for a missing value."""
        return tuple(number for word in self.missing if (number := self.number(word)) is not None)

    def is_missing(self, cell: str) -> bool:
        """Return whether a cell stands for a missing value."""
        return cell.lower() in MISSING_WORDS or self.says_missing(cell)

    def says_missing(self, cell: str) -> bool:
        """Return whether a cell is among the user's missing values."""
        return cell.lower() in self._words or (bool(self.missing_numbers) and self.number(cell) in self.missing_numbers)

    def number(self, cell: str) -> float | None:
        """Return the number that a cell is, or None."""
        if self.decimal == ".":
            return number_in(cell)
        # Beside decimal commas, a point separates thousands or is a mistake: 1.234 could be either.
        return None if "." in cell else number_in(cell.replace(",", "."))


def column_of_cells(name: str, cells: Sequence[str], conventions: Conventions) -> Filled:
    """Return numbers or dates if all values are, otherwise levels."""
    different = set(cells)
    present = {cell for cell in different if not conventions.is_missing(cell)}
    if name in conventions.levels:
        return column_of_levels(name, [cell if cell in present else None for cell in cells], conventions.levels[name])
    numbers = _converted(present, conventions.number)
    if numbers is not None:
        known = dict.fromkeys(different, np.nan) | numbers
        return Column(name), np.array([known[cell] for cell in cells], dtype=np.float64)
    moments = _converted(present, moment_in)
    if moments is not None:
        return column_of_objects(name, [moments.get(cell) for cell in cells])
    return with_levels(name, [cell if cell in present else None for cell in cells])


def _converted(cells: Iterable[str], convert: Callable[[str], Value | None]) -> dict[str, Value] | None:
    """Return the value of each cell; None, without looking further, if one has none."""
    found = {}
    for cell in cells:
        value = convert(cell)
        if value is None:
            return None
        found[cell] = value
    return found


def moment_in(text: str) -> datetime.datetime | None:
    """Return the date or time in ISO 8601, or None."""
    if not ISO_DATE.fullmatch(text):
        return None
    try:
        return datetime.datetime.fromisoformat(re.sub(" (?=[Z+-])", "", text))
    except ValueError:  # such as the thirtieth of February
        return None


def column_of_levels(name: str, values: Sequence[str | None], kind: type[str] | None) -> Filled:
    """Return texts as levels, of whole numbers if all are."""
    whole = {value: whole_in(value) for value in set(values) if value is not None}
    if kind is str or None in whole.values():
        return with_levels(name, values)
    return with_levels(name, [None if value is None else whole[value] for value in values])


def same_level(level: Level, wanted: type) -> Level | None:
    """Return a level as text or whole number, or None."""
    if wanted is str:
        return str(level)
    return whole_in(level) if isinstance(level, str) else int(level)


def whole_in(text: str) -> int | None:
    """Return the whole number that a text is, or None."""
    found = WHOLE.fullmatch(text)
    return None if found is None else int(found[1])


def doubtful(column: Column, codes: Vector, conventions: Conventions) -> str | None:
    """Say what a text column mostly of numbers or dates holds."""
    if column.levels is None:
        return None
    levels = [str(level) for level in column.levels]
    kinds = np.array([_kind(level, conventions) for level in levels])
    present = codes[codes >= 0.0].astype(np.intp)
    found = {str(kind) for kind in kinds[np.unique(present)]}
    if found <= {"text"}:
        return None
    words = np.flatnonzero(kinds == "text")
    is_word = np.isin(present, words)
    share = is_word.mean()
    if share > 0.5 or (share > FEW_ROWS and len(words) > FEW_WORDS):
        return None
    if "text" not in found:
        return " and ".join(sorted(found))
    return f"{' and '.join(sorted(found - {'text'}))} and text ('{levels[int(present[is_word][0])]}')"


def _kind(cell: str, conventions: Conventions) -> str:
    if conventions.number(cell) is not None:
        return "numbers"
    return "text" if moment_in(cell) is None else "dates"


def has_numbers(column: Column, conventions: Conventions) -> bool:
    """Return whether a number is among the levels of a column of text."""
    return any(isinstance(level, str) and conventions.number(level) is not None for level in column.levels or ())
