"""The loop and the longer search: stages are corrected optima, and more effort finds nothing worse."""

import functools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.data.sample import Sample
from obliquerules.learning.boosting.boosting import GROWTH_RIDGE, PAPER_RIDGE
from obliquerules.learning.boosting.learner import GreedyLearner
from obliquerules.learning.boosting.loop import (
    LARGEST_GROWN_AGAIN,
    SIZES,
    Progress,
    boost,
    shorter_conditions,
    simplified,
    simplify,
    without_weakest,
)
from obliquerules.learning.boosting.oblique import ObliqueProposer
from obliquerules.learning.boosting.selection import Record, ValidationSelection
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.refit import refit
from obliquerules.learning.ridge_estimate import ridges_for
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Conjunction, Membership, Proposition, Rule, RuleEnsemble
from obliquerules.status_line import StatusLine, Stopwatch

from .growing import (
    assert_rows_fit_conditions,
    assert_weights_are_best,
    mixed_problem,
    problem,
    refiner_of,
    search_of,
    stage_of,
)
from .tasks import task_of

SELECTION = ValidationSelection(validation_tolerance=-0.01, objective_tolerance=0.01)
LOSS_NAMES = ("squared", "logistic", "poisson", "gamma", "tweedie")
INPUTS = ("normal", "whole numbers", "badly scaled")
every_loss_name = pytest.mark.parametrize("name", LOSS_NAMES)
every_input = pytest.mark.parametrize("inputs", INPUTS)


