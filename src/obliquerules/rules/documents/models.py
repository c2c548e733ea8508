"""Models as the content of documents: what a file says of a fitted model, and the model that it says it of."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from obliquerules.losses import LOSSES, REGRESSION_LOSSES, Loss
from obliquerules.rules.documents.ensembles import (
    MOST_UNNAMED_COLUMNS,
    decode_ensemble,
    decode_names,
    decode_rule,
    encode_ensemble,
    encode_rule,
)
from obliquerules.rules.documents.fields import Field, write_document
from obliquerules.rules.edits import ACTIONS, EditLog, EditStep
from obliquerules.rules.ensemble import RuleEnsemble, shared_names
from obliquerules.rules.labels import Labels
from obliquerules.rules.model import Model, Origin
from obliquerules.rules.style import column_names

# Columns without names take nothing in a file: a short one must not ask for a long path of wide models.
MOST_UNNAMED_ON_PATH = 10**8
# What the values of each type of label must be in a file, and as an array.
LABEL_TYPES: dict[str, tuple[type, str]] = {"bool": (bool, "b"), "int": (int, "iu"), "float": (float, "f"), "str": (str, "U")}


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, replacing it in one step."""
    write_document(path, encode_model(model))


def encode_model(model: Model) -> dict[str, Any]:
    """Return all that a file says about a model.

    An edited ensemble stands behind those of the fit and is the chosen one, so that a reader that knows nothing of edits, as
    of version 1.0, predicts with it all the same.
    """
    path = {"chosen": model.present, "path": [encode_ensemble(ensemble) for ensemble in model.ensembles]}
    edits = {} if model.edits is None else {"edits": encode_edits(model.edits, model)}
    return encode_origin(model) | path | edits


def encode_origin(model: Model) -> dict[str, Any]:
    """Return what a file says about a model, but for its ensembles and edits."""
    origin, names = model.origin, model.feature_names
    if origin is None:
        raise ValueError("The model does not say which estimator it comes from; save its ensemble, with ensemble.save().")
    if not origin.named:
        _check_unnamed(len(names), len(model.path))
    return {
        "kind": "estimator",
        "estimator": origin.estimator,
        "parameters": dict(origin.parameters),
        "n_features": len(names),
        "feature_names": list(names) if origin.named else None,
        "classes": None if model.labels is None else _encode_labels(model.labels),
        "n_iter": origin.n_iter,
    }


def _check_unnamed(n_columns: int, n_ensembles: int) -> None:
    """Raise if a file with these numbers would not be read."""
    if n_columns > MOST_UNNAMED_COLUMNS:
        raise ValueError(f"A model on more than {MOST_UNNAMED_COLUMNS} columns can only be saved if the columns have names.")
    if n_ensembles >= longest_path(n_columns):  # an edit adds one more
        raise ValueError(f"So long a path on {n_columns} columns can only be saved if the columns have names.")


def encode_edits(edits: EditLog, model: Model) -> dict[str, Any]:
    """Return the log of edits as a file has it."""
    return {"start": model.path.index(edits.start), "steps": [_encode_step(step) for step in edits]}


def _encode_step(step: EditStep) -> dict[str, Any]:
    return {
        "action": step.action,
        "rule": step.rule,
        "new": None if step.new is None else encode_rule(step.new),
        "description": step.description,
        "complexity": [step.complexity_before, step.complexity_after],
        "loss": [step.loss_before, step.loss_after],
    }


def decode_model(document: Field) -> Model:
    """Return the model that `encode_model` wrote."""
    n_columns, given = _decode_columns(document)
    members = _decode_members(document.get("path"), n_columns, given)
    chosen = document.get("chosen")
    position = chosen.index(len(members))
    labels = None if document.get("classes").value is None else _decode_labels(document.get("classes"))
    loss = _decode_loss(document.get("parameters"), labels)
    origin = _decode_origin(document, given is not None)
    edits = document.get("edits", None)
    if edits.value is None:
        return Model(members, position, loss, labels, None, origin)
    if len(members) < 2 or position != len(members) - 1:
        chosen.fail("the position of the last ensemble of the path, which is the edited one")
    model = Model(members[:-1], 0, loss, labels, None, origin)
    return model.edited(_decode_edits(edits, model, members[-1]))


