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
from obliquerules.boosting import cross_validated
from obliquerules.boosting.cross_validated import REPETITIONS, RIDGES, RIDGES_OF_LINES, TGBCV, Family, LLTBoostCV, fold_losses
from obliquerules.boosting.folds import Split
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.method import GivenRows

from .tasks import LOSS_NAMES, data, estimator_of, task_of

pytestmark = pytest.mark.usefixtures("few_repetitions")

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
        {"one_standard_error": False},
    ],
    ids=["five folds", "splitter", "pairs", "best"],
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
    train, test = np.arange(80), np.arange(80, 120)
    task, sizes = task_of("classes", X, y, weight), np.array([0, 3, 5])
    methods = (LLTBoost(max_rules=2, max_variables=2, effort=0, linear_terms=terms) for terms in (True, "only"))
    here = ([(Family.of(method, "auto"), sizes) for method in methods], task, Split(train, test), 0)
    there = pickle.loads(pickle.dumps(here))
    assert len(fold_losses(*here).loss) == len(RIDGES) + len(RIDGES_OF_LINES)
    np.testing.assert_array_equal(fold_losses(*there).loss, fold_losses(*here).loss)


def test_a_fold_counts_with_its_largest_member_of_at_most_the_complexity():
    X, y, _ = data("numbers")
    task, method = task_of("numbers", X, y), LLTBoost(max_rules=2, max_variables=2, effort=0, ridge=4.0)
    train, test = np.arange(80), np.arange(80, 120)
    path = method.grow(task.on(train)).path
    sizes = np.arange(path[-1].complexity + 3)
    (found,) = fold_losses([(Family.of(method, method.ridge), sizes)], task, Split(train, test), 0).loss
    for complexity, losses in zip(sizes, found, strict=True):
        member = [ensemble for ensemble in path if ensemble.complexity <= complexity][-1]
        np.testing.assert_array_equal(losses, task.loss.value(y[test], member(X[test])))


def test_the_number_of_workers_does_not_matter():
    X, y, _ = data("classes")
    task, parameters = task_of("classes", X, y), SMALL | {"selection": "validation"}
    with joblib.parallel_config(backend="threading"):
        one, two = (LLTBoostCV(n_jobs=n_jobs, **parameters).grow(task) for n_jobs in (1, 2))
    assert one.path == two.path
    np.testing.assert_array_equal(one.notes["cv_results_"]["mean_test_risk"], two.notes["cv_results_"]["mean_test_risk"])


def test_the_path_is_that_of_the_plain_method():
    X, y, _ = data("counts")
    method, task = LLTBoostCV(**SMALL, ridge=4.0, linear_terms=True), task_of("counts", X, y)
    assert type(method.plain) is LLTBoost
    assert method.plain.plain == method.plain
    assert method.grow(task).path == method.plain.grow(task).path


@every_kind
@pytest.mark.parametrize("selection", ["objective", "information"])
def test_any_boosting_method_can_be_cross_validated(kind, selection):
    X, y, weight = data(kind)
    slopes = selection == "information"
    method = TGBCV(max_rules=2, effort=0, selection=selection, linear_terms=slopes, cv=2, random_state=0, ridge=4.0)
    task = task_of(kind, X, y, 4.0 * weight)
    growth = method.grow(task)
    assert growth.path == method.plain.grow(task).path
    results = growth.notes["cv_results_"]
    within = results["difference"] <= results["difference_standard_error"]
    assert growth.path[growth.chosen].complexity == results["complexity"][within][0] == growth.notes["complexity_"]
    assert growth.notes["search_complete_"]


# Ridges


@every_kind
def test_the_path_is_refitted_with_the_ridge_that_was_chosen(kind):
    X, y, weight = data(kind)
    task = task_of(kind, X, y, weight)
    growth = LLTBoostCV(**SMALL | {"max_rules": 3, "ridge": "auto"}).grow(task)
    assert growth.parameters["ridge"] in RIDGES_OF_LINES
    plain = LLTBoost(max_rules=3, max_propositions=2, max_variables=2, ridge=growth.parameters["ridge"])
    for ensemble in growth.path:
        start = np.array([ensemble.intercept, *(rule.weight for rule in ensemble)])
        again = plain.refitted(ensemble, task.sample, task.loss, start, np.zeros(len(start), dtype=bool))
        np.testing.assert_allclose(start, again, rtol=1e-6, atol=1e-8)


def test_a_noisy_target_gets_a_larger_ridge_and_a_clear_signal_does_not():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 6))
    clear = np.where(X[:, 2] > 0.0, 1.0, -1.0)
    noisy = 0.5 * X[:, :4].sum(axis=1) + rng.normal(size=120)
    ridges = [TGBCV(max_rules=5, cv=3, ridge="auto").grow(task_of("numbers", X, y)).parameters["ridge"] for y in (clear, noisy)]
    assert ridges[0] == 4.0 < ridges[1]


# Repetitions


def test_folds_are_repeated_until_the_choice_is_stable(monkeypatch):
    monkeypatch.setattr(cross_validated, "REPETITIONS", REPETITIONS)
    X, y, _ = data("numbers")
    clear, close = (TGBCV(cv=3, max_rules=r).grow(task_of("numbers", X, y)).notes for r in (1, 4))
    assert 2 <= clear["n_repetitions_"] < close["n_repetitions_"] <= REPETITIONS
    for notes in (clear, close):
        assert sum(name.startswith("split") for name in notes["cv_results_"]) == 3 * notes["n_repetitions_"]


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
    ("name", "value"), [("cv", 1), ("cv", "five"), ("n_jobs", 0), ("one_standard_error", 1), ("ridge", "none"), ("ridge", -1.0)]
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
