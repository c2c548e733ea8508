"""Ensembles as the content of documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.documents.fields import Field, ModelFileError, cut
from obliquerules.rules.ensemble import Rule, RuleEnsemble
from obliquerules.rules.proposition import Proposition

# A model on columns without names may speak of any column: a short file must not ask for rows that fill the memory.
MOST_UNNAMED_COLUMNS = 10**6


def ensemble_content(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the content of the document of an ensemble by itself."""
    names = None if ensemble.feature_names is None else list(ensemble.feature_names)
    if names is None and any(rule.condition.n_columns > MOST_UNNAMED_COLUMNS for rule in ensemble):
        raise ValueError(
            f"Rules on columns beyond the first {MOST_UNNAMED_COLUMNS} can only be saved if the columns have names."
        )
    return {"kind": "ensemble", "feature_names": names, "ensemble": encode_ensemble(ensemble)}


def decode_content(document: Field) -> RuleEnsemble:
    """Return the ensemble whose document has `ensemble_content`."""
    return decode_ensemble(document.get("ensemble"), decode_names(document.get("feature_names")))


def encode_ensemble(ensemble: RuleEnsemble) -> dict[str, Any]:
    """Return the rules of an ensemble as plain objects; the names are left to the caller."""
    return {"intercept": ensemble.intercept, "rules": [encode_rule(rule) for rule in ensemble.rules]}


def encode_rule(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain objects."""
    return {
        "weight": rule.weight,
        "condition": [
            {
                "columns": list(proposition.columns),
                "weights": list(proposition.weights),
                "threshold": proposition.threshold,
            }
            for proposition in rule.condition
        ],
    }


def decode_ensemble(field: Field, feature_names: Sequence[str] | None) -> RuleEnsemble:
    """Return the ensemble that `encode_ensemble` wrote."""
    n_columns = MOST_UNNAMED_COLUMNS if feature_names is None else len(feature_names)
    rules = [decode_rule(rule, n_columns) for rule in field.get("rules").items()]
    intercept = field.get("intercept").number()
    if not math.isfinite(sum((abs(rule.weight) for rule in rules), abs(intercept))):
        raise ModelFileError(f"{field.where} has weights whose sum is too large for a number.")
    return RuleEnsemble(rules, intercept, feature_names)


def decode_rule(field: Field, n_columns: int) -> Rule:
    """Return the rule that `encode_rule` wrote, on so many columns."""
    weight = field.get("weight").number()
    return Rule(weight, Conjunction(_decode_proposition(item, n_columns) for item in field.get("condition").items()))


def _decode_proposition(field: Field, n_columns: int) -> Proposition:
    columns = [column.index(n_columns) for column in field.get("columns").items()]
    weights = [weight.number() for weight in field.get("weights").items()]
    threshold = field.get("threshold").number()
    try:
        return Proposition(columns, weights, threshold)
    except ValueError as error:
        raise ModelFileError(f"{field.where}: {cut(str(error), 300)}") from error


def decode_names(field: Field) -> list[str] | None:
    """Return a list of names, or None where the document has null."""
    return None if field.value is None else [name.text() for name in field.items()]
