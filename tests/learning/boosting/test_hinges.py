"""Hinges: their gains equal those of slopes with the same values, and they are found where the truth has a bend."""

import math

import numpy as np
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBRegressor
from obliquerules.learning.boosting import linear_terms
from obliquerules.learning.boosting.linear_terms import SHARES, Hinges, slopes_in
from obliquerules.learning.boosting.loop import first_stage
from obliquerules.learning.boosting.stage import Problem
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Conjunction, Factor, Proposition, Slope


def bent(n=400, seed=0):
    """Return rows whose targets are level up to 6 in the first column, and rise beyond."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, size=(n, 3)).round(2)
    return X, np.maximum(X[:, 0], 6.0) + rng.normal(scale=0.1, size=n)


def stage_of(loss, X, y, weight):
    """Return an ensemble with a rule and a slope, on weighted rows."""
    data = Problem(Block.of_matrix(np.asfortranarray(X)), y, weight, LOSSES[loss], 2.0, np.zeros(len(y), dtype=bool))
    rule = Proposition([1], [1.0], 5.0)
    stage = first_stage(data).with_rule(Candidate(Conjunction([rule]), rule(data.X), 0.0))
    slope = Slope.of(Factor(2), data.X, weight)
    return stage.with_rule(Candidate(slope, slope(data.X), 0.0))


def hinges_of(data):
    """Return the hinges of all columns of a problem."""
    slopes = [found[0] for column in range(data.X.n_columns) if (found := slopes_in(column, data.X, data.row_weight))]
    return Hinges(data.X, data.row_weight, slopes)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_gains_are_those_of_the_values_of_each_hinge(loss, missing):
    rng = np.random.default_rng(1)
    X, y = bent()
    X[:, 1] = np.exp(0.5 * X[:, 1])  # a long tail, which is clipped
    X[rng.random(len(X)) < missing, 0] = np.nan
    y = {"squared": y, "logistic": (y > 6.5).astype(float), "poisson": np.round(y)}[loss]
    stage = stage_of(loss, X, y, rng.integers(1, 4, len(y)).astype(float))
    found = hinges_of(stage.problem)
    gains = found.gains(stage)
    assert gains.shape == (3, 2, len(SHARES))
    for (column, side, knot), gain in np.ndenumerate(gains):
        hinge = Slope.of(found.hinge(column, side, knot), stage.problem.X, stage.problem.row_weight)
        assert hinge.factor.is_hinge
        assert gain == pytest.approx(stage.gains([Candidate.of(hinge, stage.problem.X)])[0], rel=1e-6, abs=1e-9)


def test_some_rows_stand_for_all(monkeypatch):
    X, y = bent(4000)
    stage = stage_of("squared", X, y, np.ones(len(y)))
    exact = hinges_of(stage.problem).gains(stage)
    monkeypatch.setattr(linear_terms, "MOST_ROWS", 1000)
    assert np.corrcoef(hinges_of(stage.problem).gains(stage).ravel(), exact.ravel())[0, 1] > 0.99


def test_the_best_of_each_column_come_first_and_are_not_offered_again():
    X, y = bent()
    stage = stage_of("squared", X, y, np.ones(len(y)))
    found = hinges_of(stage.problem)
    best = found.best(stage)
    assert len({one.condition.factor.column for one in best}) == len(best) <= 3
    first = best[0].condition.factor
    assert first == Factor(0, first.origin, first.origin)
    assert first.origin == pytest.approx(6.0, abs=0.3)
    gains = stage.gains(best).tolist()
    assert gains == sorted(gains, reverse=True)
    again = found.best(stage.with_rule(best[0]))
    assert best[0].condition.factor not in {one.condition.factor for one in again}


@pytest.mark.parametrize("column", [np.repeat([0.0, 1.0], 150), np.full(300, 3.0)])
def test_columns_of_few_values_have_none(column):
    X = Block.of_matrix(np.asfortranarray(column[:, None]))
    assert slopes_in(0, X, np.ones(300)) == []
    assert hinges_of(stage_of("squared", *bent(), np.ones(400)).problem).slopes


def test_a_knot_at_an_end_makes_no_hinge():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(rng.random(400) < 0.7, 0.0, rng.uniform(0.0, 9.0, 400)), *rng.uniform(0.0, 9.0, (2, 400))])
    stage = stage_of("squared", X, X[:, 0], np.ones(400))
    found = hinges_of(stage.problem)
    at_zero = found.knots[0] == 0.0
    assert at_zero.any()
    assert (found.gains(stage)[0][:, at_zero] == 0.0).all()  # it would be the slope itself, or nothing


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_a_column_does_not_matter(unit):
    X, y = bent()
    knots = []
    for scaled in (X, X * [unit, 1.0, 1.0]):
        stage = stage_of("squared", scaled, y, np.ones(len(y)))
        knots.append(hinges_of(stage.problem).best(stage)[0].condition.factor.origin)
    assert knots[1] == pytest.approx(unit * knots[0], rel=1e-12)


@pytest.mark.parametrize("kind", [LLTBoostRegressor, TGBRegressor])
def test_a_bend_is_found_and_printed(kind):
    X, y = bent()
    more = {} if kind is LLTBoostRegressor else {"selection": "information"}
    model = kind(max_rules=3, **more).fit(X, y, feature_names=["dose", "b", "c"]).at(3)
    (rule,) = model.ensemble_
    assert rule.factor.is_hinge
    assert rule.complexity == model.ensemble_.complexity == 3
    assert rule.factor.origin == pytest.approx(6.0, abs=0.3)
    assert (
        rule.describe(model.ensemble_.columns)
        == f"+{rule.weight:.3g} (max(dose, {rule.factor.origin:g}) - {rule.factor.origin:g})"
    )
    assert np.mean((model.predict(X) - y) ** 2) < 0.02


def test_classes_and_holes():
    rng = np.random.default_rng(0)
    X, _ = bent(1500)
    y = rng.random(len(X)) < 1.0 / (1.0 + np.exp(2.0 - 1.5 * np.maximum(X[:, 0] - 6.0, 0.0)))
    X[rng.random(len(X)) < 0.1, 0] = math.nan
    model = LLTBoostClassifier(max_rules=3, effort=0).fit(X, y)
    assert any(rule.factor is not None and rule.factor.is_hinge for ensemble in model.path_ for rule in ensemble)
    missing = np.array([[math.nan, 5.0, 5.0]])
    assert np.isfinite(model.predict_proba(missing)).all()


def test_rules_alone_and_lines_alone_have_none():
    X, y = bent()
    for linear in (False, "only"):
        model = LLTBoostRegressor(max_rules=4, effort=0, linear_terms=linear).fit(X, y)
        assert not any(rule.factor is not None and rule.factor.is_hinge for ensemble in model.path_ for rule in ensemble)
