"""The commands ``fit`` and ``demo``, and the methods that learn."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.console import add_json, add_quiet, note, say, warnings_as_notes, write_json, write_result
from obliquerules.cli.input_table import add_data, add_list, read_data
from obliquerules.cli.output import add_output, check_output, writing
from obliquerules.cli.roles import add_roles
from obliquerules.cli.target_column import CLASSIFICATION, TargetColumn, add_target
from obliquerules.cli.training_blocks import large_file, training_blocks
from obliquerules.cli.training_table import TrainingData, add_training, training_data
from obliquerules.rules.text.formats import rule_lines

if TYPE_CHECKING:
    from obliquerules.estimators.rule_model import RuleModel

# How the names of a method's estimators begin; Classifier or Regressor follows, and CV where the size is chosen by
# cross-validation.
METHODS = {"lltboost": "LLTBoost", "tgb": "TGB", "ltrnet": "LTRNet", "drnet": "DRNet"}
# Parameters that have an option of their own.
OPTIONS = {
    "loss": "--loss",
    "positive": "--positive",
    "class_weight": "--class-weight",
    "random_state": "--random-state",
    "verbose": "--progress",
    "cv": "--cv",
    "n_jobs": "--jobs",
}
WORDS = {"true": True, "false": False, "none": None}


class ShowParameters(argparse.Action):
    """An option like ``--help`` that prints the parameters of the methods."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print, and end."""
        write_result(parameter_table())
        parser.exit()


