"""Variables: columns that a user gives by name or by number, and values of theirs."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.rules import Column, Model
from obliquerules.rules.columns import DAY, as_level, seconds_in, seconds_since_1970
from obliquerules.rules.text.style import listed_levels

Numbers = Mapping[str | int, float]
# Numbers, levels, dates, times or durations: what the columns hold.
Values = Mapping[str, Any] | Mapping[int, Any] | Mapping[str | int, Any]


def column_of(model: Model, parameter: str, variable: str | int) -> int:
    """Return the column of a variable given by name or number."""
    names = model.feature_names
    if isinstance(variable, str) and variable in names:
        return names.index(variable)
    if isinstance(variable, (int, np.integer)) and not isinstance(variable, bool) and 0 <= variable < len(names):
        return int(variable)
    raise ValueError(f"{parameter} names the variable {variable!r}, which is not a column of X.")


def mask_of(model: Model, parameter: str, variables: Collection[str | int]) -> NDArray[np.bool_]:
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
        return _code(column, what, value)
    if column.kind in ("date", "time") and isinstance(value, str | datetime.date):
        return _seconds(what, value) / seconds_in(column.kind)
    if column.kind == "duration" and isinstance(value, datetime.timedelta):
        return value.total_seconds() / DAY
    return _as_number(what, value)


def _code(column: Column, what: str, value: Any) -> float:
    level = as_level(value)
    if column.is_truth and level in (0, 1):
        level = bool(level)  # as in a table of numbers
    code = column.codes.get((type(level), level)) if isinstance(level, str | int | bool) else None
    if code is None:
        raise ValueError(f"{what} must be one of its levels, {listed_levels(column.levels or ())}; got {value!r}.")
    return float(code)


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
