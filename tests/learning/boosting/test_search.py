"""The longer search: more effort finds nothing worse, and the weights of its path have the ridge that was estimated."""

import functools
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.learning.boosting.boosting import GROWTH_RIDGE, PAPER_RIDGE
from obliquerules.learning.boosting.loop import LARGEST_GROWN_AGAIN
from obliquerules.learning.boosting.record import Record
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.refit import refit
from obliquerules.learning.ridge_estimate import ridges_for
from obliquerules.losses import LOSSES
from obliquerules.rules import Proposition

from .growing import assert_rows_fit_conditions, assert_weights_are_best, problem, search_of, stage_of

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
