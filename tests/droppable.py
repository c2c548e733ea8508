"""What can be left out of the models of a fit: a search by itself, which knows nothing of how a fit leaves things out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from obliquerules import Conjunction, Membership, Proposition, RuleEnsemble
from obliquerules.rules.rule_parts import summand_values

# What the documentation promises: a tenth of a standard error, and 1 % of the loss and of what rules gain over a constant.
OF_ERROR, OF_LOSS = 0.1, 0.01
# A threshold lies in the middle of a gap that is wider than this share of the largest sum.
NARROWEST = 1e-8


class Idle(NamedTuple):
    """What can go: the complexity of the model, the rule, what is left of its condition, and what that costs."""

    complexity: int
    rule: str
    without: str
    rows_moved: int
    rise: float


def droppable(model: Any, X: Any, y: Any, exact: str, sample_weight: Any = None) -> list[Idle]:
    """Return all that can be left out of the models on the path of a fit, its training rows given."""
    read = model._read(X)
    given = read.outcomes(y, sample_weight)
    rows = _Rows(read.X, given.y, given.weight, model.model_.loss, given.offset)
    highest = rows.loss_of(model.path_[0]).mean
    return [found for ensemble in model.path_ for found in _droppable(ensemble, rows, exact, highest)]


def repeated(model: Any, X: Any, y: Any) -> list[str]:
    """Return the rules of a path that fire where another of the same model does, or where it does not."""
    block = model._read(X).X
    found = []
    for ensemble in model.path_:
        seen = set()
        for rule, fires in zip(ensemble, ensemble.fires(block).T, strict=True):
            key = (fires ^ (fires[0] and rule.factor is None)).tobytes(), rule.factor
            found += [str(rule)] if key in seen else []
            seen.add(key)
    return found


class _Loss(NamedTuple):
    mean: float
    error: float


class _Rows(NamedTuple):
    block: Any
    y: Any
    weight: Any
    loss: Any
    offset: Any

    def values(self, score: Any) -> Any:
        return self.loss.value(self.y, score if self.offset is None else score + self.offset)

    def loss_of(self, ensemble: RuleEnsemble) -> _Loss:
        values, total = self.values(ensemble(self.block)), self.weight.sum()
        mean = np.sum(self.weight * values) / total
        return _Loss(mean, np.sqrt(np.sum(self.weight * (values - mean) ** 2)) / total)


def _droppable(ensemble: RuleEnsemble, rows: _Rows, exact: str, highest: float) -> Iterator[Idle]:
    loss, score = rows.loss_of(ensemble), ensemble(rows.block)
    budget = 0.0
    if exact == "loss":
        budget = min(OF_ERROR * loss.error, OF_LOSS * loss.mean, OF_LOSS * max(highest - loss.mean, 0.0))
    for rule in ensemble:
        fires = rule.condition(rows.block)
        off = score - rule.contribution(rows.block)
        on = off + replace(rule, condition=Conjunction()).contribution(rows.block)
        cost = rows.weight * (rows.values(on) - rows.values(off)) / rows.weight.sum()
        for less, holds in with_less(rule.condition, fires, cost, rows.block):
            rise, moved = cost[holds].sum() - cost[fires].sum(), int((holds != fires).sum())
            if moved == 0 or (exact == "loss" and rise <= budget - 1e-9 * abs(loss.mean)):
                yield Idle(ensemble.complexity, str(rule), str(less), moved, rise)


def with_less(condition: Conjunction, fires: Any, cost: Any, block: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what is left of a condition, and where that holds: on the same rows if possible, else where it costs least."""
    tests = condition.propositions
    for place, test in enumerate(tests):
        others = Conjunction([*tests[:place], *tests[place + 1 :]])(block)
        if len(tests) > 1:
            yield f"without {test}", others
        if isinstance(test, Membership):
            yield from ((less, others & less(block)) for less in _shorter_lists(test))
            continue
        for less in _shorter_sums(test):
            for holds in _placed(less, others, fires, cost, block):
                yield less, holds


def _shorter_lists(test: Membership) -> Iterator[Membership]:
    if len(test.levels) > 1 and not test.ordered:
        for level in test.levels:
            yield Membership(test.column, [one for one in test.levels if one is not level], test.negated, test.missing)
    if test.missing and test.levels:
        yield Membership(test.column, test.levels, test.negated, False, test.ordered)
    if test.missing and not test.negated and (len(test.levels) == 1 or (test.levels and test.ordered)):
        yield Membership(test.column, (), missing=True)


def _shorter_sums(test: Proposition) -> Iterator[Proposition]:
    pairs = list(zip(test.columns, test.weights, strict=True))
    for one in pairs:
        left = [pair for pair in pairs if pair is not one]
        if left:
            yield Proposition(*zip(*left, strict=True), test.threshold, test.missing)
        for narrower in _shorter_lists(one[0]) if isinstance(one[0], Membership) else ():
            if narrower not in test.columns:
                changed = [(narrower, weight) if pair is one else pair for pair in pairs for weight in (pair[1],)]
                yield Proposition(*zip(*changed, strict=True), test.threshold, test.missing)
    if test.missing:
        yield Proposition(test.columns, test.weights, test.threshold)


def _placed(test: Proposition, others: Any, fires: Any, cost: Any, block: Any) -> Iterator[Any]:
    """Yield where a sum holds with each of two thresholds: one that moves no row, if there is one, and the best of all."""
    products = [weight * summand_values(term, block) for term, weight in zip(test.columns, test.weights, strict=True)]
    sums, size = np.sum(products, axis=0), np.max(np.nan_to_num(np.sum(np.abs(products), axis=0)))
    lacks = np.isnan(sums)
    values = np.unique(sums[~lacks])
    cuts = [low + 0.5 * (high - low) for low, high in pairwise(values) if high - low > NARROWEST * size]
    if not cuts:
        return
    sides = np.where(fires, -1.0, 1.0)
    # Sums over all rows above a cut, from the highest down.
    place = np.searchsorted(cuts, sums[~lacks])
    counted = [np.bincount(place, np.where(others, each, 0.0)[~lacks], len(cuts) + 1) for each in (sides, cost)]
    for one in counted:
        cut = cuts[int(np.argmin(one[::-1].cumsum()[::-1][1:]))]
        # A threshold that no row reaches would tell nothing apart.
        if (others & (sums >= cut)).any():
            yield others & np.where(lacks, test.missing, sums >= cut)
