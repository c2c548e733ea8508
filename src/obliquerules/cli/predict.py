"""The command ``obliquerules predict``: the prediction for each row of a table."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.model_file import add_model, inputs, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.speech import add_at, add_json, command_parser, write_exactly, write_json
from obliquerules.cli.table import add_table, read_table

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel
    from obliquerules.rules import Block


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser("predict", "Predict the target of each row of a table, as CSV with one line for each row.")
    add_model(reader)
    add_table(reader)
    add_output(reader, "write to this file (default: standard output)")
    reader.add_argument("--probabilities", action="store_true", help="also the probability of each class")
    add_at(reader)
    add_json(reader, "the predictions")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force, options.model, options.data)
    table = read_table(options.data, options.delimiter)
    model = read_estimator(options.model, options.at)
    columns = _predictions(model, inputs(model, table), options.probabilities)
    if options.json:
        write_json(columns)
    elif options.output is None:
        write_exactly(_as_csv(columns))
    if options.output is not None:
        from obliquerules.rules.whole_files import write_text

        with writing(options.output):
            write_text(options.output, _as_csv(columns))


def _predictions(model: RuleModel, X: Block, probabilities: bool) -> dict[str, list[Any]]:
    """Return the columns of the result."""
    columns = {"prediction": model.predict(X).tolist()}
    if probabilities:
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"--probabilities cannot be used: {type(model).__name__} predicts numbers, not classes.")
        shares = model.predict_proba(X).T.tolist()
        columns |= {f"probability of {label}": share for label, share in zip(model.classes_.tolist(), shares, strict=True)}
    return columns


def _as_csv(columns: dict[str, list[Any]]) -> str:
    """Return columns as CSV; the shortest decimals that are the very numbers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
