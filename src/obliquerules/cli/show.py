"""The command ``obliquerules show``: print the rules of a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obliquerules.cli.model_file import add_model, read_model, reading
from obliquerules.cli.speech import add_at, add_json, command_parser, write_json, write_result
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.decoding import decode_model
from obliquerules.rules.documents.fields import read_document
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
    model, ensemble = _read(options.model, options.at)
    if options.json:
        write_json(_summary(model, ensemble))
    else:
        write_result(f"{(model or ensemble).to_text(options.format, exact=options.exact)}\n")


def _read(path: str, at: int | None) -> tuple[Model | None, RuleEnsemble]:
    """Read the model alone: the estimator that it belongs to would bring scikit-learn, which takes a second or two."""
    with reading(path):
        document = read_document(path)
    if document.get("kind").value != "estimator":
        return None, read_model(path, at)
    model = decode_model(document)
    chosen = model if at is None else model.at(at)
    return chosen, chosen.ensemble


def _summary(model: Model | None, ensemble: RuleEnsemble) -> dict[str, Any]:
    return {
        "estimator": None if model is None or model.origin is None else model.origin.estimator,
        "classes": None if model is None or model.labels is None else list(model.labels.values),
        "complexity": ensemble.complexity,
        "path": [member.complexity for member in ((ensemble,) if model is None else model.path)],
        "intercept": ensemble.intercept,
        "rules": [
            {
                "rule": position,
                "weight": rule.weight,
                "condition": rule.condition.describe(ensemble.feature_names),
                "complexity": rule.complexity,
            }
            for position, rule in enumerate(ensemble)
        ],
    }