def rows(name, inputs="normal", seed=0, n=200):
    """Return inputs, a target in which oblique rules show, and row weights."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4)) if inputs != "whole numbers" else rng.integers(-3, 4, size=(n, 4)).astype(float)
    signal = 2.0 * (Z[:, 0] + Z[:, 1] > 0.5) - 1.5 * (Z[:, 2] > 0.0) * (Z[:, 0] - Z[:, 3] > 0.0)
    y = {"squared": signal + 0.3 * rng.normal(size=n), "logistic": rng.random(n) < expit(2.0 * signal)}
    y["poisson"] = rng.poisson(np.exp(0.5 * signal))
    if name in ("gamma", "tweedie"):
        y |= {"gamma": rng.gamma(2.0, np.exp(0.5 * signal)), "tweedie": y["poisson"] * rng.gamma(2.0, 1.0, n)}
    X = Z * np.array([1e-4, 1.0, 1e3, 1e6]) + np.array([5.0, 0.0, -1e5, 1e6]) if inputs == "badly scaled" else Z
    return X, y[name].astype(float), rng.exponential(size=n)


def problem_of(X, y, weight, name, ridge=1.0, held_out=0.2):
    sample = Sample.of(Block.of_matrix(X), y, weight)
    groups = np.zeros(len(sample.y), dtype=np.intp)
    sample, drawn = sample.hold_out(groups, held_out, 0)
    return Problem(sample.X, sample.y, sample.weight, LOSSES[name], ridge, drawn)


def boosted(problem, max_rules=6, max_propositions=3, max_variables=3):
    learner = GreedyLearner(ObliqueProposer(problem.X, problem.row_weight, max_variables), max_propositions)
    return list(boost(problem, learner, SELECTION, max_rules))


def objective(problem, ensemble):
    weights = np.array([rule.weight for rule in ensemble])
    risk = problem.learning_weight @ problem.loss.value(problem.y, ensemble(problem.X))
    return risk + 0.5 * problem.ridge * (weights**2).sum()


@every_loss_name
@every_input
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_no_stage_raises_the_training_objective(name, inputs, ridge):
    problem = problem_of(*rows(name, inputs), name, ridge)
    course = [objective(problem, stage.ensemble) for stage in boosted(problem)]
    assert len(course) > 4
    assert (np.diff(course) <= 1e-9 * course[0]).all()
    assert course[-1] < 0.95 * course[0]


@every_loss_name
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 1.0])
def test_gradients_sum_to_zero_over_every_rule_up_to_the_ridge(name, ridge):
    problem = problem_of(*rows(name), name, ridge)
    for stage in boosted(problem):
        ensemble = stage.ensemble
        gradient = problem.learning_weight * problem.loss.gradient(problem.y, ensemble(problem.X))
        scale = np.abs(gradient).sum()
        assert abs(gradient.sum()) <= 1e-5 * scale
        pull = gradient @ ensemble.fires(problem.X) + ridge * np.array([rule.weight for rule in ensemble])
        assert (np.abs(pull) <= 1e-5 * scale).all()


@every_loss_name
@every_input
def test_every_threshold_is_the_middle_of_a_gap_between_training_rows(name, inputs):
    problem = problem_of(*rows(name, inputs, seed=1), name)
    propositions = {proposition for rule in boosted(problem)[-1].ensemble for proposition in rule.condition}
    assert len(propositions) >= 6
    for proposition in propositions:
        projections = proposition.project(problem.X)
        below, above = projections[projections < proposition.threshold], projections[projections >= proposition.threshold]
        gap = above.min() - below.max()
        assert (np.abs(projections - proposition.threshold) > 0.5e-9 * np.abs(projections)).all()
        assert proposition.threshold == below.max() + 0.5 * gap


@every_loss_name
def test_stages_grow_by_one_rule_and_keep_the_conditions_they_have(name):
    stages = boosted(problem_of(*rows(name), name))
    for size, stage in enumerate(stages):
        assert len(stage.conditions) == size
        assert stage.conditions == stages[-1].conditions[:size]
        assert stage.patterns.design.shape[1] == len(stage.weights) == size + 1
        for condition in stage.conditions:
            assert 1 <= len(condition) <= 3
            assert all(len(proposition.columns) <= 3 for proposition in condition)


@every_loss_name
def test_a_stage_knows_the_score_and_gradient_of_its_rows(name):
    problem = problem_of(*rows(name), name)
    for stage in boosted(problem):
        score = stage.ensemble(problem.X)
        np.testing.assert_allclose((stage.patterns.design @ stage.weights)[stage.pattern], score, atol=1e-12)
        expected = problem.row_weight * problem.loss.gradient(problem.y, score)
        np.testing.assert_allclose(stage.gradient[~problem.held_out], expected[~problem.held_out], atol=1e-10)
        assert (stage.gradient[problem.held_out] == 0.0).all()


@every_loss_name
def test_every_rule_fires_on_some_rows_and_not_on_all(name):
    problem = problem_of(*rows(name), name)
    share = boosted(problem)[-1].ensemble.fires(problem.X).mean(axis=0)
    assert (share > 0.0).all()
    assert (share < 1.0).all()


@every_loss_name
def test_the_order_of_the_rows_changes_no_bit_of_the_ensemble(name):
    X, y, weight = rows(name)
    order = np.random.default_rng(5).permutation(len(y))
    ensemble = boosted(problem_of(X, y, weight, name))[-1].ensemble
    assert boosted(problem_of(X[order], y[order], weight[order], name))[-1].ensemble == ensemble


@every_loss_name
def test_rows_given_twice_are_rows_of_weight_two_to_the_last_bit(name):
    X, y, weight = rows(name)
    ensemble = boosted(problem_of(X, y, 2.0 * weight, name))[-1].ensemble
    assert boosted(problem_of(np.tile(X, (2, 1)), np.tile(y, 2), np.tile(weight, 2), name))[-1].ensemble == ensemble


@pytest.mark.parametrize("inputs", [np.zeros((40, 2)), np.full((40, 1), 3.7)], ids=["zeros", "constant"])
def test_inputs_that_tell_nothing_give_the_best_constant_and_no_rule(inputs):
    y = np.arange(40.0)
    problem = Problem(Block.of_matrix(inputs), y, np.ones(40), LOSSES["squared"], 1.0, np.zeros(40, dtype=bool))
    (stage,) = boosted(problem)
    assert str(stage.ensemble) == "+19.5 if True"


def test_a_target_that_is_met_exactly_needs_no_rule():
    X, _, weight = rows("squared")
    assert len(boosted(problem_of(X, np.full(len(X), 3.0), weight, "squared"))) == 1


def test_without_held_out_rows_rules_are_grown_on_all():
    problem = problem_of(*rows("squared"), "squared", held_out=0.0)
    assert not problem.held_out.any()
    assert len(boosted(problem)) == 7


class Listed:
    """Proposes the same propositions whatever the gradients."""

    def __init__(self, X, *propositions):
        self.proposals = [(proposition, proposition(X)) for proposition in propositions]

    def propose(self, stage, sign, rows):  # noqa: ARG002 - the protocol has all three
        yield from self.proposals


# A step at 5 and a smaller one at 2; every third row is held out.
STEPS = np.arange(12.0)[:, None]
TARGET = 4.0 * (STEPS[:, 0] >= 5.0) + 1.0 * (STEPS[:, 0] >= 2.0)
STEP_PROBLEM = Problem(Block.of_matrix(STEPS), TARGET, np.ones(12), LOSSES["squared"], 1e-9, np.arange(12) % 3 == 0)
HIGH, LOW, NEVER, ALWAYS = (Proposition([0], [1.0], threshold) for threshold in (4.5, 1.5, 99.0, -1.0))


def first_rule(*proposals, max_propositions=1, tolerance=-0.01, objective_tolerance=0.01):
    selection = ValidationSelection(tolerance, objective_tolerance)
    stages = list(boost(STEP_PROBLEM, GreedyLearner(Listed(STEPS, *proposals), max_propositions), selection, 1))
    return stages[-1].conditions[0] if len(stages) > 1 else None


def test_of_the_proposals_the_one_with_the_lowest_held_out_risk_is_taken():
    assert first_rule(LOW, HIGH) == Conjunction([HIGH])
    assert first_rule(HIGH, LOW) == Conjunction([HIGH])


def test_a_more_complex_proposal_must_lower_the_held_out_risk_by_the_tolerance():
    risks = [Stage.constant(STEP_PROBLEM).held_out_risk(candidate) for candidate in candidates(LOW, HIGH)]
    fall = (risks[1] - risks[0]) / risks[0]
    assert fall < -0.5
    assert first_rule(LOW, HIGH, tolerance=fall + 1e-6) == Conjunction([HIGH])
    assert first_rule(LOW, HIGH, tolerance=fall - 1e-6) == Conjunction([LOW])


def candidates(*propositions):
    return [conjunction_of(proposition) for proposition in propositions]


def conjunction_of(*propositions):
    condition = Conjunction(propositions)
    covers = condition(STEPS)
    return Candidate(condition, covers, Stage.constant(STEP_PROBLEM).objective(covers))


def test_proposals_that_exclude_no_row_or_all_rows_are_passed_over():
    assert first_rule(NEVER, ALWAYS) is None
    assert first_rule(NEVER, LOW, ALWAYS) == Conjunction([LOW])


def test_a_second_proposition_must_raise_the_objective_by_the_tolerance():
    (shorter,) = candidates(LOW)
    longer = conjunction_of(LOW, HIGH)
    rise = longer.objective / shorter.objective - 1.0
    assert rise > 0.1
    options = {"max_propositions": 2, "tolerance": -1.0}  # of the first two, the simpler one is taken
    assert first_rule(LOW, HIGH, objective_tolerance=rise - 1e-6, **options) == Conjunction([LOW, HIGH])
    assert first_rule(LOW, HIGH, objective_tolerance=rise + 1e-6, **options) == Conjunction([LOW])


def test_of_both_directions_the_one_with_the_larger_objective_becomes_a_rule():
    problem = problem_of(*rows("squared"), "squared")
    constant, grown = boosted(problem, max_rules=1)
    learner = GreedyLearner(ObliqueProposer(problem.X, problem.row_weight, 3), 3)
    directions = list(learner.candidates(constant, SELECTION, Record()))
    assert len({candidate.condition for candidate in directions}) == 2
    assert max(directions, key=lambda candidate: candidate.objective).canonical(problem.X).condition == grown.conditions[0]


def test_the_objective_of_a_candidate_is_the_absolute_gradient_sum_of_its_rows():
    stage = Stage.constant(STEP_PROBLEM)
    (candidate,) = candidates(HIGH)
    learning = ~STEP_PROBLEM.held_out & (STEPS[:, 0] >= 4.5)
    assert candidate.objective == pytest.approx(abs((stage.weights[0] - TARGET[learning]).sum()))


def test_held_out_risk_is_that_of_the_weights_refitted_to_the_other_rows():
    stage, (candidate,) = Stage.constant(STEP_PROBLEM), candidates(HIGH)
    learning, held_out = ~STEP_PROBLEM.held_out, STEP_PROBLEM.held_out
    mean = [TARGET[learning & (candidate.covers == fires)].mean() for fires in (False, True)]
    prediction = np.where(candidate.covers, mean[1], mean[0])
    expected = 0.5 * ((TARGET - prediction)[held_out] ** 2).sum()
    assert stage.held_out_risk(candidate) == pytest.approx(expected, rel=1e-6)


every_loss = pytest.mark.parametrize("loss", LOSSES)
MODELS = {
    "numbers": LLTBoostRegressor(max_rules=3, linear_terms=False),
    "counts": LLTBoostRegressor(max_rules=3, loss="poisson", linear_terms=False),
    "classes": LLTBoostClassifier(max_rules=3, linear_terms=False),
    "axis, numbers": TGBRegressor(max_rules=3),
    "axis, classes": TGBClassifier(max_rules=3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def data(model, seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    score = 1.5 * (X[:, 0] + 0.7 * X[:, 1] > 0.2) - (X[:, 2] > 0.4) * (X[:, 0] > -0.5)
    noisy = score + rng.normal(scale=0.7, size=n)
    if isinstance(model, LLTBoostClassifier | TGBClassifier):
        return X, np.where(noisy > 0.3, "yes", "no")
    return X, rng.poisson(np.exp(score)).astype(float) if model.loss == "poisson" else noisy


@functools.cache
def learned(model, exact="loss", seed=0):
    """Return a copy of a model that is fitted to the data; nobody changes it."""
    return clone(model).set_params(exact=exact).fit(*data(model, seed))


def loss_of(model):
    return LOSSES["logistic" if isinstance(model, LLTBoostClassifier | TGBClassifier) else model.loss]


def target_of(model, y):
    return (y == model.classes_[1]).astype(float) if hasattr(model, "classes_") else y


def weights_at(ensemble, X, y, loss, ridge):
    """Return the corrective weights of an ensemble with this ridge, in rows."""
    patterns = FiringPatterns.of(ensemble.fires(X).T, len(y))
    weight = np.ones(len(y))
    penalty = ridge * loss.curvature(y, weight)
    return refit(patterns, y, weight, loss, penalty, np.zeros(1 + len(ensemble)))


def weights_of(ensemble):
    return [ensemble.intercept, *(rule.weight for rule in ensemble)]


# Effort


def front_of(loss, effort):
    search = search_of(problem(loss))
    grown = list(search.grow())
    for _ in range(effort):
        list(search.improve())
    return grown, search.record.front


@every_loss
def test_with_more_effort_the_front_is_nowhere_worse(loss):
    fronts = [front_of(loss, effort)[1] for effort in (0, 1, 2)]
    for quick, long in pairwise(fronts):
        for stage in quick:
            assert any(one.complexity <= stage.complexity and one.selection_loss <= stage.selection_loss for one in long)
    assert sum(stage.selection_loss for stage in fronts[2]) != sum(stage.selection_loss for stage in fronts[0])


@every_loss
def test_effort_changes_nothing_of_what_is_grown(loss):
    quick, long = (front_of(loss, effort)[0] for effort in (0, 2))
    assert [stage.conditions for stage in quick] == [stage.conditions for stage in long]
    assert [len(stage.conditions) for stage in quick] == list(range(4))


@every_loss
def test_everything_on_the_front_is_fitted(loss):
    _, front = front_of(loss, 1)
    assert (np.diff([stage.complexity for stage in front]) > 0).all()
    assert (np.diff([stage.selection_loss for stage in front]) < 0.0).all()
    assert not front[0].conditions
    for stage in front[1:]:
        assert len(stage.conditions) <= 3
        assert_rows_fit_conditions(stage)
        assert_weights_are_best(stage)


def test_what_was_explored_is_not_explored_again(monkeypatch):
    search, explored = search_of(problem()), []
    list(search.grow())
    monkeypatch.setattr(
        type(search.refiner),
        "refined",
        lambda _, stage, n_steps: explored.append((stage.conditions, n_steps)),
    )
    for _ in range(6):
        before = len(explored)
        list(search.improve())
    assert before == len(explored) > 0


def test_every_small_ensemble_of_the_front_is_grown_again():
    search = search_of(problem())
    list(search.grow())
    small = [
        stage
        for stage in search.record.front
        if stage.complexity <= LARGEST_GROWN_AGAIN and len(stage.conditions) < search.max_rules
    ]
    list(search.improve())
    assert len(small) > search.max_rules
    assert all(("extended", stage.conditions) in search.record.explored for stage in small)
    assert all(len(stage.conditions) <= search.max_rules for stage in search.record.front)


def test_the_candidate_that_is_refined_is_the_best():
    data = problem()
    stages = [stage_of(data, [Proposition([column], [1.0], at)]) for column, at in ((0, 0.2), (0, 0.3), (1, 0.1), (2, 0.4))]
    record = Record()
    for stage, score in zip(stages, (4.0, 1.0, 3.0, 2.0), strict=True):
        record.note_quick_fit(stage, score)
    assert record.best_quick_fit == (1.0, stages[1])


def test_where_there_is_nothing_to_learn_any_effort_ends_in_the_constant():
    X, y = np.zeros((40, 2)), np.arange(40.0)
    for effort in (0, 2):
        model = LLTBoostRegressor(effort=effort).fit(X, y)
        assert len(model.path_) == 1
        assert model.ridge_ == ridges_for(40.0)[0]


# The ridge


@every_model
@pytest.mark.parametrize("exact", ["loss", "rows"])
def test_the_weights_of_the_path_are_those_of_the_estimated_ridge(model, exact):
    X, y = data(model)
    fitted = learned(model, exact)
    assert fitted.ridge == "auto"
    ridges = fitted.model_.ridges
    assert set(ridges) <= set(ridges_for(len(y)))
    assert list(ridges) == sorted(ridges)
    assert fitted.ridge_ == ridges[-1]
    target = target_of(fitted, y)
    for ensemble, ridge in zip(fitted.path_[1:], ridges[1:], strict=True):
        expected = weights_at(ensemble, X, target, loss_of(model), ridge)
        np.testing.assert_allclose(weights_of(ensemble), expected, rtol=1e-4, atol=1e-5)


@every_model
@pytest.mark.parametrize("exact", ["loss", "rows"])
@pytest.mark.parametrize("seed", range(3))
def test_the_path_is_a_front_with_the_estimated_ridge(model, exact, seed):
    X, y = data(model, seed)
    fitted = learned(model, exact, seed)
    losses = [loss_of(model).value(target_of(fitted, y), member(X)).sum() for member in fitted.path_]
    assert (np.diff(losses) < 0.0).all()
    assert (np.diff([member.complexity for member in fitted.path_]) > 0).all()


@pytest.mark.parametrize("make", [LLTBoostClassifier, TGBClassifier])
def test_many_classes_have_an_estimated_ridge_too(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    fitted = make(max_rules=2).fit(X, (X[:, 0] > 0.0) * 1 + (X[:, 1] > 0.3))
    assert fitted.ridge_ in ridges_for(120.0)


@pytest.mark.parametrize("make", [LLTBoostRegressor, TGBRegressor])
def test_what_is_noise_is_shrunk_more_than_what_is_a_step(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    noise, step = (make(max_rules=3).fit(X, y).ridge_ for y in (rng.normal(size=100), (X[:, 0] > 0.1) * 1.0))
    assert noise >= 16.0
    assert step <= GROWTH_RIDGE


@every_model
def test_a_ridge_that_is_a_number_is_kept(model):
    X, y = data(model)
    for ridge in (0.5, 3, 200.0):
        fitted = clone(model).set_params(ridge=ridge).fit(X, y)
        assert fitted.ridge_ == ridge
        expected = weights_at(fitted.ensemble_, X, target_of(fitted, y), loss_of(model), ridge)
        np.testing.assert_allclose(weights_of(fitted.ensemble_), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", [LLTBoostRegressor(max_rules=3), LLTBoostClassifier(max_rules=3)])
def test_nothing_is_estimated_as_in_the_paper(model):
    X, y = data(model)
    model = clone(model).set_params(selection="validation", random_state=0)
    estimated, given = clone(model).fit(X, y), clone(model).set_params(ridge=PAPER_RIDGE).fit(X, y)
    assert estimated.ridge_ == given.ridge_ == PAPER_RIDGE == 1e-4
    assert estimated.path_ == given.path_


@every_model
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "most", "", None, True, [1.0]], ids=str)
def test_a_ridge_without_a_meaning_is_refused(model, value):
    with pytest.raises(ValueError, match=r"^ridge must be a finite number of at least 0, or 'auto'; got .*\.$"):
        clone(model).set_params(ridge=value).fit(*data(model))


@every_model
@pytest.mark.parametrize("value", [-1, 0.5, 2.0, "most", None, True], ids=str)
def test_an_effort_without_a_meaning_is_refused(model, value):
    with pytest.raises(ValueError, match=r"^effort must be"):
        clone(model).set_params(effort=value).fit(*data(model))


# Rows


@every_model
def test_the_order_of_rows_changes_no_bit(model):
    X, y = data(model)
    order = np.random.default_rng(1).permutation(len(y))
    one, other = learned(model), clone(model).fit(X[order], y[order])
    assert one.path_ == other.path_
    assert one.ridge_ == other.ridge_


@every_model
def test_a_row_of_weight_two_is_the_row_twice(model):
    X, y = data(model)
    weight = np.random.default_rng(2).integers(1, 3, len(y))
    weighted = clone(model).fit(X, y, sample_weight=weight.astype(float))
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.path_ == repeated.path_
    assert weighted.ridge_ == repeated.ridge_


OBLIQUE = [Proposition([0, 1, 2], [1.0, 0.8, -0.1], 0.2)]
BOTH = [Proposition([2], [1.0], 0.4), Proposition([3, 0], [-1.0, 0.1], -0.1)]
FLAG, DATE, LEVEL = Proposition([2], [1.0], 0.5), Proposition([3], [1.0], 18200.0), Membership(4, ["b"])


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_every_simplified_ensemble_is_smaller_and_has_the_best_weights(loss, seed):
    stage = stage_of(problem(loss, seed), OBLIQUE, BOTH)
    found = list(simplified(stage, refiner_of(stage.problem)))
    # A rule less, twice; a variable less, twice; a condition less, twice.
    assert len(found) == 6
    for one in found:
        assert one.complexity < stage.complexity
        assert len(one.conditions) >= 1
        assert_rows_fit_conditions(one)
        assert_weights_are_best(one)


def test_the_only_rule_is_not_left_out():
    stage = stage_of(problem(), BOTH)
    found = list(simplified(stage, refiner_of(stage.problem)))
    assert [len(one.conditions) for one in found] == [1, 1, 1]
    assert list(simplified(stage_of(stage.problem, [BOTH[0]]), refiner_of(stage.problem))) == []


def test_a_conjunction_is_shortened_by_a_condition_or_a_variable():
    data = problem()
    found = list(shorter_conditions(Conjunction([*OBLIQUE, *BOTH]), refiner_of(data)))
    assert [[len(test.columns) for test in condition] for condition in found] == [[1, 2], [2, 1, 2], [3, 2], [3, 1], [3, 1, 1]]


def test_no_rule_of_a_simplified_ensemble_fires_always_or_never():
    for data in (problem(seed=seed) for seed in range(5)):
        seldom = [Proposition([0], [1.0], 0.5), Proposition([1], [1.0], 0.5), Proposition([2, 3], [1.0, 0.2], 0.5)]
        for one in simplified(stage_of(data, seldom, OBLIQUE), refiner_of(data)):
            assert one.fires.any(axis=0).all()
            assert not one.fires.all(axis=0).any()


@given(
    st.lists(st.sampled_from([-2.0, -1.0, -0.3, 0.2, 0.7, 1.5]), min_size=2, max_size=4),
    st.permutations(range(4)),
    st.floats(-1.0, 1.0),
    st.booleans(),
)
def test_the_variable_of_least_influence_is_dropped_and_as_many_rows_are_kept(weights, columns, threshold, missing):
    data = problem()
    refiner = refiner_of(data)
    test = Proposition(columns[: len(weights)], weights, threshold, missing)
    covers = test(data.X)
    if covers.all() or not covers.any():
        return
    shorter = without_weakest(test, refiner)
    influence = np.abs(weights) * refiner.conditions.inputs.scaling.scale[list(test.columns)]
    weakest = int(np.argmin(influence))
    kept = [index for index in range(len(weights)) if index != weakest]
    assert shorter.columns == tuple(test.columns[index] for index in kept)
    np.testing.assert_allclose(shorter.weights, np.array(weights)[kept] / abs(weights[kept[0]]))
    assert shorter.missing == missing
    # Rows with the same sum stay together.
    ties = np.unique(shorter.project(data.X).round(9), return_counts=True)[1].max()
    assert abs(np.count_nonzero(shorter(data.X)) - np.count_nonzero(covers)) < ties


def test_rows_without_a_value_are_not_counted():
    data = mixed_problem()
    lacking = np.isnan(data.X.matrix[:, 0])
    for missing in (False, True):
        test = Proposition([0, 1], [1.0, 0.01], 0.3, missing)
        shorter = without_weakest(test, refiner_of(data))
        assert shorter.columns == (0,)
        assert abs(np.count_nonzero(shorter(data.X)[~lacking]) - np.count_nonzero(test(data.X)[~lacking])) < 5
        assert (shorter(data.X)[lacking] == missing).all()


@pytest.mark.parametrize("test", [FLAG, DATE, LEVEL, Proposition([1], [1.0], 0.2)])
def test_a_single_variable_is_not_dropped(test):
    assert without_weakest(test, refiner_of(mixed_problem())) is None


def simplify_all(record, refiner):
    for complexity in SIZES:
        simplify(complexity, record, refiner)


@every_loss
def test_the_front_only_becomes_better(loss):
    search = search_of(problem(loss))
    list(search.grow())
    before = list(search.record.front)
    simplify_all(search.record, search.refiner)
    after = search.record.front
    for stage in before:
        assert any(one.complexity <= stage.complexity and one.selection_loss <= stage.selection_loss for one in after)
    for stage in after:
        if stage.conditions:
            assert_rows_fit_conditions(stage)
            assert_weights_are_best(stage)


def test_a_variable_that_tells_nothing_is_left_out():
    data = problem(n=300)
    record = Record()
    for tests in ([], OBLIQUE):
        record.note_fitted(stage_of(data, tests) if tests else stage_of(data))
    simplify_all(record, refiner_of(data))
    two = next(stage for stage in record.front if stage.complexity == 1 + 3)
    assert set(two.conditions[0].propositions[0].columns) == {0, 1}
    assert two.training_loss <= 1.05 * stage_of(data, OBLIQUE).training_loss


def test_ensembles_beyond_the_largest_are_left_alone():
    data, record = problem(), Record()
    stage = stage_of(data, *([Proposition([0, 1, 2, 3], [1.0, 0.5, 0.2, 0.1], cut)] for cut in (-0.5, 0.0, 0.5, 1.0)))
    assert stage.complexity > max(SIZES)
    record.note_fitted(stage)
    simplify_all(record, refiner_of(data))
    assert record.front == [stage]


# Progress

RULES = [Rule(0.5, Conjunction([Proposition([0], [1.0], at)])) for at in (1.0, 2.0, 3.0, 4.0)]


class Clock:
    """A clock that is set by hand."""

    now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def progress_of(clock, *, effort=2, max_rules=4, verbose=1):
    X = np.arange(6.0)[:, None]
    task = task_of("numbers", X, X[:, 0], learner="fit", stopwatch=Stopwatch(clock))
    return Progress(task, max_rules, effort, verbose)


def test_a_rule_has_its_share_and_the_time_for_the_others(clock, capsys):
    progress = progress_of(clock)
    for n_rules in range(5):
        progress.report_rule(RuleEnsemble(RULES[:n_rules], 0.1))
        clock.now += 29.9
    assert capsys.readouterr().err.splitlines() == [
        "[fit] rule 0/4, complexity 0: the best constant",
        "[fit] rule 1/4 (25 %, 90 s or more left), complexity 3: +0.5 if x0 >= 1",
        "[fit] rule 2/4 (50 %, 60 s or more left), complexity 6: +0.5 if x0 >= 2",
        "[fit] rule 3/4 (75 %, 30 s or more left), complexity 9: +0.5 if x0 >= 3",
        "[fit] rule 4/4 (100 %), complexity 12: +0.5 if x0 >= 4",
    ]


def test_an_improvement_is_reported_a_few_times_with_a_time_of_its_own(clock, capsys):
    clock.now += 1000.0
    progress = progress_of(clock)
    for done in range(1, 41):
        clock.now += 0.1
        progress.report_improvement(1, done, 40)
    assert capsys.readouterr().err.splitlines() == [
        "[fit] improvement 1/2: 20 %, about 3 s left",
        "[fit] improvement 1/2: 40 %, about 2 s left",
        "[fit] improvement 1/2: 60 %, about 2 s left",
        "[fit] improvement 1/2: 80 %",
        "[fit] improvement 1/2: 100 %",
    ]


@pytest.mark.parametrize("effort", [0, 1, 4])
def test_the_status_line_is_told_the_share_of_the_whole_fit(effort, clock, monkeypatch):
    told = []
    monkeypatch.setattr(StatusLine, "tell", lambda _, doing, share: told.append((doing, share)))
    progress = progress_of(clock, effort=effort, max_rules=3, verbose=0)
    for n_rules in range(4):
        progress.report_rule(RuleEnsemble(RULES[:n_rules], 0.1))
    for number in range(1, effort + 1):
        for done in range(1, 6):
            progress.report_improvement(number, done, 5)
    progress.report_rest()
    texts, shares = zip(*told, strict=True)
    assert texts[:2] == ("0/3 rules", "1/3 rules")
    assert texts[4:-1] == tuple(f"improving {1 + step // 5}/{effort}" for step in range(5 * effort))
    np.testing.assert_allclose(shares, sorted(shares), rtol=1e-12)
    assert shares[0] == 0.0
    # What is left is shortening, which takes about as long as the growth.
    assert 1.0 - shares[-1] == pytest.approx(shares[3])
