"""Rules on one variable alone, and where they bend."""

import math

import pytest

from obliquerules.rules import Factor, Rule
from obliquerules.rules.text.bands import bend, bends, bent_at, single_column


@pytest.mark.parametrize(
    ("text", "column", "number"),
    [
        ("+1 if x1 >= 3", 1, 3.0),
        ("+1 if x1 <= 3", 1, 3.0),
        ("+1 if x1 >= 3 or missing", 1, 3.0),
        ("+1 if 2 x1 >= 3", 1, None),
        ("+1 x1", 1, None),
        ("+1 (x1 - 3)", 1, None),
        ("+1 min(x1, 3)", 1, None),
        ("+1 (min(x1, 3) - 3)", 1, 3.0),
        ("+1 (max(x1, 3) - 3)", 1, 3.0),
        ("+1 (x1 clipped to [3, 9] - 3)", 1, None),
        ("+1 (max(x1, 3) - 3) if x1 <= 9", 1, None),
        ("+1 if x1 >= 3 & x1 <= 9", None, None),
        ("+1 if x1 >= 3 & x0 >= 3", None, None),
        ("+1 if x0 + x1 >= 3", None, None),
        ("+1 x0 if x1 >= 3", None, None),
        ("+1 if x1 in {a, b}", None, None),
        ("+1 if x1 is missing", None, None),
        ("+1 if True", None, None),
    ],
)
def test_steps_and_hinges_bend_at_a_number(text, column, number):
    rule = Rule.parse(text)
    assert single_column(rule) == column
    assert (None if column is None else bend(rule)) == number


def test_steps_and_hinges_at_one_number_are_one_bend():
    rules = [Rule.parse(text) for text in ("+1 if x0 >= 3", "+1 if x0 <= 3", "+1 (max(x0, 3) - 3)", "+1 if x1 >= 3", "+1 x0")]
    assert bends(rules) == {(0, 3.0), (1, 3.0)}


def test_a_hinge_with_another_knot_stays_on_its_side():
    assert bent_at(Factor(0, 3.0, lower=3.0), 4.0) == Factor(0, 4.0, lower=4.0)
    assert bent_at(Factor(0, 3.0, upper=3.0), 4.0) == Factor(0, 4.0, -math.inf, 4.0)
