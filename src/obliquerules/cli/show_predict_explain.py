"""The commands ``show``, ``predict`` and ``explain``, which read a model."""

from __future__ import annotations

import argparse
import csv
import io
from typing import Any

from obliquerules.cli.console import add_at, add_json, note, say, write_exactly, write_json, write_result
from obliquerules.cli.input_table import add_data, check_row, inputs, note_new_values, read_data, unseen_levels
from obliquerules.cli.model_file import add_model, class_of, read_model, read_rules
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import given_values
from obliquerules.inspection.explanation import explain
from obliquerules.rules import Model, RuleEnsemble
from obliquerules.rules.files.whole_files import write_text
from obliquerules.rules.text.formats import FORMATS
from obliquerules.rules.text.records import without_unused


def show_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``show``."""
    parser.description = "Print the rules of a model."
    add_model(parser)
    parser.add_argument("--format", choices=FORMATS, default="plain", help="default: %(default)s")
    parser.add_argument("--exact", action="store_true", help="print every number in full")
    add_at(parser)
    add_json(parser, "the rules and the sizes that the path offers")


def run_show(options: argparse.Namespace) -> None:
    """Print the rules of a model."""
    rules = read_rules(options)
    if options.json:
        write_json(_record(rules))
        return
    write_result(f"{rules.to_text(options.format, exact=options.exact)}\n")
    if isinstance(rules, Model):
        if rules.verdict:
            say(rules.verdict)
        if rules.remark and options.format != "sentences":
            note(rules.remark)


def _record(rules: Model | RuleEnsemble) -> dict[str, Any]:
    model, ensemble = (None, rules) if isinstance(rules, RuleEnsemble) else (rules, rules.ensemble)
    listed = [
        {
            "rule": position,
            "weight": rule.weight,
            "factor": None if rule.factor is None else rule.factor.describe(ensemble.columns),
            "condition": rule.condition.describe(ensemble.columns),
            "complexity": rule.complexity,
        }
        for position, rule in enumerate(ensemble)
    ]
    record = {
        "estimator": None if model is None or model.origin is None else model.origin.estimator,
        "classes": None if model is None or model.labels is None else list(model.labels.values),
        "complexity": ensemble.complexity,
        "path": [member.complexity for member in ((ensemble,) if model is None else model.path)],
        "verdict": None if model is None else model.verdict or None,
        "intercept": ensemble.intercept,
        "rules": without_unused("factor", listed),
    }
    if model is not None and model.offset is not None:
        record[model.offset.kind] = list(model.offset.names)
    if model is not None and model.class_weights is not None:
        record["class_weights"] = list(model.class_weights)
    return record


def predict_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``predict``."""
    parser.description = "Predict the target of each row of a table, as CSV with one line for each row."
    add_model(parser)
    add_data(parser)
    add_output(parser, "write to this file (default: standard output)")
    parser.add_argument("--probabilities", action="store_true", help="also the probability of each class")
    add_at(parser)
    add_json(parser, "the predictions")


def run_predict(options: argparse.Namespace) -> None:
    """Write a prediction for each row."""
    check_output(options, options.model, options.data)
    model = read_model(options)
    data = read_data(options, model)
    X, given = inputs(model, data), given_values(model, data)
    note_new_values(model, X)
    scores = model.scores(X, given)
    columns = {"prediction": model.decisions(scores, given).tolist()}
    if options.probabilities:
        if model.labels is None:
            learner = "the model" if model.origin is None else model.origin.estimator
            raise ValueError(f"--probabilities cannot be used: {learner} predicts numbers, not classes.")
        if model.class_weights is not None:
            note(model.remark)
        shares = model.probabilities(scores).T.tolist()
        columns |= {f"probability of {label}": share for label, share in zip(model.labels.values, shares, strict=True)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")  # of numbers, the shortest decimals that give them back exactly
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    if options.json:
        write_json(columns)
    elif options.output is None:
        write_exactly(text.getvalue())
    if options.output is not None:
        with writing(options) as path:
            write_text(path, text.getvalue())


def explain_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``explain``."""
    parser.description = "Say which rules made the prediction of each row of a table."
    add_model(parser)
    add_data(parser)
    parser.add_argument("--row", type=int, metavar="N", help="this row only; the first one below the header is row 0")
    parser.add_argument(
        "--versus",
        metavar="CLASS",
        help="of more than two classes, compare the predicted one with this (default: the next likely)",
    )
    add_at(parser)
    add_json(parser, "what each rule adds for each row")


def run_explain(options: argparse.Namespace) -> None:
    """Print which rules made the predictions."""
    model = read_model(options)
    data = read_data(options, model)
    rows, first = slice(None), 0
    if options.row is not None:
        check_row(options.row, data)
        rows, first = slice(options.row, options.row + 1), options.row
    X, given = inputs(model, data, rows), given_values(model, data, rows)
    note_new_values(model, X)
    versus = class_of(model, options.versus, "--versus")
    explanation = explain(model, X, unseen_levels(model, data, X, first), given, versus=versus)
    if options.json:
        write_json([record | {"row": record["row"] + first} for record in explanation.to_dicts()])
    else:
        write_result("\n\n".join(f"Row {row.row + first}. {row}" for row in explanation) + "\n")
