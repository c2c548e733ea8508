"""Strategies that draw propositions, conjunctions, ensembles and rows, and the plain loop that says what they mean."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from obliquerules import Conjunction, Model, Proposition, Rule, RuleEnsemble
from obliquerules.losses import LOSSES, REGRESSION_LOSSES
from obliquerules.rules import Factor, Labels
from obliquerules.rules.edits import ACTIONS, EditLog, EditStep
from obliquerules.rules.model import Origin

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


label_pairs = st.one_of(
    st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=2, unique=True),
    st.lists(any_finite, min_size=2, max_size=2, unique=True),
    st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5), min_size=2, max_size=2, unique=True),
    st.just([False, True]),
).map(sorted)


def conjunctions(numbers=ordinary):
    return st.lists(propositions(numbers), max_size=4).map(Conjunction)


@st.composite
def factors(draw):
    lower, upper = sorted(draw(st.lists(ordinary, min_size=2, max_size=2, unique=True)))
    return Factor(
        draw(st.integers(0, N_COLUMNS - 1)),
        draw(ordinary),
        draw(st.sampled_from([lower, -math.inf])),
        draw(st.sampled_from([upper, math.inf])),
    )


def rules(numbers=ordinary):
    return st.builds(Rule, numbers, conjunctions(numbers))


@st.composite
def ensembles(draw, numbers=ordinary):
    names = draw(st.none() | st.lists(st.text(st.characters(codec="utf-8")), min_size=N_COLUMNS, max_size=N_COLUMNS))
    return RuleEnsemble(draw(st.lists(rules(numbers), max_size=4)), draw(numbers), names)


@st.composite
def models(draw, numbers=ordinary):
    """Draw a model as a fit makes it: a path of growing complexity on named columns, and where it comes from."""
    names = draw(st.lists(st.text(st.characters(codec="utf-8")), min_size=N_COLUMNS, max_size=N_COLUMNS, unique=True))
    path = [RuleEnsemble([], draw(numbers), names)]
    for rule in draw(st.lists(rules(numbers).filter(lambda rule: rule.complexity > 0), max_size=4)):
        path.append(path[-1].with_rules([*path[-1], rule], draw(numbers)))
    labels = draw(st.none() | label_pairs.map(Labels.of))
    loss = "logistic" if labels is not None else draw(st.sampled_from(REGRESSION_LOSSES))
    parameters = (("loss", loss), *((("tweedie_power", LOSSES[loss].power),) if loss == "tweedie" else ()))
    origin = Origin("TGBRegressor" if labels is None else "TGBClassifier", parameters, draw(st.integers(0, 9)), True)
    model = Model(tuple(path), draw(st.integers(0, len(path) - 1)), LOSSES[loss], labels, None, origin)
    return replace(model, **draw(_by_member(len(path), numbers)))


@st.composite
def _by_member(draw, n_members, numbers):
    """Draw what may be known of each member of a path."""

    def some(of):
        return draw(st.just(()) | st.lists(of, min_size=n_members, max_size=n_members).map(tuple))

    ridges, expected = some(numbers.map(abs)), some(numbers)
    errors = some(numbers.map(abs)) if expected else ()
    marks = {"selected": st.integers(0, n_members - 1), "separated": st.integers(0, 99)}
    known = {name: draw(st.none() | mark) for name, mark in marks.items()}
    return {"ridges": ridges, "expected": expected, "standard_errors": errors} | known


@st.composite
def edit_logs(draw, start):
    """Draw a log of edits of an ensemble that has come to whatever the steps say; the losses are made up."""
    log = EditLog(start, (), start)
    for _ in range(draw(st.integers(1, 4))):
        log = log.followed_by(*draw(_edit_steps(log)))
    return log


@st.composite
def _edit_steps(draw, log):
    """Draw a step that can follow a log, and the ensemble that it leads to."""
    before = log.ensemble
    actions = sorted(action for action, (named, _) in ACTIONS.items() if len(before) > 0 or not named)
    action = draw(st.sampled_from(actions))
    named, renewed = ACTIONS[action]
    position = draw(st.integers(0, len(before) - 1)) if named else None
    new = draw(rules()) if renewed else None
    after = before.with_rules(_changed(before.rules, action, position, new))
    losses = draw(st.tuples(ordinary, ordinary))
    settings = (("digits", 2), ("tolerance", losses[0]), ("integers", True)) if action == "round" else ()
    return EditStep(action, position, new, action, before.complexity, after.complexity, *losses, settings), after


def _changed(before, action, position, new):
    if action == "add":
        return (*before, new)
    if action in ("drop", "replace"):
        return (*before[:position], *([] if new is None else [new]), *before[position + 1 :])
    return before


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
