"""Parsing: printed rules taken apart into weights, factors, propositions and memberships."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from obliquerules.rules.columns import Column, Columns, Level, seconds_in, seconds_since_1970
from obliquerules.rules.rule_parts import Factor, Membership, Proposition, Summand, Test
from obliquerules.rules.text.style import column_at
from obliquerules.rules.text.tokens import TRUTHS, Token, Tokens

# What each comparison consists of: the sides, 1 for "at least" and -1 for "at most", and whether the number itself is excluded.
COMPARISONS = {
    ">=": ((1.0,), False),
    "<=": ((-1.0,), False),
    ">": ((1.0,), True),
    "<": ((-1.0,), True),
    "=": ((1.0, -1.0), False),
    "==": ((1.0, -1.0), False),
}
EQUALITIES = ("=", "==", "!=")
# What ends a condition: a name before it is a condition by itself.
ENDS = ("", "&", "and", "or missing", ",", "}", ")")
NAMES = ("name", "quoted")


class Typed(NamedTuple):
    """A proposition or membership, and the comparison of numbers that it was written with, if any."""

    test: Test
    comparison: str | None = None


class ParsedRule(NamedTuple):
    """A rule as it is written, with a weight for each of many classes, or without one if it is a condition alone."""

    weight: float | list[float] | None
    factor: Factor | None
    tests: list[Typed]


def read_heading(text: str) -> list[str] | None:
    """Return the classes in a heading, ``red | blue | if``; None if the text is something else."""
    names, tokens = list[str](), Tokens(text)
    while tokens.peek().kind != "sign" and tokens.follows("|", ahead=1):
        names.append(tokens.next().text)
        tokens.next()
    return names if names and tokens.take("if") and tokens.follows("") else None


class Reader:
    r"""Reads rules in the names of given columns.

    The grammar of printed rules, in which ``[...]`` may be absent and ``(...)*`` stands any number of times::

        ensemble   = [heading] rule*                  one in each line; lines that begin with # are remarks
        heading    = class "|" (class "|")* "if"      with many classes
        rule       = number [factor] ["if" condition]
                   | ([number [factor]] "|")* condition        below a heading
                   | class number [factor] ("," class number [factor])* "if" condition
        factor     = limited | "(" limited ("+" | "-") value ")"
        limited    = column | ("min" | "max") "(" column "," value ")" | column "clipped to" "[" value "," value "]"
        condition  = "True" | test (("&" | "and") test)*
        test       = (literal | votes | sum comparison value) ["or missing"]
        sum        = [number] summand (("+" | "-") [number] summand)*
        summand    = column | "(" literal ")"
        comparison = ">=" | "<=" | ">" | "<" | "=" | "=="
        votes      = ("any of" | "all of" | "at least" number "of") "{" literal ("," literal)* "}"
        literal    = (["not"] column | column levels) ["or missing"] | "not" "(" literal ")"
        levels     = "is missing" | "is not missing" | ("=" | "==" | "!=") level
                   | ("in" | "not in") "{" level ("," level)* "}"
                   | ("at least" | "at most" | "below" | "above") level
        value      = number ["day" | "days"] | date | date time

    Columns, levels and classes are names. A name in quotes is a string of JSON, so that anything can be one. A name without
    quotes is one or more words with spaces between them; it goes on until one of the signs and words of the grammar, such as
    ``>=``, ``and`` or ``is missing``, stands between spaces, or a comma, brace or vertical bar follows. Round and square
    brackets behind a word belong to the name, as in ``radius (mm)``. A name does not begin with a number or ``not``. Which
    columns there are does not change how a text is split.

    A column of booleans, or of 0 and 1, is a literal by itself; the sums of numbers that ``votes`` stand for count how many
    of the literals hold. ``=`` compares a column of numbers with a number, and any other with a level.

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

    def condition(self, text: str) -> list[Typed]:
        """Read a condition."""
        return self._condition(Tokens(text))

    def rule_or_condition(self, text: str, outputs: Sequence[str] | None = None) -> ParsedRule:
        """Read a rule, or a condition alone, which has no weight."""
        tokens = Tokens(text)
        # 2 x0 >= 3 is a condition, and 2 x0 a slope.
        is_slope = outputs is None and tokens.peek().kind == "number" and not tokens.has(*COMPARISONS)
        if is_slope or tokens.has("if", "|"):
            return self.rule(text, outputs)
        return ParsedRule(None, None, self._condition(tokens))

    def rule(self, text: str, outputs: Sequence[str] | None = None) -> ParsedRule:
        """Read a rule."""
        tokens = Tokens(text)
        if outputs is not None:
            weights, factor = self._class_weights(tokens, outputs)
            return ParsedRule(weights, factor, self._condition(tokens))
        weight = tokens.next()
        is_rule = tokens.has("if") or not (tokens.follows("") or tokens.has(*COMPARISONS))
        if weight.kind != "number" or not is_rule:
            raise _not_a_rule(text)
        factor = None if tokens.follows("if") else self._factor(tokens)
        return ParsedRule(float(weight.text), factor, self._condition(tokens) if tokens.need("if", "") else [])

    # ---- many classes

    def _class_weights(self, tokens: Tokens, outputs: Sequence[str]) -> tuple[list[float], Factor | None]:
        """Read the weights of classes, from cells or by name, and the factor that all of them have."""
        weights, factors = [0.0] * len(outputs), list[Factor | None]()
        if tokens.has("|"):
            for output in range(len(outputs)):
                if tokens.peek().kind == "number":
                    weights[output] = float(tokens.next().text)
                    factors.append(None if tokens.follows("|") else self._factor(tokens))
                tokens.need("|")
        elif tokens.peek().kind == "number" and tokens.follows("if", ahead=1) and float(tokens.peek().text) == 0.0:
            tokens.next(), tokens.need("if")
        else:
            separator: str | None = ","
            while separator == ",":
                name, weight = tokens.next(), tokens.next()
                if name.kind in ("sign", "word") or weight.kind != "number":
                    raise _not_a_rule(tokens.text, outputs)
                factors.append(None if tokens.follows(",", "if") or tokens.peek().text == "" else self._factor(tokens))
                if (separator := tokens.take(",", "if")) is None:
                    raise _not_a_rule(tokens.text, outputs)
                weights[_output(name, outputs)] = float(weight.text)
        if len(set(factors)) > 1:
            raise ValueError(f"All weights of a rule are multiplied by the same; got {tokens.text!r}.")
        return weights, factors[0] if factors else None

    # ---- factors

    def _factor(self, tokens: Tokens) -> Factor:
        """Read what the weight of a rule is multiplied by."""
        if not tokens.take("("):
            return self._limited(tokens)
        inner = self._limited(tokens)
        sign = -1.0 if tokens.need("+", "-") == "+" else 1.0
        origin = sign * self._value(tokens, inner.column)
        tokens.need(")")
        return Factor(inner.column, origin, inner.lower, inner.upper)

    def _limited(self, tokens: Tokens) -> Factor:
        if tokens.peek() in (("name", "min"), ("name", "max")) and tokens.follows("(", ahead=1):
            side = "upper" if tokens.next().text == "min" else "lower"
            tokens.need("(")
            column = self._position(tokens)
            tokens.need(",")
            limit = self._value(tokens, column)
            tokens.need(")")
            return Factor(column, **{side: limit})
        column = self._position(tokens)
        if not tokens.take("clipped to"):
            return Factor(column)
        limits = tokens.listed(lambda left: self._value(left, column), "[", "]")
        if len(limits) != 2:
            raise tokens.refusal()
        return Factor(column, 0.0, *limits)

    def _value(self, tokens: Tokens, column: int | None) -> float:
        """Read a date, a time, a number of days or a number, in the unit of a column; for a sum, without one, a number."""
        kind, token = "number" if column is None else column_at(self.columns, column).kind, tokens.next()
        if token.kind == "moment" and kind in ("date", "time"):
            try:
                moment = datetime.datetime.fromisoformat(token.text)
            except ValueError as error:
                raise ValueError(f"There is no date {token.text!r}.") from error
            return seconds_since_1970(moment) / seconds_in(kind)
        if token.kind != "number":
            raise ValueError(f"There should be a number in the place of {token.text!r} in {tokens.text!r}.")
        if kind == "duration" and tokens.peek() in (("name", "day"), ("name", "days")):
            tokens.next()
        return float(token.text)

    # ---- conditions

    def _condition(self, tokens: Tokens) -> list[Typed]:
        if tokens.peek() == ("name", "True") and tokens.follows("", ahead=1):
            return []
        found = self._test(tokens)
        while tokens.need("&", "and", ""):
            found += self._test(tokens)
        return found

    def _test(self, tokens: Tokens) -> list[Typed]:
        """Read a test; ``=`` between numbers stands for two."""
        literal = self._literal(tokens)
        if literal is not None:
            found = [Typed(_as_test(*literal))]
        elif tokens.peek().kind == "word":
            found = [Typed(self._votes(tokens))]
        else:
            found = self._comparison(tokens)
        if not tokens.take("or missing"):
            return found
        return [Typed(test.with_missing(True), comparison) for test, comparison in found]

    def _votes(self, tokens: Tokens) -> Proposition:
        """Read how many of several literals must hold."""
        count = tokens.next().text.removesuffix(" of")
        literals = tokens.listed(self._listed_literal)
        weights = [weight for _, weight in literals]
        wanted = {"any": 1, "all": len(literals)}.get(count) or int(count.removeprefix("at least "))
        return Proposition([summand for summand, _ in literals], weights, wanted - sum(weight < 0.0 for weight in weights))

    def _listed_literal(self, tokens: Tokens) -> tuple[Summand, float]:
        literal = self._literal(tokens)
        if literal is None:
            raise tokens.refusal()
        return literal

    def _comparison(self, tokens: Tokens) -> list[Typed]:
        """Read a comparison: one inequality, or two for ``=``."""
        summands, weights, sign = list[Summand](), list[float](), 1.0
        while True:
            weights.append(sign * (float(tokens.next().text) if tokens.peek().kind == "number" else 1.0))
            summands.append(self._summand(tokens))
            if not tokens.follows("+", "-"):
                break
            sign = -1.0 if tokens.next().text == "-" else 1.0
        comparison = tokens.need(*COMPARISONS)
        if tokens.peek().kind not in ("number", "moment"):
            raise tokens.refusal()
        single = summands[0] if len(summands) == 1 and weights == [1.0] and isinstance(summands[0], int) else None
        number = self._value(tokens, single)
        is_flag = single is not None and column_at(self.columns, single).kind == "flag"
        if single is not None and is_flag and comparison in EQUALITIES and number in (0.0, 1.0):
            return [Typed(_as_test(single, 1.0 if number else -1.0))]
        sides, excluded = COMPARISONS[comparison]
        found = []
        for side in sides:
            # A sum above a number is at least the next double.
            threshold = math.nextafter(side * number, math.inf) if excluded else side * number
            found.append(Typed(Proposition(summands, [side * weight for weight in weights], threshold), comparison))
        return found

    def _summand(self, tokens: Tokens) -> Summand:
        if not tokens.take("("):
            return self._position(tokens)
        literal = self._literal(tokens)
        tokens.need(")")
        if literal is None or not isinstance(literal[0], Membership) or literal[1] < 0.0:
            raise ValueError(f"In parentheses there should be a condition on levels; got {tokens.text!r}.")
        return literal[0]

    # ---- literals

    def _literal(self, tokens: Tokens) -> tuple[Summand, float] | None:
        """Read a 0/1 column or a membership, with weight -1 if it is negated; None if something else follows."""
        if tokens.follows("not") and tokens.follows("(", ahead=1):
            tokens.next()
            return self._summand(tokens), -1.0
        answer = tokens.take("not") is None
        if answer and tokens.peek().kind not in NAMES:
            return None
        if answer and (tokens.peek(1).kind == "word" or (tokens.follows(*EQUALITIES, ahead=1) and self._equals_level(tokens))):
            membership = self._membership(tokens)
        elif not answer or tokens.follows(*ENDS, ahead=1):
            position = self._position(tokens)
            column = column_at(self.columns, position)
            if column.kind == "flag":
                return position, 1.0 if answer else -1.0
            if self.columns is not None and not column.is_truth:
                raise ValueError(f"Column '{column.name}' is no condition by itself: it holds neither booleans nor 0 and 1.")
            membership = Membership(position, [answer])
        else:
            return None
        return membership.with_missing(bool(tokens.take("or missing"))), 1.0

    def _equals_level(self, tokens: Tokens) -> bool:
        """Say whether a column is compared with a level."""
        column = column_at(self.columns, self._position_of(tokens.peek()))
        if column.levels is None and self.columns is not None and tokens.peek(2).kind in NAMES:
            raise ValueError(f"Column '{column.name}' holds numbers, and has no levels for a condition.")
        return column.levels is not None or tokens.peek(2).kind in NAMES

    def _membership(self, tokens: Tokens) -> Membership:
        """Read a condition on levels or on a missing value."""
        position = self._position(tokens)
        column, word = column_at(self.columns, position), tokens.next().text
        if word in ("is missing", "is not missing"):
            return Membership(position, (), negated=word == "is not missing", missing=word == "is missing")
        if word in ("in", "not in"):
            levels: Sequence[Level] = tokens.listed(lambda left: _level(left, column))
        elif word in EQUALITIES:
            levels = [_level(tokens, column)]
        else:
            level = _level(tokens, column)
            if not column.ordered or column.levels is None:
                raise ValueError(f"Column '{column.name}' has no ordered levels for '{word}'.")
            code = column.codes[type(level), level]
            levels = column.levels[code:] if word in ("at least", "below") else column.levels[: code + 1]
        ordered = word in ("at least", "at most", "below", "above")
        return Membership(position, levels, negated=word in ("not in", "!=", "below", "above"), ordered=ordered)

    # ---- columns

    def _position(self, tokens: Tokens) -> int:
        """Read the name of a column."""
        if tokens.peek().kind not in NAMES:
            raise tokens.refusal() if tokens.follows("") else ValueError(f"The name of a column is missing in {tokens.text!r}.")
        return self._position_of(tokens.next())

    def _position_of(self, token: Token) -> int:
        name = token.text
        if self.names is None and re.fullmatch(r"x[0-9]{1,9}", name):
            return int(name[1:])
        if name not in self._positions:
            known = "columns are called x0, x1, ..." if self.names is None else f"columns are {_listed(self.names)}"
            hint = " Signs such as >= stand between spaces." if token.kind == "name" and re.search("[<>=]", name) else ""
            raise ValueError(f"There is no column {name!r}; the {known}.{hint}")
        return self._positions[name]


