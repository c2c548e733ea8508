"""Readable numbers: the path of a fit, in conditions with as many digits as the training rows support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.method import Task, factor_scales, firing_patterns, scaled_weights
from obliquerules.parameters import option
from obliquerules.pareto import pareto
from obliquerules.rules import Conjunction, Factor, Rule, RuleEnsemble, Shortening
from obliquerules.rules.decimals.coarsening import Targets, coarsened
from obliquerules.rules.simplify import strictest

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Shorter conditions may raise the mean loss on the training rows by this share of its standard error,
SHARE_OF_ERROR = 0.1
# but by no more than this share of itself, and of what the rules gain over a constant: outliers make the standard error large.
SHARE_OF_LOSS = 0.01

EXACT = ("loss", "rows")


def exactness(exception: str) -> Any:
    """Declare how exact the numbers in conditions are; ``exception`` says when that is ``"rows"``, whatever is given."""
    return option(
        "loss",
        EXACT,
        'How many digits the numbers in conditions have. ``"loss"``: as few as the training rows support: with them, and rule '
        "weights fitted anew, the mean training loss of each model of the path is higher by at most a tenth of its standard "
        "error, and by at most 1 % of itself and of what the rules gain over a constant; thresholds next to each other become "
        "one. "
        f'``"rows"``: as few as possible such that no training row changes side. {exception}',
    )


def readable_path(
    path: Sequence[RuleEnsemble], task: Task, ridge: float, exact: str, each: Callable[..., Iterable[Any]] = map
) -> tuple[RuleEnsemble, ...]:
    """Return the ensembles of a path with shorter numbers in their conditions; see `exactness`.

    In the end, weights are fitted to each ensemble independently of the others: ``each`` is called like `map`.
    """
    shortening = Shortening(task.sample.X)
    # In "rows", no row changes side, so the weights fitted to the exact conditions are right for the shortened ones.
    shorter = map(shortening.ensemble, path) if exact == "rows" else _Coarse(task, ridge).path(path, shortening, each)
    return tuple(ensemble.with_propositions(shortening.of_presence) for ensemble in shorter)


@dataclass(frozen=True, eq=False)
class _Coarse:
    """The training rows with their targets, and which of them meet each condition."""

    task: Task
    ridge: float
    met: dict[Conjunction, Mask] = field(default_factory=dict)

    @cached_property
    def targets(self) -> Targets:
        sample = self.task.sample
        return Targets(sample.y, sample.weight, self.task.loss, sample.offset)

    def path(
        self, path: Sequence[RuleEnsemble], shortening: Shortening, each: Callable[..., Iterable[Any]]
    ) -> tuple[RuleEnsemble, ...]:
        """Return the Pareto front of the ensembles in shorter numbers."""
        scores = [self.score(ensemble) for ensemble in path]
        losses = [self.targets.mean(score) for score in scores]
        # The first member of a path is the constant.
        budgets = [self.budget(score, loss, losses[0] - loss) for score, loss in zip(scores, losses, strict=True)]
        coarse = coarsened(path, scores, self.task.sample.X, self.targets, budgets, shortening)
        fitted = each(self.fitted, coarse)
        # A ridge does not minimise the loss itself: where that exceeds the budget after all, no row changes side.
        members = [
            after if after[1] <= loss + budget else (shortening.ensemble(before), loss)
            for before, after, loss, budget in zip(path, fitted, losses, budgets, strict=True)
        ]
        return tuple(ensemble for ensemble, _ in pareto(members, lambda member: (member[0].complexity, member[1])))

    def budget(self, score: Vector, loss: float, gain: float) -> float:
        """Return by how much the mean loss of an ensemble may rise, given what it gains over a constant."""
        return min(SHARE_OF_ERROR * self.targets.standard_error(score), SHARE_OF_LOSS * min(loss, max(gain, 0.0)))

    def fitted(self, ensemble: RuleEnsemble) -> tuple[RuleEnsemble, float]:
        """Return the ensemble without redundant rules and with refitted weights, and its mean loss."""
        sample, tidy = self.task.sample, without_redundant(ensemble, self.fires(ensemble))
        design, pattern = firing_patterns(tidy, sample.X, self.fires(tidy))
        scale = factor_scales(tidy, sample.X, sample.weight)
        targets = (sample.y, sample.weight, self.task.loss)
        weights = scaled_weights(design, pattern, scale, *targets, self.ridge, tidy.weight_table, offset=sample.offset)
        refitted = tidy.with_weight_table(weights)
        return refitted, self.targets.mean(self.score(refitted))

    def score(self, ensemble: RuleEnsemble) -> Vector:
        """Return the scores of the training rows."""
        score = np.repeat(np.array([ensemble.intercept]), len(self.task.sample.y), axis=0)
        for rule, fires in zip(ensemble, self.fires(ensemble), strict=True):
            score += rule.where(fires, self.task.sample.X)
        return score

    def fires(self, ensemble: RuleEnsemble) -> list[Mask]:
        """Return the training rows on which each rule fires."""
        for rule in ensemble:
            if rule.condition not in self.met:
                self.met[rule.condition] = rule.condition(self.task.sample.X)
        return [self.met[rule.condition] for rule in ensemble]


def without_redundant(ensemble: RuleEnsemble, fires: Sequence[Mask]) -> RuleEnsemble:
    """Return the ensemble without rules that fire on all of the rows, on none, or where another does or does not.

    The scores of the rows stay the same. Within a rule, of conditions in the same direction only the strictest stays. A rule
    with a factor is redundant only to one with the same factor that fires on the same rows; one that fires on all of them is a
    slope.
    """
    intercept, weights = np.array(ensemble.intercept), dict[tuple[bytes, Factor | None], Vector]()
    conditions = dict[tuple[bytes, Factor | None], tuple[Conjunction, bool]]()
    for rule, fired in zip(ensemble, fires, strict=True):
        weight, condition, everywhere = np.array(rule.weight), strictest(rule.condition), bool(fired.all())
        # The complement of a rule with a factor is no constant less.
        turned = rule.factor is None and bool(fired[0])
        if condition is None or not fired.any() or (everywhere and rule.factor is None):
            intercept = intercept + weight * turned
            continue
        place = np.packbits(fired ^ turned).tobytes(), rule.factor
        opposite = conditions.setdefault(place, (Conjunction() if everywhere else condition, turned))[1] != turned
        # Where the other rule does not fire, w (1 - q) = w - w q.
        intercept = intercept + weight * opposite
        weights[place] = weights.get(place, np.zeros(())) + (-weight if opposite else weight)
    rules = (Rule(weights[place], condition, place[1]) for place, (condition, _) in conditions.items())
    return ensemble.with_rules(rules, intercept)
