"""The size that cross-validation chooses: by the rule, from honest folds, the same however many workers there are."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor, LLTBoostRegressorCV, load_model
from obliquerules.boosting.cross_validated import FoldRisks
from obliquerules.losses import LOSSES
from obliquerules.rows.sample import Sample

SMALL = {"max_rules": 3, "max_variables": 2, "cv": 3, "random_state": 0}
CLASSIFIER = LLTBoostClassifierCV(**SMALL)
REGRESSOR = LLTBoostRegressorCV(**SMALL)
COUNTER = LLTBoostRegressorCV(loss="poisson", **SMALL)
ALL = pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, COUNTER], ids=["classes", "numbers", "counts"])


def data(seed: int = 0, n_rows: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and a noisy target of 0 and 1, which does for all three tasks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0.0) * 1.0


def saved(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


# The rule


@ALL
def test_smallest_within_one_standard_error_of_the_best(model: Any) -> None:
    fitted = clone(model).fit(*data())
    results = fitted.cv_results_
    best = results["mean_test_risk"].argmin()
    limit = results["mean_test_risk"][best] + results["standard_error"][best]
    assert fitted.best_complexity_ == results["complexity"][best]
    assert fitted.complexity_ == results["complexity"][results["mean_test_risk"] <= limit].min() == fitted.ensemble_.complexity
    assert fitted.ensemble_ in fitted.path_
    assert results["complexity"].tolist() == [ensemble.complexity for ensemble in fitted.path_]


@ALL
def test_the_best_if_that_is_wanted(model: Any) -> None:
    fitted = clone(model).set_params(one_standard_error=False).fit(*data())
    assert fitted.complexity_ == fitted.best_complexity_ == fitted.ensemble_.complexity


def test_noise_gets_no_rule() -> None:
    rng = np.random.default_rng(0)
    assert clone(REGRESSOR).fit(rng.normal(size=(200, 3)), rng.normal(size=200)).complexity_ == 0


@ALL
def test_path_is_that_of_the_plain_estimator(model: Any) -> None:
    fitted = clone(model).fit(*data())
    plain = LLTBoostClassifier if model is CLASSIFIER else LLTBoostRegressor
    parameters = {name: value for name, value in model.get_params().items() if name in plain().get_params()}
    assert fitted.path_ == plain(**parameters).fit(*data()).path_


def test_a_fold_counts_with_its_largest_member_of_at_most_the_complexity() -> None:
    fold = FoldRisks(np.array([0, 3, 7]), np.array([9.0, 5.0, 1.0]))
    assert fold.at(np.array([0, 2, 3, 6, 7, 20])).tolist() == [9.0, 9.0, 5.0, 5.0, 1.0, 1.0]


@ALL
@pytest.mark.parametrize("weighted", [False, True])
def test_risks_are_those_of_plain_fits_to_the_training_rows(model: Any, weighted: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 3, len(y)) * 1.0 if weighted else None
    folds = KFold(3)
    fitted = clone(model).set_params(cv=folds).fit(X, y, weight)
    plain = LLTBoostClassifier() if model is CLASSIFIER else LLTBoostRegressor(loss=model.loss)
    loss = LOSSES["logistic"] if model is CLASSIFIER else LOSSES[model.loss]
    plain.set_params(max_rules=3, max_variables=2)
    for k, (train, test) in enumerate(folds.split(X)):
        plain.fit(X[train], y[train], None if weight is None else weight[train])
        expected = [
            np.average(loss.value(y[test], plain.at(c).ensemble_(X[test])), weights=None if weight is None else weight[test])
            for c in fitted.cv_results_["complexity"].tolist()
        ]
        np.testing.assert_allclose(fitted.cv_results_[f"split{k}_test_risk"], expected, rtol=1e-12)
    risks = np.array([fitted.cv_results_[f"split{k}_test_risk"] for k in range(3)])
    np.testing.assert_allclose(fitted.cv_results_["mean_test_risk"], risks.mean(axis=0))
    np.testing.assert_allclose(fitted.cv_results_["standard_error"], risks.std(axis=0, ddof=1) / np.sqrt(3))


# Folds


def test_folds_are_even_in_every_class() -> None:
    X, y = data(n_rows=103)
    sample = Sample.of(X, y, np.ones(103))
    fold = sample.folds(sample.y.astype(np.intp), 5, seed=7)
    assert np.ptp(np.bincount(fold, minlength=5)) <= 1
    for label in (0.0, 1.0):
        assert np.ptp(np.bincount(fold[sample.y == label], minlength=5)) <= 1
    assert (fold != sample.folds(sample.y.astype(np.intp), 5, seed=8)).any()


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


def test_few_different_rows_are_a_fold_each() -> None:
    X, y = data(n_rows=4)
    fitted = LLTBoostRegressorCV(max_rules=1).fit(X, y)
    assert "split3_test_risk" in fitted.cv_results_
    assert "split4_test_risk" not in fitted.cv_results_


def test_splits_may_be_given_as_pairs() -> None:
    X, y = data()
    given = clone(CLASSIFIER).set_params(cv=list(StratifiedKFold(3).split(X, y))).fit(X, y)
    made = clone(CLASSIFIER).set_params(cv=StratifiedKFold(3)).fit(X, y)
    np.testing.assert_array_equal(given.cv_results_["mean_test_risk"], made.cv_results_["mean_test_risk"])


# Saving


@ALL
@pytest.mark.parametrize("cv", [3, None, KFold(3)], ids=["number", "default", "splitter"])
def test_saved_model_predicts_alike(model: Any, cv: Any, tmp_path: Path) -> None:
    X, y = data()
    fitted = clone(model).set_params(cv=cv, one_standard_error=np.True_).fit(X, y)
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
        *(("one_standard_error", value) for value in (1, None, "yes")),
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
        (KFold(500), "cv cannot split the 150 rows"),
        ([1, 2], "cv cannot split the 150 rows"),
        ([([0, 1], [2]), ([0, 999], [2])], "cv cannot split the 150 rows: .*999"),
        ([(["a"], [2]), ([0, 1], [2])], "cv cannot split the 150 rows"),
    ],
    ids=["one", "none", "too many", "no pairs", "no such row", "no rows"],
)
def test_splits_that_will_not_do(cv: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        clone(REGRESSOR).set_params(cv=cv).fit(*data())


def test_too_few_rows() -> None:
    X, y = data()
    with pytest.raises(ValueError, match=r"^cv needs at least 2 different rows with weight in each class; got 1"):
        clone(CLASSIFIER).fit(X, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv needs at least 2 different rows with weight in all; got 1"):
        clone(REGRESSOR).fit(X, y, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv gives a fold on whose training rows no model can be fitted: y holds one class"):
        clone(CLASSIFIER).set_params(cv=KFold(2)).fit(X, np.arange(len(y)) < len(y) // 2)
    with pytest.raises(ValueError, match=r"^cv gives a fold on whose training rows no model can be fitted: y has nothing but"):
        clone(COUNTER).fit(X, np.arange(len(y)) == 0)
    with pytest.raises(ValueError, match=r"^cv gives a fold that has no test row with weight"):
        clone(REGRESSOR).set_params(cv=KFold(3)).fit(X, y, np.arange(len(y)) > 60)
