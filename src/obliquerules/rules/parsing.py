"""Parsing: printed rules taken apart into propositions, memberships and factors."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from obliquerules.rules.columns import Column, Columns, Level
from obliquerules.rules.factor import Factor
from obliquerules.rules.membership import Membership
from obliquerules.rules.moments import seconds_in, seconds_since_1970
from obliquerules.rules.numbers import in_full
from obliquerules.rules.proposition import Proposition, Term, Test
from obliquerules.rules.style import NUMBER, OPERATORS

QUOTED = r'"(?:[^"\\]|\\.)*"'
# A name in quotes is one word, whatever is in it.
WORD = re.compile(rf"{QUOTED}|[^ ]+")
# A membership in a sum: in parentheses, at the beginning of a term. A name may contain parentheses, but not begin with one.
IN_PARENTHESES = re.compile(rf'(^|[+-] )([0-9][^ ]* )?\(((?:{QUOTED}|\([^()"]*\)|[^()"])*)\)(?= |$)')
PLACEHOLDER = "\0"

# Conditions on levels: the name of a column, what it is asked, and levels.
ABSENT = re.compile(r"(?P<name>.+) is (?P<word>not )?missing")
AMONG = re.compile(rf"(?P<name>{QUOTED}|.+?) (?P<word>not )?in \{{(?P<levels>.+)\}}")
EQUAL = re.compile(rf"(?P<name>{QUOTED}|.+?) (?P<word>=|==|!=) (?P<levels>.+)")
IN_ORDER = re.compile(rf"(?P<name>{QUOTED}|.+?) (?P<word>at least|at most|below|above) (?P<levels>.+)")
LISTED = re.compile(rf"\s*({QUOTED}|[^,]+?)\s*(?:,|$)")
# Conditions on several 0/1 columns: how many of them must be as listed.
VOTES = re.compile(r"(?:(?P<any>any)|at least (?P<number>[0-9]+)) of \{(?P<listed>.+)\}")
# A date, a time or a number of days after a comparison.
DATED = re.compile(
    r"(?P<left>.+ (?:>=|<=|>|<|=|==)) (?:(?P<date>\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)|(?P<days>[^ ]+) days?)"
)

# What a weight is multiplied by: a column, perhaps with limits, and in parentheses if it is counted from an origin.
CLIPPED = re.compile(r"(?P<name>.+) clipped to \[(?P<lower>[^,\]]+), (?P<upper>[^,\]]+)\]")
MIN = re.compile(r"min\((?P<name>.+), (?P<upper>[^,()]+)\)")
MAX = re.compile(r"max\((?P<name>.+), (?P<lower>[^,()]+)\)")
COUNTED = re.compile(r"\((?P<inner>.+) (?P<sign>[+-]) (?P<origin>[^\]\"]+)\)")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")

# What each comparison consists of: the sides, 1 for "at least" and -1 for "at most", and whether the number itself is excluded.
COMPARISONS = {
    ">=": ((1.0,), False),
    "<=": ((-1.0,), False),
    ">": ((1.0,), True),
    "<": ((-1.0,), True),
    "=": ((1.0, -1.0), False),
    "==": ((1.0, -1.0), False),
}
# The name of a class and its weight.
WEIGHED = re.compile(rf"(?P<name>{QUOTED}|.+?) (?P<weight>{NUMBER.pattern})")
Read = TypeVar("Read")


class Typed(NamedTuple):
    """A proposition or membership, and the comparison of numbers that it was written with, if any."""

    test: Test
    comparison: str | None = None


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


def rule_parts(text: str) -> tuple[float, str | None, str]:
    """Split the text of a rule into its weight, the text of its factor, None if there is none, and that of its condition."""
    amount, found, condition = _cut_at_if(text.strip())
    weight, _, factor = amount.strip().partition(" ")
    if not NUMBER.fullmatch(weight) or not (found or factor) or not COMPARISONS.keys().isdisjoint(WORD.findall(factor)):
        raise ValueError(
            f"A rule reads like '+1.5 if x0 >= 3' or '+1.5 x0', with a number at the beginning; got {text.strip()!r}."
        )
    return float(weight), factor.strip() or None, condition if found else "True"


def take_heading(text: str) -> tuple[str | None, str]:
    """Return the heading of a table of many classes, None if there is none, and the text below it."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            is_heading = re.search(r"\| *if *$", line) is not None
            # The lines keep their numbers.
            return (line, "\n".join(["", *lines[:number], *lines[number + 1 :]])) if is_heading else (None, text)
    return None, text


