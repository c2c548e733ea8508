"""Closest change: the least change to the inputs of one row that gives the wanted prediction."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.data.offsets import model_offset
from obliquerules.inspection.closest.feasible import ANOTHER_CLASS, Feasible, Goal, same_distance
from obliquerules.inspection.closest.search import ChangeSearch, search_all
from obliquerules.inspection.variables import Facts, Value, days_text, value_text
from obliquerules.rules import Block, Model
from obliquerules.rules.columns import DAY, Level
from obliquerules.rules.numbers import readable, rounded_to, shortest_decimal, significant_digits
from obliquerules.rules.text.records import Records, TextTable

# How changes without a difference count.
KINDS = (
    "another level counts as one",
    "a level that was missing counts as one",
    "a number that was missing counts as one and its distance from the median",
)


@dataclass(frozen=True)
class VariableChange:
    """The change of one variable.

    Attributes
    ----------
    variable : str
    before, after : float, str, int, bool, date, time, duration or None
        The values; None where the value was missing.
    distance : float
        Its share of the distance.
    """

    variable: str
    before: Value
    after: Value
    distance: float

    @property
    def step(self) -> str | None:
        """The difference in words; None if the values have none."""
        before, after = self.before, self.after
        if isinstance(before, float) and isinstance(after, float):
            return f"{'-' if after < before else '+'}{readable(abs(after - before))}"
        if isinstance(before, datetime.date) and isinstance(after, datetime.date):
            before, after = (
                moment if isinstance(moment, datetime.datetime) else datetime.datetime.combine(moment, datetime.time())
                for moment in (before, after)
            )
            return _days(after - before)
        if isinstance(before, datetime.timedelta) and isinstance(after, datetime.timedelta):
            return _days(after - before)
        return None

    @property
    def size(self) -> str:
        """The difference and the distance in words."""
        if self.step is None:
            return f"(counts as {readable(self.distance)})"
        return f"({self.step}, {_deviations(self.distance)})"

    @property
    def counts_as(self) -> str:
        """How a change without a difference counts; empty if it has one."""
        if self.step is not None:
            return ""
        if self.before is not None:
            return KINDS[0]
        if isinstance(self.after, float | datetime.date | datetime.timedelta):
            return KINDS[2]
        return KINDS[1]


@dataclass(frozen=True)
class ClosestChange(Records[VariableChange]):
    """The closest change of inputs that gives the wanted prediction; prints as a short text.

    The distance is the sum of the absolute changes, each in standard deviations of its variable and multiplied by its cost. A
    change from one level to another counts as one, whichever levels they are. A missing value that becomes known, if it may,
    counts as one, too, and a number moreover as its distance from the median.

    Attributes
    ----------
    changes : tuple of VariableChange
        The variables that change; empty if the row has the wanted prediction already, or if no change was found.
    row : tuple or None
        All inputs after the change: numbers, levels, dates, times and durations, and None where a value is missing. None if no
        change was found.
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
    row: tuple[Value, ...] | None
    distance: float
    bound: float
    proven: bool
    before: Any
    after: Any
    wanted: str
    limited: bool = False

    def _records(self) -> tuple[VariableChange, ...]:
        return self.changes

    def _parts(self) -> Iterator[str | TextTable]:
        now = f"The prediction is {_prediction_text(self.before)}"
        if self.row is None:
            hidden = "one so close to its bounds that rounding hides it may exist"
            why = (
                f"No change within the given ranges makes it {self.wanted}."
                if self.proven
                else f"No change was found that makes it {self.wanted}, but "
                f"{'not all were tried: raise max_steps' if self.limited else hidden}."
            )
            yield f"{now}. {why}"
        elif not self.changes:
            yield f"{now}: it is {self.wanted} already."
        else:
            yield f"{now}. To make it {self.wanted}, change"
            lines = [(f"{c.variable}:", f"{value_text(c.before)} -> {value_text(c.after)}", c.size) for c in self.changes]
            yield TextTable(lines, headed=False, indent="  ")
            yield self._certificate()

    def _certificate(self) -> str:
        kinds = ", ".join(kind for kind in KINDS if kind in {change.counts_as for change in self.changes})
        counting = f" ({kinds})" if kinds else ""
        size = f"That is a distance of {_deviations(self.distance)} in all{counting}"
        if not self.proven:
            return (
                f"{size}. It is the best that was found, and not proven to be the closest: none is below {_floor(self.bound)}."
            )
        if self.distance <= self.bound + 2.0 * same_distance(self.bound):
            return f"{size}, and no smaller change within the given ranges does it."
        return f"{size}; none of less than {_floor(self.bound)} within the given ranges does it."


