"""Numbers as a person reads them."""

from __future__ import annotations

import math

SIGNIFICANT_DIGITS = 4


def readable(number: float) -> str:
    """Return the number with four significant digits, without an exponent where a person would not write one.

    >>> readable(0.29512345), readable(-1234567.8), readable(3.0), readable(2.5e-9)
    ('0.2951', '-1234568', '3', '2.5e-09')
    """
    if number == 0.0:
        return "0"
    if not math.isfinite(number):  # the quotient of a threshold and a tiny weight
        return f"{number:g}"
    magnitude = math.floor(math.log10(abs(number)))
    if not -5 <= magnitude <= 9:
        return f"{number:.{SIGNIFICANT_DIGITS}g}"
    decimals = max(0, SIGNIFICANT_DIGITS - 1 - magnitude)
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def signed(number: float) -> str:
    """Return the readable number with its sign in front, as the weight of a rule is written."""
    text = readable(number)
    return text if text.startswith("-") else f"+{text}"
