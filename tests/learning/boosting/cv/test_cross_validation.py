"""Cross-validation as a method: the path and the choice of the estimators, around any method that boosts."""

import dataclasses
import pickle
import warnings

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.learning.boosting.cv.cross_validation import TGBCV, LLTBoostCV, fold_losses
from obliquerules.learning.boosting.cv.folds import Split
from obliquerules.learning.boosting.lltboost import LLTBoost
from obliquerules.learning.method import GivenRows

from ..tasks import LOSS_NAMES, data, estimator_of, task_of

SMALL = {"max_rules": 2, "max_propositions": 2, "max_variables": 2, "effort": 0, "cv": 2, "random_state": 0}
every_kind = pytest.mark.parametrize("kind", LOSS_NAMES)


def estimator(kind, **parameters):
    return estimator_of(kind, LLTBoostClassifierCV, LLTBoostRegressorCV, **SMALL | parameters)


def assert_grows_the_same(parameters, kind, X, y, weight=None):
    task = task_of(kind, X, y, weight)
    counted = task.weight > 0.0
    all_rows = GivenRows(np.where(counted, np.cumsum(counted) - 1, -1), task.y, None)
    task = dataclasses.replace(task.on(np.flatnonzero(counted)), given=all_rows)
    growth = LLTBoostCV(**SMALL | parameters).grow(task)
    fitted = estimator(kind, **parameters).fit(X, y, weight)
    assert growth.path == fitted.path_
    assert growth.path[growth.chosen] == fitted.ensemble_
    assert growth.n_iter == fitted.n_iter_
    assert growth.notes["complexity_"] == fitted.complexity_
    assert growth.notes["best_complexity_"] == fitted.best_complexity_
    assert list(growth.notes["cv_results_"]) == list(fitted.cv_results_)
    for name, values in fitted.cv_results_.items():
        np.testing.assert_array_equal(growth.notes["cv_results_"][name], values)


@every_kind
@pytest.mark.parametrize("selection", ["information", "validation"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_is_that_of_the_estimator(kind, selection, weighted):
    X, y, weight = data(kind)
    assert_grows_the_same({"selection": selection}, kind, X, y, weight if weighted else None)


@pytest.mark.parametrize(
    "parameters",
    [
        {"cv": None, "max_rules": 1},
        {"cv": KFold(3)},
        {"cv": list(StratifiedKFold(3).split(np.zeros(120), data("classes")[1]))},
        {"tolerance": 0.0},
        {"tolerance": "paired", "repeats": 2},
    ],
    ids=["five folds", "splitter", "pairs", "best", "paired"],
)
def test_so_it_is_for_every_way_to_choose(parameters):
    X, y, weight = data("classes")
    assert_grows_the_same(parameters, "classes", X, y, weight)


def test_weights_that_are_shares_and_rows_given_twice():
    X, y, weight = data("numbers")
    assert_grows_the_same({}, "numbers", X, y, weight / weight.sum())
    assert_grows_the_same({"cv": KFold(3)}, "numbers", X, y, weight / weight.sum())


def test_a_random_state_moves_on_as_in_the_estimator():
    X, y, _ = data("classes")
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    parameters = {"selection": "validation", "max_rules": 1}
    growth = LLTBoostCV(**SMALL | parameters | {"random_state": ours}).grow(task_of("classes", X, y))
    fitted = estimator("classes", random_state=theirs, **parameters).fit(X, y)
    assert growth.path == fitted.path_
    np.testing.assert_array_equal(growth.notes["cv_results_"]["mean_test_risk"], fitted.cv_results_["mean_test_risk"])
    assert ours.randint(10**9) == theirs.randint(10**9)


def test_only_the_fit_to_all_rows_is_reported(capsys, still):
    X, y, _ = data("classes")
    task = task_of("classes", X, y, learner="LLTBoostClassifierCV", stopwatch=still)
    LLTBoostCV(**SMALL | {"max_rules": 1, "verbose": 1}).grow(task)
    reported = capsys.readouterr().err
    estimator("classes", max_rules=1, verbose=1).fit(X, y)
    assert reported == capsys.readouterr().err
    assert reported.count("the best constant") == 1


def test_workers_in_other_processes_find_the_same_losses():
    X, y, weight = data("classes")
    split = Split(np.arange(80), np.arange(80, 120))
    method = LLTBoost(max_rules=2, max_variables=2, effort=0)
    here = (method, np.array([0, 3, 5]), task_of("classes", X, y, weight), split)
    there = pickle.loads(pickle.dumps(here))
    np.testing.assert_array_equal(fold_losses(*there).loss, fold_losses(*here).loss)


def test_between_the_members_of_a_fold_losses_are_interpolated():
    X, y, _ = data("numbers")
    task, method = task_of("numbers", X, y), LLTBoost(max_rules=2, max_variables=2, effort=0)
    train, test = np.arange(80), np.arange(80, 120)
    path = method.grow(task.on(train)).path
    own = np.array([ensemble.complexity for ensemble in path])
    losses = np.array([task.loss.value(y[test], member(X[test])) for member in path])
    sizes = np.arange(own[-1] + 3)
    found = fold_losses(method, sizes, task, Split(train, test)).loss
    for row, row_losses in enumerate(losses.T):
        np.testing.assert_allclose(found[:, row], np.interp(sizes, own, row_losses), rtol=1e-12)
    np.testing.assert_array_equal(found[own], losses)


def test_the_number_of_workers_does_not_matter():
    X, y, _ = data("classes")
    task, parameters = task_of("classes", X, y), SMALL | {"selection": "validation"}
    with joblib.parallel_config(backend="threading"):
        one, two = (LLTBoostCV(n_jobs=n_jobs, **parameters).grow(task) for n_jobs in (1, 2))
    assert one.path == two.path
    np.testing.assert_array_equal(one.notes["cv_results_"]["mean_test_risk"], two.notes["cv_results_"]["mean_test_risk"])


@every_kind
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"effort": 1, "cv": KFold(2)},
        {"ridge": 4.0, "linear_terms": False},
        {"linear_terms": "only"},
        {"selection": "validation"},
        {"selection": "validation", "random_state": "generator"},
    ],
    ids=["default", "effort", "ridge", "lines", "validation", "generator"],
)
def test_the_path_is_that_of_the_plain_method(kind, parameters):
    X, y, weight = data(kind)
    task = task_of(kind, X, y, weight + 0.25)

    def method():
        state = {"random_state": np.random.RandomState(3)} if "random_state" in parameters else {}
        return LLTBoostCV(**SMALL | parameters | state)

    plain = method().plain
    assert type(plain) is LLTBoost
    assert plain.plain == plain
    ours, theirs = method().grow(task), plain.grow(task)
    assert (ours.path, ours.ridges, ours.n_iter) == (theirs.path, theirs.ridges, theirs.n_iter)
    assert ours.notes["cv_results_"]["complexity"].tolist() == [member.complexity for member in ours.path]


