"""The command ``obliquerules export``: write a model in another language, once it is known to compute the same."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obliquerules.cli.console import WorkFailedError, add_at, command_parser, say, write_exactly
from obliquerules.cli.input_table import add_data, inputs, read_data, remark_on_new_values
from obliquerules.cli.model_file import add_model, read_model
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import given_to
from obliquerules.export.export_formats import Export, export
from obliquerules.export.verification import ExportError

# All but frames, which are for programs in Python.
FORMS = ("sql", "onnx", "python", "c", "excel", "json", "latex")
# What cannot be printed.
BINARY = {"onnx": "an ONNX graph", "excel": "an Excel workbook"}
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "tsql")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser("export", "Write a model in another language, once it is known to compute the same.")
    add_model(reader)
    reader.add_argument("--to", choices=FORMS, required=True, help="what to write")
    reader.add_argument("--contributions", action="store_true", help="also give what each rule adds to the score")
    reader.add_argument("--dialect", choices=DIALECTS, help="the database, for sql (default: duckdb)")
    reader.add_argument("--table", help="the name of the table, with its schema if it has one, for sql (default: data)")
    reader.add_argument("--prefix", help="what stands before names of outputs (sql) and functions (c)")
    reader.add_argument("--exact", action="store_true", default=None, help="write every number in full, for latex")
    add_data(reader, "--data", "a table on whose rows to compare as well")
    add_at(reader)
    add_output(reader, "write to this file (default: standard output)")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force, options.model, options.data)
    if options.output is None and options.to in BINARY:
        raise ValueError(f"--output must name a file: {BINARY[options.to]} is no text for standard output.")
    exported = _exported(options)
    verification = str(exported.verification)
    say(f"{verification[0].upper()}{verification[1:]}")
    if options.output is None:
        write_exactly(exported.content)
        return
    with writing(options.output, options.force) as path:
        exported.save(path)


def _exported(options: argparse.Namespace) -> Export:
    """Return the export; one that differs from the model is no fault of what was given."""
    model = read_model(options.model, options.at)
    data = None if options.data is None else read_data(options, model)
    rows = None if data is None else inputs(model, data)
    given = None if data is None else given_to(model, data, needed=True)
    if rows is not None:
        remark_on_new_values(model, rows)
    booleans = {} if data is None else {name: "boolean" for name in data.block.names if data.input(name)[0].is_truth}
    settings = {name: getattr(options, name) for name in ("dialect", "table", "prefix", "exact")}
    settings = {name: value for name, value in settings.items() if value is not None}
    try:
        return export(model, options.to, rows, contributions=options.contributions, kinds=booleans, offset=given, **settings)
    except ExportError as error:
        raise WorkFailedError(str(error)) from error
