"""The command ``obliquerules explain``: which rules made the prediction of each row."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obliquerules.cli.console import add_at, add_json, command_parser, write_json, write_result
from obliquerules.cli.input_table import add_data, inputs, read_data, remark_on_new_values, unseen_levels
from obliquerules.cli.io.data_file import DataFile
from obliquerules.cli.model_file import add_model, class_of, read_model
from obliquerules.cli.roles import given_to
from obliquerules.inspection.explanation import explain
from obliquerules.rules import Model


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser("explain", "Say which rules made the prediction of each row of a table.")
    add_model(reader)
    add_data(reader)
    reader.add_argument("--row", type=int, metavar="N", help="this row only; the first one below the header is row 0")
    reader.add_argument(
        "--versus",
        metavar="CLASS",
        help="of more than two classes, compare the predicted one with this (default: the next likely)",
    )
    add_at(reader)
    add_json(reader, "what each rule adds for each row")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    model = read_model(options.model, options.at)
    data = read_data(options, model)
    if options.row is not None:
        check_row(options.row, data)
    first, last = (0, len(data.block)) if options.row is None else (options.row, options.row + 1)
    X, given = inputs(model, data, slice(first, last)), given_to(model, data, slice(first, last))
    remark_on_new_values(model, X)
    explanation = explain(model, X, unseen_levels(model, data, X, first), given, versus=_versus(model, options))
    if options.json:
        write_json([record | {"row": record["row"] + first} for record in explanation.to_dicts()])
    else:
        write_result("\n\n".join(f"Row {row.row + first}. {row}" for row in explanation) + "\n")


def _versus(model: Model, options: argparse.Namespace) -> Any:
    """Return the class with which the predicted one is compared, if the user named one."""
    if options.versus is None:
        return None
    if not model.has_many_classes:
        raise ValueError("--versus is for models of more than two classes.")
    return class_of(model, options.versus, "--versus")


def check_row(row: int, data: DataFile) -> None:
    """Raise if a table has no such row."""
    n_rows = len(data.block)
    if not 0 <= row < n_rows:
        raise ValueError(f"--row must lie between 0 and {n_rows - 1}, the last row of {data.source}; got {row}.")
