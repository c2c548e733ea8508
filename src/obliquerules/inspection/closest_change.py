"""Closest change: the least change of the inputs of one row that gives the prediction that is wanted."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from obliquerules.inspection.table import Table, aligned
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.numbers import in_full, readable, shortest_decimal, significant_digits
from obliquerules.rules.style import PLAIN

Vector = NDArray[np.float64]
# For each distinct proposition: 1 if it must hold, 0 if it must not, -1 if nothing is said yet.
Assignment = tuple[int, ...]

# How far to stay clear of the thresholds, in standard deviations: none first, then as far as rounding may make necessary.
MARGINS = (0.0, 1e-9, 1e-7, 1e-5)
# Two distances closer than this, relatively, are the same: numbers are shortened within this bound.
SAME_DISTANCE = 1e-6


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
class ClosestChange(Table[VariableChange]):
    """The closest change of inputs that gives another prediction; prints as a short text.

    The distance is the sum of the absolute changes, each in standard deviations of its variable and multiplied by its cost.

    Attributes
    ----------
    changes : tuple of VariableChange
        The variables that change; empty if there is nothing to change, or no change that does it.
    row : tuple of float or None
        All inputs after the change; None if no change was found.
    distance : float
        Infinite if no change was found.
    bound : float
        No change of less than this distance, within the given ranges, gives the prediction that is wanted. Infinite if no
        change does.
    proven : bool
        Whether the search has come to its end. If so, the distance is the least there is, but for one part in a million and
        the tolerance that was given. If not, a closer change may have been missed.
    before, after : object
        The predictions.
    wanted : str
        What was wanted, in words.
    """

    changes: tuple[VariableChange, ...]
    row: tuple[float, ...] | None
    distance: float
    bound: float
    proven: bool
    before: Any
    after: Any
    wanted: str

    def _rows(self) -> tuple[VariableChange, ...]:
        return self.changes

    def __str__(self) -> str:
        now = f"The prediction is {_said(self.before)}"
        if self.row is None:
            if self.proven:
                return f"{now}. No change within the given ranges makes it {self.wanted}."
            return f"{now}. No change was found that makes it {self.wanted}, but not all were tried: raise max_steps."
        if not self.changes:
            return f"{now}: it is {self.wanted} already."
        table = aligned([(f"  {c.variable}:", f"{in_full(c.before)} -> {in_full(c.after)}", _told(c)) for c in self.changes])
        return f"{now}. To make it {self.wanted}, change\n{table}\n{self._certificate()}"

    def _certificate(self) -> str:
        size = f"That is a distance of {readable(self.distance)} standard deviations in all"
        if not self.proven:
            return (
                f"{size}. It is the best that was found, and not proven to be the closest: none is below {_floor(self.bound)}."
            )
        if self.distance <= self.bound * (1.0 + 2.0 * SAME_DISTANCE):
            return f"{size}, and no smaller change within the given ranges does it."
        return f"{size}; none of less than {_floor(self.bound)} within the given ranges does it."


def _said(prediction: Any) -> str:
    return readable(prediction) if isinstance(prediction, float) else repr(prediction)


def _told(change: VariableChange) -> str:
    return f"({PLAIN.signed(change.after - change.before)}, {readable(change.distance)} standard deviations)"


def _floor(bound: float) -> str:
    return f"{math.floor(bound * 1000.0) / 1000.0:g}"


@dataclass(frozen=True)
class Wish:
    """What prediction is wanted.

    Attributes
    ----------
    met : callable
        Says for each of an array of scores whether it gives this prediction. It must be monotone.
    direction : float
        1.0 if higher scores are better, else -1.0.
    words : str
        What is wanted.
    """

    met: Callable[[Vector], NDArray[np.bool_]]
    direction: float
    words: str

    def by(self, score: float) -> bool:
        """Say whether one score gives the prediction."""
        return bool(self.met(np.array([score]))[0])


@dataclass(frozen=True, eq=False)
class Room:
    """Where a row may move to.

    Attributes
    ----------
    x : array of shape (n_features,)
        Where it is.
    lower, upper : array of shape (n_features,)
        How far each value may go; a variable that is fixed has both at its value.
    unit : array of shape (n_features,)
        The standard deviation of each variable, positive where it may move.
    cost : array of shape (n_features,)
        What a change by one unit counts.
    """

    x: Vector
    lower: Vector
    upper: Vector
    unit: Vector
    cost: Vector

    @property
    def free(self) -> NDArray[np.bool_]:
        """The variables that may change."""
        return self.lower < self.upper

    def distances(self, rows: NDArray[np.float64]) -> Vector:
        """Return how far each row is from x."""
        steps = np.abs(rows - self.x)[:, self.free] / self.unit[self.free]
        return np.asarray((steps * self.cost[self.free]).sum(axis=1), dtype=np.float64)

    def distance(self, row: Vector) -> float:
        """Return how far one row is from x."""
        return float(self.distances(row[None, :])[0])

    def nearest(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows moved to where x may go."""
        return np.clip(rows, self.lower, self.upper)