def read_heading(heading: str) -> list[str]:
    """Return the names of the classes in the heading of a table."""
    return [_unquoted(name.strip()) for name in _parts(heading, r"\|")[:-1]]


def weights_and_condition(text: str, outputs: Sequence[str]) -> tuple[list[float], str]:
    """Split the text of a rule for many classes: the cells of a table, or the names of classes with their weights."""
    cells = text.split("|", len(outputs))
    if len(cells) > len(outputs) and all(NUMBER.fullmatch(cell.strip()) or not cell.strip() for cell in cells[:-1]):
        return [float(cell) if cell.strip() else 0.0 for cell in cells[:-1]], cells[-1].strip()
    named, word, condition = _cut_at_if(text.strip())
    weights = [0.0] * len(outputs)
    if word and NUMBER.fullmatch(named) and float(named) == 0.0:
        return weights, condition
    parts = [WEIGHED.fullmatch(part) for part in _parts(named, ",")]
    if not word or not all(parts):
        raise ValueError(
            f"A rule for many classes reads like '{outputs[0]} +1.5, {outputs[-1]} -2 if x0 >= 3'; got {text.strip()!r}."
        )
    for part in filter(None, parts):
        weights[_output(_unquoted(part["name"]), outputs)] = float(part["weight"])
    return weights, condition


def _cut_at_if(text: str) -> tuple[str, bool, str]:
    """Split a text at the first word ``if`` that is not in quotes; say whether there is one."""
    for match in re.finditer(rf"{QUOTED}|( if )", text):
        if match[1] is not None:
            return text[: match.start()], True, text[match.end() :]
    return text, False, ""


def _output(name: str, outputs: Sequence[str]) -> int:
    """Return the position of a class, also of a number that is called ``class 3``."""
    for known in (name, name.removeprefix("class ")):
        if known in outputs:
            return list(outputs).index(known)
    raise ValueError(f"There is no class {name!r}; the classes are {_listed(tuple(outputs))}.")


def _unquoted(name: str) -> str:
    return str(json.loads(name, strict=False)) if name.startswith('"') and WORD.fullmatch(name) else name


