"""Redundancy: what is left has the same scores, holds on the same rows, and nothing more of it can go."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obliquerules import Column, Conjunction, Membership, Proposition, Rule, RuleEnsemble
from obliquerules.rules import Block, Shortening, simplify
from obliquerules.rules.redundancy import Dropping, shorter_tests

from ..droppable import with_less
from . import mixed
from .strategies import N_COLUMNS, ensembles, matrices, ordinary, score

# Magnitudes far apart, but such that no product with an ordinary input leaves the normal doubles.
far_apart = st.builds(math.ldexp, st.floats(-2, 2).filter(lambda number: abs(number) > 0.5), st.integers(-300, 300))


@st.composite
def repetitive_ensembles(draw):
    """Ensembles whose conditions repeat, imply and contradict each other, in scaled copies of a few directions."""
    columns = st.lists(st.integers(0, N_COLUMNS - 1), min_size=1, max_size=2, unique=True).map(tuple)
    pool = [
        (chosen, [draw(st.sampled_from([1.0, -3.0, 0.1, 0.7])) for _ in chosen])
        for chosen in draw(st.lists(columns, min_size=1, max_size=2))
    ]
    scale = st.sampled_from([1.0, -1.0, 2.0, -4.0, 0.125, 3.0])

    def proposition():
        chosen, weights = draw(st.sampled_from(pool))
        by = draw(scale)
        return Proposition(chosen, [by * weight for weight in weights], by * draw(st.sampled_from([0.0, 0.3, 1.0, -2.1])))

    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    rules = [Rule(draw(st.sampled_from([0.0, 0.1, -0.7])), Conjunction([proposition() for _ in range(size)])) for size in sizes]
    return RuleEnsemble(rules, 0.2)


def neighbours(number):
    """Return the number and the three doubles on each side of it."""
    below = above = number
    yield number
    for _ in range(3):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        yield below
        yield above


def at_thresholds(ensemble, X):
    """Return rows, made from those of X, on and next to every threshold of the ensemble."""
    rows = [tuple(row) for row in X.tolist()]
    for proposition in {proposition for rule in ensemble for proposition in rule.condition}:
        for row in X.tolist():
            column, weight = proposition.columns[-1], proposition.weights[-1]
            rest = sum(w * row[j] for j, w in zip(proposition.columns[:-1], proposition.weights[:-1], strict=True))
            hit = (proposition.threshold - rest) / weight
            rows += [(*row[:column], value, *row[column + 1 :]) for value in neighbours(hit)]
    return np.array(rows)


def check_laws(ensemble, X):
    simple = simplify(ensemble)
    edge = at_thresholds(ensemble, X)
    assert simple(edge).tolist() == ensemble(edge).tolist()
    assert simple(edge).tolist() == [score(ensemble, row) for row in edge.tolist()]
    assert simple.complexity <= ensemble.complexity
    assert len(simple) <= len(ensemble)
    assert simplify(simple) == simple
    assert simple.feature_names == ensemble.feature_names
    return simple


@given(ensembles(), matrices())
def test_scores_stay_and_complexity_does_not_rise(ensemble, X):
    check_laws(ensemble, X)


@given(ensembles(far_apart), matrices(ordinary))
def test_scores_stay_whatever_the_size_of_weights_and_thresholds(ensemble, X):
    check_laws(ensemble, X)


@given(repetitive_ensembles(), matrices(st.sampled_from([0.0, 0.1, -0.3, 1.0, 3.0, 10.0, -0.7])))
def test_scores_stay_where_conditions_repeat_and_contradict_each_other(ensemble, X):
    simple = check_laws(ensemble, X)
    for rule in simple:
        directions = [(proposition.columns, proposition.weights) for proposition in rule.condition]
        assert len(set(directions)) == len(directions)


@given(st.floats(0.001, 1000), st.floats(-1000, 1000).filter(lambda number: abs(number) > 1e-3), st.sampled_from([1.0, -1.0]))
def test_a_condition_on_one_column_gets_the_weight_one(weight, threshold, sign):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [sign * weight], threshold)]))])
    (proposition,) = simplify(ensemble)[0].condition
    assert proposition.weights == (sign,)
    X = np.array([[sign * x] for x in neighbours(threshold / weight)])
    assert simplify(ensemble)(X).tolist() == ensemble(X).tolist()


def one_rule(*propositions):
    return RuleEnsemble([Rule(2.0, Conjunction(propositions))], 1.0)


def test_the_leading_weight_of_an_oblique_condition_comes_to_lie_between_one_and_two():
    simple = simplify(one_rule(Proposition([1, 0], [-12.0, 3.0], 20.0)))
    assert simple == one_rule(Proposition([1, 0], [-1.5, 0.375], 2.5))


def test_an_oblique_condition_at_zero_stays_as_it_is():
    at_zero = one_rule(Proposition([1, 0], [-12.0, 3.0], 0.0))
    assert simplify(at_zero) == at_zero


def test_repeated_conditions_become_one():
    twice = one_rule(Proposition([0, 1], [1.0, 3.0], 0.5), Proposition([0, 1], [2.0, 6.0], 1.0))
    assert simplify(twice) == one_rule(Proposition([0, 1], [1.0, 3.0], 0.5))


def test_implied_conditions_leave_the_strictest():
    loose, strict = Proposition([0], [1.0], 0.5), Proposition([0], [2.0], 3.0)
    for order in ((loose, strict), (strict, loose)):
        assert simplify(one_rule(*order)) == one_rule(Proposition([0], [1.0], 1.5))


def test_an_interval_stays():
    interval = one_rule(Proposition([0], [1.0], 0.5), Proposition([0], [-1.0], -2.0))
    assert simplify(interval) == interval


def test_an_interval_of_one_point_stays():
    point = one_rule(Proposition([0], [1.0], 2.0), Proposition([0], [-1.0], -2.0))
    assert simplify(point)([[2.0], [1.0], [3.0]]).tolist() == [3.0, 1.0, 1.0]


@pytest.mark.parametrize("weights", [(1.0,), (1.0, -0.3), (8.0, 0.1)])
def test_rules_that_contradict_themselves_are_dropped(weights):
    columns = tuple(range(len(weights)))
    opposite = tuple(-weight for weight in weights)
    impossible = one_rule(Proposition(columns, weights, 2.0), Proposition(columns, opposite, -1.5))
    assert simplify(impossible) == RuleEnsemble((), 1.0)


def test_rules_of_weight_zero_are_dropped():
    assert simplify(RuleEnsemble([Rule(0.0, Conjunction([Proposition([0], [1.0], 0.0)]))], 1.5)) == RuleEnsemble((), 1.5)


def test_leading_rules_without_a_condition_join_the_constant_and_later_ones_stay():
    real = Rule(1e16, Conjunction([Proposition([0], [1.0], 0.0)]))
    ensemble = RuleEnsemble([Rule(0.25), Rule(0.5), real, Rule(1.0)], 0.25)
    assert simplify(ensemble) == RuleEnsemble([real, Rule(1.0)], 1.0)


def test_a_constant_that_would_overflow_stays_apart():
    ensemble = RuleEnsemble([Rule(1.7e308)], 1.7e308)
    assert simplify(ensemble) == ensemble


def test_rules_with_the_same_condition_stay_apart_because_their_sum_would_round_differently():
    condition = Conjunction([Proposition([0], [1.0], 0.0)])
    ensemble = RuleEnsemble([Rule(0.1, condition), Rule(0.2, condition)], 0.3)
    assert simplify(ensemble) == ensemble


def test_the_method_of_the_ensemble_is_the_function():
    ensemble = one_rule(Proposition([0], [-4.0], 2.0))
    assert ensemble.simplified() == simplify(ensemble)


@given(mixed.ensembles, mixed.blocks)
def test_mixed_ensembles_keep_their_scores(ensemble, block):
    simplified = ensemble.simplified()
    assert np.array_equal(simplified(block), ensemble(block))
    assert simplified.complexity <= ensemble.complexity


def test_levels_of_one_column_are_listed_together():
    columns = [Column("c", ("a", "b", "d", "e"))]
    ensemble = RuleEnsemble.parse("+1 if c != a & c != b\n+1 if c in {a, b} & c != a\n+1 if c = a & c = b", columns)
    assert ensemble.simplified() == RuleEnsemble.parse("+1 if c not in {a, b}\n+1 if c = b", columns)


COLUMNS = (
    Column("home", ("owner", "rent")),
    Column("records", ("no", "yes")),
    Column("job", ("fixed", "free", "part")),
    "seniority",
)


def applicants(n_rows=300, seed=0):
    """Return rows of three columns of levels and one of numbers."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_rows) for n in (2, 2, 3)]
    return Block.of_matrix(np.column_stack([*codes, rng.integers(0, 40, n_rows)]).astype(float), COLUMNS)


