"""LTRNet: what it grows is a path of falling loss, the same for any number of workers, and its parameters are checked."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from obliquerules import LTRNetClassifier, LTRNetRegressor
from obliquerules.nets.ltrnet import LTRNet

from .tasks import NAMES, classes, classification_task, many_classes, numbers, ordered, regression_task

QUICK = {"max_rules": 4, "max_propositions": 2, "n_penalties": 3, "n_restarts": 2, "max_iter": 60, "random_state": 0}
ALL_TASKS = pytest.mark.parametrize(
    "task",
    [
        classification_task(*classes()),
        classification_task(*many_classes()),
        regression_task(*numbers()),
        regression_task(*numbers("poisson"), "poisson"),
    ],
    ids=["classes", "many classes", "numbers", "counts"],
)
BOTH = pytest.mark.parametrize("discretization", ["refit", "paper"])


def framed(X, y, weight):
    return pd.DataFrame(X, columns=NAMES), y, weight


@ALL_TASKS
@BOTH
def test_the_path_begins_with_the_constant_and_has_lower_loss_at_higher_complexity(task, discretization):
    growth = LTRNet(**QUICK, discretization=discretization).grow(task)
    sizes = [ensemble.complexity for ensemble in growth.path]
    risks = [np.average(task.loss.value(task.y, ensemble(task.X)), weights=task.weight) for ensemble in growth.path]
    assert sizes[0] == 0
    assert len(sizes) > 1
    assert sizes == sorted(set(sizes))
    assert risks == sorted(set(risks), reverse=True)
    assert {ensemble.feature_names for ensemble in growth.path} == {NAMES}
    assert (growth.chosen, growth.notes) == (-1, {})
    assert 1 <= growth.n_iter <= 60


@BOTH
def test_it_grows_the_path_of_the_estimator(discretization):
    parameters = {**QUICK, "discretization": discretization}
    for data in (classes(seed=0), classes(seed=1), many_classes()):
        fitted = LTRNetClassifier(**parameters).fit(*framed(*data))
        growth = LTRNet(**parameters).grow(classification_task(*data))
        assert (ordered(growth.path), growth.n_iter) == (fitted.path_, fitted.n_iter_)
    for loss in ("squared", "poisson"):
        data = numbers(loss)
        fitted = LTRNetRegressor(loss=loss, **parameters).fit(*framed(*data))
        growth = LTRNet(**parameters).grow(regression_task(*data, loss))
        assert (ordered(growth.path), growth.n_iter) == (fitted.path_, fitted.n_iter_)


@pytest.mark.parametrize("data", [classes(), many_classes()], ids=["two", "many"])
def test_workers_do_not_change_the_path(data):
    task, few = classification_task(*data), {**QUICK, "n_penalties": 2}
    assert LTRNet(**few, n_jobs=2, verbose=1).grow(task).path == LTRNet(**few).grow(task).path


def test_progress_is_reported(capfd):
    task, few = classification_task(*classes(), learner="Someone"), {**QUICK, "n_penalties": 2}
    LTRNet(**few, verbose=1).grow(task)
    captured = capfd.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 4
    assert sum(line.startswith("[Someone] penalty 0.08, step 0/60: loss ") for line in lines) == 1


def test_silence_and_other_seeds_are_one_call_away():
    method = LTRNet(**QUICK, verbose=1)
    assert method.reseeded(7) == dataclasses.replace(method, random_state=7, verbose=0)


def test_penalties_lie_on_a_geometric_grid():
    def penalties(**parameters):
        return LTRNet(**parameters).penalties()

    assert penalties(max_penalty=1.0, min_penalty=1e-4, n_penalties=5) == pytest.approx([1.0, 0.1, 0.01, 0.001, 0.0001])
    assert penalties(max_penalty=1.0, min_penalty=0.0, n_penalties=3) == pytest.approx([1.0, 0.001, 0.0])
    assert penalties(max_penalty=0.5, n_penalties=1) == [0.5]
    assert penalties(max_penalty=0.0, min_penalty=0.0) == [0.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_rules", 0),
        ("max_propositions", 1.5),
        ("max_penalty", -1.0),
        ("min_penalty", 1.0),
        ("n_penalties", 0),
        ("w_penalty", np.nan),
        ("steepness", "steep"),
        ("n_restarts", 0),
        ("max_iter", 0),
        ("tol", -1.0),
        ("n_iter_no_change", 0),
        ("discretization", "none"),
        ("ridge", -0.1),
        ("random_state", "x"),
        ("n_jobs", 0),
        ("verbose", -1),
    ],
)
def test_a_bad_parameter_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        LTRNet(**{name: value})