class Reader:
    """Reads conditions in the names of given columns.

    Parameters
    ----------
    columns : iterable of str or Column, or None
        All columns, or their names; None for x0, x1, and so on.
    """

    def __init__(self, columns: Iterable[str | Column] | None) -> None:
        self.columns = None if columns is None else Columns.of(columns)
        self.names = None if self.columns is None else self.columns.names
        self._positions = {name: column for column, name in enumerate(self.names or ())}
        if self.names is not None and len(self._positions) < len(self.names):
            raise ValueError("feature_names must be different, so that the text says which column it means.")

    def tests(self, text: str) -> list[Typed]:
        """Read conditions with ``&`` between them, or ``True`` for none."""
        words = WORD.findall(text)
        return [] if words == ["True"] else [one for part in _split(words, "&") for one in self._condition(" ".join(part))]

    def _condition(self, text: str) -> list[Typed]:
        """Return what a condition is: one proposition or membership, or two propositions where ``=`` stands for them."""
        stated = text.removesuffix(" or missing")
        found = self._on_levels(stated) or self._votes(stated)
        read = [Typed(found)] if found is not None else self._comparison(stated)
        if stated == text:
            return read
        return [Typed(test.with_missing(True), comparison) for test, comparison in read]

    # ---- factors

    def factor(self, text: str) -> Factor:
        """Return what the weight of a rule is multiplied by, such as ``age``, ``(age - 50)`` or ``min(age, 80)``."""
        counted = COUNTED.fullmatch(text)
        inner = text if counted is None else counted["inner"]
        clipped = CLIPPED.fullmatch(inner) or MIN.fullmatch(inner) or MAX.fullmatch(inner)
        said = {"name": inner} if clipped is None else clipped.groupdict()
        column = self._position([said.pop("name")])
        limits = {name: self._value(limit, column) for name, limit in said.items()}
        origin = 0.0 if counted is None else self._value(counted["origin"], column)
        return Factor(column, -origin if counted is not None and counted["sign"] == "+" else origin, **limits)

    def _value(self, text: str, column: int) -> float:
        """Return a number in the unit of a column, or the number that it has for a date, a time or a number of days."""
        kind = self._column(column).kind
        if kind in ("date", "time") and MOMENT.fullmatch(text):
            return float(_days_or_seconds(text, kind))
        number = re.sub(" days?$", "", text) if kind == "duration" else text
        if not NUMBER.fullmatch(number):
            raise ValueError(f"There should be a number in the place of {text!r}.")
        return float(number)

    # ---- sums

    def _comparison(self, text: str) -> list[Typed]:
        """Return the one inequality that a comparison is, or the two that ``=`` stands for."""
        memberships: list[Membership] = []
        words = WORD.findall(self._with_placeholders(self._in_numbers(text), memberships))
        if len(words) < 3 or words[-2] not in COMPARISONS or not NUMBER.fullmatch(words[-1]):
            raise ValueError(f"A condition reads like 'x0 >= 3' or '2 x0 - x1 <= 0.5'; got {text!r}.")
        sides, excluded = COMPARISONS[words[-2]]
        terms, weights = self._sum(words, memberships)
        number = float(words[-1])
        flag = self._flag(terms, weights, words[-2], number)
        if flag is not None:
            return [Typed(flag)]
        return [
            Typed(Proposition(terms, [side * weight for weight in weights], _threshold(side * number, excluded)), words[-2])
            for side in sides
        ]

    def _with_placeholders(self, text: str, memberships: list[Membership]) -> str:
        """Replace each membership in a sum by a word of its own, and collect them."""

        def replaced(match: re.Match[str]) -> str:
            found = self._on_levels(match[3].removesuffix(" or missing"))
            if found is None:
                raise ValueError(f"There is no condition on levels in ({match[3]}).")
            memberships.append(found.with_missing(match[3].endswith(" or missing")) if found.levels else found)
            return f"{match[1]}{match[2] or ''}{PLACEHOLDER}{len(memberships) - 1}"

        return IN_PARENTHESES.sub(replaced, text)

    def _in_numbers(self, text: str) -> str:
        """Replace a date, a time or a number of days by the number that the column has for it."""
        match = DATED.fullmatch(text)
        if match is None:
            return text
        column = self._find(match["left"].rpartition(" ")[0])
        kind = "number" if column is None else self._column(column).kind
        if match["days"] is not None:
            return f"{match['left']} {match['days']}" if kind == "duration" else text
        return text if kind not in ("date", "time") else f"{match['left']} {_days_or_seconds(match['date'], kind)}"

    def _sum(self, words: list[str], memberships: Sequence[Membership]) -> tuple[list[Term], list[float]]:
        """Return the terms and weights of the sum to the left of a comparison."""
        terms: list[Term] = []
        weights, sign, term = [], 1.0, list[str]()
        for word in (*words[:-2], "+"):
            if word not in OPERATORS:
                term.append(word)
                continue
            weight, name = self._term(term, words)
            placeholder = len(name) == 1 and name[0].startswith(PLACEHOLDER)
            terms.append(memberships[int(name[0][1:])] if placeholder else self._position(name))
            weights.append(sign * weight)
            sign, term = (-1.0 if word == "-" else 1.0), []
        return terms, weights

    def _term(self, term: list[str], words: list[str]) -> tuple[float, list[str]]:
        """Return the weight and the name of a term such as ``2 x0`` or ``x0``."""
        weighted = bool(term) and NUMBER.fullmatch(term[0]) is not None
        name = term[1:] if weighted else term
        if not name:
            raise ValueError(f"The name of a column is missing in {' '.join(words)!r}.")
        return (float(term[0]) if weighted else 1.0), name

    def _flag(self, terms: list[Term], weights: list[float], comparison: str, number: float) -> Proposition | None:
        """Return ``a = 1`` or ``a = 0`` of a 0/1 column as the one inequality that it is."""
        single = terms[0] if len(terms) == 1 and weights == [1.0] and comparison in ("=", "==") else None
        if not isinstance(single, int) or self._column(single).kind != "flag" or number not in (0.0, 1.0):
            return None
        return Proposition([single], [1.0 if number else -1.0], number)

    # ---- levels

    def _on_levels(self, text: str) -> Membership | None:
        """Return a condition on levels or on missing values; None if the text is something else."""
        for pattern, read in ((ABSENT, _absent), (AMONG, _among), (EQUAL, _equal), (IN_ORDER, _in_order)):
            match = pattern.fullmatch(text)
            position = None if match is None else self._find(match["name"])
            if match is not None and position is not None:
                found = read(match, position, self._column(position))
                if found is not None:
                    return found
        return self._truth(text)

    def _truth(self, text: str) -> Membership | None:
        """Return ``smoker`` or ``not smoker`` as a condition; None if that is no column of booleans."""
        position = self._find(text.removeprefix("not "))
        if position is None or not self._column(position).is_truth:
            return None
        return Membership(position, [not text.startswith("not ")])

    def _votes(self, text: str) -> Proposition | None:
        """Return a condition on several 0/1 columns and memberships; None if the text is something else."""
        match = VOTES.fullmatch(text)
        if match is not None:
            votes = [self._vote(part) for part in _parts(match["listed"], r",")]
            wanted = 1 if match["any"] else int(match["number"])
        else:
            parts = _parts(text, r"\band\b")
            votes = [self._vote(part) for part in parts] if len(parts) > 1 else []
            wanted = len(votes)
        known = [vote for vote in votes if vote is not None]
        if not known or len(known) < len(votes):
            return None
        weights = [weight for _, weight in known]
        return Proposition([term for term, _ in known], weights, wanted - sum(weight < 0.0 for weight in weights))

    def _vote(self, text: str) -> tuple[Term, float] | None:
        """Return a 0/1 column or a membership, with the weight -1 if it is negated."""
        term = self._literal(text)
        if term is not None:
            return term, 1.0
        term = self._literal(text.removeprefix("not ")) if text.startswith("not ") else None
        return None if term is None else (term, -1.0)

    def _literal(self, text: str) -> Term | None:
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        position = self._find(inner)
        if position is not None and self._column(position).levels is None:
            return position
        found = self._on_levels(inner.removesuffix(" or missing"))
        return found.with_missing(True) if found is not None and inner.endswith(" or missing") else found

    # ---- columns

    def _column(self, position: int) -> Column:
        return Column(f"x{position}") if self.columns is None else self.columns[position]

    def _find(self, name: str) -> int | None:
        """Return the position of a column, None if there is none of that name."""
        if name.startswith('"') and WORD.fullmatch(name):
            name = json.loads(name, strict=False)
        if self.names is None and re.fullmatch(r"x\d{1,9}", name):
            return int(name[1:])
        return self._positions.get(name)

    def _position(self, words: list[str]) -> int:
        name = " ".join(words)
        position = self._find(name)
        if position is None:
            known = "columns are called x0, x1, ..." if self.names is None else f"columns are {_listed(self.names)}"
            raise ValueError(f"There is no column {name!r}; the {known}.")
        return position


