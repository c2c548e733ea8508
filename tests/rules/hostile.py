"""Ensembles whose columns, levels and classes have names that could be taken for something else, on columns of every kind."""

import math

from hypothesis import strategies as st

from obliquerules.rules import Column, Conjunction, Factor, Membership, Proposition, Rule, RuleEnsemble

# Words and signs of the grammar, alone or in a name, and what a name may be mistaken for.
SPACED = (
    "a b x0 2 -3 +1 1e5 .5 0x1 3rd + - >= <= > < = == != => & && and or not in is if at of to missing least most below above"
    ' any all class clipped min max day days True False None nan inf red mm # #1 | || { } ( ) [ ] , ; : " \' ` \\ \\n \\" %'
    " $ 2021-03-01 14:30:00 2021-03-01T14:30Z 10:30 (mm) [kg/m2] (a,b) f(x) min(a) a<b <=50K R&D größe 漢字 é x-ray a,b"
)
WORDS = SPACED.split(" ")
PHRASES = (
    " = ",
    " != ",
    " >= ",
    " & ",
    " and ",
    " if ",
    " or missing",
    "or missing",
    " is missing",
    "is not missing",
    " in {",
    " not in {a, b}",
    "at least 2 of {a}",
    " any of {",
    "all of",
    " clipped to [0, 1]",
    "min(a, 3)",
    "(a - 3)",
    "a | b | if",
    "class 3",
    "3 days",
    "2021-03-01 14:30:00",
    "x not",
    "x is not",
    "mean radius (mm)",
    "rate (per 1,000)",
    "weight (in kg) [2020]",
    "below average",
    "did not answer",
    "",
    " ",
    "  ",
    "a ",
    " a",
    "a  b",
    "\n",
    "\r\n",
    "a\tb",
    "\0",
    "\x1b[0m",
    "\x85",
    "\xa0",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\u200d",
    "a\u200cb",
    "\ue000",
    "\U0001f600",
    "\U000e0001",
    "\ud800",
)
texts = st.one_of(
    st.sampled_from([*WORDS, *PHRASES]),
    st.lists(st.sampled_from([*WORDS, *PHRASES]), min_size=2, max_size=4).map(" ".join),
    st.lists(st.sampled_from([*WORDS, *PHRASES]), min_size=2, max_size=3).map("".join),
    st.text(max_size=6),
)
answers = st.booleans()
signs = st.sampled_from([1.0, -1.0])
# Whole numbers are many, so that sums are votes and moments are dates.
numbers = st.one_of(
    st.integers(-3, 3).map(float), st.integers(-(10**5), 10**10).map(float), st.floats(allow_nan=False, allow_infinity=False)
)
level_lists = st.one_of(
    st.lists(texts, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-(10**20), 10**20) | st.integers(-3, 3), min_size=1, max_size=5, unique=True),
    st.sampled_from([[False, True], [True, False]]),
).map(tuple)
KINDS = ("number", "flag", "date", "time", "duration")


@st.composite
def columns(draw):
    """Draw two to five columns of any kind."""
    names = draw(st.lists(texts, min_size=2, max_size=5, unique=True))
    return [
        Column(name, draw(level_lists), draw(answers), "number", draw(answers))
        if draw(answers)
        else Column(name, None, False, draw(st.sampled_from(KINDS)), draw(answers))
        for name in names
    ]


@st.composite
def memberships(draw, known):
    """Draw a condition on levels, in any order, or on missing values; without columns their levels are made up."""
    position = draw(st.integers(0, 3 if known is None else len(known) - 1))
    levels = draw(level_lists) if known is None else known[position].levels
    if levels is None or draw(st.integers(0, 5)) == 0:
        missing = draw(answers)
        return Membership(position, (), not missing, missing)
    if known is not None and known[position].ordered and draw(answers):
        cut = draw(st.integers(0, len(levels) - 1))
        return Membership(
            position, levels[cut:] if draw(answers) else levels[: cut + 1], draw(answers), draw(answers), ordered=True
        )
    chosen = draw(st.lists(st.sampled_from(levels), min_size=1, max_size=len(levels), unique=True))
    return Membership(position, chosen, draw(answers), draw(answers))


def numeric(known):
    """Return the positions of the columns of numbers."""
    return range(4) if known is None else [position for position, column in enumerate(known) if column.levels is None]


@st.composite
def sums(draw, known):
    """Draw a condition on a sum, often of weights +1 and -1, with a whole threshold."""
    terms = st.one_of(*([st.sampled_from(numeric(known))] if numeric(known) else []), memberships(known))
    chosen = draw(st.lists(terms, min_size=1, max_size=4, unique=True))
    ones = draw(answers)
    weights = [draw(signs if ones else numbers.filter(bool)) for _ in chosen]
    return Proposition(chosen, weights, draw(numbers), draw(answers))


@st.composite
def factors(draw, known):
    """Draw a factor with limits and an origin, a hinge among them."""
    lower, upper = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    limits = draw(st.sampled_from([lower, -math.inf])), draw(st.sampled_from([upper, math.inf]))
    origin = draw(st.sampled_from([0.0, lower, upper]) | numbers)
    return Factor(draw(st.sampled_from(numeric(known))), origin, *limits)


@st.composite
def ensembles(draw):
    """Draw an ensemble with one score or many, with columns or without."""
    known = draw(st.one_of(columns(), columns(), columns(), st.none()))
    outputs = draw(st.one_of(st.none(), st.none(), st.lists(texts, min_size=2, max_size=4, unique=True)))
    has_factors = bool(numeric(known))
    weights = numbers if outputs is None else st.lists(numbers, min_size=len(outputs), max_size=len(outputs))
    tests = st.one_of(memberships(known), sums(known))
    rules = st.builds(
        Rule, weights, st.lists(tests, max_size=3).map(Conjunction), st.none() | factors(known) if has_factors else st.none()
    )
    return RuleEnsemble(draw(st.lists(rules, max_size=3)), draw(weights), known, outputs)
