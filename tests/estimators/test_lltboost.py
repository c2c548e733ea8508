"""LLTBoost as a user meets it: it learns, its path and its rules are what they say, and nothing irrelevant changes them."""

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from obliquerules import LLTBoostClassifier, LLTBoostRegressor

from .little import little, saved

Data = tuple[np.ndarray, np.ndarray]
SETTINGS = {"selection": "validation", "random_state": 0}
CLASSIFIER = LLTBoostClassifier(**SETTINGS)
SMALL_CLASSIFIER = LLTBoostClassifier(max_rules=4, **SETTINGS)
SMALL_REGRESSOR = LLTBoostRegressor(max_rules=4, **SETTINGS)
SMALL_COUNTER = LLTBoostRegressor(loss="poisson", max_rules=4, **SETTINGS)
SMALL = pytest.mark.parametrize(
    "model", [SMALL_CLASSIFIER, SMALL_REGRESSOR, SMALL_COUNTER], ids=["classes", "numbers", "counts"]
)


@pytest.fixture(scope="module")
def cancer() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def fitted(cancer: Data) -> LLTBoostClassifier:
    return clone(CLASSIFIER).fit(*cancer)


# It learns


def test_classifies_breast_cancer(cancer: Data) -> None:
    X, X_test, y, y_test = train_test_split(*cancer, test_size=0.3, random_state=0)
    model = clone(CLASSIFIER).fit(X, y)
    assert model.score(X_test, y_test) > 0.93
    assert model.at(8).score(X_test, y_test) > 0.9


def test_predicts_friedman() -> None:
    X, y = make_friedman1(1500, noise=1.0, random_state=0)
    model = LLTBoostRegressor(**SETTINGS).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.6


def test_predicts_counts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = rng.poisson(np.exp(0.3 + 1.2 * (X[:, 0] + X[:, 1] > 0.5) - 0.8 * (X[:, 2] > 1.0)))
    model = LLTBoostRegressor(loss="poisson", **SETTINGS).fit(X[:1000], y[:1000])
    constant = mean_poisson_deviance(y[1000:], np.full(1000, y[:1000].mean()))
    truth = mean_poisson_deviance(y[1000:], np.exp(0.3 + 1.2 * (X[1000:, 0] + X[1000:, 1] > 0.5) - 0.8 * (X[1000:, 2] > 1.0)))
    reached = mean_poisson_deviance(y[1000:], model.predict(X[1000:]))
    assert (constant - reached) / (constant - truth) > 0.8


def test_finds_one_oblique_rule() -> None:
    X = np.random.default_rng(0).normal(size=(500, 6))
    model = LLTBoostClassifier(max_rules=1, **SETTINGS).fit(X, 2.0 * X[:, 1] - X[:, 4] > 0.5)
    (rule,) = model.ensemble_
    (proposition,) = rule.condition
    assert proposition.columns[:2] == (1, 4)
    np.testing.assert_allclose(proposition.weights[:2], [1.0, -0.5], atol=0.05)
    assert proposition.threshold == pytest.approx(0.25, abs=0.05)
    assert rule.weight > 0.0
    assert model.score(X, 2.0 * X[:, 1] - X[:, 4] > 0.5) > 0.97


def test_respects_the_limits(cancer: Data) -> None:
    model = LLTBoostClassifier(max_rules=3, max_propositions=2, max_variables=2, **SETTINGS).fit(*cancer)
    assert len(model.ensemble_) <= 3
    assert max(len(rule.condition) for rule in model.ensemble_) <= 2
    assert max(len(proposition.columns) for rule in model.ensemble_ for proposition in rule.condition) <= 2


def test_constant_columns_and_targets_leave_the_constant() -> None:
    X, y, _ = little()
    assert LLTBoostClassifier(**SETTINGS).fit(np.ones_like(X), y).n_iter_ == 0
    model = LLTBoostRegressor(**SETTINGS).fit(X, np.full(len(X), 2.5))
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-12)


# The path


