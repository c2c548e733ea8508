"""Closest change in mixed columns: enumeration finds nothing closer, and no level is proposed that fit has not seen."""

import datetime
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquerules import Conjunction, LLTBoostRegressor, Proposition, Rule, RuleEnsemble
from obliquerules.inspection.closest.closest_change import closest_change
from obliquerules.inspection.closest.feasible import Feasible, Goal, feasible_region
from obliquerules.rules import Block, Membership

from ..mixed import COLUMNS, VALUES, fitted_mixed, mixed_ensembles, mixed_rows, model_of

# Each value occurs, so that each column may take each of its values.
ROWS = Block(COLUMNS, np.array(list(itertools.product(*VALUES)))[::7])
UNIT = [values[~np.isnan(values)].std() for values in ROWS.matrix.T]


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def reachable(x, fill):
    """Return what each column may become, with its distance: by the definition, not by the code."""
    found = []
    for column, now in enumerate(x.tolist()):
        known = sorted(value for value in VALUES[column] if value >= 0.0)
        gap = math.isnan(now)
        if COLUMNS[column].levels is not None:
            found.append([(now, 0.0), *((code, 1.0) for code in known if code != now and (fill or not gap))])
        elif gap:
            middle = np.round(np.nanmedian(ROWS.matrix[:, column]))
            ways = [(value, 1.0 + abs(value - middle) / UNIT[column]) for value in known]
            found.append([(now, 0.0), *(ways if fill else [])])
        else:
            found.append([(value, abs(value - now) / UNIT[column]) for value in known])
    return found


def enumerated(ensemble, x, goal, fill):
    """Return the least distance of all rows that have the wanted prediction."""
    ways = list(itertools.product(*reachable(x, fill)))
    rows = np.array([[value for value, _ in way] for way in ways])
    distances = np.array([sum(distance for _, distance in way) for way in ways])
    return distances[goal.met(ensemble(Block(COLUMNS, rows)))].min(initial=math.inf)


def found(ensemble, x, goal, fill=(), **options):
    model, given = (
        model_of(ensemble),
        {"fixed": (), "whole": None, "lower": {}, "upper": {}, "cost": {}, "fill": fill} | options,
    )
    region = feasible_region(model, x, ROWS, **given)
    return closest_change(model, region, goal, ROWS, tolerance=0.0, max_steps=10_000)


def coded(row):
    """Return a row of values as one of a block."""
    return np.array(
        [
            math.nan
            if value is None
            else float((value - datetime.date(1970, 1, 1)).days)
            if isinstance(value, datetime.date)
            else float(column.levels.index(value) if value in column.levels else -1)
            if column.levels
            else value
            for column, value in zip(COLUMNS, row, strict=True)
        ]
    )


@settings(max_examples=150)
@given(mixed_ensembles(), mixed_rows, st.sampled_from([-1.0, 0.0, 0.5, 1.2]), st.booleans(), st.booleans())
def test_enumeration_finds_nothing_closer(ensemble, x, limit, up, fill):
    goal = Goal(lambda score: score > limit, 1.0, "up") if up else Goal(lambda score: score < limit, -1.0, "down")
    result = found(ensemble, x, goal, COLUMNS.names if fill else ())
    expected = enumerated(ensemble, x, goal, fill)
    assert result.proven
    assert result.distance == pytest.approx(expected, rel=1e-5, abs=1e-5)
    if result.row is None:
        assert result.bound == math.inf
        return
    row = coded(result.row)
    assert goal.met(ensemble(Block(COLUMNS, row[None, :])))[0]
    assert result.distance == pytest.approx(sum(change.distance for change in result))
    for column, (before, after) in enumerate(zip(x, row, strict=True)):
        assert same(before, after) or after in [value for value in VALUES[column] if value >= 0.0]
        assert fill or not math.isnan(before) or math.isnan(after)


def random_rules(rng):
    """Return rules on two numbers and two columns with levels, with numbers that hit nothing by chance."""
    rules = []
    for _ in range(4):
        tests = []
        for _ in range(int(rng.integers(1, 3))):
            levels = [
                Membership(column, rng.permutation(COLUMNS[column].levels)[: rng.integers(1, 3)].tolist()) for column in (2, 3)
            ]
            terms = [term for term in (0, 4, *levels) if rng.random() < 0.6] or [0]
            tests.append(Proposition(terms, rng.normal(size=len(terms)), rng.normal(), missing=rng.random() < 0.5))
        rules.append(Rule(rng.normal(), Conjunction(tests)))
    return RuleEnsemble(rules, -0.3, COLUMNS)