def _days(difference: datetime.timedelta) -> str:
    days = difference.total_seconds() / DAY
    return f"{'-' if days < 0.0 else '+'}{days_text(abs(days))}"


def _prediction_text(prediction: Any) -> str:
    return readable(prediction) if isinstance(prediction, float) else repr(prediction)


def _deviations(distance: float) -> str:
    text = readable(distance)
    return f"{text} standard deviation{'' if text == '1' else 's'}"


def _floor(bound: float) -> str:
    """Return a short number that is certainly not above the bound."""
    return readable(rounded_to(0.999 * bound, 4))


def closest_change(
    model: Model,
    region: Feasible,
    goal: Goal,
    rows: NDArray[np.float64] | Block,
    *,
    tolerance: float,
    max_steps: int,
    words: Mapping[int, Level] = MappingProxyType({}),
    given: Vector | None = None,
) -> ClosestChange:
    """Search for the closest change.

    Parameters
    ----------
    model : Model
    region : Feasible
    goal : Goal
    rows : Block, or array of shape (n_samples, n_features)
        Where the search may start.
    tolerance, max_steps
        See `RuleModel.closest_change`.
    words : dict of int to str, int or bool, optional
        What levels of the row that were never seen in fit are called, by column.
    given : array of shape (1,) or (1, n_classes), optional
        The exposure or the offset of the row, which a model that has one needs; it does not change.
    """
    given = model_offset(model, given, 1)
    columns = model.ensemble.columns

    def predict(row: Vector) -> Any:
        return model.predict(Block(columns, row[None, :]), given).tolist()[0]

    ensemble, matrix = model.ensemble, rows.matrix if isinstance(rows, Block) else rows
    if given is not None and model.offset is not None and model.offset.kind == "offset":
        ensemble = ensemble.with_rules(ensemble.rules, np.asarray(ensemble.intercept) + given[0])
    outcome = search_all(ensemble, region, goal, matrix, max_steps)
    limited = outcome.n_steps >= max_steps and not outcome.proven
    found = ClosestChange((), None, math.inf, outcome.bound, outcome.proven, predict(region.x), None, goal.words, limited)
    if outcome.search is None:
        return found
    row = _shortened(outcome.search, tolerance)
    facts = Facts(Block(columns, np.vstack([region.x, row])), {(i, j): word for j, word in words.items() for i in (0, 1)})
    known, changes = outcome.search.region, []  # in which nothing more is missing
    for j in region.moved(row):
        share = float(region.cost[j]) if j in (*region.choices, *region.unknown) else 0.0
        if j not in region.choices:
            share += float(abs(row[j] - known.x[j]) / region.unit[j] * region.cost[j])
        changes.append(VariableChange(facts.column(j).name, facts.value(0, j), facts.value(1, j), share))
    distance, after = known.distance(row), predict(row)
    return replace(
        found,
        changes=tuple(sorted(changes, key=lambda change: -change.distance)),
        row=tuple(facts.value(1, column) for column in range(len(row))),
        distance=distance,
        bound=min(outcome.bound, distance),
        after=after,
        wanted=f"{ANOTHER_CLASS} ({_prediction_text(after)})" if goal.words == ANOTHER_CLASS else goal.words,
    )


def _shortened(search: ChangeSearch, tolerance: float) -> Vector:
    """Return the best row in short decimals, as far as the tolerance on the distance allows."""
    region, row = search.region, np.array(search.best)
    moved = np.flatnonzero((row != region.x) & ~region.whole & region.free).tolist()
    allowed = max(tolerance, same_distance(search.least)) / max(1, len(moved))
    for j in moved:
        value, unchanged, reach = float(row[j]), float(region.x[j]), float(allowed / region.cost[j] * region.unit[j])
        ends = ((value - reach, value + reach), (value, value + reach), (value - reach, value))
        short = {shortest_decimal(low, high) for low, high in ends}
        tried = sorted(short, key=lambda number: (significant_digits(number), abs(number - value)))
        for candidate in [unchanged] * (abs(value - unchanged) <= reach) + tried:
            shorter = row.copy()
            shorter[j] = candidate
            if region.lower[j] <= candidate <= region.upper[j] and search.wanted(shorter):
                row = shorter
                break
    return row
