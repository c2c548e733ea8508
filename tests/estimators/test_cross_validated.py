"""The size that cross-validation chooses: by the rule, from honest folds, the same however many workers there are."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from obliquerules import (
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    TGBClassifierCV,
    load_model,
)
from obliquerules.data.sample import Sample
from obliquerules.learning.boosting.cv.folds import distinct_rows, splits_by_content
from obliquerules.learning.method import Task
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

SMALL = {"max_rules": 2, "max_variables": 2, "effort": 0, "cv": 2, "random_state": 0}
CLASSIFIER = LLTBoostClassifierCV(**SMALL)
REGRESSOR = LLTBoostRegressorCV(**SMALL)
COUNTER = LLTBoostRegressorCV(loss="poisson", **SMALL)
ALL = pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, COUNTER], ids=["classes", "numbers", "counts"])


def data(seed: int = 0, n_rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and a noisy target of 0 and 1, which does for all three tasks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0.0) * 1.0


def learned(model: Any) -> Any:
    """Return a copy of a model that is fitted to the data; nobody changes it."""
    return clone(model).fit(*data())


def between_members(fold: Any, losses: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the losses of rows at some complexities, interpolated between the members of the path of a fold."""
    own = [ensemble.complexity for ensemble in fold.path_]
    return np.array([np.interp(sizes, own, of_row) for of_row in losses.T]).T


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


# The rule


@ALL
@pytest.mark.parametrize("tolerance", ["1se", "paired", 0.02, 0.0])
def test_smallest_within_the_tolerance_of_the_best(model: Any, tolerance: Any) -> None:
    fitted = learned(clone(model).set_params(tolerance=tolerance))
    results = fitted.cv_results_
    risk, best = results["mean_test_risk"], results["mean_test_risk"].argmin()
    limits = {"1se": results["standard_error"][best], "paired": results["difference_standard_error"]}
    # A number is a share of what the best gains over the constant, and no more than a standard error.
    share = 0.0 if tolerance in limits else min(tolerance * (risk[0] - risk[best]), limits["1se"])
    within = risk - risk[best] <= limits.get(tolerance, share)
    within[0] |= tolerance != 0.0 and risk[0] - risk[best] <= limits["paired"][0]
    assert fitted.best_complexity_ == results["complexity"][best]
    assert fitted.complexity_ == results["complexity"][within].min() == fitted.ensemble_.complexity
    assert fitted.ensemble_ in fitted.path_


@ALL
def test_every_member_of_the_path_is_compared(model: Any) -> None:
    fitted = learned(model)
    assert fitted.cv_results_["complexity"].tolist() == [ensemble.complexity for ensemble in fitted.path_]
    assert fitted.model_.expected == tuple(fitted.cv_results_["mean_test_risk"].tolist())
    assert fitted.model_.standard_errors == tuple(fitted.cv_results_["standard_error"].tolist())
    model, chosen = fitted.model_, fitted.model_.chosen
    assert (fitted.risk_, fitted.risk_standard_error_) == (model.expected[chosen], model.standard_errors[chosen])


@ALL
def test_the_best_without_a_tolerance(model: Any) -> None:
    fitted = learned(clone(model).set_params(tolerance=0))
    assert fitted.complexity_ == fitted.best_complexity_ == fitted.ensemble_.complexity


def test_noise_gets_no_rule() -> None:
    rng = np.random.default_rng(0)
    model = clone(REGRESSOR)
    assert model.fit(rng.normal(size=(200, 3)), rng.normal(size=200)).complexity_ == 0


@ALL
def test_path_is_that_of_the_plain_estimator(model: Any) -> None:
    fitted = clone(model).set_params(effort=1, max_rules=3).fit(*data())
    plain = LLTBoostClassifier if model is CLASSIFIER else LLTBoostRegressor
    parameters = {name: value for name, value in fitted.get_params().items() if name in plain().get_params()}
    other = plain(**parameters).fit(*data())
    assert (fitted.path_, fitted.model_.ridges) == (other.path_, other.model_.ridges)


