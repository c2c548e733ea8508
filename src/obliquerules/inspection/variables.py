"""Variables: columns that a user gives by name or by number."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model

Vector = NDArray[np.float64]
Numbers = Mapping[str | int, float]


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
        if not isinstance(number, Real) or math.isnan(number):
            raise ValueError(f"{parameter} of {variable!r} must be a number; got {number!r}.")
        numbers[column_of(model, parameter, variable)] = number
    return numbers
