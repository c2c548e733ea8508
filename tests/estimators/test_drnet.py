"""DRNet classifier: the model is the OR of the hard network, its path is worth its complexity, and odd data are no trouble."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from obliquerules import DRNetClassifier, load_model
from obliquerules.learning.method import Task
from obliquerules.learning.nets.boxes import binarise
from obliquerules.learning.nets.drnet import complexity_of
from obliquerules.losses import LOSSES
from obliquerules.rules import Block

QUICK = {"n_penalties": 3, "min_penalty": 1e-3, "max_penalty": 1.0, "max_iter": 300, "phase_length": 100, "step_size": 0.05}


def quick(**parameters):
    return DRNetClassifier(**{**QUICK, "random_state": 0, **parameters})


def data(n=200, n_columns=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_columns)).round(2)
    inside = (X[:, 0] > 0.3) & (X[:, -1] < 0.8) | (X[:, 0] < -1.0)
    return X, np.where(inside ^ (random.random(n) < 0.05), "in", "out")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, y, quick(max_iter=1200, phase_length=200, step_size=0.02).fit(X, y)


def document(model, path):
    model.save(path)
    return path.read_bytes()


def test_on_training_rows_each_rule_set_predicts_what_its_hard_network_does(cancer):
    X, y, model = cancer
    task = Task(Block.of_matrix(X), y.astype(np.float64), np.ones(len(y)), LOSSES["logistic"], model.model_.labels)
    sample = task.sample
    inputs = binarise(sample.X.matrix, sample.weight, 9)(sample.X.matrix)
    compared = 0
    for rule_set, ensemble in model._method()._learned(task):
        rules = rule_set.signs
        unmet = (~inputs) @ (rules > 0).T.astype(int) + inputs @ (rules < 0).T.astype(int)
        covered = (unmet == 0).any(axis=1)
        if 0 < covered.sum() < len(covered):
            np.testing.assert_array_equal((ensemble(sample.X) > 0.0) == rule_set.described, covered)
            assert ensemble.complexity <= complexity_of(rule_set.signs)
            compared += 1
        else:
            assert len(ensemble) == 0  # nothing but a constant is left, and that is the best one
    assert compared >= 2


def test_on_any_row_the_class_is_the_described_one_if_and_only_if_a_rule_fires(cancer):
    X, _, model = cancer
    anything = np.random.default_rng(0).permuted(X, axis=0)
    for ensemble in model.path_[1:]:
        described = ensemble.intercept < 0.0
        assert all((rule.weight > 0.0) == described for rule in ensemble)
        np.testing.assert_array_equal((ensemble(anything) > 0.0) == described, ensemble.fires(anything).any(axis=1))


def test_the_path_starts_with_the_constant_and_every_step_pays(cancer):
    X, y, model = cancer
    complexities = [ensemble.complexity for ensemble in model.path_]
    risks = [float(np.mean(np.logaddexp(0.0, score) - y * score)) for score in model.staged_decision_function(X)]
    assert complexities[0] == 0
    assert model.path_[0].intercept == pytest.approx(np.log(y.mean() / (1.0 - y.mean())))
    assert len(complexities) > 2
    assert all(np.diff(complexities) > 0)
    assert all(np.diff(risks) < 0.0)
    assert model.ensemble_ == model.path_[-1]
    assert model.at(complexities[1]).ensemble_ == model.path_[1]
    assert model.score(X, y) > 0.9


def test_probabilities_are_close_to_the_frequencies_of_the_regions(cancer):
    X, y, model = cancer
    small = model.at(model.path_[1].complexity)
    probability = small.predict_proba(X)[:, 1]
    for value in np.unique(probability):
        assert y[probability == value].mean() == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize("inside", ["in", "z"])  # the first of the labels, and the second
def test_left_to_itself_it_describes_one_class_the_one_that_takes_less(inside):
    X = np.random.default_rng(0).uniform(size=(400, 3)).round(3)
    box = (np.abs(X - 0.5) < 0.3).all(axis=1)
    model = quick(max_iter=1200, phase_length=200, step_size=0.02).fit(X, np.where(box, inside, "out"))
    wanted = model.classes_.tolist().index(inside)
    assert len(model.path_) > 1
    assert all((rule.weight > 0.0) == wanted for ensemble in model.path_ for rule in ensemble)


def test_rules_describe_the_class_they_are_asked_to():
    X, y = data()
    both = quick().fit(X, y)
    each = {label: quick(describe=label).fit(X, y) for label in ("in", "out")}
    assert all(rule.weight < 0.0 for ensemble in each["in"].path_ for rule in ensemble)
    assert all(rule.weight > 0.0 for ensemble in each["out"].path_ for rule in ensemble)
    of_each = {ensemble for model in each.values() for ensemble in model.path_}
    assert set(both.path_) <= of_each


@pytest.mark.parametrize("describe", ["neither", 1, None])
def test_a_class_that_is_not_there_cannot_be_described(describe):
    with pytest.raises(ValueError, match=r"describe must be 'auto' or one of the labels \['in', 'out'\]; got"):
        quick(describe=describe).fit(*data())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_penalty": 2.0, "max_penalty": 1.0}, "min_penalty must not be above max_penalty, which is 1.0; got 2.0"),
        ({"n_penalties": 0}, "n_penalties must be a whole number of at least 1"),
        ({"n_thresholds": 0}, "n_thresholds must be a whole number of at least 1"),
        ({"phase_length": 0.5}, "phase_length must be a whole number"),
        ({"or_penalty": -1.0}, "or_penalty must be a finite number of at least 0"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(*data())


def test_the_model_depends_on_neither_jobs_nor_the_order_of_rows_and_a_weight_of_two_is_a_row_twice(tmp_path):
    X, y = data(80)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    once = quick().fit(X, y, weight)
    shuffled = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weight))
    twice = quick(n_jobs=2).fit(X[shuffled], y[shuffled])
    assert document(once, tmp_path / "a.json") == document(twice, tmp_path / "b.json")
    assert len(once.path_) > 1


def test_another_random_state_gives_another_model_and_the_same_gives_the_same():
    X, y = data()
    assert quick().fit(X, y).path_ == quick().fit(X, y).path_
    assert quick().fit(X, y).path_ != quick(random_state=1).fit(X, y).path_


def test_saved_and_loaded_it_is_the_same(tmp_path):
    X, y = data()
    model = quick(describe="in").fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert isinstance(loaded, DRNetClassifier)
    assert loaded.path_ == model.path_
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert json.loads((tmp_path / "model.json").read_text())["n_iter"] == model.n_iter_


def test_progress_is_reported_with_loss_and_complexity(capfd):
    quick(verbose=1, n_penalties=1, describe="in").fit(*data())
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("[DRNetClassifier] class 0, penalty 1, step 100/300: loss 0.")
    assert ", complexity " in lines[1]


def test_separable_classes_are_told_apart_by_one_condition_with_finite_weights():
    X = np.linspace(-1.0, 1.0, 60)[:, np.newaxis]
    model = quick(max_iter=1200).fit(X, X[:, 0] > 0.0)
    assert model.score(X, X[:, 0] > 0.0) == 1.0
    assert model.at(3).ensemble_.complexity == 3
    assert np.abs(model.decision_function(X)).max() < 50.0


def test_constant_columns_take_no_part_and_if_all_are_constant_there_is_but_the_constant():
    X, y = data()
    X[:, 1] = 7.0
    model = quick().fit(X, y)
    assert all(1 not in proposition.columns for e in model.path_ for rule in e for proposition in rule.condition)
    nothing = quick().fit(np.ones((len(y), 2)), y)
    assert [len(ensemble) for ensemble in nothing.path_] == [0]
    assert nothing.n_iter_ == 0


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_a_handful_of_rows_is_enough(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    model = quick().fit(X, np.arange(n) >= n // 2)
    assert model.path_[0].complexity == 0
    assert set(model.predict(X)) <= {False, True}


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match="y holds one class only"):
        quick().fit(np.arange(10.0)[:, np.newaxis], np.ones(10))


def test_more_than_two_classes_are_refused_with_the_name_of_what_learns_them():
    wanted = (
        r"^Only binary classification is supported\. The type of the target is multiclass\. y has 3 classes; DRNetClassifier "
        r"learns two\. LLTBoostClassifier, TGBClassifier and LTRNetClassifier learn more\.$"
    )
    with pytest.raises(ValueError, match=wanted):
        quick().fit(np.arange(12.0)[:, np.newaxis], np.arange(12) % 3)


def test_without_any_penalty_there_are_rules_and_with_a_huge_one_there_is_the_constant():
    X, y = data()
    free = quick(min_penalty=0.0, max_penalty=0.0, or_penalty=0.0, max_iter=600).fit(X, y)
    assert len(free.path_) > 1
    huge = quick(max_penalty=1e12, or_penalty=1e12, n_penalties=1, max_iter=1200).fit(X, y)
    assert len(huge.path_) == 1
    assert set(huge.predict(X)) == {"out"}
