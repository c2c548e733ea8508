"""Stopping: at a time limit or at Ctrl-C, a fit returns what it has found, says so, and is otherwise as always."""

import json
import signal
import subprocess
import sys
import warnings
from itertools import count, pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from obliquerules import LLTBoostClassifier, LLTBoostClassifierCV, LLTBoostRegressor, TGBRegressor, TGBRegressorCV, load_model
from obliquerules.learning.boosting import boosting
from obliquerules.learning.boosting.cv.cross_validation import LLTBoostCV
from obliquerules.learning.boosting.learner import GreedyLearner
from obliquerules.learning.boosting.lltboost import LLTBoost
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.tgb import TGB
from obliquerules.losses import LOSSES
from obliquerules.rules import Model
from obliquerules.status_line import Stopwatch

from .tasks import data, task_of

SMALL = {"max_rules": 3, "max_propositions": 2, "linear_terms": False, "random_state": 0}
METHODS = {
    "validation": LLTBoost(**SMALL, max_variables=2, selection="validation"),
    "information": LLTBoost(**SMALL, max_variables=2, effort=1),
    "objective": TGB(**SMALL),
    "exact": TGB(**SMALL, search="exact"),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
MODELS = {
    "LLTBoost": LLTBoostRegressor(**SMALL, max_variables=2, effort=1),
    "TGB": TGBRegressor(**SMALL),
    "many classes": LLTBoostClassifier(max_rules=3, max_variables=2, selection="validation", random_state=0),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
LATE = 1e6
# In steps of the fit.
LIMITS = [0, 1, 2, 3, 4, 5, 6, 8, 12, 100]


def ticking():
    """Return a stopwatch that is a second later whenever it is read."""
    ticks = count()
    return Stopwatch(lambda: float(next(ticks)))


def grown(method, limit):
    """Return what a method learns by a clock that ticks with each step."""
    X, y, _ = data("numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return boosting.replace(method, max_seconds=limit).grow(task_of("numbers", X, y, stopwatch=ticking()))


def rows_of(model):
    X, y, _ = data("numbers")
    return X, np.digitize(y, [0.0, 1.0]) if isinstance(model, LLTBoostClassifier) else y


@pytest.fixture
def tick(monkeypatch):
    """Let the clock of every estimator tick with each step."""
    monkeypatch.setattr("obliquerules.estimators.fitting.Stopwatch", ticking)


# A time limit


@every_method
def test_a_later_limit_gives_more_rules_until_the_fit_comes_to_its_end(method):
    growths = [grown(method, float(limit)) for limit in LIMITS]
    assert len(growths[0].path) == 1
    assert [growth.n_iter for growth in growths] == sorted(growth.n_iter for growth in growths)
    assert {growth.n_iter for growth in growths} == {0, 1, 2, 3}
    stopped = [growth.notes["stopped_"] for growth in growths]
    n_stopped = stopped.count("max_seconds")
    assert stopped == ["max_seconds"] * n_stopped + [None] * (len(LIMITS) - n_stopped)
    assert 3 <= n_stopped < len(LIMITS)
    assert growths[-1].path == grown(method, None).path


@pytest.mark.parametrize("name", ["validation", "objective"])
def test_the_path_of_a_fit_that_is_stopped_is_the_beginning_of_the_path(name):
    # Equal digits are for ensembles of equal rules; the ridge is given, because its estimate looks at all of them.
    method = boosting.replace(METHODS[name], ridge=1.0, exact="rows")
    whole = grown(method, None).path
    for limit in range(1, 5):
        path = grown(method, float(limit)).path
        assert [member.complexity for member in path] == [member.complexity for member in whole[: len(path)]]
        assert [[rule.condition for rule in member] for member in path] == [
            [rule.condition for rule in member] for member in whole[: len(path)]
        ]


def test_in_the_longer_search_the_improvement_is_stopped_too():
    X, y, _ = data("numbers")
    mean_losses = []
    for limit in (6.0, 8.0, LATE):
        growth = grown(METHODS["information"], limit)
        assert (growth.n_iter, growth.notes["stopped_"]) == (3, None if limit == LATE else "max_seconds")
        members = [Model(growth.path, 0, LOSSES["squared"]).at(size).ensemble for size in range(12)]
        mean_losses.append(np.mean([((member(X) - y) ** 2).mean() for member in members]))
    assert mean_losses[-1] < mean_losses[0]


def test_an_exact_search_ends_at_the_limit():
    X, y, _ = data("numbers")
    # The first reading starts the clock, and others are before the search, for its deadline, and after it.
    times = iter([0.0, 0.0, 0.0, 1.0, *[2.0] * 1000])
    task = task_of("numbers", X, y, stopwatch=Stopwatch(lambda: next(times)))
    with pytest.warns(ConvergenceWarning) as caught:
        growth = TGB(**SMALL | {"max_propositions": 3}, search="exact", max_seconds=1.0).grow(task)
    assert [str(one.message).split(" before")[0] for one in caught] == [
        "The fit came to the limit of max_seconds",
        "The exact search came to the limit of max_nodes or max_seconds",
    ]
    assert growth.notes == {"search_complete_": False, "stopped_": "max_seconds"}
    assert growth.n_iter == 1


@every_model
def test_a_model_that_is_stopped_predicts_and_says_so_with_a_warning(model, tick, tmp_path):
    X, y = rows_of(model)
    with pytest.warns(ConvergenceWarning, match="limit of max_seconds"):
        stopped = clone(model).set_params(max_seconds=3.0).fit(X, y)
    assert stopped.stopped_ == "max_seconds"
    assert 0 < stopped.n_iter_ < 3
    stopped.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["parameters"]["max_seconds"] == 3.0
    loaded = load_model(tmp_path / "model.json")
    assert loaded.max_seconds == 3.0
    np.testing.assert_array_equal(loaded.predict(X), stopped.predict(X))


@every_model
def test_parameters_without_effect_change_no_byte_of_the_file(model, tmp_path):
    X, y = rows_of(model)
    for name, parameters in {"plain": {}, "limited": {"max_seconds": LATE, "keep_path": True}}.items():
        fitted = clone(model).set_params(**parameters).fit(X, y)
        assert fitted.stopped_ is None
        fitted.save(tmp_path / name)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "limited").read_bytes()
    parameters = json.loads((tmp_path / "plain").read_text())["parameters"]
    assert "keep_path" not in parameters
    assert ("max_seconds" in parameters) == isinstance(model, TGBRegressor)


def test_weights_are_fitted_to_all_rows_whatever_stopped_the_search_on_some(tick):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(2)
    y = 2.0 * (X[:, 0] > 0.1) + rng.normal(scale=0.1, size=300)
    model = TGBRegressor(search_rows=100, max_rules=3, max_seconds=3.0, ridge=0.0)
    with pytest.warns(ConvergenceWarning, match="limit of max_seconds"):
        model.fit(X, y)
    assert model.stopped_ == "max_seconds"
    (rule, *_), covered = model.path_[1], model.path_[1].fires(X)[:, 0]
    assert len(model.path_[1]) == 1
    assert rule.weight == pytest.approx(y[covered].mean() - y[~covered].mean())


def test_a_task_on_some_rows_begins_anew():
    X, y, _ = data("numbers")
    task = task_of("numbers", X, y, stopwatch=ticking())
    assert task.stopwatch.seconds == 1.0
    assert task.on(np.arange(50)).stopwatch.seconds == 1.0
    assert task.stopwatch.seconds == 4.0


# Cross-validation


def test_with_cross_validation_the_limit_is_for_each_path(tick):
    X, y = rows_of(None)
    model = TGBRegressorCV(**SMALL, cv=3)
    with pytest.warns(ConvergenceWarning, match="limit of max_seconds"):
        stopped = clone(model).set_params(max_seconds=3.5).fit(X, y)
    # If the limit were for all of them, the paths of the folds would be constants, and none better than another.
    assert stopped.stopped_ == "max_seconds"
    assert np.ptp(stopped.cv_results_["mean_test_risk"]) > 0.1
    assert dict(stopped.model_.origin.parameters)["max_seconds"] == 3.5
    complete = clone(model).set_params(max_seconds=LATE).fit(X, y)
    assert complete.stopped_ is None
    assert dict(complete.model_.origin.parameters)["max_seconds"] is None


def test_a_fold_that_is_stopped_counts():
    X, y, _ = data("numbers")
    # The path on all rows is grown by a clock that stands still until that is done.
    method = LLTBoostCV(**SMALL, selection="validation", cv=2, max_seconds=10.0)
    readings = count()
    before = 5  # the start, one for each rule, and one for the progress
    task = task_of("numbers", X, y, stopwatch=Stopwatch(lambda: 9.0 * max(0, next(readings) - before - 2)))
    with pytest.warns(ConvergenceWarning, match="limit of max_seconds"):
        growth = method.grow(task)
    assert growth.n_iter == 3
    assert growth.notes["stopped_"] == "max_seconds"
    assert growth.parameters["max_seconds"] == 10.0


def test_an_interrupted_cross_validation_cannot_keep_its_path():
    with pytest.raises(ValueError, match=r"^keep_path must be False with cross-validation"):
        LLTBoostClassifierCV(keep_path=True).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_fits_inside_a_fit_are_interrupted_together():
    assert not LLTBoost(keep_path=True).reseeded(1).keep_path


# Ctrl-C


@pytest.fixture
def interrupt(monkeypatch):
    """Return a function that makes a method of a class raise as at Ctrl-C when it is called for the given time."""

    def interrupt(kind, name, at):
        calls, plain = count(1), getattr(kind, name)

        def interrupted(*args, **kwargs):
            if next(calls) == at:
                raise KeyboardInterrupt
            return plain(*args, **kwargs)

        monkeypatch.setattr(kind, name, interrupted)

    return interrupt


@every_model
def test_an_interrupt_leaves_the_model_as_it_was(model, interrupt):
    X, y = rows_of(model)
    fitted = clone(model).fit(X, y)
    before = dict(vars(fitted))
    interrupt(GreedyLearner, "candidates", 3)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:, :2], y)
    assert vars(fitted) == before


