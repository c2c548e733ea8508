"""With many classes, rules are shared, have weights for few classes, and do not depend on what the classes are called."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from obliquerules import LLTBoostClassifier, TGBClassifier
from obliquerules.learning.boosting.class_stage import ClassStage
from obliquerules.learning.boosting.loop import first_stage
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Block, Conjunction, Factor, Proposition, Slope

LEARNERS = [
    LLTBoostClassifier(max_rules=4),
    LLTBoostClassifier(max_rules=3, selection="validation", random_state=0),
    TGBClassifier(max_rules=5),
    TGBClassifier(max_rules=4, selection="information"),
    TGBClassifier(max_rules=2, max_propositions=2, search="exact", objective="gradient"),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def data(seed=0, n=200):
    """Return inputs and one of four classes, two of which nothing tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    y = np.select([X[:, 0] + X[:, 1] > 0.6, X[:, 2] > 0.3], ["up", "side"], np.where(rng.random(n) < 0.5, "one", "two"))
    return X, np.where(rng.random(n) < 0.05, "one", y)


def stage_of(seed=0, price=2.0, ridge=0.1):
    X, y = data(seed)
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    nobody = np.zeros(len(y), dtype=np.bool_)
    ridges = np.full(4, ridge)
    return first_stage(
        Problem(Block.of_matrix(X), codes, np.ones(len(y)), class_loss(4), ridges, nobody, outputs=tuple("abcd"), price=price)
    )


def candidate(stage, column=0, threshold=0.2):
    condition = Conjunction([Proposition([column], [1.0], threshold)])
    return Candidate(condition, condition(stage.problem.X), 0.0)


def gain_of(stage, one):
    return stage.classes_with_weight([one], np.zeros(1, dtype=np.intp))[1][0]


def test_two_classes_have_one_score():
    X, nobody = Block.of_matrix(np.zeros((2, 1))), np.zeros(2, dtype=np.bool_)
    assert type(first_stage(Problem(X, np.array([0.0, 1.0]), np.ones(2), LOSSES["logistic"], 0.0, nobody))) is Stage
    assert type(stage_of()) is ClassStage


@given(st.integers(0, 1000), st.integers(0, 2), st.floats(-1.0, 1.0))
@settings(max_examples=30)
def test_a_rule_on_the_other_rows_has_the_same_gain_and_classes(seed, column, threshold):
    stage = stage_of(seed)
    one = candidate(stage, column, threshold)
    classes, gains = stage.classes_with_weight([one, replace(one, covers=~one.covers)])
    assert gains[0] == pytest.approx(gains[1], rel=1e-6, abs=1e-9)
    assert np.array_equal(*classes)


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_promised_gain_is_that_of_a_refit_to_second_order(seed):
    # With a large ridge, weights are small, and the second order is all there is.
    stage = stage_of(seed, price=0.0, ridge=1e5)
    grown = stage.with_rule(candidate(stage))
    penalty = 0.5 * (stage.ridges * grown.weights[1:] ** 2).sum()
    assert stage.training_loss - grown.training_loss - penalty == pytest.approx(gain_of(stage, candidate(stage)), rel=1e-2)


def test_a_higher_price_means_fewer_classes_with_a_weight():
    one = candidate(stage_of())
    counts = [stage_of(price=price).classes_with_weight([one])[0].sum() for price in (0.0, 1.0, 3.0, 10.0, 1e9)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 1


def test_a_class_is_taken_if_it_is_worth_as_much_as_the_others_for_each_unit_of_complexity():
    stage = stage_of(price=1e9)
    several = [candidate(stage, 2)] * 2
    classes, (alone, together) = stage.classes_with_weight(several, np.array([2, 1000]))
    assert classes.sum(axis=1).tolist() == [1, 2]
    assert together - alone < alone / 3.0
    assert together - alone > 0.5 * np.log(200)


def test_once_rules_are_worth_less_than_the_full_price_that_is_what_complexity_costs():
    stage = stage_of(price=100.0)
    assert stage.discount == 1.0
    poor = stage.with_rule(candidate(stage))
    assert poor.discount == pytest.approx((stage.training_loss - poor.training_loss) / 3.0 / 100.0)
    assert poor.without(0).with_rule(candidate(stage, 2)).discount == poor.discount
    nothing = poor.with_rule(candidate(stage, threshold=0.21))
    assert nothing.discount == pytest.approx(0.5 * np.log(200) / 100.0)


def test_many_candidates_are_scored_as_each_by_itself():
    stage = stage_of().with_rule(candidate(stage_of()))
    several = [candidate(stage, column, threshold) for column in range(3) for threshold in (-0.5, 0.1, 0.7)]
    for one, (loss, n_weights) in zip(several, stage.expected_losses(several), strict=True):
        classes, gain = stage.classes_with_weight([one])
        assert (loss, n_weights) == (max(stage.training_loss - gain[0], 0.0), classes.sum())
    assert stage.expected_losses([]) == []


def test_a_stage_knows_its_loss_and_complexity():
    stage = stage_of().with_rule(candidate(stage_of()))
    told = stage.training_loss, stage.complexity
    stage.clear_cache()
    again = replace(stage)
    assert (again.training_loss, again.complexity) == told


def test_a_refit_makes_the_weights_of_a_quick_fit_exact():
    stage = stage_of()
    quick, grown = stage.quick_fits([candidate(stage)])[0], stage.with_rule(candidate(stage))
    assert quick.training_loss == pytest.approx(grown.training_loss, rel=1e-5)
    np.testing.assert_allclose(quick.with_exact_weights().weights, grown.weights, atol=1e-7)


def test_every_weight_of_a_rule_counts():
    stage = stage_of(price=0.0)
    grown = stage.with_rule(candidate(stage))
    assert grown.complexity == grown.ensemble.complexity == 2 + int(grown.support[1].sum())
    np.testing.assert_allclose(grown.ensemble(stage.problem.X), grown.score)


def test_a_rule_taken_away_leaves_the_stage_before_it():
    stage = stage_of().with_rule(candidate(stage_of()))
    back = stage.with_rule(candidate(stage, 2, 0.3)).without(1)
    np.testing.assert_allclose(back.weights, stage.weights, atol=1e-7)


@every_learner
def test_other_labels_give_the_same_rules_with_their_weights_in_the_place_of_the_labels(learner):
    X, y = data()
    names = {"up": "a", "side": "d", "one": "b", "two": "c"}
    model = learner.set_params(**({"exact": "rows"})).fit(X, y)
    path, classes = model.path_, model.classes_.tolist()
    other = learner.fit(X, np.array([names[label] for label in y]))
    place = [other.classes_.tolist().index(names[label]) for label in classes]
    for one, two in zip(path, other.path_, strict=True):
        assert [rule.condition for rule in one] == [rule.condition for rule in two]
        assert one.weight_table.tolist() == two.weight_table[:, place].tolist()


@every_learner
def test_a_row_of_weight_two_is_a_row_given_twice(learner):
    X, y = data(1)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    once = learner.fit(X, y, sample_weight=weight)
    path = once.path_
    assert learner.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).path_ == path


