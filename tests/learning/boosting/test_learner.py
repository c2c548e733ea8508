"""Exact search finds what trying every conjunction finds, for every objective, loss and length."""

import itertools

import numpy as np
import pytest

from obliquerules.learning.boosting.axis import AxisProposer, SortedColumns
from obliquerules.learning.boosting.learner import ExactLearner, GreedyLearner
from obliquerules.learning.boosting.loop import boost
from obliquerules.learning.boosting.selection import ObjectiveSelection, Record
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import OBJECTIVES, Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Conjunction, Proposition

ENOUGH = 10**9
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def problem(objective, loss, seed, n=None, d=None):
    """Return a small problem of whole numbers, hence full of ties, with weights; one column may be constant."""
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(4, 14)), d or int(rng.integers(1, 4))
    X = np.asfortranarray(rng.integers(0, int(rng.integers(2, 6)), size=(n, d)).astype(float))
    if seed % 5 == 0:
        X[:, -1] = 3.5
    y = {"squared": rng.normal(size=n), "logistic": rng.integers(0, 2, n), "poisson": rng.poisson(2.0, n)}
    y = (y[loss] if loss in y else y["poisson"]).astype(float)
    y[0] = 1.0 - y[1:].min()  # two classes, and not all counts zero
    y += loss == "gamma"
    weight = np.ones(n) if seed % 2 else rng.integers(1, 4, n).astype(float)
    held_out = rng.random(n) < (0.2 if seed % 7 == 0 else 0.0)
    return Problem(Block.of_matrix(X), y, weight, LOSSES[loss], float(rng.choice([0.01, 1.0, 20.0])), held_out, objective)


def stage_of(problem, rules, seed):
    """Return the ensemble of a few random rules."""
    rng = np.random.default_rng(seed)
    stage = Stage.constant(problem)
    for _ in range(rules):
        column = int(rng.integers(problem.X.n_columns))
        condition = Conjunction([Proposition([column], [1.0], float(rng.integers(0, 4)) + 0.5)])
        covers = condition(problem.X)
        if 0 < covers.sum() < len(covers) and not stage.has_rule_on(covers):
            stage = stage.with_rule(Candidate(condition, covers, 0.0))
    return stage


def propositions(X):
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for middle in (values[1:] + values[:-1]) / 2.0:
            yield X[:, column] >= middle
            yield X[:, column] <= middle


def reference(stage, covers):
    """Return the objective of a rule from its definition."""
    problem, q = stage.problem, covers.astype(float)
    score = stage.ensemble(problem.X)
    weight = problem.learning_weight
    gradient = problem.loss.gradient(problem.y, score)
    if problem.objective == "gradient":
        return abs((weight * gradient) @ q)
    if problem.objective == "second-order":
        return abs((weight * gradient) @ q) / np.sqrt((weight * problem.loss.hessian(score)) @ q + problem.ridge)
    # The fall of the quadratic expansion of the penalised loss, all weights corrected: with one more column in the design.
    hessian = weight * problem.loss.hessian(score)
    design = np.column_stack([np.ones(len(q)), *stage.ensemble.fires(problem.X).T, q])
    penalty = problem.ridge * np.diag([0.0] + [1.0] * (design.shape[1] - 1))
    precision = np.linalg.pinv(design.T @ (hessian[:, None] * design) + penalty, rcond=1e-12)[-1, -1]
    return abs((weight * gradient) @ q) * np.sqrt(precision)


def brute_force(stage, longest):
    """Return the largest objective of up to one proposition, of up to two, and so on."""
    best, known = np.zeros(longest), {}
    single = list(propositions(stage.problem.X.matrix))
    for length in range(1, longest + 1):
        for parts in itertools.combinations(single, length):
            covers = np.logical_and.reduce(parts)
            key = covers.tobytes()
            if key not in known:
                allowed = 0 < covers.sum() < len(covers) and not stage.has_rule_on(covers)
                known[key] = reference(stage, covers) if allowed else 0.0
            best[length - 1 :] = np.maximum(best[length - 1 :], known[key])
    return best


