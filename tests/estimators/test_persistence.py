"""Saving and loading estimators: the file gives back the model exactly, and a hostile file gives a clear complaint."""

import copy
import json
import os
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from obliquerules import (
    Conjunction,
    LLTBoostClassifier,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    ModelFileError,
    Proposition,
    Rule,
    RuleEnsemble,
    TGBRegressor,
    TGBRegressorCV,
    load_model,
)
from obliquerules.estimators.loading import ESTIMATORS
from obliquerules.rules import Column

from ..report.mixed import holding, made_up

SCHEMA = json.loads((files("obliquerules.rules") / "model.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

LABELS = {
    "str": st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.integers(-(2**53), 2**53).map(float),  # labels with a fraction are a regression target to scikit-learn
    "bool": st.booleans(),
}
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
same_directory = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def data(seed: int, n_columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, n_columns))
    return X, X[:, 0] + X[:, -1] + 0.3 * rng.normal(size=60) > 0.2


def classifier(**parameters: Any) -> LLTBoostClassifier:
    X, y = data(0)
    return LLTBoostClassifier(**{"max_rules": 3, "selection": "validation", "random_state": 0} | parameters).fit(X, y)


def regressor(loss: str = "squared") -> LLTBoostRegressor:
    X, y = data(0)
    return LLTBoostRegressor(loss=loss, max_rules=3, selection="validation", random_state=0).fit(X, 3.0 * y + (X[:, 1] > 0.0))


def same_model(one: Any, other: Any, X: Any) -> None:
    assert type(one) is type(other)
    # An estimated ridge is written as its value.
    assert one.get_params() | {"ridge": None} == other.get_params() | {"ridge": None}
    assert one.ridge == other.ridge or "auto" in (one.ridge, other.ridge)
    assert (one.path_, one.ensemble_, one.n_iter_) == (other.path_, other.ensemble_, other.n_iter_)
    assert one.n_features_in_ == other.n_features_in_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for first, second in zip(one.staged_predict(X), other.staged_predict(X), strict=True):
        np.testing.assert_array_equal(first, second)
    if hasattr(one, "classes_"):
        assert one.classes_.tolist() == other.classes_.tolist()
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def saved_twice(model: Any, directory: Path) -> Any:
    """Save, load, save again; return what was loaded, once both files are known to be valid and the same."""
    model.save(directory / "first.json")
    loaded = load_model(directory / "first.json")
    loaded.save(directory / "second.json")
    text = (directory / "first.json").read_bytes()
    assert text == (directory / "second.json").read_bytes()
    VALIDATOR.validate(json.loads(text))
    return loaded


@pytest.mark.parametrize("kind", LABELS)
@same_directory
@given(drawn=st.data(), seed=st.integers(0, 2**32 - 1), named=st.booleans())
def test_classifier_comes_back_exactly(tmp_path: Path, kind: str, drawn: st.DataObject, seed: int, named: bool) -> None:
    labels = drawn.draw(st.lists(LABELS[kind], min_size=2, max_size=2, unique=True))
    X, y = data(seed)
    if named:
        X = pd.DataFrame(X, columns=drawn.draw(st.lists(NAME, min_size=3, max_size=3, unique=True)))
    model = LLTBoostClassifier(max_rules=2, selection="validation", random_state=seed).fit(X, np.array(labels)[y.astype(int)])
    loaded = saved_twice(model, tmp_path)
    same_model(model, loaded, X)
    assert loaded.predict(X).dtype.kind == model.predict(X).dtype.kind
    assert hasattr(loaded, "feature_names_in_") == named


@pytest.mark.parametrize("loss", ["squared", "poisson", "tweedie"])
@same_directory
@given(seed=st.integers(0, 2**32 - 1), magnitude=st.integers(-20, 20))
def test_regressor_comes_back_exactly(tmp_path: Path, loss: str, seed: int, magnitude: int) -> None:
    X, y = data(seed)
    model = LLTBoostRegressor(loss=loss, max_rules=2, selection="validation", random_state=0)
    model.fit(X * 10.0**magnitude, y * 10.0 ** (magnitude if loss == "squared" else 1))
    same_model(model, saved_twice(model, tmp_path), X * 10.0**magnitude)


@pytest.mark.parametrize("complexity", [0, 4, 9])
def test_chosen_size_survives(tmp_path: Path, complexity: int) -> None:
    model = classifier().at(complexity)
    loaded = saved_twice(model, tmp_path)
    assert loaded.ensemble_ == model.ensemble_ != model.path_[-1]
    assert loaded.at(1000).ensemble_ == model.path_[-1]


def test_model_without_a_rule_comes_back(tmp_path: Path) -> None:
    X = np.ones((10, 2))
    model = LLTBoostRegressor().fit(X, np.arange(10.0))
    same_model(model, saved_twice(model, tmp_path), X)


def test_labels_of_python_and_numpy_objects_are_saved_alike(tmp_path: Path) -> None:
    X, y = data(0)
    labels = np.where(y, "yes", "no")
    plain = LLTBoostClassifier(random_state=0).fit(X, labels)
    boxed = LLTBoostClassifier(random_state=0).fit(X, np.array(list(labels), dtype=object))
    assert type(boxed.classes_[0]) is np.str_
    plain.save(tmp_path / "plain.json")
    boxed.save(tmp_path / "boxed.json")
    assert (tmp_path / "plain.json").read_bytes() == (tmp_path / "boxed.json").read_bytes()


def test_parameters_come_back_as_plain_numbers(tmp_path: Path) -> None:
    model = classifier(ridge=np.float32(0.5), max_variables=np.int64(2), verbose=False, random_state=np.random.RandomState(3))
    loaded = saved_twice(model, tmp_path)
    assert loaded.get_params() == model.get_params() | {"random_state": None}
    assert type(loaded.ridge) is float
    assert type(loaded.max_variables) is int


def test_every_estimator_can_be_loaded() -> None:
    assert {name: kind.__name__ for name, kind in ESTIMATORS.items()} == {name: name for name in ESTIMATORS}
    assert {"LLTBoostClassifier", "LLTBoostRegressor"} <= set(ESTIMATORS)


def test_ridges_and_expected_losses_come_back_exactly(tmp_path: Path) -> None:
    X, y = data(0)
    model = LLTBoostClassifier(max_rules=3, linear_terms=False, effort=0).fit(X, y)
    loaded = saved_twice(model, tmp_path)
    assert len(model.model_.ridges) == len(model.model_.expected) == len(model.path_)
    assert loaded.model_ == model.model_
    assert loaded.ridge_ == model.ridge_
    edited = model.edit(X, y).drop(0).model
    assert saved_twice(edited, tmp_path).model_ == edited.model_
    held_out = replace(model.model_, standard_errors=model.model_.expected, selected=1, separated=9)
    assert saved_twice(model._with(held_out), tmp_path).model_ == held_out


def test_files_without_ridges_and_expected_losses_are_read(tmp_path: Path) -> None:
    model = classifier(ridge=2.0)
    assert model.model_.expected == ()
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert not document.keys() & {"expected", "standard_errors", "selected", "separated"}
    del document["ridges"]
    loaded = load_model(written(document, tmp_path))
    assert loaded.model_ == replace(model.model_, ridges=())
    assert loaded.ridge_ == 2.0


# The schema


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_saved_ensemble_is_valid(tmp_path: Path) -> None:
    model = classifier()
    for ensemble in (*model.path_, RuleEnsemble(), RuleEnsemble([Rule(1.0)], 2.0, ["größe"])):
        ensemble.save(tmp_path / "ensemble.json")
        VALIDATOR.validate(json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8")))
        assert load_model(tmp_path / "ensemble.json") == ensemble


@pytest.mark.parametrize("n_rules", [0, 1, 40])
def test_files_of_levels_dates_and_missing_values_are_valid(tmp_path: Path, n_rules: int) -> None:
    model, X, _ = holding(made_up(n_rules, n_rules))
    same_model(model, saved_twice(model, tmp_path), X)
    model.ensemble_.save(tmp_path / "ensemble.json")
    VALIDATOR.validate(json.loads((tmp_path / "ensemble.json").read_text(encoding="utf-8")))
    assert load_model(tmp_path / "ensemble.json") == model.ensemble_


def test_files_of_flags_are_valid(tmp_path: Path) -> None:
    X = pd.DataFrame({"drug": [0, 1] * 30, "dose": np.linspace(0.0, 1.0, 60)})
    model = LLTBoostRegressor(max_rules=2, linear_terms=False).fit(X, X["drug"] + (X["dose"] > 0.5))
    same_model(model, saved_twice(model, tmp_path), X)


# Hostile documents


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """A saved classifier with names, a regressor without, the same edited, ensembles, and one of levels and missing values."""
    directory = tmp_path_factory.mktemp("documents")
    X, y = data(0)
    named = LLTBoostClassifier(max_rules=3, selection="validation", random_state=0)
    named.fit(pd.DataFrame(X, columns=["a", "b", "c"]), np.where(y, "yes", "no"))
    plain = regressor()
    edited = plain.edit(X, 3.0 * y + (X[:, 1] > 0.0)).drop(0).add("x1 >= 0.5").lock(0).refit().model
    unnamed = RuleEnsemble(named.ensemble_.rules, named.ensemble_.intercept)
    colour = Column("colour", ("red", "blue"), missing=True)
    text = "+1 if colour = red or missing\n+2 if age + 12 (colour = blue) >= 60 or missing\n+3 if age is missing"
    mixed = RuleEnsemble.parse(text, [Column("age", missing=True), colour])
    models = {"classifier": named, "regressor": plain, "ensemble": named.ensemble_, "unnamed": unnamed, "edited": edited}
    models["mixed"] = mixed
    for name, model in models.items():
        model.save(directory / name)
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in directory.iterdir()}


def written(document: Any, directory: Path) -> Path:
    path = directory / "hostile.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def put(*steps: Any) -> Callable[[dict[str, Any]], None]:
    """Return what sets the entry at the given keys and positions to the last argument."""

    def change(document: dict[str, Any]) -> None:
        *way, last, value = steps
        for step in way:
            document = document[step]
        document[last] = value

    return change


def put_each(name: str, value: float) -> Callable[[dict[str, Any]], None]:
    """Return what gives each ensemble of the path a number."""
    return lambda document: put(name, [value] * len(document["path"]))(document)


def drop(*steps: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *way, last = steps
        for step in way:
            document = document[step]
        del document[last]

    return change


TEST_OF_MIXED = ("ensemble", "rules", 0, "condition")
TWO_HUGE_WEIGHTS = [{"weight": 1e308, "condition": []}, {"weight": -1e308, "condition": []}]
TWO_RANGES = [{"column": 0, "low": 0.0, "high": high} for high in (1.0, 2.0)]
HOSTILE: list[tuple[str, str, Callable[[dict[str, Any]], None], str, bool]] = [
    # what is wrong, which document, how it is made so, what the message names, whether the schema sees it too
    ("no format", "classifier", drop("format"), "format", True),
    ("another format", "classifier", put("format", "pickle"), "format", True),
    ("no version", "classifier", drop("version"), "version", True),
    ("version as text", "classifier", put("version", "1"), "version", True),
    ("newer version", "classifier", put("version", 2), "version", True),
    ("no kind", "classifier", drop("kind"), "kind", True),
    ("unknown kind", "classifier", put("kind", "network"), "kind", True),
    ("kind as a list", "classifier", put("kind", ["estimator"]), "kind", True),
    ("unknown estimator", "classifier", put("estimator", "os.system"), "estimator", True),
    ("estimator of another library", "classifier", put("estimator", "DummyClassifier"), "estimator", False),
    ("estimator as a number", "classifier", put("estimator", 1), "estimator", True),
    ("estimator as an object", "classifier", put("estimator", {}), "estimator", True),
    ("regressor with classes", "classifier", put("estimator", "LLTBoostRegressor"), "parameters", True),
    ("parameters as a list", "classifier", put("parameters", []), "parameters", True),
    ("unknown parameter", "classifier", put("parameters", "command", "rm"), "command", False),
    ("special parameter", "classifier", put("parameters", "__class__", "rm"), "__class__", False),
    ("parameter as a list", "classifier", put("parameters", "max_rules", [3]), "max_rules", True),
    ("parameter as text", "classifier", put("parameters", "max_rules", "3"), "max_rules", False),
    ("endless parameter", "classifier", put("parameters", "ridge", 10**400), "ridge", False),
    ("option as a number", "classifier", put("parameters", "selection", 3), "selection", False),
    ("unknown option", "classifier", put("parameters", "selection", "magic"), "selection", False),
    ("seed as text", "classifier", put("parameters", "random_state", "now"), "random_state", False),
    ("no loss", "regressor", drop("parameters", "loss"), "loss", True),
    ("loss is null", "regressor", put("parameters", "loss", None), "loss", True),
    ("unknown loss", "regressor", put("parameters", "loss", "logistic"), "loss", False),
    ("no n_features", "classifier", drop("n_features"), "n_features", True),
    ("no feature", "regressor", put("n_features", 0), "n_features", True),
    ("negative n_features", "regressor", put("n_features", -3), "n_features", True),
    ("huge n_features", "regressor", put("n_features", 10**9), "n_features", False),
    ("endless n_features", "regressor", put("n_features", 10**400), "n_features", False),
    ("n_features as text", "regressor", put("n_features", "3"), "n_features", True),
    ("n_features is true", "regressor", put("n_features", True), "n_features", True),
    ("no names", "classifier", drop("feature_names"), "feature_names", True),
    ("too few names", "classifier", put("feature_names", ["a", "b"]), "feature_names", False),
    ("too many names", "classifier", put("feature_names", ["a", "b", "c", "d"]), "feature_names", False),
    ("names as a text", "classifier", put("feature_names", "abc"), "feature_names", True),
    ("the same name twice", "classifier", put("feature_names", ["a", "b", "a"]), "feature_names", False),
    ("names as numbers", "classifier", put("feature_names", [1, 2, 3]), "feature_names[0]", True),
    ("half a character", "classifier", put("feature_names", 1, "\ud800"), "feature_names[1]", False),
    ("no classes", "classifier", drop("classes"), "classes", True),
    ("classes are null", "classifier", put("classes", None), "classes", True),
    ("classes of a regressor", "regressor", put("classes", {"type": "int", "values": [0, 1]}), "classes", True),
    ("classes as a list", "classifier", put("classes", ["no", "yes"]), "classes", True),
    ("unknown label type", "classifier", put("classes", "type", "bytes"), "classes.type", True),
    ("label type as a list", "classifier", put("classes", "type", ["str"]), "classes.type", True),
    ("label type as an object", "classifier", put("classes", "type", {}), "classes.type", True),
    ("no labels", "classifier", put("classes", "values", []), "classes.values", True),
    ("one label", "classifier", put("classes", "values", ["no"]), "classes.values", True),
    ("three labels", "classifier", put("classes", "values", ["a", "b", "c"]), "path[0].intercept", False),
    ("mixed labels", "classifier", put("classes", "values", ["a", 1]), "classes.values", True),
    ("equal labels", "classifier", put("classes", "values", ["a", "a"]), "classes.values", True),
    ("equal but for trailing zeros", "classifier", put("classes", "values", ["a", "a\x00"]), "classes.values", False),
    ("labels the wrong way round", "classifier", put("classes", "values", ["yes", "no"]), "classes.values", False),
    ("nested labels", "classifier", put("classes", "values", [["a"], ["b"]]), "classes.values", True),
    ("true for 1", "classifier", put("classes", {"type": "int", "values": [0, True]}), "classes.values", True),
    ("1 for 1.0", "classifier", put("classes", {"type": "float", "values": [0.5, 1]}), "classes.values", False),
    ("endless label", "classifier", put("classes", {"type": "int", "values": [0, 10**30]}), "classes.values", False),
    ("no path", "classifier", drop("path"), "path", True),
    ("empty path", "classifier", put("path", []), "path", True),
    ("path as an object", "classifier", put("path", {}), "path", True),
    ("path of numbers", "classifier", put("path", 0, 1), "path[0]", True),
    ("chosen missing", "classifier", drop("chosen"), "chosen", True),
    ("chosen too large", "classifier", put("chosen", 4), "chosen", False),
    ("chosen negative", "classifier", put("chosen", -1), "chosen", True),
    ("chosen is true", "classifier", put("chosen", True), "chosen", True),
    ("chosen as a fraction", "classifier", put("chosen", 0.5), "chosen", True),
    ("no intercept", "classifier", drop("path", 1, "intercept"), "path[1]", True),
    ("endless intercept", "classifier", put("path", 1, "intercept", 10**400), "path[1].intercept", False),
    ("weights beyond all numbers", "classifier", put("path", 2, "rules", TWO_HUGE_WEIGHTS), "path[2]", False),
    ("rules as text", "classifier", put("path", 1, "rules", "none"), "path[1].rules", True),
    ("rule as text", "classifier", put("path", 1, "rules", 0, "if"), "path[1].rules[0]", True),
    ("weight as text", "classifier", put("path", 1, "rules", 0, "weight", "1"), "rules[0].weight", True),
    ("no condition", "classifier", drop("path", 1, "rules", 0, "condition"), "condition", True),
    ("condition is null", "classifier", put("path", 1, "rules", 0, "condition", None), "condition", True),
    ("column beyond the names", "classifier", put("path", 1, "rules", 0, "condition", 0, "columns", [3]), "columns[0]", False),
    ("column beyond n_features", "regressor", put("path", 1, "rules", 0, "condition", 0, "columns", [3]), "columns[0]", False),
    ("negative column", "classifier", put("path", 1, "rules", 0, "condition", 0, "columns", [-1]), "columns[0]", True),
    ("no column", "classifier", put("path", 1, "rules", 0, "condition", 0, "columns", []), "condition[0]", True),
    ("a weight too many", "classifier", put("path", 1, "rules", 0, "condition", 0, "weights", [1] * 4), "condition[0]", False),
    ("threshold is null", "classifier", put("path", 1, "rules", 0, "condition", 0, "threshold", None), "threshold", True),
    ("chosen before the edited one", "edited", put("chosen", 0), "chosen", False),
    ("edits as a list", "edited", put("edits", []), "edits", True),
    ("edits without a start", "edited", drop("edits", "start"), "start", True),
    ("edits that start at the edited one", "edited", put("edits", "start", 4), "edits.start", False),
    ("edits without steps", "edited", put("edits", "steps", []), "edits.steps", True),
    ("edits that lead elsewhere", "edited", drop("edits", "steps", 0), "edits.steps", False),
    ("unknown action", "edited", put("edits", "steps", 0, "action", "exec"), "steps[0].action", True),
    ("rule that is not there", "edited", put("edits", "steps", 0, "rule", 9), "steps[0].rule", False),
    ("drop without a rule", "edited", put("edits", "steps", 0, "rule", None), "steps[0].rule", True),
    ("add at a place", "edited", put("edits", "steps", 1, "rule", 0), "steps[1].rule", True),
    ("add without a rule", "edited", put("edits", "steps", 1, "new", None), "steps[1].new", True),
    ("lock with a new rule", "edited", put("edits", "steps", 2, "new", {"weight": 1, "condition": []}), "steps[2].new", True),
    ("new rule on another column", "edited", put("edits", "steps", 1, "new", "condition", 0, "columns", [7]), "columns", False),
    ("description as a number", "edited", put("edits", "steps", 0, "description", 1), "description", True),
    ("one complexity", "edited", put("edits", "steps", 0, "complexity", [1]), "complexity", True),
    ("loss as text", "edited", put("edits", "steps", 0, "loss", ["a", "b"]), "loss[0]", True),
    (
        "a column that no row has",
        "unnamed",
        put("ensemble", "rules", 0, "condition", 0, "columns", [10**6]),
        "columns[0]",
        False,
    ),
    ("names of an ensemble as numbers", "ensemble", put("feature_names", [1]), "feature_names[0]", True),
    ("ensemble missing", "ensemble", drop("ensemble"), "ensemble", True),
    ("ensemble as a list", "ensemble", put("ensemble", []), "ensemble", True),
    ("columns as an object", "mixed", put("columns", {}), "columns", True),
    ("column without a position", "mixed", drop("columns", 0, "position"), "position", True),
    ("column that is not there", "mixed", put("columns", 0, "position", 7), "position", False),
    ("two columns in one position", "mixed", put("columns", 0, "position", 1), "columns[1].position", False),
    ("two ranges of one column", "classifier", put("ranges", TWO_RANGES), "ranges", False),
    ("too few ridges", "classifier", put("ridges", [1.0]), "ridges", False),
    ("ridge below zero", "classifier", put_each("ridges", -1.0), "ridges", True),
    ("too many expected losses", "edited", put("expected", [0.5] * 99), "expected", False),
    ("expected loss as text", "classifier", put("expected", ["low"]), "expected[0]", True),
    ("standard errors of nothing", "classifier", put_each("standard_errors", 0.1), "standard_errors", False),
    ("selected beyond the path", "classifier", put("selected", 99), "selected", False),
    ("separated as text", "classifier", put("separated", "5"), "separated", True),
    ("unknown kind of column", "mixed", put("columns", 0, "kind", "colour"), "columns[0]", True),
    ("order without levels", "mixed", put("columns", 0, "ordered", True), "columns[0]", True),
    ("levels as a text", "mixed", put("columns", 1, "levels", "red"), "levels", True),
    ("the same level twice", "mixed", put("columns", 1, "levels", ["red", "red"]), "columns[1]", True),
    ("levels of two types", "mixed", put("columns", 1, "levels", ["red", 1]), "columns[1]", True),
    ("level with decimals", "mixed", put("columns", 1, "levels", [0.5]), "levels[0]", True),
    ("endless level", "mixed", put("columns", 1, "levels", [2**60]), "levels[0]", True),
    ("level is null", "mixed", put(*TEST_OF_MIXED, 0, "levels", [None]), "levels[0]", True),
    ("missing as text", "mixed", put(*TEST_OF_MIXED, 0, "missing", "yes"), "missing", True),
    ("levels of numbers", "mixed", put(*TEST_OF_MIXED, 0, "column", 0), "ensemble", False),
    ("column as text", "mixed", put(*TEST_OF_MIXED, 0, "column", "colour"), "column", True),
    ("no levels and no answer", "mixed", put(*TEST_OF_MIXED, 0, {"column": 1, "levels": []}), "condition[0]", True),
    ("order of no levels", "mixed", put("ensemble", "rules", 2, "condition", 0, "ordered", True), "condition[0]", True),
    ("sum of levels", "mixed", put("ensemble", "rules", 1, "condition", 0, "columns", [0, 1]), "ensemble", False),
    ("part of a sum as text", "mixed", put("ensemble", "rules", 1, "condition", 0, "columns", 1, "blue"), "columns[1]", True),
    ("missing in a sum as a number", "mixed", put("ensemble", "rules", 1, "condition", 0, "missing", 1), "missing", True),
]


@pytest.mark.parametrize(("name", "change", "named", "seen"), [h[1:] for h in HOSTILE], ids=[h[0] for h in HOSTILE])
def test_hostile_document(
    documents: dict[str, Any], tmp_path: Path, name: str, change: Callable[[Any], None], named: str, seen: bool
) -> None:
    document = copy.deepcopy(documents[name])
    change(document)
    with pytest.raises(ModelFileError) as caught:
        load_model(written(document, tmp_path))
    message = str(caught.value).removeprefix(str(tmp_path / "hostile.json"))
    assert named in message
    assert len(message) < 400
    assert VALIDATOR.is_valid(document) != seen


@pytest.mark.parametrize("name", ["classifier", "regressor", "ensemble", "edited", "mixed"])
def test_unknown_fields_are_ignored(documents: dict[str, Any], tmp_path: Path, name: str) -> None:
    document = copy.deepcopy(documents[name]) | {
        "written_by": {"anyone": [1, 2]},
    }
    ensembles = document["path"] if "path" in document else [document["ensemble"]]
    for ensemble in ensembles:
        ensemble["note"] = None
        for rule in ensemble["rules"]:
            rule["note"] = "x"
            for proposition in rule["condition"]:
                proposition["note"] = 1
    VALIDATOR.validate(document)
    loaded = load_model(written(document, tmp_path))
    original = load_model(written(documents[name], tmp_path))
    assert getattr(loaded, "path_", loaded) == getattr(original, "path_", original)


HUGE = [0, -1, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**63, 10**30, "", "x" * 1000, "\ud800", "LLTBoostRegressor", "1.0"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.sampled_from(HUGE) | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("name", ["classifier", "regressor", "ensemble", "edited"])
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_whatever_is_changed_there_is_a_model_or_a_complaint(
    documents: dict[str, Any], tmp_path: Path, name: str, drawn: st.DataObject
) -> None:
    document = copy.deepcopy(documents[name])
    for _ in range(drawn.draw(st.integers(1, 2))):
        change_somewhere(document, drawn)
    try:
        model = load_model(written(document, tmp_path))
    except ModelFileError:
        return
    ensemble = getattr(model, "ensemble_", model)
    n_columns = max([3, *(1 + column for rule in ensemble for p in rule.condition for column in p.columns)])
    columns = getattr(model, "n_features_in_", None) or len(ensemble.feature_names or [None] * n_columns)
    X = np.zeros((2, columns))
    scores = ensemble(X)
    assert np.isfinite(scores).all()
    str(ensemble).encode()
    if model is not ensemble:
        frame = pd.DataFrame(X, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else X
        assert len(model.predict(frame)) == 2
    model.save(tmp_path / "again.json")
    again = load_model(tmp_path / "again.json")
    assert getattr(again, "ensemble_", again) == ensemble


def change_somewhere(document: Any, drawn: st.DataObject) -> None:
    """Replace or drop one entry, at a depth that is drawn too."""
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = drawn.draw(st.sampled_from(keys))
        inner = node[key]
        if not isinstance(inner, (dict, list)) or drawn.draw(st.integers(0, 4)) == 0:
            break
        node = inner
    if drawn.draw(st.integers(0, 5)) == 0:
        del node[key]
    else:
        node[key] = drawn.draw(ANYTHING)


@same_directory
@given(raw=st.binary(max_size=200))
@example(raw=b"")
@example(raw=b"\xff\xfe{}")
@example(raw=b"\xef\xbb\xbf{}")
@example(raw=b"null")
@example(raw=b"[]")
@example(raw=b"NaN")
@example(raw=b'{"format": "obliquerules", "version": 1, "kind": Infinity}')
@example(raw=b"1" * 5000)
def test_any_bytes_are_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "hostile.json").write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"hostile\.json"):
        load_model(tmp_path / "hostile.json")


def test_numbers_that_python_reads_as_infinity_are_refused(documents: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(documents["classifier"] | {"classes": {"type": "float", "values": [0.5, 1.5]}})
    (tmp_path / "hostile.json").write_text(text.replace("1.5]}", "1e999]}"), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"classes\.values"):
        load_model(tmp_path / "hostile.json")


@pytest.mark.parametrize("field", ["format", "weight", "path"])
def test_a_field_that_stands_twice_is_refused(documents: dict[str, Any], tmp_path: Path, field: str) -> None:
    text = json.dumps(documents["classifier"]).replace(f'"{field}":', f'"{field}": 1, "{field}":', 1)
    (tmp_path / "hostile.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=f"has the field '{field}' twice"):
        load_model(tmp_path / "hostile.json")


def test_millions_of_empty_lists_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "hostile.json").write_text("[" + "[]," * 2_000_000 + "[]]", encoding="utf-8")
    with pytest.raises(ModelFileError, match="more than 2000000 objects and lists"):
        load_model(tmp_path / "hostile.json")


def test_columns_without_names_have_a_limit(tmp_path: Path) -> None:
    rules = [Rule(1.0, Conjunction([Proposition([10**6], [1.0], 0.5)]))]
    with pytest.raises(ValueError, match="can only be saved if the columns have names"):
        RuleEnsemble(rules).save(tmp_path / "rules.json")


@pytest.mark.parametrize("field", ["format", "kind", "estimator", "classes", "path"])
def test_deep_nesting_is_refused(documents: dict[str, Any], tmp_path: Path, field: str) -> None:
    text = json.dumps(documents["classifier"] | {field: "HERE"})
    for depth in (*range(900, 1010, 5), 100_000):
        (tmp_path / "hostile.json").write_text(text.replace('"HERE"', "[" * depth + "]" * depth), encoding="utf-8")
        with pytest.raises(ModelFileError):
            load_model(tmp_path / "hostile.json")


@pytest.mark.parametrize("members", [101, 999, 20_000])
def test_long_path_of_many_columns_is_refused_before_the_columns_get_names(
    documents: dict[str, Any], tmp_path: Path, members: int
) -> None:
    document = copy.deepcopy(documents["regressor"]) | {"n_features": 10**6, "feature_names": None}
    document["path"] = [{"intercept": 0.0, "rules": []}] * members
    path = written(document, tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=rf"path should be a list of 1 to 100 ensembles; got a list of {members}\."):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 50e6  # to read takes 32 MB, a million names would take 64
    finally:
        tracemalloc.stop()


def test_the_members_of_a_path_share_their_names(documents: dict[str, Any], tmp_path: Path) -> None:
    document = copy.deepcopy(documents["regressor"]) | {"n_features": 10**6, "feature_names": None, "chosen": 0}
    document["path"] = [{"intercept": 0.0, "rules": []}] * 100
    del document["ridges"]
    model = load_model(written(document, tmp_path))
    assert len({id(member.feature_names) for member in model.path_}) == 1
    assert len(model.path_) == 100


def test_path_that_would_not_be_read_is_not_saved(tmp_path: Path) -> None:
    model = classifier()
    wide = RuleEnsemble([], 0.0, [f"x{column}" for column in range(10**6)])
    model.model_ = replace(model.model_, path=(wide,) * 100, chosen=0)
    with pytest.raises(ValueError, match="only be saved if the columns have names"):
        model.save(tmp_path / "model.json")


def test_a_double_field_among_many_is_found_in_one_pass(tmp_path: Path) -> None:
    fields = ", ".join(f'"field {number}": 0' for number in range(200_000))
    (tmp_path / "hostile.json").write_text(f'{{{fields}, "field 199999": 0}}', encoding="utf-8")
    with pytest.raises(ModelFileError, match="has the field 'field 199999' twice"):
        load_model(tmp_path / "hostile.json")


def test_a_complaint_is_short_however_long_what_it_is_about(documents: dict[str, Any], tmp_path: Path) -> None:
    condition = {"columns": [0] * 10_000, "weights": [1.0] * 10_000, "threshold": 0.0}
    document = copy.deepcopy(documents["regressor"])
    document["path"][0]["rules"] = [{"weight": 1.0, "condition": [condition]}]
    with pytest.raises(ModelFileError, match="must be different") as caught:
        load_model(written(document, tmp_path))
    assert len(str(caught.value)) < 1000


def test_large_file_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "hostile.json", "wb") as file:
        file.truncate(10**9)
    with pytest.raises(ModelFileError, match="MB"):
        load_model(tmp_path / "hostile.json")


class Trap:
    """Unpickled, it makes a directory."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def test_pickle_is_not_executed(tmp_path: Path) -> None:
    (tmp_path / "hostile.json").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "hostile.json")
    assert not (tmp_path / "sprung").exists()


def test_missing_file_is_an_operating_system_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        load_model(tmp_path / "absent.json")
    with pytest.raises(OSError, match="irectory"):
        load_model(tmp_path)


# What cannot be saved


def test_unfitted_model_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        LLTBoostClassifier().save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_labels_that_json_does_not_know_are_not_saved(tmp_path: Path) -> None:
    X, y = data(0)
    model = LLTBoostClassifier(random_state=0).fit(X, np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")[y.astype(int)])
    with pytest.raises(TypeError, match="labels"):
        model.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_what_was_fitted_cannot_be_exchanged() -> None:
    with pytest.raises(AttributeError):
        classifier().ensemble_ = RuleEnsemble([], 1.0)


def test_parameters_set_after_the_fit_are_not_saved(tmp_path: Path) -> None:
    classifier().save(tmp_path / "fitted.json")
    classifier().set_params(max_rules="many").save(tmp_path / "changed.json")
    assert (tmp_path / "changed.json").read_bytes() == (tmp_path / "fitted.json").read_bytes()


def test_name_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        RuleEnsemble([], 1.0, ["\ud800"]).save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_model_too_large_to_be_read_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MB"):
        RuleEnsemble([], 1.0, ["x" * 40_000_000]).save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        classifier().save(tmp_path / "absent" / "model.json")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        classifier().save(tmp_path / "file" / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_directory_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "model.json").mkdir()
    with pytest.raises(OSError, match=r"model\.json"):
        classifier().save(tmp_path / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is unwritable to the superuser")
def test_unwritable_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"model\.json"):
            classifier().save(tmp_path / "model.json")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no directory that refuses files even to the superuser")
def test_directory_that_takes_no_files() -> None:
    with pytest.raises(OSError, match=r"model\.json"):
        classifier().save("/proc/self/model.json")


def test_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    model = classifier()
    model.save(tmp_path / "model.json")
    before = (tmp_path / "model.json").read_bytes()
    model.model_ = replace(model.model_, origin=None)
    with pytest.raises(ValueError, match="which estimator"):
        model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_the_number_of_rounds_survives_where_the_path_has_more_members(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = LLTBoostRegressor(max_rules=3, selection="information").fit(X, X[:, 0] + np.sin(3.0 * X[:, 1]))
    assert len(model.path_) > model.n_iter_ + 1
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").n_iter_ == model.n_iter_ == 3


@pytest.mark.parametrize("ridge", ["auto", 2.5])
@pytest.mark.parametrize("kind", [LLTBoostRegressor, LLTBoostRegressorCV, TGBRegressor, TGBRegressorCV])
def test_the_ridge_survives(kind, ridge, tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = kind(max_rules=2, ridge=ridge).fit(X, X[:, 0] > 0.3)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").ridge_ == model.ridge_
    assert isinstance(model.ridge_, float)
    assert ridge == "auto" or model.ridge_ == ridge


def test_without_a_fit_there_is_no_ridge():
    assert not hasattr(LLTBoostRegressor(), "ridge_")


def test_names_given_beside_an_array_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = LLTBoostRegressor(max_rules=2).fit(X, X[:, 0] > 0.3, feature_names=["dose", "age"])
    assert "dose" in str(model.ensemble_)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.model_ == model.model_
    for one in (model, loaded):  # arrays are what is expected, and frames must have the names
        assert np.array_equal(one.predict(X), one.predict(pd.DataFrame(X, columns=["dose", "age"])))
        with pytest.raises(ValueError, match="columns of X must be dose, age"):
            one.predict(pd.DataFrame(X, columns=["age", "dose"]))
