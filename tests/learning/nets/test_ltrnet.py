"""LTRNet: what it grows is a path of falling loss, the same for any number of workers, and its parameters are checked."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from obliquerules import LTRNetClassifier, LTRNetRegressor
from obliquerules.learning.nets.extraction import TrainingRows
from obliquerules.learning.nets.ltrnet import LTRNet

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
    # As in the paper, each penalty has its model.
    assert discretization == "paper" or risks == sorted(set(risks), reverse=True)
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


def paper_loss(parameters, Z, y, weight, hyperparameters, squared):
    """Return the penalised loss of the first network of a batch, as the paper defines it."""
    steepness, penalty, w_penalty = hyperparameters
    W, t, v, b, constant = (
        parameters[name][0] for name in ("directions", "thresholds", "memberships", "rule_weights", "constant")
    )
    p = expit(np.einsum("rkj,nj->rkn", W, Z) - t[..., None])
    z = np.einsum("rk,rkn->rn", v, p) - np.abs(v).sum(axis=1)[:, None]
    f = constant + b @ expit(steepness * (2.0 * z + 1.0))
    loss = 0.5 * (y - f) ** 2 if squared else np.logaddexp(0.0, f) - y * f
    sparse, undecided = np.abs(W).sum() + np.abs(b).sum(), np.minimum(np.abs(v), np.abs(1.0 - v)).sum()
    return np.average(loss, weights=weight) + penalty * sparse + w_penalty * undecided


@pytest.mark.parametrize("squared", [True, False], ids=["numbers", "classes"])
def test_the_network_of_the_paper_has_plain_sigmoids_and_units(squared):
    X, y, weight = numbers() if squared else classes()
    task = regression_task(X, 5.0 * y, weight) if squared else classification_task(X, y, weight)
    rows = TrainingRows(X, task.y, weight, task.loss, 0.0)
    method = LTRNet(**QUICK, w_penalty=0.3, steepness=3.0, discretization="paper")
    objective = method.objective(rows, method.units(task), 0.02)
    parameters = objective.architecture.start(objective.X, np.random.default_rng(0))
    mean, spread = np.average(X, axis=0, weights=weight), np.sqrt(np.cov(X.T, aweights=weight, ddof=0).diagonal())
    target = (task.y - np.average(task.y, weights=weight)) / np.sqrt(np.cov(task.y, aweights=weight, ddof=0))
    expected = paper_loss(parameters, (X - mean) / spread, target if squared else task.y, weight, (3.0, 0.02, 0.3), squared)
    assert objective(parameters)[0][0] == pytest.approx(expected, rel=1e-5)


def test_in_the_paper_each_penalty_has_a_model_however_bad():
    X, y, weight = numbers()
    penalties = {"max_penalty": 0.01, "min_penalty": 1e-4, "n_penalties": 3}
    growth = LTRNet(**QUICK | penalties, discretization="paper").grow(regression_task(X, y, weight))
    assert len(growth.path) == 4
    risks = [np.average((y - ensemble(X)) ** 2, weights=weight) for ensemble in growth.path]
    assert risks[1:] != sorted(risks[1:], reverse=True)  # without new weights, more rules may be worse
