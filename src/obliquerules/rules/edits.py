"""Edits: what was done by hand to the rules of a model, step by step, and what each step cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obliquerules.rules.ensemble import RuleEnsemble
from obliquerules.rules.numbers import readable
from obliquerules.rules.rule import Rule
from obliquerules.rules.text.records import Records, TextTable
from obliquerules.rules.text.style import PLAIN

# Every action: whether it names a rule, and whether it brings a new one.
ACTIONS = {
    "drop": (True, False),
    "add": (False, True),
    "replace": (True, True),
    "lock": (True, False),
    "unlock": (True, False),
    "refit": (False, False),
    "round": (False, False),
}

# How a step was carried out, by the names of what its method takes.
Settings = tuple[tuple[str, float | bool], ...]


@dataclass(frozen=True)
class EditStep:
    """One step of an edit.

    Attributes
    ----------
    action : {"drop", "add", "replace", "lock", "unlock", "refit", "round"}
    rule : int or None
        The position, from 0, of the rule that was named.
    new : Rule or None
        The rule that was added, or put in the place of another.
    description : str
        The step in words.
    complexity_before, complexity_after : int
    loss_before, loss_after : float
        The mean loss on the data that the edit was made with.
    settings : tuple of (str, number)
        How the rules were rounded; of other steps, nothing.
    """

    action: str
    rule: int | None
    new: Rule | None
    description: str
    complexity_before: int
    complexity_after: int
    loss_before: float
    loss_after: float
    settings: Settings = ()


@dataclass(frozen=True)
class EditLog(Records[EditStep]):
    """What was done to the ensemble of a fit, step by step; prints as a table.

    Attributes
    ----------
    start : RuleEnsemble
        The member of the path that the edit started from.
    steps : tuple of EditStep
    ensemble : RuleEnsemble
        What the steps led to.
    """

    start: RuleEnsemble
    steps: tuple[EditStep, ...]
    ensemble: RuleEnsemble

    def _records(self) -> tuple[EditStep, ...]:
        return self.steps

    def followed_by(self, step: EditStep, ensemble: RuleEnsemble) -> EditLog:
        """Return the log with one more step, and the ensemble that it leads to."""
        return EditLog(self.start, (*self.steps, step), ensemble)

    @property
    def locked(self) -> frozenset[int]:
        """The positions of the rules whose weights a refit keeps."""
        locked: frozenset[int] = frozenset()
        for step in self.steps:
            if step.rule is not None:
                others, dropped = locked - {step.rule}, step.action == "drop"
                # The rules behind one that is dropped move up.
                moved = frozenset(rule - (dropped and rule > step.rule) for rule in others)
                locked = moved | {step.rule} if step.action == "lock" else moved
        return locked

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each step; a new rule is written in full, and settings are in the description."""
        columns, style = self.start.columns, PLAIN.in_full()
        told = [{name: value for name, value in vars(step).items() if name != "settings"} for step in self.steps]
        written = [None if step.new is None else step.new.describe(columns, style) for step in self.steps]
        return [one | {"new": new} for one, new in zip(told, written, strict=True)]

    def _parts(self) -> Iterator[TextTable]:
        lines = [
            (
                change(str(step.complexity_before), str(step.complexity_after)),
                change(readable(step.loss_before), readable(step.loss_after)),
                step.description,
            )
            for step in self.steps
        ]
        yield TextTable([("complexity", "mean loss", "step"), *lines])


def change(before: str, after: str) -> str:
    """Return a figure before and after, once if unchanged."""
    return after if before == after else f"{before} -> {after}"
