"""The command ``obliquerules fit``: learn rules from a table, say what each column was taken for, and write the model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.console import add_json, command_parser, remark, say, say_verdict, spoken, write_json, write_result
from obliquerules.cli.input_table import Listed, add_data, read_data
from obliquerules.cli.methods import METHODS, build, check_method, estimator_class, parameter_table, settings
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import add_roles
from obliquerules.cli.target_column import add_target
from obliquerules.cli.training_blocks import add_memory, large_file, training_file
from obliquerules.cli.training_table import TrainingData, add_training, training_data
from obliquerules.rules.text.formats import rule_lines

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel


class ShowParameters(argparse.Action):
    """An option like ``--help`` that prints the parameters of the methods."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print, and end."""
        write_result(parameter_table())
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    reader = command_parser("fit", "Learn rules from a table, print them, and write them to a model file.")
    add_data(reader)
    add_training(reader)
    add_roles(reader)
    add_output(reader, "the model file to write", required=True)
    add_target(reader)
    reader.add_argument("--drop", action="append", default=[], metavar="NAME", help="a column to leave out; may be repeated")
    reader.add_argument(
        "--categorical",
        action=Listed,
        default=(),
        metavar="NAME[,NAME]",
        help="columns of numbers, such as codes, to be taken for levels; may be repeated",
    )
    reader.add_argument("--method", choices=METHODS, default=next(iter(METHODS)), help="default: %(default)s")
    reader.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    reader.add_argument("--parameters", action=ShowParameters, nargs=0, help="list what --set can set, and exit")
    reader.add_argument("--cv", type=int, metavar="FOLDS", help="choose the size by cross-validation with this number of folds")
    reader.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="the number of folds, or restarts of a network, fitted at a time; -1: one for each processor",
    )
    reader.add_argument("--random-state", type=int, metavar="N", help="the seed of folds and starts (default: 0)")
    add_memory(reader)
    reader.add_argument("--progress", action="store_true", help="report each rule on a line of its own")
    reader.add_argument("--quiet", action="store_true", help="report nothing but errors")
    add_json(reader, "what was learned from what")
    return reader


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    check_output(options.output, options.force, options.data)
    values = settings(options.set)
    large = large_file(options)
    data = training_data(read_data(options), options) if large is None else training_file(large, options)
    model = _model(options, data, values)
    if not options.quiet:
        say("\n".join([*data.sentences(), f"Method: {' '.join(str(model).split())}"]))
    with spoken(quiet=options.quiet):
        model.fit(**data.arguments)
    with writing(options.output, options.force) as path:
        model.save(path)
    if not options.quiet:
        say(f"Wrote {options.output}, a model of complexity {model.ensemble_.complexity}.")
        say_verdict(model.model_.verdict)
        if model.model_.remark:
            remark(model.model_.remark)
    if options.json:
        write_json(_summary(model, data, str(options.output)))
    else:
        write_result(f"{model.to_text()}\n")


def _model(options: argparse.Namespace, data: TrainingData, values: dict[str, Any]) -> RuleModel:
    kind = estimator_class(options.method, data.target.task, options.cv is not None)
    check_method(options.method, kind, data.target, with_offset=bool(options.offset))
    if options.cv is not None and "groups" in data.roles and data.roles["groups"].n_groups < options.cv:
        raise ValueError(
            f"--cv {options.cv} needs a group for each fold; '{options.groups}' has {data.roles['groups'].n_groups}."
        )
    given = {
        "loss": data.target.loss,
        "positive": data.target.positive,
        "class_weight": data.target.class_weight,
        "cv": options.cv,
        "n_jobs": options.jobs,
        "verbose": 1 if options.progress else None,
        "random_state": options.random_state,
    }
    return build(kind, values, given, {"random_state": 0})


def _summary(model: RuleModel, data: TrainingData, path: str) -> dict[str, Any]:
    labels = model.model_.labels
    return {
        "model": path,
        "estimator": type(model).__name__,
        "target": data.target.name,
        "task": data.target.task,
        "why": data.target.why,
        "rows": len(data.y),
        "rows_left_out": data.rows.without_target + data.rows.incomplete,
        "rows_without_target": data.rows.without_target,
        "columns": list(data.names),
        "understood": data.column_records(),
        "roles": [record for columns in data.roles.values() for record in columns.records()],
        "columns_left_out": dict(data.left_out),
        "notes": list(data.remarks),
        "classes": None if labels is None else list(labels.values),
        "positive": None if labels is None or labels.many else labels.values[1],
        "complexity": model.ensemble_.complexity,
        "path": [ensemble.complexity for ensemble in model.path_],
        "verdict": model.model_.verdict or None,
        "rules": rule_lines(model.ensemble_),
    }