def test_defaults_are_those_of_the_plain_method():
    for kind in (LLTBoostCV, TGBCV):
        assert kind().plain == type(kind().plain)()


@every_kind
@pytest.mark.parametrize("selection", ["objective", "information"])
def test_any_boosting_method_can_be_cross_validated(kind, selection):
    X, y, weight = data(kind)
    slopes = selection == "information"
    method = TGBCV(max_rules=2, selection=selection, linear_terms=slopes, cv=2, random_state=0, tolerance="paired")
    task = task_of(kind, X, y, 4.0 * weight)
    growth = method.grow(task)
    assert growth.path == method.plain.grow(task).path
    results = growth.notes["cv_results_"]
    within = results["difference"] <= results["difference_standard_error"]
    assert growth.path[growth.chosen].complexity == results["complexity"][within][0] == growth.notes["complexity_"]
    assert growth.notes["search_complete_"]


@every_kind
def test_a_growth_has_the_risk_of_each_member(kind):
    X, y, weight = data(kind)
    growth = LLTBoostCV(**SMALL).grow(task_of(kind, X, y, weight))
    results = growth.notes["cv_results_"]
    assert growth.expected == tuple(results["mean_test_risk"].tolist())
    assert growth.standard_errors == tuple(results["standard_error"].tolist())
    assert len(growth.expected) == len(growth.path) == len(growth.ridges)


# Repetitions


@every_kind
def test_repeats_are_averaged(kind):
    X, y, _ = data(kind)
    task = task_of(kind, X, y)
    results = LLTBoostCV(**SMALL | {"repeats": 3}).grow(task).notes["cv_results_"]
    folds = np.array([results[f"split{k}_test_risk"] for k in range(6)])
    assert "split6_test_risk" not in results
    assert (folds[:2] != folds[2:4]).any()
    # Folds of 60 rows each.
    np.testing.assert_allclose(results["mean_test_risk"], folds.mean(axis=0))
    once = LLTBoostCV(**SMALL).grow(task).notes["cv_results_"]
    np.testing.assert_array_equal(once["split0_test_risk"], results["split0_test_risk"])


