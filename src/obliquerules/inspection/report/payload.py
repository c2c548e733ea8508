"""Payload: the data of a workbench, as plain objects: every ensemble in full, and figures of rows but no row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from obliquerules.inspection.report.figures import figures
from obliquerules.inspection.report.groups import conditions_of, spread_sizes
from obliquerules.inspection.report.subject import Rows, Subject
from obliquerules.rules import Conjunction, Proposition, RuleEnsemble
from obliquerules.rules.document import header
from obliquerules.rules.style import Style, plain_name

# Marks a column in the text of a condition, until its name is put there: no number and no operator has it in it.
MARK = "\0"
UNNAMED = Style(name=str)


def payload(subject: Subject, rows: Rows | None, most_sizes: int) -> dict[str, Any]:
    """Return what the page is made of."""
    ensembles, present = subject.ensembles, subject.present
    sizes = spread_sizes(ensembles, present, most_sizes)
    conditions = conditions_of(ensembles)
    return {
        "title": subject.title,
        "loss": subject.loss.name,
        "words": subject.words,
        "file": json.dumps(header() | subject.file, ensure_ascii=False, allow_nan=False),
        "quoted": _quoted(ensembles[0].feature_names or ()),
        "conditions": [[_proposition(proposition) for proposition in condition] for condition in conditions],
        "ensembles": [_ensemble(ensemble, conditions) for ensemble in ensembles],
        "edits": subject.edits,
        "sizes": sizes,
        "present": sizes.index(present),
        "crossValidated": _cross_validated(subject),
        "figures": None if rows is None else figures(subject, rows, sizes, conditions),
    }


def _quoted(names: Sequence[str]) -> list[int]:
    """Return the columns whose names are printed in quotes."""
    return [column for column, name in enumerate(names) if plain_name(name) != name]


def _proposition(proposition: Proposition) -> list[Any]:
    """Return columns, weights, threshold, and the text in pieces, with numbers of columns where names stand."""
    marked = [f"{MARK}{column}{MARK}" for column in proposition.columns]
    pieces = UNNAMED.inequality(marked, proposition.weights, proposition.threshold).split(MARK)
    text = [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)]
    return [list(proposition.columns), list(proposition.weights), proposition.threshold, text]


def _ensemble(ensemble: RuleEnsemble, conditions: Sequence[Conjunction]) -> list[Any]:
    """Return the constant, the weights of the rules, and where their conditions stand."""
    return [
        ensemble.intercept,
        [rule.weight for rule in ensemble],
        [conditions.index(rule.condition) for rule in ensemble],
    ]


def _cross_validated(subject: Subject) -> dict[str, Any] | None:
    """Return the cross-validated risk as the page shows it: the root of twice the risk for the squared loss."""
    given = subject.cross_validated
    if given is None:
        return None
    low, high = np.maximum(given["mean"] - given["error"], 0.0), given["mean"] + given["error"]
    curves = {"mean": given["mean"], "low": low, "high": high}
    return {name: _as_measured(curve, subject.loss.name) for name, curve in curves.items()}


def _as_measured(risk: Any, loss: str) -> list[float]:
    factor = {"squared": 2.0, "poisson": 2.0}.get(loss, 1.0)
    measured = factor * risk
    return [float(value) for value in (np.sqrt(measured) if loss == "squared" else measured)]
