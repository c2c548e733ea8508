"""Shrinkage: how large the ridge on rule weights should be, estimated from the training rows for any loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Positions, Vector
from obliquerules.data.sample import Groups, Sample
from obliquerules.learning.cached import clear_cache
from obliquerules.learning.firing_patterns import FiringPatterns, Patterns
from obliquerules.learning.refit import JUDGED, TINY, factor_scales, free_weights, refit, weight_finder, whitened
from obliquerules.losses import NO_FORMULA, Loss
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.columns import Block

# The ridges that are compared, in rows: powers of two from the least up to this share of the rows, but at least 128.
LEAST_RIDGE, LARGEST_RIDGE = 0.25, 128.0
LARGEST_SHARE = 0.25
# A ridge below one row is compared only if it is at least this much divided by the number of rows: where few rows of two
# classes are separated, none of them shows what its own absence would change.
ROWS_FOR_LESS = 100.0
# Leaving a row out shows the optimism of the weights alone. Conditions are found on the same rows by a long search: each unit
# of complexity counts as this many weights for each unit of the logarithm of the number of conditions to choose from. In a
# linear model nothing but columns is chosen: a slope, two units, is one weight.
WEIGHTS_PER_UNIT = 0.4
WEIGHTS_PER_UNIT_OF_LINES = 0.5
# Conditions that lower the loss by no more than this many times as much, for each unit, may all be due to chance. Of those that
# lower it by far more, this share of the optimism is left: that of placing thresholds.
BY_CHANCE = 2.0
CERTAIN = 1.0 / 3.0
# The largest leverage of what is left out.
MOST_LEVERAGE = 0.99
# With many classes, estimate the ridge from at most 25 evenly spaced path members: neighbours nearly agree.
MOST_ASKED = 25
# Groups are left out in batches whose arrays have at most this many numbers.
MOST_NUMBERS = 1 << 20


@dataclass(frozen=True, eq=False)
class Observations:
    """Targets, weights and offsets of distinct rows, and the loss.

    Attributes
    ----------
    y, weight : array of shape (n_rows,)
    loss : Loss
    offset : array or None
    frequency : array of shape (n_rows,) or None
        How many observations each row stands for, one of which is left out at a time; None for the weights.
    groups : Groups or None
        Groups of observations that are left out together, whatever the frequencies.
    """

    y: Vector
    weight: Vector
    loss: Loss
    offset: Matrix | None = None
    frequency: Vector | None = None
    groups: Groups | None = None

    @cached_property
    def constant_loss(self) -> float:
        """The loss of the best constant."""
        constant = np.array([self.loss.best_constant(self.y, self.weight)])
        if self.offset is not None:
            alike = FiringPatterns.of((), len(self.y)).with_offset(self.offset)
            constant = refit(alike, self.y, self.weight, self.loss, 0.0 * constant[0], constant)
        return self.total_loss(self.with_offset(np.repeat(constant, len(self.y), axis=0)))

    def with_offset(self, score: Matrix) -> Matrix:
        """Return scores with the offset added to them."""
        return score if self.offset is None else score + self.offset

    def total_loss(self, score: Matrix) -> float:
        """Return the loss of scores."""
        return float(np.add.reduce(self.weight * self.loss.value(self.y, score)))

    @cached_property
    def entries(self) -> Entries:
        """The parts of rows to leave out, by group if there are groups."""
        if self.groups is not None:
            sizes = np.bincount(self.groups.group)
            return Entries(self.groups.row, self.groups.weight, self.groups.weight, sizes, float(len(self.groups.key)))
        frequency = self.weight if self.frequency is None else self.frequency
        # An observation, or all of a row that is less than one.
        part, rows = self.weight / np.maximum(frequency, 1.0), np.arange(len(self.y), dtype=np.intp)
        return Entries(rows, part, self.weight, np.ones(len(self.y), dtype=np.intp), float(np.add.reduce(frequency)))


@dataclass(frozen=True, eq=False)
class Entries:
    """Parts of rows to leave out, those of a group together.

    Attributes
    ----------
    row : array of shape (n_entries,)
    part : array of shape (n_entries,)
        The weight that is left out.
    counted : array of shape (n_entries,)
        The weight with which the loss without it counts.
    sizes : array of shape (n_groups,)
        The number of entries of each group, one group after the other.
    n_observations : float
        The number of independent observations.
    """

    row: Positions
    part: Vector
    counted: Vector
    sizes: Positions
    n_observations: float

    def larger_groups(self, n_weights: int) -> Iterator[Positions]:
        """Yield the entries of groups of equal size, larger than one."""
        starts = np.cumsum(self.sizes) - self.sizes
        for size in np.unique(self.sizes[self.sizes > 1]).tolist():
            first = starts[self.sizes == size]
            at_a_time = max(1, MOST_NUMBERS // (n_weights * max(size, n_weights)))
            for begin in range(0, len(first), at_a_time):
                yield first[begin : begin + at_a_time, None] + np.arange(size)


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """An ensemble on rows, with weights in the units of a ridge."""

    patterns: Patterns
    weights: Matrix
    complexity: int

    @classmethod
    def of(cls, ensemble: RuleEnsemble, sample: Sample) -> FittedEnsemble:
        """Return an ensemble on some rows."""
        patterns, table = FiringPatterns.of_ensemble(ensemble, sample.X), ensemble.weight_table
        scale = factor_scales(ensemble, sample.X, sample.weight)
        if scale is None:
            return cls(patterns, table, ensemble.complexity)
        scaled = FiringPatterns(patterns.design / scale, patterns.pattern)
        return cls(scaled, (table.T * scale).T, ensemble.complexity)


def estimated_ridges(
    ensembles: Sequence[FittedEnsemble],
    rows: Observations,
    penalty: Callable[[float], Any],
    weights_per_unit: float,
    each: Callable[..., Iterable[Vector]] = map,
) -> list[float]:
    """Return the rising ridges of least expected loss for the ensembles of a path.

    The expected loss is that of the training rows, plus a multiple of what it would be more if each observation, or each
    group, were left out of the fit of the weights; ``penalty`` gives the ridge in units of the loss. A single ensemble says
    little about its own ridge, so those of a path must rise together. With many classes, at most `MOST_ASKED` ensembles are
    evaluated. Ensembles are evaluated independently: ``each`` is called like `map`.
    """
    ridges = ridges_for(float(np.add.reduce(rows.weight)))
    penalties = [penalty(ridge) for ridge in ridges]
    losses = partial(expected_losses, rows=rows, ridges=penalties, weights_per_unit=weights_per_unit)
    with_rules = [place for place, one in enumerate(ensembles) if len(one.weights) > 1]
    asked = with_rules
    if rows.loss.output_shape and len(with_rules) > MOST_ASKED:
        asked = [with_rules[one * (len(with_rules) - 1) // (MOST_ASKED - 1)] for one in range(MOST_ASKED)]
    if not asked:
        return [ridges[0]] * len(ensembles)
    rising = rising_places(np.array(list(each(losses, [ensembles[place] for place in asked]))))
    # An ensemble that was not evaluated has the ridge of the next smaller one that was; the constant has no weight to shrink.
    nearest = np.maximum(np.searchsorted(asked, np.arange(len(ensembles)), side="right") - 1, 0)
    return [ridges[rising[place]] for place in nearest]


def rising_places(losses: Matrix) -> list[int]:
    """Return rising places, one for each line, whose numbers have the least sum.

    >>> rising_places(np.array([[1.0, 2.0, 9.0], [5.0, 0.0, 3.0], [0.0, 1.0, 1.0]]))
    [0, 1, 1]
    """
    # The least sum up to each line if the place there is at most this one, and the place that has it.
    least, places = np.zeros(losses.shape[1]), []
    for line in losses:
        total = least + line
        best = np.array([int(np.argmin(total[: place + 1])) for place in range(len(total))])
        least = total[best]
        places.append(best)
    found = [len(least) - 1]
    for best in reversed(places):
        found.append(int(best[found[-1]]))
    return found[:0:-1]


def weights_per_unit(X: Block) -> float:
    """Return how many weights a unit of complexity counts as.

    The best of many conditions is optimistic in proportion to the logarithm of their number: on columns of few different
    values, much less than on measurements.
    """
    n_conditions = sum(len(np.unique(column)) - 1 for column in X.matrix.T)
    return WEIGHTS_PER_UNIT * math.log1p(n_conditions)


def ridges_for(n_rows: float) -> tuple[float, ...]:
    """Return the ridges to compare for a number of rows, by weight."""
    most = max(LARGEST_RIDGE, LARGEST_SHARE * n_rows)
    ridges = (LEAST_RIDGE * 2.0**power for power in range(1 + math.floor(math.log2(most / LEAST_RIDGE))))
    return tuple(ridge for ridge in ridges if ridge >= 1.0 or ridge * n_rows >= ROWS_FOR_LESS)


def expected_losses(one: FittedEnsemble, rows: Observations, ridges: Sequence[Any], weights_per_unit: float) -> Vector:
    """Return the expected loss of an ensemble on new rows for each of some ridges.

    The more the conditions lower the loss, the less of that is due to chance, and the less optimistic is the search for them.
    """
    if rows.loss.family == NO_FORMULA or rows.groups is not None:
        training, new = np.array([_left_out_loss(one, rows, ridge) for ridge in ridges]).T
    else:
        offset, entries = np.zeros(len(rows.y)) if rows.offset is None else rows.offset, rows.entries
        finder = weight_finder(one.patterns.of_rows(one.patterns.design).T, rows.y, rows.weight, offset, rows.loss, 0.0)
        penalties = np.array([float(ridge) for ridge in ridges])
        training, new = finder.left_out(one.weights, penalties, entries.part, entries.counted, TINY, MOST_LEVERAGE)
    # A path of ensembles has more of what can be computed again than memory holds.
    clear_cache(one.patterns)
    n = float(np.add.reduce(rows.weight))
    deviance = np.array([rows.loss.profile_deviance(float(total), n) for total in training])
    fall = np.maximum(rows.loss.profile_deviance(rows.constant_loss, n) - deviance, 0.0)
    gained = 0.5 * min(rows.entries.n_observations / n, 1.0) * fall
    by_chance = np.clip(BY_CHANCE * weights_per_unit * one.complexity / np.maximum(gained, TINY), CERTAIN, 1.0)
    weights_per_rule = by_chance * weights_per_unit * one.complexity / (len(one.weights) - 1)
    return np.asarray(training + weights_per_rule * np.maximum(new - training, 0.0))


def _left_out_loss(one: FittedEnsemble, rows: Observations, ridge: Any) -> tuple[float, float]:
    patterns = one.patterns.with_offset(rows.offset)
    weights = refit(patterns, rows.y, rows.weight, rows.loss, ridge, one.weights, tolerance=JUDGED)
    score = rows.with_offset(one.patterns.scores(weights))
    entries, left_out = rows.entries, left_out_scores(one, rows, weights, score, ridge)
    return rows.total_loss(score), float(np.add.reduce(entries.counted * rows.loss.value(rows.y[entries.row], left_out)))


def left_out_scores(one: FittedEnsemble, rows: Observations, weights: Matrix, score: Matrix, ridge: Any) -> Matrix:
    """Return the score of each entry left out of the fit, by one Newton step.

    Exact for the squared loss. With many classes, the step is taken for each class by itself.
    """
    row, shape = rows.entries.row, (len(rows.y), -1)
    gradient = rows.loss.gradient(rows.y, score).reshape(shape)
    hessian = rows.loss.hessian(score).reshape(shape)
    ridges, free = np.atleast_1d(ridge), free_weights(weights).reshape(len(weights), -1)
    shifts = [_shift(one, rows, gradient[:, k], hessian[:, k], float(ridges[k]), free[:, k]) for k in range(len(ridges))]
    return np.asarray(score[row] + np.column_stack(shifts).reshape(score[row].shape))


def _shift(one: FittedEnsemble, rows: Observations, gradient: Vector, hessian: Vector, ridge: float, free: Mask) -> Vector:
    """Return the changes of scores when entries are left out."""
    design, by_pattern, entries = one.patterns.design[:, free], one.patterns.sums(rows.weight * hessian), rows.entries
    pull, curved = entries.part * gradient[entries.row], entries.part * hessian[entries.row]
    white = one.patterns.of_rows(whitened(design, by_pattern, ridge))[entries.row]
    spread = np.einsum("ei,ei->e", white, white)
    shift = spread * pull / (1.0 - np.minimum(spread * curved, MOST_LEVERAGE))
    for members in entries.larger_groups(design.shape[1]):
        shift[members] = _shift_of_groups(white[members], pull[members], curved[members])
    return np.asarray(shift)


def _shift_of_groups(white: Vector, pull: Vector, curved: Vector) -> Vector:
    """Return the shifts of groups, shape (n_groups, size)."""
    own = np.einsum("gei,ge,gej->gij", white, curved, white)
    step = np.einsum("gei,ge->gi", white, pull)
    identity = np.eye(own.shape[1])
    # Only where this sum is large can an eigenvalue, the leverage in some direction, be too large; few groups are like that.
    heavy = np.trace(own, axis1=1, axis2=2) > MOST_LEVERAGE
    step[~heavy] = np.linalg.solve(identity - own[~heavy], step[~heavy, :, None])[:, :, 0]
    leverage, direction = np.linalg.eigh(own[heavy])
    along = np.einsum("gij,gi->gj", direction, step[heavy]) / (1.0 - np.minimum(leverage, MOST_LEVERAGE))
    step[heavy] = np.einsum("gij,gj->gi", direction, along)
    return np.asarray(np.einsum("gei,gi->ge", white, step))
