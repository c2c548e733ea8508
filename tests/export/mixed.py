"""A model with every kind of column and condition, random ones like it, and rows for them in any number."""

import math

import numpy as np
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.export.verification import telling_rows
from obliquerules.rules import Column, Columns, Factor, Membership

COLOURS = ("red", 'it\'s "é"? \\ %s', "blue", "Red", 'A2 = $C2 {0}";')
COLUMNS = Columns.of(
    [
        Column("age"),
        Column("colour", COLOURS, missing=True),
        Column("smoker", (False, True)),
        Column("grade", ("low", "mid", "high", "top"), ordered=True),
        Column("ward", (3, 1, 7), missing=True),
        Column("sex_M", kind="flag"),
        Column("admitted", kind="date", missing=True),
        Column("seen", kind="time"),
        Column("stay", kind="duration", missing=True),
        Column("bmi", missing=True),
        Column("unused", ("a", "b")),
        Column("identifier", ()),
        Column("certain", (True,)),
    ]
)
NOON = 1614600000.0  # 2021-03-01 12:00:00
MIXED = RuleEnsemble(
    [
        Rule(weight, Conjunction(tests))
        for weight, tests in [
            (1.5, [Membership(1, ["red", "blue"])]),
            (-0.5, [Membership(1, ["red", COLOURS[1]], negated=True)]),
            (0.25, [Membership(1, ["red"], negated=True, missing=True), Membership(2, [True])]),
            (0.125, [Membership(1, COLOURS[3:], missing=True), Membership(2, [False], missing=True)]),
            (0.2, [Membership(3, ["high", "top"], ordered=True), Proposition([9], [1.0], 25.0, missing=True)]),
            (0.3, [Membership(3, ["low"], negated=True, missing=True, ordered=True)]),
            (0.7, [Membership(4, [3, 7])]),
            (1.1, [Membership(4, [1], negated=True), Proposition([0], [-1.0], -50.0)]),
            (0.01, [Proposition([5], [1.0], 0.5)]),
            (0.02, [Proposition([6], [1.0], 18687.0), Proposition([0, 9], [1.0, -0.5], 3.0)]),
            (0.03, [Proposition([6], [-1.0], -18687.5, missing=True)]),
            (0.04, [Proposition([7], [1.0], NOON + 0.5)]),
            (0.05, [Proposition([7], [-1.0], -NOON), Membership(1, [], negated=True)]),
            (0.06, [Proposition([8], [1.0], 3.0)]),
            (0.07, [Proposition([8], [-1.0], -2.3, missing=True)]),
            (0.08, [Membership(9, [], missing=True)]),
            (0.09, [Membership(0, [], negated=True), Membership(1, [], missing=True)]),
            (
                2.0,
                [Proposition([0, Membership(2, [True]), Membership(1, ["red"], missing=True)], [1.0, 12.0, -3.0], 60.0)],
            ),
            (3.0, [Proposition([6, 0], [1.0, 0.3], 18700.0, missing=True)]),
            (4.0, [Proposition([7, 8], [0.001, 0.3], 1614600.0)]),
            (5.0, [Proposition([Membership(3, ["mid"]), Membership(4, [1], True, True)], [1.0, 1.0], 1.0)]),
            # Levels that a column does not have count as never seen.
            (0.61, [Membership(1, ["purple"])]),
            (0.62, [Membership(1, ["purple"], negated=True)]),
            (0.63, [Membership(1, ["purple"], missing=True)]),
            (0.64, [Membership(11, ["p1"], negated=True, missing=True)]),
            (0.8, [Membership(12, [True])]),
            (0.9, [Membership(6, [], missing=True)]),
        ]
    ],
    0.5,
    COLUMNS,
)
# The same columns, multiplied by: slopes, with and without limits and origins, everywhere and under conditions.
SLOPED = RuleEnsemble(
    [
        Rule(weight, Conjunction(tests), factor)
        for weight, tests, factor in [
            (0.31, [], Factor(0)),
            (-0.02, [], Factor(9, 25.0)),
            (0.7, [Membership(1, ["red"])], Factor(9, 0.0, 15.5, 40.25)),
            (1.0, [Proposition([0], [1.0], 40.0)], Factor(0, 50.0, upper=80.0)),
            (-1.0, [Proposition([0], [-1.0], 40.0, missing=True)], Factor(0, -3.1, lower=-1000.0 / 3.0)),
            (0.5, [Proposition([0, 9], [1.0, -0.5], 3.0), Membership(2, [False], missing=True)], None),
            (2.0, [], Factor(5)),
            (0.001, [], Factor(6, 18687.0)),
            (0.1, [Proposition([6], [1.0], 18687.0)], Factor(6, 18700.5, 18690.0, 19000.0)),
            (1e-6, [], Factor(7, NOON + 0.5, NOON - 1e5, NOON + 1e5)),
            (-0.1, [Membership(2, [True])], Factor(8, 2.5, lower=0.0)),
            (1.0, [Membership(1, ["red"], negated=True, missing=True)], Factor(8)),
            (0.25, [Membership(9, [], missing=True)], Factor(0, 1e-3)),
            (0.0, [], Factor(9, 1e6)),
            (1.1, [], Factor(0, 39.0, upper=39.0)),
            (-0.3, [Membership(1, ["red"])], Factor(9, 25.5, 25.5, 40.25)),
        ]
    ],
    0.5,
    COLUMNS,
)


