"""Style: how the names, numbers and operators of a condition are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from obliquerules.rules.decimals.numbers import SIGNIFICANT_DIGITS, WEIGHT_DIGITS, in_full, readable

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
# Words that stand between the names and numbers of a condition.
OPERATORS = frozenset({"+", "-", ">=", "<=", ">", "<", "=", "==", "&"})


def plain_name(name: str) -> str:
    """Return a name as plain text shows it: quoted as in JSON if it could be mistaken for something else.

    >>> plain_name("worst radius"), plain_name("a + b"), plain_name("2 legs")
    ('worst radius', '"a + b"', '"2 legs"')
    """
    words = name.split(" ")
    odd = name != " ".join(name.split()) or '"' in name or not name or name == "True"
    if odd or NUMBER.fullmatch(words[0]) or not OPERATORS.isdisjoint(words):
        return json.dumps(name, ensure_ascii=False)
    return name


def column_names(columns: Iterable[int], feature_names: Sequence[str] | None) -> list[str]:
    """Return the names of columns, x0, x1, ... if they have none."""
    return [f"x{column}" if feature_names is None else feature_names[column] for column in columns]


@dataclass(frozen=True)
class Style:
    """The way in which a condition is written.

    Attributes
    ----------
    name : callable
        Makes the name of a column safe for the kind of text.
    times, plus, minus, at_least, at_most, both : str
        What stands between numbers, names and conditions.
    number : str
        A format for the digits of a number, such as ``"${}$"``.
    exact : bool
        Write every digit, and the weight of a single variable as well, so that the text can be read back exactly.
    """

    name: Callable[[str], str] = plain_name
    times: str = " "
    plus: str = " + "
    minus: str = " - "
    at_least: str = " >= "
    at_most: str = " <= "
    both: str = " & "
    number: str = "{}"
    exact: bool = False

    def in_full(self) -> Style:
        """Return this style with all digits."""
        return replace(self, exact=True)

    def write(self, number: float) -> str:
        """Return a number in this style."""
        return self.number.format(self._digits(number))

    def weight(self, number: float) -> str:
        """Return the size of the weight of a rule, or of a sum of weights, in this style: it has fewer digits."""
        return self.number.format(self._digits(number, WEIGHT_DIGITS))

    def signed(self, weight: float) -> str:
        """Return the weight of a rule, or a sum of weights, with its sign in front."""
        digits = self._digits(weight, WEIGHT_DIGITS)
        return self.number.format(digits if digits.startswith("-") else f"+{digits}")

    def _digits(self, number: float, short: int = SIGNIFICANT_DIGITS) -> str:
        return in_full(number) if self.exact else readable(number, short)

    def inequality(self, columns: Iterable[str], weights: Sequence[float], threshold: float) -> str:
        """Return a condition, turned so that the first variable has no minus."""
        names = [self.name(column) for column in columns]
        sense, side = (self.at_least, 1.0) if weights[0] > 0.0 else (self.at_most, -1.0)
        if len(names) == 1 and not self.exact:
            return f"{names[0]}{sense}{self.write(threshold / weights[0])}"
        left = self._term(weights[0], names[0])
        for weight, name in zip(weights[1:], names[1:], strict=True):
            left += (self.minus if side * weight < 0.0 else self.plus) + self._term(weight, name)
        return f"{left}{sense}{self.write(side * threshold)}"

    def _term(self, weight: float, name: str) -> str:
        return name if abs(weight) == 1.0 else f"{self.write(abs(weight))}{self.times}{name}"


PLAIN = Style()
