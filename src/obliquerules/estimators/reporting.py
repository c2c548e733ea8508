"""Reporting: a fitted estimator as the subject of a workbench, and the file written."""

from __future__ import annotations

import os
from typing import Any

import obliquerules
from obliquerules.estimators.parameters import check_text
from obliquerules.estimators.persistence import encode_edits, encode_estimator, position_on_path
from obliquerules.estimators.rule_model import RuleClassifier, RuleModel
from obliquerules.inspection.report.page import page
from obliquerules.inspection.report.payload import payload
from obliquerules.inspection.report.subject import Rows, Subject
from obliquerules.rules.whole_files import write_text


def write_report(model: RuleModel, path: str | os.PathLike[str], rows: Rows | None, title: str | None, max_sizes: int) -> None:
    """Write the workbench of a fitted model."""
    if title is not None:
        check_text("title", title)
    data = payload(_subject(model, _default_title(model) if title is None else title), rows, max_sizes)
    write_text(path, page(data, obliquerules.__version__))


def _default_title(model: RuleModel) -> str:
    words = model._mean_words()
    return f"{words[0].upper()}{words[1:]}, by rules"


def _subject(model: RuleModel, title: str) -> Subject:
    edited = model.edits_ is not None
    ensembles = (*model.path_, model.ensemble_) if edited else model.path_
    return Subject(
        title,
        ensembles,
        len(model.path_) if edited else position_on_path(model.ensemble_, model),
        model._loss(),
        _words(model),
        encode_estimator(model),
        None if model.edits_ is None else encode_edits(model.edits_, model),
        _cross_validated(model),
    )


def _words(model: RuleModel) -> dict[str, Any]:
    """Return what the model calls its score, its prediction, the mean of targets, and its classes."""
    wording = model._wording()
    return {
        "score": wording.total,
        "plural": wording.plural,
        "mean": model._mean_words(),
        "target": model._target_words(),
        "labels": [model._label(0), model._label(1)] if isinstance(model, RuleClassifier) else None,
    }


def _cross_validated(model: RuleModel) -> dict[str, Any] | None:
    results = getattr(model, "cv_results_", None)
    return None if results is None else {"mean": results["mean_test_risk"], "error": results["standard_error"]}
