"""Values of tables: numbers and codes as the levels, dates, times and durations that columns of users hold."""

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


def held_values(column: Column, stored: str | None, values: Matrix) -> Matrix:
    """Return numbers and codes as a column of a table can hold them, given the kind of its values.

    >>> held_values(Column("price"), "decimal", np.array([-0.3, 1.23456, 1e300])).tolist()
    [-0.3, 1.2346, 10000000000.0]
    """
    if column.levels is not None:
        return values if unseen_level(column) is not None else np.where(values < 0.0, np.nan, values)
    if stored in TEMPORAL:
        unit = seconds_in(column.kind)
        with np.errstate(over="ignore"):
            seconds = np.clip(values * unit, EARLIEST, LATEST)
        if stored == "date":
            return np.rint(seconds / DAY) * DAY / unit
        # In steps that are exact however they are computed.
        return np.rint(seconds * 1e3) / 1e3 if column.kind == "time" else np.rint(seconds) / unit
    if stored == "boolean":
        return np.where(np.isnan(values), values, values > 0.5)
    if stored == "integer":
        return np.clip(np.rint(values), -float(WHOLE_LIMIT), float(WHOLE_LIMIT))
    return np.asarray(np.round(np.clip(values, -1e10, 1e10), 4), dtype=np.float64) if stored == "decimal" else values


def python_values(column: Column, stored: str | None, values: Matrix) -> list[Any]:
    """Return numbers and codes as values of Python, given the kind of values that the column of a table holds."""
    if column.levels is not None:
        levels = level_values(column, values)
        return levels if stored in ("boolean", "text") else [None if level is None else int(level) for level in levels]
    if stored in TEMPORAL:
        durations = [
            None if many is None else datetime.timedelta(microseconds=many) for many in microseconds(column.kind, values)
        ]
        if stored == "duration":
            return durations
        times = [None if since is None else EPOCH + since for since in durations]
        return [None if time is None else time.date() for time in times] if stored == "date" else times
    if stored in (None, "double"):
        # A number that is missing is null in one table and NaN in another.
        return [None if math.isnan(value) and row % 2 else value for row, value in enumerate(values.tolist())]
    make: Callable[[float], Any] = {"boolean": bool, "integer": int, "decimal": float}[stored]
    return [None if math.isnan(value) else make(value) for value in values.tolist()]


def microseconds(kind: str, numbers: Matrix) -> list[int | None]:
    """Return dates, times or durations in microseconds, to the millisecond; None where one is missing."""
    unit = seconds_in(kind)
    return [None if math.isnan(number) else 1000 * round(number * unit * 1e3) for number in numbers.tolist()]


def moment_arrays(kind: str, numbers: Matrix) -> NDArray[Any]:
    """Return dates, times or durations as an array of the type that data frames keep."""
    many = np.array([np.iinfo(np.int64).min if one is None else one for one in microseconds(kind, numbers)], dtype=np.int64)
    if kind == "duration":
        return many.astype("timedelta64[us]")
    return many.astype("datetime64[us]").astype("datetime64[D]" if kind == "date" else "datetime64[us]")


def threshold_moment(kind: str, weight: float, threshold: float) -> int | None:
    """Return the first or, with a weight of -1, last microsecond that meets a condition on a date, time or duration alone.

    Microseconds count from the beginning of 1970. It is None for any other weight, and for a threshold so far away that
    languages differ.
    """
    unit = seconds_in(kind)
    if abs(weight) != 1.0 or not EARLIEST <= weight * threshold * unit <= LATEST:
        return None
    # The last moment at most -t is minus the first one at least t.
    found = math.ceil(threshold * unit * 1e6)
    while found / 1e6 / unit >= threshold:
        found -= 1
    while found / 1e6 / unit < threshold:
        found += 1
    return found if weight == 1.0 else -found


def shown(column: Column, number: float) -> Any:
    """Return a value for a message."""
    if column.levels is None:
        return number
    return level_values(column, np.array([number]))[0] if number != UNSEEN else "a level never seen"
