"""Shorten: conditions in as few digits, tests and levels as the training rows support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Vector
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.method import Task
from obliquerules.learning.refit import EXACT as EXACT_WEIGHTS
from obliquerules.learning.refit import JUDGED, refit
from obliquerules.parameters import option
from obliquerules.rules import Conjunction, Factor, Rule, RuleEnsemble, Shortening
from obliquerules.rules.path_table import pareto
from obliquerules.rules.redundancy import Dropping, Placed, size, without_redundant_rules
from obliquerules.rules.rounding.coarsening import Targets, coarsened, total
from obliquerules.rules.text.bands import bend, bends, bent_at, single_column
from obliquerules.status_line import status_line

# Shorter conditions may raise the mean loss on the training rows by this share of its standard error,
SHARE_OF_ERROR = 0.1
# but by no more than this share of itself, and of what the rules gain over a constant: outliers make the standard error large.
SHARE_OF_LOSS = 0.01

# Parts that cost up to this many budgets with the present weights may be within one once weights are refitted.
BUDGETS_TRIED = 8.0

EXACT = ("loss", "rows")


def exactness(exception: str) -> Any:
    """Declare how short conditions are.

    ``exception`` says when they stay as they are learned.
    """
    return option(
        "loss",
        EXACT,
        'How short conditions are. ``"loss"``: their numbers have as few digits as the training rows support: with them, and '
        "rule weights fitted anew, the mean training loss of each model of the path is higher by at most a tenth of its "
        "standard error, and by at most 1 % of itself and of what the rules gain over a constant; thresholds next to each "
        "other become one. What costs no more than that to leave out goes, one thing after the other: a test, a variable of a "
        "sum, a level, ``or missing``. So does a step, slope or hinge whose place another on the same variable alone can take; "
        "and a knot takes the number of a threshold or knot next to it. Other limits of slopes stay: they guard against values "
        "beyond those of the training rows. "
        '``"rows"``: as few digits as possible such that no training row changes side, and only what changes the side of no '
        f"training row goes. {exception}",
    )


def readable_path(
    path: Sequence[tuple[RuleEnsemble, Any]], task: Task, exact: str, each: Callable[..., Iterable[Any]] = map
) -> tuple[tuple[RuleEnsemble, ...], list[int]]:
    """Return the Pareto front of a path in shorter conditions, with places on the path.

    Each ensemble comes with the penalty on its weights. See `exactness`. Ensembles are independent of each other, but for the
    digits of numbers: ``each`` is called like `map`.
    """
    rows = _Rows(task)
    short = [(rows.shortening.ensemble(ensemble), penalty) for ensemble, penalty in path]
    members = list(each(lambda one: rows.tidied(*one), short))
    if exact == "loss":
        # The first member of a path is the constant.
        highest, told = members[0].loss, status_line().counter("shorter conditions", 2 * len(members))
        needed = list(each(lambda member: told(rows.within_budget(member, highest)), members))
        coarse = rows.in_fewer_digits(needed, each)
        members = list(
            each(
                lambda member: told(rows.within_budget(rows.tidied(member.ensemble, member.penalty), highest, last=True)),
                coarse,
            )
        )
    front = pareto(range(len(members)), lambda place: (members[place].ensemble.complexity, members[place].loss))
    return tuple(members[place].ensemble for place in front), front


def shortened_path(path: Sequence[RuleEnsemble], task: Task) -> tuple[RuleEnsemble, ...]:
    """Return a path in the fewest digits that move no row."""
    shortening = Shortening(task.sample.X)
    return tuple(shortening.ensemble(ensemble).with_propositions(shortening.of_presence) for ensemble in path)


def without_idle_parts(path: Sequence[RuleEnsemble], task: Task) -> list[RuleEnsemble]:
    """Return a path without idle parts of conditions; weights stay."""
    rows = _Rows(task)
    return [ensemble.with_rules(map(rows.without_idle_parts, ensemble)) for ensemble in path]


@dataclass(frozen=True, eq=False)
class _Fitted:
    """An ensemble with the penalty on its weights, its training scores and its mean loss."""

    ensemble: RuleEnsemble
    penalty: Any
    score: Vector
    loss: float


@dataclass(frozen=True, eq=False)
class _Way:
    """A change of one rule that makes an ensemble shorter.

    Attributes
    ----------
    index : int
        The place of the rule.
    rule : Rule
        The rule as it was.
    complexity : int
        By how much its complexity changes.
    rise : float
        By how much the mean loss of the ensemble rises if all weights stay, but for those of two rules that become one.
    after : Placed, Rule or None
        The shorter condition, and where it holds; the rule at the number of another; None if another takes its place.
    """

    index: int
    rule: Rule
    complexity: int
    rise: float
    after: Placed | Rule | None

    def of(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Return the ensemble with this change."""
        after = replace(self.rule, condition=self.after.condition) if isinstance(self.after, Placed) else self.after
        rules = ensemble.rules
        changed = () if after is None else (after,)
        return ensemble.with_rules((*rules[: self.index], *changed, *rules[self.index + 1 :]))


