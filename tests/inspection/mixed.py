"""Models and rows of mixed columns: numbers, flags, levels, ordered levels and dates, some of them missing or never seen."""

import functools

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from obliquerules import Conjunction, LLTBoostRegressor, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Column, Columns, Membership, Model

NAN = float("nan")
COLUMNS = Columns.of(
    [
        Column("age"),
        Column("flag", kind="flag"),
        Column("colour", ("red", "green", "blue"), missing=True),
        Column("grade", ("low", "mid", "high"), ordered=True),
        Column("bmi", missing=True),
        Column("day", kind="date"),
    ]
)
NUMBERS = [0, 1, 4, 5]
# What a row may have in each column; -1 is a level that was never seen.
VALUES = [
    [0.0, 1.0, 2.0, 3.0],
    [0.0, 1.0],
    [-1.0, 0.0, 1.0, 2.0, NAN],
    [-1.0, 0.0, 1.0, 2.0, NAN],
    [0.0, 1.0, 2.0, NAN],
    [4.0, 5.0, 6.0],
]


@st.composite
def memberships(draw):
    """Draw a condition on levels or on missing values."""
    column = draw(st.sampled_from([2, 3, 4]))
    levels = COLUMNS[column].levels
    if levels is None or draw(st.integers(0, 4)) == 0:
        missing = draw(st.booleans())
        return Membership(column, [], negated=not missing, missing=missing)
    if column == 3 and draw(st.booleans()):
        cut = draw(st.integers(1, 2))
        return Membership(
            column, draw(st.sampled_from([levels[:cut], levels[cut:]])), ordered=True, missing=draw(st.booleans())
        )
    listed = draw(st.lists(st.sampled_from(levels), min_size=1, max_size=2, unique=True))
    return Membership(column, listed, draw(st.booleans()), draw(st.booleans()))


@st.composite
def sums(draw):
    """Draw a condition on a sum of numbers and memberships."""
    terms = draw(st.lists(st.sampled_from(NUMBERS) | memberships(), min_size=1, max_size=3, unique=True))
    weights = [draw(st.sampled_from([-2.0, -1.0, -0.3, 0.5, 1.0, 1.0, 3.0])) for _ in terms]
    return Proposition(terms, weights, draw(st.sampled_from([-2.0, -0.5, 0.0, 0.7, 1.0, 2.0, 4.5, 5.0])), draw(st.booleans()))


@st.composite
def mixed_ensembles(draw):
    """Draw rules with one or two conditions."""
    tests = st.lists(memberships() | sums(), min_size=1, max_size=2)
    weights = st.sampled_from([-2.0, -1.0, -0.1, 0.3, 1.0, 2.5])
    rules = draw(st.lists(st.builds(Rule, weights, tests.map(Conjunction)), min_size=1, max_size=4))
    return RuleEnsemble(rules, draw(st.sampled_from([-1.0, 0.0, 0.1])), COLUMNS)


@functools.cache
def fitted_mixed():
    """Return a model of a frame with every kind of column, the frame and the targets."""
    rng, n = np.random.default_rng(0), 400
    X = pd.DataFrame({"age": rng.normal(50, 15, n).round(), "colour": rng.choice(["red", "green", "blue", "teal"], n)})
    X["smoker"] = rng.random(n) < 0.4
    X["bmi"] = rng.normal(25, 4, n).round(1)
    X["grade"] = pd.Categorical(rng.choice(["low", "mid", "high"], n), categories=["low", "mid", "high"], ordered=True)
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D")
    X["flag"] = rng.integers(0, 2, n)
    X.loc[rng.random(n) < 0.2, "bmi"] = np.nan
    X.loc[rng.random(n) < 0.1, "colour"] = None
    y = 2.0 * X["colour"].isin(["red", "blue"]) + 0.05 * (X["age"] + 30 * X["smoker"]) - 2.0 * (X["day"] >= "2020-09-01")
    y = y + 1.0 * (X["grade"] >= "mid") + 1.5 * X["flag"] + 1.2 * X["bmi"].isna() + rng.normal(0, 0.1, n)
    return LLTBoostRegressor(max_rules=8, linear_terms=False, random_state=0).fit(X, y), X, y.to_numpy()


mixed_rows = st.tuples(*(st.sampled_from(values) for values in VALUES)).map(np.array)


def mixed_blocks():
    """Draw rows."""
    return st.lists(mixed_rows, min_size=1, max_size=6).map(lambda rows: Block(COLUMNS, np.array(rows)))


def model_of(ensemble):
    """Return rules as a model."""
    return Model.of(ensemble, LOSSES["squared"])


def term_of(term, row):
    """Say in plain Python what a column or membership is in a row; None if it is missing."""
    if isinstance(term, int):
        return None if np.isnan(row[term]) else row[term]
    return float(holds(term, row))


def holds(test, row):
    """Say in plain Python whether a condition holds on a row of numbers and codes."""
    if isinstance(test, Membership):
        code = row[test.column]
        if np.isnan(code):
            return test.missing
        column = COLUMNS[test.column]
        level = column.levels[int(code)] if column.levels and code >= 0 else None
        return (level is not None and level in test.levels) != test.negated
    total = None
    for term, weight in zip(test.columns, test.weights, strict=True):
        value = term_of(term, row)
        if value is None:
            return test.missing
        total = weight * value if total is None else total + weight * value
    return total >= test.threshold
