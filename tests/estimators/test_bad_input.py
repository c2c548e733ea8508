"""Bad input gives one sentence that names what is wrong, and leaves the model as it was."""

import copy
import datetime
import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from obliquerules import DRNetClassifier, LLTBoostClassifier, LLTBoostRegressor, TGBClassifier

CLASSIFIER = LLTBoostClassifier(max_rules=2, selection="validation", random_state=0)
REGRESSOR = LLTBoostRegressor(max_rules=2, selection="validation", random_state=0)
COUNTER = LLTBoostRegressor(loss="poisson", max_rules=2, selection="validation", random_state=0)
ALL = pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, COUNTER], ids=["classes", "numbers", "counts"])
N_ROWS = 40


def good() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    return X, (X[:, 0] > 0.0) * 1.0


@functools.cache
def fitted_before(is_regressor: bool) -> Any:
    """Return a model of other columns, to be copied."""
    model = LLTBoostRegressor(loss="poisson") if is_regressor else LLTBoostClassifier()
    X, y = good()
    return model.set_params(max_rules=2, effort=0, random_state=0).fit(pd.DataFrame(X, columns=["old", "older"]), y)


def refuses(model: Any, named: str, X: Any, y: Any, sample_weight: Any = None) -> str:
    """Check that a fit fails and names the culprit, that nothing is fitted, and that an old fit stays; return the message."""
    fresh = clone(model)
    with pytest.raises((ValueError, TypeError), match=named) as caught:
        fresh.fit(X, y, sample_weight)
    assert vars(fresh).keys() == clone(model).get_params().keys()
    with pytest.raises(NotFittedError, match="not fitted"):
        fresh.predict(good()[0])

    fitted = copy.copy(fitted_before(isinstance(model, LLTBoostRegressor)))
    before = dict(vars(fitted))
    fitted.set_params(**model.get_params())
    with pytest.raises((ValueError, TypeError), match=named):
        fitted.fit(X, y, sample_weight)
    assert {name: value for name, value in vars(fitted).items() if name.endswith("_")} == {
        name: value for name, value in before.items() if name.endswith("_")
    }
    return str(caught.value)


# Shapes


@ALL
@pytest.mark.parametrize(
    ("X", "y", "named"),
    [
        (np.zeros(4), np.zeros(4), "2D array"),
        (np.zeros((4, 2, 2)), np.zeros(4), "dim 3"),
        (np.zeros((4, 2)), np.zeros(5), r"y has 5 entries, but X has 4 rows"),
        (np.zeros((4, 2)), np.zeros((4, 2)), r"y should be a 1d array"),
        (np.zeros((0, 2)), np.zeros(0), "0 sample"),
        (np.zeros((4, 0)), np.zeros(4), "0 feature"),
        (np.zeros((4, 2)), None, "y"),
        (pd.DataFrame({"a": []}), [], "0 sample"),
        (pl.DataFrame(), [], "."),
        (pd.Series(np.zeros(4)), np.zeros(4), "2-dimensional"),
        (np.full((4, 2), 1j), np.arange(4) % 2, "Complex"),
        (pl.LazyFrame({"a": [1.0, 2.0]}), [0, 1], "lazy"),
        (pd.DataFrame(np.zeros((4, 2)), columns=["twin", "twin"]), np.arange(4) % 2, "twin"),
    ],
    ids=[
        "1d",
        "3d",
        "lengths",
        "two targets",
        "no rows",
        "no columns",
        "no y",
        "empty",
        "nothing",
        "series",
        "complex",
        "lazy",
        "twins",
    ],
)
def test_shapes(model: Any, X: Any, y: Any, named: str) -> None:
    refuses(model, named, X, y)


# Values of X


@ALL
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(model: Any, make: Callable[..., Any], value: float) -> None:
    X, y = good()
    X[7, 1] = value
    message = refuses(model, "'blood pressure'", make({"age": X[:, 0], "blood pressure": X[:, 1]}), y)
    assert "inf" in message
    assert "row 7" in message
    assert "'x1'" in refuses(model, "inf", X, y)


