"""Trials: what there is to do and what came of it, as data that go through JSON unchanged."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.paper.contenders import Contender

# Different seeds have different splits, up to this number of repetitions.
SEEDS_APART = 1000
# How the failure begins of a fit that ran out of time.
STOPPED = "stopped after"


@dataclass(frozen=True)
class Trial:
    """One fit: a setting of a method on a split of a data set.

    Attributes
    ----------
    dataset, method, setting : str
        The names under which they are reported.
    seed : int
        Of the split, and of the method's own random choices.
    """

    dataset: str
    method: str
    setting: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came of one trial.

    Attributes
    ----------
    trial : Trial
    complexities : tuple of int
        One for each member of the path, from one rule upwards.
    losses : mapping from str to tuple of float
        The test risk of each member: ``"risk"``, which is the mean squared error or the log loss, and for classes also
        ``"0/1 loss"``.
    seconds : float
        Processor time of the fit, up to its end or its failure.
    failure : str or None
        Why there is no path; None if there is one.

    Examples
    --------
    >>> outcome = Outcome(Trial("Diabetes", "DRNet", "default", 0), (), {}, 1.5, "ValueError: no.")
    >>> outcome.line()
    '{"dataset":"Diabetes","method":"DRNet","setting":"default","seed":0,"complexities":[],"losses":{},"seconds":1.5,"failure":"ValueError: no."}'
    >>> Outcome.of_line(outcome.line()) == outcome
    True
    """  # noqa: E501

    trial: Trial
    complexities: tuple[int, ...]
    losses: Mapping[str, tuple[float, ...]]
    seconds: float
    failure: str | None = None

    def final(self, limit: float) -> bool:
        """Say whether the trial need not be repeated within a limit; one that was stopped sooner may end now."""
        return self.failure is None or not self.failure.startswith(STOPPED) or self.seconds >= limit

    def line(self) -> str:
        """Return the outcome as one line of JSON, with exact numbers."""
        fields = {**dataclasses.asdict(self.trial), **dataclasses.asdict(self)}
        del fields["trial"]
        return json.dumps(fields, separators=(",", ":"), allow_nan=False)

    @classmethod
    def of_line(cls, line: str) -> Outcome:
        """Read a line; ValueError if it is not one that `line` writes."""
        try:
            fields = json.loads(line)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        _check_fields(fields)
        trial = Trial(*(fields.pop(field.name) for field in dataclasses.fields(Trial)))
        fields["complexities"] = tuple(fields["complexities"])
        fields["losses"] = {name: tuple(curve) for name, curve in fields["losses"].items()}
        return cls(trial, **fields)


def _check_fields(fields: Any) -> None:
    if not isinstance(fields, dict) or set(fields) != set(FIELDS):
        raise ValueError("the line does not hold the fields of an outcome")
    for name, (holds, what) in FIELDS.items():
        if not holds(fields[name]):
            raise ValueError(f"{name} should be {what}")
    if any(len(curve) != len(fields["complexities"]) for curve in fields["losses"].values()):
        raise ValueError("losses should be as long as complexities")
    if fields["complexities"] and "risk" not in fields["losses"]:
        raise ValueError("losses should hold the risk")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # which NaN is not


def _is_curves(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(curve, list) and all(map(_is_number, curve)) for curve in value.values())


# What each field of a line holds, and what that is called.
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("dataset", "method", "setting"), (_is_text, "text")),
    "seed": (_is_whole, "a whole number"),
    "complexities": (lambda value: isinstance(value, list) and all(map(_is_whole, value)), "a list of whole numbers"),
    "losses": (_is_curves, "an object of lists of numbers"),
    "seconds": (_is_number, "a number"),
    "failure": (lambda value: value is None or isinstance(value, str), "text or null"),
}


def plan(datasets: Iterable[Any], contenders: Sequence[Contender], repetitions: int, seed: int) -> tuple[Trial, ...]:
    """Return all trials, repetition by repetition, so that a run that is cut short has something of everything."""
    cases = [
        (data.name, contender.name, setting)
        for data in datasets
        for contender in contenders
        for setting in contender.make(data.task, 0)
    ]
    return tuple(Trial(*case, SEEDS_APART * seed + repetition) for repetition in range(repetitions) for case in cases)
