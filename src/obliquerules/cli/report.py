"""The command ``obliquerules report``: the workbench of a model, one HTML file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obliquerules.cli.console import add_at, command_parser, say
from obliquerules.cli.input_table import add_data, inputs, read_data, remark_on_new_values, used_names
from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import given_names, given_to, weights
from obliquerules.cli.training_table import add_training, measured_rows, target_values
from obliquerules.data.model_rows import read_rows
from obliquerules.parameters import check_text, check_whole
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head
from obliquerules.report.workbench import write_workbench
from obliquerules.rules import Model


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser(
        "report",
        "Write the workbench of a model: one HTML file to read it, score cases, and try what happens without a rule. No row "
        "of the data is in it. Without DATA it does not say how good the model is.",
    )
    add_model(reader)
    add_data(reader, optional=True)
    add_training(reader, required=False)
    add_output(reader, "the HTML file to write", required=True)
    reader.add_argument("--title", help="the heading of the page")
    reader.add_argument("--about-data", metavar="TEXT", help="what the model was learned from, for the head of the page")
    reader.add_argument("--date", metavar="TEXT", help="the date of the model, for the head of the page")
    reader.add_argument("--intended-use", metavar="TEXT", help="who may use the model for what, for the head of the page")
    reader.add_argument("--data-name", default="rows", help="what the rows are called on the page, such as 'test rows'")
    reader.add_argument(
        "--min-count", type=int, default=5, metavar="N", help="the least number of rows in a group (default: 5)"
    )
    reader.add_argument("--max-sizes", type=int, default=12, metavar="N", help="how many sizes to offer (default: 12)")
    add_at(reader)
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    reader = parser()
    options = reader.parse_args(arguments)
    if (options.data is None) != (options.target is None):
        reader.error("DATA and --target must be given together")
    check_output(options.output, options.force, options.model, options.data)
    model = read_model(options.model, options.at)
    check_whole("min_count", options.min_count, 1)
    check_whole("max_sizes", options.max_sizes, 1)
    head = _head(options)
    rows = None if options.data is None else _rows(model, options)
    with writing(options.output, options.force) as path:
        write_workbench(model, path, rows, head=head, max_sizes=options.max_sizes)
    say(f"Wrote {options.output}, {options.output.stat().st_size / 1000:.0f} kB.")


def _head(options: argparse.Namespace) -> Head:
    """Return what the head of the page says; the target is called as its column is."""
    return Head(
        title=options.title,
        target=options.target,
        data=options.about_data,
        date=options.date,
        intended_use=options.intended_use,
    )


def _rows(model: Model, options: argparse.Namespace) -> MeasuredRows:
    """Return the rows that figures are about."""
    check_text("data_name", options.data_name)
    data = read_data(options, model)
    # Every size that the page offers needs its columns.
    needed = used_names(*model.ensembles, names=model.feature_names)
    rows = measured_rows(data, (*needed, *given_names(model)), options)
    X = inputs(model, data, rows, ensembles=model.ensembles)
    remark_on_new_values(model, X)
    y, weight = read_rows(model, X, warned=False).target_and_weight(
        target_values(model, data, rows, options), weights(data, rows, options)
    )
    given = given_to(model, data, rows, needed=True, droppable=True)
    return MeasuredRows.counted(X, y, weight, options.data_name, options.min_count, given)
