"""The command ``obliquerules explain``: which rules made the prediction of each row."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obliquerules.cli.model_file import add_model, inputs, read_estimator
from obliquerules.cli.speech import add_at, add_json, command_parser, write_json, write_result
from obliquerules.cli.table import add_table, read_table


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser("explain", "Say which rules made the prediction of each row of a table.")
    add_model(reader)
    add_table(reader)
    reader.add_argument("--row", type=int, metavar="N", help="this row only; the first one below the header is row 0")
    add_at(reader)
    add_json(reader, "what each rule adds for each row")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    table = read_table(options.data, options.delimiter)
    if options.row is not None and not 0 <= options.row < table.n_rows:
        raise ValueError(f"--row must lie between 0 and {table.n_rows - 1}, the last row of {table.source}; got {options.row}.")
    model = read_estimator(options.model, options.at)
    first, last = (0, table.n_rows) if options.row is None else (options.row, options.row + 1)
    explanation = model.explain(inputs(model, table, slice(first, last)))
    if options.json:
        write_json([record | {"row": record["row"] + first} for record in explanation.to_dicts()])
    else:
        write_result("\n\n".join(f"Row {row.row + first}. {row}" for row in explanation) + "\n")
