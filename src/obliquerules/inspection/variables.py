"""Variables: columns named by a user, and what rows hold in them: numbers, levels, dates, in words as well."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.rules import Model
from obliquerules.rules.columns import DAY, EPOCH, Block, Column, Level, as_level, day_or_days, seconds_in, seconds_since_1970
from obliquerules.rules.numbers import in_full, readable
from obliquerules.rules.text.style import PLAIN, listed_levels, plain_level

Numbers = Mapping[str | int, float]
# Numbers, levels, dates, times or durations: what the columns hold.
Values = Mapping[str, Any] | Mapping[int, Any] | Mapping[str | int, Any]
# A number, a level, a date, a time or a duration; None where the value is missing.
Value = float | Level | datetime.date | datetime.datetime | datetime.timedelta | None

# What stands for a level whose name is not known, because a block has one code for all levels that its column does not have.
NEVER_SEEN = "a level never seen in fit"
# The units in which an amount of time is given, the largest first, with their seconds.
UNITS_OF_TIME = (("day", DAY), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


def column_of(model: Model, parameter: str, variable: str | int) -> int:
    """Return the column of a variable given by name or number."""
    names = model.feature_names
    if isinstance(variable, str) and variable in names:
        return names.index(variable)
    if isinstance(variable, (int, np.integer)) and not isinstance(variable, bool) and 0 <= variable < len(names):
        return int(variable)
    raise ValueError(f"{parameter} names the variable {variable!r}, which is not a column of X.")


def mask_of(model: Model, parameter: str, variables: Collection[str | int]) -> Mask:
    """Return a mask of the given columns."""
    if isinstance(variables, str):
        raise ValueError(f"{parameter} must be a collection of variables; got the text {variables!r}.")
    named = np.zeros(len(model.feature_names), dtype=np.bool_)
    named[[column_of(model, parameter, variable) for variable in variables]] = True
    return named


def with_given(model: Model, parameter: str, given: Numbers, numbers: Vector) -> Vector:
    """Return the numbers of all columns, with the given ones replaced."""
    numbers = numbers.copy()
    for variable, number in given.items():
        column = column_of(model, parameter, variable)
        numbers[column] = _as_number(f"{parameter} of {variable!r}", number)
    return numbers


def with_values(model: Model, parameter: str, given: Values, numbers: Vector) -> Vector:
    """Return the numbers of all columns, with the given values, which may be levels or dates, in place of some."""
    numbers = numbers.copy()
    for variable, value in given.items():
        column = column_of(model, parameter, variable)
        numbers[column] = number_of(model.columns[column], f"{parameter} of {variable!r}", value)
    return numbers


def number_of(column: Column, what: str, value: Any) -> float:
    """Return the number that a block has for a value of a column."""
    if column.levels is not None:
        level = as_level(value)
        if column.is_truth and level in (0, 1):
            level = bool(level)  # as in a table of numbers
        code = column.codes.get((type(level), level)) if isinstance(level, str | int | bool) else None
        if code is None:
            raise ValueError(f"{what} must be one of its levels, {listed_levels(column.levels)}; got {value!r}.")
        return float(code)
    if column.kind in ("date", "time") and isinstance(value, str | datetime.date):
        return _seconds(what, value) / seconds_in(column.kind)
    if column.kind == "duration" and isinstance(value, datetime.timedelta):
        return value.total_seconds() / DAY
    return _as_number(what, value)


def _seconds(what: str, value: str | datetime.date) -> float:
    """Return the seconds since the beginning of 1970."""
    try:
        moment = datetime.datetime.fromisoformat(value if isinstance(value, str) else value.isoformat())
    except ValueError as error:
        raise ValueError(f"{what} must be a date such as 2021-03-31; got {value!r}.") from error
    return seconds_since_1970(moment)


def _as_number(what: str, number: Any) -> float:
    if not isinstance(number, Real) or math.isnan(number):
        raise ValueError(f"{what} must be a number; got {number!r}.")
    return float(number)


@dataclass(frozen=True, eq=False)
class Facts:
    """What each row of a block holds, as values and in words.

    Attributes
    ----------
    block : Block
    words : dict of (int, int) to str, int or bool
        The levels that a column of the block does not have, by row and column, as far as they are known.
    """

    block: Block
    words: Mapping[tuple[int, int], Level] = field(default_factory=dict)
    # A block makes its columns of plain numbers anew each time that they are asked for.
    made: dict[int, Column] = field(default_factory=dict, repr=False)

    def column(self, index: int) -> Column:
        """Return a column of the block."""
        if index not in self.made:
            self.made[index] = self.block.column(index)
        return self.made[index]

    def is_unseen(self, row: int, column: int) -> bool:
        """Say whether a row has a level that its column did not have in fit."""
        return self.column(column).levels is not None and bool(self.block.matrix[row, column] < 0.0)

    def value(self, row: int, column: int) -> Value:
        """Return the value of a column in a row."""
        if self.is_unseen(row, column):
            return self.words.get((row, column), NEVER_SEEN)
        return value_of(self.column(column), float(self.block.matrix[row, column]))

    def text(self, row: int, column: int) -> str:
        """Return the value in words, which say if it was never seen in fit."""
        value = self.value(row, column)
        if not self.is_unseen(row, column) or value == NEVER_SEEN:
            return value_text(value)
        return f"{value_text(value)}, never seen in fit"

    def sentence(self, row: int, column: int) -> str:
        """Return what the column is in the row, such as ``age = 41`` or ``age is missing``."""
        name = PLAIN.name(self.column(column).name)
        value = self.value(row, column)
        if value is None:
            return f"{name} is missing"
        if self.is_unseen(row, column):
            return f"{name} is {NEVER_SEEN}" if value == NEVER_SEEN else f"{name} = {value_text(value)} (never seen in fit)"
        return f"{name} = {value_text(value)}"


def value_of(column: Column, number: float) -> Value:
    """Return the value that a column has for a number of a block.

    >>> value_of(Column("colour", ("red", "blue")), 1.0), value_of(Column("day", kind="date"), 18687.0)
    ('blue', datetime.date(2021, 3, 1))
    """
    if math.isnan(number):
        return None
    if column.levels is not None:
        return column.levels[int(number)] if number >= 0.0 else NEVER_SEEN
    if column.kind not in ("date", "time", "duration"):
        return number
    try:
        if column.kind == "duration":
            return datetime.timedelta(days=number)
        moment = EPOCH + number * datetime.timedelta(seconds=seconds_in(column.kind))
    except OverflowError:  # no date of the calendar
        return number
    return moment.date() if column.kind == "date" and number.is_integer() else moment


def value_text(value: Value, *, rounded: bool = False) -> str:
    """Return a value in words, plain numbers with all digits unless they may be rounded.

    >>> value_text(None), value_text("dark red"), value_text(datetime.timedelta(days=3)), value_text(0.5)
    ('missing', 'dark red', '3 days', '0.5')
    """
    if value is None:
        return "missing"
    if isinstance(value, float):
        return readable(value) if rounded else in_full(value)
    if isinstance(value, datetime.timedelta):
        return days_text(value.total_seconds() / DAY)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else plain_level(value)


def days_text(days: float) -> str:
    """Return a number of days in words."""
    return f"{readable(days)} {day_or_days(days)}"


def amount_text(column: Column, amount: float) -> str:
    """Return a difference between two values of a column, which is not negative, in words.

    >>> amount_text(Column("age"), 2.5), amount_text(Column("day", kind="date"), 1.0)
    ('2.5', '1 day')
    >>> amount_text(Column("asked", kind="time"), 90.0)
    '1.5 minutes'
    """
    if column.kind in ("date", "duration"):
        return days_text(amount)
    if column.kind != "time":
        return readable(amount)
    unit, seconds = next((one for one in UNITS_OF_TIME if amount >= one[1]), UNITS_OF_TIME[-1])
    return f"{readable(amount / seconds)} {unit}{'' if amount == seconds else 's'}"
