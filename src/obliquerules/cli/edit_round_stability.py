"""The commands ``edit``, ``round`` and ``stability``, which refit a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from obliquerules.cli.console import add_at, add_json, add_quiet, say, warnings_as_notes, write_json, write_result
from obliquerules.cli.input_table import add_data, read_data, used_names
from obliquerules.cli.model_file import add_model, read_estimator
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.training_table import add_training, measured_arguments

if TYPE_CHECKING:
    from obliquerules.estimators.editing import Editing
    from obliquerules.estimators.rule_model import RuleModel

REPORTED = ("action", "rule", "description", "complexity_before", "complexity_after", "loss_before", "loss_after")


class Step(argparse.Action):
    """A step of an edit, in the order of options."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Append the step, which has the name of a method."""
        given = values if isinstance(values, list) else [values]
        if self.dest == "replace":
            try:
                given = [int(given[0]), given[1]]
            except ValueError:
                parser.error(f"argument --replace: the first of its two values must be the number of a rule; got {given[0]!r}")
        namespace.steps = [*namespace.steps, (self.dest, given)]


def edit_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``edit``."""
    parser.description = (
        "Edit the rules of a model, step by step in the order given. Each step numbers the rules from 0, as the steps before "
        "left them. Weights are fitted anew, and the loss of each step is measured, on DATA."
    )
    add_model(parser)
    add_data(parser)
    add_training(parser)
    add_output(parser, "the model file to write", required=True)
    parser.add_argument("--drop", action=Step, type=int, metavar="N", help="remove rule N")
    parser.add_argument("--lock", action=Step, type=int, metavar="N", help="keep the weight of rule N in every later refit")
    parser.add_argument("--unlock", action=Step, type=int, metavar="N", help="let a refit change the weight of rule N again")
    parser.add_argument(
        "--add", action=Step, metavar="RULE", help="append a rule, such as '+1.5 if age >= 50', '+0.3 age' or 'age >= 50'"
    )
    parser.add_argument(
        "--replace", action=Step, nargs=2, metavar=("N", "RULE"), help="put another rule in the place of rule N"
    )
    parser.add_argument("--round", action=Step, type=int, metavar="DIGITS", help="write all numbers in fewer digits")
    parser.add_argument("--refit", action=Step, nargs=0, help="fit the constant and all weights that are not locked anew")
    add_at(parser)
    add_quiet(parser)
    add_json(parser, "what each step did")
    parser.set_defaults(steps=[])


def run_edit(options: argparse.Namespace) -> None:
    """Write the edited model."""
    if not options.steps:
        raise ValueError("there is nothing to do: give --drop, --add, --replace, --lock, --unlock, --round or --refit")
    check_output(options, options.model, options.data)
    estimator = read_estimator(options)
    editing = _editing(estimator, options, estimator.model_.feature_names)
    for action, given in options.steps:
        editing = getattr(editing, action)(*given)
    _write(editing, options)


def round_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``round``."""
    parser.description = (
        "Write all numbers of a model in fewer digits. The certificate, kept in the file, says what that changes on DATA: how "
        "many rows change side of a condition, by how much scores change, and the mean loss before and after."
    )
    add_model(parser)
    add_data(parser)
    add_training(parser)
    add_output(parser, "the model file to write", required=True)
    parser.add_argument("--digits", type=int, default=3, metavar="N", help="the digits of rule weights (default: %(default)s)")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, metavar="L", help="by how much the mean loss may rise (default: %(default)s)"
    )
    parser.add_argument("--integers", action="store_true", help="prefer whole numbers as weights in conditions")
    add_at(parser)
    add_quiet(parser)
    add_json(parser, "what rounding changed")


def run_round(options: argparse.Namespace) -> None:
    """Write the rounded model."""
    check_output(options, options.model, options.data)
    estimator = read_estimator(options)
    editing = _editing(estimator, options, used_names(estimator.model_))
    _write(editing.round(options.digits, tolerance=options.tolerance, integers=options.integers), options)


def _editing(estimator: RuleModel, options: argparse.Namespace, names: tuple[str, ...]) -> Editing[RuleModel]:
    """Return the beginning of an edit on the named inputs."""
    arguments = measured_arguments(estimator.model_, read_data(options, estimator.model_), names, options)
    with warnings_as_notes(quiet=options.quiet):
        return estimator.edit(**arguments)


def _write(editing: Editing[RuleModel], options: argparse.Namespace) -> None:
    """Write the model, and say what the steps did and led to."""
    with writing(options) as path:
        editing.model.save(path)
    if not options.quiet:
        say(f"{editing.log}\nWrote {options.output}.")
    if options.json:
        write_json([{name: getattr(step, name) for name in REPORTED} for step in editing.log])
    else:
        write_result(f"{editing.model.to_text()}\n")


def stability_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``stability``."""
    parser.description = (
        "Learn the rules of a model anew from bootstrap samples of DATA, and say how often each comes back. The interval for "
        "its weight holds for its condition as it is, and does not account for the search that found it."
    )
    add_model(parser)
    add_data(parser)
    add_training(parser)
    parser.add_argument("--bootstraps", type=int, default=50, metavar="N", help="the number of refits (default: %(default)s)")
    parser.add_argument(
        "--overlap", type=float, default=0.8, metavar="S", help="the overlap at which a rule counts as the same (default: 0.8)"
    )
    parser.add_argument(
        "--confidence", type=float, default=0.9, metavar="S", help="the nominal coverage of intervals (default: 0.9)"
    )
    parser.add_argument("--random-state", type=int, default=0, metavar="N", help="the seed of the samples (default: 0)")
    parser.add_argument("--jobs", type=int, metavar="N", help="the number of refits at a time; -1: one for each processor")
    add_at(parser)
    add_json(parser, "what is known about each rule")


def run_stability(options: argparse.Namespace) -> None:
    """Print how often each rule comes back."""
    estimator = read_estimator(options)
    model = estimator.model_
    arguments = measured_arguments(model, read_data(options, model), model.feature_names, options)
    with warnings_as_notes():
        found = estimator.stability(
            **arguments,
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
