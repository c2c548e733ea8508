"""The command ``obliquerules edit``: drop, add, replace and lock rules, fit the weights anew, and write the edited model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.console import add_at, add_json, command_parser, say, spoken, write_json, write_result
from obliquerules.cli.input_table import add_data, all_inputs, read_data
from obliquerules.cli.model_file import add_model, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import as_arguments, given_names, weights
from obliquerules.cli.training_table import add_training, measured_rows, target_values

if TYPE_CHECKING:
    from obliquerules.cli.io.data_file import DataFile
    from obliquerules.estimators.editing import Editing
    from obliquerules.estimators.rule_model import RuleModel

REPORTED = ("action", "rule", "description", "complexity_before", "complexity_after", "loss_before", "loss_after")


class Step(argparse.Action):
    """An option that is a step of the edit; steps are done in the order in which they are given."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Append the step; the option has the name of the method that carries it out."""
        given = values if isinstance(values, list) else [values]
        if self.dest == "replace":
            try:
                given = [int(given[0]), given[1]]
            except ValueError:
                parser.error(f"argument --replace: the first of its two values must be the number of a rule; got {given[0]!r}")
        namespace.steps = [*(namespace.steps or []), (self.dest, given)]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser(
        "edit",
        "Edit the rules of a model, step by step in the order given. Each step numbers the rules from 0, as the steps before "
        "left them. Weights are fitted anew, and the loss of each step is measured, on DATA.",
    )
    add_model(reader)
    add_data(reader)
    add_training(reader)
    add_output(reader, "the model file to write", required=True)
    reader.add_argument("--drop", action=Step, type=int, metavar="N", help="remove rule N")
    reader.add_argument("--lock", action=Step, type=int, metavar="N", help="keep the weight of rule N in every later refit")
    reader.add_argument("--unlock", action=Step, type=int, metavar="N", help="let a refit change the weight of rule N again")
    reader.add_argument(
        "--add", action=Step, metavar="RULE", help="append a rule, such as '+1.5 if age >= 50', '+0.3 age' or 'age >= 50'"
    )
    reader.add_argument(
        "--replace", action=Step, nargs=2, metavar=("N", "RULE"), help="put another rule in the place of rule N"
    )
    reader.add_argument("--round", action=Step, type=int, metavar="DIGITS", help="write all numbers in fewer digits")
    reader.add_argument("--refit", action=Step, nargs=0, help="fit the constant and all weights that are not locked anew")
    add_at(reader)
    reader.add_argument("--quiet", action="store_true", help="report nothing but errors")
    add_json(reader, "what each step did")
    reader.set_defaults(steps=None)
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    reader = parser()
    options = reader.parse_args(arguments)
    if options.steps is None:
        reader.error("there is nothing to do: give --drop, --add, --replace, --lock, --unlock, --round or --refit")
    check_output(options.output, options.force, options.model, options.data)
    estimator = read_estimator(options.model, options.at)
    editing = _started(estimator, read_data(options, estimator.model_), options)
    for action, given in options.steps:
        editing = getattr(editing, action)(*given)
    with writing(options.output, options.force) as path:
        editing.model.save(path)
    tell(editing, options)


def _started(estimator: RuleModel, data: DataFile, options: argparse.Namespace) -> Editing[RuleModel]:
    model = estimator.model_
    rows = measured_rows(data, (*model.feature_names, *given_names(model)), options)
    with spoken(quiet=options.quiet):
        return estimator.edit(
            all_inputs(model, data, rows),
            target_values(model, data, rows, options),
            weights(data, rows, options),
            **as_arguments(model, data, rows),
        )


def tell(editing: Editing[RuleModel], options: argparse.Namespace) -> None:
    """Say what the steps did and what they led to."""
    if not options.quiet:
        say(f"{editing.log}\nWrote {options.output}.")
    if options.json:
        write_json([{name: getattr(step, name) for name in REPORTED} for step in editing.log])
    else:
        write_result(f"{editing.model.to_text()}\n")
