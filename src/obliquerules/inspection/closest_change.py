"""Closest change: the least change to the inputs of one row that gives the wanted prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.inspection.change_search import Room, Search, Wish, same_distance
from obliquerules.rules import Model
from obliquerules.rules.decimals.numbers import in_full, readable, rounded_to, shortest_decimal, significant_digits
from obliquerules.rules.records import Records, aligned
from obliquerules.rules.style import column_names

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class VariableChange:
    """The change of one variable.

    Attributes
    ----------
    variable : str
    before, after : float
    distance : float
        Its share of the distance.
    """

    variable: str
    before: float
    after: float
    distance: float


@dataclass(frozen=True)
class ClosestChange(Records[VariableChange]):
    """The closest change of inputs that gives the wanted prediction; prints as a short text.

    The distance is the sum of the absolute changes, each in standard deviations of its variable and multiplied by its cost.

    Attributes
    ----------
    changes : tuple of VariableChange
        The variables that change; empty if the row has the wanted prediction already, or if no change was found.
    row : tuple of float or None
        All inputs after the change; None if no change was found.
    distance : float
        Infinite if no change was found.
    bound : float
        No change within the given ranges and below this distance gives the wanted prediction. Infinite if no change does.
    proven : bool
        Whether the search was completed. If so, the distance is the least possible, up to a millionth and the given
        tolerance. If not, there may be a closer change.
    before, after : object
        The predictions.
    wanted : str
        The wanted prediction in words.
    limited : bool
        Whether the search ended because of ``max_steps``.
    """

    changes: tuple[VariableChange, ...]
    row: tuple[float, ...] | None
    distance: float
    bound: float
    proven: bool
    before: Any
    after: Any
    wanted: str
    limited: bool = False

    def _records(self) -> tuple[VariableChange, ...]:
        return self.changes

    def __str__(self) -> str:
        now = f"The prediction is {_prediction_text(self.before)}"
        if self.row is None:
            if self.proven:
                return f"{now}. No change within the given ranges makes it {self.wanted}."
            why = (
                "not all were tried: raise max_steps"
                if self.limited
                else "one so close to its bounds that rounding hides it may exist"
            )
            return f"{now}. No change was found that makes it {self.wanted}, but {why}."
        if not self.changes:
            return f"{now}: it is {self.wanted} already."
        table = aligned([(f"  {c.variable}:", f"{in_full(c.before)} -> {in_full(c.after)}", _size(c)) for c in self.changes])
        return f"{now}. To make it {self.wanted}, change\n{table}\n{self._certificate()}"

    def _certificate(self) -> str:
        size = f"That is a distance of {readable(self.distance)} standard deviations in all"
        if not self.proven:
            return (
                f"{size}. It is the best that was found, and not proven to be the closest: none is below {_floor(self.bound)}."
            )
        if self.distance <= self.bound + 2.0 * same_distance(self.bound):
            return f"{size}, and no smaller change within the given ranges does it."
        return f"{size}; none of less than {_floor(self.bound)} within the given ranges does it."


def _prediction_text(prediction: Any) -> str:
    return readable(prediction) if isinstance(prediction, float) else repr(prediction)


def _size(change: VariableChange) -> str:
    difference = change.after - change.before
    sign = "-" if difference < 0.0 else "+"
    return f"({sign}{readable(abs(difference))}, {readable(change.distance)} standard deviations)"


def _floor(bound: float) -> str:
    """Return a short number that is certainly not above the bound."""
    return readable(rounded_to(0.999 * bound, 4))


def closest_change(
    model: Model,
    room: Room,
    wish: Wish,
    rows: NDArray[np.float64],
    *,
    tolerance: float,
    max_steps: int,
) -> ClosestChange:
    """Search for the closest change."""
    ensemble = model.ensemble

    def predict(row: Vector) -> Any:
        return model.predict(row[None, :]).tolist()[0]

    search = Search(ensemble, room, wish, max_steps)
    search.run(rows)
    row = None if search.best is None else _shortened(search, tolerance)
    limited = search.n_steps >= max_steps and not search.proven
    found = ClosestChange((), None, math.inf, search.bound, search.proven, predict(room.x), None, wish.words, limited)
    if row is None:
        return found
    names = column_names(range(len(row)), ensemble.feature_names)
    changes = [
        VariableChange(names[j], float(room.x[j]), float(row[j]), float(abs(row[j] - room.x[j]) / room.unit[j] * room.cost[j]))
        for j in np.flatnonzero(row != room.x)
    ]
    distance = room.distance(row)
    changes.sort(key=lambda change: -change.distance)
    return replace(
        found,
        changes=tuple(changes),
        row=tuple(row.tolist()),
        distance=distance,
        bound=min(search.bound, distance),
        after=predict(row),
    )


def _shortened(search: Search, tolerance: float) -> Vector:
    """Return the best row in short decimals, as far as the tolerance on the distance allows."""
    room, row = search.room, np.array(search.best)
    moved = np.flatnonzero((row != room.x) & ~room.whole)
    allowed = max(tolerance, same_distance(search.least)) / max(1, len(moved))
    for j in moved:
        for value in _short_values(float(row[j]), float(allowed / room.cost[j] * room.unit[j]), float(room.x[j])):
            shorter = row.copy()
            shorter[j] = value
            if room.lower[j] <= value <= room.upper[j] and search.wanted(shorter):
                row = shorter
                break
    return row


def _short_values(value: float, reach: float, unchanged: float) -> Iterator[float]:
    """Yield numbers within reach of a value: the one before the change, if it is, and then the shortest ones on either side."""
    if abs(value - unchanged) <= reach:
        yield unchanged
    candidates = {
        shortest_decimal(value - reach, value + reach),
        shortest_decimal(value, value + reach),
        shortest_decimal(value - reach, value),
    }
    yield from sorted(candidates, key=lambda number: (significant_digits(number), abs(number - value)))