def fit_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``fit``."""
    parser.description = "Learn rules from a table, print them, and write them to a model file."
    add_data(parser)
    add_training(parser)
    add_roles(parser)
    add_output(parser, "the model file to write", required=True)
    add_target(parser)
    parser.add_argument("--drop", action="append", default=[], metavar="NAME", help="a column to leave out; may be repeated")
    what = "columns of numbers, such as codes, to be taken for levels; may be repeated"
    add_list(parser, "--categorical", "NAME[,NAME]", what)
    parser.add_argument("--method", choices=METHODS, default=next(iter(METHODS)), help="default: %(default)s")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument("--parameters", action=ShowParameters, nargs=0, help="list what --set can set, and exit")
    parser.add_argument("--cv", type=int, metavar="FOLDS", help="choose the size by cross-validation with this number of folds")
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="the number of folds, or restarts of a network, fitted at a time; -1: one for each processor",
    )
    parser.add_argument("--random-state", type=int, metavar="N", help="the seed of folds and starts (default: 0)")
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="a Parquet file whose rows take more than this, such as 500MB or 2GB, is read in blocks, as a folder of Parquet "
        "files always is (default: a quarter of the machine's memory)",
    )
    parser.add_argument("--progress", action="store_true", help="report each rule on a line of its own")
    add_quiet(parser)
    add_json(parser, "what was learned from what")


def run_fit(options: argparse.Namespace) -> None:
    """Learn rules from a table, and write the model."""
    check_output(options, options.data)
    values = settings(options.set)
    large = large_file(options)
    data = training_data(read_data(options), options) if large is None else training_blocks(large, options)
    model = _estimator(options, data, values)
    if not options.quiet:
        say("\n".join([*data.sentences(), f"Method: {' '.join(str(model).split())}"]))
    with warnings_as_notes(quiet=options.quiet):
        model.fit(**data.arguments)
    with writing(options) as path:
        model.save(path)
    if not options.quiet:
        say(f"Wrote {options.output}, a model of complexity {model.ensemble_.complexity}.")
        if model.model_.verdict:
            say(model.model_.verdict)
        if model.model_.remark:
            note(model.model_.remark)
    if options.json:
        write_json(_record(model, data, str(options.output)))
    else:
        write_result(f"{model.to_text()}\n")


def _estimator(options: argparse.Namespace, data: TrainingData, values: Mapping[str, Any]) -> RuleModel:
    """Return the estimator with the given parameters."""
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


def _record(model: RuleModel, data: TrainingData, path: str) -> dict[str, Any]:
    """Return what was learned from what."""
    labels = model.model_.labels
    return {
        "model": path,
        "estimator": type(model).__name__,
        "target": data.target.name,
        "task": data.target.task,
        "why": data.target.why,
        "rows": len(data.target.y),
        "rows_left_out": data.rows.without_target + data.rows.incomplete,
        "rows_without_target": data.rows.without_target,
        "columns": [record["name"] for record in data.records],
        "understood": list(data.records),
        "roles": [record for columns in data.roles.values() for record in columns.records()],
        "columns_left_out": dict(data.left_out),
        "notes": list(data.remarks),
        "classes": None if labels is None else list(labels.values),
        "positive": None if labels is None or labels.outputs is not None else labels.values[1],
        "complexity": model.ensemble_.complexity,
        "path": [ensemble.complexity for ensemble in model.path_],
        "verdict": model.model_.verdict or None,
        "rules": rule_lines(model.ensemble_),
    }


# ---- methods and their parameters ----


def estimator_class(method: str, task: str, cross_validated: bool) -> type[RuleModel]:
    """Return the estimator of a method for a task."""
    from obliquerules.estimators.loading import ESTIMATORS

    name = METHODS[method] + ("Classifier" if task == CLASSIFICATION else "Regressor")
    if name not in ESTIMATORS:
        raise ValueError(f"--method {method} cannot be used for {task}.")
    if cross_validated and f"{name}CV" not in ESTIMATORS:
        raise ValueError(f"--cv cannot be used with --method {method}: it does not choose its size by cross-validation.")
    return ESTIMATORS[f"{name}CV" if cross_validated else name]


def check_method(method: str, kind: type[RuleModel], target: TargetColumn, *, with_offset: bool) -> None:
    """Raise if a method cannot learn the target, and name others."""
    two = f"it tells two classes apart, and '{target.name}' has {target.n_classes}"
    for ability, needed, complaint in (
        ("many_classes", target.n_scores > 1, f"--method {method} cannot be used: {two}."),
        ("class_offsets", with_offset and target.n_classes > 0, f"--offset cannot be used with --method {method} for classes."),
    ):
        if needed and not getattr(kind.method_class, ability):
            able = [name for name in METHODS if getattr(estimator_class(name, CLASSIFICATION, False).method_class, ability)]
            raise ValueError(f"{complaint} Give --method {' or '.join(able)}.")


def settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Read assignments such as ``max_rules=5``."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (equals and name):
            raise ValueError(f"--set must be followed by NAME=VALUE; got {assignment!r}.")
        if name in OPTIONS:
            raise ValueError(f"--set cannot be used for {name}: that is what {OPTIONS[name]} is for.")
        values[name] = WORDS[text.lower()] if text.lower() in WORDS else _number_or_text(text)
    return values


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def build(
    kind: type[RuleModel], values: Mapping[str, Any], options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> RuleModel:
    """Return the estimator with the given values, options and defaults."""
    known = kind.parameters
    for name in values:
        if name not in known:
            raise ValueError(f"--set: {kind.__name__} has no parameter '{name}'; it has {', '.join(_settable(kind))}.")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            raise ValueError(f"{OPTIONS[name]} cannot be used here: {kind.__name__} has no parameter '{name}'.")
    return kind(**{name: value for name, value in defaults.items() if name in known} | given | dict(values))


def _settable(kind: type[RuleModel]) -> list[str]:
    return [name for name in kind.parameters if name not in OPTIONS]


def parameter_table() -> str:
    """Return all methods with their parameters, defaults and what they mean."""
    from obliquerules.estimators.loading import ESTIMATORS

    parts = []
    for method, prefix in METHODS.items():
        kinds = [ESTIMATORS[name] for name in (f"{prefix}Classifier", f"{prefix}Regressor") if name in ESTIMATORS]
        declared = {name: kind.parameters[name] for kind in kinds for name in _settable(kind)}
        cells = {
            f"{name}={default}": re.split(r"(?<=\.)\s", one.meaning, maxsplit=1)[0].replace("``", "")
            for name, (default, one) in declared.items()
        }
        width = max(map(len, cells))
        lines = [f"  {setting:{width}}  {meaning}" for setting, meaning in cells.items()]
        parts.append("\n".join([f"--method {method}", *lines]))
    return "\n\n".join(parts) + "\n"


# ---- demo ----


def demo_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``demo``, which has none."""
    parser.description = "Learn a few rules from data that ship with scikit-learn."


def run_demo(_: argparse.Namespace) -> None:
    """Print a model, and explain a prediction."""
    from sklearn.datasets import load_breast_cancer

    from obliquerules import LLTBoostClassifier

    data = load_breast_cancer()
    diagnosis = data.target_names[data.target]
    model = LLTBoostClassifier(max_rules=3, positive="malignant", linear_terms=False, effort=0, random_state=0)
    model.fit(data.data, diagnosis, feature_names=data.feature_names)
    write_result(f"Log-odds that a breast mass is malignant, from {len(diagnosis)} patients:\n\n{model.ensemble_}\n\n")
    write_result(f"The first patient, whose mass is {diagnosis[0]}:\n\n{model.explain(data.data[:1])[0]}\n\n")
    write_result("To learn from your own table: obliquerules fit FILE --target COLUMN. All commands: obliquerules --help\n")
