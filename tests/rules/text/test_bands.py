"""Bands: sums of the rules on one variable alone, and where these bend."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, Model, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Column, Factor, Labels
from obliquerules.rules.numbers import least_reaching
from obliquerules.rules.text.bands import band_tables, bend, bends, bent_at, only_column, single_column

from ..strategies import any_finite, ensembles, few, ordinary

# Many of them on the same column, on the same thresholds.
weights = st.sampled_from([1.0, -1.0, 1.0, -1.0, 3.0, -0.1, 1e-300, 1e300]) | any_finite.filter(lambda weight: weight != 0.0)


def on_columns(n_columns, numbers):
    proposition = st.builds(
        lambda column, weight, threshold: Proposition([column], [weight], threshold),
        st.integers(0, n_columns - 1),
        weights,
        numbers,
    )
    condition = st.lists(proposition, min_size=1, max_size=3).map(Conjunction)
    return st.lists(st.builds(Rule, ordinary, condition), max_size=7).map(RuleEnsemble)


def around(table):
    """Return each cut of a table with the doubles on either side of it, and values far away."""
    cuts = [band.low.value for band in table.bands if math.isfinite(band.low.value)]
    return [
        -1.7e308,
        0.0,
        1.7e308,
        *(near for cut in cuts for near in (math.nextafter(cut, -math.inf), cut, math.nextafter(cut, math.inf))),
    ]


def added(ensemble, column, values):
    """Return what the rules on a column alone add, from left to right."""
    X, total = np.zeros((len(values), 1 + column)), np.zeros(len(values))
    X[:, column] = values
    for rule in ensemble:
        if only_column(rule.condition) == column:
            total += rule.contribution(X)
    return total


@given(on_columns(2, ordinary | any_finite), st.lists(any_finite | ordinary, max_size=5))
def test_a_table_adds_up_to_what_its_rules_add(ensemble, values):
    for table in band_tables(ensemble):
        tried = [value for value in [*values, *around(table)] if math.isfinite(value)]
        assert table(tried).tolist() == added(ensemble, table.column, tried).tolist()


@few
@given(on_columns(3, ordinary))
def test_bands_follow_each_other_and_differ(ensemble):
    for table in band_tables(ensemble):
        assert (table.bands[0].low.value, table.bands[-1].high.value) == (-math.inf, math.inf)
        for lower, upper in zip(table.bands, table.bands[1:], strict=False):
            assert lower.low < lower.high == upper.low
            assert lower.weight != upper.weight


@few
@given(on_columns(3, ordinary))
def test_there_is_a_table_for_each_variable_that_two_rules_use_alone(ensemble):
    alone = [only_column(rule.condition) for rule in ensemble]
    wanted = [column for column in dict.fromkeys(alone) if column is not None and alone.count(column) > 1]
    assert [table.column for table in band_tables(ensemble)] == wanted


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        ("+0.9 if x0 >= 1099\n+1.2 if x0 >= 1473", "below 1099 +0, to below 1473 +0.9, from 1473 +2.1"),
        ("+1 if x0 <= 2\n+2 if x0 <= 5", "up to 2 +3, to 5 +2, above 5 +0"),
        ("+1 if x0 >= 2\n+2 if x0 <= 5", "below 2 +2, to 5 +3, above 5 +1"),
        ("+1 if x0 >= 2\n+2 if x0 <= 2", "below 2 +2, exactly 2 +3, above 2 +1"),
        ("+1 if x0 >= 2 & x0 <= 5\n+2 if x0 >= 9", "below 2 +0, to 5 +1, to below 9 +0, from 9 +2"),
        ("+1 if x0 >= 2\n-1 if x0 >= 2", "any value +0"),
        ("+1 if x0 >= 5 & x0 <= 2\n+1 if x0 >= 3", "below 3 +0, from 3 +1"),
    ],
)
def test_bands_say_to_which_side_a_threshold_belongs(rules, line):
    (table,) = RuleEnsemble.parse(rules).band_tables()
    assert str(table) == f"x0 alone: {line}"


def test_bands_in_full_have_both_ends():
    (table,) = RuleEnsemble.parse("+1 if x0 >= 2\n+2 if x0 <= 5\n+4 if x0 >= 7").band_tables()
    assert [band.describe() for band in table.bands] == ["below 2", "from 2 to 5", "above 5 to below 7", "from 7"]


def test_a_missing_value_has_no_sum():
    (table,) = RuleEnsemble.parse("+1 if x0 >= 2\n+2 if x0 <= 5").band_tables()
    assert np.isnan(table([np.nan])).all()


def test_a_sum_that_is_zero_but_for_rounding_is_printed_as_zero():
    (table,) = RuleEnsemble.parse("+0.1 if x0 >= 1\n+0.2 if x0 >= 1\n-0.3 if x0 >= 2").band_tables()
    assert str(table) == "x0 alone: below 1 +0, to below 2 +0.3, from 2 +0"
    assert table(3.0) == 0.1 + 0.2 - 0.3 != 0.0


def test_rules_on_several_variables_are_in_no_table():
    assert RuleEnsemble.parse("+1 if x0 >= 2\n+2 if x0 + x1 <= 5\n+1 if x0 >= 2 & x1 >= 3\n+1 if x1 >= 2").band_tables() == ()


@few
@given(ensembles() | on_columns(3, ordinary))
def test_ordered_ensembles_have_the_same_rules_with_staircases_in_order(ensemble):
    ordered = ensemble.ordered()
    columns = [only_column(rule.condition) for rule in ordered]
    assert sorted(map(str, ordered)) == sorted(map(str, ensemble))
    assert ordered.ordered() == ordered
    assert [rule for rule in ordered if only_column(rule.condition) is None] == [
        rule for rule in ensemble if only_column(rule.condition) is None
    ]
    for column in set(columns) - {None}:
        first, last = columns.index(column), len(columns) - columns[::-1].index(column)
        assert columns[first:last] == [column] * (last - first)


def test_a_staircase_stands_where_its_first_rule_was():
    ensemble = RuleEnsemble.parse("+1 if x1 + x0 >= 0\n+2 if x0 >= 7\n+3 if x1 <= 4\n+4 if x0 <= 5\n+5 if x0 >= 6 & x0 <= 9")
    assert [rule.weight for rule in ensemble.ordered()] == [1.0, 4.0, 5.0, 2.0, 3.0]


@given(any_finite.filter(lambda weight: weight > 0.0), any_finite)
def test_the_least_double_that_reaches_a_threshold(weight, threshold):
    bound = least_reaching(weight, threshold)
    assert weight * bound >= threshold
    assert not weight * math.nextafter(bound, -math.inf) >= threshold


STAIRS = RuleEnsemble.parse("-2 if True\n+0.9 if balance >= 1099\n+1.2 if balance >= 1473", ["balance"])
CREDIT = Model.of(STAIRS, LOSSES["logistic"], Labels.of(["No", "Yes"]))


def test_plain_text_has_the_table_as_a_remark_and_reads_back():
    assert str(CREDIT).split("\n")[-1] == "# balance alone: below 1099 +0, to below 1473 +0.9, from 1473 +2.1"
    assert RuleEnsemble.parse(str(CREDIT), ["balance"]) == STAIRS


def test_markdown_has_odds_ratios_and_the_table():
    assert CREDIT.to_text("markdown").split("\n") == [
        "| weight | odds | if |",
        "| ---: | ---: | :--- |",
        "| -2 | 0.135 | True |",
        "| +0.9 | × 2.46 | balance >= 1099 |",
        "| +1.2 | × 3.32 | balance >= 1473 |",
        "",
        "| in all | odds | balance alone |",
        "| ---: | ---: | :--- |",
        "| +0 | × 1 | below 1099 |",
        "| +0.9 | × 2.46 | from 1099 to below 1473 |",
        "| +2.1 | × 8.17 | from 1473 |",
    ]


def test_sentences_end_with_the_table():
    assert CREDIT.to_text("sentences").split("\n")[-1] == (
        "Together, the rules on balance alone add to the log-odds of 'Yes': +0 (odds × 1) below 1099, +0.9 (odds × 2.46) from "
        "1099 to below 1473, +2.1 (odds × 8.17) from 1473."
    )


def test_html_has_odds_ratios_where_it_is_known_what_a_score_means():
    assert CREDIT._repr_html_().count("<table>") == 2
    assert "× 2.46" in CREDIT._repr_html_()
    assert "×" not in STAIRS._repr_html_()
    assert "×" not in Model.of(STAIRS, LOSSES["squared"])._repr_html_()
    assert "expected count" in Model.of(STAIRS, LOSSES["poisson"])._repr_html_()


def test_bands_of_dates_and_durations_are_written_as_such():
    columns = [Column("day", kind="date"), Column("stay", kind="duration")]
    text = "+1 if day >= 2021-03-01\n+2 if day >= 2022-02-01\n+1 if stay >= 3 days\n+2 if stay <= 5 days"
    assert [str(table) for table in RuleEnsemble.parse(text, columns).band_tables()] == [
        "day alone: below 2021-03-01 +0, to below 2022-02-01 +1, from 2022-02-01 +3",
        "stay alone: below 3 days +2, to 5 days +3, above 5 days +1",
    ]


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
