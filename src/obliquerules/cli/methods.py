"""Methods: the estimators that ``fit`` offers, with the parameters that they declare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from obliquerules.cli.target_column import CLASSIFICATION, TargetColumn

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
    """Raise if the estimator of a method does not learn what the target has: many classes, or classes with an offset."""
    if target.n_classes > 2 and not kind.method_class.many_classes:
        raise ValueError(
            f"--method {method} cannot be used: it tells two classes apart, and '{target.name}' has {target.n_classes}. "
            f"Give --method {_that('many_classes')}."
        )
    if with_offset and target.n_classes and not kind.method_class.class_offsets:
        raise ValueError(f"--offset cannot be used with --method {method} for classes. Give --method {_that('class_offsets')}.")


def _that(ability: str) -> str:
    """Return the methods whose classifiers have an ability."""
    able = [name for name in METHODS if getattr(estimator_class(name, CLASSIFICATION, False).method_class, ability)]
    return " or ".join(able)


def settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Read assignments such as ``max_rules=5``."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (equals and name):
            raise ValueError(f"--set must be followed by NAME=VALUE; got {assignment!r}.")
        if name in OPTIONS:
            raise ValueError(f"--set cannot be used for {name}: that is what {OPTIONS[name]} is for.")
        values[name] = _value(text)
    return values


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def build(
    kind: type[RuleModel], values: Mapping[str, Any], options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> RuleModel:
    """Return the estimator with the given values and options, and with the defaults that are parameters of it."""
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
    parts = []
    for method in METHODS:
        declared = {name: kind.parameters[name] for kind in _kinds(method) for name in _settable(kind)}
        cells = [(f"{name}={default}", _first_sentence(one.meaning)) for name, (default, one) in declared.items()]
        width = max(len(setting) for setting, _ in cells)
        parts.append("\n".join([f"--method {method}", *(f"  {setting:{width}}  {meaning}" for setting, meaning in cells)]))
    return "\n\n".join(parts) + "\n"


def _kinds(method: str) -> list[type[RuleModel]]:
    """Return the estimators of a method, for classes and, if there is one, for numbers."""
    from obliquerules.estimators.loading import ESTIMATORS

    names = (METHODS[method] + task for task in ("Classifier", "Regressor"))
    return [ESTIMATORS[name] for name in names if name in ESTIMATORS]


def _first_sentence(meaning: str) -> str:
    return re.split(r"(?<=\.)\s", meaning, maxsplit=1)[0].replace("``", "")
