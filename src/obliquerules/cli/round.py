"""The command ``obliquerules round``: write all numbers of a model in fewer digits, and certify what that changes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obliquerules.cli.console import add_at, add_json, command_parser, spoken
from obliquerules.cli.edit import tell
from obliquerules.cli.input_table import add_data, inputs, read_data, used_names
from obliquerules.cli.model_file import add_model, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import as_arguments, given_names, weights
from obliquerules.cli.training_table import add_training, measured_rows, target_values


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser(
        "round",
        "Write all numbers of a model in fewer digits. The certificate, kept in the file, says what that changes on DATA: how "
        "many rows change side of a condition, by how much scores change, and the mean loss before and after.",
    )
    add_model(reader)
    add_data(reader)
    add_training(reader)
    add_output(reader, "the model file to write", required=True)
    reader.add_argument("--digits", type=int, default=3, metavar="N", help="the digits of rule weights (default: %(default)s)")
    reader.add_argument(
        "--tolerance", type=float, default=0.0, metavar="L", help="by how much the mean loss may rise (default: %(default)s)"
    )
    reader.add_argument("--integers", action="store_true", help="prefer whole numbers as weights in conditions")
    add_at(reader)
    reader.add_argument("--quiet", action="store_true", help="report nothing but errors")
    add_json(reader, "what rounding changed")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force, options.model, options.data)
    estimator = read_estimator(options.model, options.at)
    model = estimator.model_
    data = read_data(options, model)
    needed = used_names(model.ensemble, names=model.feature_names)
    rows = measured_rows(data, (*needed, *given_names(model)), options)
    with spoken(quiet=options.quiet):
        editing = estimator.edit(
            inputs(model, data, rows),
            target_values(model, data, rows, options),
            weights(data, rows, options),
            **as_arguments(model, data, rows),
        )
    editing = editing.round(options.digits, tolerance=options.tolerance, integers=options.integers)
    with writing(options.output, options.force) as path:
        editing.model.save(path)
    tell(editing, options)
