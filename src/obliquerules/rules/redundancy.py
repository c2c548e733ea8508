"""Redundancy: the same model with fewer tests, variables, levels and rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.rules.conjunction import Conjunction
from obliquerules.rules.membership import Membership
from obliquerules.rules.numbers import least_reaching
from obliquerules.rules.proposition import Proposition, Summand, Test
from obliquerules.rules.rounding.shortening import Shortening
from obliquerules.rules.rounding.thresholds import Cuts, Projections
from obliquerules.rules.rule import Rule, as_weight

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble


class Dropping:
    """Finds what conditions say too much, each condition once.

    A condition is *shorter* without one of its tests, one variable of a sum, one listed level or one ``or missing``. A sum with
    a variable less gets a new threshold, in the middle of a real gap between rows.

    Parameters
    ----------
    shortening : Shortening
        Shortens the numbers of what is left, on the rows that decide.
    """

    def __init__(self, shortening: Shortening) -> None:
        self.shortening = shortening
        self._shorter: dict[Conjunction, list[Shorter]] = {}
        self._same: dict[Conjunction, Conjunction] = {}

    def condition(self, condition: Conjunction) -> Conjunction:
        """Return the shortest condition that holds on the same rows.

        Parts are left out one after the other.
        """
        if condition not in self._same:
            fires, shortest = condition(self.shortening.X), condition
            while (shorter := self._one_less(shortest, fires)) is not None:
                shortest = shorter
            self._same[condition] = shortest
        return self._same[condition]

    def _one_less(self, condition: Conjunction, fires: Mask) -> Conjunction | None:
        for shorter in self.shorter(condition):
            if shorter.can_hold_on(fires):
                # One row on the wrong side outweighs all others.
                placed = shorter.best(np.where(fires, 1.0, -1.0 - len(fires)))
                if placed is None or not np.array_equal(placed.holds, fires):
                    continue
                if size(found := placed.condition) < size(condition):
                    return found
        return None

    def shorter(self, condition: Conjunction) -> list[Shorter]:
        """Return the shorter conditions, the shortest first.

        Of the same length, those that differ least from the condition come first.
        """
        if condition not in self._shorter:
            found = [one for place in range(len(condition)) for one in self._without(condition.propositions, place)]
            self._shorter[condition] = sorted(found, key=lambda one: (one.complexity, one.change))
        return self._shorter[condition]

    def _without(self, tests: tuple[Test, ...], place: int) -> Iterator[Shorter]:
        """Yield the conjunctions with less in one of the tests."""
        before, test, after = tests[:place], tests[place], tests[place + 1 :]
        others = Conjunction((*before, *after))(self.shortening.X)
        if len(tests) > 1:
            yield Shorter(before, None, after, others, len(others), self.shortening)
        for narrower in shorter_tests(test):
            if isinstance(test, Proposition) and isinstance(narrower, Proposition):
                change = _spread(test.project(self.shortening.X) - narrower.project(self.shortening.X))
                narrower = _in_units_of_first(narrower) if abs(test.weights[0]) == 1.0 else narrower
            else:
                change = float(np.count_nonzero(test(self.shortening.X) != narrower(self.shortening.X)))
            yield Shorter(before, narrower, after, others, change, self.shortening)


@dataclass(frozen=True, eq=False)
class Shorter:
    """A conjunction with one test shortened or left out.

    The threshold of a shorter sum is yet to be placed.

    Attributes
    ----------
    before, after : tuple of Proposition and Membership
        The other tests.
    test : Proposition, Membership or None
        The shorter test; None if it is left out.
    others : array of shape (n_rows,)
        Where the other tests hold.
    change : float
        How much the test differs from the one that it comes from.
    shortening : Shortening
    """

    before: tuple[Test, ...]
    test: Test | None
    after: tuple[Test, ...]
    others: Mask
    change: float
    shortening: Shortening

    @property
    def complexity(self) -> int:
        """The complexity of the conjunction."""
        return sum(test.complexity for test in (*self.before, *self.after) + (() if self.test is None else (self.test,)))

    def can_hold_on(self, fires: Mask) -> bool:
        """Say whether some threshold makes it hold on just these rows.

        This is quicker than placing it, because rows need not be sorted.
        """
        if (fires & ~self.others).any():
            return False
        if not isinstance(self.test, Proposition):
            return True
        lacking, outside = np.isnan(self._values), self.others & ~fires
        if (lacking & (outside if self.test.missing else fires)).any():
            return False
        return bool(self._values[outside & ~lacking].max(initial=-np.inf) < self._values[fires & ~lacking].min(initial=np.inf))

    def best(self, gain: Vector) -> Placed | None:
        """Return the conjunction with the largest sum of gain.

        None if there is no threshold.
        """
        if not isinstance(self.test, Proposition):
            return Placed(self, self.test, self.others if self.test is None else self.others & self._holds)
        threshold = self._cuts.best(np.where(self.others, gain, 0.0)[self._known])
        if threshold is None:
            return None
        holds = self._values >= threshold
        placed = self.test.with_numbers(self.test.weights, threshold)
        return Placed(self, placed, self.others & (holds | ~self._known if placed.missing else holds))

    @cached_property
    def _holds(self) -> Mask:
        assert isinstance(self.test, Membership)
        return self.test(self.shortening.X)

    @cached_property
    def _values(self) -> Vector:
        assert isinstance(self.test, Proposition)
        return self.test.project(self.shortening.X)

    @cached_property
    def _known(self) -> Mask:
        return ~np.isnan(self._values)

    @cached_property
    def _cuts(self) -> Cuts:
        assert isinstance(self.test, Proposition)
        projections = Projections.of(self._values, self.test.summands(self.shortening.X), self.test.weights)
        return Cuts.of(projections if self._known.all() else projections[self._known])


@dataclass(frozen=True, eq=False)
class Placed:
    """A shorter conjunction with its threshold, and where it holds."""

    shorter: Shorter
    test: Test | None
    holds: Mask

    @property
    def condition(self) -> Conjunction:
        """The conjunction, in short numbers."""
        before, after = self.shorter.before, self.shorter.after
        if self.test is None:
            return Conjunction((*before, *after))
        shortening = self.shorter.shortening
        shortened = shortening.of_presence(shortening.proposition(self.test))
        if not shortening.X.incomplete.intersection(shortened.used_columns):
            shortened = shortened.with_missing(False)
        return Conjunction((*before, shortened, *after))


def size(condition: Conjunction) -> tuple[int, int]:
    """Return the complexity of a condition, then its number of variables.

    One level less in a sum may be one ``or missing`` more once the sum has become a list of levels.
    """
    return condition.complexity, sum(1 if isinstance(test, Membership) else len(test.columns) for test in condition)


def shorter_tests(test: Test) -> Iterator[Test]:
    """Yield a test without one variable, level or ``or missing``.

    Sums keep their threshold.

    >>> [str(one) for one in shorter_tests(Membership(0, ["a", "b"], missing=True))]
    ['x0 = b or missing', 'x0 = a or missing', 'x0 in {a, b}']
    >>> [str(one) for one in shorter_tests(Proposition([0, Membership(1, ["a", "b"])], [1, 2], 3))]
    ['(x1 in {a, b}) >= 1.5', 'x0 >= 3', 'x0 + 2 (x1 = b) >= 3', 'x0 + 2 (x1 = a) >= 3']
    """
    if isinstance(test, Membership):
        yield from _shorter_memberships(test)
        return
    if len(test.columns) > 1:
        for place in range(len(test.columns)):
            kept = [index for index in range(len(test.columns)) if index != place]
            summands, weights = [test.columns[index] for index in kept], [test.weights[index] for index in kept]
            yield Proposition(summands, weights, test.threshold, test.missing)
    for place, summand in enumerate(test.columns):
        for narrower in _shorter_memberships(summand) if isinstance(summand, Membership) else ():
            summands = [*test.columns[:place], narrower, *test.columns[place + 1 :]]
            if len(set(summands)) == len(summands):
                yield Proposition(summands, test.weights, test.threshold, test.missing)
    if test.missing:
        yield test.with_missing(False)


def _shorter_memberships(test: Membership) -> Iterator[Membership]:
    """Yield a list without one level or without ``or missing``.

    Ordered levels are read as one.
    """
    if len(test.levels) > 1 and not test.ordered:
        for place in range(len(test.levels)):
            levels = (*test.levels[:place], *test.levels[place + 1 :])
            yield Membership(test.column, levels, test.negated, test.missing)
    elif test.levels and test.missing and not test.negated:
        yield Membership(test.column, (), missing=True)
    if test.levels and test.missing:
        yield test.with_missing(False)


def _in_units_of_first(test: Proposition) -> Proposition:
    """Return a sum with a first weight of 1 or -1."""
    unit = abs(test.weights[0])
    return test.with_numbers([weight / unit for weight in test.weights], test.threshold / unit)


def _spread(values: Vector) -> float:
    """Return the standard deviation of the values that are numbers."""
    finite = values[np.isfinite(values)]
    return float(finite.std()) if len(finite) else 0.0


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
