"""Explanations of mixed columns: contributions add up, only numbers have margins, and words are those of the columns."""

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from obliquerules import LLTBoostRegressor, RuleEnsemble
from obliquerules.inspection.explanation import explain
from obliquerules.inspection.variables import NEVER_SEEN
from obliquerules.rules import Block, Column, Membership

from .mixed import COLUMNS, NAN, fitted_mixed, holds, mixed_blocks, mixed_ensembles, model_of


@given(mixed_ensembles(), mixed_blocks())
def test_contributions_add_up_to_the_score_to_the_last_bit(ensemble, X):
    for row, values in zip(explain(model_of(ensemble), X), X.matrix, strict=True):
        total = ensemble.intercept
        for rule, contribution in zip(ensemble, row.rules, strict=True):
            assert [margin.holds for margin in contribution.margins] == [holds(test, values) for test in rule.condition]
            assert contribution.fires == all(margin.holds for margin in contribution.margins)
            total += contribution.contribution
        assert row.score == total == ensemble(Block(COLUMNS, values[None, :]))[0]


@given(mixed_ensembles(), mixed_blocks())
def test_margins_are_those_of_sums_of_values_that_are_there(ensemble, X):
    for row, values in zip(explain(model_of(ensemble), X), X.matrix, strict=True):
        for rule, contribution in zip(ensemble, row.rules, strict=True):
            for test, margin in zip(rule.condition, contribution.margins, strict=True):
                if isinstance(test, Membership):
                    assert margin.margin is None
                    continue
                lacks = any(isinstance(term, int) and math.isnan(values[term]) for term in test.columns)
                assert (margin.margin is None) == (lacks or test.columns == (1,))
                assert (margin.value is None) == lacks
                assert margin.margin is None or margin.holds == (margin.margin >= 0.0)


@given(mixed_ensembles(), mixed_blocks())
def test_values_are_said_as_the_columns_hold_them(ensemble, X):
    explanation = explain(model_of(ensemble), X)
    for row, values in zip(explanation, X.matrix, strict=True):
        for name, value in row.values.items():
            column, number = COLUMNS[COLUMNS.names.index(name)], values[COLUMNS.names.index(name)]
            if math.isnan(number):
                assert value is None
                assert f"{name} is missing" in row.facts
            elif column.levels is not None:
                assert value == (column.levels[int(number)] if number >= 0.0 else NEVER_SEEN)
            else:
                assert value == (datetime.date(1970, 1, 1 + int(number)) if column.kind == "date" else number)
    assert str(explanation)
    assert len(explanation.to_pandas()) == len(explanation.to_polars()) == len(X) * (1 + len(ensemble))


RULES = RuleEnsemble.parse(
    "+1 if True\n+2 if colour = red\n+0.5 if colour not in {red, blue} or missing\n+4 if bmi >= 1 or missing\n"
    "+8 if day >= 1970-01-06\n+16 if flag = 1\n+32 if age + 12 (grade at least mid) >= 13.5\n"
    "+64 if any of {flag, colour = blue}\n+128 if bmi is missing\n+256 if age - bmi <= 3",
    COLUMNS,
)


def said(row, words=None):
    return str(explain(model_of(RULES), Block(COLUMNS, np.array([row])), words or {})).split("\n")


def test_text_of_a_row_with_everything():
    assert said([2.0, 0.0, 0.0, 1.0, 0.5, 7.0]) == [
        "Predicted: 299",
        "    +1  to start with",
        "    +2  because colour = red",
        "    +8  because day >= 1970-01-06 (it is 1970-01-08, met by 2 days)",
        "   +32  because age + 12 (grade at least mid) >= 13.5 (it is 14, met by 0.5)",
        "  +256  because age - bmi <= 3 (it is 1.5, met by 1.5)",
        "  +299  in all, the prediction",
        "Not counted, because a condition is not met:",
        "  +0.5  if colour not in {red, blue} or missing (it is red)",
        "    +4  if bmi >= 1 or missing (it is 0.5, missed by 0.5)",
        "   +16  if flag = 1 (it is 0)",
        "   +64  if any of {flag, colour = blue} (none of them)",
        "  +128  if bmi is missing (it is 0.5)",
        "Values: age = 2, flag = 0, colour = red, grade = mid, bmi = 0.5, day = 1970-01-08",
    ]


