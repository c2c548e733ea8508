"""Problems on which rules are grown, and what grows, refines and judges them."""

from dataclasses import replace

import numpy as np

from obliquerules.learning.boosting.design_matrix import Inputs
from obliquerules.learning.boosting.learner import ONE_FOR_BOTH_SIGNS, GreedyLearner
from obliquerules.learning.boosting.loop import CriterionSearch
from obliquerules.learning.boosting.oblique import PoolProposer
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.selection import InformationSelection, Record
from obliquerules.learning.boosting.soft_conditions import SmoothedLoss, SoftConditions
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Column, Columns, Conjunction

MIXED = Columns.of(
    [
        Column("age", missing=True),
        Column("weight"),
        Column("drug", kind="flag"),
        Column("admitted", kind="date"),
        Column("ward", ("a", "b", "c")),
    ]
)


def problem(loss="squared", seed=0, n=150, ridge=1.0):
    """Return a problem of four numbers, in which an oblique rule and a conjunction show."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(n, 4)).round(2))
    score = 2.0 * (X[:, 0] + X[:, 1] > 0.3) - 1.5 * (X[:, 2] > 0.5) * (X[:, 3] < 0.2)
    y = {
        "squared": score + rng.normal(scale=0.3, size=n),
        "logistic": (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(float),
        "poisson": rng.poisson(np.exp(0.5 * score)).astype(float),
    }
    if loss in ("gamma", "tweedie"):
        amount = rng.gamma(2.0, np.exp(0.5 * score))
        y |= {"gamma": amount, "tweedie": y["poisson"] * amount}
    y = y[loss]
    return Problem(Block.of_matrix(X), y, rng.uniform(0.5, 2.0, size=n), LOSSES[loss], ridge, np.zeros(n, dtype=bool))


def mixed_problem(n=150, ridge=1.0):
    """Return a problem of columns of all kinds, with missing values in the first."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n, 2)).round(2)
    others = [rng.integers(0, 2, n), rng.integers(18000, 18400, n), rng.integers(0, 3, n)]
    X = np.asfortranarray(np.column_stack([numbers, *others]).astype(float))
    y = 2.0 * (numbers @ [1.0, 0.7] > 0.2) + X[:, 2] + (X[:, 4] == 1.0) + rng.normal(scale=0.3, size=n)
    X[rng.random(n) < 0.15, 0] = np.nan
    return Problem(Block(MIXED, X), y, np.ones(n), LOSSES["squared"], ridge, np.zeros(n, dtype=bool))


def stage_of(problem, *conditions):
    """Return the ensemble of rules with these conditions, each a list of tests."""
    stage = Stage.constant(problem)
    for tests in conditions:
        condition = Conjunction(tests)
        stage = stage.with_rule(Candidate(condition, condition(problem.X), 0.0))
    return stage


def learner(problem, max_variables, max_propositions):
    return GreedyLearner(PoolProposer(problem.X, problem.row_weight, max_variables), max_propositions, ONE_FOR_BOTH_SIGNS)


def soft_of(problem):
    return SoftConditions(Inputs(problem.X, problem.row_weight), problem.row_weight)


def blurred(problem):
    """Return a problem whose ensembles are compared with blurred thresholds."""
    return replace(problem, smoothed_loss=SmoothedLoss(soft_of(problem), problem.size))


def refiner_of(problem):
    return Refiner(soft_of(problem), problem)


def search_of(problem, max_rules=3, price=2.0):
    """Return a search with a record of its own, which judges ensembles with blurred thresholds."""
    selection, data = InformationSelection(price), blurred(problem)
    return CriterionSearch(data, learner(data, 3, 3), selection, refiner_of(data), max_rules, Record())


def penalised(stage):
    return stage.training_loss + 0.5 * stage.problem.ridge * (stage.weights[1:] ** 2).sum()


def assert_weights_are_best(stage):
    """Assert that the penalised loss has no slope in any weight."""
    problem = stage.problem
    gradient = problem.row_weight * problem.loss.gradient(problem.y, stage.score)
    slope = np.append(gradient.sum(), gradient @ stage.fires + problem.ridge * stage.weights[1:])
    assert np.abs(slope).max() <= 1e-5 * np.abs(gradient).sum()


def assert_rows_fit_conditions(stage):
    """Assert that the patterns of the ensemble are those of its conditions."""
    expected = np.column_stack([condition(stage.problem.X) for condition in stage.conditions])
    assert np.array_equal(stage.fires, expected)
