"""Numbers are printed short, and close enough to be read back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.rules.numbers import (
    MEANT_DIGITS,
    WEIGHT_DIGITS,
    readable,
    rounded_to,
    shortest_decimal,
    significant_digits,
)
from obliquerules.rules.text.style import PLAIN

from .strategies import any_finite


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (100.0, "100"),
        (-2.5, "-2.5"),
        (0.29512345, "0.2951"),
        (9.9999649812, "10"),
        (9.99996, "9.99996"),
        (0.00001234567, "0.00001234567"),
        (0.000012345678, "0.00001235"),
        (1234567.8, "1234568"),
        (9_999_999_999.0, "9999999999"),
        (1e10, "1e+10"),
        (2.5e-9, "2.5e-09"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_numbers_are_written_as_a_person_would(number, text):
    assert readable(number) == text


@given(any_finite.filter(lambda number: abs(number) < 1.797e308))  # the largest rounds up to no double
def test_four_significant_digits_are_kept(number):
    assert float(readable(number)) == pytest.approx(number, rel=5.01e-4, abs=0.0)


@given(any_finite.filter(lambda number: abs(number) < 1.79e308))  # as above
def test_weights_start_with_their_sign_and_have_three_digits(number):
    size = readable(number, WEIGHT_DIGITS)
    assert PLAIN.weight(number) == size
    assert PLAIN.signed(number) == (size if number < 0 else "+" + size)
    assert float(PLAIN.signed(number)) == pytest.approx(number, rel=5.01e-3, abs=0.0)


@pytest.mark.parametrize(
    ("weight", "text"), [(3.3866123, "+3.39"), (-104.38211, "-104"), (123456.789, "+123457"), (0.25, "+0.25")]
)
def test_weights_are_short_unless_they_were_typed(weight, text):
    assert PLAIN.signed(weight) == text


@given(any_finite.filter(lambda number: abs(number) < 1.79e308), st.integers(1, MEANT_DIGITS))
def test_short_decimals_read_back_exactly(number, digits):
    decimal = rounded_to(number, digits)
    assert float(readable(decimal)) == decimal


@given(any_finite.filter(lambda number: 1e-300 < abs(number) < 1.79e308), st.integers(1, 16))
def test_rounding_keeps_so_many_digits(number, digits):
    decimal = rounded_to(number, digits)
    assert significant_digits(decimal) <= digits or digits > 15
    assert decimal == pytest.approx(number, rel=0.51 * 10.0 ** (1 - digits), abs=0.0)
    assert rounded_to(decimal, digits) == decimal


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_no_decimal_between_is_shorter_than_the_shortest(low, width):
    high = low + width
    shortest = shortest_decimal(low, high)
    assert low <= shortest <= high
    assert shortest_decimal(-high, -low) == -shortest
    for digits in range(1, significant_digits(shortest)):
        for end in (low, high, 0.5 * (low + high)):
            assert not low <= rounded_to(end, digits) <= high


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 0.4, 0.3),
        (-1.0, 3.0, 0.0),
        (1178.0, 1222.0, 1200.0),
        (2006.1, 2006.9, 2006.5),
        (-0.34, -0.29, -0.3),
        (7.0, 7.0, 7.0),
    ],
)
def test_the_shortest_decimal_is_the_one_nearest_to_the_middle(low, high, expected):
    assert shortest_decimal(low, high) == expected
