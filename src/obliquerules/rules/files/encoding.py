"""Encoding: rules, ensembles and models as the plain objects of a JSON document."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquerules.rules.columns import Columns
from obliquerules.rules.files.fields import write_document
from obliquerules.rules.membership import Membership

if TYPE_CHECKING:
    from obliquerules.rules.edits import EditLog
    from obliquerules.rules.ensemble import RuleEnsemble
    from obliquerules.rules.labels import Labels
    from obliquerules.rules.model import Model, Offset
    from obliquerules.rules.proposition import Test
    from obliquerules.rules.rule import Rule

# Without names, rules may use any column: a short file must not demand rows that fill the memory.
MOST_UNNAMED_COLUMNS = 10**6
# Columns without names take no room in a file: a short one must not demand a long path of wide models.
MOST_UNNAMED_ON_PATH = 10**8
# What a file may have for each ensemble of the fit.
BY_MEMBER = ("ridges", "expected", "standard_errors")
# For each type of label, the Python type of its values in a file and the kinds of array that they may become.
LABEL_TYPES: dict[str, tuple[type, str]] = {"bool": (bool, "b"), "int": (int, "iu"), "float": (float, "f"), "str": (str, "U")}


def ensemble_content(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the content of the document of an ensemble by itself."""
    names = None if ensemble.feature_names is None else list(ensemble.feature_names)
    if names is None and max(ensemble.used_columns, default=0) >= MOST_UNNAMED_COLUMNS:
        raise ValueError(
            f"Rules on columns beyond the first {MOST_UNNAMED_COLUMNS} can only be saved if the columns have names."
        )
    content = {"kind": "ensemble", "feature_names": names, "ensemble": encode_ensemble(ensemble)}
    outputs = {} if ensemble.outputs is None else {"outputs": list(ensemble.outputs)}
    return content | outputs | _encode_columns(ensemble.columns)


def encode_ensemble(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the rules of an ensemble as plain objects; the names are left to the caller."""
    return {"intercept": _encode_weight(ensemble.intercept), "rules": [encode_rule(rule) for rule in ensemble.rules]}


def encode_rule(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain objects."""
    encoded: dict[str, Any] = {"weight": _encode_weight(rule.weight)}
    if rule.factor is not None:
        origin = {} if rule.factor.origin == 0.0 else {"origin": rule.factor.origin}
        limits = {"lower": rule.factor.lower, "upper": rule.factor.upper}
        finite = {name: limit for name, limit in limits.items() if math.isfinite(limit)}
        encoded["factor"] = {"column": rule.factor.column} | origin | finite
    return encoded | {"condition": [_encode_test(test) for test in rule.condition]}


def _encode_weight(weight: float | tuple[float, ...]) -> float | list[float]:
    return list(weight) if isinstance(weight, tuple) else weight


def _encode_test(test: Test) -> dict[str, Any]:
    if isinstance(test, Membership):
        answers = _if_true(negated=test.negated, missing=test.missing, ordered=test.ordered)
        return {"column": test.column, "levels": list(test.levels)} | answers
    columns = [summand if isinstance(summand, int) else _encode_test(summand) for summand in test.columns]
    numbers = {"columns": columns, "weights": list(test.weights), "threshold": test.threshold}
    return numbers | _if_true(missing=test.missing)


def _if_true(**answers: bool) -> dict[str, Any]:
    """Return the entries that are true; the others are left out of a file."""
    return {name: True for name, answer in answers.items() if answer}


def _encode_columns(columns: Columns | None) -> dict[str, Any]:
    """Return what columns hold besides plain numbers, as an entry of the document if there is any."""
    encoded = []
    for position, column in () if columns is None else columns.special:
        holds: dict[str, Any] = {"kind": column.kind} if column.levels is None else {"levels": list(column.levels)}
        encoded.append({"position": position} | holds | _if_true(ordered=column.ordered, missing=column.missing))
    return {"columns": encoded} if encoded else {}


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, replacing it in one step."""
    write_document(path, encode_model(model))


def encode_model(model: Model) -> dict[str, Any]:
    """Return the content of the document of a model; an edited ensemble comes last on the path and is the chosen one."""
    lists = {name: list(values) for name in BY_MEMBER if (values := getattr(model, name))}
    marks = {name: mark for name in ("selected", "separated") if (mark := getattr(model, name)) is not None}
    path = {"chosen": model.present, "path": [encode_ensemble(ensemble) for ensemble in model.ensembles]}
    edits = {} if model.edits is None else {"edits": encode_edits(model.edits, model)}
    return encode_origin(model) | lists | marks | path | edits


def encode_origin(model: Model) -> dict[str, Any]:
    """Return the content of the document of a model, without its ensembles and edits."""
    origin, names = model.origin, model.feature_names
    if origin is None:
        raise ValueError("The model does not say which estimator it comes from; save its ensemble, with ensemble.save().")
    if not origin.named and len(names) > MOST_UNNAMED_COLUMNS:
        raise ValueError(f"A model on more than {MOST_UNNAMED_COLUMNS} columns can only be saved if the columns have names.")
    if not origin.named and len(model.path) >= longest_path(len(names)):  # an edit adds one more
        raise ValueError(f"{len(model.path)} ensembles on {len(names)} columns can only be saved if the columns have names.")
    content = {
        "kind": "estimator",
        "estimator": origin.estimator,
        "parameters": dict(origin.parameters),
        "n_features": len(names),
        "feature_names": list(names) if origin.named else None,
        "classes": None if model.labels is None else encode_labels(model.labels),
        "n_iter": origin.n_iter,
    }
    given = {"names_by_hand": True} if origin.by_hand else {}
    ranges = {"ranges": [dataclasses.asdict(one) for one in model.ranges]} if model.ranges else {}
    weights = {} if model.class_weights is None else {"class_weights": list(model.class_weights)}
    return content | given | encode_offset(model.offset) | weights | ranges | _encode_columns(model.path[0].columns)


def longest_path(n_features: int) -> int:
    """Return the largest number of ensembles on ``n_features`` columns without names that a file may hold."""
    return MOST_UNNAMED_ON_PATH // n_features


def encode_edits(edits: EditLog, model: Model) -> dict[str, Any]:
    """Return the log of edits as a file has it."""
    steps = [
        {
            "action": step.action,
            "rule": step.rule,
            "new": None if step.new is None else encode_rule(step.new),
            "description": step.description,
            "complexity": [step.complexity_before, step.complexity_after],
            "loss": [step.loss_before, step.loss_after],
        }
        | ({"settings": dict(step.settings)} if step.settings else {})
        for step in edits
    ]
    return {"start": model.path.index(edits.start), "steps": steps}


def encode_offset(offset: Offset | None) -> dict[str, Any]:
    """Return what predictions are given besides the inputs, as an entry of the document if there is any."""
    if offset is None:
        return {}
    unit = {"unit": offset.unit} if offset.kind == "exposure" else {}
    return {"offset": {"kind": offset.kind, "columns": list(offset.names)} | unit}


def encode_labels(labels: Labels) -> dict[str, Any]:
    """Return the labels of classes as plain objects."""
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.values]
    for name, (kind, _) in LABEL_TYPES.items():
        if all(type(value) is kind for value in values):
            return {"type": name, "values": values}
    raise TypeError(f"Only labels that are all text, whole numbers, numbers or booleans can be saved; got {values}.")
