"""DRNet: what it grows are ORs of rules for one class, the same for any number of workers, and edited ones are refitted."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import DRNetClassifier
from obliquerules.learning.method import Method
from obliquerules.learning.nets.drnet import DRNet
from obliquerules.losses import LOSSES
from obliquerules.rules import Conjunction, Proposition, Rule, RuleEnsemble

from .tasks import NAMES, classes, classification_task, numbers, ordered, regression_task

QUICK = {
    "n_penalties": 3,
    "min_penalty": 1e-3,
    "max_penalty": 1.0,
    "max_iter": 300,
    "phase_length": 100,
    "step_size": 0.05,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def task():
    return classification_task(*classes(), learner="Someone")


@pytest.fixture(scope="module")
def growth(task):
    return DRNet(**QUICK).grow(task)


def test_each_step_of_the_path_pays_and_starts_from_the_constant(task, growth):
    sizes = [ensemble.complexity for ensemble in growth.path]
    risks = [np.average(task.loss.value(task.y, ensemble(task.X)), weights=task.weight) for ensemble in growth.path]
    assert sizes[0] == 0
    assert len(sizes) > 2
    assert sizes == sorted(set(sizes))
    assert risks == sorted(set(risks), reverse=True)
    assert {ensemble.feature_names for ensemble in growth.path} == {NAMES}
    assert (growth.chosen, growth.notes) == (-1, {})
    assert 1 <= growth.n_iter <= 300


def test_a_row_is_of_the_described_class_if_and_only_if_a_rule_fires(growth):
    anything = np.random.default_rng(1).normal(size=(500, 3))
    for ensemble in growth.path[1:]:
        described = ensemble.intercept < 0.0
        np.testing.assert_array_equal((ensemble(anything) > 0.0) == described, ensemble.fires(anything).any(axis=1))


@pytest.mark.parametrize("describe", ["auto", "in", "out"])
def test_it_grows_the_path_of_the_estimator(describe):
    for seed in range(2):
        X, y, weight = classes(seed=seed)
        fitted = DRNetClassifier(**QUICK, describe=describe).fit(pd.DataFrame(X, columns=NAMES), y, weight)
        growth = DRNet(**QUICK, describe=describe).grow(classification_task(X, y, weight))
        assert (ordered(growth.path), growth.n_iter) == (fitted.path_, fitted.n_iter_)


def test_constant_columns_give_the_constant():
    _, y, weight = classes()
    growth = DRNet(**QUICK).grow(classification_task(np.ones((len(y), 3)), y, weight))
    assert [len(ensemble) for ensemble in growth.path] == [0]
    assert growth.n_iter == 0


def test_workers_do_not_change_the_path(task, growth):
    assert DRNet(**QUICK, n_jobs=2, verbose=1).grow(task).path == growth.path


def test_progress_is_reported(task, growth, capfd):
    assert DRNet(**QUICK, verbose=1).grow(task).path == growth.path
    captured = capfd.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 2 * 3 * 3
    assert sum(line.startswith("[Someone] class 0, penalty 1, step 100/300: loss 0.") for line in lines) == 1


@pytest.mark.parametrize("describe", ["neither", 1, None])
def test_a_class_that_is_not_there_cannot_be_described(task, describe):
    with pytest.raises(ValueError, match=r"^describe must be 'auto' or one of the labels \['in', 'out'\]; got"):
        DRNet(describe=describe).check_task(task)


@pytest.mark.parametrize("describe", ["auto", 1])
def test_numbers_are_refused(describe):
    with pytest.raises(ValueError, match="DRNet learns classes"):
        DRNet(describe=describe).check_task(regression_task(*numbers()))


def test_labels_that_are_there_are_accepted(task):
    for describe in ("auto", "in", "out"):
        DRNet(describe=describe).check_task(task)
    DRNet(describe=1).check_task(classification_task(*classes(labels=(0, 1))))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_penalty": 2.0, "max_penalty": 1.0}, "min_penalty must not be above max_penalty, which is 1.0; got 2.0"),
        ({"max_rules": 0}, "max_rules must be a whole number of at least 1"),
        ({"n_penalties": 0}, "n_penalties must be a whole number of at least 1"),
        ({"n_thresholds": 0}, "n_thresholds must be a whole number of at least 1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"phase_length": 0.5}, "phase_length must be a whole number"),
        ({"max_penalty": np.inf}, "max_penalty must be a finite number"),
        ({"or_penalty": -1.0}, "or_penalty must be a finite number of at least 0"),
        ({"step_size": "small"}, "step_size must be a finite number"),
        ({"ridge": -1.0}, "ridge must be a finite number of at least 0"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        DRNet(**parameters)


# Edited rules


def rules_with(*weights):
    conditions = [Conjunction([Proposition([0], [1.0], 0.3)]), Conjunction([Proposition([0], [-1.0], 1.0)])]
    rules = [Rule(weight, condition) for weight, condition in zip(weights, conditions, strict=True)]
    return RuleEnsemble(rules, -0.5, NAMES), np.array([-0.5, *weights])


def refitted(task, weights, fixed=(False, False, False), kind=DRNet):
    ensemble, start = rules_with(*weights)
    return kind.refitted(DRNet(), ensemble, task.sample, LOSSES["logistic"], start, np.array(fixed))


def test_the_weights_of_a_learned_rule_set_are_found_again(task, growth):
    ensemble = growth.path[-1]
    start = np.array([ensemble.intercept, *(rule.weight for rule in ensemble)])
    free = np.zeros(len(start), dtype=np.bool_)
    np.testing.assert_array_equal(DRNet().refitted(ensemble, task.sample, task.loss, start, free), start)
    for_the_other_class = DRNet().refitted(ensemble, task.sample, task.loss, -start, free)
    np.testing.assert_array_equal(np.sign(for_the_other_class), -np.sign(start))


def test_rules_for_both_classes_and_fixed_weights_are_refitted_as_a_sum(task):
    for weights, fixed in [((1.0, -1.0), (False,) * 3), ((1.0, 2.0), (False, True, False)), ((0.0, 0.0), (False,) * 3)]:
        as_sum = refitted(task, weights, fixed, Method)
        np.testing.assert_array_equal(refitted(task, weights, fixed), as_sum)
    assert refitted(task, (1.0, 2.0), (False, True, False))[1] == 1.0