def _not_a_rule(text: str, outputs: Sequence[str] | None = None) -> ValueError:
    """Return the error for text that is no rule."""
    like = "A rule reads like '+1.5 if x0 >= 3' or '+1.5 x0', with a number at the beginning"
    if outputs is not None:
        like = f"A rule for many classes reads like '{outputs[0]} +1.5, {outputs[-1]} -2 if x0 >= 3'"
    return ValueError(f"{like}; got {text.strip()!r}.")


def _output(name: Token, outputs: Sequence[str]) -> int:
    """Return the position of a class; without quotes, ``class 3`` is the class ``3``."""
    short = name.text if name.kind == "quoted" else name.text.removeprefix("class ")
    for known in (short, name.text):
        if known in outputs:
            return list(outputs).index(known)
    raise ValueError(f"There is no class {name.text!r}; the classes are {_listed(tuple(outputs))}.")


def _as_test(summand: Summand, weight: float) -> Test:
    """Return a literal as a condition."""
    if isinstance(summand, int):
        return Proposition([summand], [weight], max(weight, 0.0))
    return summand if weight > 0.0 else summand.opposite()


def _level(tokens: Tokens, column: Column) -> Level:
    """Read a level, in the type of the column's levels."""
    token = tokens.next()
    if token.kind in ("sign", "word"):
        raise tokens.refusal()
    level: Level = token.text
    if token.kind != "quoted" and not (column.levels and isinstance(column.levels[0], str)):
        if token.text in TRUTHS:
            level = token.text == "True"
        elif re.fullmatch("[+-]?[0-9]+", token.text):
            level = int(token.text)
    Membership(0, [level]).check_levels(column)
    return level


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