def test_path_starts_with_the_best_constant(fitted: LLTBoostClassifier, cancer: Data) -> None:
    # That of the rows that are not held out, which have the same share of each class, up to a row.
    assert expit(fitted.path_[0].intercept) == pytest.approx(cancer[1].mean(), abs=2.0 / len(cancer[1]))
    X, y, weight = little()
    model = LLTBoostRegressor(**SETTINGS).set_params(validation_fraction=0.0).fit(X, y, weight)
    assert model.path_[0].intercept == pytest.approx(np.average(y, weights=weight))


def test_path_has_one_more_rule_at_each_step(fitted: LLTBoostClassifier) -> None:
    assert [len(ensemble) for ensemble in fitted.path_] == list(range(fitted.n_iter_ + 1))
    complexities = [ensemble.complexity for ensemble in fitted.path_]
    assert complexities == sorted(set(complexities))
    assert fitted.ensemble_ is fitted.path_[-1]
    for shorter, longer in zip(fitted.path_, fitted.path_[1:], strict=False):
        assert [rule.condition for rule in shorter] == [rule.condition for rule in longer][:-1]


def test_shorter_fit_is_the_start_of_a_longer_one(fitted: LLTBoostClassifier, cancer: Data) -> None:
    assert clone(CLASSIFIER).set_params(max_rules=4).fit(*cancer).path_ == fitted.path_[:5]


def test_training_risk_falls_along_the_path(cancer: Data) -> None:
    X, y = cancer
    model = clone(CLASSIFIER).set_params(ridge=0.01).fit(X, y)
    risks = [np.log1p(np.exp(np.where(y == 1, -score, score))).mean() for score in model.staged_decision_function(X)]
    assert risks == sorted(risks, reverse=True)


@pytest.mark.parametrize("complexity", [0, 1, 5, 10, 20, 1000, np.int64(12)])
def test_at_takes_the_largest_that_is_small_enough(fitted: LLTBoostClassifier, cancer: Data, complexity: int) -> None:
    small = fitted.at(complexity)
    expected = max(e.complexity for e in fitted.path_ if e.complexity <= complexity)
    assert small.ensemble_.complexity == expected
    assert small.path_ is fitted.path_
    assert fitted.ensemble_ is fitted.path_[-1]
    assert small.at(1000).ensemble_ is fitted.ensemble_
    np.testing.assert_array_equal(small.decision_function(cancer[0]), small.ensemble_(cancer[0]))


@SMALL
def test_stages_agree_with_the_path(model: Any) -> None:
    X, y, _ = little()
    model = clone(model).fit(X, y)
    members = [model.at(ensemble.complexity) for ensemble in model.path_]
    for stage, member in zip(model.staged_predict(X), members, strict=True):
        np.testing.assert_array_equal(stage, member.predict(X))
    if hasattr(model, "classes_"):
        for stage, member in zip(model.staged_decision_function(X), members, strict=True):
            np.testing.assert_array_equal(stage, member.decision_function(X))
        for stage, member in zip(model.staged_predict_proba(X), members, strict=True):
            np.testing.assert_array_equal(stage, member.predict_proba(X))


# Scores and predictions


def test_ensemble_is_the_decision_function(fitted: LLTBoostClassifier, cancer: Data) -> None:
    X, _ = cancer
    np.testing.assert_array_equal(fitted.ensemble_(X), fitted.decision_function(X))
    by_hand = np.full(len(X), fitted.ensemble_.intercept)
    for rule, fired in zip(fitted.ensemble_, fitted.ensemble_.fires(X).T, strict=True):
        by_hand = by_hand + np.where(fired, rule.weight, 0.0)
    np.testing.assert_array_equal(by_hand, fitted.decision_function(X))


def test_probabilities_and_classes_follow_from_the_score(fitted: LLTBoostClassifier, cancer: Data) -> None:
    X, _ = cancer
    score, probability = fitted.decision_function(X), fitted.predict_proba(X)
    np.testing.assert_allclose(probability[:, 1], expit(score), rtol=1e-15)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[(score > 0.0).astype(int)])
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[probability.argmax(axis=1)])


def test_regressors_predict_through_the_link() -> None:
    X, y, _ = little()
    numbers, counts = clone(SMALL_REGRESSOR).fit(X, y), clone(SMALL_COUNTER).fit(X, y)
    np.testing.assert_array_equal(numbers.predict(X), numbers.ensemble_(X))
    np.testing.assert_array_equal(counts.predict(X), np.exp(counts.ensemble_(X)))


