"""Typed rules: rules as a person types them, also with >, < and =, in thresholds that suit the rows at hand."""

from __future__ import annotations

from obliquerules.rules import Block, Conjunction, Factor, Proposition, Rule, RuleEnsemble, Shortening, Test
from obliquerules.rules.rule import Weight, as_weight
from obliquerules.rules.text.parsing import Reader, Typed

# Comparisons that conditions of a model have, which are taken as they are, and those that stand for two of them.
EXACT, EQUATIONS = (">=", "<=", None), ("=", "==")


def read_typed(text: str, ensemble: RuleEnsemble, X: Block, weight: Weight, factor: Factor | None = None) -> tuple[Rule, str]:
    """Return the rule that a text means, and a remark on what was made of it, or "".

    A condition alone has the given weight and factor.
    A comparison of numbers other than ``>=`` and ``<=`` is given the shortest threshold with which it says the same of each
    row of X.
    """
    columns = ensemble.columns
    given, multiplied, tests = Reader(columns).rule_or_condition(text, ensemble.outputs)
    if given is not None:
        weight, factor = as_weight(given), multiplied
    if all(one.comparison in EXACT for one in tests):
        return Rule(weight, Conjunction(one.test for one in tests), factor), ""
    rule = Rule(weight, Conjunction(_suited(tests, X, text.strip())), factor)
    meant = rule.condition.describe(columns) if given is None else rule.describe(columns, outputs=ensemble.outputs)
    return rule, f"'{text.strip()}' is {meant} on these rows"


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
