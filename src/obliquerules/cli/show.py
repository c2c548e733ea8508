"""The command ``obliquerules show``: print the rules of a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obliquerules.cli.console import add_at, add_json, command_parser, remark, say_verdict, write_json, write_result
from obliquerules.cli.model_file import add_model, read_rules
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.text.formats import FORMATS
from obliquerules.rules.text.records import without_unused


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
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
    rules = read_rules(options.model, options.at)
    if options.json:
        write_json(_summary(rules))
    else:
        write_result(f"{rules.to_text(options.format, exact=options.exact)}\n")
        if isinstance(rules, Model):
            say_verdict(rules.verdict)
            if rules.remark and options.format != "sentences":
                remark(rules.remark)


def _summary(rules: Model | RuleEnsemble) -> dict[str, Any]:
    model, ensemble = (None, rules) if isinstance(rules, RuleEnsemble) else (rules, rules.ensemble)
    return {
        "estimator": None if model is None or model.origin is None else model.origin.estimator,
        "classes": None if model is None or model.labels is None else list(model.labels.values),
        "complexity": ensemble.complexity,
        "path": [member.complexity for member in ((ensemble,) if model is None else model.path)],
        "verdict": None if model is None else model.verdict or None,
        "intercept": ensemble.intercept,
        "rules": _rules(ensemble),
    } | _given(model)


def _rules(ensemble: RuleEnsemble) -> list[dict[str, Any]]:
    """Return what each rule is, with its factor if any of them has one."""
    rules = [
        {
            "rule": position,
            "weight": rule.weight,
            "factor": None if rule.factor is None else rule.factor.describe(ensemble.columns),
            "condition": rule.condition.describe(ensemble.columns),
            "complexity": rule.complexity,
        }
        for position, rule in enumerate(ensemble)
    ]
    return without_unused("factor", rules)


def _given(model: Model | None) -> dict[str, Any]:
    """Return what must be known to predict, if there is anything besides the rules."""
    offset = None if model is None else model.offset
    weights = None if model is None else model.class_weights
    return ({} if offset is None else {offset.kind: list(offset.names)}) | (
        {} if weights is None else {"class_weights": list(weights)}
    )
