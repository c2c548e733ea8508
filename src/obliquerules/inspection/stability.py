"""Stability: how often each rule comes back in bootstrap samples, and how much its weight varies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.inspection.classes import by_class, weights_of
from obliquerules.learning.firing_patterns import FiringPatterns
from obliquerules.learning.method import Method, Task
from obliquerules.learning.refit import factor_scales, refit
from obliquerules.parallel import CountedCalls
from obliquerules.rules import Block, Model, Rule, RuleEnsemble
from obliquerules.rules.rule import Weight
from obliquerules.rules.text.records import Records, TextTable, without_unused
from obliquerules.rules.text.style import PLAIN
from obliquerules.status_line import opened, status_line

# The lower and the upper end.
Interval = tuple[float, float]
# Returns the weights of the rules, with their conditions fixed, given how often each row was drawn.
Reweigh = Callable[[Vector], Vector]

# Fitting weights alone is quick, and the ends of an interval need many draws.
WEIGHT_DRAWS = 1000
# An interval around shrunken weights would miss the truth too often; hardly any ridge keeps weights finite.
LARGEST_RIDGE_OF_DRAWS = 1.0
# The share of the time that refits take, roughly.
REFITS = 0.9


@dataclass(frozen=True)
class RuleStability:
    """What bootstrap samples say about one rule.

    Attributes
    ----------
    condition : str
        The condition of the rule as text.
    frequency : float
        The share of the refits in which a rule comes back that covers nearly the same rows and, if it has a factor, has one in
        the same column.
    mean_overlap : float
        The mean over the refits of the overlap with the most similar rule.
    weight : float or tuple of float
        The weight that the rule has in the model; with many classes, one for each of them.
    interval : tuple of float, or tuple of tuples
        Lower and upper end for the weight, given the conditions of all rules; see `Stability`. With many classes, one interval
        for each of them, None where the rule says nothing of a class.
    factor : str or None
        What the weight is multiplied by, as text, if anything.
    """

    condition: str
    frequency: float
    mean_overlap: float
    weight: Weight
    interval: Interval | tuple[Interval | None, ...]
    factor: str | None = None

    @property
    def intervals(self) -> tuple[Interval | None, ...]:
        """The interval of each weight, also if there is only one."""
        several = isinstance(self.weight, tuple)
        return self.interval if several else (self.interval,)  # type: ignore[return-value]  # what it is, the weight says


@dataclass(frozen=True)
class Stability(Records[RuleStability]):
    """What bootstrap samples say about each rule of an ensemble; prints as a table.

    The *overlap* of two rules is the Jaccard index of the rows they cover: the size of the intersection over that of the union.
    A rule and its complement make the same model, with a different constant. So each rule of the model is represented by its
    smaller side, the rows it covers or the complement, and compared with both sides of the other rule. Otherwise, any two
    rules that hold nearly everywhere would match.

    A rule with a factor is compared only with those whose factor is the same column, whatever origin and limits they have, and
    by the rows it covers alone: where it does not apply, its complement has another slope. So a slope, which covers all rows,
    has come back, with an overlap of 1, if there is a slope in the same column again. A rule without a factor is compared only
    with those without.

    The *interval* is about the weight alone. The conditions of all rules are held fixed, and only the weights are fitted to
    each bootstrap sample; the ends of the interval are percentiles of these weights. It covers, at about the stated
    confidence, the weight that the same fit would give on the whole population *for these conditions, had they been fixed
    before the data were seen*. It does **not** account for the search that found the conditions in the same data: a rule was
    chosen because its weight came out large, so the true weight of its condition tends to be nearer to zero than the interval
    suggests. To avoid this bias, give rows that the model was not fitted to. The weights of the draws are hardly shrunk, with a
    ridge of at most one row, so that an interval may lie mostly beyond a weight that is; it always reaches that weight.

    Attributes
    ----------
    rules : tuple of RuleStability
        In the order of the ensemble.
    n_bootstraps : int
        The number of refits.
    overlap : float
        The least overlap at which a rule counts as having come back.
    confidence : float
        The nominal coverage of the intervals.
    classes : tuple of str
        The names of the classes if there are many; a rule then has a line for each class that it speaks for.
    """

    rules: tuple[RuleStability, ...]
    n_bootstraps: int
    overlap: float
    confidence: float
    classes: tuple[str, ...] = ()

    def _records(self) -> tuple[RuleStability, ...]:
        return self.rules

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each rule, with its factor if any of them has one.

        With many classes, weights and intervals are under their names.
        """
        if not self.classes:
            return without_unused("factor", super().to_dicts())
        return [
            {"condition": rule.condition, "frequency": rule.frequency, "mean_overlap": rule.mean_overlap}
            | by_class("weight", self.classes, rule.weight)
            | by_class("interval", self.classes, rule.intervals)
            for rule in self.rules
        ]

    def _parts(self) -> Iterator[TextTable]:
        named = ("class",) if self.classes else ()
        heading = ("frequency", "overlap", *named, "weight", f"{100 * self.confidence:g} % interval", "condition")
        yield TextTable([heading, *(line for rule in self.rules for line in self._lines(rule))])

    def _lines(self, rule: RuleStability) -> list[tuple[str, ...]]:
        """Return a line for each weight that has an interval; the first says what the rule is."""
        weights = [
            (
                *([PLAIN.output(self.classes[k])] if self.classes else []),
                PLAIN.amount(weight, rule.factor),
                " to ".join(map(PLAIN.signed, interval)),
            )
            for k, (weight, interval) in enumerate(zip(weights_of(rule.weight), rule.intervals, strict=True))
            if interval is not None
        ]
        first = (f"{rule.frequency:.2f}", f"{rule.mean_overlap:.2f}")
        nothing = ("",) * (3 if self.classes else 2)
        (one, *others) = weights or [nothing]
        return [(*first, *one, rule.condition), *(("", "", *other, "") for other in others)]


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draws bootstrap samples, and repeats a draw until a fit can learn from it.

    Attributes
    ----------
    groups : array of shape (n_samples,)
        The group of each row, such as its class; a fit needs a row of each group.
    can_be_learned : callable, optional
        Says of a mask of drawn rows whether a fit can learn from them; it cannot from counts that are all zero, for example.
    """

    groups: NDArray[np.intp]
    can_be_learned: Callable[[NDArray[np.bool_]], bool] | None = None

    def draw(self, seed: int) -> Vector:
        """Return how often each row is drawn."""
        rng = np.random.default_rng(seed)
        n, present = len(self.groups), np.unique(self.groups)
        while True:
            counts = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
            if (np.bincount(self.groups, counts)[present] > 0.0).all() and (
                self.can_be_learned is None or self.can_be_learned(counts > 0.0)
            ):
                return counts


def stability(
    ensemble: RuleEnsemble,
    task: Task,
    method: Method,
    *,
    n_bootstraps: int,
    overlap: float,
    confidence: float,
    random_state: np.random.RandomState,
    n_jobs: int | None,
) -> Stability:
    """Refit to bootstrap samples and report how often each rule of the ensemble comes back and how much its weight varies."""
    seeds = random_state.randint(2**31 - 1, size=n_bootstraps + WEIGHT_DRAWS).tolist()
    bootstrap = Bootstrap(task.loss.strata(task.y), partial(_can_be_learned, task))
    again = partial(_overlaps_of_refit, ensemble, task, method.plain, bootstrap)
    # Seeds drawn here, not in the workers, are the same for any number of workers.
    with opened("stability", task.stopwatch.clock):
        parallel = CountedCalls(n_jobs, "refits", n_bootstraps, (0.0, REFITS), parts=True)
        overlaps = np.array(parallel(joblib.delayed(again)(seed) for seed in seeds[:n_bootstraps]))
        intervals = weight_intervals(bootstrap, reweighing(ensemble, task, method), confidence, seeds[n_bootstraps:])

    def interval(rule: Rule, ends: Vector) -> Interval | tuple[Interval | None, ...]:
        """Return an interval that reaches the weight, or one for each class with a weight."""
        if isinstance(rule.weight, tuple):
            each = [interval(Rule(weight), one) if weight else None for weight, one in zip(rule.weight, ends, strict=True)]
            return tuple(each)  # type: ignore[arg-type]  # of one weight there is one interval
        return min(rule.weight, float(ends[0])), max(rule.weight, float(ends[1]))

    rules = [
        RuleStability(
            rule.condition.describe(ensemble.columns),
            float(np.mean(overlaps[:, index] >= overlap)),
            float(np.mean(overlaps[:, index])),
            rule.weight,
            interval(rule, intervals[index]),
            None if rule.factor is None else rule.factor.describe(ensemble.columns),
        )
        for index, rule in enumerate(ensemble)
    ]
    return Stability(tuple(rules), n_bootstraps, overlap, confidence, ensemble.outputs or ())


def _can_be_learned(task: Task, drawn: NDArray[np.bool_]) -> bool:
    """Say whether a fit accepts the targets of the drawn rows."""
    return task.loss.complaint(task.y[drawn]) is None


def reweighing(ensemble: RuleEnsemble, task: Task, method: Method) -> Reweigh:
    """Return a function that fits the weights of the rules, with their conditions fixed, to rows drawn any number of times."""
    patterns, start = FiringPatterns.of_ensemble(ensemble, task.X).with_offset(task.offset), ensemble.weight_table
    ridge_of_draws = min(method.growth_ridge, LARGEST_RIDGE_OF_DRAWS)

    def reweigh(counts: Vector) -> Vector:
        weight = counts * task.weight
        ridge = method.penalty(task.loss, task.y, weight, task.class_weights, ridge_of_draws)
        scale = factor_scales(ensemble, task.X, weight)
        return refit(patterns, task.y, weight, task.loss, ridge, start, scale=scale)[1:]

    return reweigh


def weight_intervals(bootstrap: Bootstrap, reweigh: Reweigh, confidence: float, seeds: list[int]) -> NDArray[np.float64]:
    """Return the percentile interval of each weight of each rule, shape (n_rules[, n_classes], 2), one draw for each seed."""
    line, weights = status_line(), []
    line.begin("weights", REFITS, 1.0)
    for done, seed in enumerate(seeds):
        line.tell("weights", done / len(seeds))
        weights.append(reweigh(bootstrap.draw(seed)))
    tail = 0.5 * (1.0 - confidence)
    return np.asarray(np.moveaxis(np.quantile(np.array(weights), [tail, 1.0 - tail], axis=0), 0, -1), dtype=np.float64)


def _overlaps_of_refit(ensemble: RuleEnsemble, task: Task, method: Method, bootstrap: Bootstrap, seed: int) -> Vector:
    """Refit, up to the complexity of the ensemble, to one bootstrap sample; return the best overlap of each rule."""
    # Copies of a row are no further observations.
    drawn = replace(
        task,
        X=_unseen_as_missing(task.X),
        weight=bootstrap.draw(seed) * task.weight,
        groups=np.arange(len(task.y)),
        stopwatch=task.stopwatch.restarted(),
    )
    path = method.reseeded(seed).grow(drawn).path
    refitted = Model(path, 0, task.loss).at(ensemble.complexity).ensemble
    return overlaps_of_rules(ensemble, refitted, task.X)


def _unseen_as_missing(X: Block) -> Block:
    """Return a block in which levels that the model does not know are missing: no rule can name them."""
    levels = [] if X.columns is None else X.columns.with_levels
    unseen = [index for index in levels if X.column(index).levels and (X.matrix[:, index] < 0.0).any()]
    if not unseen:
        return X
    matrix = X.matrix.copy(order="K")
    matrix[:, unseen] = np.where(matrix[:, unseen] < 0.0, np.nan, matrix[:, unseen])
    return Block(X.columns, matrix)


def overlaps_of_rules(ensemble: RuleEnsemble, others: RuleEnsemble, X: Block) -> Vector:
    """Return the overlap of each rule of an ensemble with the most similar one of another, if any; see `Stability`."""
    mine, theirs = (
        np.array([-1 if rule.factor is None else rule.factor.column for rule in rules], dtype=np.intp)
        for rules in (ensemble, others)
    )
    fires, other_fires, best = ensemble.fires(X), others.fires(X), np.zeros(len(ensemble))
    for column in np.unique(mine).tolist():
        same, compared = fires[:, mine == column], other_fires[:, theirs == column]
        best[mine == column] = best_overlaps(same, compared, complements=column < 0)
    return best


def best_overlaps(covers: NDArray[np.bool_], others: NDArray[np.bool_], *, complements: bool = True) -> Vector:
    """Return the overlap of each column of ``covers`` with the most similar column of ``others``, if any.

    Unless a rule and its complement make different models, the smaller side is compared with both sides; see `Stability`.
    """
    turned = complements & (2 * np.count_nonzero(covers, axis=0) > len(covers))
    smaller = np.where(turned, ~covers, covers).astype(np.float64)
    sides = (np.hstack([others, ~others]) if complements else others).astype(np.float64)
    shared = np.einsum("ni,nj->ij", smaller, sides)
    union = smaller.sum(axis=0)[:, None] + sides.sum(axis=0) - shared
    return np.asarray((shared / np.maximum(union, 1.0)).max(axis=1, initial=0.0), dtype=np.float64)