def condition(text, block):
    return Conjunction.parse(text, block.columns)


def needed(text, block):
    """Return what is left of a condition that is given as text."""
    return Dropping(Shortening(block)).condition(condition(text, block)).describe(block.columns)


def test_a_mixed_sum_that_is_one_level_on_every_row_becomes_that_level():
    text = "(home = owner) - 1.3 (records = yes) + 0.2 (job = fixed) + 0.01 (job = part) + 0.0003 seniority <= -0.04"
    block = applicants()
    # Nobody who has records owns a home, as in the data on which such a sum was found.
    keep = ~((block.matrix[:, 0] == 0) & (block.matrix[:, 1] == 1))
    some = block.rows(keep)
    assert (condition(text, some)(some) == (some.matrix[:, 1] == 1)).all()
    assert needed(text, some) == "records = yes"


def test_a_threshold_is_placed_anew_between_the_rows_that_the_rule_tells_apart():
    X = np.array([[0.0, 0.0], [1.0, 3.0], [5.0, -3.0], [6.0, 0.0], [3.0, 9.0]])
    block = Block.of_matrix(X, ["a", "b"])
    # Without b, a threshold between 3 and 5 does what both tests did.
    assert needed("a + 0.1 b >= 3.5 & b <= 5", block) == "a >= 4"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("job in {fixed, free} & seniority >= 20", "job = fixed & seniority >= 20"),
        ("job not in {free, part} & seniority >= 20", "job != part & seniority >= 20"),
        ("job = fixed or missing & seniority >= 20", "job = fixed & seniority >= 20"),
        ("seniority >= 20 & seniority >= 10", "seniority >= 20"),
    ],
)
def test_levels_and_tests_that_move_no_row_go(text, left):
    block = applicants()
    # Of long seniority, nobody is free.
    some = block.rows((block.matrix[:, 3] < 20) | (block.matrix[:, 2] != 1))
    assert needed(text, some) == left