def test_numbers_and_levels_together_are_as_close_as_numbers_for_each_choice_of_levels():
    rng = np.random.default_rng(0)
    n_found = n_levels = 0
    for _ in range(25):
        ensemble = random_rules(rng)
        x = np.array([rng.normal(), 0.0, rng.integers(-1, 3), rng.integers(-1, 3), rng.choice([rng.normal(), math.nan]), 5.0])
        reach = np.array([2.0, 0.0, 0.0, 0.0, 2.0, 0.0])
        cost = np.array([1.0, 1.0, 0.2, 0.3, 1.0, 1.0])
        numbers = {"unit": np.full(6, 0.7), "cost": cost, "whole": np.zeros(6, dtype=bool)}
        moved = {column: tuple({0.0, 1.0, 2.0} - {x[column]}) for column in (2, 3)}
        result = searched(ensemble, Feasible(x, x - reach, x + reach, choices=moved, **numbers))
        expected = math.inf
        for colour, grade in itertools.product(*({x[column], *moved[column]} for column in (2, 3))):
            there = np.array([*x[:2], colour, grade, *x[4:]])
            away = 0.2 * (colour != x[2]) + 0.3 * (grade != x[3])
            expected = min(
                expected, away + searched(ensemble, Feasible(there, there - reach, there + reach, **numbers)).distance
            )
        assert result.proven
        assert result.distance == pytest.approx(expected, rel=2e-5, abs=2e-5)
        n_found += 0.0 < result.distance < math.inf
        n_levels += any(isinstance(change.after, str) for change in result)
    assert n_found > 8
    assert n_levels > 3


def searched(ensemble, region):
    goal = Goal(lambda score: score > 0.0, 1.0, "up")
    return closest_change(model_of(ensemble), region, goal, region.x[None, :], tolerance=0.0, max_steps=10_000)


# What is asked for


RULES = RuleEnsemble.parse(
    "+2 if colour in {green, blue}\n+1 if grade at least mid\n+4 if bmi >= 1 or missing\n"
    "+8 if day >= 1970-01-06\n+16 if flag = 1",
    COLUMNS,
)
ROW = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 4.0])


def above(limit):
    return Goal(lambda score: score > limit, 1.0, f"greater than {limit}")


def test_levels_and_dates_are_written_as_such():
    result = found(RULES, ROW, above(10.5), fixed=["flag", "bmi"])
    assert result.row == (1.0, 0.0, "green", "mid", 0.0, datetime.date(1970, 1, 6))
    assert str(result).split("\n") == [
        "The prediction is 0. To make it greater than 10.5, change",
        "     day:  1970-01-05 -> 1970-01-06  (+1 day, 1.224 standard deviations)",
        "  colour:              red -> green  (counts as 1)",
        "   grade:                low -> mid  (counts as 1)",
        "That is a distance of 3.224 standard deviations in all (another level counts as one), and no smaller change within "
        "the given ranges does it.",
    ]


def test_of_levels_that_no_rule_tells_apart_the_nearest_or_the_most_frequent_is_proposed():
    down = Goal(lambda score: score < 2.5, -1.0, "less")
    top = np.array([0.0, 0.0, 1.0, 2.0, 0.0, 4.0])
    rules = RuleEnsemble.parse("+3 if grade = high\n+1 if colour = green", COLUMNS)
    assert found(rules, top, down).row[3] == "mid"
    assert (
        found(rules, np.array([0.0, 0.0, 1.0, -1.0, 0.0, 4.0]), Goal(lambda score: score < 0.5, -1.0, "less")).row[2] == "red"
    )


def test_a_level_that_was_never_seen_may_stay_and_may_be_left():
    x = np.array([1.0, 0.0, -1.0, 0.0, 0.0, 4.0])
    model, options = model_of(RULES), {"whole": None, "lower": {}, "upper": {}, "cost": {}}
    changes = {}
    for still in ("flag", "colour"):
        region = feasible_region(model, x, ROWS, fixed=["grade", "bmi", "day", still], **options)
        changes[still] = closest_change(model, region, above(1.5), ROWS, tolerance=0.0, max_steps=99, words={2: "mauve"})
    assert [(change.variable, change.before, change.after) for change in changes["flag"]] == [("colour", "mauve", "green")]
    assert [change.variable for change in changes["colour"]] == ["flag"]
    assert changes["colour"].row[2] == "mauve"


def test_a_missing_value_stays_so_unless_it_may_become_known():
    x = np.array([1.0, 0.0, 0.0, math.nan, math.nan, 4.0])
    less = Goal(lambda score: score < 3.0, -1.0, "less than 3")
    assert found(RULES, x, less).row is None
    known = found(RULES, x, less, fill=["bmi"])
    assert (known.changes[0].before, known.changes[0].after, known.row[3]) == (None, 0.0, None)
    assert known.distance == pytest.approx(1.0 + 1.0 / UNIT[4])
    assert "  bmi:  missing -> 0  (counts as 2.222)" in str(known)
    assert "(a number that was missing counts as one and its distance from the median)" in str(known)
    grade = found(RULES, x, above(4.5), fill=["grade"], fixed=["colour", "flag", "day"])
    assert [(change.variable, change.before, change.after) for change in grade] == [("grade", None, "mid")]
    assert "That is a distance of 1 standard deviation in all (a level that was missing counts as one)" in str(grade)
    assert found(RULES, x, above(4.5), fill=["grade"], fixed=["grade", "colour", "flag", "day"]).row is None


