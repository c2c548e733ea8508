"""Search for a change: branch and bound over the truth values of the conditions, with a linear program at each step."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Vector
from obliquerules.inspection.closest.bounds import bounds_for
from obliquerules.inspection.closest.feasible import Feasible, Goal
from obliquerules.inspection.closest.program import Program
from obliquerules.inspection.closest.slopes import Box, Fires, ScoreBound, slopes_of
from obliquerules.rules import Block, Membership, Proposition, RuleEnsemble, Test

# For each distinct proposition: 1 if it must hold, 0 if it must not, -1 if that is undecided.
Assignment = tuple[int, ...]

# Margins to the thresholds that are tried in turn, in standard deviations: none, and then more in case rounding demands it.
MARGINS = (0.0, 1e-9, 1e-7, 1e-5)
# Where sums must hit their thresholds exactly: about how many rows are tried, and how many doubles away from each value.
MOST_NEIGHBOURS = 20_000
FARTHEST_NEIGHBOUR = 100
# A sum closer than this to its threshold, in standard deviations, is taken to hit it.
TIGHT = 1e-6
# Products of whole numbers up to these, and sums of a few of them, are exact.
LARGEST_WEIGHT, LARGEST_VALUE = 2.0**16, 2.0**34
# How many numbers may be looked at to find the sums of whole numbers that can occur.
MOST_SUMS = 1_000_000
# By how much a score may fall short of the one that is needed, in units of a program: the model decides about such rows.
SCORE_SLACK = 1e-10
# Distances that differ by less are the same: an absolute difference up to a distance of one, a relative one beyond.
SAME_DISTANCE = 1e-6


def same_distance(distance: float) -> float:
    """Return by how much another distance may differ from this one and still count as the same."""
    return SAME_DISTANCE * max(1.0, distance)


class _Part(NamedTuple):
    """A part of the region: a partial assignment and, if rules have a factor, a box."""

    assignment: Assignment
    box: Box | None


@dataclass(order=True)
class _Node:
    """A part of the region, and the steps to the closest point in it, or at the border of such points."""

    bound: float
    order: int
    part: _Part = field(compare=False)
    steps: Vector = field(compare=False)


class Option(NamedTuple):
    """A level that a column may take instead of its own."""

    column: int
    code: float


class Search:
    """Best-first branch and bound over the truth values of the propositions and memberships.

    A node fixes the truth values of some propositions. A linear program finds the closest point that satisfies them; its
    optimum bounds the distance of every point below the node. A node is a leaf if its truth values decide the prediction.
    Each level that a column may take is a step of 0 or 1; of levels of which all conditions say the same, only one is one.
    If rules have a factor, a node has a box as well, and the program a bound on the score. Where all truth values are fixed and
    the bound is not yet exact, the box is divided.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible, goal: Goal, max_steps: int, least: float = math.inf) -> None:
        self.ensemble, self.region, self.goal, self.max_steps = ensemble, region, goal, max_steps
        self.propositions: list[Test] = list(dict.fromkeys(p for rule in ensemble for p in rule.condition))
        index = {proposition: i for i, proposition in enumerate(self.propositions)}
        self.rules = [[index[p] for p in rule.condition] for rule in ensemble]
        self.slopes = slopes_of(ensemble, region, goal)
        self.bounds = bounds_for(goal, ensemble, self.slopes)
        self.columns = np.array([column for column in ensemble.used_columns if region.free[column]], dtype=np.intp)
        self.whole = region.whole[self.columns]
        # The unit of a step is one for whole numbers and a standard deviation for other variables.
        self.step = np.where(self.whole, 1.0, region.unit[self.columns])
        self.alike = {column: self._representatives(column, codes) for column, codes in region.choices.items()}
        self.options = self._options()
        of_levels = region.cost[[option.column for option in self.options]] if self.options else np.empty(0)
        self.cost = np.concatenate([region.cost[self.columns] * self.step / region.unit[self.columns], of_levels])
        self.n_steps = 0
        self.sure = True  # until a linear program is left unsolved
        self.heap: list[_Node] = []
        self.best: Vector | None = None
        self.least = least
        self.closed = math.inf  # the least bound of the nodes that led to a row

    def _block(self, rows: NDArray[np.float64]) -> Block:
        return Block(self.ensemble.columns, rows)

    # Levels.

    @functools.cached_property
    def _memberships(self) -> list[Membership]:
        """All memberships, those in sums, too."""
        terms = (term for p in self.propositions for term in ((p,) if isinstance(p, Membership) else p.columns))
        return list(dict.fromkeys(term for term in terms if isinstance(term, Membership)))

    def _answers(self, column: int, codes: Sequence[float]) -> NDArray[np.bool_]:
        """Return which memberships in a column hold for each of some codes, shape (n_codes, n_memberships)."""
        rows = np.tile(self.region.x, (len(codes), 1))
        rows[:, column] = codes
        block = self._block(rows)
        asked = [membership(block) for membership in self._memberships if membership.column == column]
        return np.column_stack(asked) if asked else np.empty((len(codes), 0), dtype=np.bool_)

    def _representatives(self, column: int, codes: Sequence[float]) -> dict[float, float]:
        """Return for each level the one that stands for all that no condition tells apart from it.

        That is the level of the row, the most frequent one or, where levels have an order, the nearest to that of the row.
        """
        now = float(self.region.x[column])
        if now >= 0.0 and self.ensemble.columns is not None and self.ensemble.columns[column].ordered:
            codes = sorted(codes, key=partial(_gap, now))
        first: dict[tuple[bool, ...], float] = {}
        answers = map(tuple, self._answers(column, [now, *codes]).tolist())
        return {code: first.setdefault(answer, code) for code, answer in zip([now, *codes], answers, strict=True)}

    def _options(self) -> list[Option]:
        """Return the levels to choose from."""
        return [
            Option(column, code)
            for column, alike in self.alike.items()
            for code in dict.fromkeys(alike.values())
            if code in self.region.choices[column]
        ]

    # Which rules fire under an assignment, as far as it says so.

    def _fires(self, rule: list[int], assignment: Assignment) -> bool | None:
        if any(assignment[p] == 0 for p in rule):
            return False
        return True if all(assignment[p] == 1 for p in rule) else None

    def _all_fires(self, assignment: Assignment) -> Fires:
        return [self._fires(rule, assignment) for rule in self.rules]

    def _possible(self, part: _Part) -> bool:
        if part.box is not None and part.box.is_empty:
            return False
        return self.bounds.possible(self._all_fires(part.assignment), part.box)

    def _certain(self, part: _Part) -> bool:
        return self.bounds.certain(self._all_fires(part.assignment), part.box)

    # The linear programs. Each inequality is scaled to a largest coefficient of one.

    @functools.cached_property
    def _inequalities(self) -> tuple[NDArray[np.float64], Vector]:
        """For each proposition, the coefficients of the steps and the least value of their sum at which it holds."""
        found = [self._inequality(proposition) for proposition in self.propositions]
        coefficients = np.array([steps for steps, _ in found]).reshape(len(found), len(self.cost))
        needed = np.array([least for _, least in found])
        scale = np.abs(coefficients).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return coefficients / scale[:, None], needed / scale

    def _inequality(self, test: Test) -> tuple[Vector, float]:
        """Return the same of one proposition, before it is scaled."""
        here = self._block(self.region.x[None, :])
        if isinstance(test, Membership):
            return np.concatenate([np.zeros(len(self.columns)), self._changes_of(test)]), 0.5 - float(test(here)[0])
        if test.lacks(here)[0]:  # whatever else changes, a value is missing
            return np.zeros(len(self.cost)), -1.0 if test.missing else 1.0
        levels = np.zeros(len(self.options))
        for term, weight in zip(test.columns, test.weights, strict=True):
            if isinstance(term, Membership):
                levels += weight * self._changes_of(term)
        numbers = _number_weights(test, self.region.x.size)[self.columns] * self.step
        return np.concatenate([numbers, levels]), self._threshold(test) - float(test.project(here)[0])

    def _threshold(self, proposition: Proposition) -> float:
        """Return where a program may draw the line: if all values are whole, in the middle between two sums.

        So that a sum which hits a threshold, as sums of whole numbers do, is on the right side of the line by far.
        """
        sums = self._possible_sums(proposition)
        if sums is not None:
            below, from_there = sums[sums < proposition.threshold], sums[sums >= proposition.threshold]
            low, high = below.max(initial=sums.min() - 1.0), from_there.min(initial=sums.max() + 1.0)
            return float(0.5 * (low + high))
        return math.ceil(proposition.threshold) - 0.5 if self._is_whole(proposition) else proposition.threshold

    def _possible_sums(self, proposition: Proposition) -> Vector | None:
        """Return all sums that can occur, as the model adds them; None if there are too many to tell."""
        used = proposition.used_columns
        moving = [int(column) for column in self.columns if column in proposition.columns]
        levels = list(dict.fromkeys(option.column for option in self.options if option.column in used))
        if not self.region.whole[moving].all():
            return None
        most = MOST_SUMS / max(1, self.region.x.size)
        sizes = [self.region.upper[j] - self.region.lower[j] + 1.0 for j in moving]
        if math.prod(sizes) * math.prod(len(self.alike[j]) for j in levels) > most:
            return None
        values = [np.arange(self.region.lower[j], self.region.upper[j] + 1.0) for j in moving]
        values += [np.array(list(dict.fromkeys(self.alike[j].values()))) for j in levels]
        cases = np.array(list(itertools.product(*values))).reshape(math.prod(map(len, values)), len(values))
        rows = np.tile(self.region.x, (len(cases), 1))
        rows[:, [*moving, *levels]] = cases
        return np.unique(proposition.project(self._block(rows)))

    def _is_whole(self, proposition: Proposition) -> bool:
        """Say whether a sum is a whole number, wherever the row moves."""
        terms = np.array([term for term in proposition.columns if isinstance(term, int)], dtype=np.intp)
        weights, values = np.array(proposition.weights), self.region.x[terms]
        exact = (np.abs(weights) < LARGEST_WEIGHT).all() and (np.abs(values) < LARGEST_VALUE).all()
        whole = (weights == np.rint(weights)).all() and (values == np.rint(values)).all()
        return bool(exact and whole and (self.region.whole | ~self.region.free)[terms].all())

    def _changes_of(self, membership: Membership) -> Vector:
        """Return by how much each option changes a membership: from 0 to 1, from 1 to 0, or not at all."""
        if not self.options:
            return np.empty(0)
        rows = np.tile(self.region.x, (len(self.options) + 1, 1))
        for row, option in enumerate(self.options):
            rows[row, option.column] = option.code
        holds = membership(self._block(rows)).astype(np.float64)
        return np.asarray(holds[:-1] - holds[-1])

    def _settled(self, part: _Part, steps: Vector) -> bool:
        """Say whether the steps lead to a point in a part of the region whose score may be high enough."""
        coefficients, needed = self._inequalities
        for p, holds in enumerate(part.assignment):
            excess = coefficients[p] @ steps - needed[p]
            if (holds == 1 and excess < 0.0) or (holds == 0 and excess > 0.0):
                return False
        return part.box is None or self._reaches(part, part.box, steps)

    def _closest(self, part: _Part, margin: float = 0.0, *, hits: bool = False) -> Vector | None:
        """Return the smallest steps into a part of the region by a margin; None if there are none.

        With ``hits``, the margin applies only to propositions that must not hold; the others may hit their thresholds.
        """
        self.n_steps += 1
        assignment = part.assignment
        coefficients, needed = self._inequalities
        said = np.array([p for p, holds in enumerate(assignment) if holds >= 0], dtype=np.intp)
        side = np.array([1.0 if assignment[p] == 1 else -1.0 for p in said])
        left = -side[:, None] * coefficients[said]
        right = -side * needed[said] - np.where(hits & (side > 0.0), 0.0, margin)
        if not self.cost.size:
            return np.empty(0) if (right >= 0.0).all() else None
        program = Program(
            self._both_ways(self.cost),
            np.vstack([self._both_ways(left, -1.0), self._one_level_each]),
            np.concatenate([right, np.ones(len(self._one_level_each))]),
            self._bounds,
            self._integral,
        )
        if part.box is not None:
            program = self._with_score(program, part, part.box, 0.0 if hits else margin)
        result = program.solved()
        self.sure = self.sure and result.status in (0, 2)  # solved, or known to have no solution
        return None if result.x is None else self._steps(result.x[: len(self._integral)])

    def _both_ways(self, numbers: NDArray[np.float64], back: float = 1.0) -> NDArray[np.float64]:
        """Return numbers of steps as those of the variables of a program: steps forth, steps back, and levels."""
        n = len(self.columns)
        return np.concatenate([numbers[..., :n], back * numbers[..., :n], numbers[..., n:]], axis=-1)

    def _steps(self, found: Vector) -> Vector:
        """Return the steps from the variables of a program."""
        n = len(self.columns)
        numbers = found[:n] - found[n : 2 * n]
        return np.concatenate([np.where(self.whole, np.round(numbers), numbers), np.round(found[2 * n :])])

    @functools.cached_property
    def _integral(self) -> NDArray[np.bool_]:
        """Which variables of a program are whole numbers."""
        return np.concatenate([self.whole, self.whole, np.ones(len(self.options), dtype=np.bool_)])

    @functools.cached_property
    def _one_level_each(self) -> NDArray[np.float64]:
        """A row for each column with levels to choose from: the sum of their steps is at most one."""
        columns = dict.fromkeys(option.column for option in self.options)
        rows = [[float(option.column == column) for option in self.options] for column in columns]
        return np.array([[0.0] * (2 * len(self.columns)) + row for row in rows]).reshape(len(rows), len(self._integral))

    # The score, if rules have a factor: a variable of the program for each rule that moves, which lines bound from above.

    def _score_bounds(self, part: _Part, box: Box) -> list[ScoreBound]:
        return [] if self.slopes is None else self.slopes.bounds(self._all_fires(part.assignment), box)

    def _with_score(self, program: Program, part: _Part, box: Box, margin: float) -> Program:
        """Return a program in a box in which bounds on scores must be high enough by a margin."""
        program = program._replace(bounds=self._bounds_in(box))
        for bound in self._score_bounds(part, box):
            program = self._with_bound(program, bound, margin)
        return program

    def _with_bound(self, program: Program, bound: ScoreBound, margin: float) -> Program:
        """Return a program with a variable for each rule that moves, which must add up to enough."""
        others = np.zeros(len(program.cost) - len(self._integral))
        n_rules, places = len(bound.lines), self._places(bound)
        scale = self._scale(bound)
        left, right = [], []
        for rule, (place, lines) in enumerate(zip(places, bound.lines, strict=True)):
            for line in lines:
                steps = np.zeros(len(self.cost))
                steps[place] = -line.growth * self.step[place] / scale
                left.append(np.concatenate([self._both_ways(steps, -1.0), others, np.eye(n_rules)[rule]]))
                right.append((line.value - lines[0].value) / scale)
        excess = bound.fixed + math.fsum(lines[0].value for lines in bound.lines) - bound.needed
        left.append(np.concatenate([np.zeros(len(program.cost)), -np.ones(n_rules)]))
        right.append(excess / scale - (margin or -SCORE_SLACK))
        return program.with_more(n_rules, np.array(left), np.array(right))

    def _places(self, bound: ScoreBound) -> NDArray[np.intp]:
        """Return where the columns of a bound are among the steps."""
        return np.searchsorted(self.columns, bound.columns)

    def _scale(self, bound: ScoreBound) -> float:
        """Return the largest coefficient of a step in a bound."""
        growths = [max(abs(line.growth) for line in lines) for lines in bound.lines]
        return float(np.max(growths * self.step[self._places(bound)])) or 1.0

    def _reaches(self, part: _Part, box: Box, steps: Vector) -> bool:
        """Say whether steps stay in a box and lead to where the bound on the score is high enough."""
        low, high = self._ends(box)
        taken = steps[: len(self.columns)]
        if self.slopes is None or (taken < low).any() or (taken > high).any():
            return False
        return all(self._is_enough(bound, taken) for bound in self._score_bounds(part, box))

    def _is_enough(self, bound: ScoreBound, taken: Vector) -> bool:
        """Say whether the steps of the columns lead to where a bound is high enough."""
        places = self._places(bound)
        return bound.at(taken[places] * self.step[places]) >= bound.needed - SCORE_SLACK * self._scale(bound)

    def _ends(self, box: Box) -> NDArray[np.float64]:
        """Return the least and the greatest step of each column of numbers in a box, shape (2, n_columns)."""
        return np.asarray((np.vstack(box) - self.region.x)[:, self.columns] / self.step)

    def _bounds_in(self, box: Box) -> NDArray[np.float64]:
        """Return the bounds of the variables of a program in a box."""
        low, high = self._ends(box)
        bounds = self._bounds.copy()
        ends = np.vstack([np.column_stack([low, high]), np.column_stack([-high, -low])])
        bounds[: len(ends)] = np.maximum(ends, 0.0)
        return bounds

    @functools.cached_property
    def _bounds(self) -> NDArray[np.float64]:
        """The bounds of the steps: upwards for each variable, then downwards, then to other levels."""
        region = self.region
        reach = np.vstack([region.upper - region.x, region.x - region.lower])[:, self.columns] / self.step
        most = np.concatenate([reach.ravel(), np.ones(len(self.options))])
        return np.column_stack([np.zeros(most.size), most])

    def _row(self, steps: Vector) -> Vector:
        row = self.region.x.copy()
        row[self.columns] += steps[: len(self.columns)] * self.step
        for option, step in zip(self.options, steps[len(self.columns) :], strict=True):
            if step > 0.5:
                row[option.column] = option.code
        return np.asarray(self.region.nearest(row[None, :])[0])

    def wanted(self, row: Vector) -> bool:
        """Say whether the model gives a row the prediction that is wanted."""
        return bool(self.goal.met(self.ensemble(self._block(row[None, :])))[0])

    # The search itself.

    def run(self, rows: NDArray[np.float64]) -> None:
        """Run the search, with the nearest suitable row as the first solution."""
        root = _Part((-1,) * len(self.propositions), None if self.slopes is None else self.slopes.start)
        if not self._possible(root):
            return
        self._start_from(rows)
        self._enter(root, np.zeros(len(self.cost)))
        while self.heap and not self.proven and self.n_steps < self.max_steps:
            node = heapq.heappop(self.heap)
            if self.wanted(row := self._row(node.steps)):
                self._keep(row, node.bound)
            elif not self._certain(node.part) and (parts := self._parts(node)):
                for part in parts:
                    self._enter(part, node.steps)
            else:
                # If a solution exists but no row of doubles was found that realises it, nothing is proven.
                self.sure = (self._realise(node) or self._hit(node)) and self.sure

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
        moved = np.tile(self.region.x, (len(rows), 1))
        nearest = self.region.nearest(rows)
        moved[:, self.columns] = nearest[:, self.columns]
        for column, alike in self.alike.items():
            moved[:, column] = [alike.get(code, self.region.x[column]) for code in nearest[:, column].tolist()]
        moved = moved[self.goal.met(self.ensemble(self._block(moved)))]
        if not len(moved):
            return
        row = moved[self.region.distances(moved).argmin()]
        self._keep(row, math.inf)
        part = _Part(tuple(int(proposition(self._block(row[None, :]))[0]) for proposition in self.propositions), None)
        if self.slopes is not None:
            part = part._replace(box=self.slopes.beside(self.slopes.start, row))
        self._realise(_Node(math.inf, 0, part, np.empty(0)))

    def _realise(self, node: _Node) -> bool:
        """Keep the closest row that satisfies a node, by the least margin that survives rounding; say whether there is one."""
        for margin in MARGINS:
            steps = self._closest(node.part, margin)
            if steps is not None and self.wanted(row := self._row(steps)):
                self._keep(row, node.bound)
                return True
        return False

    def _hit(self, node: _Node) -> bool:
        """Keep a row that satisfies a node by hitting thresholds exactly; return False if one exists but was not found."""
        steps = self._closest(node.part, MARGINS[1], hits=True)
        if steps is None:
            return True
        rows = self._rows_near(steps, node.part)
        rows = rows[self.goal.met(self.ensemble(self._block(rows)))]
        if not len(rows):
            return False
        moved = rows[:, self.columns] != self.region.x[self.columns]
        self._keep(rows[np.count_nonzero(moved, axis=1).argmin()], node.bound)
        return True

    def _rows_near(self, steps: Vector, part: _Part) -> NDArray[np.float64]:
        """Return rows a few doubles away from where the steps lead, moved onto the thresholds that must be hit."""
        coefficients, needed = self._inequalities
        n = len(self.columns)
        held = (p for p, holds in enumerate(part.assignment) if holds == 1 and coefficients[p] @ steps - needed[p] < TIGHT)
        tight = [found for p in held if isinstance(found := self.propositions[p], Proposition) and coefficients[p, :n].any()]
        sides = np.array([_number_weights(p, self.region.x.size) for p in tight]).reshape(len(tight), self.region.x.size)
        bounds = [] if part.box is None else self._score_bounds(part, part.box)
        moving = np.isin(self.columns, [column for bound in bounds for column in bound.columns])
        columns = self.columns[~self.whole & (moving | (sides[:, self.columns] != 0.0).any(axis=0))]
        row = self._onto_thresholds(self._row(steps), tight, sides[:, columns], columns)
        size = np.spacing(np.maximum(np.abs(row[columns]), _sizes(tight, np.abs(sides[:, columns]))))
        moves = _moves(len(columns)) * size
        rows = np.tile(row, (len(moves), 1))
        rows[:, columns] += moves
        return self.region.nearest(rows)

    def _onto_thresholds(
        self, row: Vector, tight: list[Proposition], weights: NDArray[np.float64], columns: NDArray[np.intp]
    ) -> Vector:
        """Return a row whose sums differ from their thresholds by rounding alone, which the solver does not achieve."""
        for _ in range(3):
            short = [p.threshold - float(p.project(self._block(row[None, :]))[0]) for p in tight]
            row[columns] += np.linalg.lstsq(weights, np.array(short), rcond=None)[0]
        return row

    def _keep(self, row: Vector, bound: float) -> None:
        distance = self.region.distance(row)
        if distance < self.least:
            self.best, self.least = row, distance
        self.closed = min(self.closed, bound)

    def _parts(self, node: _Node) -> list[_Part]:
        """Return the parts into which a node is divided; none if nothing is left to decide."""
        assignment, box = node.part
        proposition = self._undecided(node)
        if proposition is not None:
            return [self._decided(node.part, proposition, holds) for holds in (1, 0)]
        if self.slopes is None or box is None:
            return []
        return [_Part(assignment, one) for one in self.slopes.parts(self._all_fires(assignment), box, self._row(node.steps))]

    def _decided(self, part: _Part, proposition: int, holds: int) -> _Part:
        """Return the part in which a proposition holds, or does not."""
        assignment, box = part
        if self.slopes is not None and box is not None:
            box = self.slopes.holding(box, self.propositions[proposition], holds == 1)
        return _Part((*assignment[:proposition], holds, *assignment[proposition + 1 :]), box)

    def _enter(self, part: _Part, steps: Vector) -> None:
        """Add a node for a part of the region, if it may hold a solution; the steps are those to a larger part."""
        if self._possible(part):
            closest = steps if self._settled(part, steps) else self._closest(part)
            if closest is not None:
                self._push(part, closest)

    def _push(self, part: _Part, steps: Vector) -> None:
        bound = self.region.start + float(np.abs(steps) @ self.cost)
        if not self._no_closer(bound):
            heapq.heappush(self.heap, _Node(bound, self.n_steps, part, steps))

    def _undecided(self, node: _Node) -> int | None:
        """Return an undecided proposition of the rule that weighs most against the goal at the point of the node, if any."""
        assignment = node.part.assignment
        row = self._block(self._row(node.steps)[None, :])
        holds = [bool(proposition(row)[0]) for proposition in self.propositions]
        undecided = []
        pulls = self.bounds.pulls(self.ensemble(row)[0])
        if self.slopes is not None:
            pulls = [
                pull if rule.factor is None else pull * float(rule.factor(row)[0])
                for pull, rule in zip(pulls, self.ensemble, strict=True)
            ]
        for pull, rule in zip(pulls, self.rules, strict=True):
            if self._fires(rule, assignment) is None:
                against = all(holds[p] for p in rule) != (pull > 0.0)
                still_open = [p for p in rule if assignment[p] < 0]
                # A condition that is not met is in the way of a rule that ought to fire.
                undecided.append((against, abs(pull), next((p for p in still_open if not holds[p]), still_open[0])))
        return max(undecided)[-1] if undecided else None


