"""The command ``obliquerules export``: write a model in another language, once it is known to compute the same."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.model_file import add_model, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.speech import WorkFailedError, add_at, command_parser, say, write_result

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel
    from obliquerules.export.target import Export

# All but frames, which are for programs in Python.
FORMS = ("sql", "onnx", "python", "c", "excel", "json", "latex")
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "tsql")


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser("export", "Write a model in another language, once it is known to compute the same.")
    add_model(reader)
    reader.add_argument("--to", choices=FORMS, required=True, help="what to write")
    reader.add_argument("--contributions", action="store_true", help="also give what each rule adds to the score")
    reader.add_argument("--dialect", choices=DIALECTS, help="the database, for sql (default: duckdb)")
    reader.add_argument("--table", help="the name of the table, for sql (default: data)")
    reader.add_argument("--prefix", help="what stands before names of outputs (sql) and functions (c)")
    reader.add_argument("--row", type=int, help="the row of the sheet, for excel (default: 2)")
    add_at(reader)
    add_output(reader, "write to this file (default: standard output)")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force)
    if options.output is None and options.to == "onnx":
        raise ValueError("--output must name a file: an ONNX graph is no text for standard output.")
    given = {name: getattr(options, name) for name in ("dialect", "table", "prefix", "row")}
    given = {name: value for name, value in given.items() if value is not None}
    exported = _exported(read_estimator(options.model, options.at), options.to, options.contributions, given)
    verification = str(exported.verification)
    say(f"{verification[0].upper()}{verification[1:]}")
    if options.output is None:
        write_result(exported.content)
        return
    with writing(options.output):
        exported.save(options.output)


def _exported(model: RuleModel, to: str, contributions: bool, options: dict[str, Any]) -> Export:
    """Return the export; one that differs from the model is no fault of what was given."""
    from obliquerules.export.verification import ExportError

    try:
        return model.export(to, contributions=contributions, **options)
    except ExportError as error:
        raise WorkFailedError(str(error)) from error
