"""Style: how the names, numbers and operators of a condition are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from obliquerules.rules.columns import Column, Columns, Level, day_or_days, moment_text
from obliquerules.rules.numbers import SIGNIFICANT_DIGITS, WEIGHT_DIGITS, in_full, readable
from obliquerules.rules.text.tokens import NUMBER, is_name, quoted

if TYPE_CHECKING:
    from obliquerules.rules.rule_parts import Factor, Membership, Proposition

# How many levels of a column a message lists.
MOST_LISTED = 10


def plain_name(name: str) -> str:
    """Return a name, in quotes if it could be mistaken.

    >>> plain_name("mean radius (mm)"), plain_name("a + b"), plain_name("2 legs"), plain_name("salt and pepper")
    ('mean radius (mm)', '"a + b"', '"2 legs"', '"salt and pepper"')
    """
    return name if is_name(name) else quoted(name)


def plain_level(level: Level) -> str:
    """Return a level as plain text shows it: text in quotes if it could be mistaken for something else.

    >>> plain_level("dark red"), plain_level("1"), plain_level(1), plain_level("a, b")
    ('dark red', '"1"', '1', '"a, b"')
    """
    return plain_name(level) if isinstance(level, str) else str(level)


def plain_output(name: str) -> str:
    """Return the name of a class as plain text shows it beside its weight.

    >>> plain_output("setosa"), plain_output("3"), plain_output("a, b")
    ('setosa', 'class 3', '"a, b"')
    """
    if NUMBER.fullmatch(name):
        return f"class {name}"
    return quoted(name) if name.startswith(("#", "class ")) else plain_name(name)


def plain_heading(name: str) -> str:
    """Return the name of a class for the heading of a table.

    >>> plain_heading("3"), plain_heading("# 3")
    ('3', '"# 3"')
    """
    # A line that begins with # is a remark.
    return name if NUMBER.fullmatch(name) else quoted(name) if name.startswith("#") else plain_name(name)


def listed_levels(levels: Sequence[Level]) -> str:
    """Return levels as text, only the first of many."""
    return ", ".join(map(plain_level, levels[:MOST_LISTED])) + (", ..." if len(levels) > MOST_LISTED else "")


def column_names(columns: Iterable[int], feature_names: Sequence[str] | None) -> list[str]:
    """Return the names of columns, x0, x1, ... if they have none."""
    return [f"x{column}" if feature_names is None else feature_names[column] for column in columns]


def column_at(columns: Columns | None, index: int) -> Column:
    """Return a column, one of numbers called x0, x1, ... if nothing is known of them."""
    return Column(f"x{index}") if columns is None else columns[index]


@dataclass(frozen=True)
class Style:
    """The way in which a condition is written: what stands between names, numbers, conditions, levels and limits."""

    # Makes the name of a column, a level, or the name of a class, safe for the kind of text.
    name: Callable[[str], str] = plain_name
    level: Callable[[Level], str] = plain_level
    output: Callable[[str], str] = plain_output
    times: str = " "
    plus: str = " + "
    minus: str = " - "
    at_least: str = " >= "
    at_most: str = " <= "
    both: str = " & "
    equal: str = " = "
    unequal: str = " != "
    among: str = " in "
    not_among: str = " not in "
    from_level: str = " at least "
    to_level: str = " at most "
    below_level: str = " below "
    above_level: str = " above "
    opening: str = "{"
    closing: str = "}"
    is_missing: str = " is missing"
    is_present: str = " is not missing"
    or_missing: str = " or missing"
    clipped: str = " clipped to "
    between: str = ", "
    # A format for the digits of a number, such as "${}$".
    number: str = "{}"
    # Write every digit, and the weight of a single variable as well, so that the text can be read back exactly.
    exact: bool = False

    # ---- numbers

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

    def amount(self, weight: float, factor: str | None) -> str:
        """Return the weight of a rule with its sign in front, and behind it what it is multiplied by, if anything."""
        return self.signed(weight) if factor is None else f"{self.signed(weight)}{self.times}{factor}"

    def _digits(self, number: float, short: int = SIGNIFICANT_DIGITS) -> str:
        return in_full(number) if self.exact else readable(number, short)

    def value(self, column: Column, number: float) -> str:
        """Return a number in the unit of a column: a date, a time, a duration or a plain number."""
        moment = moment_text(number, column.kind) if column.kind in ("date", "time") else None
        text = self.write(number) if moment is None else moment
        return f"{text} {day_or_days(number)}" if column.kind == "duration" else text

    # ---- factors

    def factor(self, columns: Columns | None, factor: Factor) -> str:
        """Return what the weight of a rule is multiplied by: the value of a column, with its limits and its origin."""
        column = column_at(columns, factor.column)
        if not self.exact and float(self._digits(factor.lower)) >= float(self._digits(factor.upper)):
            return self.in_full().factor(columns, factor)  # few digits do not tell the limits apart
        text, between = self.name(column.name), self.between
        lower, upper = (self.value(column, limit) if math.isfinite(limit) else None for limit in (factor.lower, factor.upper))
        if lower is not None and upper is not None:
            text = f"{text}{self.clipped}[{lower}{between}{upper}]"
        elif lower is not None or upper is not None:
            text = f"min({text}{between}{upper})" if lower is None else f"max({text}{between}{lower})"
        return self.counted(column, text, factor.origin)

    def counted(self, column: Column, value: str, origin: float) -> str:
        """Return a value of a column, already as text, counted from an origin."""
        if origin == 0.0:
            return value
        # A date has no sign.
        minus = origin > 0.0 or column.kind in ("date", "time")
        return f"({value}{self.minus if minus else self.plus}{self.value(column, origin if minus else -origin)})"

    def hinge(self, columns: Columns | None, factor: Factor) -> str | None:
        """Return in words what a hinge counts from its knot; None if the factor is no hinge on a column of plain numbers."""
        column = column_at(columns, factor.column)
        if not factor.is_hinge or column.kind in ("date", "time", "duration"):
            return None
        is_above = factor.origin == factor.lower
        end = factor.upper if is_above else factor.lower
        side, to = ("above", "up to") if is_above else ("below", "down to")
        text = f"{self.name(column.name)} {side} {self.write(factor.origin)}"
        return f"{text}, {to} {self.write(end)}" if math.isfinite(end) else text

    # ---- sums

    def proposition(self, columns: Columns | None, proposition: Proposition) -> str:
        """Return a condition on a sum, in words if it is one of 0/1 columns, turned so that the first variable has no minus."""
        wanted = votes_needed(columns, proposition)
        text = self._inequality(columns, proposition) if wanted is None else self._votes(columns, proposition, wanted)
        return text + (self.or_missing if proposition.missing else "")

    def _inequality(self, columns: Columns | None, proposition: Proposition) -> str:
        (first, *weights), threshold, summand = proposition.weights, proposition.threshold, proposition.columns[0]
        names = [self._summand(columns, one) for one in proposition.columns]
        sense, side = (self.at_least, 1.0) if first > 0.0 else (self.at_most, -1.0)
        if not weights and abs(first) == 1.0 and isinstance(summand, int):
            return f"{names[0]}{sense}{self.value(column_at(columns, summand), threshold / first)}"
        quotient = threshold / first
        if not weights and not self.exact and math.isfinite(quotient) and (quotient != 0.0) == (threshold != 0.0):
            return f"{names[0]}{sense}{self.write(quotient)}"
        left = ""
        for weight, name in zip(proposition.weights, names, strict=True):
            left += (self.minus if side * weight < 0.0 else self.plus) if left else ""
            left += name if abs(weight) == 1.0 else f"{self.write(abs(weight))}{self.times}{name}"
        return f"{left}{sense}{self.write(side * threshold)}"

    def _summand(self, columns: Columns | None, summand: int | Membership, brackets: str = "({})") -> str:
        if isinstance(summand, int):
            return self.name(column_at(columns, summand).name)
        return brackets.format(self.membership(column_at(columns, summand.column), summand))

    def _votes(self, columns: Columns | None, proposition: Proposition, wanted: int) -> str:
        """Return in words that as many 0/1 columns and memberships of a sum must hold."""
        if proposition.only_number is not None:
            name = self._summand(columns, proposition.only_number)
            return f"{name}{self.equal}{self.write(1.0 if proposition.weights[0] > 0.0 else 0.0)}"
        votes = zip(proposition.columns, proposition.weights, strict=True)
        said = [self._summand(columns, *((one, "{}") if weight > 0.0 else (one,))) for one, weight in votes]
        said = [text if weight > 0.0 else f"not {text}" for text, weight in zip(said, proposition.weights, strict=True)]
        listed = f"{self.opening}{', '.join(said)}{self.closing}"
        if wanted == len(said):
            # A sentence has no braces.
            return f"all of {listed}" if self.opening else " and ".join(said)
        return f"any of {listed}" if wanted == 1 else f"at least {wanted} of {listed}"

    # ---- levels

    def membership(self, column: Column, membership: Membership) -> str:
        """Return a condition on levels."""
        name, levels, negated = self.name(column.name), membership.levels, membership.negated
        if not levels:
            return name + (self.is_missing if membership.missing else self.is_present)
        # Levels in a row begin with the first of the column or end with the last.
        in_row = membership.ordered and column.ordered and column.levels is not None
        if in_row and levels == (column.levels or ())[: len(levels)]:
            text = f"{name}{self.above_level if negated else self.to_level}{self.level(levels[-1])}"
        elif in_row and levels == (column.levels or ())[-len(levels) :]:
            text = f"{name}{self.below_level if negated else self.from_level}{self.level(levels[0])}"
        elif len(levels) == 1 and isinstance(levels[0], bool) and not membership.ordered:
            text = name if levels[0] else f"not {name}"
        # Where levels are not known, x0 = 3 is an equation between numbers.
        elif len(levels) == 1 and (isinstance(levels[0], str) or column.levels is not None):
            text = name + (self.unequal if negated else self.equal) + self.level(levels[0])
        else:
            listed = self.opening + ", ".join(map(self.level, levels)) + self.closing
            text = name + (self.not_among if negated else self.among) + listed
        return text + (self.or_missing if membership.missing else "")


def votes_needed(columns: Columns | None, proposition: Proposition) -> int | None:
    """Return how many of the 0/1 inputs of a sum must be as wanted; None if that is not what the sum says."""
    if any(isinstance(one, int) and column_at(columns, one).kind != "flag" for one in proposition.columns):
        return None
    if any(abs(weight) != 1.0 for weight in proposition.weights) or not proposition.threshold.is_integer():
        return None
    wanted = int(proposition.threshold) + sum(weight < 0.0 for weight in proposition.weights)
    return wanted if 1 <= wanted <= len(proposition.columns) else None


PLAIN = Style()
