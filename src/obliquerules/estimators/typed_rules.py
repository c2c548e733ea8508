"""Typed rules: rules as a person types them, also with >, < and =, in thresholds that suit the rows at hand."""

from __future__ import annotations

from collections.abc import Iterable

from obliquerules.inspection.variables import listed_levels
from obliquerules.rules import (
    Block,
    Columns,
    Conjunction,
    Factor,
    Membership,
    Proposition,
    Rule,
    RuleEnsemble,
    Shortening,
    Test,
)
from obliquerules.rules.parsing import COMPARISONS, WORD, Reader, Typed, rule_parts, weights_and_condition
from obliquerules.rules.rule import Weight, as_weight
from obliquerules.rules.style import NUMBER, PLAIN, column_at

# Comparisons that conditions of a model have, which are taken as they are, and those that stand for two of them.
EXACT, EQUATIONS = (">=", "<=", None), ("=", "==")


def read_typed(text: str, ensemble: RuleEnsemble, X: Block, weight: Weight, factor: Factor | None = None) -> tuple[Rule, str]:
    """Return the rule that a text means, and a remark on what was made of it, or "".

    A condition alone has the given weight and factor.
    A comparison of numbers other than ``>=`` and ``<=`` is given the shortest threshold with which it says the same of each
    row of X.
    """
    columns, outputs = ensemble.columns, ensemble.outputs
    reader = Reader(columns)
    if outputs is None and NUMBER.fullmatch(text.strip().partition(" ")[0]) and _has_weight(text):
        weight, multiplied, text = rule_parts(text)
        factor = None if multiplied is None else reader.factor(multiplied)
    elif outputs is not None and " if " in text:
        given, text = weights_and_condition(text, outputs)
        weight = as_weight(given)
    tests = reader.tests(text)
    check_levels([one.test for one in tests], columns)
    if all(one.comparison in EXACT for one in tests):
        return Rule(weight, Conjunction(one.test for one in tests), factor), ""
    condition = Conjunction(_suited(tests, X, text.strip()))
    return Rule(weight, condition, factor), f"'{text.strip()}' is {condition.describe(columns)} on these rows"


def _has_weight(text: str) -> bool:
    """Say whether a text that begins with a number is a rule: ``2 x0 >= 3`` is a condition, and ``2 x0`` a slope."""
    return " if " in text or COMPARISONS.keys().isdisjoint(WORD.findall(text))


def check_levels(tests: Iterable[Test], columns: Columns | None) -> None:
    """Raise if a condition lists a level that its column does not have, which would be a slip of the pen."""
    terms = (term for test in tests for term in ((test,) if isinstance(test, Membership) else test.columns))
    for membership in (term for term in terms if isinstance(term, Membership)):
        column = column_at(columns, membership.column)
        unknown = [level for level in membership.levels if (type(level), level) not in column.codes]
        if unknown and column.levels is not None:
            raise ValueError(
                f"Column '{column.name}' has no level {PLAIN.level(unknown[0])}; its levels are {listed_levels(column)}."
            )


def _suited(typed: list[Typed], X: Block, text: str) -> list[Test]:
    """Return conditions that say the same of each row, without the half of a ``=`` that always holds."""
    shortening, tests = Shortening(X), list[Test]()
    for test, comparison in typed:
        if comparison in EXACT or not isinstance(test, Proposition):
            tests.append(test)
        elif comparison not in EQUATIONS or not test(X).all():
            tests.append(shortening.with_whole_threshold(shortening.with_short_threshold(test)))
    for test, comparison in typed:
        if comparison in EQUATIONS and isinstance(test, Proposition):
            _check_equation(test, X, text)
    return tests


def _check_equation(equation: Proposition, X: Block, text: str) -> None:
    """Raise unless some rows, and not all of them, have the value."""
    if equation.only_number is None:
        raise ValueError(f"'=' compares a single column with a number; got {text!r}.")
    equal = X.matrix[:, equation.only_number] == equation.threshold / equation.weights[0]
    if not equal.any() or equal.all():
        raise ValueError(f"{'All rows have' if equal.all() else 'No row has'} the value in {text!r}.")
