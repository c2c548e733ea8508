"""A reader of printed ensembles with columns named x0, x1, ...: what somebody would do who has nothing but the text."""

import re

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble

TERM = re.compile(r"([+-]?) ?(?:(\d\S*) )?x(\d+) ?")


def read_ensemble(text):
    """Return the ensemble that prints like this."""
    constant, *rules = [read_rule(line) for line in text.splitlines() if not line.startswith("#")]
    assert constant.condition == Conjunction()
    return RuleEnsemble(rules, constant.weight)


def read_rule(line):
    weight, condition = line.split(" if ")
    parts = [] if condition == "True" else condition.split(" & ")
    return Rule(float(weight), Conjunction(map(read_proposition, parts)))


def read_proposition(text):
    """Read ``2 x1 - x0 >= 3`` or, turned round, ``-2 x1 + x0 <= -3``."""
    left, sense, right = re.fullmatch(r"(.*) (>=|<=) (\S+)", text).groups()
    terms = list(TERM.finditer(left))
    assert "".join(term.group() for term in terms) == left
    direction = 1.0 if sense == ">=" else -1.0
    weights = [direction * float(f"{sign}{size or 1}") for sign, size, _ in (term.groups() for term in terms)]
    return Proposition([int(term[3]) for term in terms], weights, direction * float(right))