def test_or_missing_stays_where_a_value_is_missing():
    block = applicants()
    block.matrix[:5, 2] = np.nan
    assert needed("job = fixed or missing", block) == "job = fixed or missing"


@settings(max_examples=100)
@given(st.lists(mixed.tests, min_size=1, max_size=3).map(Conjunction), mixed.blocks)
def test_what_is_left_holds_on_the_same_rows_and_nothing_more_can_go(condition, block):
    fires = condition(block)
    assume(fires.any() and not fires.all())
    shortening = Shortening(block)
    left = Dropping(shortening).condition(Conjunction(map(shortening.proposition, condition)))
    assert left(block).tolist() == fires.tolist()
    assert left.complexity <= condition.complexity
    for less, holds in with_less(left, fires, np.zeros(len(block)), block):
        assert holds.tolist() != fires.tolist(), less


def test_the_shorter_tests_have_one_thing_less():
    test = Proposition([0, Membership(1, ["a", "b"])], [1.0, 2.0], 3.0, missing=True)
    shorter = list(shorter_tests(test))
    assert len(shorter) == 5
    assert {one.complexity for one in shorter} == {test.complexity - 1, test.complexity - 2}
    ordered = Membership(0, ["b", "c"], ordered=True)
    assert list(shorter_tests(ordered)) == []