@ALL
@pytest.mark.parametrize("weighted", [False, True])
def test_risks_are_those_of_plain_fits_to_the_training_rows(model: Any, weighted: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 3, len(y)) * 1.0 if weighted else np.ones(len(y))
    folds = KFold(3)
    fitted = clone(model).set_params(cv=folds, effort=2).fit(X, y, weight)
    plain = LLTBoostClassifier() if model is CLASSIFIER else LLTBoostRegressor(loss=model.loss)
    loss = LOSSES["logistic"] if model is CLASSIFIER else LOSSES[model.loss]
    plain.set_params(max_rules=2, max_variables=2, effort=0)
    results = fitted.cv_results_
    losses = np.empty((len(results["complexity"]), len(y)))
    for k, (train, test) in enumerate(folds.split(X)):
        plain.fit(X[train], y[train], weight[train])
        members = np.array([loss.value(y[test], ensemble(X[test])) for ensemble in plain.path_])
        losses[:, test] = between_members(plain, members, results["complexity"])
        expected = np.average(losses[:, test], axis=1, weights=weight[test])
        np.testing.assert_allclose(results[f"split{k}_test_risk"], expected, rtol=1e-12)
    mean = np.average(losses, axis=1, weights=weight)
    np.testing.assert_allclose(results["mean_test_risk"], mean, rtol=1e-12)
    best = mean.argmin()
    excess = losses - losses[best]
    spread = weight * (excess - (mean - mean[best])[:, None]) ** 2  # a row of weight 2 is two
    np.testing.assert_allclose(results["difference"], mean - mean[best], atol=1e-12)
    n = weight.sum()
    np.testing.assert_allclose(results["difference_standard_error"], np.sqrt(spread.sum(axis=1) / (n * (n - 1))), atol=1e-12)
    spread = weight * (losses - mean[:, None]) ** 2
    np.testing.assert_allclose(results["standard_error"], np.sqrt(spread.sum(axis=1) / (n * (n - 1))), atol=1e-12)


def test_rows_count_as_often_as_they_are_tested() -> None:
    X, y = data(n_rows=60)
    rows = np.arange(60)
    # The first rows are tested twice, and the last are not tested.
    overlapping = [(rows[rows >= 20], rows[:20]), (rows[rows < 40], rows[40:55]), (rows[rows >= 30], rows[:30])]
    fitted = clone(REGRESSOR).set_params(cv=overlapping).fit(X, y)
    first, second, third = (fitted.cv_results_[f"split{k}_test_risk"] for k in range(3))
    # Each of 45 rows counts once: the third fold alone says what rows 20 to 29 lose.
    only_third = (30 * third - 20 * _risk_of_first_rows(overlapping[2], X, y, fitted)) / 10
    twice = (first + _risk_of_first_rows(overlapping[2], X, y, fitted)) / 2
    np.testing.assert_allclose(fitted.cv_results_["mean_test_risk"], (20 * twice + 10 * only_third + 15 * second) / 45)


def _risk_of_first_rows(split: Any, X: np.ndarray, y: np.ndarray, fitted: Any) -> np.ndarray:
    """Return the risk of the first 20 rows at each size, without the test rows of a split."""
    plain = LLTBoostRegressor(max_rules=2, max_variables=2, effort=0).fit(X[split[0]], y[split[0]])
    members = np.array([(y[:20] - predicted) ** 2 / 2 for predicted in plain.staged_predict(X[:20])])
    return between_members(plain, members, fitted.cv_results_["complexity"]).mean(axis=1)


# Folds


def test_folds_are_even_in_every_class() -> None:
    X, y = data(n_rows=103)
    sample = Sample.of(Block.of_matrix(X), y, np.ones(103))
    fold = sample.units.folds(sample.y.astype(np.intp), 5, seed=7)
    assert np.ptp(np.bincount(fold, minlength=5)) <= 1
    for label in (0.0, 1.0):
        assert np.ptp(np.bincount(fold[sample.y == label], minlength=5)) <= 1
    assert (fold != sample.units.folds(sample.y.astype(np.intp), 5, seed=8)).any()


@ALL
def test_a_row_given_twice_is_a_row_of_weight_two(model: Any, tmp_path: Path) -> None:
    X, y = data()
    times = np.random.default_rng(2).integers(0, 4, len(y))
    order = np.random.default_rng(3).permutation(int(times.sum()))
    weighted = clone(model).fit(X, y, times)
    repeated = clone(model).fit(X.repeat(times, axis=0)[order], y.repeat(times)[order])
    assert saved(weighted, tmp_path / "a.json") == saved(repeated, tmp_path / "b.json")
    for name, values in weighted.cv_results_.items():
        np.testing.assert_array_equal(values, repeated.cv_results_[name])


@ALL
@pytest.mark.parametrize("selection", ["information", "validation"])
def test_same_model_for_any_number_of_workers(model: Any, selection: str, tmp_path: Path) -> None:
    for seed in (0, np.random.RandomState(5)):
        model = clone(model).set_params(selection=selection, random_state=seed)
        alone, helped = (clone(model).set_params(n_jobs=n_jobs).fit(*data()) for n_jobs in (1, 2))
        for name, values in alone.cv_results_.items():
            np.testing.assert_array_equal(values, helped.cv_results_[name])
        assert saved(alone, tmp_path / "a.json") == saved(helped, tmp_path / "b.json")


def test_few_rows_are_a_fold_each() -> None:
    X, y = data(n_rows=4)
    fitted = LLTBoostRegressorCV(max_rules=1).fit(X, y)
    assert "split3_test_risk" in fitted.cv_results_
    assert "split4_test_risk" not in fitted.cv_results_


def passengers(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of few different kinds, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 8, n)]).astype(float)
    score = 2.0 * X[:, 0] - 0.8 * X[:, 1] + 1.5 * (X[:, 2] < 2.0) - 0.5
    return X, (score + rng.logistic(size=n) > 0.0).astype(int)


