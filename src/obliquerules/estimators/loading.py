"""Loading: model files as fitted estimators, without ever executing code from a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.lltboost import (
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
)
from obliquerules.estimators.networks import DRNetClassifier, LTRNetClassifier, LTRNetRegressor
from obliquerules.estimators.rule_model import RuleModel
from obliquerules.estimators.tgb import TGBClassifier, TGBClassifierCV, TGBRegressor, TGBRegressorCV
from obliquerules.rules.files.decoding import decode_content, decode_model
from obliquerules.rules.files.fields import Field, ModelFileError, read_document

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
        TGBClassifierCV,
        TGBRegressor,
        TGBRegressorCV,
    )
}


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator or a `RuleEnsemble` from a file.

    Raises
    ------
    ModelFileError
        If the file is incomplete, has a newer major version, or is not a model; the message names the field.
    """
    document = read_document(path)
    kind = document.get("kind")
    if kind.value == "ensemble":
        return decode_content(document)
    if kind.value != "estimator":
        kind.fail("'estimator' or 'ensemble'")
    field = document.get("estimator")
    if field.text() not in ESTIMATORS:
        field.fail(f"one of {', '.join(ESTIMATORS)}")
    estimator = _decode_parameters(document.get("parameters"), ESTIMATORS[field.text()])
    classes = document.get("classes")
    if isinstance(estimator, RuleClassifier) != (classes.value is not None):
        classes.fail("two or more labels for a classifier and null for a regressor")
    model = decode_model(document)
    estimator.model_, estimator.n_features_in_ = model, len(model.feature_names)
    if model.expected_names is not None and not model.named_by_hand:
        estimator.feature_names_in_ = np.array(model.expected_names, dtype=object)
    return estimator


def _decode_parameters(field: Field, kind: type[RuleModel]) -> RuleModel:
    known = kind._get_param_names()
    for name in field.entries():
        if name not in known:
            field.unknown(name, f"a parameter of {kind.__name__}")
        if isinstance(field.get(name).value, (list, dict)):
            field.get(name).fail("a number, a text, true, false or null")
    if "loss" in known:
        field.get("loss").text()  # without it, a default would decide the link from score to prediction
    estimator = kind(**field.entries())
    try:
        estimator._method(), estimator._loss()
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {error}") from error
    return estimator
