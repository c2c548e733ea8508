"""Change requests: the prediction that is wanted for a row instead of its own, and the region in which the row may move."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.change_search import Room, Wish
from obliquerules.inspection.variables import Numbers, Vector, mask_of, with_given
from obliquerules.parameters import check_real
from obliquerules.rules import Model
from obliquerules.rules.decimals.numbers import readable

# Larger whole numbers are taken for measurements that happen to have no decimals.
LARGEST_WHOLE = 1e6


def wish_for(model: Model, row: NDArray[np.float64], above: float | None, below: float | None) -> Wish:
    """Return the wanted prediction: one above or below a given value or, for a classifier without a value, the other class."""
    if model.labels is None:
        return _beyond(model, above, below)
    if above is not None or below is not None:
        wish = _beyond(model, above, below)
        return Wish(wish.met, wish.direction, f"one with a probability of {model.labels.word()} {wish.words}")
    if model.scores(row)[0] > 0.0:
        return Wish(lambda score: score <= 0.0, -1.0, model.labels.word(0))
    return Wish(lambda score: score > 0.0, 1.0, model.labels.word(1))


def _beyond(model: Model, above: float | None, below: float | None) -> Wish:
    if (above is None) == (below is None):
        raise ValueError("Say either above or below which value the prediction is to be: one of them must be given.")
    word, value, direction = ("greater", above, 1.0) if above is not None else ("less", below, -1.0)
    check_real("above" if above is not None else "below", value, -np.inf)
    limit, inverse_link = float(value or 0.0), model.loss.inverse_link
    return Wish(lambda score: direction * inverse_link(score) > direction * limit, direction, f"{word} than {readable(limit)}")


def _whole_columns(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns hold nothing but whole numbers, small enough to be counts, codes or flags."""
    return np.asarray(((rows == np.rint(rows)) & (np.abs(rows) <= LARGEST_WHOLE)).all(axis=0))


def room_for(
    model: Model,
    x: Vector,
    rows: NDArray[np.float64],
    *,
    fixed: Collection[str | int],
    whole: Collection[str | int] | None,
    lower: Numbers,
    upper: Numbers,
    cost: Numbers,
) -> Room:
    """Return the region in which a row may move; raise if the row itself lies outside."""
    unit = rows.std(axis=0)
    integral = _whole_columns(np.vstack([x, rows])) if whole is None else mask_of(model, "whole", whole)
    still = (unit == 0.0) | mask_of(model, "fixed", fixed)
    least = with_given(model, "lower", lower, np.minimum(rows.min(axis=0), x))
    most = with_given(model, "upper", upper, np.maximum(rows.max(axis=0), x))
    least, most = np.where(integral, np.ceil(least), least), np.where(integral, np.floor(most), most)
    costs = with_given(model, "cost", cost, np.ones(len(x)))
    if not ((costs > 0.0) & (costs < np.inf)).all():
        raise ValueError(f"cost must be a finite number above 0 for each variable; got {dict(cost)!r}.")
    for column in np.flatnonzero(~still & ((least > x) | (most < x) | (integral & (x != np.round(x))))).tolist():
        bounds = f"{readable(least[column])} to {readable(most[column])}{' in whole numbers' * int(integral[column])}"
        raise ValueError(f"x has {readable(x[column])} in '{model.feature_names[column]}', whose range is {bounds}.")
    return Room(x, np.where(still, x, least), np.where(still, x, most), unit, costs, integral & ~still)
