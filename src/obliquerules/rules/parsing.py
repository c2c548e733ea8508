"""Parsing: printed rules taken apart into columns and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from obliquerules.rules.style import NUMBER, OPERATORS

# A name in quotes is one word, whatever is in it.
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^ ]+')

# The columns, the weights and the threshold of a proposition.
Inequality = tuple[list[int], list[float], float]
Read = TypeVar("Read")


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
        return [] if words == ["True"] else [self._inequality(part) for part in _split(words, "&")]

    def _inequality(self, words: list[str]) -> Inequality:
        if len(words) < 3 or words[-2] not in (">=", "<=") or not NUMBER.fullmatch(words[-1]):
            raise ValueError(f"A condition reads like 'x0 >= 3' or '2 x0 - x1 <= 0.5'; got {' '.join(words)!r}.")
        side = 1.0 if words[-2] == ">=" else -1.0
        columns, weights, sign, term = [], [], 1.0, list[str]()
        for word in (*words[:-2], "+"):
            if word not in OPERATORS:
                term.append(word)
                continue
            weight, column = self._term(term, words)
            columns.append(column)
            weights.append(side * sign * weight)
            sign, term = (-1.0 if word == "-" else 1.0), []
        return columns, weights, side * float(words[-1])

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
