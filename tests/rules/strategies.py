"""Strategies that draw propositions, conjunctions, ensembles and rows, and the plain loop that says what they mean."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble

N_COLUMNS = 3

few = settings(max_examples=30)  # for laws that depend on the shape of a value, not on its numbers
any_finite = st.floats(allow_nan=False, allow_infinity=False)
# Numbers of ordinary size, many of them small whole ones, so that sums hit thresholds exactly.
ordinary = st.one_of(
    st.integers(-4, 4).map(float), st.floats(-1e6, 1e6).filter(lambda number: number == 0 or abs(number) > 1e-6)
)


@st.composite
def propositions(draw, numbers=ordinary, n_columns=N_COLUMNS):
    columns = draw(st.lists(st.integers(0, n_columns - 1), min_size=1, max_size=n_columns, unique=True))
    weights = draw(st.lists(numbers.filter(lambda weight: weight != 0.0), min_size=len(columns), max_size=len(columns)))
    return Proposition(columns, weights, draw(numbers))


def conjunctions(numbers=ordinary):
    return st.lists(propositions(numbers), max_size=4).map(Conjunction)


def rules(numbers=ordinary):
    return st.builds(Rule, numbers, conjunctions(numbers))


@st.composite
def ensembles(draw, numbers=ordinary):
    names = draw(st.none() | st.lists(st.text(st.characters(codec="utf-8")), min_size=N_COLUMNS, max_size=N_COLUMNS))
    return RuleEnsemble(draw(st.lists(rules(numbers), max_size=4)), draw(numbers), names)


def matrices(numbers=ordinary):
    row = st.lists(numbers, min_size=N_COLUMNS, max_size=N_COLUMNS)
    return st.lists(row, min_size=1, max_size=6).map(np.array)


def holds(proposition, row):
    """Say in plain Python whether a condition holds on a row of Python floats."""
    total = None
    for column, weight in zip(proposition.columns, proposition.weights, strict=True):
        product = weight * row[column]
        total = product if total is None else total + product
    return total >= proposition.threshold


def score(ensemble, row):
    """Add up in plain Python the score of a row of Python floats."""
    total = ensemble.intercept
    for rule in ensemble.rules:
        if all(holds(proposition, row) for proposition in rule.condition):
            total += rule.weight
    return total
