"""Search for a change: branch and bound over the truth values of the conditions, with a linear program at each step."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from obliquerules.rules import RuleEnsemble

Vector = NDArray[np.float64]
# For each distinct proposition: 1 if it must hold, 0 if it must not, -1 if that is undecided.
Assignment = tuple[int, ...]

# Margins to the thresholds that are tried in turn, in standard deviations: none, and then more in case rounding demands it.
MARGINS = (0.0, 1e-9, 1e-7, 1e-5)
# Where sums must hit their thresholds exactly: about how many rows are tried, and how many doubles away from each value.
MOST_NEIGHBOURS = 20_000
FARTHEST_NEIGHBOUR = 100
# A sum closer than this to its threshold, in standard deviations, is taken to hit it.
TIGHT = 1e-6
# As exact as the solver allows.
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# Distances that differ by less are the same: an absolute difference up to a distance of one, a relative one beyond.
SAME_DISTANCE = 1e-6


def same_distance(distance: float) -> float:
    """Return by how much another distance may differ from this one and still count as the same."""
    return SAME_DISTANCE * max(1.0, distance)


@dataclass(frozen=True)
class Wish:
    """The prediction that is wanted.

    Attributes
    ----------
    met : callable
        Takes an array of scores and says for each whether it gives this prediction. Must be monotone in the score.
    direction : float
        1.0 if higher scores are better, else -1.0.
    words : str
        The wanted prediction in words.
    """

    met: Callable[[Vector], NDArray[np.bool_]]
    direction: float
    words: str

    def by(self, score: float) -> bool:
        """Say whether one score gives the prediction."""
        return bool(self.met(np.array([score]))[0])


@dataclass(frozen=True, eq=False)
class Room:
    """The region in which a row may move.

    Attributes
    ----------
    x : array of shape (n_features,)
        The row itself.
    lower, upper : array of shape (n_features,)
        The bounds of each variable; those of a fixed variable are both its value.
    unit : array of shape (n_features,)
        The standard deviation of each variable, positive where it may move.
    cost : array of shape (n_features,)
        The cost of a change by one unit.
    whole : array of shape (n_features,)
        Which variables take whole numbers only; their values in x and their bounds are whole.
    """

    x: Vector
    lower: Vector
    upper: Vector
    unit: Vector
    cost: Vector
    whole: NDArray[np.bool_]

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
        """Return for each row the nearest point of the region."""
        return np.clip(np.where(self.whole, np.round(rows), rows), self.lower, self.upper)


@dataclass(order=True)
class _Node:
    """A partial assignment, and the steps to the closest point that satisfies it, or lies at the border of such points."""

    bound: float
    order: int
    assignment: Assignment = field(compare=False)
    steps: Vector = field(compare=False)


class Search:
    """Best-first branch and bound over the truth values of the propositions.

    A node fixes the truth values of some propositions. A linear program finds the closest point that satisfies them; its
    optimum bounds the distance of every point below the node. A node is a leaf if its truth values decide the prediction.
    """

    def __init__(self, ensemble: RuleEnsemble, room: Room, wish: Wish, max_steps: int) -> None:
        self.ensemble, self.room, self.wish, self.max_steps = ensemble, room, wish, max_steps
        self.propositions = list(dict.fromkeys(p for rule in ensemble for p in rule.condition))
        index = {proposition: i for i, proposition in enumerate(self.propositions)}
        self.rules = [(rule.weight, [index[p] for p in rule.condition]) for rule in ensemble]
        self.columns = np.array([column for column in ensemble.used_columns if room.free[column]], dtype=np.intp)
        self.whole = room.whole[self.columns]
        # The unit of a step is one for whole numbers and a standard deviation for other variables.
        self.step = np.where(self.whole, 1.0, room.unit[self.columns])
        self.cost = room.cost[self.columns] * self.step / room.unit[self.columns]
        self.n_steps = 0
        self.sure = True  # until a linear program is left unsolved
        self.heap: list[_Node] = []
        self.best: Vector | None = None
        self.least = math.inf
        self.closed = math.inf  # the least bound of the nodes that led to a row

    # Bounds on the score under an assignment. Rounded addition is monotone, so they hold to the last bit.

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

    # The linear programs. Each inequality is scaled to a largest coefficient of one.

    @functools.cached_property
    def _inequalities(self) -> tuple[NDArray[np.float64], Vector]:
        """For each proposition, the coefficients of the steps and the least value of their sum at which it holds."""
        coefficients = self._weights(range(len(self.propositions)))
        needed = np.array([p.threshold - p.project(self.room.x[None, :])[0] for p in self.propositions])
        coefficients = coefficients[:, self.columns] * self.step
        scale = np.abs(coefficients).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return coefficients / scale[:, None], needed / scale

    def _settled(self, assignment: Assignment, steps: Vector) -> bool:
        """Say whether the steps lead to a point that satisfies the assignment."""
        coefficients, needed = self._inequalities
        for p, holds in enumerate(assignment):
            excess = coefficients[p] @ steps - needed[p]
            if (holds == 1 and excess < 0.0) or (holds == 0 and excess > 0.0):
                return False
        return True

    def _closest(self, assignment: Assignment, margin: float = 0.0, *, hits: bool = False) -> Vector | None:
        """Return the smallest steps that satisfy an assignment by a margin; None if there are none.

        With ``hits``, the margin applies only to propositions that must not hold; the others may hit their thresholds.
        """
        self.n_steps += 1
        coefficients, needed = self._inequalities
        said = np.array([p for p, holds in enumerate(assignment) if holds >= 0], dtype=np.intp)
        side = np.array([1.0 if assignment[p] == 1 else -1.0 for p in said])
        left = -side[:, None] * coefficients[said]
        right = -side * needed[said] - np.where(hits & (side > 0.0), 0.0, margin)
        if not self.columns.size:
            return np.empty(0) if (right >= 0.0).all() else None
        result = linprog(
            np.tile(self.cost, 2),
            np.hstack([left, -left]),
            right,
            bounds=self._bounds,
            method="highs",
            integrality=np.tile(self.whole, 2).astype(np.intp) if self.whole.any() else None,
            options=EXACT | ({"mip_rel_gap": 0.0} if self.whole.any() else {}),
        )
        self.sure = self.sure and result.status in (0, 2)  # solved, or known to have no solution
        if result.x is None:
            return None
        forth, back = result.x.reshape(2, -1)
        steps: Vector = forth - back
        return np.where(self.whole, np.round(steps), steps)

    @functools.cached_property
    def _bounds(self) -> NDArray[np.float64]:
        """The bounds of the steps: upwards for each variable, then downwards."""
        room = self.room
        reach = np.vstack([room.upper - room.x, room.x - room.lower])[:, self.columns] / self.step
        return np.column_stack([np.zeros(reach.size), reach.ravel()])

    def _row(self, steps: Vector) -> Vector:
        row = self.room.x.copy()
        row[self.columns] += steps * self.step
        return self.room.nearest(row)

    def wanted(self, row: Vector) -> bool:
        """Say whether the model gives a row the prediction that is wanted."""
        return self.wish.by(float(self.ensemble(row[None, :])[0]))

    # The search itself.

    def run(self, rows: NDArray[np.float64]) -> None:
        """Run the search, with the nearest suitable row as the first solution."""
        if not self._possible(root := (-1,) * len(self.propositions)):
            return
        self._start_from(rows)
        self._push(root, np.zeros(len(self.columns)))
        while self.heap and not self.proven and self.n_steps < self.max_steps:
            node = heapq.heappop(self.heap)
            if self.wanted(row := self._row(node.steps)):
                self._keep(row, node.bound)
            elif self._certain(node.assignment):
                # If a solution exists but no row of doubles was found that realises it, nothing is proven.
                self.sure = (self._realise(node) or self._hit(node)) and self.sure
            else:
                self._branch(node)

    @property
    def proven(self) -> bool:
        """Whether no open node can hold a closer row than the best."""
        return self.sure and (not self.heap or self._no_closer(self.heap[0].bound))

    def _no_closer(self, bound: float) -> bool:
        return bound + same_distance(bound) >= self.least

    @property
    def bound(self) -> float:
        """A lower bound on the distance of every solution."""
        return min(self.closed, self.least, self.heap[0].bound if self.heap else math.inf)

    def _start_from(self, rows: NDArray[np.float64]) -> None:
        """Keep the nearest row that has the wanted prediction, and the closest row on which the same propositions hold."""
        moved = np.tile(self.room.x, (len(rows), 1))
        moved[:, self.columns] = self.room.nearest(rows)[:, self.columns]
        moved = moved[self.wish.met(self.ensemble(moved))]
        if not len(moved):
            return
        row = moved[self.room.distances(moved).argmin()]
        self._keep(row, math.inf)
        assignment = tuple(int(proposition(row[None, :])[0]) for proposition in self.propositions)
        self._realise(_Node(math.inf, 0, assignment, np.empty(0)))

    def _realise(self, node: _Node) -> bool:
        """Keep the closest row that satisfies a node, by the least margin that survives rounding; say whether there is one."""
        for margin in MARGINS:
            steps = self._closest(node.assignment, margin)
            if steps is not None and self.wanted(row := self._row(steps)):
                self._keep(row, node.bound)
                return True
        return False

    def _hit(self, node: _Node) -> bool:
        """Keep a row that satisfies a node by hitting thresholds exactly; return False if one exists but was not found."""
        steps = self._closest(node.assignment, MARGINS[1], hits=True)
        if steps is None:
            return True
        rows = self._rows_near(steps, node.assignment)
        rows = rows[self.wish.met(self.ensemble(rows))]
        if not len(rows):
            return False
        self._keep(rows[np.count_nonzero(rows != self.room.x, axis=1).argmin()], node.bound)
        return True

    def _rows_near(self, steps: Vector, assignment: Assignment) -> NDArray[np.float64]:
        """Return rows a few doubles away from where the steps lead, moved onto the thresholds that must be hit."""
        coefficients, needed = self._inequalities
        tight = [p for p, holds in enumerate(assignment) if holds == 1 and coefficients[p] @ steps - needed[p] < TIGHT]
        columns = self.columns[~self.whole & (coefficients[tight] != 0.0).any(axis=0)]
        row = self._onto_thresholds(self._row(steps), tight, columns)
        size = np.spacing(np.maximum(np.abs(row[columns]), self._sizes(tight, columns)))
        moves = _moves(len(columns)) * size
        rows = np.tile(row, (len(moves), 1))
        rows[:, columns] += moves
        return self.room.nearest(rows)

    def _onto_thresholds(self, row: Vector, tight: list[int], columns: NDArray[np.intp]) -> Vector:
        """Return a row whose sums differ from their thresholds by rounding alone, which the solver does not achieve."""
        weights = self._weights(tight)[:, columns]
        for _ in range(3):
            short = [self.propositions[p].threshold - float(self.propositions[p].project(row[None, :])[0]) for p in tight]
            row[columns] += np.linalg.lstsq(weights, np.array(short), rcond=None)[0]
        return row

    def _weights(self, propositions: Sequence[int]) -> NDArray[np.float64]:
        weights = np.zeros((len(propositions), self.room.x.size))
        for row, p in zip(weights, propositions, strict=True):
            row[list(self.propositions[p].columns)] = self.propositions[p].weights
        return weights

    def _sizes(self, tight: list[int], columns: NDArray[np.intp]) -> Vector:
        """Return for each column the value that reaches a threshold alone: steps below its spacing change no sum."""
        weights = np.abs(self._weights(tight)[:, columns])
        thresholds = np.abs([self.propositions[p].threshold for p in tight])[:, None]
        reach = np.divide(thresholds, weights, out=np.full_like(weights, np.inf), where=weights > 0.0)
        return np.asarray(reach.min(axis=0), dtype=np.float64)

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
        bound = float(np.abs(steps) @ self.cost)
        if not self._no_closer(bound):
            heapq.heappush(self.heap, _Node(bound, self.n_steps, assignment, steps))

    def _undecided(self, node: _Node) -> int:
        """Return an undecided proposition of the rule that weighs most against the wish at the point of the node."""
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


@functools.cache
def _moves(n_columns: int) -> NDArray[np.float64]:
    """Return by how many doubles to move each column: all small moves, or a random choice where there are too many."""
    farthest = min(FARTHEST_NEIGHBOUR, int((MOST_NEIGHBOURS ** (1.0 / max(n_columns, 1)) - 1.0) / 2.0))
    if farthest > 0:
        each = sorted(range(-farthest, farthest + 1), key=abs)
        return np.array(list(itertools.product(each, repeat=n_columns)), dtype=np.float64)
    return np.random.default_rng(0).integers(-1, 2, (MOST_NEIGHBOURS, n_columns)).astype(np.float64)
