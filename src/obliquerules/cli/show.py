"""The command ``obliquerules show``: print the rules of a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from obliquerules.cli.model_file import add_model, read_model, reading
from obliquerules.cli.speech import add_at, add_json, command_parser, write_json, write_result
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.document import read_document
from obliquerules.rules.stored_path import decode_path, largest_within
from obliquerules.rules.text import FORMATS


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser("show", "Print the rules of a model.")
    add_model(reader)
    reader.add_argument("--format", choices=FORMATS, default="plain", help="default: %(default)s")
    reader.add_argument("--exact", action="store_true", help="print every number in full")
    add_at(reader)
    add_json(reader, "the rules and the sizes that the path offers")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    if options.format == "sentences":  # they say what the score means, which the estimator knows
        model = read_model(options.model, options.at)
        write_result(f"{model.to_text('sentences', exact=options.exact)}\n")
        return
    shown = _read(options.model, options.at)
    if options.json:
        write_json(_summary(shown))
    else:
        write_result(f"{shown.ensemble.to_text(options.format, exact=options.exact)}\n")


@dataclass(frozen=True)
class Shown:
    """What a model file holds, as far as it is shown."""

    estimator: str | None
    classes: list[Any] | None
    path: tuple[RuleEnsemble, ...]
    ensemble: RuleEnsemble


def _read(path: str, at: int | None) -> Shown:
    """Read the rules alone: the estimator that they belong to would bring scikit-learn, which takes a second or two."""
    with reading(path):
        document = read_document(path)
    if document.get("kind").value != "estimator":
        ensemble = read_model(path, at)
        return Shown(None, None, (ensemble,), ensemble)
    stored, classes = decode_path(document), document.get("classes")
    return Shown(
        document.get("estimator").text(),
        None if classes.value is None else [label.value for label in classes.get("values").items()],
        stored.path,
        stored.chosen if at is None else largest_within(stored.path, at),
    )


def _summary(shown: Shown) -> dict[str, Any]:
    return {
        "estimator": shown.estimator,
        "classes": shown.classes,
        "complexity": shown.ensemble.complexity,
        "path": [member.complexity for member in shown.path],
        "intercept": shown.ensemble.intercept,
        "rules": [
            {
                "rule": position,
                "weight": rule.weight,
                "condition": rule.condition.describe(shown.ensemble.feature_names),
                "complexity": rule.complexity,
            }
            for position, rule in enumerate(shown.ensemble)
        ],
    }
