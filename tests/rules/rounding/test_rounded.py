"""Rounding: no row changes side, nothing else gets worse, and the certificate says what is true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliquerules import Conjunction, Proposition, Rounding, Rule, RuleEnsemble
from obliquerules.losses import LOSSES
from obliquerules.rules.columns import Block
from obliquerules.rules.numbers import significant_digits
from obliquerules.rules.rounding.shortening import Shortening, length
from obliquerules.rules.rounding.thresholds import Projections, middle_half

from ..printed import read_ensemble, read_proposition
from ..strategies import any_finite, ensembles, few, matrices, ordinary, propositions

wide_matrices = matrices(st.one_of(ordinary, st.just(np.nan), st.just(np.inf)))
either = st.booleans()


def data(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + 0.4 * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0.2) * 1.0


def model():
    oblique = Proposition([0, 1], [1.0, 0.4123456789], 0.2345678901)
    axis = Proposition([2], [-2.0], 1.23456789)
    return RuleEnsemble([Rule(2.3456789, Conjunction([oblique])), Rule(-0.123456789, Conjunction([axis]))], -1.1234567)


# Conditions


@given(propositions(), wide_matrices, either)
def test_no_row_changes_side_and_no_condition_gets_longer(proposition, X, integers):
    shorter = Shortening(Block.of_matrix(X), integers=integers).proposition(proposition)
    assert shorter(X).tolist() == proposition(X).tolist()
    assert shorter.columns == proposition.columns
    assert shorter.complexity == proposition.complexity
    assert np.sign(shorter.weights).tolist() == np.sign(proposition.weights).tolist()
    if not integers:
        assert length(shorter) <= max(length(proposition), significant_digits(proposition.threshold))


@few
@given(propositions(any_finite), matrices(any_finite))
def test_no_row_changes_side_with_any_finite_doubles(proposition, X):
    assert Shortening(Block.of_matrix(X)).proposition(proposition)(X).tolist() == proposition(X).tolist()


@given(propositions(), wide_matrices, either)
def test_shortening_is_idempotent(proposition, X, integers):
    shorter = Shortening(Block.of_matrix(X), integers=integers).proposition(proposition)
    assert Shortening(Block.of_matrix(X), integers=integers).proposition(shorter) == shorter


@given(propositions(), wide_matrices, st.randoms(use_true_random=False), either)
def test_the_order_of_the_rows_does_not_matter(proposition, X, random, integers):
    order = random.sample(range(len(X)), len(X))
    shorter = Shortening(Block.of_matrix(X), integers=integers).proposition(proposition)
    assert Shortening(Block.of_matrix(X[order]), integers=integers).proposition(proposition) == shorter


@given(propositions(), matrices())
def test_a_shortened_threshold_is_in_the_middle_half_of_a_real_gap(proposition, X):
    shorter = Shortening(Block.of_matrix(X)).proposition(proposition)
    if shorter != proposition:
        projections = shorter.project(X)
        below, above = projections[projections < shorter.threshold].max(), projections[projections >= shorter.threshold].min()
        assert below + 0.25 * (above - below) <= shorter.threshold <= above - 0.25 * (above - below)
        assert (np.abs(projections - shorter.threshold) >= 1e-9 * np.abs(projections)).all()


def test_oblique_conditions_get_few_digits():
    X, _ = data()
    proposition = Proposition([0, 1], [1.0, 0.4123456789], 0.2345678901)
    shorter = Shortening(Block.of_matrix(X)).proposition(proposition)
    assert (shorter(X) == proposition(X)).all()
    assert shorter.weights[0] == 1.0
    assert length(shorter) <= 6
    whole = Shortening(Block.of_matrix(X), integers=True).proposition(proposition)
    assert (whole(X) == proposition(X)).all()
    assert all(weight == round(weight) and abs(weight) <= 1000.0 for weight in whole.weights)


def test_a_single_variable_gets_a_unit_weight_and_the_shortest_threshold():
    X = np.array([[0.0], [1178.0], [1222.0], [5000.0]])
    shorter = Shortening(Block.of_matrix(X)).proposition(Proposition([0], [-0.3], -360.12345))
    assert shorter == Proposition([0], [-1.0], -1200.0)


@pytest.mark.parametrize(
    "X",
    [np.empty((0, 1)), [[5.0], [6.0]], [[-5.0], [-6.0]], [[np.nan], [5.0]], [[0.123456], [0.123456 + 3e-10]]],
    ids=["no rows", "all above", "all below", "nothing to tell from", "no real gap"],
)
def test_without_a_gap_a_condition_stays(X):
    proposition = Proposition([0], [1.0], 0.1234560001)
    assert Shortening(Block.of_matrix(np.asarray(X, dtype=float))).proposition(proposition) is proposition


def test_rows_with_missing_values_have_no_say():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.nan]])
    proposition = Proposition([0, 1], [1.0, 1.0], 0.5123)
    assert Shortening(Block.of_matrix(X)).proposition(proposition) == Proposition([0, 1], [1.0, 1.0], 0.5)
    projections = Projections.of(proposition.project(X), proposition.summands(X), proposition.weights)
    assert middle_half(projections, proposition(X)) == (0.25, 0.75)


# Ensembles


@given(ensembles(), matrices())
def test_rounding_an_ensemble_keeps_sides_names_and_complexity(ensemble, X):
    rounding = ensemble.rounded(X)
    assert rounding.rows_changed == 0
    assert rounding.ensemble.fires(X).tolist() == ensemble.fires(X).tolist()
    assert rounding.ensemble.complexity == ensemble.complexity
    assert rounding.ensemble.feature_names == ensemble.feature_names
    score = ensemble(X)
    assert rounding.score_change <= 5e-3 * (np.ptp(score) or np.abs(score).max())
    assert rounding.score_change == np.abs(rounding.ensemble(X) - score).max()


@given(ensembles(), matrices())
def test_what_is_rounded_reads_back_from_its_short_text(ensemble, X):
    rounding = RuleEnsemble(ensemble.rules, ensemble.intercept).rounded(X)
    alone = [test for rule in rounding.ensemble for test in rule.condition if len(test.columns) == 1]
    if max(rounding.digits) <= 7 and all(abs(test.weights[0]) == 1.0 for test in alone):
        assert RuleEnsemble.parse(str(rounding.ensemble)) == rounding.ensemble
    assert all(abs(test.weights[0]) == 1.0 or test(X).all() or not test(X).any() for test in alone)


@given(ensembles(), matrices())
def test_what_got_by_with_the_wanted_digits_stays(ensemble, X):
    once = ensemble.rounded(X).ensemble
    twice = once.rounded(X).ensemble
    assert [rule.condition for rule in twice] == [rule.condition for rule in once]
    if all(significant_digits(rule.weight) <= 3 for rule in once) and significant_digits(once.intercept) <= 3:
        assert twice == once


@given(ensembles(), matrices(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter_to_an_ensemble(ensemble, X, random):
    order = random.sample(range(len(X)), len(X))
    y = np.arange(len(X)) % 2.0
    for given_y in ({}, {"loss": LOSSES["squared"], "tolerance": 0.1}):
        one = ensemble.rounded(X, **given_y, **({"y": y} if given_y else {}))
        assert ensemble.rounded(X[order], **given_y, **({"y": y[order]} if given_y else {})) == one


def test_the_certificate():
    X, y = data()
    rounding = model().rounded(X, y=y, loss=LOSSES["logistic"])
    assert isinstance(rounding, Rounding)
    assert rounding.loss_before == pytest.approx(LOSSES["logistic"].value(y, model()(X)).mean())
    assert rounding.loss_after == pytest.approx(LOSSES["logistic"].value(y, rounding.ensemble(X)).mean())
    assert rounding.loss_after <= 1.001 * rounding.loss_before
    assert rounding.ensemble.intercept == -1.12
    assert [rule.weight for rule in rounding.ensemble] == [2.35, -0.123]
    assert len(rounding.digits) == 6  # the constant, two rule weights, a weight and two thresholds
    assert max(rounding.digits) <= 4
    assert read_ensemble(str(rounding.ensemble)) == rounding.ensemble


def test_weights_count_as_rows():
    X, y = data(60)
    weight = np.arange(60) % 3.0
    repeated = np.repeat(np.arange(60), weight.astype(int))
    weighted = model().rounded(X, y=y, loss=LOSSES["logistic"], sample_weight=weight)
    assert weighted.loss_before == pytest.approx(
        model().rounded(X[repeated], y=y[repeated], loss=LOSSES["logistic"]).loss_before
    )


@pytest.mark.parametrize("tolerance", [1e-4, 1e-2, 1.0])
def test_a_tolerance_buys_shorter_numbers(tolerance):
    X, y = data(2000)
    exact = model().rounded(X, y=y, loss=LOSSES["logistic"])
    rough = model().rounded(X, y=y, loss=LOSSES["logistic"], tolerance=tolerance)
    assert rough.loss_after - rough.loss_before <= max(tolerance, 1e-3 * rough.loss_before)
    assert sum(rough.digits) <= sum(exact.digits)
    assert rough.rows_changed > 0 or tolerance < 1e-2
    assert rough.ensemble.complexity == model().complexity


def test_a_large_constant_is_no_coarser_than_the_weights():
    X, _ = data()
    ensemble = RuleEnsemble([Rule(2.3456, Conjunction([Proposition([0], [1.0], 0.1)]))], 1234.56789)
    rounding = ensemble.rounded(X)
    assert rounding.ensemble.intercept == 1234.57
    assert rounding.ensemble[0].weight == 2.35


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"y": [0.0, 1.0]}, "y and loss must be given together"),
        ({"loss": LOSSES["squared"]}, "y and loss must be given together"),
        ({"tolerance": 0.1}, "tolerance must be a number that is not negative, and needs y and loss"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"digits": 0}, "digits must be a whole number from 1 to 17"),
        ({"y": [0.0], "loss": LOSSES["squared"]}, "y must hold one number for each of the 2 rows of X"),
        ({"sample_weight": [[1.0]]}, "sample_weight must hold one number for each of the 2 rows"),
    ],
)
def test_impossible_arguments_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        model().rounded(np.zeros((2, 3)), **arguments)


# The reader of printed text that other tests rely on


@given(propositions(st.integers(-4, 4).map(float)))
def test_printed_conditions_read_back(proposition):
    again = read_proposition(str(proposition))
    X = np.random.default_rng(0).normal(scale=3.0, size=(50, 3))
    assert again(X).tolist() == proposition(X).tolist()


def test_both_directions_are_read():
    assert read_proposition("x0 + 2 x1 <= 3") == Proposition([0, 1], [-1.0, -2.0], -3.0)
    assert read_proposition("-x0 - 2.5e-09 x1 >= -3") == Proposition([0, 1], [-1.0, -2.5e-9], -3.0)
