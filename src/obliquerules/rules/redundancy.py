"""Redundancy: the same model with fewer tests, variables, levels and rules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.rules.numbers import least_reaching
from obliquerules.rules.rounding.shortening import Shortening
from obliquerules.rules.rounding.thresholds import Cuts, Projections
from obliquerules.rules.rule import Conjunction, Rule, as_weight
from obliquerules.rules.rule_parts import Factor, Membership, Proposition, Test

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble

# Weights and thresholds in this range can be scaled, and multiplied with inputs of ordinary size, without leaving the doubles.
SAFE = (1e-120, 1e120)


# ---- on any rows


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
        condition = strictest(map(_canonical, rule.condition))
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


def _canonical(test: Test) -> Test:
    """Return a condition with a first weight of 1 or -1 or, if oblique, in [1, 2), such that no double changes side.

    A threshold of zero stays: there the sign of a product too small for a double would decide.
    """
    if isinstance(test, Membership) or (len(test.columns) == 1 and abs(test.weights[0]) == 1.0) or test.threshold == 0.0:
        return test
    if len(test.columns) == 1:
        bound = least_reaching(abs(test.weights[0]), test.threshold)
        return test.with_numbers((math.copysign(1.0, test.weights[0]),), bound) if math.isfinite(bound) else test
    # A power of two is exact as long as nothing leaves the range of normal doubles.
    shift = 1 - math.frexp(test.weights[0])[1]
    numbers = [*test.weights, test.threshold]
    if shift == 0 or abs(shift) > 200 or not all(SAFE[0] < abs(number) < SAFE[1] for number in numbers):
        return test
    scaled = [math.ldexp(number, shift) for number in numbers]
    return test.with_numbers(scaled[:-1], scaled[-1])


def strictest(tests: Iterable[Test]) -> Conjunction | None:
    """Keep the highest threshold in each direction; None if two directions contradict each other, so that no row meets both."""
    kept: list[Test] = []
    for test in tests:
        for place, other in enumerate(kept):
            both = _both(other, test)
            if len(both) == 1:
                kept[place] = both[0]
                break
        else:
            kept.append(test)
    return Conjunction(kept) if all(_both(*pair) for pair in itertools.combinations(kept, 2)) else None


def _both(one: Test, other: Test) -> tuple[Test, ...]:
    """Return two conditions as one where they are on the same levels or in the same direction; none if no row meets both."""
    if isinstance(one, Membership) and isinstance(other, Membership):
        # Ordered levels are read better by themselves.
        apart = one.column != other.column or not (one.levels and other.levels) or one.ordered or other.ordered
        if one == other or apart:
            return (one,) if one == other else (one, other)
        missing = one.missing and other.missing
        if one.negated and other.negated:
            return (Membership(one.column, dict.fromkeys((*one.levels, *other.levels)), True, missing),)
        listed = other.levels if one.negated else one.levels
        levels = [level for level in listed if one.has(level) and other.has(level)]
        return (Membership(one.column, levels, missing=missing),) if levels or missing else ()
    if isinstance(one, Proposition) and isinstance(other, Proposition) and one.columns == other.columns:
        if one.weights == other.weights and one.missing == other.missing:
            return (max(one, other, key=lambda test: test.threshold),)
        # Rounding is symmetric, so the opposite projection is exactly -(x.w): both hold only if threshold <= x.w <= -opposite.
        # A row with a missing value may still meet both.
        opposite = one.weights == tuple(-weight for weight in other.weights)
        if opposite and other.threshold > -one.threshold and not (one.missing and other.missing):
            return ()
    return one, other


# ---- on given rows


def shortest_alike(
    fires: Sequence[Mask], complexities: Sequence[int], factors: Sequence[Factor | None] | None = None
) -> list[int | None]:
    """Return for each rule the place of the shortest one that fires on the same rows or on all others.

    None for a rule that always or never fires. Rules with a factor are alike only if they have the same and fire on the same
    rows; one that always fires is a slope.
    """
    shortest: dict[tuple[bytes, Factor | None], int] = {}
    keys: list[tuple[bytes, Factor | None] | None] = []
    for place, fired in enumerate(fires):
        factor = None if factors is None else factors[place]
        keys.append(None)
        if fired.any() and (factor is not None or not fired.all()):
            key = np.packbits(fired ^ (factor is None and fired[0])).tobytes(), factor
            keys[place] = key
            if complexities[place] < complexities[shortest.setdefault(key, place)]:
                shortest[key] = place
    return [None if key is None else shortest[key] for key in keys]


def without_redundant_rules(ensemble: RuleEnsemble, fires: Sequence[Mask]) -> RuleEnsemble:
    """Return an ensemble without redundant rules, with the same scores on the rows where they fire as given.

    Redundant rules fire on all rows, on none, or where another does or does not; see `shortest_alike`. Of the conditions of a
    rule in the same direction, only the strictest stays.
    """
    always = [bool(fired.all()) for fired in fires]
    conditions = [
        Conjunction() if everywhere else strictest(rule.condition) or rule.condition
        for rule, everywhere in zip(ensemble, always, strict=True)
    ]
    alike = shortest_alike(fires, [one.complexity for one in conditions], [rule.factor for rule in ensemble])
    kept = [place for place in dict.fromkeys(alike) if place is not None]
    if [conditions[place] for place in kept] == [rule.condition for rule in ensemble]:
        return ensemble
    intercept, weights = np.array(ensemble.intercept), {place: np.zeros(()) for place in kept}
    for place, (rule, other) in enumerate(zip(ensemble, alike, strict=True)):
        weight = np.array(rule.weight)
        if other is None:
            intercept = intercept + weight * always[place]
            continue
        # Where the other rule does not fire, w (1 - q) = w - w q.
        opposite = bool(fires[place][0] != fires[other][0])
        intercept = intercept + weight * opposite
        weights[other] = weights[other] + (-weight if opposite else weight)
    rules = (Rule(weights[place], conditions[place], ensemble[place].factor) for place in kept)
    return ensemble.with_rules(rules, intercept)


def needed_tests(holds: Mask, complexities: Sequence[int]) -> list[int]:
    """Return which tests of a conjunction, given where they hold, are not implied by the others.

    Holds has shape (n_tests, n_rows). The most complex tests are dropped first.
    """
    kept, together = list(range(len(holds))), np.logical_and.reduce(holds, axis=0)
    for index in sorted(kept, key=lambda index: -complexities[index]):
        others = [other for other in kept if other != index]
        if np.array_equal(np.logical_and.reduce(holds[others], axis=0), together):
            kept = others
    return kept


class Dropping:
    """Finds what conditions say too much, each condition once, and shortens the numbers of what is left.

    A condition is *shorter* without one of its tests, one variable of a sum, one listed level or one ``or missing``. A sum with
    a variable less gets a new threshold, in the middle of a real gap between rows.
    """

    def __init__(self, shortening: Shortening) -> None:
        self.shortening = shortening
        self._shorter: dict[Conjunction, list[Shorter]] = {}
        self._same: dict[Conjunction, Conjunction] = {}

    def condition(self, condition: Conjunction) -> Conjunction:
        """Return the shortest condition that holds on the same rows, with parts left out one after the other."""
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
        """Return the shorter conditions, the shortest first; of the same length, those that differ least come first."""
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
                moved = test.project(self.shortening.X) - narrower.project(self.shortening.X)
                finite = moved[np.isfinite(moved)]
                change = float(finite.std()) if len(finite) else 0.0
                unit = abs(narrower.weights[0]) if abs(test.weights[0]) == 1.0 else 1.0
                narrower = narrower.with_numbers([weight / unit for weight in narrower.weights], narrower.threshold / unit)
            else:
                change = float(np.count_nonzero(test(self.shortening.X) != narrower(self.shortening.X)))
            yield Shorter(before, narrower, after, others, change, self.shortening)


@dataclass(frozen=True, eq=False)
class Shorter:
    """A conjunction with one test shortened or left out; the threshold of a shorter sum is yet to be placed."""

    # The other tests, and the shorter one; None if it is left out.
    before: tuple[Test, ...]
    test: Test | None
    after: tuple[Test, ...]
    # Where the other tests hold, and how much the test differs from the one that it comes from.
    others: Mask
    change: float
    shortening: Shortening

    @property
    def complexity(self) -> int:
        """The complexity of the conjunction."""
        return Conjunction(filter(None, (*self.before, self.test, *self.after))).complexity

    def can_hold_on(self, fires: Mask) -> bool:
        """Say whether some threshold makes it hold on just these rows; quicker than placing it, because nothing is sorted."""
        if (fires & ~self.others).any():
            return False
        if not isinstance(self.test, Proposition):
            return True
        lacking, outside = np.isnan(self._values), self.others & ~fires
        if (lacking & (outside if self.test.missing else fires)).any():
            return False
        return bool(self._values[outside & ~lacking].max(initial=-np.inf) < self._values[fires & ~lacking].min(initial=np.inf))

    def best(self, gain: Vector) -> Placed | None:
        """Return the conjunction with the largest sum of gain; None if there is no threshold."""
        if not isinstance(self.test, Proposition):
            return Placed(self, self.test, self._holds)
        threshold = self._cuts.best(np.where(self.others, gain, 0.0)[self._known])
        if threshold is None:
            return None
        holds = self._values >= threshold
        placed = self.test.with_numbers(self.test.weights, threshold)
        return Placed(self, placed, self.others & (holds | ~self._known if placed.missing else holds))

    @cached_property
    def _holds(self) -> Mask:
        return self.others if self.test is None else self.others & self.test(self.shortening.X)

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
    """Yield a test without one variable, level or ``or missing``; sums keep their threshold.

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
    """Yield a list without one level, of which ordered ones are read as one, or without ``or missing``."""
    if len(test.levels) > 1 and not test.ordered:
        for place in range(len(test.levels)):
            levels = (*test.levels[:place], *test.levels[place + 1 :])
            yield Membership(test.column, levels, test.negated, test.missing)
    elif test.levels and test.missing and not test.negated:
        yield Membership(test.column, (), missing=True)
    if test.levels and test.missing:
        yield test.with_missing(False)
