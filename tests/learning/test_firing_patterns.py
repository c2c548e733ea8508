"""Patterns: designs and patterns give back the columns that they were made of, with slopes and without."""

import numpy as np
import pytest

from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.firing_patterns import FiringPatterns, RowPatterns, side_of_first
from obliquerules.rules import Conjunction, Factor, Slope

rng = np.random.default_rng(0)
MASKS = [rng.random(40) < share for share in (0.5, 0.3, 0.6)]
SLOPE = rng.normal(size=40)


def columns_of(patterns):
    return patterns.design[patterns.pattern].T


def by_row(columns):
    slope = Slope(Factor(0), 1.0)
    return RowPatterns(tuple(Candidate(Conjunction() if one.dtype == bool else slope, one, 0.0) for one in columns), 40)


@pytest.mark.parametrize("columns", [[], MASKS])
def test_a_further_rule_is_a_further_column(columns):
    last = MASKS[0] ^ MASKS[1]
    longer = FiringPatterns.of(columns, 40).extended(last)
    for patterns in (longer, by_row([*columns, last])):
        np.testing.assert_array_equal(columns_of(patterns), [np.ones(40), *columns, last])


def test_a_rule_that_divides_no_pattern_adds_none():
    rules = FiringPatterns.of(MASKS, 40)
    assert len(rules.extended(MASKS[0]).design) == len(rules.design) <= 8


@pytest.mark.parametrize("columns", [[], MASKS, [*MASKS, SLOPE], [SLOPE]])
def test_by_row_there_is_a_line_for_each_term(columns):
    patterns = by_row(columns)
    np.testing.assert_array_equal(patterns.lines, [np.ones(40), *columns])
    weights = rng.normal(size=1 + len(columns))
    np.testing.assert_allclose(patterns.scores(weights), columns_of(patterns).T @ weights, rtol=1e-12)


@pytest.mark.parametrize("patterns", [FiringPatterns.of(MASKS, 40), by_row([SLOPE, *MASKS])])
def test_a_rule_is_known_by_its_rows_or_by_the_others(patterns):
    assert all({side_of_first(mask), side_of_first(~mask)} <= patterns.sides for mask in MASKS)
    assert side_of_first(MASKS[0] & MASKS[1]) not in patterns.sides
    assert side_of_first(MASKS[0] ^ (np.arange(40) == 17)) not in patterns.sides
