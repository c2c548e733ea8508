"""Change requests: the prediction that is wanted for a row instead of its own, and the region in which the row may move."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.classes import class_code
from obliquerules.inspection.closest.feasible import ANOTHER_CLASS, Feasible, Goal
from obliquerules.inspection.variables import Numbers, Values, mask_of, value_of, value_text, with_given, with_values
from obliquerules.parameters import check_real
from obliquerules.rules import Block, Column, Columns, Model
from obliquerules.rules.numbers import readable

# Larger whole numbers are taken for measurements that happen to have no decimals.
LARGEST_WHOLE = 1e6
# Columns of these kinds stay whole, whatever their size, if all of their values are: 0 and 1, days and seconds.
WHOLE_KINDS = ("flag", "date", "time")


def goal_for(
    model: Model,
    row: NDArray[np.float64] | Block,
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
        return _probable(model, above, below, wanted) if bounded else _class(model, now, wanted)
    if bounded:
        if wanted is not None:
            raise ValueError(f"above and below are about the probability of {model.labels.word()}; to cannot be given as well.")
        goal = _beyond(model, above, below)
        return Goal(goal.met, goal.direction, f"one with a probability of {model.labels.word()} {goal.words}")
    if (1 - now if wanted is None else wanted) == 0:
        return Goal(lambda score: score <= 0.0, -1.0, model.labels.word(0))
    return Goal(lambda score: score > 0.0, 1.0, model.labels.word(1))


def _class(model: Model, now: int, wanted: int | None) -> Goal:
    """Return the goal for one of many classes, or for any but the present one."""
    if wanted is None:
        return Goal(lambda scores: model.codes(scores) != now, -1.0, ANOTHER_CLASS, now)
    return Goal(lambda scores: model.codes(scores) == wanted, 1.0, model.class_word(wanted), wanted)


def _probable(model: Model, above: float | None, below: float | None, wanted: int | None) -> Goal:
    """Return the goal for a greater or lower probability of one of many classes: it rises with every lead of its score."""
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
    columns, missing = model.columns, np.isnan(x)
    levels = _mask(columns, lambda column: column.levels is not None)
    unit = np.where(levels, 1.0, _deviations(rows))
    still = (unit == 0.0) | mask_of(model, "fixed", fixed) | (missing & ~mask_of(model, "fill", fill))
    integral = _whole_columns(columns, x, rows) if whole is None else mask_of(model, "whole", whole)
    integral = (integral | _whole_by_kind(columns, x, rows)) & ~still & ~levels
    least, most = _bounds(model, x, rows, levels, lower, upper)
    least, most = np.where(integral, np.ceil(least), least), np.where(integral, np.floor(most), most)
    costs = with_given(model, "cost", cost, np.ones(len(x)))
    if not ((costs > 0.0) & (costs < np.inf)).all():
        raise ValueError(f"cost must be a finite number above 0 for each variable; got {dict(cost)!r}.")
    outside = (least > x) | (most < x) | (integral & ~missing & (x != np.round(x)))
    for column in np.flatnonzero(~still & outside).tolist():
        raise ValueError(_outside(model, column, x, least, most, bool(integral[column])))
    choices = {column: _choices(rows, x, column, least, most) for column in np.flatnonzero(levels & ~still).tolist()}
    unknown = {
        column: _middle(rows, column, least, most, bool(integral[column]))
        for column in np.flatnonzero(missing & ~still & ~levels).tolist()
    }
    stays = still | levels
    return Feasible(x, np.where(stays, x, least), np.where(stays, x, most), unit, costs, integral, choices, unknown)


def _mask(columns: Columns, says: Callable[[Column], bool]) -> Mask:
    """Return which columns are as a function says; plain numbers never are."""
    found = np.zeros(len(columns), dtype=np.bool_)
    for index, column in columns.special:
        found[index] = says(column)
    return found


def _deviations(rows: Block) -> Vector:
    """Return the standard deviation of the values of each column that are not missing, zero if all are."""
    # In one memory layout: the last bits of a sum are those of its order, whatever frame the rows come from.
    deviations = np.asarray(np.asfortranarray(rows.matrix).std(axis=0), dtype=np.float64)
    for column in rows.incomplete:
        present = _present(rows, column)
        deviations[column] = present.std() if present.size else 0.0
    return deviations


def _present(rows: Block, column: int) -> Vector:
    values = rows.matrix[:, column]
    return np.asarray(values[~np.isnan(values)])


def _whole_columns(columns: Columns, x: Vector, rows: Block) -> Mask:
    """Return which columns hold nothing but whole numbers, small enough to be counts, codes or flags."""
    values = np.vstack([x, rows.matrix])
    small = np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE))
    return np.asarray(small.all(axis=0)) & ~_mask(columns, lambda column: column.kind == "time")


def _whole_by_kind(columns: Columns, x: Vector, rows: Block) -> Mask:
    """Return which columns hold flags, dates or times, all of them whole."""
    found = _mask(columns, lambda column: column.kind in WHOLE_KINDS)
    for column in np.flatnonzero(found).tolist():
        values = np.append(_present(rows, column), x[column])
        found[column] = bool((np.isnan(values) | (values == np.rint(values))).all())
    return found


def _bounds(model: Model, x: Vector, rows: Block, levels: Mask, lower: Values, upper: Values) -> tuple[Vector, Vector]:
    """Return the least and the greatest value of each variable; for ordered levels, their codes."""
    least, most = np.fmin(np.fmin.reduce(rows.matrix, axis=0), x), np.fmax(np.fmax.reduce(rows.matrix, axis=0), x)
    least, most = np.where(levels, -np.inf, least), np.where(levels, np.inf, most)
    bounds = []
    for parameter, given, ends in (("lower", lower, least), ("upper", upper, most)):
        bounds.append(with_values(model, parameter, given, ends))
        for column in np.flatnonzero(levels & np.isfinite(bounds[-1])).tolist():
            if not model.columns[column].ordered:
                raise ValueError(f"{parameter} of {model.feature_names[column]!r} says nothing: its levels have no order.")
    return bounds[0], bounds[1]


def _outside(model: Model, column: int, x: Vector, least: Vector, most: Vector, integral: bool) -> str:
    """Return the sentence that refuses a row outside of the bounds."""
    one, ends = model.columns[column], (least[column], most[column])
    if one.levels:
        ends = np.clip(ends, 0, len(one.levels) - 1)
    low, high = (_end(one, end) for end in ends)
    bounds = f"{low} to {high}{' in whole numbers' * (integral and one.kind == 'number')}"
    return f"x has {_end(one, x[column])} in '{one.name}', whose range is {bounds}."


def _end(column: Column, number: float) -> str:
    return readable(number) if np.isinf(number) else value_text(value_of(column, float(number)), rounded=True)


def _choices(rows: Block, x: Vector, column: int, least: Vector, most: Vector) -> tuple[float, ...]:
    """Return the levels, seen in fit and in the rows, that a column may take instead of its own."""
    codes = np.unique(_present(rows, column))
    allowed = (codes >= 0.0) & (codes >= least[column]) & (codes <= most[column]) & (codes != x[column])
    return tuple(codes[allowed].tolist())


def _middle(rows: Block, column: int, least: Vector, most: Vector, integral: bool) -> float:
    """Return the value from which the distance of a value counts that was missing: the median."""
    middle = float(np.median(_present(rows, column)))
    return float(np.clip(np.round(middle) if integral else middle, least[column], most[column]))
