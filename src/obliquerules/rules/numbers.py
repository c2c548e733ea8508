"""Numbers as a person reads them: few digits, and no exponent unless they are huge or tiny."""

from __future__ import annotations

import math
import struct

# Whole numbers of a smaller size, and their neighbours, are exact as doubles.
WHOLE_LIMIT = 2**53
SIGNIFICANT_DIGITS = 4
# The weights of rules, what they contribute and their sums are fitted to the rows: they deserve fewer digits.
WEIGHT_DIGITS = 3
# A number with at most this many digits was typed or rounded, and is printed in full; one with more was computed.
MEANT_DIGITS = 7
# The digits of a number, in units of the width of the interval in which it lies.
WITHIN_DIGITS = 2
# This many significant digits tell any two doubles apart.
ALL_DIGITS = 17


def readable(number: float, short: int = SIGNIFICANT_DIGITS) -> str:
    """Return a decimal of at most seven significant digits in full, and any other number with ``short``, by default four.

    What is printed in full reads back as the same number to the last bit.

    >>> readable(0.29512345), readable(-1234567.8), readable(3.0), readable(2.5e-9), readable(0.295123)
    ('0.2951', '-1234568', '3', '2.5e-09', '0.295123')
    >>> readable(0.29512345, WEIGHT_DIGITS)
    '0.295'
    """
    if number == 0.0:
        return "0"
    if not math.isfinite(number):  # the quotient of a threshold and a tiny weight
        return f"{number:g}"
    meant = significant_digits(number)
    digits = meant if meant <= MEANT_DIGITS else short
    magnitude = math.floor(math.log10(abs(number)))
    if not -5 <= magnitude <= 9:
        text = f"{number:.{digits}g}"
        return text if math.isfinite(float(text)) else repr(number)  # the largest doubles cannot be rounded up
    decimals = max(0, digits - 1 - magnitude)
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def in_full(number: float) -> str:
    """Return the shortest text that reads back as this number.

    >>> in_full(0.1 + 0.2), in_full(3.0), in_full(2.5e-9)
    ('0.30000000000000004', '3', '2.5e-09')
    """
    text = readable(number)
    return text if float(text) == number else repr(number)


def significant_digits(number: float) -> int:
    """Return the number of significant digits of the shortest decimal that reads back as this number.

    >>> significant_digits(0.0250), significant_digits(-1200.0), significant_digits(0.1 + 0.2), significant_digits(0.0)
    (2, 2, 17, 1)
    """
    mantissa = repr(abs(float(number))).partition("e")[0]  # a number of NumPy has another repr
    return len(mantissa.replace(".", "").strip("0")) or 1


def rounded_to(number: float, digits: int) -> float:
    """Return the double nearest to the number rounded to ``digits`` significant digits.

    >>> rounded_to(0.29512345, 2), rounded_to(-1234567.8, 3)
    (0.3, -1230000.0)
    """
    return float(f"{number:.{min(digits, ALL_DIGITS) - 1}e}")


def rounded_within(number: float, width: float) -> float:
    """Return a number with as many digits as tell values apart that differ by a hundredth of this width.

    >>> rounded_within(37.6294, 30.0), rounded_within(1234.5, 0.8)
    (38.0, 1234.5)
    """
    if number == 0.0:
        return 0.0
    more = math.floor(math.log10(abs(number))) - math.floor(math.log10(width))
    return rounded_to(number, max(1, WITHIN_DIGITS + more))


def shortest_decimal(low: float, high: float) -> float:
    """Return the decimal with the fewest significant digits from low to high; of several, the one nearest to the middle.

    >>> shortest_decimal(0.2941, 0.3379), shortest_decimal(1178.0, 1222.0), shortest_decimal(-0.4, 1.2)
    (0.3, 1200.0, 0.0)
    """
    if low <= 0.0 <= high:
        return 0.0
    middle = low + 0.5 * (high - low)
    # If any decimal of this many digits lies in the interval, then the one nearest to its middle does.
    for digits in range(1, ALL_DIGITS + 1):
        number = rounded_to(middle, digits)
        if low <= number <= high:
            return number
    return middle


def least_reaching(weight: float, threshold: float) -> float:
    """Return the least double x with ``weight * x >= threshold``, for a positive weight; infinity if no finite x reaches it.

    >>> least_reaching(1.0, 2.5), least_reaching(3.0, 1.0), least_reaching(1e-300, 1e300)
    (2.5, 0.3333333333333333, inf)
    """

    def double(place: int) -> float:
        """Return the double at a position among all doubles; that of zero is 0."""
        (number,) = struct.unpack("<d", struct.pack("<q", abs(place)))
        return math.copysign(number, place) if place else 0.0

    (infinity,) = struct.unpack("<q", struct.pack("<d", math.inf))
    below, reached = -infinity, infinity
    while reached - below > 1:
        middle = (below + reached) // 2
        below, reached = (below, middle) if weight * double(middle) >= threshold else (middle, reached)
    return double(reached)
