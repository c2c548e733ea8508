"""The command ``obliquerules stability``: how often each rule comes back in refits, and an interval for its weight."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obliquerules.cli.console import add_at, add_json, command_parser, spoken, write_json, write_result
from obliquerules.cli.input_table import add_data, all_inputs, read_data
from obliquerules.cli.model_file import add_model, read_estimator
from obliquerules.cli.roles import as_arguments, given_names, weights
from obliquerules.cli.training_table import add_training, measured_rows, target_values


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser(
        "stability",
        "Learn the rules of a model anew from bootstrap samples of DATA, and say how often each comes back. The interval for "
        "its weight holds for its condition as it is, and does not account for the search that found it.",
    )
    add_model(reader)
    add_data(reader)
    add_training(reader)
    reader.add_argument("--bootstraps", type=int, default=50, metavar="N", help="the number of refits (default: %(default)s)")
    reader.add_argument(
        "--overlap", type=float, default=0.8, metavar="S", help="the overlap at which a rule counts as the same (default: 0.8)"
    )
    reader.add_argument(
        "--confidence", type=float, default=0.9, metavar="S", help="the nominal coverage of intervals (default: 0.9)"
    )
    reader.add_argument("--random-state", type=int, default=0, metavar="N", help="the seed of the samples (default: 0)")
    reader.add_argument("--jobs", type=int, metavar="N", help="the number of refits at a time; -1: one for each processor")
    add_at(reader)
    add_json(reader, "what is known about each rule")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    estimator = read_estimator(options.model, options.at)
    model = estimator.model_
    data = read_data(options, model)
    rows = measured_rows(data, (*model.feature_names, *given_names(model)), options)
    with spoken():
        found = estimator.stability(
            all_inputs(model, data, rows),
            target_values(model, data, rows, options),
            weights(data, rows, options),
            **as_arguments(model, data, rows),
            n_bootstraps=options.bootstraps,
            overlap=options.overlap,
            confidence=options.confidence,
            random_state=options.random_state,
            n_jobs=options.jobs,
        )
    if options.json:
        write_json(found.to_dicts())
    else:
        write_result(f"{found}\n")