LABELS = [("no", "yes"), (False, True), (0, 1), (-1, 1), (7, 40), (0.0, 1.0), (2.0, 3.0), ("", "ü")]


@pytest.mark.parametrize(("low", "high"), LABELS)
@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series, pa.array], ids=lambda make: make.__module__)
def test_any_labels_give_the_same_rules(low: Any, high: Any, make: Callable[[Any], Any]) -> None:
    X, y, _ = little(n_rows=60)
    reference = clone(SMALL_CLASSIFIER).fit(X, y)
    model = clone(SMALL_CLASSIFIER).fit(X, make([high if positive else low for positive in y]))
    assert model.path_ == reference.path_
    assert model.classes_.tolist() == [low, high]
    assert set(model.predict(X).tolist()) <= {low, high}
    assert type(model.predict(X).tolist()[0]) is type(low)


# Data frames

FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def columns() -> dict[str, np.ndarray]:
    X, _, _ = little()
    return {
        "age": X[:, 0],
        "blood pressure": X[:, 1].astype(np.float32),
        "größe": np.rint(2.0 * X[:, 2]).astype(np.int32),
        "n": np.rint(3.0 * X[:, 3]),
    }


@pytest.mark.parametrize("library", FRAMES)
@SMALL
def test_frames_give_the_rules_of_the_array_in_their_own_names(model: Any, library: str) -> None:
    _, y, weight = little()
    frame = FRAMES[library](columns())
    matrix = np.column_stack([column.astype(float) for column in columns().values()])
    named, plain = clone(model).fit(frame, y, weight), clone(model).fit(matrix, y, weight)
    assert [e.rules for e in named.path_] == [e.rules for e in plain.path_]
    np.testing.assert_array_equal(named.predict(frame), plain.predict(matrix))
    np.testing.assert_array_equal(named.ensemble_(frame), plain.ensemble_(matrix))
    assert named.feature_names_in_.tolist() == list(columns())
    assert "age" in str(named.ensemble_)
    assert "x0" in str(plain.ensemble_)
    assert str(named.ensemble_) == str(type(plain.ensemble_)(plain.ensemble_.rules, plain.ensemble_.intercept, list(columns())))


def test_all_frames_give_the_same_file(tmp_path: Path) -> None:
    _, y, _ = little()
    files = {saved(clone(SMALL_CLASSIFIER).fit(make(columns()), y), tmp_path) for make in FRAMES.values()}
    assert len(files) == 1


def test_integer_names_count_as_none() -> None:
    X, y, _ = little()
    model = clone(SMALL_CLASSIFIER).fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.ensemble_ == clone(SMALL_CLASSIFIER).fit(X, y).ensemble_


def test_refit_forgets_the_names() -> None:
    _, y, _ = little()
    model = clone(SMALL_CLASSIFIER).fit(pd.DataFrame(columns()), y).fit(little()[0], y)
    assert not hasattr(model, "feature_names_in_")
    assert "age" not in str(model.ensemble_)


# What must not matter


@SMALL
@settings(max_examples=10)
@given(column=st.integers(0, 3), factor=st.sampled_from([1000.0, 1e-3, 2.54, 1e12, 1e-12]))
def test_unit_of_a_column_changes_no_prediction(model: Any, column: int, factor: float) -> None:
    X, y, _ = little()
    scaled = X.copy()
    scaled[:, column] *= factor
    one, other = clone(model).fit(X, y), clone(model).fit(scaled, y)
    np.testing.assert_allclose(other.predict(scaled), one.predict(X), rtol=1e-9)
    np.testing.assert_allclose(other.ensemble_(scaled), one.ensemble_(X), rtol=1e-9)
    assert [e.complexity for e in one.path_] == [e.complexity for e in other.path_]


@pytest.mark.parametrize("column", range(0, 30, 3))
def test_unit_changes_no_prediction_on_real_data(fitted: LLTBoostClassifier, cancer: Data, column: int) -> None:
    X, y = cancer
    scaled = X.copy()
    scaled[:, column] *= 1000.0
    other = clone(CLASSIFIER).fit(scaled, y)
    np.testing.assert_allclose(other.decision_function(scaled), fitted.decision_function(X), rtol=1e-9)