def test_text_of_a_row_with_missing_values_and_levels_never_seen():
    assert said([2.0, 1.0, -1.0, NAN, NAN, 4.0], {(0, 2): "mauve"}) == [
        "Predicted: 213.5",
        "      +1  to start with",
        "    +0.5  because colour not in {red, blue} or missing (it is mauve, never seen in fit)",
        "      +4  because bmi >= 1 or missing (it is missing)",
        "     +16  because flag = 1",
        "     +64  because any of {flag, colour = blue} (1 of them)",
        "    +128  because bmi is missing",
        "  +213.5  in all, the prediction",
        "Not counted, because a condition is not met:",
        "    +2  if colour = red (it is mauve, never seen in fit)",
        "    +8  if day >= 1970-01-06 (it is 1970-01-05, missed by 1 day)",
        "   +32  if age + 12 (grade at least mid) >= 13.5 (it is 2, missed by 11.5)",
        "  +256  if age - bmi <= 3 (bmi is missing)",
        "Values: age = 2, flag = 1, colour = mauve (never seen in fit), grade is missing, bmi is missing, day = 1970-01-05",
    ]
    assert said([2.0, 1.0, -1.0, NAN, NAN, 4.0])[2].endswith("(it is a level never seen in fit)")


@pytest.mark.filterwarnings("ignore:Levels that were not seen in fit:UserWarning")
def test_an_estimator_knows_what_levels_never_seen_are_called():
    model, X, _ = fitted_mixed()
    row = model.explain(X.iloc[[0]].assign(colour="mauve", bmi=np.nan))[0]
    assert (row.values["colour"], row.values["bmi"]) == ("mauve", None)
    assert "colour = mauve (never seen in fit)" in str(row)
    assert row.values["day"] == X["day"].iloc[0].date()


def test_a_date_far_outside_the_training_range_gets_a_remark_and_a_missing_value_does_not():
    days = pd.date_range("2021-01-01", periods=60)
    model = LLTBoostRegressor(max_rules=1).fit(pd.DataFrame({"day": days}), 1.0 * (days >= "2021-02-01"))
    far = pd.DataFrame({"day": [pd.Timestamp("2031-01-01"), pd.Timestamp("2021-01-20")]})
    assert [row.remarks for row in model.explain(far)] == [
        ("Far outside what the rules were learned from: day = 2031-01-01 (there: nearly all from 2021-01-05 to 2021-02-26).",),
        (),
    ]
    with pytest.warns(UserWarning, match="Values are missing in 'day'"):
        assert model.explain(pd.DataFrame({"day": [pd.NaT]})).rows[0].remarks == ()


@pytest.mark.parametrize(
    ("kind", "value", "threshold", "text"),
    [
        ("time", 7200.0, 3600.0, "x >= 1970-01-01 01:00:00 (it is 1970-01-01 02:00:00, met by 1 hour)"),
        ("time", 3690.0, 3600.0, "x >= 1970-01-01 01:00:00 (it is 1970-01-01 01:01:30, met by 1.5 minutes)"),
        ("duration", 4.5, 3.0, "x >= 3 days (it is 4.5 days, met by 1.5 days)"),
        ("date", 1e12, 3.0, "x >= 1970-01-04 (it is 1e+12, met by 1e+12 days)"),
    ],
)
def test_amounts_of_time(kind, value, threshold, text):
    rules = RuleEnsemble.parse(f"+1 if x0 >= {threshold}")
    ensemble = RuleEnsemble(rules, 0.0, [Column("x", kind=kind)])
    assert text in str(explain(model_of(ensemble), Block(ensemble.columns, np.array([[value]]))))