def test_splits_that_are_given_are_not_repeated():
    with pytest.raises(ValueError, match=r"^repeats must be 1 where cv gives the splits; got 2\.$"):
        LLTBoostCV(cv=KFold(2), repeats=2)


def test_where_each_row_is_a_fold_there_is_nothing_to_repeat():
    X, y, _ = data("numbers")
    results = TGBCV(max_rules=1, cv=9, repeats=5).grow(task_of("numbers", X[10:18], y[10:18])).notes["cv_results_"]
    assert sum(name.startswith("split") for name in results) == 8


@every_kind
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**31), state=st.sampled_from([None, 0, 7]))
def test_the_order_of_rows_does_not_matter_and_a_row_given_twice_has_weight_two(kind, seed, state):
    X, y, _ = data(kind, n_rows=60)
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 3, len(y))
    order = rng.permutation(int(times.sum()))
    method = TGBCV(max_rules=2, max_propositions=1, cv=2, random_state=state)
    weighted = method.grow(task_of(kind, X, y, 1.0 * times))
    repeated = method.grow(task_of(kind, X.repeat(times, axis=0)[order], y.repeat(times)[order]))
    assert (weighted.path, weighted.chosen) == (repeated.path, repeated.chosen)
    for name, values in weighted.notes["cv_results_"].items():
        np.testing.assert_array_equal(values, repeated.notes["cv_results_"][name])


def test_without_a_seed_the_folds_are_the_same_each_time():
    X, y, _ = data("classes")
    one, two, other = (
        TGBCV(max_rules=2, cv=2, random_state=state).grow(task_of("classes", X, y)).notes["cv_results_"]
        for state in (None, None, 1)
    )
    np.testing.assert_array_equal(one["split0_test_risk"], two["split0_test_risk"])
    assert (one["split0_test_risk"] != other["split0_test_risk"]).any()


# The end of the path


def test_a_risk_that_still_falls_asks_for_more_rules():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    task = task_of("numbers", X, np.floor(2.0 * X[:, 0]))
    with pytest.warns(ConvergenceWarning, match="raise max_rules"):
        few = TGBCV(max_rules=2).grow(task)
    assert few.notes["best_complexity_"] == few.notes["complexity_"] == few.path[-1].complexity
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TGBCV(max_rules=5).grow(task_of("numbers", X, np.where(X[:, 0] > 0.0, 1.0, -1.0) + rng.normal(size=200)))


@pytest.mark.parametrize(
    ("name", "value"),
    [("cv", 1), ("cv", "five"), ("n_jobs", 0), ("tolerance", "2se"), ("repeats", 0), ("ridge", "none"), ("ridge", -1.0)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        LLTBoostCV(**{name: value})


@pytest.mark.parametrize(
    ("kind", "cv", "targets", "weights", "sentence"),
    [
        ("classes", 3, lambda i: i == 0, None, "cv needs at least 2 rows with weight in each class; got 1 sample."),
        ("numbers", 3, None, lambda i: i == 0, "cv needs at least 2 rows with weight in all; got 1 sample."),
        ("numbers", KFold(3), None, lambda i: i > 60, "cv gives a fold that has no test row with weight."),
        ("counts", 3, lambda i: i == 0, None, "y has nothing but zeros, so there is no rate to learn (loss='poisson')."),
        ("classes", KFold(2), lambda i: i < 60, None, "y holds one class only ('no') among the rows that have weight; "),
        ("numbers", [([0, 1], [2]), ([3], [4])], None, lambda i: i > 1, "sample_weight is zero for every row, so there is "),
        ("numbers", [([], [2]), ([3], [4])], None, None, "there are none."),
        ("numbers", KFold(500), None, None, "cv cannot split the 120 rows: "),
        ("numbers", [([0, 1], [2])], None, None, "cv must give at least 2 splits, to tell how far risks vary; got 1."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_folds_that_will_not_do(kind, cv, targets, weights, sentence):
    X, y, _ = data(kind)
    rows = np.arange(len(y))
    if targets is not None:
        y = targets(rows) * 1.0 if kind == "counts" else np.where(targets(rows), "yes", "no")
    weight = None if weights is None else weights(rows) * 1.0
    with pytest.raises(ValueError, match=r"^cv ") as error:
        LLTBoostCV(**SMALL | {"cv": cv}).grow(task_of(kind, X, y, weight))
    prefix = "" if sentence.startswith("cv") else "cv gives a fold on whose training rows no model can be fitted: "
    assert str(error.value).startswith(prefix + sentence)
