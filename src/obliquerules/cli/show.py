"""The command ``obliquerules show``: print the rules of a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.speech import add_at, add_json, command_parser, write_json, write_result

FORMATS = ("plain", "markdown", "latex", "sentences")


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
    model = read_model(options.model, options.at)
    if options.json:
        write_json(_summary(model))
    else:
        write_result(f"{model.to_text(options.format, exact=options.exact)}\n")


def _summary(model: Any) -> dict[str, Any]:
    ensemble = getattr(model, "ensemble_", model)
    return {
        "estimator": None if ensemble is model else type(model).__name__,
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        "complexity": ensemble.complexity,
        "path": [member.complexity for member in getattr(model, "path_", [ensemble])],
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
