"""Parameters: checks whose sentence names the parameter and what it may be."""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

# Where a sequence of penalties ends in zero, the one before zero is this share of the largest.
SMALLEST_SHARE = 1e-3


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless the value is a whole number of at least ``least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_real(name: str, value: Any, least: float, below: float = math.inf) -> None:
    """Raise unless the value is a finite number from ``least`` up to, not including, ``below``."""
    number = _as_double(value)
    if not math.isfinite(number) or not least <= number < below:
        bounds = f" of at least {least:g}" if math.isinf(below) else f" from {least:g} to below {below:g}"
        raise ValueError(f"{name} must be a finite number{'' if math.isinf(least) else bounds}; got {reprlib.repr(value)}.")


def _as_double(value: Any) -> float:
    """Return a number as a double, which is infinite for a whole number beyond all doubles; NaN for anything else."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_option(name: str, value: Any, options: Collection[str]) -> None:
    """Raise unless the value is one of the options."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")


def check_text(name: str, value: Any) -> None:
    """Raise unless the value is text that says something and can be written to a file."""
    if not isinstance(value, str) or not value.strip() or value.encode("utf-8", "replace").decode("utf-8") != value:
        raise ValueError(f"{name} must be text; got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_jobs(name: str, value: Any) -> None:
    """Raise unless the value is what joblib takes for a number of workers."""
    if value is not None and (not isinstance(value, numbers.Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"{name} must be a whole number other than 0, or None; got {value!r}.")


def check_penalties(largest: Any, smallest: Any, n: Any) -> None:
    """Raise unless ``max_penalty``, ``min_penalty`` and ``n_penalties`` make a falling sequence."""
    check_whole("n_penalties", n, 1)
    check_real("max_penalty", largest, 0.0)
    check_real("min_penalty", smallest, 0.0)
    if smallest > largest:
        raise ValueError(f"min_penalty must not be above max_penalty, which is {largest}; got {smallest}.")


def falling_penalties(largest: float, smallest: float, n: int) -> list[float]:
    """Return so many penalties in equal ratios, the last of them zero if the smallest is; with one it is the largest.

    >>> falling_penalties(10.0, 0.1, 3), falling_penalties(10.0, 0.0, 3), falling_penalties(10.0, 0.1, 1)
    ([10.0, 1.0, 0.1], [10.0, 0.01, 0.0], [10.0])
    """
    if largest == smallest or n == 1:
        return [float(largest)]
    ends_in_zero = smallest == 0.0
    lowest = SMALLEST_SHARE * largest if ends_in_zero else smallest
    grid = [float(penalty) for penalty in np.geomspace(largest, lowest, n - ends_in_zero)]
    return grid + [0.0] * ends_in_zero


def check_folds(name: str, value: Any) -> None:
    """Raise unless the value is a number of folds, a splitter as scikit-learn has them, a list of splits, or None."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 2
    if not (value is None or whole or gives_splits(value)):
        known = "a whole number of at least 2, a splitter, pairs of training and test rows, or None"
        raise ValueError(f"{name} must be {known}; got {value!r}.")


def gives_splits(value: Any) -> bool:
    """Say whether the value splits rows itself or holds splits; a text or a class does neither."""
    return not isinstance(value, (str, bytes, type)) and (
        callable(getattr(value, "split", None)) or isinstance(value, Iterable)
    )


def check_seed(name: str, value: Any) -> None:
    """Raise unless the value is what scikit-learn takes for a source of randomness."""
    try:
        check_random_state(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a whole number from 0 to 2**32 - 1, a RandomState or None; got {value!r}.") from error