@pytest.mark.parametrize("seed", range(4))
def test_two_classes_that_nothing_tells_apart_get_no_rule_that_tells_them_apart(seed):
    # There are two rules to be found; a third could only follow noise.
    X, y = data(seed, n=1000)
    model = LLTBoostClassifier(max_rules=2).fit(X, y)
    one, two = (model.classes_.tolist().index(label) for label in ("one", "two"))
    assert all(rule.weights[one] == rule.weights[two] == 0.0 for rule in model.ensemble_)


def test_two_classes_that_nothing_tells_apart_are_like_one():
    X, y = data(2, n=1000)
    learner = LLTBoostClassifier(max_rules=2, ridge=4.0)  # given, because its estimate depends on how many classes there are
    model, merged = (clone(learner).fit(X, labels) for labels in (y, np.where(y == "two", "one", y)))
    assert [rule.condition for rule in merged.ensemble_] == [rule.condition for rule in model.ensemble_]
    with_weight, kept = ([one.classes_.tolist().index(label) for label in ("side", "up")] for one in (model, merged))
    expected = model.ensemble_.weight_table[1:, with_weight]
    np.testing.assert_allclose(merged.ensemble_.weight_table[1:, kept], expected, atol=1e-6)


@every_learner
def test_probabilities_add_up_to_one_and_the_largest_is_predicted(learner):
    X, y = data(3)
    model = learner.fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == model.decision_function(X).shape == (len(X), 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=4e-16)
    assert (model.predict(X) == model.classes_[shares.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.5


def slope(stage, column=0, scale=1.3, origin=0.2):
    found = Slope(Factor(column, origin), scale)
    return Candidate(found, found(stage.problem.X), 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_slope_promises_the_gain_of_a_refit_to_second_order(seed):
    stage = stage_of(seed, price=0.0, ridge=1e5)
    one = slope(stage, seed % 3)
    grown = stage.with_rule(one)
    penalty = 0.5 * (stage.ridges * grown.weights[1:] ** 2).sum()
    assert stage.training_loss - grown.training_loss - penalty == pytest.approx(gain_of(stage, one), rel=1e-2)


def test_slopes_and_rules_grow_together():
    stage = stage_of(price=0.0)
    for one in (candidate(stage, 0), slope(stage, 1), candidate(stage, 2)):
        classes = stage.classes_with_weight([one])[0]
        longer = stage.with_rule(one)
        assert longer.complexity == stage.complexity + classes.sum() + one.condition.complexity
        assert longer.training_loss < stage.training_loss
        stage = longer
    np.testing.assert_allclose(stage.ensemble(stage.problem.X), stage.score, atol=1e-9)
    without = stage.without(0)
    assert [one.is_slope for one in without.terms] == [True, False]
    assert without.training_loss > stage.training_loss


def test_slopes_of_many_classes_do_not_depend_on_units():
    X, y = data()
    y = np.digitize(X[:, 0] + np.random.default_rng(0).logistic(size=len(X)), [-0.5, 1.0])
    model = LLTBoostClassifier(max_rules=3).fit(X, y)
    other = LLTBoostClassifier(max_rules=3).fit(X * 1000.0, y)
    assert any(rule.factor is not None for rule in model.ensemble_)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X * 1000.0), atol=1e-6)


def test_a_linear_model_of_many_classes_has_slopes_alone():
    X, y = data()
    model = LLTBoostClassifier(max_rules=3, linear_terms="only").fit(X, y)
    assert len(model.ensemble_) == 3
    assert all(rule.factor is not None for rule in model.ensemble_)
