"""Simplify: the same model, easier to read, exact to the last bit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.doubles import least_reaching
from obliquerules.rules.membership import Membership
from obliquerules.rules.proposition import Proposition, Summand, Test
from obliquerules.rules.rule import Rule, as_weight

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble

Direction = tuple[tuple[Summand, ...], tuple[float, ...], bool]


def simplify(ensemble: RuleEnsemble) -> RuleEnsemble:
    """Return an ensemble with the same scores and no higher complexity.

    The scores are the same to the last bit on every X whose weighted sums neither overflow nor consist of numbers below 1e-250.

    Unless its threshold is zero, a condition on one column gets the weight +1 or -1, and the weights of an oblique one are
    scaled by a power of two so that the first lies in [1, 2). Of conditions in the same direction the strictest stays. Rules
    whose conditions contradict each other, and rules of weight zero, are dropped. A leading rule without a condition joins the
    constant.

    Nothing is done that could change a score in its last bit: rules with the same condition, for example, stay apart, because
    adding their weights first would round differently.
    """
    intercept = ensemble.intercept
    rules: list[Rule] = []
    for rule in ensemble.rules:
        condition = strictest(_canonical(test) for test in rule.condition)
        if condition is None or not any(rule.weights):
            continue
        with np.errstate(over="ignore"):
            joined = np.add(intercept, rule.weight)
        shorter = replace(rule, condition=condition)
        if shorter.is_constant and not rules and np.isfinite(joined).all():
            intercept = as_weight(joined)
        else:
            rules.append(shorter)
    return ensemble.with_rules(rules, intercept)


def strictest(tests: Iterable[Test]) -> Conjunction | None:
    """Keep the highest threshold in each direction; None if two directions contradict each other, so that no row meets both."""
    kept: dict[Direction | Membership, Test] = {}
    together = _levels_together(tests)
    if together is None:
        return None
    for test in together:
        place = test if isinstance(test, Membership) else (test.columns, test.weights, test.missing)
        other = kept.setdefault(place, test)
        if isinstance(test, Proposition) and isinstance(other, Proposition) and test.threshold > other.threshold:
            kept[place] = test
    for test in kept.values():
        if isinstance(test, Proposition) and _is_contradicted(test, kept):
            return None
    return Conjunction(kept.values())


def _levels_together(tests: Iterable[Test]) -> list[Test] | None:
    """Return conditions with those on levels of one column as one; None if no row meets both."""
    found: list[Test] = []
    for test in tests:
        place = next((i for i, other in enumerate(found) if _same_column(other, test)), None)
        if place is None:
            found.append(test)
            continue
        both = _both(found[place], test)
        if both is None:
            return None
        found[place] = both
    return found


def _same_column(one: Test, other: Test) -> bool:
    """Say whether two conditions list levels of the same column; ordered levels are read better by themselves."""
    if not (isinstance(one, Membership) and isinstance(other, Membership)) or one.column != other.column:
        return False
    return bool(one.levels) and bool(other.levels) and not one.ordered and not other.ordered


def _both(one: Test, other: Test) -> Test | None:
    """Return the condition that both conditions on the levels of a column are; None if no row meets it."""
    assert isinstance(one, Membership)
    assert isinstance(other, Membership)
    missing = one.missing and other.missing
    if one.negated and other.negated:
        return Membership(one.column, dict.fromkeys((*one.levels, *other.levels)), True, missing)
    listed = other.levels if one.negated else one.levels
    levels = [level for level in listed if one.has(level) and other.has(level)]
    if levels or missing:
        return Membership(one.column, levels, missing=missing)
    return None


def _is_contradicted(test: Proposition, kept: dict[Direction | Membership, Test]) -> bool:
    turned = tuple(-weight for weight in test.weights)
    opposites = [kept.get((test.columns, turned, missing)) for missing in (False, True)]
    # Rounding is symmetric, so the opposite projection is exactly -(x.w): both hold only if threshold <= x.w <= -opposite. A
    # row with a missing value may still meet both.
    return any(
        isinstance(other, Proposition) and test.threshold > -other.threshold and not (test.missing and other.missing)
        for other in opposites
    )


def _canonical(test: Test) -> Test:
    if isinstance(test, Membership):
        return test
    return _unit_weight(test) if len(test.columns) == 1 else _leading_weight_near_one(test)


def _unit_weight(proposition: Proposition) -> Proposition:
    """Write w x >= t as x >= u or -x >= u, with the u for which no double x changes side."""
    weight, threshold = abs(proposition.weights[0]), proposition.threshold
    unit = math.copysign(1.0, proposition.weights[0])
    # Around zero the sign of a product too small for a double would decide: such a condition stays as it is.
    if weight == 1.0 or threshold == 0.0:
        return proposition
    bound = least_reaching(weight, threshold)
    return proposition.with_numbers((unit,), bound) if math.isfinite(bound) else proposition


def _leading_weight_near_one(proposition: Proposition) -> Proposition:
    """Scale by a power of two, which is exact as long as nothing leaves the range of normal doubles.

    A threshold of zero stays: there the sign of a product too small for a double would decide, and scaling may change it.
    """
    shift = 1 - math.frexp(proposition.weights[0])[1]
    numbers = [*proposition.weights, proposition.threshold]
    if shift == 0 or abs(shift) > 200 or not all(_SAFE[0] < abs(number) < _SAFE[1] for number in numbers):
        return proposition
    scaled = [math.ldexp(number, shift) for number in numbers]
    return proposition.with_numbers(scaled[:-1], scaled[-1])


# Weights and thresholds in this range can be scaled, and multiplied with inputs of ordinary size, without leaving the doubles.
_SAFE = (1e-120, 1e120)
