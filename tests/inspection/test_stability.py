"""Stability: rules that come back are counted as such, and the intervals of weights cover as often as they say."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor
from obliquerules.inspection.stability import (
    Bootstrap,
    Reweigh,
    best_overlaps,
    overlaps_of_rules,
    reweighing,
    weight_intervals,
)
from obliquerules.learning.boosting.lltboost import LLTBoost
from obliquerules.learning.method import Method, Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Conjunction, Factor, Proposition, Rule, RuleEnsemble
from obliquerules.rules.model import Offset

CONDITIONS = [Conjunction([Proposition([0], [1.0], 0.5)]), Conjunction([Proposition([1], [1.0], 0.0)])]


def data(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and a target of 0 and 1 that a single split explains."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    return X, ((X[:, 0] > 0.2) ^ (rng.random(n_rows) < 0.1)) * 1.0


@functools.cache
def grown() -> LLTBoostClassifier:
    return LLTBoostClassifier(max_rules=2, random_state=0).fit(*data())


def fitted() -> LLTBoostClassifier:
    return grown().at(3)


# Overlap


def test_overlap_is_the_jaccard_index() -> None:
    rule = np.array([1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)[:, None]
    other = np.array([0, 1, 1, 0, 0, 0, 0, 0], dtype=bool)[:, None]
    assert best_overlaps(rule, other).tolist() == [1 / 3]
    assert best_overlaps(rule, np.hstack([other, rule])).tolist() == [1.0]


def test_complements_are_the_same_rule() -> None:
    rng = np.random.default_rng(0)
    rules, others = rng.random((50, 3)) < 0.3, rng.random((50, 4)) < 0.3
    expected = best_overlaps(rules, others)
    np.testing.assert_array_equal(best_overlaps(~rules, others), expected)
    np.testing.assert_array_equal(best_overlaps(rules, ~others), expected)
    np.testing.assert_array_equal(best_overlaps(rules, ~rules), np.ones(3))


def test_rules_that_hold_nearly_everywhere_do_not_match_each_other() -> None:
    rows = np.arange(100)
    assert best_overlaps((rows >= 5)[:, None], (rows < 95)[:, None])[0] < 0.1


def test_no_rules_overlap_with_nothing() -> None:
    assert best_overlaps(np.ones((4, 2), dtype=bool), np.ones((4, 0), dtype=bool)).tolist() == [0.0, 0.0]
    assert best_overlaps(np.ones((4, 0), dtype=bool), np.ones((4, 2), dtype=bool)).tolist() == []


def test_a_slope_comes_back_as_a_slope_in_the_same_column() -> None:
    X = Block.of_matrix(np.column_stack([np.arange(10.0), np.ones(10)]))
    mine, theirs = map(
        RuleEnsemble.parse,
        ("+1 x0\n+1 x1\n+1 x0 if x0 >= 6\n+1 if x0 >= 6\n+1 if x1 >= 0", "+2 (x0 - 3)\n-1 x0 if x0 >= 5\n+1 if x0 <= 5"),
    )
    # The complement of a rule is the same one only without a factor.
    assert overlaps_of_rules(mine, theirs, X).tolist() == [1.0, 0.0, 0.8, 1.0, 0.0]
    assert overlaps_of_rules(mine, RuleEnsemble.parse("+1 x0 if x0 <= 5"), X).tolist() == [0.6, 0.0, 0.0, 0.0, 0.0]


def test_every_group_is_drawn() -> None:
    bootstrap = Bootstrap(np.array([0] * 30 + [1]))
    draws = np.array([bootstrap.draw(seed) for seed in range(50)])
    assert (draws[:, -1] > 0).all()
    assert (draws.sum(axis=1) == 31).all()


# The intervals


def with_conditions(task: Task, method: Method) -> tuple[RuleEnsemble, Reweigh]:
    """Return an ensemble with conditions that were fixed in advance, and what fits its weights to drawn rows."""
    ensemble = RuleEnsemble([Rule(0.0, condition) for condition in CONDITIONS])
    weights = reweighing(ensemble, task, method)(np.ones(len(task.y)))
    ensemble = RuleEnsemble([Rule(*pair) for pair in zip(weights, CONDITIONS, strict=True)])
    return ensemble, reweighing(ensemble, task, method)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_intervals_cover_the_weight_in_the_population(loss: str) -> None:
    """That of a fit without shrinkage, as the documentation of `Stability` says."""
    rng = np.random.default_rng(0)

    def sample(n: int) -> Task:
        X = rng.normal(size=(n, 2))
        score = 0.3 + 0.9 * (X[:, 0] >= 0.5) - 0.6 * (X[:, 1] >= 0.0) + 0.3 * X[:, 1]  # not what the rules can express
        mean = LOSSES[loss].inverse_link(score)
        noise = rng.normal(size=n) * (1.0 + 0.5 * (X[:, 0] > 0.0))
        y = mean + noise if loss == "squared" else (rng.random(n) < mean) * 1.0
        return Task(Block.of_matrix(X), y, np.ones(n), LOSSES[loss], ("a", "b"))

    n, n_population = 200, 200_000
    true = [rule.weight for rule in with_conditions(sample(n_population), LLTBoost(ridge=0.0))[0]]
    hits = []
    for trial in range(120):
        task = sample(n)
        _, reweigh = with_conditions(task, LLTBoost())
        draws = list(range(1000 * trial, 1000 * trial + 100))
        intervals = weight_intervals(Bootstrap(task.loss.strata(task.y)), reweigh, 0.9, draws)
        hits.append((intervals[:, 0] <= true) & (true <= intervals[:, 1]))
    coverage = np.mean(hits, axis=0)
    assert (coverage >= 0.82).all()
    assert (coverage <= 0.97).all()


def sloped_task(scale: float = 1.0) -> tuple[RuleEnsemble, Task]:
    X, y = data()
    rules = RuleEnsemble.parse("+0 (x0 - 0.25)\n+0 x1 clipped to [-0.5, 0.5] if x0 >= 0\n+0 if x2 >= 0")
    factors = [None if (one := rule.factor) is None else Factor(one.column, *scaled(one, scale)) for rule in rules]
    tests = [Conjunction(p.with_numbers(p.weights, scale * p.threshold) for p in rule.condition) for rule in rules]
    ensemble = RuleEnsemble([Rule(0.0, *pair) for pair in zip(tests, factors, strict=True)])
    return ensemble, Task(Block.of_matrix(scale * X), y, np.ones(len(y)), LOSSES["logistic"])


def scaled(factor: Factor, scale: float) -> list[float]:
    return [scale * number for number in (factor.origin, factor.lower, factor.upper)]


def test_slopes_are_reweighed_as_they_are_fitted() -> None:
    ensemble, task = sloped_task()
    method, counts = LLTBoost(ridge=0.5), Bootstrap(task.loss.strata(task.y)).draw(0)
    drawn = replace(task, weight=counts)
    free = np.zeros(1 + len(ensemble), dtype=bool)
    expected = method.refitted(ensemble, drawn.sample, task.loss, ensemble.weight_table, free)
    np.testing.assert_allclose(reweighing(ensemble, task, method)(counts), expected[1:], rtol=1e-6)


def test_the_unit_of_a_slope_does_not_matter() -> None:
    in_units, in_thousandths = (
        reweighing(ensemble, task, LLTBoost(ridge=3.0))(task.weight) for ensemble, task in (sloped_task(), sloped_task(1024.0))
    )
    np.testing.assert_allclose(in_thousandths * [1024.0, 1024.0, 1.0], in_units, rtol=1e-9)


def test_draws_are_hardly_shrunk_and_intervals_reach_the_weight() -> None:
    X, y = data()
    model = fitted().edit(X, y).refit().model
    strongly = replace(model.model_, ridges=(500.0,) * len(model.path_), expected=())
    model.model_ = strongly
    model = model.edit(X, y).refit().model
    for one in model.stability(X, y, n_bootstraps=1, random_state=0):
        reached = one.interval[0] if one.weight > 0.0 else one.interval[1]
        assert reached == one.weight


# As a method


def test_a_slope_that_was_added_has_an_interval() -> None:
    X, y = data()
    model = fitted().edit(X, y).add("+0 (x1 - 0.5)").refit().model
    _, slope = model.stability(X, y, n_bootstraps=3, random_state=0)
    assert (slope.factor, slope.condition, slope.frequency) == ("(x1 - 0.5)", "True", 0.0)
    assert slope.interval[0] < slope.weight < slope.interval[1]
    text = str(model.stability(X, y, n_bootstraps=3, random_state=0)).split("\n")
    assert " (x1 - 0.5)  " in text[2]


def test_a_clear_rule_comes_back() -> None:
    model = fitted()
    result = model.stability(*data(), n_bootstraps=10, random_state=0)
    assert len(result) == len(model.ensemble_) == 1
    (rule,) = result
    assert rule.condition == model.ensemble_[0].condition.describe(model.ensemble_.feature_names)
    assert rule.frequency >= 0.8
    assert rule.mean_overlap >= 0.8
    assert rule.interval[0] < rule.weight == model.ensemble_[0].weight < rule.interval[1]


def test_a_rule_found_in_noise_does_not_come_back() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 5)), rng.normal(size=120)
    model = LLTBoostRegressor(max_rules=1, random_state=0).fit(X, y)
    assert max(rule.frequency for rule in model.stability(X, y, n_bootstraps=10, random_state=0)) <= 0.5


def test_rules_on_levels_and_missing_values_come_back() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(["red", "green", "blue", "teal"], 200), "age": rng.normal(size=200)})
    X.loc[rng.random(200) < 0.2, "age"] = np.nan
    y = 2.0 * X["colour"].isin(["red", "blue"]) + 1.0 * X["age"].isna() + rng.normal(0.0, 0.1, 200)
    model = LLTBoostRegressor(max_rules=2, random_state=0).fit(X, y)
    result = model.stability(X, y, n_bootstraps=5, random_state=0)
    assert [rule.condition for rule in result] == [rule.condition.describe(model.ensemble_.columns) for rule in model.ensemble_]
    assert {rule.condition.split()[0] for rule in result} == {"colour", "age"}
    assert all(rule.frequency == 1.0 and rule.interval[0] < rule.weight < rule.interval[1] for rule in result)


def test_same_result_for_any_number_of_workers() -> None:
    model = fitted()
    one, two = (model.stability(*data(), n_bootstraps=4, random_state=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two
    assert one != model.stability(*data(), n_bootstraps=4, random_state=4)


def test_table_and_dicts() -> None:
    result = fitted().stability(*data(), n_bootstraps=3, random_state=0)
    heading, line = str(result).splitlines()
    assert heading.split() == ["frequency", "overlap", "weight", "90", "%", "interval", "condition"]
    assert line.endswith(result.rules[0].condition)
    assert line.index(result.rules[0].condition) == heading.index("condition")
    assert result.to_dicts()[0]["frequency"] == result.rules[0].frequency


def test_the_model_stays_as_it_is_and_labels_are_its_own() -> None:
    X, y = data()
    model = LLTBoostClassifierCV(max_rules=1, effort=0, cv=3, random_state=0).fit(X, np.where(y == 1.0, "yes", "no"))
    before = dict(vars(model))
    result = model.stability(X, np.where(y == 1.0, "yes", "no"), n_bootstraps=2, random_state=0)
    assert len(result) == len(model.ensemble_)
    with pytest.raises(ValueError, match=r"^y must hold the labels that the model was fitted to, \['no', 'yes'\]"):
        model.stability(X, y)
    with pytest.raises(ValueError, match="features"):
        model.stability(X[:, :2], y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_bootstraps", 0), ("overlap", 1.5), ("overlap", "most"), ("confidence", 1.0), ("random_state", "x"), ("n_jobs", 0)],
)
def test_bad_parameters(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        fitted().stability(*data(), **{name: value})


def test_before_fit() -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        LLTBoostClassifier().stability(*data())


@pytest.mark.parametrize("n_counts", [1, 2])
def test_rare_counts_are_drawn_until_there_is_one(n_counts: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.zeros(60)
    y[:n_counts] = 2.0
    model = LLTBoostRegressor(loss="poisson", max_rules=1).fit(X, y)
    assert model.stability(X, y, n_bootstraps=20, random_state=0).n_bootstraps == 20


def test_rows_are_drawn_anew_until_they_will_do() -> None:
    bootstrap = Bootstrap(np.zeros(30, dtype=np.intp), lambda drawn: bool(drawn[7] and not drawn[8]))
    draws = np.array([bootstrap.draw(seed) for seed in range(50)])
    assert (draws[:, 7] > 0).all()
    assert (draws[:, 8] == 0).all()
    assert (draws.sum(axis=1) == 30).all()


# Many classes


def three_classes(n_rows: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs, and classes that two splits tell apart but for some noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    y = np.where(X[:, 0] > 0.2, "high", np.where(X[:, 1] > 0.0, "left", "right"))
    return X, np.where(rng.random(n_rows) < 0.15, rng.choice(["high", "left", "right"], n_rows), y)


def test_every_weight_of_a_class_has_an_interval() -> None:
    X, y = three_classes()
    model = LLTBoostClassifier(max_rules=3, random_state=0).fit(X, y)
    result = model.stability(X, y, n_bootstraps=8, random_state=0)
    assert result.classes == ("high", "left", "right")
    for rule, found in zip(model.ensemble_, result, strict=True):
        assert found.weight == rule.weight
        assert [interval is not None for interval in found.intervals] == [weight != 0.0 for weight in rule.weights]
        for weight, interval in zip(rule.weights, found.intervals, strict=True):
            assert interval is None or interval[0] < weight < interval[1]
    assert max(rule.frequency for rule in result) >= 0.8
    lines = str(result).splitlines()
    assert lines[0].split()[:4] == ["frequency", "overlap", "class", "weight"]
    assert len(lines) == 1 + sum(len(rule.classes_with_weight) for rule in model.ensemble_)
    record = result.to_dicts()[0]
    assert [record[f"weight of {name}"] for name in result.classes] == list(result[0].weight)
    assert [record[f"interval of {name}"] for name in result.classes] == list(result[0].intervals)


def test_an_interval_of_a_class_is_that_of_its_draws() -> None:
    X, y = three_classes()
    model = LLTBoostClassifier(max_rules=2, ridge=0.5, random_state=0).fit(X, y)
    task = Task(Block.of_matrix(X), model.model_.labels.encode(y), np.ones(len(y)), model.model_.loss, model.model_.labels)
    bootstrap, reweigh = Bootstrap(task.loss.strata(task.y)), reweighing(model.ensemble_, task, LLTBoost(ridge=model.ridge_))
    np.testing.assert_allclose(reweigh(np.ones(len(y))), model.ensemble_.weight_table[1:], atol=1e-5)
    draws = np.array([reweigh(bootstrap.draw(seed)) for seed in range(20)])
    found = weight_intervals(bootstrap, reweigh, 0.8, list(range(20)))
    assert found.shape == (*model.ensemble_.weight_table[1:].shape, 2)
    np.testing.assert_allclose(found[..., 0], np.quantile(draws, 0.1, axis=0))
    np.testing.assert_allclose(found[..., 1], np.quantile(draws, 0.9, axis=0))


def test_an_offset_is_needed() -> None:
    model = fitted()
    model.model_ = replace(model.model_, offset=Offset("offset", ("shift",)))
    with pytest.raises(ValueError, match="fitted with an offset and needs it here, too"):
        model.stability(*data())
