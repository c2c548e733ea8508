"""The target column: whether its task is classes, numbers or counts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector, weighted_quantiles
from obliquerules.cli.input_table import add_list
from obliquerules.cli.io.data_file import DataFile
from obliquerules.cli.roles import numbers, weights
from obliquerules.data.levels import as_labels, as_numbers, kind_of, number_in
from obliquerules.losses import LOSSES, REGRESSION_LOSSES
from obliquerules.rules import Labels
from obliquerules.rules.columns import Column
from obliquerules.rules.numbers import readable

CLASSIFICATION, REGRESSION, COUNTS = "classification", "regression", "counts"
TASKS = (CLASSIFICATION, REGRESSION, COUNTS)

# Whole numbers from 0 without a gap are codes of classes if there are at most this number of them, and at most this share of
# the rows. Ratings start at 1.
MOST_CODES = 10
MOST_DIFFERENT = 0.25
# A column with fewer rows for each class than this is like an identifier.
LEAST_REPEATS = 2.0
# The most classes that are listed.
LISTED = 5
# Counts start near 0: the least is at most 1, or at most this share of the median.
NEAR_ZERO = 0.05
# Larger numbers are more often amounts, such as money.
LARGEST_COUNT = 1000.0
# Counts repeat: at most MOST_DIFFERENT of the rows are different, unless there are no more than this number of values.
FEW_VALUES = 8
# Ratings vary less than counts, whose variance is at least about their mean.
LEAST_DISPERSION = 0.5
# Counts have a long tail to the right: this is the least share of the skewness of a Poisson distribution, 1 / sqrt(mean).
LEAST_SKEWNESS = 0.25


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """The targets of some rows.

    Attributes
    ----------
    name : str
    task, why : str
        The kind of target, and how it was inferred.
    y : array
        Labels of classes, or numbers.
    loss : str or None
        The loss of numbers, unless it is that of their task.
    positive : object
        Of two classes, the one that scores are about, if the user named one.
    class_weight : dict, str or None
        By what the rows of each class are multiplied, as classifiers take it.
    """

    name: str
    task: str
    why: str
    y: NDArray[Any]
    loss: str | None = None
    positive: Any = None
    class_weight: Any = None

    @cached_property
    def labels(self) -> Labels | None:
        """The classes; None if there are none."""
        return Labels.of(self.y) if self.task == CLASSIFICATION else None

    @property
    def n_classes(self) -> int:
        """The number of classes, 0 if the target holds numbers."""
        return 0 if self.labels is None else len(self.labels)

    @property
    def n_scores(self) -> int:
        """The number of scores: one for each of more than two classes."""
        return 1 if self.labels is None else len(self.labels.outputs or (None,))

    @property
    def class_words(self) -> list[str]:
        """The classes, as a sentence has them."""
        return [] if self.labels is None else [self.labels.word(code) for code in range(self.n_classes)]

    def sentences(self) -> list[str]:
        """Say what the target is, and what scores are about."""
        lines = [f"Target: {self.name}, {self.task} because {self.why}"]
        if self.labels is None:
            return lines
        if self.n_scores > 1:
            lines.append(f"Scores: one for each of the {self.n_classes} classes; the highest predicts")
        else:
            positive = self.labels if self.positive is None else self.labels.about(self.positive)
            hint = " (--positive names the other class)" if self.positive is None else ""
            lines.append(f"Scores: log-odds of {positive.word()}{hint}")
        if isinstance(self.class_weight, str):
            lines.append("Class weights: balanced, so that all classes have the same weight")
        elif self.class_weight is not None:
            factors = (self.class_weight.get(one, 1.0) for one in self.labels.values)
            times = (f"{word} times {readable(factor)}" for word, factor in zip(self.class_words, factors, strict=True))
            lines.append(f"Class weights: {', '.join(times)}")
        return lines


def add_target(parser: argparse.ArgumentParser) -> None:
    """Let a command be told what a target is."""
    parser.add_argument("--task", choices=TASKS, help="the kind of target (default: inferred from its values)")
    parser.add_argument(
        "--loss",
        choices=REGRESSION_LOSSES,
        help="the loss of numbers: gamma for positive amounts, tweedie for amounts of which many are zero "
        "(default: squared, and poisson for counts)",
    )
    parser.add_argument(
        "--positive", metavar="CLASS", help="of two classes, the one that scores are about (default: the one sorted last)"
    )
    what = "by what the rows of classes are multiplied; 'balanced' gives all classes the same weight; may be repeated"
    add_list(parser, "--class-weight", "CLASS=W[,CLASS=W]", what)


def read_target(data: DataFile, rows: Mask, options: argparse.Namespace) -> TargetColumn:
    """Return the targets of the rows for the named or inferred task."""
    column, values = data.column(options.target)
    if column.kind not in ("number", "flag"):
        raise ValueError(f"The target '{column.name}' holds {column.kind}s, which cannot be predicted.")
    labels = as_labels(column, values[rows])
    distinct = sorted(as_labels(column, np.unique(values[rows])).tolist())
    if len(distinct) == 1:
        raise ValueError(f"The target '{column.name}' has one value only, {distinct[0]!r}: there is nothing to predict.")
    weight = weights(data, rows, options)
    weight = np.ones(len(labels)) if weight is None else weight
    task, why = options.task, "you said so"
    if options.loss is not None:
        of_loss = COUNTS if options.loss == "poisson" else REGRESSION
        if task not in (None, REGRESSION, of_loss):
            raise ValueError(f"--loss {options.loss} cannot be used with --task {task}.")
        task = task or of_loss
    if task is None:
        task, why = _inferred_task(column, values[rows], weight, distinct, options)
    if task != CLASSIFICATION:
        return _of_numbers(task, why, numbers(data, options.target, "target")[rows], options)
    if options.exposure is not None:
        raise ValueError(f"--exposure is for counts and amounts; the task is {task}, because {why}.")
    doubt = None if options.task is not None else data.doubt(column, values[rows])
    _check_classes(column.name, doubt, n_counted(weight), distinct)
    classes = Labels.of(labels).values
    positive = None
    if options.positive is not None:
        if len(classes) > 2:
            each = "each with its own score"
            raise ValueError(f"--positive is for two classes; the target has {len(classes)}, {each}.")
        positive = class_written(options.positive, classes, "--positive")
    class_weight = _class_weight(options.class_weight, classes)
    return TargetColumn(column.name, task, why, labels, positive=positive, class_weight=class_weight)


def _of_numbers(task: str, why: str, y: Vector, options: argparse.Namespace) -> TargetColumn:
    """Return a target of numbers; raise if an option is not for them."""
    for option, given in (("--positive", options.positive), ("--class-weight", options.class_weight)):
        if given:
            raise ValueError(f"{option} cannot be used: the task is {task}, which has no classes.")
    loss = options.loss or ("poisson" if task == COUNTS else None)
    if options.exposure is not None and (loss is None or LOSSES[loss].link_name != "exponential"):
        linked = [name for name in REGRESSION_LOSSES if LOSSES[name].link_name == "exponential"]
        raise ValueError(f"--exposure needs a loss with a log link: --loss {', '.join(linked[:-1])} or {linked[-1]}.")
    if task == COUNTS and y.min() < 0.0:
        raise ValueError(
            f"The target '{options.target}' must not be negative to be taken for counts; its least is {y.min():g}."
        )
    return TargetColumn(options.target, task, why, y, loss)


# ---- which task ----


def _inferred_task(
    column: Column, values: Vector, weight: Vector, distinct: Sequence[Any], options: argparse.Namespace
) -> tuple[str, str]:
    """Return the task that the values show, and the reason for it."""
    found = as_numbers(column, values)
    if options.exposure is not None and found is not None:
        return COUNTS, "it comes with an exposure"
    if len(distinct) == 2:
        return CLASSIFICATION, f"it has two different values, {distinct[0]!r} and {distinct[1]!r}"
    if found is None:
        return CLASSIFICATION, f"it holds {kind_of(column, values)} with {len(distinct)} different values, {_listed(distinct)}"
    n_codes, last = len(distinct), int(found.max())
    codes = list(distinct) == list(range(n_codes)) and n_codes <= min(MOST_CODES, MOST_DIFFERENT * n_counted(weight))
    doubt = against_counts(found, weight)
    if doubt is None:
        otherwise = "regression, or classification if they are codes" if codes else "regression if they are none"
        return COUNTS, f"it holds whole numbers from {int(found.min())} to {last}, spread like counts (--task {otherwise})"
    if codes:
        why = f"it holds the whole numbers from 0 to {last}, like codes of classes (--task regression if they are none)"
        return CLASSIFICATION, why
    why = f"it holds numbers with {n_codes} different values"
    return REGRESSION, f"{why}; they {doubt} (--task counts if they are)" if doubt else why


def against_counts(values: Vector, weight: Vector | None = None) -> str | None:
    """Say why numbers are not taken for counts; None if they are.

    The text is empty if nobody would take them for counts. Weights say how often each value counts.
    """
    weight = np.ones(len(values)) if weight is None else weight
    if not (values == np.rint(values)).all() or values.min() < 0.0:
        return ""
    low, high = weighted_quantiles(values, weight, [0.5]).item(), weighted_quantiles(values, weight, [0.5], "right").item()
    if values.min() > max(1.0, NEAR_ZERO * 0.5 * (low + high)):
        return ""
    if values.max() >= LARGEST_COUNT:
        return "are whole, but larger than most counts"
    if np.gcd.reduce(values.astype(np.int64)) > 1:
        return "are whole, but all multiples of a larger number"
    if len(np.unique(values)) > max(FEW_VALUES, MOST_DIFFERENT * n_counted(weight)):
        return "are whole, but repeat less than counts do"
    mean = float(np.average(values, weights=weight))
    variance = float(np.average((values - mean) ** 2, weights=weight))
    if variance < LEAST_DISPERSION * mean:
        return "are whole, but vary less than counts do, like ratings"
    skewness = float(np.average((values - mean) ** 3, weights=weight)) / variance**1.5
    if skewness < LEAST_SKEWNESS / np.sqrt(mean):
        return "are whole, but not skewed like counts"
    return None


def n_counted(weight: Vector) -> float:
    """Return the sum of weights, at least the number of rows."""
    return max(float(np.add.reduce(weight)), float(len(weight)))


# ---- classes ----


def _listed(distinct: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, distinct[:LISTED]))
    return f"{shown}, ..." if len(distinct) > LISTED else shown


def _check_classes(name: str, doubt: str | None, n_rows: float, distinct: Sequence[Any]) -> None:
    """Raise if a target hardly holds classes."""
    if len(distinct) == 2:
        return
    if doubt is not None:
        missing = "say that the text stands for a missing value (--missing-values), " if "text" in doubt else ""
        raise ValueError(
            f"The target '{name}' holds {doubt}. Correct it, {missing}or take it for classes (--task classification)."
        )
    if n_rows < LEAST_REPEATS * len(distinct):
        raise ValueError(
            f"The target '{name}' has {len(distinct)} classes ({_listed(distinct)}) in {n_rows:g} rows, too many to "
            "learn how they differ."
        )
    if isinstance(distinct[0], float):
        raise ValueError(
            f"The target '{name}' holds {len(distinct)} different numbers with decimals ({_listed(distinct)}), which "
            "are no classes: --task regression."
        )


def class_written(text: str, classes: Sequence[Any], option: str) -> Any:
    """Return the class with this spelling; raise if there is none."""
    # As the table has them: text must be the same, but 1 and 1.0 are one number, and true and TRUE one boolean.
    found = [one for one in classes if text == str(one)] + [
        one for one in classes if not isinstance(one, str) and (text.lower() == str(one).lower() or number_in(text) == one)
    ]
    if not found:
        known = " and ".join(map(repr, classes)) if len(classes) == 2 else _listed(classes)
        raise ValueError(f"{option} must be one of the classes, {known}; got {text!r}.")
    return found[0]


def _class_weight(given: Sequence[str], classes: Sequence[Any]) -> Any:
    """Return the given class weights for a classifier."""
    if not given:
        return None
    if tuple(given) == ("balanced",):
        return "balanced"
    weights: dict[Any, float] = {}
    for text in given:
        name, equals, written = text.rpartition("=")
        weight = number_in(written)
        if not equals or weight is None or not 0.0 < weight < np.inf:
            raise ValueError(
                f"--class-weight must be followed by 'balanced', or by CLASS=W with a positive number W; got {text!r}."
            )
        one = class_written(name, classes, "CLASS of --class-weight")
        if one in weights:
            raise ValueError(f"--class-weight gives the class {one!r} two weights.")
        weights[one] = weight
    return weights