def test_values_too_large_to_be_squared() -> None:
    X, y = good()
    refuses(CLASSIFIER, "X has values beyond", X * 1e200, y)
    refuses(REGRESSOR, "y has values beyond", X, y * 1e200)
    refuses(COUNTER, "y has values beyond", X, y * 1e200)
    refuses(REGRESSOR, "sample_weight has values beyond", X, y, np.full(N_ROWS, 1e200))


NOT_NUMBERS: dict[str, tuple[list[Any], str]] = {
    "list": ([[1.0]] * N_ROWS, "list|List"),
}


@ALL
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_columns_that_cannot_be_learned_from(model: Any, make: Callable[..., Any], kind: str) -> None:
    X, y = good()
    values, what = NOT_NUMBERS[kind]
    message = refuses(model, "Column 'odd one'", make({"age": X[:, 0], "odd one": values}), y)
    assert re.search(what, message)


def test_objects_that_are_not_all_of_a_kind_in_pandas() -> None:
    X, y = good()
    values = pd.Series([1, 2.5, "3", "four"] * (N_ROWS // 4), dtype=object)
    refuses(CLASSIFIER, "Column 'mixed' of X holds numbers and text", pd.DataFrame({"age": X[:, 0], "mixed": values}), y)


@pytest.mark.parametrize("bad", ["text", "date"])
def test_bad_columns_are_refused_on_predicting_too(bad: str) -> None:
    X, y = good()
    model = clone(CLASSIFIER).fit(pd.DataFrame({"age": X[:, 0], "odd": X[:, 1]}), y)
    odd = {"text": ["a"], "date": [datetime.datetime(2020, 1, 1)]}[bad]
    for method in (model.predict, model.predict_proba, model.decision_function, model.score_samples, model.staged_predict):
        with pytest.raises(ValueError, match="'odd'"):
            method(pd.DataFrame({"age": [1.0], "odd": odd}))


# Targets


def test_classes() -> None:
    X, y = good()
    assert "(1.0)" in refuses(CLASSIFIER, "one class", X, np.ones(N_ROWS))
    assert "('yes')" in refuses(CLASSIFIER, "one class", X, ["yes"] * N_ROWS)
    with pytest.raises(ValueError, match=r"binary.*LLTBoostClassifier, TGBClassifier and LTRNetClassifier learn more"):
        DRNetClassifier().fit(X, ["a", "b", "c", "d"] * (N_ROWS // 4))
    refuses(CLASSIFIER, "continuous", X, X[:, 0])
    refuses(CLASSIFIER, "labels of different types", X, np.array(["a", 1] * (N_ROWS // 2), dtype=object))
    refuses(CLASSIFIER, "label", X, np.array([1, "a"] * (N_ROWS // 2), dtype=object))
    refuses(CLASSIFIER, "y contains NaN", X, np.where(y == 1.0, np.nan, 0.0))
    message = refuses(CLASSIFIER, "one class only .* weight", X, y, y)
    assert "(1.0)" in message


@pytest.mark.parametrize("model", [REGRESSOR, COUNTER], ids=["numbers", "counts"])
def test_numeric_targets(model: Any) -> None:
    X, y = good()
    refuses(model, "y contains NaN", X, np.where(y == 1.0, np.nan, 0.0))
    refuses(model, "y contains inf", X, np.where(y == 1.0, np.inf, 0.0))
    refuses(model, "y contains inf", X, np.where(y == 1.0, np.inf, -np.inf))
    refuses(model, "y must hold numbers", X, np.where(y == 1.0, "many", "few"))
    refuses(model, "y must hold numbers", X, np.where(y == 1.0, "many", "few").astype(object))


def test_counts() -> None:
    X, y = good()
    refuses(COUNTER, r"y has negative values.*poisson", X, y - 1.0)
    refuses(COUNTER, r"y has nothing but zeros.*poisson", X, 0.0 * y)
    refuses(COUNTER, r"y has nothing but zeros.*poisson", X, y, 1.0 - y)


# Weights


@ALL
@pytest.mark.parametrize(
    ("weight", "what"),
    [
        (np.full(N_ROWS, np.nan), "missing or infinite"),
        (np.append(np.ones(N_ROWS - 1), np.inf), "missing or infinite"),
        (np.append(np.ones(N_ROWS - 1), -1.0), "negative"),
        (np.zeros(N_ROWS), "zero for every row"),
        (0.0, "zero for every row"),
        (np.ones(N_ROWS - 1), "40 rows"),
        (np.ones((N_ROWS, 1)), "shape"),
        (np.ones(0), "40 rows"),
        (["heavy"] * N_ROWS, "numbers"),
        (object(), "numbers"),
    ],
    ids=["nan", "inf", "negative", "zero", "scalar zero", "short", "column", "empty", "text", "object"],
)
def test_weights(model: Any, weight: Any, what: str) -> None:
    message = refuses(model, "sample_weight", *good(), weight)
    assert what in message


# Parameters

BAD_PARAMETERS: dict[str, list[Any]] = {
    "max_rules": [0, -1, 2.5, "many", None, True, np.nan],
    "max_propositions": [0, 1.0, "2", None],
    "max_variables": [0, 1.0, "2", None],
    "selection": ["magic", None, 1, ["validation"]],
    "complexity_penalty": [-1.0, "1", None, float("nan"), float("inf")],
    "validation_fraction": [-0.1, 1.0, np.nan, "half", None, True],
    "validation_tolerance": [-2.0, np.inf, np.nan, "small", None],
    "objective_tolerance": [-0.1, np.inf, np.nan, "small", None],
    "ridge": [-1.0, np.inf, np.nan, "strong", "Auto", None, 1j, True],
    "effort": [-1, 1.5, "most", None, True],
    "linear_terms": [1, "yes", None, 0.5],
    "max_seconds": [-1.0, np.inf, np.nan, "long", True],
    "keep_path": [1, "yes", None],
    "exact": ["digits", None, True],
    "search_rows": [0, 2.5, "all", True],
    "n_jobs": [0, 1.5, "all", True],
    "random_state": ["now", -1, 0.5, [1], np.random.default_rng(0)],
    "verbose": ["loudly", -1, 0.5, None],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_PARAMETERS.items() for value in values], ids=str
)
@ALL
def test_parameters(model: Any, name: str, value: Any) -> None:
    message = refuses(clone(model).set_params(**{name: value}), f"^{name} must be", *good())
    assert message.count("\n") == 0


@pytest.mark.parametrize("value", ["absolute", "logistic", None, 1, ["squared"]], ids=str)
def test_loss(value: Any) -> None:
    refuses(clone(REGRESSOR).set_params(loss=value), "^loss must be one of 'squared', 'poisson', 'gamma', 'tweedie'", *good())


def test_every_parameter_is_tried() -> None:
    assert (
        set(CLASSIFIER.get_params()) - {"positive", "class_weight"}
        == set(BAD_PARAMETERS)
        == set(REGRESSOR.get_params()) - {"loss", "tweedie_power"}
    )


# Predicting


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_columns_at_prediction(make: Callable[..., Any]) -> None:
    X, y = good()
    model = clone(CLASSIFIER).fit(make({"age": X[:, 0], "height": X[:, 1]}), y)
    with pytest.raises(ValueError, match=r"missing:\n- height"):
        model.predict(make({"age": X[:, 0]}))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- weight"):
        model.predict(make({"age": X[:, 0], "height": X[:, 1], "weight": X[:, 1]}))
    with pytest.raises(ValueError, match=r"same order(.|\n)*Column 'height' stands where 'age' stood in fit"):
        model.predict(make({"height": X[:, 1], "age": X[:, 0]}))
    np.testing.assert_array_equal(
        model.predict(make({"age": X[:, 0], "height": X[:, 1]})), model.predict(pd.DataFrame(X, columns=["age", "height"]))
    )


def test_arrays_at_prediction() -> None:
    X, y = good()
    model = clone(CLASSIFIER).fit(X, y)
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        model.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match=r"inf.*'x1'.*row 3"):
        model.predict(np.where(np.arange(N_ROWS)[:, None] * [0, 1] == 3, np.inf, X))


@ALL
def test_before_fit(model: Any) -> None:
    X, _ = good()
    methods = [name for name in dir(model) if name.startswith(("predict", "staged", "decision"))]
    assert len(methods) >= 2
    for name in methods:
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(clone(model), name)(X)
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(model).at(3)


@pytest.mark.parametrize("complexity", [-1, np.nan, 2.5, "3", None, True, [3]], ids=str)
def test_impossible_size(complexity: Any) -> None:
    model = clone(CLASSIFIER).fit(*good())
    with pytest.raises(ValueError, match="complexity must be"):
        model.at(complexity)
    assert model.ensemble_ is model.path_[-1]


def test_interrupted_fit_leaves_the_model_as_it_was() -> None:
    class Interrupting:
        """Weights that are never there, because someone presses a key."""

        def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
            raise KeyboardInterrupt

    X, y = good()
    model = clone(CLASSIFIER).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :1], 1.0 - y, Interrupting())
    assert vars(model) == before


ALL_SIZES = [0.0, 1e-320, 1e-310, 1e-308, 1e-250, 1e-199, 1e-100, 1.0, 1e70]


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("other", [1e-320, 1e-199, 1e70])
@pytest.mark.parametrize("model", [CLASSIFIER, LLTBoostClassifier(max_rules=2), TGBClassifier(max_rules=2)], ids=str)
def test_columns_of_any_size_are_learned_from_or_refused_with_a_sentence(model: Any, size: float, other: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X.sum(axis=1) > 0.0
    X *= [size, other]
    if min(size or 1.0, other) < 1e-200:
        with pytest.raises(ValueError, match=r"^Column 'x[01]' of X has no value beyond \S+, which is too small"):
            clone(model).fit(X, y)
    else:
        assert clone(model).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("size", ALL_SIZES[1:])
def test_weights_of_any_size_are_learned_from_or_refused_with_a_sentence(size: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y, weight = X[:, 0] > 0.0, size * rng.uniform(0.5, 1.0, 60)
    if size < 1e-200:
        with pytest.raises(ValueError, match=r"^sample_weight has no entry beyond \S+, which is too small"):
            TGBClassifier(max_rules=2).fit(X, y, weight)
    else:
        assert TGBClassifier(max_rules=2).fit(X, y, weight).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["a"], "feature_names has 1 names, but X has 2 columns"),
        (["a", "a"], "must give each column a name of its own"),
        (["a", ""], "must give each column a name of its own"),
        ("ab", "must be a sequence of text"),
        ([0, 1], "must be a sequence of text"),
    ],
)
def test_feature_names(names, complaint):
    with pytest.raises(ValueError, match=complaint):
        LLTBoostRegressor().fit(np.eye(2), [0.0, 1.0], feature_names=names)


def test_feature_names_must_not_contradict_a_frame():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    assert LLTBoostRegressor().fit(frame, [0.0, 1.0], feature_names=["a", "b"]).feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature_names differs from the names that the columns of X have"):
        LLTBoostRegressor().fit(frame, [0.0, 1.0], feature_names=["b", "a"])


def test_a_target_of_another_length_is_named():
    with pytest.raises(ValueError, match="y has 3 entries, but X has 2 rows"):
        LLTBoostRegressor().fit(np.eye(2), [0.0, 1.0, 2.0])


def test_a_value_that_is_too_large_names_its_column():
    with pytest.raises(ValueError, match=r"Column 'x1' of X has values beyond 1e\+75"):
        LLTBoostRegressor().fit([[0.0, 1e80], [1.0, 2.0]], [0.0, 1.0])


@pytest.mark.parametrize("kind", [LLTBoostClassifier, LLTBoostRegressor])
def test_one_level_may_have_nearly_all_weight(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": np.array(["a", "b", "c"])[rng.integers(0, 3, 40)], "x": rng.normal(size=40)})
    weight = np.where(X["c"] == "a", 1e20, 100.0 * rng.random(40))
    kind(max_rules=2, effort=0, linear_terms=False).fit(X, rng.integers(0, 2, 40), sample_weight=weight)
