"""The commands ``export`` (to another language) and ``report`` (the workbench)."""

from __future__ import annotations

import argparse

from obliquerules.cli.console import WorkFailedError, add_at, say, write_exactly
from obliquerules.cli.input_table import add_data, inputs, note_new_values, read_data, used_names
from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import given_values
from obliquerules.cli.training_table import add_training, measured_arguments
from obliquerules.data.model_rows import read_rows
from obliquerules.export.export_formats import export
from obliquerules.export.verification import ExportError
from obliquerules.parameters import check_text, check_whole
from obliquerules.report.measured_rows import MeasuredRows
from obliquerules.report.payload import Head
from obliquerules.report.workbench import write_workbench

# All but frames, which are for programs in Python.
FORMS = ("sql", "onnx", "python", "c", "excel", "json", "latex")
# What cannot be printed.
BINARY = {"onnx": "an ONNX graph", "excel": "an Excel workbook"}
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "tsql")


def export_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``export``."""
    parser.description = "Write a model in another language, once it is known to compute the same."
    add_model(parser)
    parser.add_argument("--to", choices=FORMS, required=True, help="what to write")
    parser.add_argument("--contributions", action="store_true", help="also give what each rule adds to the score")
    parser.add_argument("--dialect", choices=DIALECTS, help="the database, for sql (default: duckdb)")
    parser.add_argument("--table", help="the name of the table, with its schema if it has one, for sql (default: data)")
    parser.add_argument("--prefix", help="what stands before names of outputs (sql) and functions (c)")
    parser.add_argument("--exact", action="store_true", default=None, help="write every number in full, for latex")
    add_data(parser, "--data", "a table on whose rows to compare as well")
    add_at(parser)
    add_output(parser, "write to this file (default: standard output)")


def run_export(options: argparse.Namespace) -> None:
    """Write a model in another language."""
    check_output(options, options.model, options.data)
    if options.output is None and options.to in BINARY:
        raise ValueError(f"--output must name a file: {BINARY[options.to]} is no text for standard output.")
    model = read_model(options)
    rows, given, booleans = None, None, {}
    if options.data is not None:
        data = read_data(options, model)
        rows, given = inputs(model, data), given_values(model, data, needed=True)
        note_new_values(model, rows)
        booleans = {name: "boolean" for name in data.block.names if data.input(name)[0].is_truth}
    settings = {name: getattr(options, name) for name in ("dialect", "table", "prefix", "exact")}
    settings = {name: value for name, value in settings.items() if value is not None}
    try:
        exported = export(
            model, options.to, rows, contributions=options.contributions, kinds=booleans, offset=given, **settings
        )
    except ExportError as error:
        raise WorkFailedError(str(error)) from error
    verification = str(exported.verification)
    say(f"{verification[0].upper()}{verification[1:]}")
    if options.output is None:
        write_exactly(exported.content)
        return
    with writing(options) as path:
        exported.save(path)


def report_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``report``."""
    parser.description = (
        "Write the workbench of a model: one HTML file to read it, score cases, and try what happens without a rule. No row "
        "of the data is in it. Without DATA it does not say how good the model is."
    )
    add_model(parser)
    add_data(parser, optional=True)
    add_training(parser, required=False)
    add_output(parser, "the HTML file to write", required=True)
    parser.add_argument("--title", help="the heading of the page")
    parser.add_argument("--about-data", metavar="TEXT", help="what the model was learned from, for the head of the page")
    parser.add_argument("--date", metavar="TEXT", help="the date of the model, for the head of the page")
    parser.add_argument("--intended-use", metavar="TEXT", help="who may use the model for what, for the head of the page")
    parser.add_argument("--data-name", default="rows", help="what the rows are called on the page, such as 'test rows'")
    parser.add_argument(
        "--min-count", type=int, default=5, metavar="N", help="the least number of rows in a group (default: 5)"
    )
    parser.add_argument("--max-sizes", type=int, default=12, metavar="N", help="how many sizes to offer (default: 12)")
    add_at(parser)


def run_report(options: argparse.Namespace) -> None:
    """Write the workbench of a model."""
    if (options.data is None) != (options.target is None):
        raise ValueError("DATA and --target must be given together")
    check_output(options, options.model, options.data)
    model = read_model(options)
    check_whole("min_count", options.min_count, 1)
    check_whole("max_sizes", options.max_sizes, 1)
    head = Head(
        title=options.title,
        target=options.target,
        data=options.about_data,
        date=options.date,
        intended_use=options.intended_use,
    )
    rows = None
    if options.data is not None:
        check_text("data_name", options.data_name)
        # Every size that the page offers needs its columns.
        names = used_names(model, *model.ensembles)
        X, y, weight, *given = measured_arguments(model, read_data(options, model), names, options).values()
        note_new_values(model, X)
        y, weight = read_rows(model, X, warned=False).target_and_weight(y, weight)
        rows = MeasuredRows.counted(X, y, weight, options.data_name, options.min_count, *given)
    with writing(options) as path:
        write_workbench(model, path, rows, head=head, max_sizes=options.max_sizes)
    say(f"Wrote {options.output}, {options.output.stat().st_size / 1000:.0f} kB.")
