"""Curves: rules on one variable alone, and where they bend."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from obliquerules.rules.proposition import Proposition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from obliquerules.rules.factor import Factor
    from obliquerules.rules.rule import Rule


def only_column(rule: Rule) -> int | None:
    """Return the column of numbers that a rule is on.

    None if there are several conditions or variables, or levels.
    """
    if len(rule.used_columns) != 1 or len(rule.condition) > 1:
        return None
    numbers = all(isinstance(test, Proposition) and test.only_number is not None for test in rule.condition)
    return rule.used_columns[0] if numbers else None


def bend(rule: Rule) -> float | None:
    """Return the threshold of a step, or a hinge's knot.

    None for all other rules.
    """
    if rule.factor is None:
        test = rule.condition.propositions[0] if len(rule.condition) == 1 else None
        if not isinstance(test, Proposition) or test.only_number is None or abs(test.weights[0]) != 1.0:
            return None
        return test.weights[0] * test.threshold
    is_knot = rule.factor.is_hinge and rule.factor.complexity == 2 and not rule.condition.propositions
    return rule.factor.origin if is_knot else None


def bent_at(hinge: Factor, knot: float) -> Factor:
    """Return a hinge with another knot.

    >>> from obliquerules.rules import Factor
    >>> print(bent_at(Factor(0, origin=3.0, lower=3.0), 4.0), bent_at(Factor(0, origin=3.0, upper=3.0), 4.0))
    (max(x0, 4) - 4) (min(x0, 4) - 4)
    """
    if hinge.lower == hinge.origin:
        return replace(hinge, origin=knot, lower=knot)
    return replace(hinge, origin=knot, upper=knot)


def bends(rules: Iterable[Rule]) -> set[tuple[int | None, float]]:
    """Return the columns and numbers of all steps and hinges."""
    return {(only_column(rule), number) for rule in rules if (number := bend(rule)) is not None}
