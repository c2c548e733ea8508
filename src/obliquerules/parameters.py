"""Parameters: each declared once, with its default, its valid values and its meaning; and the checks of values."""

from __future__ import annotations

import math
import numbers
import reprlib
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

# The value of a parameter that learning finds by itself.
AUTO = "auto"
# In a grid of penalties that ends in zero, the smallest positive penalty is this share of the largest.
SMALLEST_SHARE = 1e-3


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless the value is a whole number of at least ``least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_real(name: str, value: Any, least: float, below: float = math.inf) -> None:
    """Raise unless the value is a finite number of at least ``least`` and less than ``below``."""
    number = _as_double(value)
    if not math.isfinite(number) or not least <= number < below:
        bounds = f" of at least {least:g}" if math.isinf(below) else f" from {least:g} to below {below:g}"
        raise ValueError(f"{name} must be a finite number{'' if math.isinf(least) else bounds}; got {reprlib.repr(value)}.")


def _as_double(value: Any) -> float:
    """Return a number as a double: infinity for a whole number beyond all doubles, NaN for what is not a number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_text(name: str, value: Any) -> None:
    """Raise unless the value is text that is not blank and can be written to a file."""
    if not isinstance(value, str) or not value.strip() or value.encode("utf-8", "replace").decode("utf-8") != value:
        raise ValueError(f"{name} must be text; got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_jobs(name: str, value: Any) -> None:
    """Raise unless joblib accepts the value as a number of workers."""
    if value is not None and (not isinstance(value, numbers.Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"{name} must be a whole number other than 0, or None; got {value!r}.")


def check_penalties(largest: Any, smallest: Any, n: Any) -> None:
    """Raise unless ``max_penalty``, ``min_penalty`` and ``n_penalties`` define a falling sequence."""
    check_whole("n_penalties", n, 1)
    check_real("max_penalty", largest, 0.0)
    check_real("min_penalty", smallest, 0.0)
    if smallest > largest:
        raise ValueError(f"min_penalty must not be above max_penalty, which is {largest}; got {smallest}.")


def falling_penalties(largest: float, smallest: float, n: int) -> list[float]:
    """Return a falling geometric grid of ``n`` penalties; zero is its last member if ``smallest`` is zero.

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
    """Raise unless the value is a number of folds, a splitter of scikit-learn, an iterable of splits, or None."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 2
    if not (value is None or whole or gives_splits(value)):
        known = "a whole number of at least 2, a splitter, pairs of training and test rows, or None"
        raise ValueError(f"{name} must be {known}; got {value!r}.")


def gives_splits(value: Any) -> bool:
    """Say whether the value is a splitter or an iterable of splits; text and classes are neither."""
    return not isinstance(value, (str, bytes, type)) and (
        callable(getattr(value, "split", None)) or isinstance(value, Iterable)
    )


def check_seed(name: str, value: Any) -> None:
    """Raise unless scikit-learn accepts the value as a random state."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool) and 0 <= int(value) < 2**32
    if not (value is None or whole or value is np.random or isinstance(value, np.random.RandomState)):
        raise ValueError(f"{name} must be a whole number from 0 to 2**32 - 1, a RandomState or None; got {value!r}.")