@every_model
@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupted_fit_may_keep_its_path(model, at, interrupt):
    X, y = rows_of(model)
    interrupt(GreedyLearner, "candidates", at)
    with pytest.warns(ConvergenceWarning, match="interrupted before its end: with keep_path=True"):
        fitted = clone(model).set_params(keep_path=True).fit(X, y)
    assert fitted.stopped_ == "interrupted"
    assert fitted.n_iter_ == at - 1
    assert max(len(member) for member in fitted.path_) == at - 1
    complexities = [member.complexity for member in fitted.path_]
    assert complexities[0] == 0
    assert all(one < other for one, other in pairwise(complexities))
    assert "max_seconds" not in {name for name, value in fitted.model_.origin.parameters if value is not None}


def test_an_interrupt_may_come_while_an_ensemble_is_refined(interrupt):
    X, y = rows_of(None)
    interrupt(Refiner, "refined", 3)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted = LLTBoostRegressor(**SMALL, keep_path=True).fit(X, y)
    # The rule that was about to be refined is known, although it was never taken.
    assert fitted.n_iter_ < len(fitted.path_) - 1


def test_before_anything_is_grown_there_is_no_path_to_keep(interrupt):
    X, y = rows_of(None)
    interrupt(boosting.Boosting, "problem", 1)
    with pytest.raises(KeyboardInterrupt):
        LLTBoostRegressor(**SMALL, keep_path=True).fit(X, y)


def test_a_second_interrupt_ends_the_fit(interrupt):
    X, y = rows_of(None)
    fitted = TGBRegressor(**SMALL, keep_path=True).fit(X, y)
    before = dict(vars(fitted))
    interrupt(GreedyLearner, "candidates", 2)
    interrupt(boosting, "readable_path", 1)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:, :2], y)
    assert vars(fitted) == before


LONG_FIT = """
import warnings
import numpy as np
from obliquerules import LLTBoostRegressor
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(3000, 20))
model = LLTBoostRegressor(max_rules=40, keep_path=True, verbose=1).fit(X, X[:, 0] * X[:, 1])
print(model.stopped_, model.n_iter_ < 40, len(model.path_) > 1)
"""


def test_a_real_interrupt_gives_the_path_so_far():
    command = [sys.executable, "-c", LONG_FIT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("rule 1/40 (2 %" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=300)
    assert told == "interrupted True True\n"