@functools.cache
def _moves(n_columns: int) -> NDArray[np.float64]:
    """Return by how many doubles to move each column: all small moves, or a random choice where there are too many."""
    farthest = min(FARTHEST_NEIGHBOUR, int((MOST_NEIGHBOURS ** (1.0 / max(n_columns, 1)) - 1.0) / 2.0))
    if farthest > 0:
        each = sorted(range(-farthest, farthest + 1), key=abs)
        return np.array(list(itertools.product(each, repeat=n_columns)), dtype=np.float64)
    return np.random.default_rng(0).integers(-1, 2, (MOST_NEIGHBOURS, n_columns)).astype(np.float64)


def _gap(one: float, other: float) -> float:
    return abs(one - other)


def _number_weights(proposition: Proposition, n_columns: int) -> Vector:
    """Return the weight of each column of numbers in a sum."""
    weights = np.zeros(n_columns)
    for term, weight in zip(proposition.columns, proposition.weights, strict=True):
        if isinstance(term, int):
            weights[term] = weight
    return weights


def _sizes(tight: list[Proposition], weights: NDArray[np.float64]) -> Vector:
    """Return for each column the value that reaches a threshold alone: steps below its spacing change no sum."""
    thresholds = np.abs([p.threshold for p in tight]).reshape(len(tight), 1)
    reach = np.divide(thresholds, weights, out=np.full_like(weights, np.inf), where=weights > 0.0)
    least = reach.min(axis=0, initial=np.inf)
    return np.where(np.isinf(least), 0.0, least)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found.

    Attributes
    ----------
    search : Search or None
        The one that has found the best row; None if there is none.
    bound : float
        A lower bound on the distance of every solution.
    proven : bool
        Whether no row can be closer than the best.
    n_steps : int
        The number of linear programs.
    """

    search: Search | None
    bound: float
    proven: bool
    n_steps: int


def search_all(ensemble: RuleEnsemble, region: Feasible, goal: Goal, rows: NDArray[np.float64], max_steps: int) -> Outcome:
    """Search with each choice of missing values that become known, the fewest first."""
    best: Search | None = None
    least, bound, proven, n_steps = math.inf, math.inf, True, 0
    # With slopes, a program can be told to reach one class, but not to leave another.
    goals = goal.each if goal.each and any(rule.factor is not None for rule in ensemble) else (goal,)
    for one, goal in itertools.product(region.regions(ensemble.used_columns), goals):
        if one.start > 0.0 and one.start + same_distance(one.start) >= least:
            break
        if one.start > 0.0 and n_steps >= max_steps:
            return Outcome(best, min(bound, one.start), False, n_steps)
        search = Search(ensemble, one, goal, max_steps - n_steps, least)
        search.run(rows)
        n_steps, bound, proven = n_steps + search.n_steps, min(bound, search.bound), proven and search.proven
        if search.best is not None:
            best, least = search, search.least
    return Outcome(best, bound, proven, n_steps)