def test_the_risk_of_rows_of_few_kinds_is_that_of_new_rows() -> None:
    risks, losses = [], []
    for seed in range(3):
        X, y = passengers(600, seed)
        new_X, new_y = passengers(20_000, 100 + seed)
        fitted = TGBClassifierCV(max_rules=6, effort=0, cv=5).fit(X, y)
        risks.append(fitted.risk_)
        losses.append(log_loss(new_y, fitted.predict_proba(new_X)))
    assert np.mean(risks) == pytest.approx(np.mean(losses), rel=0.05)


def test_rows_of_few_kinds_are_dealt_by_chance_and_not_in_equal_parts() -> None:
    X, y = passengers(600, 0)
    task = distinct_rows(Task(Block.of_matrix(X), y * 1.0, np.ones(600), LOSSES["logistic"]))
    assert len(task.y) < 97
    splits = splits_by_content(task, 5, [3])
    assert len(splits) == 5
    total = np.zeros(len(task.y))
    for split in splits:
        tested = task.weight[split.test] * split.test_share
        total[split.test] += tested
        assert tested.sum() == pytest.approx(120.0, abs=1.0)
        learned = np.bincount(split.train, task.weight[split.train] * split.train_share, len(task.y))
        np.testing.assert_allclose(learned + np.bincount(split.test, tested, len(task.y)), task.weight)
    np.testing.assert_allclose(total, task.weight)
    shares = splits[0].test_share[task.weight[splits[0].test] >= 10.0]
    # The share of a fifth of k rows varies by about 0.4 / sqrt(k).
    assert 0.05 < np.std(shares) < 0.2


def test_splits_may_be_given_as_pairs() -> None:
    X, y = data()
    given = clone(CLASSIFIER).set_params(cv=list(StratifiedKFold(3).split(X, y))).fit(X, y)
    made = clone(CLASSIFIER).set_params(cv=StratifiedKFold(3)).fit(X, y)
    np.testing.assert_array_equal(given.cv_results_["mean_test_risk"], made.cv_results_["mean_test_risk"])


# Saving


@ALL
@pytest.mark.parametrize(("cv", "max_rules"), [(3, 1), (None, 1), (KFold(3), 3)], ids=["number", "default", "splitter"])
def test_saved_model_predicts_alike(model: Any, cv: Any, max_rules: int, tmp_path: Path) -> None:
    X, y = data()
    fitted = clone(model).set_params(cv=cv, max_rules=max_rules, tolerance=np.float64(0.02)).fit(X, y)
    text = saved(fitted, tmp_path / "model.json")
    schema = json.loads((files("obliquerules.rules") / "model.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(text))
    loaded = load_model(tmp_path / "model.json")
    assert type(loaded) is type(fitted)
    assert (loaded.path_, loaded.ensemble_) == (fitted.path_, fitted.ensemble_)
    assert loaded.cv == (3 if cv == 3 else None)
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert saved(loaded, tmp_path / "again.json") == text


# Bad input


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("cv", value) for value in (1, 0, -3, 2.5, "five", True, KFold, len)),
        *(("n_jobs", value) for value in (0, 1.0, "all", True)),
        *(("tolerance", value) for value in (-0.1, None, "yes", True)),
        *(("repeats", value) for value in (0, 1.5, None)),
        *(("ridge", value) for value in (-1.0, None, "most", True)),
    ],
    ids=str,
)
@ALL
def test_parameters(model: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        clone(model).set_params(**{name: value}).fit(*data())


@pytest.mark.parametrize(
    ("cv", "named"),
    [
        (ShuffleSplit(1), "at least 2 splits"),
        ([], "at least 2 splits"),
        (KFold(500), "cv cannot split the 80 rows"),
        ([1, 2], "cv cannot split the 80 rows"),
        ([([0, 1], [2]), ([0, 999], [2])], "cv cannot split the 80 rows: .*999"),
        ([(["a"], [2]), ([0, 1], [2])], "cv cannot split the 80 rows"),
    ],
    ids=["one", "none", "too many", "no pairs", "no such row", "no rows"],
)
def test_splits_that_will_not_do(cv: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        clone(REGRESSOR).set_params(cv=cv).fit(*data())


def test_too_few_rows() -> None:
    X, y = data()
    with pytest.raises(ValueError, match=r"^cv needs at least 2 rows with weight in each class; got 1"):
        clone(CLASSIFIER).fit(X, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv needs at least 2 rows with weight in all; got 1"):
        clone(REGRESSOR).fit(X, y, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv gives a fold on whose training rows no model can be fitted: y holds one class"):
        clone(CLASSIFIER).set_params(cv=KFold(2)).fit(X, np.arange(len(y)) < len(y) // 2)
    with pytest.raises(ValueError, match=r"^cv gives a fold on whose training rows no model can be fitted: y has nothing but"):
        clone(COUNTER).fit(X, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv gives a fold that has no test row with weight"):
        clone(REGRESSOR).set_params(cv=KFold(3)).fit(X, y, np.arange(len(y)) > 60)
