"""Parsing: printed rules taken apart into columns and numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from obliquerules.rules.style import NUMBER, OPERATORS

# A name in quotes is one word, whatever is in it.
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^ ]+')

# What each comparison consists of: the sides, 1 for "at least" and -1 for "at most", and whether the number itself is excluded.
COMPARISONS = {
    ">=": ((1.0,), False),
    "<=": ((-1.0,), False),
    ">": ((1.0,), True),
    "<": ((-1.0,), True),
    "=": ((1.0, -1.0), False),
    "==": ((1.0, -1.0), False),
}
Read = TypeVar("Read")


class Inequality(NamedTuple):
    """The columns, the weights and the threshold of a proposition, and the comparison that it was written with."""

    columns: list[int]
    weights: list[float]
    threshold: float
    comparison: str


def read_lines(text: str, read: Callable[[str], Read]) -> list[Read]:
    """Return what is read from each line that is neither blank nor a remark after ``#``; an error says in which line it is."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(read(line))
            except ValueError as error:
                raise ValueError(f"Line {number}: {error}") from error
    return found


def weight_and_condition(text: str) -> tuple[float, str]:
    """Split the text of a rule at the word ``if``."""
    weight, word, condition = text.strip().partition(" if ")
    if not word or not NUMBER.fullmatch(weight.strip()):
        raise ValueError(f"A rule reads like '+1.5 if x0 >= 3', with a number before 'if'; got {text.strip()!r}.")
    return float(weight), condition


class Reader:
    """Reads conditions in the names of given columns.

    Parameters
    ----------
    feature_names : sequence of str or None
        The names of all columns; None for x0, x1, and so on.
    """

    def __init__(self, feature_names: Sequence[str] | None) -> None:
        self.names = None if feature_names is None else tuple(str(name) for name in feature_names)
        self._columns = {name: column for column, name in enumerate(self.names or ())}
        if self.names is not None and len(self._columns) < len(self.names):
            raise ValueError("feature_names must be different, so that the text says which column it means.")

    def inequalities(self, text: str) -> list[Inequality]:
        """Read inequalities with ``&`` between them, or ``True`` for none."""
        words = WORD.findall(text)
        return [] if words == ["True"] else [one for part in _split(words, "&") for one in self._comparison(part)]

    def _comparison(self, words: list[str]) -> list[Inequality]:
        """Return the one inequality that a comparison is, or the two that ``=`` stands for."""
        if len(words) < 3 or words[-2] not in COMPARISONS or not NUMBER.fullmatch(words[-1]):
            raise ValueError(f"A condition reads like 'x0 >= 3' or '2 x0 - x1 <= 0.5'; got {' '.join(words)!r}.")
        sides, excluded = COMPARISONS[words[-2]]
        columns, weights = self._sum(words)
        number = float(words[-1])
        return [
            Inequality(columns, [side * weight for weight in weights], _threshold(side * number, excluded), words[-2])
            for side in sides
        ]

    def _sum(self, words: list[str]) -> tuple[list[int], list[float]]:
        """Return the columns and weights of the sum to the left of a comparison."""
        columns, weights, sign, term = [], [], 1.0, list[str]()
        for word in (*words[:-2], "+"):
            if word not in OPERATORS:
                term.append(word)
                continue
            weight, column = self._term(term, words)
            columns.append(column)
            weights.append(sign * weight)
            sign, term = (-1.0 if word == "-" else 1.0), []
        return columns, weights

    def _term(self, term: list[str], words: list[str]) -> tuple[float, int]:
        """Return the weight and the column of a term such as ``2 x0`` or ``x0``."""
        weighted = bool(term) and NUMBER.fullmatch(term[0]) is not None
        name = term[1:] if weighted else term
        if not name:
            raise ValueError(f"The name of a column is missing in {' '.join(words)!r}.")
        return (float(term[0]) if weighted else 1.0), self._column(name)

    def _column(self, words: list[str]) -> int:
        name = " ".join(words)
        if len(words) == 1 and name.startswith('"'):
            name = json.loads(name, strict=False)
        if self.names is None and re.fullmatch(r"x\d{1,9}", name):
            return int(name[1:])
        if name not in self._columns:
            known = "columns are called x0, x1, ..." if self.names is None else f"columns are {_listed(self.names)}"
            raise ValueError(f"There is no column {name!r}; the {known}.")
        return self._columns[name]


def _threshold(number: float, excluded: bool) -> float:
    """Return the least double that a sum may be: the number, or the next one above if that is excluded."""
    return math.nextafter(number, math.inf) if excluded else number


def _split(words: list[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
