"""Mixed columns, rows and ensembles: numbers, flags, levels, booleans, ordered levels and dates, some of them missing."""

import numpy as np
from hypothesis import strategies as st

from obliquerules.rules import Block, Column, Columns, Conjunction, Membership, Proposition, Rule, RuleEnsemble

COLUMNS = Columns.of(
    [
        Column("age", missing=True),
        Column("bmi (kg/m2)"),
        Column("colour", ("red", "green", "dark blue", "4", "a, b", "x or missing"), missing=True),
        Column("smoker", (False, True), missing=True),
        Column("grade", ("low", "mid", "high", "top"), ordered=True, missing=True),
        Column("drug a", kind="flag"),
        Column("drug b", kind="flag", missing=True),
        Column("admitted", kind="date", missing=True),
        Column("ward", (3, 1, 2)),
    ]
)
NUMBERS = (0, 1)
FLAGS = (5, 6)
DATE = 7
WITH_LEVELS = (2, 3, 4, 8)

short = st.integers(-40, 40).map(lambda number: number / 4)
answers = st.booleans()


@st.composite
def memberships(draw):
    """Draw a condition on levels or on missing values."""
    if draw(st.integers(0, 5)) == 0:
        missing = draw(answers)
        return Membership(draw(st.integers(0, len(COLUMNS) - 1)), (), not missing, missing)
    column = draw(st.sampled_from(WITH_LEVELS))
    levels = COLUMNS[column].levels
    if COLUMNS[column].ordered and draw(answers):
        cut = draw(st.integers(1, len(levels) - 1))
        run = levels[cut:] if draw(answers) else levels[:cut]
        return Membership(column, run, draw(answers), draw(answers), ordered=True)
    chosen = draw(st.lists(st.sampled_from(levels), min_size=1, max_size=len(levels) - 1, unique=True))
    return Membership(column, sorted(chosen, key=levels.index), draw(answers), draw(answers))


@st.composite
def sums(draw):
    """Draw a condition on a sum of numbers, flags and memberships."""
    terms = st.one_of(st.sampled_from((*NUMBERS, *FLAGS)), memberships())
    columns = draw(st.lists(terms, min_size=1, max_size=4, unique=True))
    size = st.integers(1, 20).map(lambda number: number / 4)
    weights = [draw(size) * draw(st.sampled_from([-1, 1])) for _ in columns]
    return Proposition(columns, weights, draw(short), draw(answers))


dates = st.builds(
    lambda day, sign, missing: Proposition([DATE], [sign], sign * day, missing),
    st.integers(18000, 18100).map(float),
    st.sampled_from([1.0, -1.0]),
    answers,
)
tests = st.one_of(memberships(), sums(), dates)
rules = st.builds(Rule, short, st.lists(tests, min_size=1, max_size=3).map(Conjunction))
ensembles = st.builds(lambda rules, constant: RuleEnsemble(rules, constant, COLUMNS), st.lists(rules, max_size=4), short)


def rows(n_rows, seed):
    """Return random rows: each value missing in one of eight cases, each level never seen in one of eight."""
    random = np.random.default_rng(seed)
    columns = [_values(column, n_rows, random) for column in COLUMNS]
    X = np.column_stack(columns)
    X[random.random(X.shape) < 0.125] = np.nan
    return Block(COLUMNS, X)


def _values(column, n_rows, random):
    if column.levels is not None:
        codes = random.integers(0, len(column.levels), n_rows).astype(float)
        return np.where(random.random(n_rows) < 0.125, -1.0, codes) if not column.is_truth else codes
    if column.kind == "flag":
        return random.integers(0, 2, n_rows).astype(float)
    return (
        random.integers(18000, 18100, n_rows).astype(float) if column.kind == "date" else random.integers(-40, 40, n_rows) / 4.0
    )


blocks = st.builds(rows, st.integers(1, 30), st.integers(0, 10**6))
