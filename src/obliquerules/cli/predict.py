"""The command ``obliquerules predict``: the prediction for each row of a table."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.cli.console import add_at, add_json, command_parser, remark, write_exactly, write_json
from obliquerules.cli.input_table import add_data, inputs, read_data, remark_on_new_values
from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import given_to
from obliquerules.rules import Block, Model
from obliquerules.rules.files.whole_files import write_text


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser("predict", "Predict the target of each row of a table, as CSV with one line for each row.")
    add_model(reader)
    add_data(reader)
    add_output(reader, "write to this file (default: standard output)")
    reader.add_argument("--probabilities", action="store_true", help="also the probability of each class")
    add_at(reader)
    add_json(reader, "the predictions")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force, options.model, options.data)
    model = read_model(options.model, options.at)
    data = read_data(options, model)
    X, given = inputs(model, data), given_to(model, data)
    remark_on_new_values(model, X)
    columns = _predictions(model, X, given, options.probabilities)
    if options.json:
        write_json(columns)
    elif options.output is None:
        write_exactly(_as_csv(columns))
    if options.output is not None:
        with writing(options.output, options.force) as path:
            write_text(path, _as_csv(columns))


def _predictions(model: Model, X: Block, given: NDArray[np.float64] | None, probabilities: bool) -> dict[str, list[Any]]:
    """Return the columns of the result."""
    scores = model.scores(X, given)
    columns = {"prediction": model.decisions(scores, given).tolist()}
    if probabilities:
        if model.labels is None:
            learner = "the model" if model.origin is None else model.origin.estimator
            raise ValueError(f"--probabilities cannot be used: {learner} predicts numbers, not classes.")
        if model.class_weights is not None:
            remark(model.remark)
        shares = model.probabilities(scores).T.tolist()
        columns |= {f"probability of {label}": share for label, share in zip(model.labels.values, shares, strict=True)}
    return columns


def _as_csv(columns: dict[str, list[Any]]) -> str:
    """Return columns as CSV; the shortest decimals that are the very numbers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
