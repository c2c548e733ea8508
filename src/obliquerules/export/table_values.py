"""Values: the numbers and codes of a block as the values that users have: levels, dates, times and durations."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.rules.columns import DAY, EPOCH, UNSEEN, Column, Level, seconds_in
from obliquerules.rules.numbers import WHOLE_LIMIT

# Dates that every library and database has.
EARLIEST = (datetime.datetime(1700, 1, 1) - EPOCH).total_seconds()
LATEST = (datetime.datetime(2200, 1, 1) - EPOCH).total_seconds()
# The kinds of columns whose numbers count days or seconds.
TEMPORAL = ("date", "time", "duration")


def unseen_level(column: Column) -> Level | None:
    """Return a level that a column does not have; None if it has both booleans.

    >>> unseen_level(Column("colour", ("red", "never seen"))), unseen_level(Column("grade", (3, 7)))
    ('never seen_', 8)
    """
    levels = column.levels or ()
    if column.is_truth:
        return next((truth for truth in (False, True) if truth not in levels), None)
    if levels and isinstance(levels[0], int):
        return max(int(level) for level in levels) + 1
    text = "never seen"
    while text in levels:
        text += "_"
    return text


def level_values(column: Column, codes: Matrix) -> list[Level | None]:
    """Return the levels of codes; None where one is missing."""
    levels, unseen = column.levels or (), unseen_level(column)
    return [None if math.isnan(code) else unseen if code < 0.0 else levels[int(code)] for code in codes.tolist()]


def held_codes(column: Column, codes: Matrix) -> Matrix:
    """Return codes, missing in place of an unseen level where there can be none."""
    return np.where(codes < 0.0, np.nan, codes) if unseen_level(column) is None else codes


def held_moments(kind: str, numbers: Matrix, stored: str) -> Matrix:
    """Return dates, times or durations as a column that stores dates, times or durations can hold them."""
    unit = seconds_in(kind)
    with np.errstate(over="ignore"):
        seconds = np.clip(numbers * unit, EARLIEST, LATEST)
    if stored == "date":
        return np.rint(seconds / DAY) * DAY / unit
    # In steps that are exact however they are computed.
    return np.rint(seconds * 1e3) / 1e3 if kind == "time" else np.rint(seconds) / unit


def microseconds(kind: str, numbers: Matrix) -> list[int | None]:
    """Return dates, times or durations in microseconds, to the millisecond; None where one is missing."""
    unit = seconds_in(kind)
    return [None if math.isnan(number) else 1000 * round(number * unit * 1e3) for number in numbers.tolist()]


def moments(kind: str, numbers: Matrix, stored: str) -> list[Any]:
    """Return numbers as dates, times or durations of Python; None where one is missing."""
    made = [None if many is None else datetime.timedelta(microseconds=many) for many in microseconds(kind, numbers)]
    if stored == "duration":
        return made
    times = [None if since is None else EPOCH + since for since in made]
    return [None if time is None else time.date() for time in times] if stored == "date" else times


def moment_arrays(kind: str, numbers: Matrix, stored: str) -> NDArray[Any]:
    """Return the same as an array of NumPy, of the type that data frames keep."""
    many = np.array([np.iinfo(np.int64).min if one is None else one for one in microseconds(kind, numbers)], dtype=np.int64)
    if stored == "duration":
        return many.astype("timedelta64[us]")
    return many.astype("datetime64[us]").astype("datetime64[D]" if stored == "date" else "datetime64[us]")


def first_moment(kind: str, threshold: float) -> int:
    """Return the first microsecond since 1970, or of a duration, whose number is at least a threshold."""
    unit = seconds_in(kind)
    found = math.ceil(threshold * unit * 1e6)
    while found / 1e6 / unit >= threshold:
        found -= 1
    while found / 1e6 / unit < threshold:
        found += 1
    return found


def last_moment(kind: str, threshold: float) -> int:
    """Return the last microsecond since 1970, or of a duration, whose number is at most a threshold."""
    return -first_moment(kind, -threshold)


def held_values(column: Column, values: Matrix, stored: str | None) -> Matrix:
    """Return numbers and codes as a table of the user can hold them, whose column stores a certain kind of thing.

    >>> held_values(Column("price"), np.array([-0.3, 1.23456, 1e300]), "decimal").tolist()
    [-0.3, 1.2346, 10000000000.0]
    """
    if column.levels is not None:
        return held_codes(column, values)
    if stored in TEMPORAL:
        return held_moments(column.kind, values, stored)
    if stored == "boolean":
        return np.where(np.isnan(values), values, values > 0.5)
    if stored == "integer":
        return np.clip(np.rint(values), -float(WHOLE_LIMIT), float(WHOLE_LIMIT))
    return np.asarray(np.round(np.clip(values, -1e10, 1e10), 4), dtype=np.float64) if stored == "decimal" else values


def python_values(column: Column, values: Matrix, stored: str | None) -> list[Any]:
    """Return numbers and codes as values of Python for a column that stores a certain kind of thing."""
    if column.levels is not None:
        levels = level_values(column, values)
        return levels if stored in ("boolean", "text") else [None if level is None else int(level) for level in levels]
    if stored in TEMPORAL:
        return moments(column.kind, values, stored)
    if stored in (None, "double"):
        # A number that is missing is null in one table and NaN in another.
        return [None if math.isnan(value) and row % 2 else value for row, value in enumerate(values.tolist())]
    make: Callable[[float], Any] = {"boolean": bool, "integer": int, "decimal": float}[stored]
    return [None if math.isnan(value) else make(value) for value in values.tolist()]


def threshold_moment(kind: str, weight: float, threshold: float) -> int | None:
    """Return the first or, with a weight of -1, last microsecond that meets a condition on a date, time or duration alone.

    It is None if that is not said by one: the weight is another, or the threshold is so far away that languages differ.
    """
    value = threshold if weight == 1.0 else -threshold
    if abs(weight) != 1.0 or not EARLIEST <= value * seconds_in(kind) <= LATEST:
        return None
    return first_moment(kind, threshold) if weight == 1.0 else last_moment(kind, -threshold)


def shown(column: Column, number: float) -> Any:
    """Return a value for a message."""
    if column.levels is None:
        return number
    return level_values(column, np.array([number]))[0] if number != UNSEEN else "a level never seen"