def _absent(match: re.Match[str], position: int, column: Column) -> Membership | None:  # noqa: ARG001  # one signature for all
    return Membership(position, (), negated=match["word"] is not None, missing=match["word"] is None)


def _among(match: re.Match[str], position: int, column: Column) -> Membership | None:
    levels = [_level(text, column) for text in LISTED.findall(match["levels"])]
    return Membership(position, levels, negated=match["word"] is not None)


def _equal(match: re.Match[str], position: int, column: Column) -> Membership | None:
    text = match["levels"]
    if column.levels is None and (column.kind != "number" or NUMBER.fullmatch(text) or WORD.fullmatch(text) is None):
        return None  # an equation between numbers
    return Membership(position, [_level(text, column)], negated=match["word"] == "!=")


def _in_order(match: re.Match[str], position: int, column: Column) -> Membership | None:
    if not column.ordered or column.levels is None:
        raise ValueError(f"Column '{column.name}' has no ordered levels for '{match['word']}'.")
    level = _level(match["levels"], column)
    code = column.codes.get((type(level), level))
    if code is None:
        raise ValueError(
            f"Column '{column.name}' has no level {level!r}; its levels are {_listed(tuple(map(str, column.levels)))}."
        )
    upwards = match["word"] in ("at least", "below")
    levels = column.levels[code:] if upwards else column.levels[: code + 1]
    return Membership(position, levels, negated=match["word"] in ("below", "above"), ordered=True)


def _level(text: str, column: Column) -> Level:
    """Return a level from its text, of the type that the levels of the column have."""
    if text.startswith('"'):
        return str(json.loads(text, strict=False))
    kind = type(column.levels[0]) if column.levels else None
    if kind is not str and text in ("True", "False"):
        return text == "True"
    return int(text) if kind is not str and re.fullmatch(r"[+-]?\d+", text) else text


def _days_or_seconds(text: str, kind: str) -> str:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"There is no date {text!r}.") from error
    return in_full(seconds_since_1970(moment) / seconds_in(kind))


def _parts(text: str, separator: str) -> list[str]:
    """Split a text at a separator outside of quotes, braces and parentheses."""
    inside = re.compile(rf"{QUOTED}|\{{[^}}]*\}}|\([^)]*\)|({separator})")
    parts, start = [], 0
    for match in inside.finditer(text):
        if match[1] is not None:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


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