def mixed_rows(source, n_rows, seed=0):
    """Return so many rows: values that tell, those of some rows as they are, others drawn column by column."""
    rng = np.random.default_rng(seed)
    telling = telling_rows(source)
    rows = telling[rng.integers(len(telling), size=n_rows)]
    drawn = np.column_stack([rng.choice(values, size=n_rows) for values in telling.T])
    # Few values that cannot be scored: with one of them in each row, there would be nothing to compare.
    drawn[np.abs(drawn) > source.largest_input] = 0.0
    return np.where(rng.random(rows.shape) < rng.choice([0.1, 0.5, 1.0], size=(n_rows, 1)), drawn, rows)


# ---- random ones

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
numbers = st.integers(-4, 4).map(float) | st.floats(-1e3, 1e3).filter(lambda number: number == 0.0 or abs(number) > 1e-3)
levels = st.one_of(
    st.lists(texts, min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-5, 9), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
    st.just([True]),
)
KINDS = {"date": (18000.0, 19000.0), "time": (NOON - 1e5, NOON + 1e5), "duration": (-9.0, 9.0), "flag": (0.0, 1.0)}


@st.composite
def mixed_ensembles(draw):
    """Draw an ensemble of rules on columns of levels, dates, flags and numbers, some of them with a factor."""
    columns = [Column("n0"), Column("n1", missing=True)]
    columns += [
        Column(f"k{index}", kind=kind) for index, kind in enumerate(draw(st.lists(st.sampled_from([*KINDS]), max_size=2)))
    ]
    columns += [Column(f"l{index}", tuple(some)) for index, some in enumerate(draw(st.lists(levels, min_size=1, max_size=3)))]
    conditions = st.lists(_tests(columns), max_size=3).map(Conjunction)
    rules = draw(st.lists(st.builds(Rule, numbers, conditions, st.none() | _factors(columns)), max_size=4))
    return RuleEnsemble(rules, draw(numbers), columns)


@st.composite
def _factors(draw, columns):
    index = draw(st.sampled_from([index for index, column in enumerate(columns) if column.levels is None]))
    lower, upper = sorted(_near(draw, columns[index]) for _ in range(2))
    lower, upper = draw(st.sampled_from([lower, -math.inf])), draw(st.sampled_from([upper, math.inf]))
    origin = draw(st.sampled_from([0.0, lower, upper, _near(draw, columns[index])]).filter(math.isfinite))
    return Factor(index, origin, *((lower, upper) if lower < upper else ()))


def _tests(columns):
    return _memberships(columns) | _propositions(columns)


@st.composite
def _memberships(draw, columns):
    index = draw(st.integers(0, len(columns) - 1))
    some = columns[index].levels
    listed = [] if some is None else draw(st.lists(st.sampled_from(some), unique=True))
    negated = draw(st.booleans())
    return Membership(index, listed, negated, draw(st.booleans()) if listed else not negated)


@st.composite
def _propositions(draw, columns):
    possible = [index for index, column in enumerate(columns) if column.levels is None]
    if draw(st.booleans()):
        index = draw(st.sampled_from(possible))
        weight = draw(st.sampled_from([1.0, -1.0]))
        return Proposition([index], [weight], weight * _near(draw, columns[index]), draw(st.booleans()))
    terms = draw(st.lists(st.sampled_from(possible) | _memberships(columns), min_size=1, max_size=3, unique=True))
    weights = draw(st.lists(numbers.filter(bool), min_size=len(terms), max_size=len(terms)))
    size = [_near(draw, columns[term]) if isinstance(term, int) else 1.0 for term in terms]
    threshold = sum(weight * value for weight, value in zip(weights, size, strict=True))
    return Proposition(terms, weights, threshold, draw(st.booleans()))


def _near(draw, column):
    """Draw a number in the range of a column, often a whole one."""
    low, high = KINDS.get(column.kind, (-50.0, 50.0))
    number = draw(st.floats(low, high).filter(lambda number: number == 0.0 or abs(number) > 1e-3))
    return float(round(number)) if draw(st.booleans()) else number