class _Rows:
    """The training rows with their targets, and which of them meet each condition."""

    def __init__(self, task: Task) -> None:
        sample, loss = task.sample, task.loss
        self.task = task
        self.targets = Targets(loss.in_shares(sample.y), sample.weight, loss, sample.offset)
        self.shortening = Shortening(sample.X)
        self.dropping = Dropping(self.shortening)
        self.met: dict[Conjunction, Mask] = {}
        self.scales: dict[tuple[Conjunction, Factor | None], float] = {}

    # ---- no row changes side

    def tidied(self, ensemble: RuleEnsemble, penalty: Any) -> _Fitted:
        """Return an ensemble without idle parts and redundant rules, refitted where rules merge."""
        rules = [self.without_idle_parts(rule) for rule in ensemble]
        shorter = ensemble if rules == list(ensemble) else ensemble.with_rules(rules)
        merged = without_redundant_rules(shorter, self.fires(shorter))
        return self.fitted(merged, penalty) if len(merged) < len(shorter) else self.scored(merged, penalty)

    def without_idle_parts(self, rule: Rule) -> Rule:
        """Return a rule without parts that move no row."""
        condition = self.dropping.condition(rule.condition)
        if any(self.shortening.of_presence(test) is not test for test in condition):
            condition = Conjunction(map(self.shortening.of_presence, condition))
        return rule if condition == rule.condition else replace(rule, condition=condition)

    # ---- the loss rises within a budget

    def budget(self, member: _Fitted, highest: float) -> float:
        """Return by how much the mean loss may rise; ``highest`` is that of a constant."""
        gain = max(highest - member.loss, 0.0)
        return min(SHARE_OF_ERROR * self.targets.standard_error(member.score), SHARE_OF_LOSS * min(member.loss, gain))

    def in_fewer_digits(self, members: Sequence[_Fitted], each: Callable[..., Iterable[Any]]) -> list[_Fitted]:
        """Return ensembles in fewer digits, if within the budget."""
        ensembles, scores = [one.ensemble for one in members], [one.score for one in members]
        budgets = [self.budget(one, members[0].loss) for one in members]
        coarse = coarsened(ensembles, scores, self.task.sample.X, self.targets, budgets, self.shortening)
        # A ridge does not minimise the loss itself, which may exceed the budget after all.
        again = each(lambda one: self.fitted(*one), zip(coarse, [one.penalty for one in members], strict=True))
        fitted = zip(members, again, budgets, strict=True)
        return [after if after.loss <= before.loss + budget else before for before, after, budget in fitted]

    def within_budget(self, member: _Fitted, highest: float, *, last: bool = False) -> _Fitted:
        """Return an ensemble without the parts whose loss fits into the budget, one after the other.

        In the last round, costlier parts are tried with refitted weights, and rules on one variable merge.
        """
        while (shorter := self._one_less(member, self.budget(member, highest), last)) is not None:
            member = shorter
        return member

    def _one_less(self, member: _Fitted, budget: float, last: bool) -> _Fitted | None:
        """Return an ensemble with one part less, if possible."""
        indices, tried = range(len(member.ensemble)), BUDGETS_TRIED if last else 1.0
        ways = [way for index in indices for way in self._ways(member, index)]
        ways += [way for index in indices if last for way in self._ways_to_merge(member, index)]
        patterns: FiringPatterns | None = None
        for way in sorted(ways, key=lambda one: (one.complexity, one.rise, one.index)):
            if not way.rise <= tried * budget:
                continue
            if way.rise > budget and patterns is None:
                patterns = FiringPatterns.of_ensemble(member.ensemble, self.task.sample.X, self.fires(member.ensemble))
            if way.rise <= budget or (patterns and self._refitted_loss(member, way, patterns) <= member.loss + budget):
                changed = way.of(member.ensemble)
                if _length(changed) < _length(member.ensemble):
                    fitted = self.fitted(changed, member.penalty)
                    # With a ridge, the weight of one rule may do less than those of two.
                    if isinstance(way.after, Placed) or fitted.loss <= member.loss + budget:
                        return fitted
        return None

    def _ways(self, member: _Fitted, index: int) -> Iterator[_Way]:
        """Yield a rule with one part less, and its best threshold."""
        X, rule = self.task.sample.X, member.ensemble[index]
        fires, candidates = self._met(rule.condition), self.dropping.shorter(rule.condition)
        if not candidates:
            return
        without = member.score - rule.where(fires, X)
        everywhere = rule.weight if rule.factor is None else rule.where(np.ones_like(fires), X)
        gain = self.targets.values(without) - self.targets.values(without + everywhere)
        # In any order the same: where equal rows change places, nothing rises.
        now = total(gain[fires])
        for shorter in candidates:
            placed = shorter.best(gain)
            if placed is not None:
                rise = (now - total(gain[placed.holds])) / self.targets.size
                yield _Way(index, rule, shorter.complexity - rule.condition.complexity, rise, placed)

    def _ways_to_merge(self, member: _Fitted, index: int) -> Iterator[_Way]:
        """Yield ways to merge a rule, or its knot, with one on its variable."""
        rule = member.ensemble[index]
        column = single_column(rule)
        others = [one for place, one in enumerate(member.ensemble) if place != index and single_column(one) == column]
        if column is None or not others:
            return
        values = self._values(rule)
        rises = [self._rise(member, rule, self._as_line(values, self._values(other)) - values) for other in others]
        yield _Way(index, rule, -rule.complexity, min(rises), None)
        knot = bend(rule)
        if knot is None or rule.factor is None:  # thresholds that take the number of another are that threshold
            return
        numbers = {number for _, number in bends(others)}
        below, above = (number for number in numbers if number < knot), (number for number in numbers if number > knot)
        for number in (*sorted(below)[-1:], *sorted(above)[:1]):
            moved = replace(rule, factor=bent_at(rule.factor, number))
            if all(other.factor != moved.factor for other in others):
                yield _Way(index, rule, 0, self._rise(member, rule, self._values(moved) - values), moved)

    def _rise(self, member: _Fitted, rule: Rule, change: Vector) -> float:
        """Return the rise of the mean loss if the values of a rule change."""
        return self.targets.mean(member.score + np.multiply.outer(change, rule.weight)) - member.loss

    def _as_line(self, values: Vector, others: Vector) -> Vector:
        """Return the constant and multiple of others closest to values."""
        weight, size = self.task.sample.weight, self.targets.size
        with np.errstate(over="ignore", invalid="ignore"):
            others = others - total(weight * others) / size
            spread = total(weight * others**2)
            slope = total(weight * others * values) / spread if spread > 0.0 else 0.0
            return np.asarray(total(weight * values) / size + slope * others)

    # ---- weights and scores

    def fitted(self, ensemble: RuleEnsemble, penalty: Any) -> _Fitted:
        """Return an ensemble without redundant rules and with refitted weights."""
        tidy = without_redundant_rules(ensemble, self.fires(ensemble))
        patterns = FiringPatterns.of_ensemble(tidy, self.task.sample.X, self.fires(tidy))
        return self.scored(tidy.with_weight_table(self._weights(tidy, penalty, patterns)), penalty)

    def _refitted_loss(self, member: _Fitted, way: _Way, patterns: FiringPatterns) -> float:
        """Return the refitted mean loss after a change."""
        place = 1 + way.index
        if way.after is None:
            patterns = FiringPatterns(np.delete(patterns.design, place, axis=1), patterns.pattern)
        else:
            after = (way.rule, way.after.holds) if isinstance(way.after, Placed) else (way.after,)
            patterns = patterns.with_column(place, self._values(*after))
        ensemble = member.ensemble if isinstance(way.after, Placed) else way.of(member.ensemble)
        weights = self._weights(ensemble, member.penalty, patterns, JUDGED)
        return self.targets.mean(patterns.scores(weights))

    def _values(self, rule: Rule, holds: Mask | None = None) -> Vector:
        """Return what the weight of a rule is multiplied by."""
        holds = self._met(rule.condition) if holds is None else holds
        return holds.astype(np.float64) if rule.factor is None else np.where(holds, rule.factor(self.task.sample.X), 0.0)

    def _weights(
        self, ensemble: RuleEnsemble, penalty: Any, patterns: FiringPatterns, tolerance: float = EXACT_WEIGHTS
    ) -> Vector:
        """Return the best weights of rules for firing patterns."""
        sample, start = self.task.sample, ensemble.weight_table
        sloped = any(rule.factor is not None for rule in ensemble)
        scale = np.array([1.0, *map(self._scale, ensemble)]) if sloped else None
        fitted = (patterns.with_offset(sample.offset), self.targets.y, sample.weight, self.task.loss, penalty, start)
        return refit(*fitted, scale=scale, tolerance=tolerance)

    def _scale(self, rule: Rule) -> float:
        place = rule.condition, rule.factor
        if place not in self.scales:
            self.scales[place] = rule.scale(self.task.sample.X, self.task.sample.weight)
        return self.scales[place]

    def scored(self, ensemble: RuleEnsemble, penalty: Any) -> _Fitted:
        """Return an ensemble with its scores and its loss."""
        score = np.repeat(np.array([ensemble.intercept]), len(self.task.sample.y), axis=0)
        for rule, fires in zip(ensemble, self.fires(ensemble), strict=True):
            score += rule.where(fires, self.task.sample.X)
        return _Fitted(ensemble, penalty, score, self.targets.mean(score))

    def fires(self, ensemble: RuleEnsemble) -> list[Mask]:
        """Return the training rows on which each rule fires."""
        return [self._met(rule.condition) for rule in ensemble]

    def _met(self, condition: Conjunction) -> Mask:
        if condition not in self.met:
            self.met[condition] = condition(self.task.sample.X)
        return self.met[condition]


def _length(ensemble: RuleEnsemble) -> tuple[int, int, int]:
    """Return complexity, variables in conditions, and bends."""
    return ensemble.complexity, sum(size(rule.condition)[1] for rule in ensemble), len(bends(ensemble))
