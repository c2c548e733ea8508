"""The command ``obliquerules report``: the workbench of a model, one HTML file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.model_file import add_model, inputs, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.speech import add_at, command_parser, say
from obliquerules.cli.table import add_table, read_table
from obliquerules.cli.training import add_training, coded_target, complete_rows, roles, weights

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser(
        "report",
        "Write the workbench of a model: one HTML file to read it, score cases, and try what happens without a rule. No row "
        "of the data is in it. Without DATA it does not say how good the model is.",
    )
    add_model(reader)
    add_table(reader, optional=True)
    add_training(reader, required=False)
    add_output(reader, "the HTML file to write", required=True)
    reader.add_argument("--title", help="the heading of the page")
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
    model = read_estimator(options.model, options.at)
    given = {} if options.data is None else _rows(model, options)
    chosen = {name: getattr(options, name) for name in ("title", "data_name", "min_count", "max_sizes")}
    with writing(options.output):
        model.report(options.output, **given, **chosen)
    say(f"Wrote {options.output}, {options.output.stat().st_size / 1000:.0f} kB.")


def _rows(model: RuleModel, options: argparse.Namespace) -> dict[str, Any]:
    """Return the rows that figures are about."""
    table = read_table(options.data, options.delimiter)
    rows = complete_rows(table, [*(model.ensemble_.feature_names or ()), *roles(options)], options.drop_rows)
    return {
        "X": inputs(model, table, rows),
        "y": coded_target(model, table, rows, options),
        "sample_weight": weights(table, rows, options),
    }
