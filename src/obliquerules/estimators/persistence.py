"""Persistence: fitted estimators as JSON documents and back, exactly, without ever running what a file says."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.rule_model import RuleModel
from obliquerules.rules.document import (
    Field,
    ModelFileError,
    decode_ensemble,
    decode_names,
    encode_ensemble,
    read_document,
    write_document,
)

ESTIMATORS: dict[str, type[RuleModel]] = {kind.__name__: kind for kind in (LLTBoostClassifier, LLTBoostRegressor)}
LABEL_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


def save_estimator(model: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator: its parameters, names, labels and whole path."""
    names = getattr(model, "feature_names_in_", None)
    chosen = next(index for index, ensemble in enumerate(model.path_) if ensemble is model.ensemble_)
    content = {
        "kind": "estimator",
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": _encode_labels(model.classes_) if hasattr(model, "classes_") else None,
        "chosen": chosen,
        "path": [encode_ensemble(ensemble) for ensemble in model.path_],
    }
    write_document(path, content)


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
    model = ESTIMATORS[field.text()](**_decode_parameters(document.get("parameters"), ESTIMATORS[field.text()]))
    names = decode_names(document.get("feature_names"))
    model.n_features_in_ = document.get("n_features").index(2**31)
    if names is not None:
        if len(names) != model.n_features_in_:
            document.get("feature_names").fail(f"a list of {model.n_features_in_} names")
        model.feature_names_in_ = np.array(names, dtype=object)
    elif model.n_features_in_ > 10**6:
        document.get("n_features").fail("at most a million")
    if document.get("classes").value is not None:
        model.classes_ = _decode_labels(document.get("classes"))
    model.path_ = tuple(decode_ensemble(item, model._feature_names()) for item in document.get("path").items())
    model.ensemble_ = model.path_[document.get("chosen").index(len(model.path_))]
    model.n_iter_ = len(model.path_) - 1
    _check_complete(model, document)
    return model


def _check_complete(model: RuleModel, document: Field) -> None:
    loss = model.get_params().get("loss")
    if loss is not None and loss not in ("squared", "poisson"):
        document.get("parameters").get("loss").fail("'squared' or 'poisson'")
    if type(model).__name__.endswith("Classifier") != hasattr(model, "classes_"):
        document.get("classes").fail("two labels for a classifier and null for a regressor")


def _plain(value: Any) -> Any:
    """Return a parameter as JSON knows it; a random generator has no lasting state and becomes null."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)) else None


def _decode_parameters(field: Field, kind: type[RuleModel]) -> dict[str, Any]:
    known = kind._get_param_names()
    parameters = {}
    for name in field.names():
        item = field.get(name)
        if name not in known:
            raise ModelFileError(f"{item.where} is not a parameter of {kind.__name__}.")
        if isinstance(item.value, (list, dict)):
            item.fail("a number, a text, true, false or null")
        parameters[name] = item.value
    return parameters


def _encode_labels(classes: NDArray[Any]) -> dict[str, Any]:
    values = classes.tolist()
    for name, kind in LABEL_TYPES.items():
        if all(type(value) is kind for value in values):
            return {"type": name, "values": values}
    raise TypeError(f"Only labels that are all text, whole numbers, numbers or booleans can be saved; got {values}.")


def _decode_labels(field: Field) -> NDArray[Any]:
    kind = field.get("type")
    if kind.value not in LABEL_TYPES:
        kind.fail(f"one of {', '.join(LABEL_TYPES)}")
    values = [item.value for item in field.get("values").items()]
    if len(values) != 2 or not all(type(value) is LABEL_TYPES[kind.value] for value in values) or values[0] == values[1]:
        field.get("values").fail(f"two different labels of type {kind.value}")
    try:
        return np.array(values)
    except OverflowError as error:
        raise ModelFileError(f"{field.where}.values: {error}") from error