# ---- declarations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter.

    Attributes
    ----------
    kind : str
        The type, as in the documentation.
    meaning : str
        The meaning, in sentences.
    check : callable
        Takes the name and a value, and raises with a sentence that names the parameter if the value is not valid.
    """

    kind: str
    meaning: str
    check: Callable[[str, Any], None]


def declared(default: Any, kind: str, meaning: str, check: Callable[[str, Any], None]) -> Any:
    """Return a dataclass field that declares a parameter."""
    return field(default=default, metadata={"parameter": Parameter(kind, meaning, check)})


def whole(default: int, meaning: str, least: int = 1) -> Any:
    """Declare a whole number."""
    return declared(default, "int", meaning, lambda name, value: check_whole(name, value, least))


def whole_or_none(default: int | None, meaning: str, least: int = 1) -> Any:
    """Declare a whole number or None."""
    return declared(
        default, "int or None", meaning, lambda name, value: None if value is None else check_whole(name, value, least)
    )


def real(default: float, meaning: str, least: float = 0.0, below: float = math.inf) -> Any:
    """Declare a finite number."""
    return declared(default, "float", meaning, lambda name, value: check_real(name, value, least, below))


def real_or_auto(meaning: str) -> Any:
    """Declare a finite number of at least 0, or "auto", which is the default."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) and value == AUTO:
            return
        try:
            check_real(name, value, 0.0)
        except ValueError as error:
            shown = reprlib.repr(value)
            raise ValueError(f"{name} must be a finite number of at least 0, or '{AUTO}'; got {shown}.") from error

    return declared(AUTO, 'float or "auto"', meaning, check)


def real_between(default: float, meaning: str, above: float, below: float) -> Any:
    """Declare a number strictly between two others."""

    def check(name: str, value: Any) -> None:
        if not above < _as_double(value) < below:
            raise ValueError(f"{name} must be a number above {above:g} and below {below:g}; got {reprlib.repr(value)}.")

    return declared(default, "float", meaning, check)


def real_or_none(default: float | None, meaning: str, least: float = 0.0) -> Any:
    """Declare a finite number or None."""
    return declared(
        default, "float or None", meaning, lambda name, value: None if value is None else check_real(name, value, least)
    )


def option(default: str, options: Collection[str], meaning: str) -> Any:
    """Declare one of several words."""
    words = ", ".join(f'"{word}"' for word in options)

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}.")

    return declared(default, f"{{{words}}}", meaning, check)


def flag(default: bool, meaning: str) -> Any:
    """Declare True or False."""
    return declared(default, "bool", meaning, check_flag)


def flag_or_word(default: bool | str, words: Collection[str], meaning: str) -> Any:
    """Declare True, False or one of several words."""
    kind = " or ".join(["bool", *(f'"{word}"' for word in words)])

    def check(name: str, value: Any) -> None:
        if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, str) and value in words):
            known = " or ".join(map(repr, words))
            raise ValueError(f"{name} must be True, False, {known}; got {reprlib.repr(value)}.")

    return declared(default, kind, meaning, check)


def jobs(meaning: str) -> Any:
    """Declare a number of workers, as joblib understands it."""
    return declared(None, "int or None", meaning, check_jobs)


def seed(meaning: str) -> Any:
    """Declare a random state, as scikit-learn understands it."""
    return declared(None, "int, RandomState instance or None", meaning, check_seed)


def verbosity(meaning: str) -> Any:
    """Declare a verbosity."""
    line = (
        "If zero, a line on a terminal or in a notebook says how far a fit of more than two seconds has come, and about how "
        "long the rest takes; it is erased at the end."
    )

    def check(name: str, value: Any) -> None:
        check_whole(name, int(value) if isinstance(value, bool) else value, 0)

    return declared(0, "int", f"{meaning} {line}", check)


def declarations(kind: type) -> dict[str, tuple[Any, Parameter]]:
    """Return the default and the declaration of each parameter of a dataclass."""
    return {one.name: (one.default, one.metadata["parameter"]) for one in fields(kind) if "parameter" in one.metadata}


def check_declared(owner: Any) -> None:
    """Raise if a parameter of an instance is not valid."""
    for name, (_, parameter) in declarations(type(owner)).items():
        parameter.check(name, getattr(owner, name))


def documentation(declared_ones: Mapping[str, tuple[Any, Parameter]]) -> str:
    """Return declarations as the parameter section of a docstring."""
    lines = []
    for name, (default, parameter) in declared_ones.items():
        meaning = textwrap.fill(parameter.meaning, 112, break_long_words=False, break_on_hyphens=False)
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        lines += [f"{name} : {parameter.kind}, default={shown}", textwrap.indent(meaning, "    ")]
    return "\n".join(lines)