@dataclass(order=True)
class _Node:
    """Some propositions that must or must not hold, and the closest point where they do so, or are about to."""

    bound: float
    order: int
    assignment: Assignment = field(compare=False)
    steps: Vector = field(compare=False)


class Search:
    """Best-first branch and bound over which propositions hold.

    A node says so for some of them. The closest point that agrees is a linear program, whose optimum bounds the distance
    of everything below the node. A node ends where what is said already decides the prediction.
    """

    def __init__(self, ensemble: RuleEnsemble, room: Room, wish: Wish, max_steps: int) -> None:
        self.ensemble, self.room, self.wish, self.max_steps = ensemble, room, wish, max_steps
        self.propositions = list(dict.fromkeys(p for rule in ensemble for p in rule.condition))
        index = {proposition: i for i, proposition in enumerate(self.propositions)}
        self.rules = [(rule.weight, [index[p] for p in rule.condition]) for rule in ensemble]
        used = {column for proposition in self.propositions for column in proposition.columns}
        self.columns = np.array([column for column in sorted(used) if room.free[column]], dtype=np.intp)
        self.n_steps = 0
        self.heap: list[_Node] = []
        self.best: Vector | None = None
        self.least = math.inf
        self.closed = math.inf  # the least bound of a node that led to the best row

    # What an assignment says about the score. Adding rounds monotonically: the extremes bound every score to the last bit.

    def _fires(self, rule: list[int], assignment: Assignment) -> bool | None:
        if any(assignment[p] == 0 for p in rule):
            return False
        return True if all(assignment[p] == 1 for p in rule) else None

    def _extreme(self, assignment: Assignment, direction: float) -> float:
        score = self.ensemble.intercept
        for weight, rule in self.rules:
            fires = self._fires(rule, assignment)
            if fires or (fires is None and weight * direction > 0.0):
                score += weight
        return score

    def _possible(self, assignment: Assignment) -> bool:
        return self.wish.by(self._extreme(assignment, self.wish.direction))

    def _certain(self, assignment: Assignment) -> bool:
        return self.wish.by(self._extreme(assignment, -self.wish.direction))

    # The linear programs. Steps are in standard deviations, and each inequality is scaled to a largest coefficient of one.

    @cached_property
    def _inequalities(self) -> tuple[NDArray[np.float64], Vector]:
        """The coefficients of the steps, and what they must add up to for each proposition to hold."""
        coefficients = np.zeros((len(self.propositions), self.room.x.size))
        for row, proposition in zip(coefficients, self.propositions, strict=True):
            row[list(proposition.columns)] = proposition.weights
        needed = np.array([p.threshold - p.project(self.room.x[None, :])[0] for p in self.propositions])
        coefficients = coefficients[:, self.columns] * self.room.unit[self.columns]
        scale = np.abs(coefficients).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return coefficients / scale[:, None], needed / scale

    def _settled(self, assignment: Assignment, steps: Vector) -> bool:
        """Say whether the steps lead to a point that agrees with the assignment."""
        coefficients, needed = self._inequalities
        for p, holds in enumerate(assignment):
            excess = coefficients[p] @ steps - needed[p]
            if (holds == 1 and excess < 0.0) or (holds == 0 and excess > 0.0):
                return False
        return True

    def _closest(self, assignment: Assignment, margin: float = 0.0) -> Vector | None:
        """Return the smallest steps to where propositions hold as they should, clear by a margin; None if there are none."""
        self.n_steps += 1
        coefficients, needed = self._inequalities
        said = np.array([p for p, holds in enumerate(assignment) if holds >= 0], dtype=np.intp)
        side = np.array([1.0 if assignment[p] == 1 else -1.0 for p in said])
        room, cost = self.room, self.room.cost[self.columns]
        left = -side[:, None] * coefficients[said]
        right = -side * needed[said] - margin
        if not self.columns.size:
            return np.empty(0) if (right >= 0.0).all() else None
        reach = np.concatenate([room.upper - room.x, room.x - room.lower]).reshape(2, -1)[:, self.columns]
        bounds = np.column_stack([np.zeros(2 * len(cost)), (reach / room.unit[self.columns]).ravel()])
        result = linprog(
            np.concatenate([cost, cost]),
            np.hstack([left, -left]),
            right,
            bounds=bounds,
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if result.x is None:
            return None
        return np.asarray(result.x[: len(cost)] - result.x[len(cost) :], dtype=np.float64)

    def _row(self, steps: Vector) -> Vector:
        row = self.room.x.copy()
        row[self.columns] += steps * self.room.unit[self.columns]
        return self.room.nearest(row)

    def _wanted(self, row: Vector) -> bool:
        return self.wish.by(float(self.ensemble(row[None, :])[0]))

    # The search itself.

    def run(self, rows: NDArray[np.float64]) -> None:
        """Search; the rows are places to start from."""
        if not self._possible(root := (-1,) * len(self.propositions)):
            return
        self._start_from(rows)
        self._push(root, np.zeros(len(self.columns)))
        while self.heap and not self.proven and self.n_steps < self.max_steps:
            node = heapq.heappop(self.heap)
            if self._wanted(row := self._row(node.steps)):
                self._keep(row, node.bound)
            elif self._certain(node.assignment):
                self._realise(node)
            else:
                self._branch(node)

    @property
    def proven(self) -> bool:
        """Whether nothing that is left can be closer than the best."""
        return not self.heap or self.heap[0].bound * (1.0 + SAME_DISTANCE) >= self.least

    @property
    def bound(self) -> float:
        """A distance below which there is nothing."""
        return min(self.closed, self.least, self.heap[0].bound if self.heap else math.inf)

    def _start_from(self, rows: NDArray[np.float64]) -> None:
        """Take the nearest of some rows that have the wanted prediction, as close as their firing pattern allows."""
        moved = np.tile(self.room.x, (len(rows), 1))
        moved[:, self.columns] = self.room.nearest(rows)[:, self.columns]
        moved = moved[self.wish.met(self.ensemble(moved))]
        if not len(moved):
            return
        row = moved[self.room.distances(moved).argmin()]
        self._keep(row, math.inf)
        assignment = tuple(int(proposition(row[None, :])[0]) for proposition in self.propositions)
        self._realise(_Node(math.inf, 0, assignment, np.empty(0)))

    def _realise(self, node: _Node) -> None:
        """Keep the closest row that agrees with a node, with the least margin that rounding leaves intact."""
        for margin in MARGINS:
            steps = self._closest(node.assignment, margin)
            if steps is not None and self._wanted(row := self._row(steps)):
                self._keep(row, node.bound)
                return

    def _keep(self, row: Vector, bound: float) -> None:
        distance = self.room.distance(row)
        if distance < self.least:
            self.best, self.least = row, distance
        self.closed = min(self.closed, bound)

    def _branch(self, node: _Node) -> None:
        proposition = self._undecided(node)
        for holds in (1, 0):
            assignment = (*node.assignment[:proposition], holds, *node.assignment[proposition + 1 :])
            if self._possible(assignment):
                steps = node.steps if self._settled(assignment, node.steps) else self._closest(assignment)
                if steps is not None:
                    self._push(assignment, steps)

    def _push(self, assignment: Assignment, steps: Vector) -> None:
        bound = float(np.abs(steps) @ self.room.cost[self.columns])
        if bound * (1.0 + SAME_DISTANCE) < self.least:
            heapq.heappush(self.heap, _Node(bound, self.n_steps, assignment, steps))

    def _undecided(self, node: _Node) -> int:
        """Return a proposition that is still open, of the rule that speaks loudest against the wish at the node's point."""
        row = self._row(node.steps)[None, :]
        holds = [bool(proposition(row)[0]) for proposition in self.propositions]
        undecided = []
        for weight, rule in self.rules:
            if self._fires(rule, node.assignment) is None:
                against = all(holds[p] for p in rule) != (weight * self.wish.direction > 0.0)
                still_open = [p for p in rule if node.assignment[p] < 0]
                # A condition that is not met is in the way of a rule that ought to fire.
                undecided.append((against, abs(weight), next((p for p in still_open if not holds[p]), still_open[0])))
        return max(undecided)[-1]


def closest_change(
    ensemble: RuleEnsemble,
    room: Room,
    wish: Wish,
    rows: NDArray[np.float64],
    *,
    tolerance: float,
    max_steps: int,
    predict: Callable[[Vector], Any],
) -> ClosestChange:
    """Search for the closest change; ``predict`` gives the prediction of a row."""
    search = Search(ensemble, room, wish, max_steps)
    search.run(rows)
    row = None if search.best is None else _shortened(search, tolerance)
    found = ClosestChange((), None, math.inf, search.bound, search.proven, predict(room.x), None, wish.words)
    if row is None:
        return found
    names = PLAIN.names(range(len(row)), ensemble.feature_names)
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
    """Return the best row with short decimals, which take it no further away than the tolerance allows."""
    room, row = search.room, np.array(search.best)
    moved = np.flatnonzero(row != room.x)
    allowed = max(tolerance, SAME_DISTANCE) * search.least / max(1, len(moved))
    for j in moved:
        for value in _short_values(float(row[j]), float(allowed / room.cost[j] * room.unit[j])):
            shorter = row.copy()
            shorter[j] = value
            if room.lower[j] <= value <= room.upper[j] and search._wanted(shorter):
                row = shorter
                break
    return row


def _short_values(value: float, reach: float) -> Iterator[float]:
    """Yield decimals near a value on either side, the shortest first."""
    candidates = {
        shortest_decimal(value - reach, value + reach),
        shortest_decimal(value, value + reach),
        shortest_decimal(value - reach, value),
    }
    yield from sorted(candidates, key=lambda number: (significant_digits(number), abs(number - value)))
