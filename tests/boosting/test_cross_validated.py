"""Cross-validation as a method: the path and the choice of the estimators, around any method that boosts."""

import pickle
from dataclasses import dataclass

import joblib
import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from obliquerules import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.boosting.cross_validated import CrossValidated, FoldRisks, LLTBoostCV, fold_risks, parameters_of
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.boosting.tgb import TGB

from .tasks import LOSS_NAMES, data, estimator_of, task_of

SMALL = {"max_rules": 2, "max_propositions": 2, "max_variables": 2, "cv": 3, "random_state": 0}
every_kind = pytest.mark.parametrize("kind", LOSS_NAMES)


def estimator(kind, **parameters):
    return estimator_of(kind, LLTBoostClassifierCV, LLTBoostRegressorCV, **SMALL | parameters)


def assert_grows_the_same(parameters, kind, X, y, weight=None):
    growth = LLTBoostCV(**SMALL | parameters).grow(task_of(kind, X, y, weight))
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
        {"cv": None},
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


def test_only_the_fit_to_all_rows_is_reported(capsys):
    X, y, _ = data("classes")
    LLTBoostCV(**SMALL | {"verbose": 1}).grow(task_of("classes", X, y, learner="LLTBoostClassifierCV"))
    reported = capsys.readouterr().err
    estimator("classes", verbose=1).fit(X, y)
    assert reported == capsys.readouterr().err
    assert reported.count("the best constant") == 1


def test_workers_in_other_processes_find_the_same_risks():
    X, y, weight = data("classes")
    train, test = np.arange(80), np.arange(80, 120)
    here = (LLTBoost(max_rules=2, max_variables=2), task_of("classes", X, y, weight), train, test)
    there = pickle.loads(pickle.dumps(here))
    np.testing.assert_array_equal(fold_risks(*there).risk, fold_risks(*here).risk)


def test_the_number_of_workers_does_not_matter():
    X, y, _ = data("classes")
    task, parameters = task_of("classes", X, y), SMALL | {"selection": "validation"}
    with joblib.parallel_config(backend="threading"):
        one, two = (LLTBoostCV(n_jobs=n_jobs, **parameters).grow(task) for n_jobs in (1, 2))
    assert one.path == two.path
    np.testing.assert_array_equal(one.notes["cv_results_"]["mean_test_risk"], two.notes["cv_results_"]["mean_test_risk"])


def test_the_path_is_that_of_the_plain_method():
    X, y, _ = data("counts")
    method, task = LLTBoostCV(**SMALL), task_of("counts", X, y)
    assert type(method.plain) is LLTBoost
    assert method.plain.plain == method.plain
    assert method.grow(task).path == method.plain.grow(task).path


@dataclass(frozen=True, kw_only=True)
class TGBCV(CrossValidated, TGB):
    """TGB whose size is chosen by cross-validation."""

    @property
    def plain(self):
        return TGB(**parameters_of(TGB, self))


@every_kind
@pytest.mark.parametrize("selection", ["objective", "information"])
def test_any_boosting_method_can_be_cross_validated(kind, selection):
    X, y, weight = data(kind)
    method, task = TGBCV(max_rules=3, selection=selection, cv=3, random_state=0), task_of(kind, X, y, 4.0 * weight)
    growth = method.grow(task)
    assert growth.path == method.plain.grow(task).path
    results = growth.notes["cv_results_"]
    best = results["mean_test_risk"].argmin()
    within = results["mean_test_risk"] <= results["mean_test_risk"][best] + results["standard_error"][best]
    assert growth.chosen == np.flatnonzero(within)[0]
    assert growth.notes["search_complete_"]


def test_a_fold_counts_with_its_largest_member_of_at_most_the_complexity():
    fold = FoldRisks(np.array([0, 3, 7]), np.array([9.0, 5.0, 1.0]))
    assert fold.at(np.array([0, 2, 3, 6, 7, 20])).tolist() == [9.0, 9.0, 5.0, 5.0, 1.0, 1.0]


@pytest.mark.parametrize(("name", "value"), [("cv", 1), ("cv", "five"), ("n_jobs", 0), ("one_standard_error", 1)])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        LLTBoostCV(**{name: value})


@pytest.mark.parametrize(
    ("kind", "cv", "targets", "weights", "sentence"),
    [
        ("classes", 3, lambda i: i == 0, None, "cv needs at least 2 different rows with weight in each class; got 1 sample."),
        ("numbers", 3, None, lambda i: i == 0, "cv needs at least 2 different rows with weight in all; got 1 sample."),
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
