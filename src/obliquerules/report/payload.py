"""Payload: the data of a workbench as plain objects, with every ensemble in full and figures about rows, but no row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.parameters import check_text
from obliquerules.report.figures import figures
from obliquerules.report.groups import conditions_of, factors_of, spread_sizes
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.rules import Columns, Conjunction, Factor, Model, Rule, RuleEnsemble
from obliquerules.rules.columns import Column, Level
from obliquerules.rules.ensemble import used_columns
from obliquerules.rules.files.encoding import encode_edits, encode_origin, encode_rule
from obliquerules.rules.files.fields import header
from obliquerules.rules.rule_parts import Test
from obliquerules.rules.text.bands import interval, only_column
from obliquerules.rules.text.formats import LARGEST_RATIO
from obliquerules.rules.text.style import PLAIN, Style, plain_level, plain_name

# A word between two operators and numbers, a column by its number, and a level as it is printed.
Piece = str | int | list[str]

# Stands on either side of a column or level in the text of a condition, where nothing else of what users write is.
MARK = "\ue000"
PLACE = re.compile(f"{MARK}([cl])([0-9]+){MARK}")


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the head of a workbench says; what is not given is left out, and no clock is asked for the date.

    Attributes
    ----------
    title : str or None
        The heading of the page.
    target : str or None
        What is predicted.
    data : str or None
        What the model was learned from.
    date : str or None
        The date of the model.
    intended_use : str or None
        Who may use the model for what.
    """

    title: str | None = None
    target: str | None = None
    data: str | None = None
    date: str | None = None
    intended_use: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            text = getattr(self, field.name)
            if text is not None:
                check_text(field.name, text)

    def lines(self, event: str | None) -> list[tuple[str, str]]:
        """Return what is said below the title, each with its name; the event is the class that scores speak of."""
        named = {
            "Target": self.target,
            "Event": event,
            "Data": self.data,
            "Date": self.date,
            "Intended use": self.intended_use,
        }
        return [(name, text) for name, text in named.items() if text is not None]


def payload(
    model: Model, head: Head, rows: MeasuredRows | None, most_sizes: int, cv_results: Mapping[str, Vector] | None
) -> dict[str, Any]:
    """Return the data of the page, with the results of cross-validation if it chose the size."""
    ensembles, present, names = model.ensembles, model.present, model.feature_names
    sizes = spread_sizes(ensembles, present, most_sizes)
    conditions, factors, texts = conditions_of(ensembles), factors_of(ensembles), PieceWriter(ensembles, model.columns)
    place: dict[Factor | None, int] = {factor: position for position, factor in enumerate(factors)}
    multiplied = [[encode_rule(Rule(0.0, factor=factor))["factor"], texts.pieces(factor)] for factor in factors]
    words, event = _words(model), None if model.labels is None else model.labels.word()
    # What is predicted; of many classes, the page lists the names itself.
    predicted, event = ("most probable class", None) if "outputs" in words else (model.mean_name, event)
    return {
        "title": f"{predicted[0].upper()}{predicted[1:]}, by rules" if head.title is None else head.title,
        "about": head.lines(event),
        "loss": model.loss.name,
        **({"power": model.loss.power} if model.loss.takes_power else {}),
        "words": words,
        "file": json.dumps(header() | encode_origin(model), ensure_ascii=False, allow_nan=False),
        "quoted": [(column, plain_name(name)) for column, name in enumerate(names) if plain_name(name) != name],
        "conditions": [
            # Each test as a file has it, and as its text in pieces.
            [[stored, texts.pieces(test)] for stored, test in zip(encode_rule(Rule(0.0, one))["condition"], one, strict=True)]
            for one in conditions
        ],
        **({"factors": multiplied} if factors else {}),
        "complexities": [Rule(0.0, condition).complexity for condition in conditions],
        "intervals": _intervals(conditions),
        "ranges": {one.column: [one.low, one.high] for one in model.ranges},
        "ensembles": [
            [
                ensemble.intercept,
                [rule.weight for rule in ensemble],
                [conditions.index(rule.condition) for rule in ensemble],
                *([[place.get(rule.factor) for rule in ensemble]] if factors else []),
            ]
            for ensemble in ensembles
        ],
        **({"ridges": list(model.ridges)} if model.ridges else {}),
        "edits": None if model.edits is None else encode_edits(model.edits, model),
        "sizes": sizes,
        "present": sizes.index(present),
        "crossValidated": None if cv_results is None else _cross_validated(model, cv_results),
        "figures": None if rows is None else figures(model, rows, sizes, conditions),
    }


def _words(model: Model) -> dict[str, Any]:
    """Return the names of the score, the prediction, the mean target and the classes."""
    outputs = model.path[0].outputs
    # What many classes are called in a table and in the text of a rule.
    of_classes = {} if outputs is None else {"names": list(outputs), "outputs": [PLAIN.output(name) for name in outputs]}
    return {
        "score": model.wording.total,
        "plural": model.wording.plural,
        "factor": model.wording.factor,
        "largest_ratio": LARGEST_RATIO,
        "mean": model.mean_name,
        "target": model.target_name,
        "labels": None if model.labels is None else [model.labels.word(code) for code in range(len(model.labels))],
    } | of_classes


def _intervals(conditions: Sequence[Conjunction]) -> dict[int, list[Any]]:
    """Return for each condition on one variable alone its column, and the cuts between which it holds."""
    found: dict[int, list[Any]] = {}
    for index, condition in enumerate(conditions):
        if (column := only_column(condition)) is not None:
            low, high = interval(condition)
            if low.value < math.inf and high.value > -math.inf:  # others never hold
                found[index] = [column, *([cut.value, cut.above] if math.isfinite(cut.value) else None for cut in (low, high))]
    return found


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


class PieceWriter:
    """Conditions and factors of ensembles, written in pieces."""

    def __init__(self, ensembles: Iterable[RuleEnsemble], columns: Columns) -> None:
        self.levels: list[str] = []
        self.style = Style(name=str, level=self._level)
        names, special = [""] * len(columns), dict(columns.special)
        for index in used_columns(ensembles):
            names[index] = f"{MARK}c{index}{MARK}"
            special[index] = replace(columns[index], name=names[index])
        kept = ((index, column) for index, column in special.items() if column != Column(column.name))
        self.columns = Columns(tuple(names), tuple(sorted(kept, key=lambda one: one[0])))

    def _level(self, level: Level) -> str:
        self.levels.append(plain_level(level))
        return f"{MARK}l{len(self.levels) - 1}{MARK}"

    def pieces(self, part: Test | Factor) -> list[Piece]:
        """Return the text of a condition or a factor in pieces."""
        parts = PLACE.split(part.describe(self.columns, self.style))
        found: list[Piece] = [parts[0]]
        for kind, number, words in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            found += [int(number) if kind == "c" else [self.levels[int(number)]], words]
        return [piece for piece in found if piece != ""]