# With an offset of 1e6, values closer than about 1e-3 count as equal: these columns have larger steps.
@pytest.mark.parametrize("column", [0, 1, 2, 3, 13, 20, 21, 22, 23])
def test_offset_changes_no_prediction(fitted: LLTBoostClassifier, cancer: Data, column: int) -> None:
    X, y = cancer
    shifted = X.copy()
    shifted[:, column] += 1e6
    other = clone(CLASSIFIER).fit(shifted, y)
    np.testing.assert_allclose(other.decision_function(shifted), fitted.decision_function(X), rtol=1e-6)


@SMALL
def test_two_fits_give_the_same_file(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    assert saved(clone(model).fit(X, y, weight), tmp_path) == saved(clone(model).fit(X, y, weight), tmp_path)


@SMALL
def test_fitting_twice_is_fitting_once(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    other_X, other_y, _ = little(seed=1, n_rows=40)
    twice = clone(model).fit(other_X[:, :2], other_y).at(3).fit(X, y, weight)
    assert saved(twice, tmp_path) == saved(clone(model).fit(X, y, weight), tmp_path)


@SMALL
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_the_rows_does_not_matter(model: Any, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    X, y, _ = little()
    weight = np.random.default_rng(1).random(len(y))
    X, y = np.vstack([X, X[:50]]), np.append(y, y[:50])
    weight = np.append(weight, np.random.default_rng(2).random(50))
    order = np.random.default_rng(seed).permutation(len(y))
    directory = tmp_path_factory.getbasetemp()
    for weights in (None, weight):
        one = clone(model).fit(X, y, weights)
        other = clone(model).fit(X[order], y[order], None if weights is None else weights[order])
        assert saved(one, directory) == saved(other, directory)


def test_order_of_the_rows_does_not_matter_on_real_data(fitted: LLTBoostClassifier, cancer: Data, tmp_path: Path) -> None:
    X, y = cancer
    order = np.random.default_rng(0).permutation(len(y))
    assert saved(clone(CLASSIFIER).fit(X[order], y[order]), tmp_path) == saved(fitted, tmp_path)


def test_layout_and_type_of_the_array_do_not_matter(tmp_path: Path) -> None:
    X, y, _ = little()
    X = np.rint(4.0 * X)
    layouts = [X, np.asfortranarray(X), X[::-1][::-1], X.astype(np.float32), X.astype(np.int8), X.tolist()]
    assert len({saved(clone(SMALL_CLASSIFIER).fit(layout, y), tmp_path) for layout in layouts}) == 1


@SMALL
def test_weight_two_is_the_row_twice(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    times = np.rint(4.0 * weight).astype(int)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert saved(clone(model).fit(X, y, times), tmp_path) == saved(repeated, tmp_path)


@SMALL
def test_weight_zero_is_no_row(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    weight[::3] = 0.0
    X_strange, y_strange = X.copy(), y.copy()
    X_strange[::3] = 1e6
    y_strange[::3] = 1.0
    without = clone(model).fit(X[weight > 0.0], y[weight > 0.0], weight[weight > 0.0])
    assert saved(clone(model).fit(X_strange, y_strange, weight), tmp_path) == saved(without, tmp_path)


def test_weights_matter() -> None:
    X, y, _ = little()
    model = clone(SMALL_CLASSIFIER).set_params(ridge=4.0)
    for_positive = model.fit(X, y, np.where(y == 1.0, 5.0, 1.0)).predict_proba(X)[:, 1].mean()
    assert for_positive > model.fit(X, y).predict_proba(X)[:, 1].mean() + 0.02


def test_number_of_workers_does_not_matter(cancer: Data, tmp_path: Path) -> None:
    files = []
    for n_jobs in (1, 2):
        results = cross_validate(clone(CLASSIFIER), *cancer, cv=4, n_jobs=n_jobs, return_estimator=True)
        fits = joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(clone(CLASSIFIER).fit)(*cancer) for _ in range(2))
        files.append([saved(model, tmp_path) for model in (*results["estimator"], *fits)])
    assert files[0] == files[1]
    assert len(set(files[0])) == 5


# Randomness


def test_random_state(cancer: Data) -> None:
    def path(random_state: Any) -> Any:
        return clone(CLASSIFIER).set_params(random_state=random_state, max_rules=3).fit(*cancer).path_

    assert path(5) == path(np.random.RandomState(5)) == path(np.int64(5))
    assert path(5) != path(6)
    generator = np.random.RandomState(5)
    assert path(generator) != path(generator)


def test_global_randomness_is_used_only_if_asked() -> None:
    X, y, _ = little()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    clone(SMALL_CLASSIFIER).fit(X, y)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


# Manners


@SMALL
def test_verbose_writes_to_standard_error_only(model: Any, capfd: pytest.CaptureFixture[str]) -> None:
    X, y, _ = little()
    loud = clone(model).set_params(verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == len(loud.path_)
    assert str(loud.ensemble_).splitlines()[-1] in err
    clone(model).fit(X, y).predict(X)
    assert capfd.readouterr() == ("", "")


@SMALL
def test_clone_and_pickle(model: Any, tmp_path: Path) -> None:
    X, y, _ = little()
    fitted = clone(model).fit(X, y).at(6)
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "path_")
    again = pickle.loads(pickle.dumps(fitted))
    assert again.ensemble_ == fitted.ensemble_ != fitted.path_[-1]
    assert saved(again, tmp_path) == saved(fitted, tmp_path)
    joblib.dump(fitted, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib").predict(X), fitted.predict(X))


def test_fit_does_not_touch_its_inputs() -> None:
    X, y, weight = little()
    copies = X.copy(), y.copy(), weight.copy()
    for array in (X, y, weight):
        array.setflags(write=False)
    for model in (SMALL_CLASSIFIER, SMALL_REGRESSOR, SMALL_COUNTER):
        fitted = clone(model).fit(X, y, weight)
        fitted.predict(X)
        assert fitted.get_params() == model.get_params()
    for array, copy in zip((X, y, weight), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_grid_search(cancer: Data) -> None:
    X, y = cancer
    grid = {"max_rules": [1, 3], "ridge": [0.1, 10.0]}
    search = GridSearchCV(clone(CLASSIFIER), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert isinstance(search.best_estimator_, LLTBoostClassifier)


def test_pipeline(cancer: Data) -> None:
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIER)).fit(X, y, lltboostclassifier__sample_weight=np.ones(len(y)))
    assert pipeline.score(X, y) > 0.95
    framed = make_pipeline(StandardScaler().set_output(transform="pandas"), clone(SMALL_CLASSIFIER))
    framed.fit(pd.DataFrame(X, columns=load_breast_cancer().feature_names), y)
    assert "worst" in str(framed[-1].ensemble_)


def test_cross_validated_predictions(cancer: Data) -> None:
    X, y = cancer
    probability = cross_val_predict(clone(SMALL_CLASSIFIER), X, y, cv=3, method="predict_proba")
    assert ((probability[:, 1] > 0.5) == y).mean() > 0.9


def test_representations_do_not_fail(fitted: LLTBoostClassifier) -> None:
    assert "LLTBoostClassifier" in repr(fitted)
    assert "LLTBoostClassifier" in fitted._repr_html_()


def test_array_for_a_model_with_names_warns_as_scikit_learn_does() -> None:
    _, y, _ = little()
    frame = pd.DataFrame(columns())
    model = clone(SMALL_CLASSIFIER).fit(frame, y)
    with pytest.warns(UserWarning, match="feature names"):
        plain = model.predict(frame.to_numpy(dtype=float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(frame), plain)


@pytest.mark.parametrize("seed", [23, 41, *range(100, 110)])
def test_row_weights_over_sixteen_orders_of_magnitude_are_fitted(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    X = rng.normal(size=(n, 3)).round(1)
    y = X[:, 0] + rng.normal(size=n) > 0.0
    model = LLTBoostClassifier(random_state=seed, max_rules=5).fit(X, y, sample_weight=10.0 ** rng.uniform(-8.0, 8.0, n))
    assert all(abs(rule.weight) < 1000.0 for rule in model.ensemble_)