def _decode_origin(document: Field, named: bool) -> Origin:
    parameters, n_iter = document.get("parameters"), document.get("n_iter")
    return Origin(document.get("estimator").text(), tuple(parameters.entries().items()), n_iter.index(2**31), named)


def _decode_loss(parameters: Field, labels: Labels | None) -> Loss:
    """Return the loss: that of classes or, of numbers, the one that must be named, because it holds the link."""
    if labels is not None:
        return LOSSES["logistic"]
    loss = parameters.get("loss")
    if loss.text() not in REGRESSION_LOSSES:
        loss.fail(f"one of {', '.join(REGRESSION_LOSSES)}")
    return LOSSES[loss.text()]


def _decode_members(field: Field, n_columns: int, given: tuple[str, ...] | None) -> tuple[RuleEnsemble, ...]:
    """Return the ensembles of the path and, if there is one, the edited one behind them."""
    members = list(field.items())
    most = longest_path(n_columns) if given is None else len(members)
    if not 1 <= len(members) <= most:
        field.fail(f"a list of 1 to {most} ensembles" if members else "a list of one or more ensembles")
    names = shared_names(column_names(range(n_columns), None) if given is None else given)
    return tuple(decode_ensemble(member, names) for member in members)


def _decode_columns(document: Field) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of columns and their names."""
    field = document.get("n_features")
    names = decode_names(document.get("feature_names"))
    n_features = field.index(2**31)
    if n_features == 0 or (names is None and n_features > MOST_UNNAMED_COLUMNS):
        field.fail(f"a whole number from 1 to {MOST_UNNAMED_COLUMNS}")
    if names is None:
        return n_features, None
    if len(names) != n_features or len(set(names)) != len(names):
        document.get("feature_names").fail(f"a list of {n_features} different names")
    return n_features, tuple(names)


def longest_path(n_features: int) -> int:
    """Return how many ensembles on so many columns without names a file may hold."""
    return MOST_UNNAMED_ON_PATH // n_features


def _decode_edits(field: Field, model: Model, edited: RuleEnsemble) -> EditLog:
    """Return the log, once it is known to lead to as many rules as the edited ensemble has."""
    start = model.path[field.get("start").index(len(model.path))]
    n_rules, steps = len(start), []
    for item in field.get("steps").items():
        steps.append(_decode_step(item, n_rules, len(model.feature_names)))
        n_rules += (steps[-1].action == "add") - (steps[-1].action == "drop")
    if not steps or n_rules != len(edited):
        field.get("steps").fail(f"one or more steps that lead to {len(edited)} rules")
    return EditLog(start, tuple(steps), edited)


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


def _encode_labels(labels: Labels) -> dict[str, Any]:
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.values]
    for name, (kind, _) in LABEL_TYPES.items():
        if all(type(value) is kind for value in values):
            return {"type": name, "values": values}
    raise TypeError(f"Only labels that are all text, whole numbers, numbers or booleans can be saved; got {values}.")


def _decode_labels(field: Field) -> Labels:
    name = field.get("type")
    if name.text() not in LABEL_TYPES:
        name.fail(f"one of {', '.join(LABEL_TYPES)}")
    kind, array_kinds = LABEL_TYPES[name.text()]
    values = [item.value for item in field.get("values").items()]
    if len(values) == 2 and all(type(value) is kind for value in values):
        labels = np.array(values)
        # Whole numbers too large for an array, texts that an array cannot tell apart, and infinity fail these.
        if labels.dtype.kind in array_kinds and labels[0] < labels[1] and (kind is str or np.isfinite(labels).all()):
            return Labels.of_classes(labels)
    field.get("values").fail(f"two different labels of type {name.text()} in ascending order")
