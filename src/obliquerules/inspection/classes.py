"""Classes: which of many a user names, and two of them side by side, whose scores decide between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from obliquerules.arrays import Vector
from obliquerules.rules import Model
from obliquerules.rules.rule import Weight
from obliquerules.rules.text.style import PLAIN


@dataclass(frozen=True)
class Comparison:
    """Two of many classes: the predicted one, and the one with which it is compared.

    The difference of their scores is the logarithm of the odds of the first against the second.

    Attributes
    ----------
    names : tuple of str
        The names of all classes, in the order of their scores.
    first, second : int
        The positions of the two.
    against : object
        The label of the second.
    total : str
        What the difference of their scores is called.
    """

    names: tuple[str, ...]
    first: int
    second: int
    against: Any
    total: str

    @property
    def heading(self) -> tuple[str, str]:
        """What the two classes are called."""
        return PLAIN.output(self.names[self.first]), PLAIN.output(self.names[self.second])

    def of(self, amount: Weight) -> tuple[float, float]:
        """Return the amounts of the two, given those of all classes."""
        each = weights_of(amount)
        return each[self.first], each[self.second]

    def concerns(self, weight: Weight) -> bool:
        """Say whether a rule has a weight for either of the two."""
        return any(self.of(weight))

    def named(self, weight: Weight, factor: str | None = None) -> str:
        """Return the weights that a rule has for the two, each with the name of its class and the factor."""
        named = zip(self.heading, self.of(weight), strict=True)
        return ", ".join(f"{name} {PLAIN.amount(one, factor)}" for name, one in named if one)

    def remarks(self, score: Weight, n_silent: int) -> Iterator[str]:
        """Yield what there is to say about the other classes, and the number of rules that speak of nothing else."""
        scores = weights_of(score)
        others = [output for output in range(len(scores)) if output not in (self.first, self.second)]
        yield "Other scores: " + ", ".join(f"{PLAIN.output(self.names[k])} {PLAIN.signed(scores[k])}" for k in others)
        if n_silent:
            rules = "1 other rule says" if n_silent == 1 else f"{n_silent} other rules say"
            yield f"{rules} nothing of these two classes."

    def record(self, contribution: Weight, score: Weight) -> dict[str, Any]:
        """Return what a data frame has besides the differences."""
        return {
            "against": self.against,
            **by_class("contribution", self.names, contribution),
            **by_class("score", self.names, score),
        }


def comparisons(model: Model, scores: Vector, versus: Any = None) -> list[Comparison | None]:
    """Return for each row the two classes to compare: the predicted one and another, or the runner-up; None without many."""
    if not model.has_many_classes or model.labels is None:
        if versus is not None:
            raise ValueError("versus names one of many classes; this model has no more than two.")
        return [None] * len(scores)
    other = None if versus is None else class_code(model, "versus", versus)
    names, values = model.labels.names, model.labels.values
    found: list[Comparison | None] = []
    for row in scores:
        first, runner_up = model.leading(row)
        second = runner_up if other is None or other == first else other
        total = f"log-odds of {model.class_word(first)} against {model.class_word(second)}"
        found.append(Comparison(names, first, second, values[second], total))
    return found


def class_code(model: Model, parameter: str, label: Any) -> int:
    """Return the number of a class given by its label, or by the label as text; raise if there is no such class."""
    labels = model.labels
    if labels is None:
        raise ValueError(f"{parameter} names a class, and a regressor has none.")
    if label in labels.values:
        return labels.values.index(label)
    if label in labels.names:
        return labels.names.index(label)
    known = ", ".join(map(repr, labels.values))
    raise ValueError(f"{parameter} must be one of the classes, {known}; got {label!r}.")


def weights_of(amount: Weight) -> tuple[float, ...]:
    """Return the amount of each score, also if there is only one."""
    return amount if isinstance(amount, tuple) else (amount,)


def difference(amount: Weight, between: Comparison | None = None) -> float:
    """Return the amount of a single score or, with many classes, the difference of two of them."""
    if between is None:
        (only,) = weights_of(amount)
        return only
    first, second = between.of(amount)
    return first - second


def row_amounts(amounts: Vector) -> list[Weight]:
    """Return the amount of each row: a number or, with many classes, a tuple of them."""
    return amounts.tolist() if amounts.ndim == 1 else list(map(tuple, amounts.tolist()))


def by_class(what: str, names: Sequence[str], amounts: Weight | tuple[Any, ...] | None) -> dict[str, Any]:
    """Return something of each class under the name of the class, such as ``weight of setosa``; None if there is nothing."""
    each = (None,) * len(names) if amounts is None else amounts if isinstance(amounts, tuple) else (amounts,)
    return {f"{what} of {name}": one for name, one in zip(names, each, strict=True)}
