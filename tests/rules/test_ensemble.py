"""Ensembles: scores, slices, names and renumbered columns."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules.losses import LOSSES
from obliquerules.rules import Column, Columns, Conjunction, Factor, Membership, Model, Proposition, Rule, RuleEnsemble
from obliquerules.rules.columns import Block, Range
from obliquerules.rules.ensemble import renumbered

from .strategies import any_finite, ensembles, few, matrices, rules, score

OBLIQUE = Rule(-3.85, Conjunction([Proposition([0, 1], [2.81, 1.5], -0.28)]))
LOW = Rule(0.5, Conjunction([Proposition([1], [-1.0], -2.0), Proposition([0], [1.0], 0.0)]))
BANKNOTE = RuleEnsemble([OBLIQUE, LOW], 1.79, ["variance", "skewness"])
X = np.array([[0.5, 0.5], [-3.0, 1.0], [1.0, 4.0]])


def same(one, other):
    """Compare floats so that overflow to infinity is equal to itself."""
    return np.array_equal(np.asarray(one), np.asarray(other))


@given(ensembles(any_finite), matrices(any_finite))
def test_score_is_the_sum_from_left_to_right(ensemble, X):
    assert same(ensemble(X), [score(ensemble, row) for row in X.tolist()])


def test_weights_are_added_in_the_order_of_the_rules():
    always = Conjunction([Proposition([0], [1.0], 0.0)])
    assert RuleEnsemble([Rule(1.0, always), Rule(-1e16, always)], 1e16)([[0.0]]).tolist() == [0.0]
    assert RuleEnsemble([Rule(-1e16, always), Rule(1.0, always)], 1e16)([[0.0]]).tolist() == [1.0]


def test_a_score_beyond_the_doubles_is_infinite_without_a_warning():
    assert RuleEnsemble([Rule(1.7e308)], 1.7e308)([[0.0]]).tolist() == [np.inf]


@given(ensembles(), matrices())
def test_fires_says_which_rules_add_to_the_score(ensemble, X):
    fired = ensemble.fires(X)
    assert fired.shape == (len(X), len(ensemble))
    for column, rule in zip(fired.T, ensemble, strict=True):
        assert same(column, rule.condition(X))
        assert same(np.where(column, rule.weight, 0.0), rule.contribution(X))


@given(ensembles(any_finite), matrices(any_finite))
def test_score_is_the_constant_and_then_the_contributions(ensemble, X):
    total = np.full(len(X), ensemble.intercept)
    with np.errstate(over="ignore"):
        for rule in ensemble:
            total += rule.contribution(X)
            assert same(rule(X), rule.contribution(X))
    assert same(total, ensemble(X))


@few
@given(ensembles(), st.data(), any_finite)
def test_other_rules_weights_and_propositions_on_the_same_columns(ensemble, data, constant):
    fewer = ensemble.with_rules(ensemble.rules[:1])
    assert fewer == RuleEnsemble(ensemble.rules[:1], ensemble.intercept, ensemble.feature_names)
    assert ensemble.with_rules(ensemble.rules, constant).intercept == constant
    weights = data.draw(st.lists(any_finite, min_size=len(ensemble), max_size=len(ensemble)))
    weighted = ensemble.with_weights(weights, constant)
    assert [rule.weight for rule in weighted] == weights
    assert [rule.condition for rule in weighted] == [rule.condition for rule in ensemble]
    assert ensemble.with_propositions(Proposition.opposite).with_propositions(Proposition.opposite) == ensemble


def test_each_rule_needs_a_weight():
    with pytest.raises(ValueError, match="one number for each of the 2 rules; got 1"):
        BANKNOTE.with_weights([1.0], 0.0)


def test_rows_with_missing_values_keep_the_constant_and_the_rules_that_do_not_ask():
    ensemble = RuleEnsemble([OBLIQUE, LOW, Rule(0.25, Conjunction([Proposition([0], [1.0], -9.0)]))], 1.79)
    assert ensemble([[1.0, np.nan], [np.nan, np.nan]]).tolist() == [1.79 + 0.25, 1.79]


@few
@given(ensembles(), st.integers(0, 5), st.integers(0, 5))
def test_slices_keep_the_constant_and_the_names(ensemble, start, stop):
    part = ensemble[start:stop]
    assert part == RuleEnsemble(ensemble.rules[start:stop], ensemble.intercept, ensemble.feature_names)
    assert tuple(ensemble) == ensemble.rules
    assert len(ensemble) == len(ensemble.rules)


def test_an_index_gives_a_rule():
    assert BANKNOTE[0] == OBLIQUE
    assert BANKNOTE[-1] == LOW
    with pytest.raises(IndexError):
        BANKNOTE[2]


@few
@given(ensembles())
def test_complexity_counts_rules_propositions_and_weights(ensemble):
    count = 0
    for rule in ensemble.rules:
        if rule.condition.propositions:
            count += 1 + sum(1 + len(proposition.weights) for proposition in rule.condition)
    assert ensemble.complexity == count
    assert ensemble.complexity == sum(rule.complexity for rule in ensemble)
    assert RuleEnsemble((), ensemble.intercept).complexity == 0


@few
@given(ensembles(any_finite))
def test_it_is_a_value(ensemble):
    again = RuleEnsemble(list(ensemble.rules), ensemble.intercept, ensemble.columns)
    assert again == ensemble
    assert hash(again) == hash(ensemble)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(ensemble, protocol)) == ensemble
    for name in ("rules", "intercept", "columns"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(ensemble, name, None)


@few
@given(rules(any_finite))
def test_a_rule_is_a_value(rule):
    again = Rule(np.float64(rule.weight), rule.condition)
    assert again == rule
    assert hash(again) == hash(rule)
    assert pickle.loads(pickle.dumps(rule)) == rule
    for name in ("weight", "condition"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(rule, name, None)


def test_ensembles_that_differ_in_one_field_differ():
    assert len({BANKNOTE, BANKNOTE[:1], RuleEnsemble(BANKNOTE.rules, 1.79), RuleEnsemble(BANKNOTE.rules, 1.8)}) == 4


def test_printing():
    assert str(BANKNOTE) == (
        "+1.79 if True\n-3.85 if 2.81 variance + 1.5 skewness >= -0.28\n+0.5 if skewness <= 2 & variance >= 0"
    )
    assert str(RuleEnsemble()) == "+0 if True"
    assert str(RuleEnsemble([Rule(-1.0)], -2.0)) == "-2 if True\n-1 if True"
    assert str(RuleEnsemble([LOW])) == "+0 if True\n+0.5 if x1 <= 2 & x0 >= 0"


@pytest.mark.parametrize(
    "inputs",
    [
        X,
        X.tolist(),
        pd.DataFrame(X, columns=["variance", "skewness"]),
        pl.DataFrame({"variance": X[:, 0], "skewness": X[:, 1]}),
        pa.table({"variance": X[:, 0], "skewness": X[:, 1]}),
    ],
    ids=["numpy", "list", "pandas", "polars", "pyarrow"],
)
def test_arrays_and_data_frames_give_the_same_scores(inputs):
    assert BANKNOTE(inputs).tolist() == [1.79 - 3.85 + 0.5, 1.79, 1.79 - 3.85]
    assert BANKNOTE.fires(inputs).tolist() == [[True, True], [False, False], [True, False]]


@pytest.mark.parametrize("width", [0, 1, 3])
def test_with_names_the_number_of_columns_must_match(width):
    with pytest.raises(ValueError, match=f"X has {width} columns; this model needs 2"):
        BANKNOTE(np.zeros((4, width)))
    with pytest.raises(ValueError, match=f"X has {width} columns; this model needs 2"):
        BANKNOTE.fires(np.zeros((4, width)))


def test_without_names_there_may_be_more_columns_than_needed():
    unnamed = RuleEnsemble(BANKNOTE.rules, 1.79)
    assert same(unnamed(np.hstack([X, X])), BANKNOTE(X))
    with pytest.raises(ValueError, match="at least 2"):
        unnamed(X[:, :1])


def test_a_single_row_must_be_a_matrix():
    with pytest.raises(ValueError, match=r"got shape \(2,\)"):
        BANKNOTE(X[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_and_constant_must_be_finite(bad):
    with pytest.raises(ValueError, match="weight of a rule must be finite"):
        Rule(bad)
    with pytest.raises(ValueError, match="intercept of an ensemble must be finite"):
        RuleEnsemble((), bad)


def test_parts_of_the_wrong_type_are_refused():
    with pytest.raises(TypeError, match="condition of a rule is a Conjunction; got Proposition"):
        Rule(1.0, Proposition([0], [1.0], 0.0))
    with pytest.raises(TypeError, match="made of rules; got Conjunction"):
        RuleEnsemble([Conjunction()])


def test_there_must_be_a_name_for_every_column_in_use():
    with pytest.raises(ValueError, match="A rule uses column 1, but there are only 1 feature names"):
        RuleEnsemble([OBLIQUE], 0.0, ["variance"])


COLOUR = Column("colour", ("red", "blue"))
PLACE = {0: 4, 1: 2, 2: 5}
WIDE = ["a", "b", COLOUR, "c", "age", "weight"]


def ensemble():
    both = Conjunction([Proposition([0, Membership(1, ["red"]), 2], [1.0, 2.0, -0.5], 0.1, missing=True)])
    rules = [
        Rule(1.0, both),
        Rule(2.0, Conjunction([Membership(1, ["blue"], negated=True, missing=True)])),
        Rule(0.3, Conjunction([Proposition([2], [-1.0], 0.5)]), Factor(0, 1.0, -2.0, 2.0)),
    ]
    return RuleEnsemble(rules, 0.7, ["age", COLOUR, "weight"])


def rows(n=50):
    rng = np.random.default_rng(0)
    narrow = np.column_stack([rng.normal(size=n), rng.integers(2, size=n), rng.normal(size=n)])
    narrow[rng.random((n, 3)) < 0.1] = np.nan
    wide = rng.normal(size=(n, len(WIDE)))
    for before, after in PLACE.items():
        wide[:, after] = narrow[:, before]
    return narrow, wide


def test_scores_are_the_same_to_the_last_bit():
    narrow, wide = rows()
    moved = renumbered(ensemble(), PLACE, WIDE)
    found = moved(Block(Columns.of(WIDE), wide))
    assert found.tolist() == ensemble()(Block(ensemble().columns, narrow)).tolist()
    assert moved.used_columns == (2, 4, 5)
    assert str(moved) == str(ensemble())


def test_there_and_back_is_the_identity():
    moved = renumbered(ensemble(), PLACE, WIDE)
    back = {after: before for before, after in PLACE.items()}
    assert renumbered(moved, back, ensemble().columns) == ensemble()


def test_many_classes_keep_their_names_and_weights():
    many = RuleEnsemble([Rule([1.0, 0.0, -1.0], Conjunction([Proposition([0], [1.0], 0.0)]))], [0.1, 0.2, 0.3], outputs="abc")
    moved = renumbered(many, {0: 3}, None)
    assert moved.outputs == many.outputs
    assert moved.weight_table.tolist() == many.weight_table.tolist()
    assert moved.used_columns == (3,)


def test_a_column_without_a_new_place_is_an_error():
    with pytest.raises(KeyError):
        renumbered(ensemble(), {0: 4}, WIDE)


def test_the_ranges_of_a_model_move_with_its_columns():
    model = Model((ensemble()[:0], ensemble()), 1, LOSSES["squared"], ranges=(Range(0, -2.0, 2.0), Range(2, -1.0, 1.0)))
    moved = model.renumbered(PLACE, Columns.of(WIDE))
    assert moved.ranges == (Range(4, -2.0, 2.0), Range(5, -1.0, 1.0))
    assert moved.path == tuple(renumbered(one, PLACE, WIDE) for one in model.path)
    assert moved.alone().path == (moved.path[1],)
