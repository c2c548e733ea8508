"""Feasible changes: which prediction is the goal, where a row may move, and how far a row has moved."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Mask, Matrix, Vector
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.classes import class_code
from obliquerules.inspection.variables import Numbers, Values, mask_of, value_of, value_text, with_given, with_values
from obliquerules.parameters import check_real
from obliquerules.rules import Block, Column, Model
from obliquerules.rules.numbers import readable

# Larger whole numbers are taken for measurements that happen to have no decimals.
LARGEST_WHOLE = 1e6
# Columns of these kinds stay whole, whatever their size, if all of their values are: 0 and 1, days and seconds.
WHOLE_KINDS = ("flag", "date", "time")
# The words of a goal that leaves open which of many classes is predicted.
ANOTHER_CLASS = "another class"
# Distances that differ by less are the same: an absolute difference up to a distance of one, a relative one beyond.
SAME_DISTANCE = 1e-6


def same_distance(distance: float) -> float:
    """Return by how much another distance may differ from this one and still count as the same."""
    return SAME_DISTANCE * max(1.0, distance)


@dataclass(frozen=True)
class Goal:
    """The prediction that is wanted.

    Attributes
    ----------
    met : callable
        Takes an array of scores and says for each whether it gives this prediction. Must be monotone in the score. With many
        classes, the array has a column for each, and the answer must be monotone in every difference between the score of one
        class and that of another.
    direction : float
        1.0 if higher scores, or differences, are better, else -1.0.
    words : str
        The wanted prediction in words.
    of : int, optional
        With many classes, the one whose score is compared with those of the others.
    probability : float, optional
        With many classes, the probability of this one that is to be exceeded or, downward, not to be reached.
    """

    met: Callable[[Vector], Mask]
    direction: float
    words: str
    of: int | None = None
    probability: float | None = None

    def by(self, score: float) -> bool:
        """Say whether one score gives the prediction."""
        return bool(self.met(np.array([score]))[0])


@dataclass(frozen=True, eq=False)
class Feasible:
    """The region in which a row may move.

    Attributes
    ----------
    x : array of shape (n_features,)
        The row itself, as in a block: codes of levels, and NaN where a value is missing.
    lower, upper : array of shape (n_features,)
        The bounds of each variable; those of a fixed variable are both its value.
    unit : array of shape (n_features,)
        The standard deviation of each variable, positive where it may move.
    cost : array of shape (n_features,)
        The cost of a change by one unit, or to another level.
    whole : array of shape (n_features,)
        Which variables take whole numbers only; their values in x and their bounds are whole.
    choices : dict of int to tuple of float
        For columns with levels, the codes that they may take instead of their own.
    unknown : dict of int to float
        The columns of numbers whose value is missing in x and may become known, and the value from which its distance counts.
    start : float
        The distance of x itself: that of the values that have become known.
    """

    x: Vector
    lower: Vector
    upper: Vector
    unit: Vector
    cost: Vector
    whole: Mask
    choices: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    unknown: Mapping[int, float] = field(default_factory=dict)
    start: float = 0.0

    @property
    def free(self) -> Mask:
        """The columns of numbers that may change."""
        return (self.lower < self.upper) & ~np.isnan(self.x)

    def distances(self, rows: Matrix) -> Vector:
        """Return how far each row is from x."""
        steps = np.abs(rows - self.x)[:, self.free] / self.unit[self.free]
        total = self.start + np.asarray((steps * self.cost[self.free]).sum(axis=1), dtype=np.float64)
        for column in self.choices:
            total += self.cost[column] * ~_same(rows[:, column], self.x[column])
        return total

    def distance(self, row: Vector) -> float:
        """Return how far one row is from x."""
        return float(self.distances(row[None, :])[0])

    def moved(self, row: Vector) -> list[int]:
        """Return the columns in which a row differs from x."""
        return np.flatnonzero(~_same(row, self.x)).tolist()

    def nearest(self, rows: Matrix) -> Matrix:
        """Return for each row the nearest point of the region; what it may not be, or lacks, is as in x."""
        known = np.where(np.isnan(rows), self.x, rows)
        numbers = np.clip(np.where(self.whole, np.round(known), known), self.lower, self.upper)
        found = np.where(self.free, numbers, self.x)
        for column, codes in self.choices.items():
            found[:, column] = np.where(np.isin(rows[:, column], codes), rows[:, column], self.x[column])
        return found

    def with_known(self, columns: Iterable[int]) -> Feasible:
        """Return the region in which the missing values of some columns have become known, and those of no others can."""
        x, start = self.x.copy(), self.start
        for column in columns:
            x[column] = self.unknown[column]
            start += float(self.cost[column])
        return replace(self, x=x, unknown={}, start=start)

    def regions(self, used: Iterable[int]) -> list[Feasible]:
        """Return the regions with each choice of missing values that become known among the used columns, the closest first."""
        unknown = sorted(set(self.unknown) & set(used))
        choices = itertools.chain.from_iterable(itertools.combinations(unknown, size) for size in range(len(unknown) + 1))
        return sorted((self.with_known(columns) for columns in choices), key=lambda region: region.start)


def _same(values: Vector, others: Vector | float) -> Mask:
    """Say which values are equal, or both missing."""
    return np.asarray((values == others) | (np.isnan(values) & np.isnan(others)))


def goal_for(
    model: Model,
    row: Matrix | Block,
    above: float | None,
    below: float | None,
    to: Any = None,
    given: Vector | None = None,
) -> Goal:
    """Return the wanted prediction: one above or below a given value or, for a classifier without a value, another class.

    Parameters
    ----------
    model : Model
    row : Block, or array of shape (1, n_features)
    above, below : float or None
        With many classes, about the probability of the class ``to``.
    to : object, optional
        The label of the class that is wanted; by default, any other than the predicted one.
    given : array of shape (1,) or (1, n_classes), optional
        The exposure or the offset of the row, which a model that has one needs.
    """
    given = model_offset(model, given, 1)
    wanted = None if to is None else class_code(model, "to", to)
    bounded = above is not None or below is not None
    if model.labels is None:
        return _beyond(model, above, below, given)
    now = int(model.codes(model.scores(row, given))[0])
    if model.has_many_classes:
        return _goal_of_many(model, above, below, now, wanted)
    if bounded:
        if wanted is not None:
            raise ValueError(f"above and below are about the probability of {model.labels.word()}; to cannot be given as well.")
        goal = _beyond(model, above, below)
        return Goal(goal.met, goal.direction, f"one with a probability of {model.labels.word()} {goal.words}")
    if (1 - now if wanted is None else wanted) == 0:
        return Goal(lambda score: score <= 0.0, -1.0, model.labels.word(0))
    return Goal(lambda score: score > 0.0, 1.0, model.labels.word(1))


def _goal_of_many(model: Model, above: float | None, below: float | None, now: int, wanted: int | None) -> Goal:
    """Return the goal for one of many classes, for any but the present one, or for a probability of one."""
    if above is None and below is None:
        if wanted is None:
            return Goal(lambda scores: model.codes(scores) != now, -1.0, ANOTHER_CLASS, now)
        return Goal(lambda scores: model.codes(scores) == wanted, 1.0, model.class_word(wanted), wanted)
    if wanted is None:
        raise ValueError("With many classes, above and below are about the probability of one of them: name it with to.")
    goal = _beyond(model, above, below, of=wanted)
    words = f"one with a probability of {model.class_word(wanted)} {goal.words}"
    return Goal(goal.met, goal.direction, words, wanted, above if below is None else below)


def _beyond(model: Model, above: float | None, below: float | None, given: Vector | None = None, of: int | None = None) -> Goal:
    if (above is None) == (below is None):
        raise ValueError("Say either above or below which value the prediction is to be: one of them must be given.")
    word, value, direction = ("greater", above, 1.0) if above is not None else ("less", below, -1.0)
    check_real("above" if above is not None else "below", value, -np.inf)
    limit, columns = float(value or 0.0), ... if of is None else (..., of)
    return Goal(
        lambda score: direction * model.means(score, given)[columns] > direction * limit,
        direction,
        f"{word} than {readable(limit)}",
    )


def feasible_region(
    model: Model,
    x: Vector,
    rows: Block,
    *,
    fixed: Collection[str | int],
    whole: Collection[str | int] | None,
    lower: Values,
    upper: Values,
    cost: Numbers,
    fill: Collection[str | int] = (),
) -> Feasible:
    """Return the region in which a row may move; raise if the row itself lies outside.

    Parameters
    ----------
    model : Model
    x : array of shape (n_features,)
        The row, as in a block.
    rows : Block
        Rows that show how much each variable varies.
    fixed, whole, lower, upper, cost, fill
        See `RuleModel.closest_change`.
    """
    missing, special = np.isnan(x), dict(model.columns.special)
    levels, flags, times = (
        np.array([j in special and says(special[j]) for j in range(len(x))], dtype=np.bool_)
        for says in (lambda one: one.levels is not None, lambda one: one.kind in WHOLE_KINDS, lambda one: one.kind == "time")
    )
    values = np.vstack([x, rows.matrix])
    is_whole = np.isnan(values) | (values == np.rint(values))
    # In one memory layout: the last bits of a sum are those of its order, whatever frame the rows come from.
    deviations = np.asarray(np.asfortranarray(rows.matrix).std(axis=0), dtype=np.float64)
    for column in rows.incomplete:
        present = _present(rows, column)
        deviations[column] = present.std() if present.size else 0.0
    unit = np.where(levels, 1.0, deviations)
    still = (unit == 0.0) | mask_of(model, "fixed", fixed) | (missing & ~mask_of(model, "fill", fill))
    counts = (is_whole & ~(np.abs(values) > LARGEST_WHOLE)).all(axis=0) & ~times
    integral = counts if whole is None else mask_of(model, "whole", whole)
    integral = (integral | (flags & is_whole.all(axis=0))) & ~still & ~levels
    least, most = _bounds(model, values, levels, lower, upper)
    least, most = np.where(integral, np.ceil(least), least), np.where(integral, np.floor(most), most)
    costs = with_given(model, "cost", cost, np.ones(len(x)))
    if not ((costs > 0.0) & (costs < np.inf)).all():
        raise ValueError(f"cost must be a finite number above 0 for each variable; got {dict(cost)!r}.")
    outside = (least > x) | (most < x) | (integral & ~missing & (x != np.round(x)))
    for column in np.flatnonzero(~still & outside).tolist():
        raise ValueError(_outside(model.columns[column], x[column], (least[column], most[column]), bool(integral[column])))
    choices, unknown = {}, {}
    for column in np.flatnonzero(~still & (levels | missing)).tolist():
        present, low, high = _present(rows, column), least[column], most[column]
        if levels[column]:
            codes = np.unique(present)
            choices[column] = tuple(codes[(codes >= max(low, 0.0)) & (codes <= high) & (codes != x[column])].tolist())
        else:
            middle = float(np.median(present))
            unknown[column] = float(np.clip(np.round(middle) if integral[column] else middle, low, high))
    stays = still | levels
    return Feasible(x, np.where(stays, x, least), np.where(stays, x, most), unit, costs, integral, choices, unknown)


def _present(rows: Block, column: int) -> Vector:
    values = rows.matrix[:, column]
    return np.asarray(values[~np.isnan(values)])


def _bounds(model: Model, values: Matrix, levels: Mask, lower: Values, upper: Values) -> list[Vector]:
    """Return the least and the greatest value of each variable; for ordered levels, their codes."""
    ends = [np.where(levels, end, extreme.reduce(values, axis=0)) for extreme, end in ((np.fmin, -np.inf), (np.fmax, np.inf))]
    bounds = [with_values(model, "lower", lower, ends[0]), with_values(model, "upper", upper, ends[1])]
    for parameter, bound in zip(("lower", "upper"), bounds, strict=True):
        for column in np.flatnonzero(levels & np.isfinite(bound)).tolist():
            if not model.columns[column].ordered:
                raise ValueError(f"{parameter} of {model.feature_names[column]!r} says nothing: its levels have no order.")
    return bounds


def _outside(column: Column, x: float, bounds: tuple[float, float], integral: bool) -> str:
    """Return the sentence that refuses a row outside of the bounds."""
    if column.levels:
        bounds = tuple(np.clip(bounds, 0, len(column.levels) - 1))
    said, low, high = (
        readable(end) if np.isinf(end) else value_text(value_of(column, float(end)), rounded=True) for end in (x, *bounds)
    )
    units = " in whole numbers" if integral and column.kind == "number" else ""
    return f"x has {said} in '{column.name}', whose range is {low} to {high}{units}."
