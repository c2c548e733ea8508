"""The command ``obliquerules edit``: drop, add, replace and lock rules, fit the weights anew, and write the edited model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.model_file import add_model, inputs, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.speech import add_at, add_json, command_parser, say, write_json, write_result
from obliquerules.cli.table import add_table, read_table
from obliquerules.cli.training import add_training, coded_target, complete_rows, roles, weights

if TYPE_CHECKING:
    from obliquerules.cli.table import Table
    from obliquerules.estimators.editing import Editing
    from obliquerules.estimators.rule_model import RuleModel

TOLD = ("action", "rule", "description", "complexity_before", "complexity_after", "loss_before", "loss_after")


class Step(argparse.Action):
    """An option that is a step of the edit; steps are done in the order in which they are given."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Append the step; the name of the option is that of the method that does it."""
        given = values if isinstance(values, list) else [values]
        if self.dest == "replace":
            try:
                given = [int(given[0]), given[1]]
            except ValueError:
                parser.error(f"argument --replace: the first of its two values must be the number of a rule; got {given[0]!r}")
        namespace.steps = [*(namespace.steps or []), (self.dest, given)]


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    reader = command_parser(
        "edit",
        "Edit the rules of a model, step by step in the order given. Rules are numbered from 0, as they stand when their step "
        "comes. The data are those on which weights are fitted anew and the loss of each step is measured.",
    )
    add_model(reader)
    add_table(reader)
    add_training(reader)
    add_output(reader, "the model file to write", required=True)
    reader.add_argument("--drop", action=Step, type=int, metavar="N", help="remove rule N")
    reader.add_argument("--lock", action=Step, type=int, metavar="N", help="keep the weight of rule N in every later refit")
    reader.add_argument("--unlock", action=Step, type=int, metavar="N", help="let a refit change the weight of rule N again")
    reader.add_argument("--add", action=Step, metavar="RULE", help="append a rule, such as '+1.5 if age >= 50' or 'age >= 50'")
    reader.add_argument(
        "--replace", action=Step, nargs=2, metavar=("N", "RULE"), help="put another rule in the place of rule N"
    )
    reader.add_argument("--refit", action=Step, nargs=0, help="fit the constant and all weights that are not locked anew")
    add_at(reader)
    reader.add_argument("--quiet", action="store_true", help="say nothing but what is wrong")
    add_json(reader, "what each step did")
    reader.set_defaults(steps=None)
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    reader = parser()
    options = reader.parse_args(arguments)
    if options.steps is None:
        reader.error("there is nothing to do: give --drop, --add, --replace, --lock, --unlock or --refit")
    check_output(options.output, options.force, options.model, options.data)
    table = read_table(options.data, options.delimiter)
    editing = _started(read_estimator(options.model, options.at), table, options)
    for action, given in options.steps:
        editing = getattr(editing, action)(*given)
    with writing(options.output):
        editing.model.save(options.output)
    _tell(editing, options)


def _started(model: RuleModel, table: Table, options: argparse.Namespace) -> Editing[RuleModel]:
    rows = complete_rows(table, [*(model.ensemble_.feature_names or ()), *roles(options)], options.drop_rows)
    y = coded_target(model, table, rows, options)
    return model.edit(inputs(model, table, rows), y, weights(table, rows, options))


def _tell(editing: Editing[RuleModel], options: argparse.Namespace) -> None:
    if not options.quiet:
        say(f"{editing.log}\nWrote {options.output}.")
    if options.json:
        write_json([{name: getattr(step, name) for name in TOLD} for step in editing.log])
    else:
        write_result(f"{editing.model.to_text()}\n")
