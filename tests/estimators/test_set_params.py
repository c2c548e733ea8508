"""Parameters that are set after a fit are for the next fit: what was fitted stays as it is, wherever it is asked."""

import copy
import functools

import numpy as np
import pytest
from sklearn.base import clone

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    LTRNetClassifier,
    LTRNetRegressor,
    TGBClassifier,
    TGBClassifierCV,
    TGBRegressor,
    TGBRegressorCV,
    load_model,
)

NET = {"n_penalties": 1, "n_restarts": 1, "max_iter": 20, "random_state": 0}
MODELS = {
    "DRNetClassifier": DRNetClassifier(n_penalties=1, max_iter=200, random_state=0),
    "LLTBoostClassifier": LLTBoostClassifier(max_rules=2, random_state=0),
    "LLTBoostClassifierCV": LLTBoostClassifierCV(max_rules=2, effort=0, cv=2, random_state=0),
    "LLTBoostRegressor": LLTBoostRegressor(max_rules=2, random_state=0),
    "LLTBoostRegressorCV": LLTBoostRegressorCV(max_rules=2, effort=0, cv=2, loss="poisson", random_state=0),
    "LTRNetClassifier": LTRNetClassifier(**NET),
    "LTRNetRegressor": LTRNetRegressor(loss="poisson", **NET),
    "TGBClassifier": TGBClassifier(max_rules=2, random_state=0),
    "TGBClassifierCV": TGBClassifierCV(max_rules=2, cv=2, random_state=0),
    "TGBRegressor": TGBRegressor(max_rules=2, random_state=0),
    "TGBRegressorCV": TGBRegressorCV(max_rules=2, cv=2, loss="poisson", random_state=0),
}
# What each parameter is set to after the fit; everything else becomes one more.
OTHERS = {"loss": {"squared": "poisson", "poisson": "squared"}, "selection": {}, "objective": {}, "search": {}}
every_model = pytest.mark.parametrize("name", MODELS)


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + X[:, 1] > 0.0) * 1 if "Classifier" in name else rng.poisson(np.exp(1.0 + 0.5 * X[:, 0]))


@functools.cache
def grown(name: str):
    return clone(MODELS[name]).fit(*data(name))


def fitted(name: str):
    return copy.deepcopy(grown(name))


def changed(model):
    """Set every parameter to another value, valid or not."""
    values = model.get_params(deep=False).items()
    return model.set_params(**{key: OTHERS[key].get(value, value) if key in OTHERS else _other(value) for key, value in values})


def _other(value):
    return value + 1 if isinstance(value, (int, float)) else "something else"


def answers(model, X, y, directory) -> list[object]:
    """Return everything that a fitted model says."""
    model.save(directory / "model.json")
    model.report(directory / "model.html", X, y)
    edited = model.edit(X, y).drop(0).refit() if len(model.ensemble_) else model.edit(X, y).refit()
    return [
        model.predict(X).tolist(),
        [stage.tolist() for stage in model.staged_predict(X)],
        str(model.explain(X[:3])),
        model.to_text("sentences"),
        str(model.rule_table(X, y)),
        str(model.export("python")),
        str(edited.log),
        edited.ensemble,
        (directory / "model.json").read_bytes(),
        (directory / "model.html").read_bytes(),
    ]


@every_model
def test_parameters_set_after_a_fit_change_nothing_of_it(name, tmp_path):
    X, y = data(name)
    before = answers(fitted(name), X, y, tmp_path)
    assert answers(changed(fitted(name)), X, y, tmp_path) == before


@pytest.mark.parametrize("name", ["DRNetClassifier", "LLTBoostRegressor"])
def test_parameters_set_after_loading_change_nothing_of_the_model(name, tmp_path):
    X, y = data(name)
    fitted(name).save(tmp_path / "saved.json")
    before = answers(load_model(tmp_path / "saved.json"), X, y, tmp_path)
    assert answers(changed(load_model(tmp_path / "saved.json")), X, y, tmp_path) == before


@pytest.mark.parametrize("name", ["LLTBoostRegressor", "LLTBoostRegressorCV", "TGBClassifier", "TGBRegressor"])
def test_stability_refits_with_the_parameters_of_the_fit(name):
    X, y = data(name)
    asked = {"n_bootstraps": 3, "random_state": 0}
    assert changed(fitted(name)).stability(X, y, **asked) == fitted(name).stability(X, y, **asked)


def test_the_next_fit_takes_what_was_set():
    X, y = data("TGBRegressor")
    model = fitted("TGBRegressor").set_params(loss="poisson", max_rules=1)
    expected = TGBRegressor(loss="poisson", max_rules=1, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), expected)


def test_a_fit_that_fails_leaves_the_parameters_of_the_last_one():
    X, y = data("TGBRegressor")
    model = fitted("TGBRegressor")
    before = model.predict(X)
    with pytest.raises(ValueError, match="negative values"):
        model.set_params(loss="poisson").fit(X, y - 5.0)
    np.testing.assert_array_equal(model.predict(X), before)