def test_bounds_are_given_as_dates_and_levels():
    assert found(RULES, ROW, above(7.5), fixed=["flag"]).row[5] == datetime.date(1970, 1, 6)
    for last in ("1970-01-05", datetime.date(1970, 1, 5), datetime.datetime(1970, 1, 5), 4.0):
        assert found(RULES, ROW, above(7.5), fixed=["flag"], upper={"day": last}).row is None
    assert found(RULES, ROW, above(0.5), upper={"grade": "low"}).row[3] == "low"
    assert found(RULES, ROW, above(2.5), fixed=["flag", "day", "bmi"], lower={"grade": "low"}).row[2:4] == ("green", "mid")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"lower": {"colour": "red"}}, "^lower of 'colour' says nothing: its levels have no order[.]$"),
        ({"lower": {"grade": "best"}}, "^lower of 'grade' must be one of its levels, low, mid, high; got 'best'[.]$"),
        ({"upper": {"day": "soon"}}, "^upper of 'day' must be a date such as 2021-03-31; got 'soon'[.]$"),
        ({"lower": {"day": "1970-01-06"}}, "^x has 1970-01-05 in 'day', whose range is 1970-01-06 to 1970-01-07[.]$"),
        ({"lower": {"grade": "mid"}}, "^x has low in 'grade', whose range is mid to high[.]$"),
        ({"fill": ["weight"]}, "fill names the variable 'weight', which is not a column of X"),
    ],
)
def test_bad_requests(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        found(RULES, ROW, above(7.5), **options)


def test_a_budget_that_ends_before_missing_values_become_known_is_admitted():
    x = np.array([1.0, 0.0, 0.0, 0.0, math.nan, 4.0])
    model, given = model_of(RULES), {"fixed": (), "whole": None, "lower": {}, "upper": {}, "cost": {}, "fill": ["bmi"]}
    region = feasible_region(model, x, ROWS, **given)
    few = closest_change(model, region, above(26.5), ROWS, tolerance=0.0, max_steps=1)
    all_steps = closest_change(model, region, above(26.5), ROWS, tolerance=0.0, max_steps=1000)
    assert all_steps.proven
    assert few.bound <= all_steps.distance <= few.distance


# As a method


MAKERS = {
    "pandas": lambda rows, columns: pd.DataFrame(rows, columns=columns),
    "polars": lambda rows, columns: pl.DataFrame(rows, columns, orient="row"),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_row_that_is_returned_has_the_prediction(make):
    model, X, _ = fitted_mixed()
    predictions = model.predict(X)
    for row in range(8):
        result = model.closest_change(X.iloc[row], X, above=predictions[row] + 1.0)
        assert result.proven
        assert model.predict(make([result.row], list(X.columns)))[0] == result.after > predictions[row] + 1.0
        again = model.closest_change(make([result.row], list(X.columns)), X, above=predictions[row] + 1.0)
        assert (again.changes, again.distance) == ((), 0.0)


@pytest.mark.filterwarnings("ignore:Levels that were not seen in fit:UserWarning")
def test_what_was_never_seen_keeps_its_name():
    model, X, _ = fitted_mixed()
    x = X.iloc[[0]].assign(colour="mauve")
    free = [name for name in X.columns if name != "colour"]
    away = model.closest_change(x, X, above=float(model.predict(x)[0]) + 0.1, fixed=free)
    assert [(change.variable, change.before) for change in away] == [("colour", "mauve")]
    assert away.row[1] in {"red", "blue"}
    stays = model.closest_change(x, X, above=float(model.predict(x)[0]) + 0.1, fixed=["colour"])
    assert stays.row[1] == "mauve"


def test_a_row_may_be_a_list_of_numbers_and_text():
    X = np.array([[age, colour] for age in (1.0, 2.0, 3.0) for colour in ("red", "blue", "green")] * 9, dtype=object)
    model = LLTBoostRegressor(max_rules=1).fit(X, 1.0 * (X[:, 1] == "red"))
    assert model.closest_change([2.0, "blue"], X, above=0.5).row == (2.0, "red")


def test_times_stay_whole_seconds_and_durations_are_durations():
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 10_000_000, 80)
    X = pd.DataFrame({"asked": pd.Timestamp("2021-03-01 10:00:01") + pd.to_timedelta(seconds, unit="s")})
    X["stay"] = pd.to_timedelta(rng.integers(1, 40, 80) * 6, unit="h")
    y = 3.0 * (X["asked"] >= X["asked"].median()) + 1.0 * (X["stay"] >= pd.Timedelta(days=4))
    model = LLTBoostRegressor(max_rules=2).fit(X, y)
    early = int(X["asked"].argmin())
    later = model.closest_change(X.iloc[early], X, above=2.5, fixed=["stay"])
    assert later.row[0].microsecond == 0
    assert model.predict(pd.DataFrame([later.row], columns=X.columns))[0] == later.after > 2.5
    short = int((X["stay"] + pd.to_timedelta(X["asked"].rank(), unit="D")).argmin())
    longer = model.closest_change(X.iloc[short], X, above=float(model.predict(X.iloc[[short]])[0]) + 0.5, fixed=["asked"])
    assert isinstance(longer.row[1], datetime.timedelta)
    assert "days, " in str(longer)
