"""Payload: the data of a workbench as plain objects, with every ensemble in full and figures about rows, but no row."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.losses import TweedieLoss
from obliquerules.report.figures import figures
from obliquerules.report.groups import conditions_of, factors_of, spread_sizes
from obliquerules.report.head import Head
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.pieces import Texts
from obliquerules.rules import Conjunction, Factor, Model, Rule, RuleEnsemble
from obliquerules.rules.files.encoding import encode_edits, encode_origin, encode_rule
from obliquerules.rules.files.fields import header
from obliquerules.rules.text.bands import Cut, interval, only_column
from obliquerules.rules.text.formats import LARGEST_RATIO
from obliquerules.rules.text.style import PLAIN, plain_name


def payload(
    model: Model, head: Head, rows: MeasuredRows | None, most_sizes: int, cv_results: Mapping[str, Vector] | None
) -> dict[str, Any]:
    """Return the data of the page, with the results of cross-validation if it chose the size."""
    ensembles, present = model.ensembles, model.present
    sizes = spread_sizes(ensembles, present, most_sizes)
    conditions, factors, texts = conditions_of(ensembles), factors_of(ensembles), Texts(ensembles, model.columns)
    return {
        "title": head.heading(model),
        "about": head.lines(model),
        "loss": model.loss.name,
        **({"power": model.loss.power} if isinstance(model.loss, TweedieLoss) else {}),
        "words": _words(model),
        "file": json.dumps(header() | encode_origin(model), ensure_ascii=False, allow_nan=False),
        "quoted": _quoted(model.feature_names),
        "conditions": _conditions(conditions, texts),
        **({"factors": [[_stored(factor), texts.pieces(factor)] for factor in factors]} if factors else {}),
        "complexities": [Rule(0.0, condition).complexity for condition in conditions],
        "intervals": _intervals(conditions),
        "ranges": {one.column: [one.low, one.high] for one in model.ranges},
        "ensembles": [_ensemble(ensemble, conditions, factors) for ensemble in ensembles],
        **({"ridges": list(model.ridges)} if model.ridges else {}),
        "edits": None if model.edits is None else encode_edits(model.edits, model),
        "sizes": sizes,
        "present": sizes.index(present),
        "crossValidated": None if cv_results is None else _cross_validated(model, cv_results),
        "figures": None if rows is None else figures(model, rows, sizes, conditions),
    }


def _words(model: Model) -> dict[str, Any]:
    """Return the names of the score, the prediction, the mean target and the classes."""
    return {
        "score": model.wording.total,
        "plural": model.wording.plural,
        "factor": model.wording.factor,
        "largest_ratio": LARGEST_RATIO,
        "mean": model.mean_name,
        "target": model.target_name,
        "labels": None if model.labels is None else [model.labels.word(code) for code in range(len(model.labels))],
    } | _class_words(model)


def _class_words(model: Model) -> dict[str, Any]:
    """Return what many classes are called in a table and in the text of a rule."""
    outputs = model.path[0].outputs
    return {} if outputs is None else {"names": list(outputs), "outputs": [PLAIN.output(name) for name in outputs]}


def _quoted(names: Sequence[str]) -> list[tuple[int, str]]:
    """Return the columns with quoted names, and these names."""
    return [(column, plain_name(name)) for column, name in enumerate(names) if plain_name(name) != name]


def _conditions(conditions: Sequence[Conjunction], texts: Texts) -> list[Any]:
    """Return the tests of each condition, each as a file has it and as its text in pieces."""
    return [
        [
            [stored, texts.pieces(test)]
            for stored, test in zip(encode_rule(Rule(0.0, condition))["condition"], condition, strict=True)
        ]
        for condition in conditions
    ]


def _stored(factor: Factor) -> dict[str, Any]:
    """Return a factor as a file has it."""
    stored: dict[str, Any] = encode_rule(Rule(0.0, factor=factor))["factor"]
    return stored


def _intervals(conditions: Sequence[Conjunction]) -> dict[int, list[Any]]:
    """Return for each condition on one variable alone its column, and the cuts between which it holds."""
    alone = {index: condition for index, condition in enumerate(conditions) if only_column(condition) is not None}
    ends = {index: interval(condition) for index, condition in alone.items()}
    return {
        index: [only_column(alone[index]), _end(low), _end(high)]
        for index, (low, high) in ends.items()
        if low.value < math.inf and high.value > -math.inf  # others never hold
    }


def _end(cut: Cut) -> list[Any] | None:
    return [cut.value, cut.above] if math.isfinite(cut.value) else None


def _ensemble(ensemble: RuleEnsemble, conditions: Sequence[Conjunction], factors: Sequence[Factor]) -> list[Any]:
    """Return the constant, the weights of the rules, the positions of their conditions and, if there are any, factors."""
    multiplied = [None if rule.factor is None else factors.index(rule.factor) for rule in ensemble]
    return [
        ensemble.intercept,
        [rule.weight for rule in ensemble],
        [conditions.index(rule.condition) for rule in ensemble],
        *([multiplied] if factors else []),
    ]


def _cross_validated(model: Model, results: Mapping[str, Vector]) -> dict[str, Any]:
    """Return the cross-validated risk, with one standard error on either side, as the page shows it.

    Each curve has a height for each member of the path, null where its size was not compared.
    """
    mean, error = results["mean_test_risk"], results["standard_error"]
    curves = {"mean": mean, "low": np.maximum(mean - error, 0.0), "high": mean + error}
    shown = {name: model.loss.shown_risk(curve).tolist() for name, curve in curves.items()}
    position = {int(complexity): index for index, complexity in enumerate(results["complexity"])}
    at = [position.get(ensemble.complexity) for ensemble in model.path]
    return {name: [None if index is None else heights[index] for index in at] for name, heights in shown.items()}
