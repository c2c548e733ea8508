"""Numbers are printed short, and close enough to be read back."""

import math

import pytest
from hypothesis import given

from obliquerules.rules.numbers import readable, signed

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
        (9.99996, "10"),
        (0.0000123456, "0.00001235"),
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


@given(any_finite)
def test_signed_numbers_start_with_their_sign(number):
    assert signed(number) == (readable(number) if number < 0 else "+" + readable(number))
