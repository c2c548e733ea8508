"""The boosting loop: every stage is the corrected optimum of its rules, and its conditions split the rows at real gaps."""

import numpy as np
import pytest
from scipy.special import expit

from obliquerules import Conjunction, Proposition
from obliquerules.data.sample import Sample
from obliquerules.learning.boosting.learner import GreedyLearner
from obliquerules.learning.boosting.loop import boost
from obliquerules.learning.boosting.oblique import ObliqueProposer
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.boosting.selection import ValidationSelection
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

SELECTION = ValidationSelection(validation_tolerance=-0.01, objective_tolerance=0.01)
LOSS_NAMES = ("squared", "logistic", "poisson", "gamma", "tweedie")
INPUTS = ("normal", "whole numbers", "badly scaled")
every_loss = pytest.mark.parametrize("name", LOSS_NAMES)
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


@every_loss
@every_input
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_no_stage_raises_the_training_objective(name, inputs, ridge):
    problem = problem_of(*rows(name, inputs), name, ridge)
    course = [objective(problem, stage.ensemble) for stage in boosted(problem)]
    assert len(course) > 4
    assert (np.diff(course) <= 1e-9 * course[0]).all()
    assert course[-1] < 0.95 * course[0]


@every_loss
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


@every_loss
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


@every_loss
def test_stages_grow_by_one_rule_and_keep_the_conditions_they_have(name):
    stages = boosted(problem_of(*rows(name), name))
    for size, stage in enumerate(stages):
        assert len(stage.conditions) == size
        assert stage.conditions == stages[-1].conditions[:size]
        assert stage.design.shape[1] == len(stage.weights) == size + 1
        for condition in stage.conditions:
            assert 1 <= len(condition) <= 3
            assert all(len(proposition.columns) <= 3 for proposition in condition)


@every_loss
def test_a_stage_knows_the_score_and_gradient_of_its_rows(name):
    problem = problem_of(*rows(name), name)
    for stage in boosted(problem):
        score = stage.ensemble(problem.X)
        np.testing.assert_allclose((stage.design @ stage.weights)[stage.pattern], score, atol=1e-12)
        expected = problem.row_weight * problem.loss.gradient(problem.y, score)
        np.testing.assert_allclose(stage.gradient[~problem.held_out], expected[~problem.held_out], atol=1e-10)
        assert (stage.gradient[problem.held_out] == 0.0).all()


@every_loss
def test_every_rule_fires_on_some_rows_and_not_on_all(name):
    problem = problem_of(*rows(name), name)
    share = boosted(problem)[-1].ensemble.fires(problem.X).mean(axis=0)
    assert (share > 0.0).all()
    assert (share < 1.0).all()


@every_loss
def test_the_order_of_the_rows_changes_no_bit_of_the_ensemble(name):
    X, y, weight = rows(name)
    order = np.random.default_rng(5).permutation(len(y))
    ensemble = boosted(problem_of(X, y, weight, name))[-1].ensemble
    assert boosted(problem_of(X[order], y[order], weight[order], name))[-1].ensemble == ensemble


@every_loss
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
