"""Patterns: designs and patterns give back the columns that they were made of, with slopes and without."""

import numpy as np
import pytest

from obliquerules.boosting.patterns import FiringPatterns, RowPatterns, patterns_in

rng = np.random.default_rng(0)
MASKS = [rng.random(40) < share for share in (0.5, 0.3, 0.6)]
SLOPE = rng.normal(size=40)


def columns_of(patterns):
    return patterns.design[patterns.pattern].T


@pytest.mark.parametrize("columns", [[], MASKS, [*MASKS, SLOPE], [SLOPE]])
@pytest.mark.parametrize("last", [MASKS[0] ^ MASKS[1], SLOPE**2])
def test_a_further_rule_or_slope_is_a_further_column(columns, last):
    longer = patterns_in(columns, 40).extended(last)
    for patterns in (longer, longer.met(), patterns_in([*columns, last], 40)):
        np.testing.assert_array_equal(columns_of(patterns), [np.ones(40), *columns, last])


def test_only_slopes_make_each_row_a_pattern_of_its_own():
    rules = patterns_in(MASKS, 40)
    assert isinstance(rules, FiringPatterns)
    assert len(rules.extended(MASKS[0]).met().design) == len(rules.design) <= 8
    assert isinstance(rules.extended(SLOPE), RowPatterns)
    assert len(rules.extended(SLOPE).design) == 40


@pytest.mark.parametrize("columns", [MASKS, [SLOPE, *MASKS]])
def test_a_rule_is_known_by_its_rows_or_by_the_others(columns):
    patterns = patterns_in(columns, 40)
    assert all(patterns.has_rule_on(mask) and patterns.has_rule_on(~mask) for mask in MASKS)
    assert not patterns.has_rule_on(MASKS[0] & MASKS[1])
    assert not patterns.has_rule_on(MASKS[0] ^ (np.arange(40) == 17))


def test_columns_of_slopes_are_shared():
    patterns = patterns_in([SLOPE, MASKS[0]], 40)
    assert patterns.extended(MASKS[1]).columns[0] is SLOPE
