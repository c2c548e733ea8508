"""All rows: conditions from some rows, weights from all, the same by any number of threads and in any order."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LTRNetRegressor,
    TGBClassifier,
    TGBRegressor,
)
from obliquerules.data import blocks
from obliquerules.data.blocks import RowBlock, RowsInMemory
from obliquerules.data.sample import Sample
from obliquerules.learning.refit import fitted_weights, refit_path
from obliquerules.losses import LOSSES, MultinomialLoss
from obliquerules.rules import Block, Conjunction, Factor, Proposition, Rule, RuleEnsemble

SLOPE, STEP = Factor(0, 0.5, -1.0, 2.0), Conjunction([Proposition([0, 1], [1.0, -1.0], 0.1)])
OTHER, THIRD = Conjunction([Proposition([2], [1.0], 0.0)]), Conjunction([Proposition([1], [-1.0], 0.3)])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 128)


def data(loss="squared", n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    score = 1.5 * (X[:, 0] - X[:, 1] > 0.1) - 0.8 * (X[:, 2] > 0.0) + 0.4 * X[:, 1]
    y = {
        "squared": score + rng.normal(scale=0.3, size=n),
        "logistic": (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(float),
        "poisson": rng.poisson(np.exp(0.5 * score)).astype(float),
        "gamma": rng.gamma(2.0, np.exp(0.5 * score)),
        "tweedie": rng.poisson(1.5, n) * rng.gamma(2.0, np.exp(0.5 * score)),
    }[loss]
    return X, y


def path_of(*rules):
    return [RuleEnsemble(rules[:size], 0.1) for size in range(len(rules) + 1)]


@pytest.mark.parametrize("with_slope", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "gamma", "tweedie"])
def test_weights_are_those_that_all_rows_in_memory_give(loss, with_slope):
    X, y = data(loss)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    first = Rule(0.2, Conjunction(), SLOPE) if with_slope else Rule(0.2, THIRD)
    path = path_of(first, Rule(0.1, STEP), Rule(-0.3, OTHER))
    rows = RowsInMemory(Block.of_matrix(X), y, weight)
    some = RowBlock(rows.X, y, weight)
    ridges = [3.0, 4.0, 2.0, 7.0]
    found = refit_path(path, some, rows, LOSSES[loss], ridges)
    sample = Sample.of(rows.X, y, weight)
    at_zero = LOSSES[loss].value(y, np.zeros(len(y)))
    for before, ridge, (after, value) in zip(path, ridges, found, strict=True):
        expected = fitted_weights(before, sample, LOSSES[loss], ridge, before.weight_table)
        assert np.allclose(after.weight_table, expected, rtol=1e-6, atol=1e-8)
        assert np.isclose(value, (weight * (LOSSES[loss].value(y, after(X)) - at_zero)).sum())


def test_offsets_are_scores_that_are_there_already():
    X, y = data("logistic")
    offset = np.random.default_rng(1).normal(size=len(y))
    path = path_of(Rule(0.1, STEP), Rule(-0.3, OTHER))
    rows = RowsInMemory(Block.of_matrix(X), y, np.ones(len(y)), offset)
    ridges = [3.0, 2.0, 5.0]
    found = refit_path(path, RowBlock(rows.X, y, rows.weight), rows, LOSSES["logistic"], ridges)
    sample = Sample.of(rows.X, y, rows.weight, offset)
    for before, ridge, (after, _) in zip(path, ridges, found, strict=True):
        expected = fitted_weights(before, sample, LOSSES["logistic"], ridge, before.weight_table)
        assert np.allclose(after.weight_table, expected, rtol=1e-6, atol=1e-8)


def test_many_classes_have_a_weight_each():
    X, score = data()
    y = np.digitize(score, [-0.3, 0.6]).astype(float)
    loss = MultinomialLoss(3)
    path = [RuleEnsemble([Rule([0.1, 0.0, -0.2], STEP)], [0.0, 0.0, 0.0], outputs=("a", "b", "c"))]
    rows = RowsInMemory(Block.of_matrix(X), y, np.ones(len(y)))
    ((after, _),) = refit_path(path, RowBlock(rows.X, y, rows.weight), rows, loss, [np.full(3, 2.0)])
    expected = fitted_weights(path[0], Sample.of(rows.X, y, rows.weight), loss, np.full(3, 2.0), path[0].weight_table)
    assert np.allclose(after.weight_table, expected)
    assert after.weight_table[1, 1] == 0.0


def test_slopes_of_many_classes_are_fitted_row_by_row():
    X, score = data()
    y = np.digitize(score, [-0.3, 0.6]).astype(float)
    loss, ridge = MultinomialLoss(3), np.array([2.0, 3.0, 4.0])
    rules = [Rule([0.1, 0.0, -0.2], STEP), Rule([0.0, 0.1, 0.2], factor=Factor(0, 0.3))]
    path = [RuleEnsemble(rules, [0.0, 0.0, 0.0], outputs=("a", "b", "c"))]
    rows = RowsInMemory(Block.of_matrix(X), y, np.ones(len(y)))
    ((after, value),) = refit_path(path, RowBlock(rows.X, y, rows.weight), rows, loss, [ridge])
    sample = Sample.of(rows.X, y, rows.weight)
    expected = fitted_weights(path[0], sample, loss, ridge, path[0].weight_table)
    assert np.allclose(after.weight_table, expected)
    assert np.isclose(value, len(y) * (loss.risk(y, after(X), rows.weight) - np.log(3.0)))
    assert after.weight_table[1, 1] == after.weight_table[2, 0] == 0.0


def test_a_rule_more_than_fits_in_a_table_is_fitted_row_by_row(monkeypatch):
    X, y = data()
    rows = RowsInMemory(Block.of_matrix(X), y, np.ones(len(y)))
    path = path_of(Rule(0.1, STEP), Rule(-0.3, OTHER), Rule(0.2, THIRD))
    ridges = [1.0, 2.0, 3.0, 4.0]
    by_table = refit_path(path, RowBlock(rows.X, y, rows.weight), rows, LOSSES["squared"], ridges)
    monkeypatch.setattr("obliquerules.learning.refit.MOST_IN_TABLE", 1)
    by_row = refit_path(path, RowBlock(rows.X, y, rows.weight), rows, LOSSES["squared"], ridges)
    for (one, loss), (two, other) in zip(by_table, by_row, strict=True):
        assert np.allclose(one.weight_table, two.weight_table)
        assert np.isclose(loss, other)


def saved(model, directory, name="model.json"):
    model.save(directory / name)
    return (directory / name).read_bytes()


@pytest.mark.parametrize(
    "estimator",
    [
        LLTBoostRegressor(max_rules=3, effort=0, search_rows=300),
        TGBRegressor(max_rules=3, search_rows=300),
        LTRNetRegressor(n_penalties=2, n_restarts=1, max_iter=30, random_state=0, search_rows=300),
    ],
)
def test_the_file_is_the_same_for_any_number_of_threads_and_order_of_rows(estimator, tmp_path):
    X, y = data()
    files = {saved(estimator.set_params(n_jobs=n_jobs).fit(X, y), tmp_path) for n_jobs in (1, 2, 3)}
    assert len(files) == 1
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        files.add(saved(estimator.fit(X[order], y[order]), tmp_path))
    assert len(files) == 1


@pytest.mark.parametrize(("estimator", "loss"), [(LLTBoostClassifier, "logistic"), (LLTBoostRegressor, "squared")])
def test_a_row_of_weight_two_is_the_row_given_twice(estimator, loss, tmp_path):
    X, y = data(loss)
    model = estimator(max_rules=3, effort=0, search_rows=300)
    one = saved(model.fit(np.concatenate([X, X[:200]]), np.concatenate([y, y[:200]])), tmp_path)
    assert saved(model.fit(X, y, sample_weight=np.where(np.arange(len(y)) < 200, 2.0, 1.0)), tmp_path) == one


@pytest.mark.parametrize("search_rows", [299, 300, 599])
def test_rows_that_are_given_twice_do_not_make_rows_many(search_rows, tmp_path):
    X, y = data(n=300)
    model = LLTBoostRegressor(max_rules=2, effort=0, search_rows=search_rows)
    twice = saved(model.fit(np.concatenate([X, X]), np.concatenate([y, y])), tmp_path)
    assert saved(model.fit(X, y, sample_weight=np.full(300, 2.0)), tmp_path) == twice
    assert (b"search_rows" in twice) == (search_rows < 300)


def test_weights_that_are_shares_are_relative():
    X, y = data()
    model = LLTBoostRegressor(max_rules=3, effort=0, search_rows=300)
    one = model.fit(X, y).ensemble_
    two = model.fit(X, y, sample_weight=np.full(len(y), 1.0 / len(y))).ensemble_
    assert np.allclose(one.weight_table, two.weight_table)


def test_few_rows_are_learned_from_as_before(tmp_path):
    X, y = data(n=300)
    models = [LLTBoostRegressor(max_rules=2, effort=0, search_rows=rows).fit(X, y) for rows in (None, 300, 20000)]
    files = [json.loads(saved(model, tmp_path)) for model in models]
    assert files[0] == files[1] == files[2]
    assert "search_rows" not in json.dumps(files[0])


def test_files_say_from_how_many_rows_conditions_are():
    X, y = data()
    model = LLTBoostRegressor(max_rules=2, effort=0, search_rows=300).fit(X, y)
    assert dict(model.model_.origin.parameters)["search_rows"] == 300
    losses = [np.mean((member(X) - y) ** 2) for member in model.path_]
    assert all(after < before for before, after in itertools.pairwise(losses))
    assert {one.column for one in model.model_.ranges} == set(model.ensemble_.used_columns)


def test_ranges_are_those_of_all_rows():
    X, y = data()
    some, every = (LLTBoostRegressor(max_rules=3, effort=0, search_rows=rows).fit(X, y).model_.ranges for rows in (300, None))
    everywhere = {one.column: one for one in every}
    shared = [one for one in some if one.column in everywhere]
    assert shared
    assert all(one == everywhere[one.column] for one in shared)


def test_frames_with_text_and_missing_values_and_many_classes():
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame(
        {"age": rng.normal(50.0, 10.0, n).round(), "ward": rng.choice(["a", "b", "c"], n), "smoker": rng.random(n) < 0.3}
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    y = np.where(frame.ward == "a", "home", np.where(frame.age.fillna(50.0) > 55.0, "ward", "icu"))
    model = TGBClassifier(max_rules=4, search_rows=400).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.model_.columns[0].missing


def test_the_choice_by_cross_validation_is_kept():
    X, y = data("logistic")
    model = LLTBoostClassifierCV(max_rules=2, effort=0, max_propositions=1, cv=2, search_rows=400).fit(X, y)
    assert model.ensemble_.complexity == model.complexity_
    groups = np.arange(len(y)) % 30
    quick = LLTBoostClassifierCV(max_rules=1, effort=0, max_propositions=1, cv=2, search_rows=400)
    grouped = clone(quick).fit(X, y, groups=groups)
    given = clone(quick).set_params(cv=KFold(2)).fit(X, y)
    # Groups and splits are of all rows.
    for one in (grouped, given):
        assert "search_rows" not in dict(one.model_.origin.parameters)


def test_a_set_of_rules_for_one_class_stays_one():
    X, _ = data()
    y = (X[:, 0] > 0.1) & (X[:, 2] > 0.0)  # so clear that rules are learned whatever the last bits of a processor are
    model = DRNetClassifier(n_penalties=2, max_iter=2000, random_state=0, search_rows=600).fit(X, y)
    some = model.path_[-1]
    fires = np.column_stack([rule.condition(X) for rule in some]).any(axis=1)
    predicted = some(X) >= 0.0
    assert fires.any()
    assert np.array_equal(predicted, fires) or np.array_equal(predicted, ~fires)


@pytest.mark.parametrize("search_rows", [300, None])
def test_single_precision_is_the_same_numbers_in_doubles(search_rows, tmp_path):
    X, y = data()
    single = X.astype(np.float32)
    model = LLTBoostRegressor(max_rules=3, effort=0, search_rows=search_rows)
    one, two = (saved(model.fit(rows, y), tmp_path) for rows in (single, single.astype(np.float64)))
    assert one == two
    assert np.array_equal(model.predict(single), model.predict(single.astype(np.float64)))


def test_bad_values_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="search_rows must be a whole number of at least 1"):
        LLTBoostRegressor(search_rows=0).fit(X, y)


def test_the_weights_of_tables_have_all_their_digits():
    X, y = data("poisson")
    for order in (np.arange(900), np.random.default_rng(5).permutation(900)):
        weight = np.random.default_rng(4).uniform(0.1, 2.0, 900)[order]
        rows = RowsInMemory(Block.of_matrix(X[order]), y[order], weight)
        part = RowBlock(Block.of_matrix(X[order]), y[order], weight)
        constant = refit_path([RuleEnsemble([], 0.1)], part, rows, LOSSES["poisson"], [1.0])[0][0].intercept
        assert constant == pytest.approx(np.log(np.average(y[order], weights=weight)), rel=1e-13)
