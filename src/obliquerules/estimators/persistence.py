"""Persistence: fitted estimators as JSON documents and back, exactly, without ever running what a file says."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.estimators.cross_validated import LLTBoostClassifierCV, LLTBoostRegressorCV
from obliquerules.estimators.drnet import DRNetClassifier
from obliquerules.estimators.editing import ACTIONS, EditLog, EditStep
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.ltrnet import LTRNetClassifier, LTRNetRegressor
from obliquerules.estimators.rule_model import RuleClassifier, RuleModel
from obliquerules.estimators.tgb import TGBClassifier, TGBRegressor
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.document import (
    MOST_UNNAMED_COLUMNS,
    Field,
    ModelFileError,
    decode_content,
    decode_rule,
    encode_ensemble,
    encode_rule,
    read_document,
    write_document,
)
from obliquerules.rules.stored_path import decode_path, longest_path

ESTIMATORS: dict[str, type[RuleModel]] = {
    kind.__name__: kind
    for kind in (
        DRNetClassifier,
        LLTBoostClassifier,
        LLTBoostClassifierCV,
        LLTBoostRegressor,
        LLTBoostRegressorCV,
        LTRNetClassifier,
        LTRNetRegressor,
        TGBClassifier,
        TGBRegressor,
    )
}
# What the values of each type of label must be in a file, and as an array.
LABEL_TYPES: dict[str, tuple[type, str]] = {"bool": (bool, "b"), "int": (int, "iu"), "float": (float, "f"), "str": (str, "U")}


def save_estimator(model: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator: its parameters, names, labels and whole path."""
    write_document(path, encode_estimator(model) | _encode_path(model))


def encode_estimator(model: RuleModel) -> dict[str, Any]:
    """Return what a file says about a fitted estimator, but for its ensembles and edits."""
    model._check_parameters()
    names = getattr(model, "feature_names_in_", None)
    if names is None and model.n_features_in_ > MOST_UNNAMED_COLUMNS:
        raise ValueError(f"A model on more than {MOST_UNNAMED_COLUMNS} columns can only be saved if the columns have names.")
    # An edit adds one more.
    if names is None and len(model.path_) >= longest_path(model.n_features_in_):
        raise ValueError(f"So long a path on {model.n_features_in_} columns can only be saved if the columns have names.")
    return {
        "kind": "estimator",
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": _encode_labels(model.classes_) if hasattr(model, "classes_") else None,
        "n_iter": model.n_iter_,
    }


def _encode_path(model: RuleModel) -> dict[str, Any]:
    """Return the ensembles, which of them predicts, and the edits.

    An edited ensemble stands behind those of the fit and is the chosen one, so that a reader that knows nothing of edits, as
    of version 1.0, predicts with it all the same.
    """
    path = [encode_ensemble(ensemble) for ensemble in model.path_]
    if model.edits_ is None:
        return {"chosen": position_on_path(model.ensemble_, model), "path": path}
    return {"chosen": len(path), "path": [*path, encode_ensemble(model.ensemble_)], "edits": encode_edits(model.edits_, model)}


def encode_edits(edits: EditLog, model: RuleModel) -> dict[str, Any]:
    """Return the log of edits as a file has it."""
    return {"start": position_on_path(edits.start, model), "steps": [_encode_step(step) for step in edits]}


def position_on_path(member: RuleEnsemble, model: RuleModel) -> int:
    """Return where an ensemble stands in the path."""
    for index, ensemble in enumerate(model.path_):
        if ensemble is member or ensemble == member:
            return index
    raise ValueError("ensemble_ is not one of path_: save it by itself, with ensemble_.save().")


def _encode_step(step: EditStep) -> dict[str, Any]:
    return {
        "action": step.action,
        "rule": step.rule,
        "new": None if step.new is None else encode_rule(step.new),
        "description": step.description,
        "complexity": [step.complexity_before, step.complexity_after],
        "loss": [step.loss_before, step.loss_after],
    }


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
        return decode_content(document)
    if kind.value == "estimator":
        return _decode_estimator(document)
    kind.fail("'estimator' or 'ensemble'")


def _decode_estimator(document: Field) -> RuleModel:
    field = document.get("estimator")
    if field.text() not in ESTIMATORS:
        field.fail(f"one of {', '.join(ESTIMATORS)}")
    model = _decode_parameters(document.get("parameters"), ESTIMATORS[field.text()])
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
    model._keep_parameters()
    return model


def _decode_path(model: RuleModel, document: Field) -> None:
    """Set the columns, the ensembles and which of them predicts."""
    stored = decode_path(document)
    model.n_features_in_ = stored.n_features
    if stored.feature_names is not None:
        model.feature_names_in_ = np.array(stored.feature_names, dtype=object)
    model.path_, model.ensemble_ = stored.path, stored.chosen
    model.n_iter_ = document.get("n_iter").index(2**31)
    edits = document.get("edits", None)
    if edits.value is not None:
        model.edits_ = _decode_edits(edits, model)


def _decode_edits(field: Field, model: RuleModel) -> EditLog:
    """Return the log, once it is known to lead to as many rules as the edited ensemble has."""
    start = model.path_[field.get("start").index(len(model.path_))]
    n_rules, steps = len(start), []
    for item in field.get("steps").items():
        steps.append(_decode_step(item, n_rules, model.n_features_in_))
        n_rules += (steps[-1].action == "add") - (steps[-1].action == "drop")
    if not steps or n_rules != len(model.ensemble_):
        field.get("steps").fail(f"one or more steps that lead to {len(model.ensemble_)} rules")
    return EditLog(start, tuple(steps))


def _decode_step(field: Field, n_rules: int, n_columns: int) -> EditStep:
    action = field.get("action")
    if action.text() not in ACTIONS:
        action.fail(f"one of {', '.join(ACTIONS)}")
    named, renewed = ACTIONS[action.text()]
    rule, new = field.get("rule"), field.get("new")
    if not named and rule.value is not None:
        rule.fail("null")
    if not renewed and new.value is not None:
        new.fail("null")
    return EditStep(
        action.text(),
        rule.index(n_rules) if named else None,
        decode_rule(new, n_columns) if renewed else None,
        field.get("description").text(),
        *(item.index(2**31) for item in _pair(field.get("complexity"))),
        *(item.number() for item in _pair(field.get("loss"))),
    )


def _pair(field: Field) -> tuple[Field, Field]:
    items = list(field.items())
    if len(items) != 2:
        field.fail("two numbers, before and after")
    return items[0], items[1]


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
