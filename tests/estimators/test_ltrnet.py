"""LTRNet as a user meets it: it learns, its path and its rules are what they say, and nothing irrelevant changes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_friedman1
from sklearn.metrics import log_loss, mean_poisson_deviance
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags

from obliquerules import DRNetClassifier, LTRNetClassifier, LTRNetRegressor, load_model
from obliquerules.learning.nets.ltrnet import LTRNet
from obliquerules.losses import LOSSES

from .little import little, saved

SMALL: dict[str, Any] = {
    "max_rules": 4,
    "max_propositions": 2,
    "n_penalties": 3,
    "n_restarts": 2,
    "max_iter": 60,
    "random_state": 0,
}
CLASSIFIER, REGRESSOR = LTRNetClassifier(**SMALL), LTRNetRegressor(**SMALL)
COUNTER = LTRNetRegressor(loss="poisson", **SMALL)
ALL = pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, COUNTER], ids=["classes", "numbers", "counts"])
BOTH = pytest.mark.parametrize("discretization", ["refit", "paper"])


# It learns


def test_breast_cancer_is_learned_with_few_rules() -> None:
    X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    model = LTRNetClassifier(n_penalties=3, n_restarts=3, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.93
    assert model.at(30).score(X_test, y_test) > 0.9


def test_numbers_in_any_unit_are_learned_alike() -> None:
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    model = LTRNetRegressor(n_penalties=2, n_restarts=3, max_penalty=0.02, random_state=0)
    ordinary, tiny = clone(model).fit(X, y), clone(model).fit(X, 1e-9 * y)
    assert ordinary.score(X, y) > 0.8
    assert tiny.score(X, 1e-9 * y) > 0.8


def test_counts_are_learned() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = random.poisson(np.exp(1.0 + 1.5 * (X[:, 0] + X[:, 1] > 0.5)))
    model = LTRNetRegressor(loss="poisson", n_penalties=2, n_restarts=2, random_state=0).fit(X, y)
    assert mean_poisson_deviance(y, model.predict(X)) < 0.6 * mean_poisson_deviance(y, np.full(400, y.mean()))


def test_the_bare_discretisation_of_the_paper_learns_classes() -> None:
    X, y, _ = little(n_rows=200)
    model = LTRNetClassifier(discretization="paper", n_penalties=3, n_restarts=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


# The path


@ALL
@BOTH
def test_the_path_begins_with_the_constant_and_goes_on_with_lower_loss_at_higher_complexity(
    model: Any, discretization: str
) -> None:
    X, y, weight = little()
    fitted = clone(model).set_params(discretization=discretization).fit(X, y, weight)
    loss = LOSSES["logistic"] if isinstance(model, LTRNetClassifier) else LOSSES[model.loss]
    sizes = [ensemble.complexity for ensemble in fitted.path_]
    risks = [np.average(loss.value(y, ensemble(X)), weights=weight) for ensemble in fitted.path_]
    assert sizes[0] == 0
    assert len(fitted.path_[0]) == 0
    assert sizes == sorted(set(sizes))
    assert discretization == "paper" or risks == sorted(risks, reverse=True)
    assert fitted.ensemble_ is fitted.path_[-1]
    assert fitted.at(sizes[-1]).ensemble_ == fitted.path_[-1]
    assert fitted.at(0).ensemble_ == fitted.path_[0]
    assert 1 <= fitted.n_iter_ <= 60


def test_a_grid_of_penalties_runs_from_the_largest_to_the_smallest() -> None:
    assert LTRNet(max_penalty=1.0, min_penalty=1e-4, n_penalties=5).penalties() == pytest.approx(
        [1.0, 0.1, 0.01, 0.001, 0.0001]
    )
    assert LTRNet(max_penalty=1.0, min_penalty=0.0, n_penalties=3).penalties() == pytest.approx([1.0, 0.001, 0.0])
    assert LTRNet(max_penalty=1.0, min_penalty=0.0, n_penalties=2).penalties() == [1.0, 0.0]
    assert LTRNet(max_penalty=0.5, n_penalties=1).penalties() == [0.5]
    assert LTRNet(max_penalty=0.0, min_penalty=0.0).penalties() == [0.0]


# What must not matter


@ALL
def test_jobs_order_and_repetition_of_rows_do_not_matter(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    expected = saved(clone(model).fit(X, y, weight), tmp_path)
    order = np.random.default_rng(1).permutation(len(y))
    assert saved(clone(model).fit(X[order], y[order], weight[order]), tmp_path) == expected
    jobs = clone(model).set_params(n_jobs=2).fit(X, y, weight)
    assert saved(jobs, tmp_path) == expected
    twice = clone(model).fit(np.vstack([X, X]), np.concatenate([y, y]), np.tile(weight, 2) / 2.0)
    assert saved(twice, tmp_path) == expected


def test_early_stopping_ends_training_before_the_last_step() -> None:
    X, y, _ = little()
    model = clone(CLASSIFIER).set_params(tol=0.5, n_iter_no_change=3).fit(X, y)
    assert model.n_iter_ < 60


@ALL
def test_a_model_comes_back_from_its_file(model: Any, tmp_path: Path) -> None:
    X, y, weight = little()
    fitted = clone(model).fit(pd.DataFrame(X, columns=list("abcd")), y, weight)
    fitted.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert type(again) is type(model)
    assert again.path_ == fitted.path_
    assert again.get_params() == fitted.get_params()


def test_progress_is_told_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    X, y, _ = little()
    clone(CLASSIFIER).set_params(verbose=1).fit(X, y)
    told = capfd.readouterr()
    assert told.out == ""
    assert "[LTRNetClassifier] penalty 0.08, step 0/60: loss " in told.err
    assert len(told.err.splitlines()) == 6


# Odd data


@BOTH
@pytest.mark.parametrize("rows", [2, 3, 9])
@ALL
def test_few_rows_make_a_model(model: Any, rows: int, discretization: str) -> None:
    X = np.arange(2.0 * rows).reshape(rows, 2)
    y = (np.arange(rows) % 2).astype(float)
    fitted = clone(model).set_params(discretization=discretization).fit(X, y)
    assert np.isfinite(fitted.predict(X)).all()


@BOTH
def test_separable_data_give_finite_weights_without_a_ridge(discretization: str) -> None:
    X, _, _ = little()
    y = X[:, 0] > 0.0
    model = clone(CLASSIFIER).set_params(ridge=0.0, discretization=discretization).fit(X, y)
    assert np.isfinite([rule.weight for rule in model.ensemble_]).all()
    assert model.score(X, y) > 0.9


@BOTH
@ALL
def test_constant_columns_and_a_single_column_are_fine(model: Any, discretization: str) -> None:
    X, y, _ = little()
    model = clone(model).set_params(discretization=discretization)
    assert len(clone(model).fit(np.ones((len(y), 3)), y).path_) == 1
    used = clone(model).fit(np.column_stack([np.full(len(y), 7.0), X[:, 0]]), y).ensemble_
    assert {column for rule in used for proposition in rule.condition for column in proposition.columns} <= {1}
    assert np.isfinite(clone(model).fit(X[:, :1], y).predict(X[:, :1])).all()


@ALL
def test_a_huge_penalty_leaves_the_constant_and_none_at_all_still_gives_a_model(model: Any) -> None:
    X, y, _ = little()
    assert len(clone(model).set_params(max_penalty=1e9, min_penalty=1e9).fit(X, y).path_) == 1
    assert len(clone(model).set_params(max_penalty=0.0, min_penalty=0.0, w_penalty=0.0).fit(X, y).path_) > 1


def test_a_target_that_does_not_vary_gives_the_constant() -> None:
    X, _, _ = little()
    model = clone(REGRESSOR).fit(X, np.full(len(X), 3.0))
    assert len(model.path_) == 1
    assert (model.predict(X) == 3.0).all()


def test_one_class_only_is_refused() -> None:
    X, _, _ = little()
    with pytest.raises(ValueError, match="one class only"):
        clone(CLASSIFIER).fit(X, np.ones(len(X)))


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
def test_a_parameter_that_is_not_what_it_may_be_is_named(name: str, value: Any) -> None:
    X, y, _ = little()
    with pytest.raises(ValueError, match=f"^{name} must"):
        clone(REGRESSOR).set_params(**{name: value}).fit(X, y)


# Many classes


def four_classes(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and one of four classes, two of which nothing tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    either = np.where(rng.random(n) < 0.5, "one", "two")
    y = np.select([X[:, 0] + X[:, 1] > 0.6, X[:, 2] > 0.3], ["up", "side"], either)
    return X, np.where(rng.random(n) < 0.05, either, y)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_many_classes_are_learned_with_few_rules(load: Any) -> None:
    X, X_test, y, y_test = train_test_split(*load(return_X_y=True), random_state=0)
    model = LTRNetClassifier(n_penalties=3, n_restarts=3, ridge=4.0, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.9
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.35
    assert model.at(25).score(X_test, y_test) > 0.85


def test_ten_classes_share_their_rules() -> None:
    X, y = load_digits(return_X_y=True)
    model = LTRNetClassifier(n_penalties=1, max_penalty=0.004, n_restarts=2, random_state=0).fit(X[:300], y[:300])
    assert len(model.ensemble_) <= 10
    assert model.score(X[300:600], y[300:600]) > 0.7
    assert max(len(rule.classes_with_weight) for rule in model.ensemble_) > 2


@BOTH
def test_with_many_classes_too_a_longer_path_has_lower_loss(discretization: str) -> None:
    X, y = four_classes()
    model = clone(CLASSIFIER).set_params(discretization=discretization).fit(X, y)
    sizes = [ensemble.complexity for ensemble in model.path_]
    risks = [log_loss(y, shares) for shares in model.staged_predict_proba(X)]
    assert sizes[0] == 0
    assert len(sizes) > 1
    assert sizes == sorted(set(sizes))
    assert discretization == "paper" or risks == sorted(risks, reverse=True)
    assert all(ensemble.outputs == ("one", "side", "two", "up") for ensemble in model.path_)
    assert all(rule.classes_with_weight for ensemble in model.path_ for rule in ensemble)
    assert all(abs(sum(ensemble.intercepts)) < 1e-9 for ensemble in model.path_)


def test_rules_say_nothing_of_classes_that_nothing_tells_apart() -> None:
    X, y = four_classes(n=1000)
    model = clone(CLASSIFIER).set_params(n_penalties=2).fit(X, y)
    small = model.at(12).ensemble_
    assert len(small) >= 2
    one, two = (model.classes_.tolist().index(label) for label in ("one", "two"))
    assert all(rule.weights[one] == rule.weights[two] == 0.0 for rule in small)


@BOTH
def test_other_labels_give_the_same_rules_with_their_weights_in_the_place_of_the_labels(discretization: str) -> None:
    X, y = four_classes()
    names = {"up": "a", "side": "d", "one": "b", "two": "c"}
    model = clone(CLASSIFIER).set_params(discretization=discretization)
    one, two = clone(model).fit(X, y), clone(model).fit(X, np.array([names[label] for label in y]))
    place = [two.classes_.tolist().index(names[label]) for label in one.classes_]
    assert len(one.path_) == len(two.path_)
    for first, second in zip(one.path_, two.path_, strict=True):
        assert {rule.condition: rule.weights for rule in first} == {
            rule.condition: tuple(rule.weights[k] for k in place) for rule in second
        }
        assert first.intercepts == tuple(second.intercepts[k] for k in place)
    assert (np.array([names[label] for label in one.predict(X)]) == two.predict(X)).all()


def test_jobs_order_and_repetition_of_rows_do_not_matter_to_many_classes(tmp_path: Path) -> None:
    X, y = four_classes(1)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    expected = saved(clone(CLASSIFIER).fit(X, y, weight), tmp_path)
    shuffled = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weight))
    assert saved(clone(CLASSIFIER).set_params(n_jobs=2).fit(X[shuffled], y[shuffled]), tmp_path) == expected


@BOTH
def test_many_classes_are_learned_from_levels_and_missing_values_and_come_back_from_a_file(
    tmp_path: Path, discretization: str
) -> None:
    X, y = four_classes()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = np.select([y == "up", y == "side"], ["red", "blue"], "green")
    frame.loc[::9, "a"] = np.nan
    model = clone(CLASSIFIER).set_params(discretization=discretization).fit(frame, y)
    assert model.score(frame, y) > 0.6
    assert "colour" in model.to_text()
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.path_ == model.path_
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


@BOTH
@pytest.mark.parametrize("rows", [3, 4, 10])
def test_few_rows_of_many_classes_make_a_model(rows: int, discretization: str) -> None:
    X = np.arange(2.0 * rows).reshape(rows, 2)
    model = clone(CLASSIFIER).set_params(discretization=discretization, ridge=0.0).fit(X, np.arange(rows) % 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_class_none_of_whose_rows_has_weight_is_no_class() -> None:
    X, y = four_classes()
    model = clone(CLASSIFIER).fit(X, y, (y != "two") * 1.0)
    assert "two" not in model.classes_
    assert model.score(X, np.where(y == "two", "one", y)) > 0.6


def test_a_huge_penalty_leaves_the_constants() -> None:
    X, y = four_classes()
    model = clone(CLASSIFIER).set_params(max_penalty=1e9, min_penalty=1e9).fit(X, y)
    assert len(model.path_) == 1
    np.testing.assert_allclose(model.predict_proba(X)[0], [np.mean(y == label) for label in model.classes_])


def test_the_tags_say_who_learns_many_classes() -> None:
    assert get_tags(LTRNetClassifier()).classifier_tags.multi_class
    assert not get_tags(DRNetClassifier()).classifier_tags.multi_class
