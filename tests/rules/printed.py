"""A reader of printed ensembles with columns named x0, x1, ...: what somebody would do who has nothing but the text."""

import re

from obliquerules import Conjunction, Factor, Proposition, Rule, RuleEnsemble

COLUMN = re.compile(r"(?:x(\d+)|x(\d+) clipped to \[(\S+), (\S+)\]|min\(x(\d+), (\S+)\)|max\(x(\d+), (\S+)\))")
COUNTED = re.compile(r"\((.*) ([+-]) (\S+)\)")
TERM = re.compile(r"([+-]?) ?(?:(\d\S*) )?x(\d+) ?")


def read_ensemble(text):
    """Return the ensemble that prints like this."""
    constant, *rules = [read_rule(line) for line in text.splitlines() if not line.startswith("#")]
    assert constant.condition == Conjunction()
    return RuleEnsemble(rules, constant.weight)


def read_rule(line):
    amount, _, condition = line.partition(" if ")
    weight, _, factor = amount.partition(" ")
    parts = [] if condition in ("", "True") else condition.split(" & ")
    return Rule(float(weight), Conjunction(map(read_proposition, parts)), read_factor(factor) if factor else None)


def read_factor(text):
    """Read ``x0``, ``(x0 - 2)``, ``(min(x0, 9) - 2)`` or ``x0 clipped to [1, 9]``."""
    counted = COUNTED.fullmatch(text)
    value, sign, origin = (text, "-", "0") if counted is None else counted.groups()
    plain, both, lower, upper, least, most, largest, smallest = COLUMN.fullmatch(value).groups()
    limits = (float(lower or smallest or "-inf"), float(upper or most or "inf"))
    return Factor(int(plain or both or least or largest), float(f"{'+' if sign == '-' else '-'}{origin}"), *limits)


def read_proposition(text):
    """Read ``2 x1 - x0 >= 3`` or, turned round, ``-2 x1 + x0 <= -3``."""
    left, sense, right = re.fullmatch(r"(.*) (>=|<=) (\S+)", text).groups()
    terms = list(TERM.finditer(left))
    assert "".join(term.group() for term in terms) == left
    direction = 1.0 if sense == ">=" else -1.0
    weights = [direction * float(f"{sign}{size or 1}") for sign, size, _ in (term.groups() for term in terms)]
    return Proposition([int(term[3]) for term in terms], weights, direction * float(right))
