"""Persistence: fitted estimators as JSON documents and back, exactly, without ever running what a file says."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.estimators.cross_validated import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.rule_model import RuleClassifier, RuleModel
from obliquerules.estimators.tgb import TGBClassifier, TGBRegressor
from obliquerules.rules.document import (
    Field,
    ModelFileError,
    decode_ensemble,
    decode_names,
    encode_ensemble,
    read_document,
    write_document,
)

ESTIMATORS: dict[str, type[RuleModel]] = {
    kind.__name__: kind
    for kind in (
        LLTBoostClassifier,
        LLTBoostClassifierCV,
        LLTBoostRegressor,
        LLTBoostRegressorCV,
        TGBClassifier,
        TGBRegressor,
    )
}
# What the values of each type of label must be in a file, and as an array.
LABEL_TYPES: dict[str, tuple[type, str]] = {"bool": (bool, "b"), "int": (int, "iu"), "float": (float, "f"), "str": (str, "U")}
# Columns without names get them on reading, in each member of the path: a short file must not fill the memory that way.
MOST_UNNAMED_COLUMNS = 10**6
MOST_NAMES_ON_PATH = 10**9


def save_estimator(model: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator: its parameters, names, labels and whole path."""
    model._check_parameters()
    names = getattr(model, "feature_names_in_", None)
    if names is None and model.n_features_in_ > MOST_UNNAMED_COLUMNS:
        raise ValueError(f"A model on more than {MOST_UNNAMED_COLUMNS} columns can only be saved if the columns have names.")
    content = {
        "kind": "estimator",
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": _encode_labels(model.classes_) if hasattr(model, "classes_") else None,
        "n_iter": model.n_iter_,
        "chosen": _chosen(model),
        "path": [encode_ensemble(ensemble) for ensemble in model.path_],
    }
    write_document(path, content)


def _chosen(model: RuleModel) -> int:
    """Return which member of the path predicts."""
    for index, ensemble in enumerate(model.path_):
        if ensemble is model.ensemble_ or ensemble == model.ensemble_:
            return index
    raise ValueError("ensemble_ is not one of path_: save it by itself, with ensemble_.save().")


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read what ``save`` wrote: a fitted estimator, or a `RuleEnsemble` that was saved by itself.

    Raises
    ------
    ModelFileError
        If the file is incomplete, of a newer major version, or holds anything but a model; the message names the field.
    """
    document = read_document(path)
    kind = document.get("kind")
    if kind.value == "ensemble":
        return decode_ensemble(document.get("ensemble"), decode_names(document.get("feature_names")))
    if kind.value == "estimator":
        return _decode_estimator(document)
    kind.fail("'estimator' or 'ensemble'")


def _decode_estimator(document: Field) -> RuleModel:
    field = document.get("estimator")
    if field.text() not in ESTIMATORS:
        field.fail(f"one of {', '.join(ESTIMATORS)}")
    model = _decode_parameters(document.get("parameters"), ESTIMATORS[field.text()])
    _decode_columns(model, document)
    classes = document.get("classes")
    if isinstance(model, RuleClassifier) != (classes.value is not None):
        classes.fail("two labels for a classifier and null for a regressor")
    if classes.value is not None:
        model.classes_ = _decode_labels(classes)
    _decode_path(model, document)
    return model


def _decode_parameters(field: Field, kind: type[RuleModel]) -> RuleModel:
    known = kind._get_param_names()
    for name in field.names():
        if name not in known:
            field.unknown(name, f"a parameter of {kind.__name__}")
        if isinstance(field.get(name).value, (list, dict)):
            field.get(name).fail("a number, a text, true, false or null")
    if "loss" in known:
        field.get("loss").text()  # without it, a default would stand in for the link from score to prediction
    model = kind(**field.value)
    try:
        model._check_parameters()
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {error}") from error
    return model


def _decode_columns(model: RuleModel, document: Field) -> None:
    """Set the number of columns and their names."""
    field = document.get("n_features")
    names = decode_names(document.get("feature_names"))
    model.n_features_in_ = field.index(2**31)
    if model.n_features_in_ == 0 or (names is None and model.n_features_in_ > MOST_UNNAMED_COLUMNS):
        field.fail(f"a whole number from 1 to {MOST_UNNAMED_COLUMNS}")
    if names is not None:
        if len(names) != model.n_features_in_ or len(set(names)) != len(names):
            document.get("feature_names").fail(f"a list of {model.n_features_in_} different names")
        model.feature_names_in_ = np.array(names, dtype=object)


def _decode_path(model: RuleModel, document: Field) -> None:
    """Set the ensembles and which of them predicts."""
    field = document.get("path")
    members = list(field.items())
    names = model._feature_names()
    if not members:
        field.fail("a list of one or more ensembles")
    if len(members) * len(names) > MOST_NAMES_ON_PATH:
        field.fail("a shorter list for so many columns")
    model.path_ = tuple(decode_ensemble(member, names) for member in members)
    model.ensemble_ = model.path_[document.get("chosen").index(len(members))]
    model.n_iter_ = document.get("n_iter").index(2**31)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON knows it; a random generator has no lasting state, and it and a splitter become null."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else None


def _encode_labels(classes: NDArray[Any]) -> dict[str, Any]:
    values = [value.item() if isinstance(value, np.generic) else value for value in classes.tolist()]
    for name, (kind, _) in LABEL_TYPES.items():
        if all(type(value) is kind for value in values):
            return {"type": name, "values": values}
    raise TypeError(f"Only labels that are all text, whole numbers, numbers or booleans can be saved; got {values}.")


def _decode_labels(field: Field) -> NDArray[Any]:
    name = field.get("type")
    if name.text() not in LABEL_TYPES:
        name.fail(f"one of {', '.join(LABEL_TYPES)}")
    kind, array_kinds = LABEL_TYPES[name.text()]
    values = [item.value for item in field.get("values").items()]
    if len(values) == 2 and all(type(value) is kind for value in values):
        labels = np.array(values)
        # Whole numbers too large for an array, texts that an array cannot tell apart, and infinity fail these.
        if labels.dtype.kind in array_kinds and labels[0] < labels[1] and (kind is str or np.isfinite(labels).all()):
            return labels
    field.get("values").fail(f"two different labels of type {name.text()} in ascending order")
