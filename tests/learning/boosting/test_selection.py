"""Complexity-aware growth: expected gains are right, what is chosen pays, and the path is a frontier."""

import numpy as np
import pytest
from sklearn.metrics import mean_poisson_deviance

from obliquerules import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.learning.boosting.loop import boost
from obliquerules.learning.boosting.oblique import PoolProposer
from obliquerules.learning.boosting.selection import InformationSelection, Record
from obliquerules.learning.boosting.stage import Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Conjunction, Proposition
from obliquerules.rules.rounding.thresholds import Projections, best_threshold

from .growing import learner, penalised, problem


def candidate(problem, column, threshold):
    condition = Conjunction([Proposition([column], [1.0], threshold)])
    return Candidate(condition, condition(problem.X), 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_gain_is_exact_for_the_squared_loss(seed):
    stage = Stage.constant(problem(seed=seed))
    for column, threshold in ((0, 0.1), (2, -0.3), (1, 1.0)):
        added = candidate(stage.problem, column, threshold)
        following = stage.with_rule(added)
        assert stage.gains([added])[0] == pytest.approx(penalised(stage) - penalised(following), rel=1e-6)
        stage = following


@pytest.mark.parametrize("loss", LOSSES)
def test_the_expected_gain_is_right_to_second_order(loss):
    stage = Stage.constant(problem(loss, ridge=1e6))  # so strong a ridge that weights hardly move
    added = candidate(stage.problem, 0, 0.1)
    assert stage.gains([added])[0] == pytest.approx(penalised(stage) - penalised(stage.with_rule(added)), rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_rule_taken_away_and_put_back_changes_nothing(loss):
    stage = Stage.constant(problem(loss))
    rules = [candidate(stage.problem, column, 0.2) for column in range(3)]
    for rule in rules:
        stage = stage.with_rule(rule)
    again = stage.without(1).with_rule(rules[1])
    assert again.training_loss == pytest.approx(stage.training_loss, rel=1e-9)
    assert again.complexity == stage.complexity
    np.testing.assert_allclose(np.sort(again.weights), np.sort(stage.weights), rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_path_is_a_frontier_and_revision_never_raises_the_criterion(loss):
    data = problem(loss)
    revised = []

    class Watching(InformationSelection):
        def revise(self, stage, relearn):
            after = super().revise(stage, relearn)
            revised.append((self.criterion(stage), self.criterion(after), len(stage.conditions) == len(after.conditions)))
            return after

    selection, record = Watching(2.0), Record()
    grown = list(boost(data, learner(data, 3, 3), selection, 5, record))
    path = selection.path(record)
    assert all(after <= before and same for before, after, same in revised)
    assert [len(stage.conditions) for stage in grown] == list(range(6))
    complexities, losses = zip(*((stage.complexity, stage.training_loss) for stage in path), strict=True)
    assert complexities[0] == 0
    assert all(np.diff(complexities) > 0)
    assert all(np.diff(losses) < 0.0)
    for stage in grown:  # each is on the path, or something no larger is no worse
        assert any(p.complexity <= stage.complexity and p.training_loss <= stage.training_loss for p in path)


def test_a_proposition_that_does_not_pay_is_not_taken():
    data = problem()
    dear, cheap = (list(boost(data, learner(data, 4, 5), InformationSelection(price), 1))[1] for price in (50.0, 0.0))
    assert dear.complexity == 3
    assert cheap.complexity > dear.complexity
    assert cheap.training_loss < dear.training_loss


def test_the_record_keeps_the_best_of_each_complexity():
    stage = Stage.constant(problem())
    ones = [stage.with_rule(candidate(stage.problem, column, 0.2)) for column in range(4)]
    record = Record()
    for one in (stage, *ones):
        assert record.note_fitted(one) is one
    assert record.front == [stage, min(ones, key=lambda one: one.training_loss)]
    assert record.grown == []


def test_a_selection_and_a_learner_that_were_used_before_are_as_good_as_new():
    data, other = problem(), problem("poisson")
    selection, used = InformationSelection(2.0), learner(data, 3, 2)
    paths = []
    for record in (Record(), Record()):
        list(boost(data, used, selection, 2, record))
        list(boost(other, learner(other, 3, 2), selection, 2, Record()))
        paths.append([stage.ensemble for stage in selection.path(record)])
    assert paths[0] == paths[1]
    assert len(paths[0]) > 3


@pytest.mark.parametrize("seed", range(20))
def test_the_best_threshold_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    projections, pull = rng.integers(0, 8, size=30) / 4.0, rng.normal(size=30)
    values = np.unique(projections)
    middles = (values[1:] + values[:-1]) / 2.0
    sums = [pull[projections >= middle].sum() for middle in middles]
    found = best_threshold(Projections.of_column(projections), pull)
    if max(sums) <= 0.0:
        assert found is None
    else:
        assert found == pytest.approx(middles[int(np.argmax(sums))])


@pytest.mark.parametrize("seed", range(10))
def test_the_axis_splits_are_those_of_brute_force(seed):
    data, rng = problem(seed=seed), np.random.default_rng(seed)
    pull = rng.normal(size=len(data.y))
    proposer = PoolProposer(data.X, data.row_weight, 3)
    best = max(
        max(pull[data.X.matrix[:, j] >= t].sum(), pull[data.X.matrix[:, j] < t].sum())
        for j in range(4)
        for t in np.unique(data.X.matrix[:, j])[1:]
    )
    first = next(proposer.axis_splits(pull))
    assert pull[first[1]].sum() == pytest.approx(best)
    assert np.array_equal(first[0](data.X), first[1])


@pytest.mark.parametrize("make", [LLTBoostClassifier, LLTBoostRegressor])
def test_the_order_of_rows_and_the_seed_do_not_matter(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + X[:, 1] + rng.normal(scale=0.5, size=200)
    y = y > 0.0 if make is LLTBoostClassifier else y
    order = rng.permutation(200)
    paths = [make(max_rules=4, random_state=seed).fit(X[rows], y[rows]).path_ for seed, rows in ((0, slice(None)), (1, order))]
    assert paths[0] == paths[1]


def overdispersed(n_rows=1500, mean=50.0, dispersion=20.0):
    """Return inputs, negative binomial counts and their expectations."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    expected = mean * np.exp(0.7 * (X[:, 0] + X[:, 1] > 0.5) - 0.6 * (X[:, 2] > 0.3))
    return X, rng.poisson(rng.gamma(expected / (dispersion - 1.0), dispersion - 1.0)) * 1.0, expected


def test_what_varies_more_than_a_poisson_distribution_is_not_learned_as_rules(monkeypatch):
    X, counts, expected = overdispersed()
    model = LLTBoostRegressor(loss="poisson", max_rules=4, exact="rows").fit(X, counts)
    monkeypatch.setattr(type(LOSSES["poisson"]), "profile_deviance", lambda _, total, n: 2.0 * total)  # noqa: ARG005
    fooled = LLTBoostRegressor(loss="poisson", max_rules=4, exact="rows").fit(X, counts)
    assert model.ensemble_.complexity < fooled.ensemble_.complexity
    assert mean_poisson_deviance(expected, model.predict(X)) < mean_poisson_deviance(expected, fooled.predict(X))