@every_objective
@every_loss
@pytest.mark.parametrize("seed", range(40))
def test_exact_search_is_brute_force(objective, loss, seed):
    stage = stage_of(problem(objective, loss, seed), rules=seed % 4, seed=seed)
    learner, record = ExactLearner(SortedColumns(stage.problem.X), 3, ENOUGH), Record()
    best, found = brute_force(stage, 3), np.zeros(3)
    for candidate in learner.conditions(stage, record):
        length = len(candidate.condition)
        assert np.array_equal(candidate.condition(stage.problem.X), candidate.covers)
        assert candidate.objective == pytest.approx(reference(stage, candidate.covers), rel=1e-6, abs=1e-9)
        assert not stage.has_rule_on(candidate.covers)
        found[length - 1 :] = candidate.objective
    assert record.complete
    np.testing.assert_allclose(found, best, rtol=1e-6, atol=1e-8)


@every_objective
@pytest.mark.parametrize("seed", range(5))
def test_greedy_growth_takes_the_best_proposition_at_each_step(objective, seed):
    stage = stage_of(problem(objective, "squared", seed, n=30, d=3), rules=2, seed=seed)
    X, current = stage.problem.X, stage.empty_rule()
    for sign in (1.0, -1.0):
        for proposition, covers in AxisProposer(SortedColumns(X)).propose(stage, sign, np.flatnonzero(current.covers)):
            column = proposition.columns[0]
            values = [
                stage.objective(q)
                for q in propositions(X.matrix[:, [column]])
                if sign * stage.objective.gradient[q].sum() > 0.0 and not stage.has_rule_on(q)
            ]
            assert stage.objective(covers) == pytest.approx(max(values))
            assert sign * stage.objective.gradient[covers].sum() > 0.0


@every_objective
def test_a_search_that_is_cut_short_says_so_and_is_no_worse_than_greedy_growth(objective):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(60, 4)))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(scale=0.1, size=60)
    data = Problem(Block.of_matrix(X), y, np.ones(60), LOSSES["squared"], 1.0, np.zeros(60, dtype=bool), objective)
    stage, columns = Stage.constant(data), SortedColumns(Block.of_matrix(X))
    greedy = list(boost(data, GreedyLearner(AxisProposer(columns), 3), ObjectiveSelection(0.0), 1))[1].conditions[0]
    objectives = []
    for nodes in (1, 50, ENOUGH):
        learner, record = ExactLearner(columns, 3, nodes), Record()
        objectives.append(list(learner.conditions(stage, record))[-1].objective)
        assert record.complete == (nodes == ENOUGH)
    assert stage.objective(greedy(X)) <= objectives[0] * (1.0 + 1e-9)
    assert objectives == sorted(objectives)


def test_no_time_gives_the_greedy_rule():
    data = problem("gradient", "squared", 1, n=30, d=3)
    learner, record = ExactLearner(SortedColumns(data.X), 3, ENOUGH), Record(max_seconds=0.0)
    assert list(learner.conditions(Stage.constant(data), record))
    assert not record.complete


def test_the_gradient_objective_is_bounded_by_the_sum_of_positive_pulls():
    data = problem("gradient", "squared", 1, n=60, d=4)
    stage, learner = Stage.constant(data), ExactLearner(SortedColumns(data.X), 4, ENOUGH)
    search = learner._search(stage, 1.0)
    best = max(candidate.objective for candidate in learner.conditions(stage, Record()))
    # Nothing can be better than this, so that hardly any node needs to be looked at twice.
    _, nodes, ended = search.run(4, float(np.maximum(stage.objective.gradient, 0.0).sum()), ENOUGH, np.inf)
    assert ended
    assert nodes == 1
    assert search.run(4, best, ENOUGH, np.inf)[1] < 500
