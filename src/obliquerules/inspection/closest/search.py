"""Search for a change: a mixed-integer program proposes which conditions hold, and the model decides."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from obliquerules.arrays import Matrix, Vector
from obliquerules.inspection.closest.feasible import Feasible, Goal
from obliquerules.inspection.closest.program import Program
from obliquerules.rules import Block, Factor, Membership, Proposition, RuleEnsemble, Test

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
# How far a column without ends may move, in standard deviations, until a change is known.
FARTHEST = 1e4
# How exactly the score that is needed is found, if it is close to zero.
SCORE_GAP = 1e-30
# How closely the border of a probability is approached.
ODDS_GAP = 1e-11
# Distances that differ by less are the same: an absolute difference up to a distance of one, a relative one beyond.
SAME_DISTANCE = 1e-6
# Probabilities nearer to 0 or 1 are taken for this one, or its complement.
TINY = 1e-15
# How often the border of a probability is approached by tangents in one cell.
MOST_TANGENTS = 30
# The kinds of inequalities: of conditions that hold, of those that do not, of scores, of the choice of a lead, and of what was excluded.
HOLDS, FAILS, SCORE, LEAD, CUT = "holds", "fails", "score", "lead", "cut"

# The variables of 0 and 1 that say which conditions hold, and others that are fixed with them, with their values.
Cell = dict[int, float]


def same_distance(distance: float) -> float:
    """Return by how much another distance may differ from this one and still count as the same."""
    return SAME_DISTANCE * max(1.0, distance)


class Option(NamedTuple):
    """A level that a column may take instead of its own."""

    column: int
    code: float


class Moving(NamedTuple):
    """A rule whose factor moves: its position, the column, and the variable that says on which side of a bend it is."""

    rule: int
    score: int
    column: int
    bend: float
    beyond: int | None
    turned: bool


class ChangeSearch:
    """The search in one region for one goal.

    A mixed-integer program has a step forth and a step back for each column of numbers, a step of 0 or 1 for each level, and a
    variable of 0 or 1 for each condition. Its solution names a *cell*: which conditions hold, and on which side of their bends
    factors are. Within a cell a linear program finds the closest point, and the model says whether the prediction there is the
    wanted one. Then the cell is excluded, until no other can be closer than the best row.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible, goal: Goal, max_steps: int, least: float = math.inf) -> None:
        self.ensemble, self.region, self.goal, self.max_steps = ensemble, region, goal, max_steps
        self.tests: list[Test] = list(dict.fromkeys(test for rule in ensemble for test in rule.condition))
        index = {test: i for i, test in enumerate(self.tests)}
        self.rules = [[index[test] for test in rule.condition] for rule in ensemble]
        self.columns = np.array([column for column in ensemble.used_columns if region.free[column]], dtype=np.intp)
        self.whole = region.whole[self.columns]
        # The unit of a step is one for whole numbers and a standard deviation for other variables.
        self.step = np.where(self.whole, 1.0, region.unit[self.columns])
        self.alike = {column: self._representatives(column, codes) for column, codes in region.choices.items()}
        self.options = [
            Option(column, code)
            for column, alike in self.alike.items()
            for code in dict.fromkeys(alike.values())
            if code in region.choices[column]
        ]
        self.n_steps = 0
        self.sure = True  # until a program is left unsolved
        self.best: Vector | None = None
        self.least = least
        self.closed = math.inf  # the least distance of the cells that led to a row
        self.open = 0.0  # a lower bound on the distance of all others

    def _block(self, rows: Matrix) -> Block:
        return Block(self.ensemble.columns, rows)

    # Levels.

    @functools.cached_property
    def _memberships(self) -> list[Membership]:
        """All memberships, those in sums, too."""
        terms = (term for test in self.tests for term in ((test,) if isinstance(test, Membership) else test.columns))
        return list(dict.fromkeys(term for term in terms if isinstance(term, Membership)))

    def _representatives(self, column: int, codes: Sequence[float]) -> dict[float, float]:
        """Return for each level the one that stands for all that no condition tells apart from it.

        That is the level of the row, the most frequent one or, where levels have an order, the nearest to that of the row.
        """
        now = float(self.region.x[column])
        if now >= 0.0 and self.ensemble.columns is not None and self.ensemble.columns[column].ordered:
            codes = sorted(codes, key=lambda code: abs(code - now))
        rows = np.tile(self.region.x, (len(codes) + 1, 1))
        rows[:, column] = [now, *codes]
        block = self._block(rows)
        asked = [membership(block).tolist() for membership in self._memberships if membership.column == column]
        first: dict[tuple[bool, ...], float] = {}
        return {code: first.setdefault(tuple(one[i] for one in asked), code) for i, code in enumerate([now, *codes])}

    # Conditions as inequalities between steps, each scaled to a largest coefficient of one.

    @functools.cached_property
    def _inequalities(self) -> tuple[Matrix, Vector]:
        """For each condition, the coefficients of the steps and the least value of their sum at which it holds."""
        found = [self._inequality(test) for test in self.tests]
        coefficients = np.array([steps for steps, _ in found]).reshape(len(found), len(self.columns) + len(self.options))
        needed = np.array([least for _, least in found])
        scale = np.abs(coefficients).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return coefficients / scale[:, None], needed / scale

    def _inequality(self, test: Test) -> tuple[Vector, float]:
        """Return the same of one condition, before it is scaled."""
        here = self._block(self.region.x[None, :])
        if isinstance(test, Membership):
            return np.concatenate([np.zeros(len(self.columns)), self._changes_of(test)]), 0.5 - float(test(here)[0])
        if test.lacks(here)[0]:  # whatever else changes, a value is missing
            return np.zeros(len(self.columns) + len(self.options)), -1.0 if test.missing else 1.0
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
        region, used = self.region, proposition.used_columns
        moving = [int(column) for column in self.columns if column in proposition.columns]
        levels = list(dict.fromkeys(option.column for option in self.options if option.column in used))
        if not region.whole[moving].all():
            return None
        sizes = [region.upper[j] - region.lower[j] + 1.0 for j in moving]
        if math.prod(sizes) * math.prod(len(self.alike[j]) for j in levels) > MOST_SUMS / max(1, region.x.size):
            return None
        values = [np.arange(region.lower[j], region.upper[j] + 1.0) for j in moving]
        values += [np.array(list(dict.fromkeys(self.alike[j].values()))) for j in levels]
        cases = np.array(list(itertools.product(*values))).reshape(math.prod(map(len, values)), len(values))
        rows = np.tile(region.x, (len(cases), 1))
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
        rows = np.tile(self.region.x, (len(self.options) + 1, 1))
        for row, option in enumerate(self.options):
            rows[row, option.column] = option.code
        holds = membership(self._block(rows)).astype(np.float64)
        return np.asarray(holds[:-1] - holds[-1])

    # The mixed-integer program.

    def _build(self) -> None:
        """Make the program for all changes up to the least distance that is known."""
        region, program = self.region, Program()
        cost = region.cost[self.columns] * self.step / region.unit[self.columns]
        near = self._reach(cost)
        self.cut_off = bool((near == np.inf).any())
        near = np.where(near == np.inf, FARTHEST * region.unit[self.columns] / self.step, near)
        self.low, self.high = -near[1], near[0]
        columns = list(zip(*near.tolist(), cost.tolist(), self.whole.tolist(), strict=True))
        self.up = [program.variable(0.0, up, price, whole=whole) for up, _, price, whole in columns]
        self.down = [program.variable(0.0, down, price, whole=whole) for _, down, price, whole in columns]
        self.chosen = [program.variable(0.0, 1.0, region.cost[option.column], whole=True) for option in self.options]
        for column in self.alike:
            taken = [one for one, option in zip(self.chosen, self.options, strict=True) if option.column == column]
            if taken:
                program.require(dict.fromkeys(taken, -1.0), -1.0)
        self.program = program
        self.holds = [self._condition(p) for p in range(len(self.tests))]
        self.fires = [self._firing(rule) for rule in self.rules]
        self.moving: list[Moving] = []
        self.amounts: set[int] = set()
        self._require_goal()

    def _tighten(self) -> None:
        """Bound the steps by the least distance that is known now."""
        up, down = self._reach(np.array([self.program.costs[variable] for variable in self.up]))
        for variable, most in zip((*self.up, *self.down), (*up.tolist(), *down.tolist()), strict=True):
            self.program.bounds[variable] = (0.0, min(most, self.program.bounds[variable][1]))

    def _reach(self, cost: Vector) -> Matrix:
        """Return how far each column may move, upwards and downwards, until a change is not the closest."""
        region = self.region
        reach = np.vstack([region.upper - region.x, region.x - region.lower])[:, self.columns] / self.step
        near = np.minimum(reach, max(0.0, self.least - region.start + same_distance(self.least)) / cost)
        return np.where(self.whole, np.floor(near), near)

    def _step_terms(self, coefficients: Vector) -> dict[int, float]:
        """Return a sum of steps as one of variables."""
        n, terms = len(self.columns), {}
        for place in np.flatnonzero(coefficients).tolist():
            weight = float(coefficients[place])
            if place < n:
                terms |= {self.up[place]: weight, self.down[place]: -weight}
            else:
                terms[self.chosen[place - n]] = weight
        return terms

    def _condition(self, p: int) -> int:
        """Add a variable that says whether a condition holds."""
        coefficients, needed = (one[p] for one in self._inequalities)
        terms = self._step_terms(coefficients)
        low, high = self.program.range_of(terms)
        holds = self.program.variable(float(low > needed + TIGHT), float(high >= needed - TIGHT), whole=True)
        if self.program.bounds[holds] == (0.0, 1.0):
            # At either end there is room for a margin.
            spare = 2.0 * MARGINS[-1]
            self.program.require(terms | {holds: -(needed - low + spare)}, low - spare, HOLDS)
            opposite = {variable: -weight for variable, weight in terms.items()}
            self.program.require(opposite | {holds: high - needed + spare}, -needed, FAILS)
        return holds

    def _firing(self, rule: list[int]) -> int:
        """Add a variable that says whether a rule fires, unless its only condition says so."""
        held = [self.holds[p] for p in rule]
        if len(held) == 1:
            return held[0]
        fires = self.program.variable(0.0 if held else 1.0, 1.0)
        for one in held:
            self.program.require({one: 1.0, fires: -1.0}, 0.0)
        self.program.require({fires: 1.0} | dict.fromkeys(held, -1.0), 1.0 - len(held))
        return fires

    # The goal, as inequalities of one score or of the leads of one of many classes.

    @functools.cached_property
    def _turned_scores(self) -> list[tuple[list[float], float]]:
        """The score, or each lead of a class, as weights of rules and a constant, turned so that more is wanted."""
        goal, direction = self.goal, self.goal.direction
        if goal.of is None:
            weights = [direction * rule.weights[0] for rule in self.ensemble]
            return [(weights, direction * self.ensemble.intercepts[0])]
        of, start = goal.of, self.ensemble.intercepts
        return [
            (
                [direction * (rule.weights[of] - rule.weights[other]) for rule in self.ensemble],
                direction * (start[of] - start[other]),
            )
            for other in range(len(start))
            if other != of
        ]

    def _needed(self, bad: float, good: float) -> float:
        """Return the greatest score that is not wanted, turned so that more is wanted, between two ends."""
        while abs(good - bad) > max(SCORE_GAP, math.ulp(1.0) * max(abs(good), abs(bad))):
            middle = 0.5 * good + 0.5 * bad
            good, bad = (middle, bad) if self.goal.by(self.goal.direction * middle) else (good, middle)
        return bad

    def _needed_lead(self) -> float:
        """Return the log-odds that all leads of a class must exceed or, where less is wanted, one of them, turned."""
        if self.goal.probability is None:
            return 0.0
        share = min(max(self.goal.probability, TINY), 1.0 - TINY)
        others = math.log(len(self.ensemble.intercepts) - 1) if self.goal.direction < 0.0 else 0.0
        return self.goal.direction * (math.log(share / (1.0 - share)) + others)

    def _require_goal(self) -> None:
        """Require a score, all leads of a class or, where less is wanted, one of them."""
        self.scores: list[tuple[dict[int, float], float]] = []
        for weights, constant in self._turned_scores:
            self.scores.append(self._score_terms(weights, constant))
        self.any_of: list[int] = []
        for terms, constant in self.scores:
            low, high = self.program.range_of(terms)
            needed = self._needed(constant + low - 1.0, constant + high + 1.0) if self.goal.of is None else self._needed_lead()
            least = min(max(needed - constant, low - 1.0), high + 1.0)
            if self.goal.of is not None and self.goal.direction < 0.0:
                low -= 0.01 * (high - low)  # with room for a margin
                self.any_of.append(self.program.variable(0.0, 1.0, whole=True))
                self._score_row(terms | {self.any_of[-1]: low - least}, low)
            else:
                self._score_row(terms, least)
        if self.any_of:
            self.program.require(dict.fromkeys(self.any_of, 1.0), 1.0, LEAD)

    def _score_row(self, terms: dict[int, float], least: float) -> None:
        """Add an inequality of a score, scaled by what moves most in it, or by the greatest weight."""
        amounts = [abs(weight) for variable, weight in terms.items() if variable in self.amounts]
        scale = max(amounts or map(abs, terms.values()), default=1.0) or 1.0
        self.program.require({variable: weight / scale for variable, weight in terms.items()}, least / scale, SCORE)

    def _score_terms(self, weights: list[float], constant: float) -> tuple[dict[int, float], float]:
        """Return a score as a sum of variables and a constant."""
        terms: dict[int, float] = {}
        for i, (rule, weight) in enumerate(zip(self.ensemble, weights, strict=True)):
            if weight == 0.0:
                continue
            amount, factor = weight, rule.factor
            if factor is not None:
                here = float(self.region.x[factor.column])
                if np.isnan(here):
                    continue
                place = np.flatnonzero(self.columns == factor.column)
                if place.size and (self.low[place[0]] < self.high[place[0]]):
                    self._add_moving(terms, i, weight, factor, int(place[0]))
                    continue
                amount = weight * (min(max(here, factor.lower), factor.upper) - factor.origin)
            terms[self.fires[i]] = terms.get(self.fires[i], 0.0) + amount
        return terms, constant

    def _add_moving(self, terms: dict[int, float], rule: int, weight: float, factor: Factor, place: int) -> None:
        """Add to a score what a rule adds whose factor moves: a variable that is at most this amount.

        The column is turned so that the amount grows with it; then it is the least of a few lines, but for a bend at the lower
        limit, on either side of which it has lines of its own.
        """
        program, fires, step = self.program, self.fires[rule], float(self.step[place])
        here, turned = float(self.region.x[factor.column]), weight < 0.0
        low, high = here + step * float(self.low[place]), here + step * float(self.high[place])
        if turned:
            here, low, high = -here, -high, -low
            factor = Factor(factor.column, -factor.origin, -factor.upper, -factor.lower)
        # In the unit of a step, the amount is the clipped column less its origin.
        bottom, top = ((min(max(end, factor.lower), factor.upper) - factor.origin) / step for end in (low, high))
        straight = (here - factor.origin) / step
        amount = program.variable(min(bottom, 0.0), max(top, 0.0))
        program.require({fires: top, amount: -1.0}, 0.0)
        slack, beyond = max(0.0, -bottom), None

        def at_most(line: Mapping[int, float], constant: float) -> None:
            """Require the amount to be at most a line where the rule fires; elsewhere the line gets some slack."""
            program.require({amount: -1.0, fires: -slack} | line, -constant - slack)

        forth = {self.up[place]: -1.0, self.down[place]: 1.0} if turned else {self.up[place]: 1.0, self.down[place]: -1.0}
        if low < factor.lower < high:
            beyond = program.variable(0.0, 1.0, whole=True)
            at_most({beyond: top - bottom}, bottom)
            gap = (factor.lower - low) / step
            at_most(forth | {beyond: -gap}, straight + gap)
        elif factor.lower <= low < factor.upper:
            at_most(forth, straight)
        if high > factor.upper or high <= factor.lower:
            at_most({}, top)
        self.amounts.add(amount)
        terms[amount] = abs(weight) * step
        self.moving.append(Moving(rule, len(self.scores), factor.column, factor.lower, beyond, turned))

    # Cells.

    def _cell(self, found: Vector) -> Cell:
        """Return the cell of a solution: its variables of whole numbers, as far as they matter."""
        cell = {variable: float(np.round(found[variable])) for variable in self.holds}
        if moving := self._moving_in(cell):
            if self.any_of:
                lead = int(np.argmax(found[self.any_of]))
                cell[self.any_of[lead]] = 1.0
                moving = [one for one in moving if one.score == lead or self.goal.probability is not None]
            cell |= {one.beyond: float(np.round(found[one.beyond])) for one in moving if one.beyond is not None}
            for place in np.flatnonzero(self.whole & np.isin(self.columns, [one.column for one in moving])).tolist():
                step = float(np.round(found[self.up[place]] - found[self.down[place]]))
                cell |= {self.up[place]: max(step, 0.0), self.down[place]: max(-step, 0.0)}
        return cell

    def _cell_of(self, row: Vector) -> Cell:
        """Return the cell of a row."""
        block, found = self._block(row[None, :]), np.zeros(len(self.program.costs))
        steps = (row - self.region.x)[self.columns] / self.step
        found[self.up], found[self.down] = np.maximum(steps, 0.0), np.maximum(-steps, 0.0)
        found[self.holds] = [float(test(block)[0]) for test in self.tests]
        for one in self.moving:
            if one.beyond is not None:
                found[one.beyond] = (-row[one.column] if one.turned else row[one.column]) > one.bend
        if self.any_of:
            found[self.any_of[int(self._leads(row).argmin())]] = 1.0
        return self._cell(found)

    def _leads(self, row: Vector) -> Vector:
        """Return by how much the score of the class of the goal leads each other one."""
        scores = self.ensemble(self._block(row[None, :]))[0]
        return np.asarray(scores[self.goal.of] - np.delete(scores, self.goal.of or 0))

    def _moving_in(self, cell: Cell) -> list[Moving]:
        """Return the rules that fire in a cell and do not add the same everywhere."""
        return [moving for moving in self.moving if all(cell[self.holds[p]] == 1.0 for p in self.rules[moving.rule])]

    def _exclude(self, cell: Cell) -> None:
        """Require that at least one thing differs from a cell."""
        program, terms, n_ones = self.program, {}, 0
        for variable, value in cell.items():
            if variable in self.up or variable in self.down:
                continue
            terms[variable] = -1.0 if value else 1.0
            n_ones += value == 1.0
        for place, (up, down) in enumerate(zip(self.up, self.down, strict=True)):
            if up in cell:
                value, low, high = cell[up] - cell[down], float(self.low[place]), float(self.high[place])
                above, below = (program.variable(0.0, 1.0, whole=True) for _ in range(2))
                program.require({up: 1.0, down: -1.0, above: -(value + 1.0 - low)}, low, CUT)
                program.require({up: -1.0, down: 1.0, below: -(high - value + 1.0)}, -high, CUT)
                terms |= {above: 1.0, below: 1.0}
        program.require(terms, 1.0 - n_ones, CUT)

    def _possible(self, cell: Cell) -> bool:
        """Say whether the model may give the wanted prediction in a cell, by the most that each rule can add there.

        Rounded sums of monotone terms are monotone, so this is exact where no factor moves.
        """
        direction = self.goal.direction
        block = self._block(np.vstack(self._box(cell)))
        score = np.tile(np.array(self.ensemble.intercept), (2, *[1] * np.ndim(self.ensemble.intercept)))
        with np.errstate(over="ignore", invalid="ignore"):
            for rule, tests in zip(self.ensemble, self.rules, strict=True):
                if all(cell[self.holds[p]] == 1.0 for p in tests):
                    added = rule.where(np.ones(2, dtype=np.bool_), block)
                    score = score + np.stack([added.min(axis=0), added.max(axis=0)])
        least, most = score if direction > 0.0 else score[::-1]
        if self.goal.of is not None:
            most = np.where(np.arange(len(most)) == self.goal.of, most, least)
        return bool(np.isnan(most).any() or self.goal.met(most[None])[0])

    def _box(self, cell: Cell) -> tuple[Vector, Vector]:
        """Return the least and the greatest value of each column in a cell, as far as it says so of single columns."""
        region = self.region
        low, high = np.where(region.free, region.lower, region.x), np.where(region.free, region.upper, region.x)
        for test, variable in zip(self.tests, self.holds, strict=True):
            # Only conditions that compare the number itself, not a multiple that is rounded.
            column = test.only_number if isinstance(test, Proposition) and abs(test.weights[0]) == 1.0 else None
            if not isinstance(test, Proposition) or column is None or np.isnan(region.x[column]):
                continue
            end = test.weights[0] * test.threshold
            if (cell[variable] == 1.0) == test.is_upright:
                low[column] = max(low[column], end if test.is_upright else math.nextafter(end, math.inf))
            else:
                high[column] = min(high[column], math.nextafter(end, -math.inf) if test.is_upright else end)
        for one in self.moving:
            if one.beyond is not None and one.beyond in cell:
                end = -one.bend if one.turned else one.bend
                if (cell[one.beyond] == 1.0) != one.turned:
                    low[one.column] = max(low[one.column], end)
                else:
                    high[one.column] = min(high[one.column], end)
        for place, up in enumerate(self.up):
            if up in cell:
                low[self.columns[place]] = high[self.columns[place]] = (
                    region.x[self.columns[place]] + cell[up] - cell[self.down[place]]
                )
        return low, high

    def _closest(self, cell: Cell, margin: float = 0.0, *, hits: bool = False) -> Vector | None:
        """Return the smallest steps into a cell by a margin; None if there are none.

        With ``hits``, the margin applies only to conditions that must not hold; the others may hit their thresholds.
        """
        self.n_steps += 1
        margins = {FAILS: margin, HOLDS: 0.0 if hits else margin, SCORE: -SCORE_SLACK if hits or not margin else margin}
        if not self.program.costs:
            return np.empty(0)
        steps = {*self.up, *self.down, *self.chosen}
        others = [variable for variable, whole in enumerate(self.program.whole) if whole and variable not in steps]
        result = self.program.exact_optimum(
            dict.fromkeys(others, 0.0) | cell, margins, {CUT} if self._moving_in(cell) else {CUT, SCORE, LEAD}
        )
        self.sure = self.sure and result.status in (0, 2)  # solved, or known to have no solution
        return None if result.x is None else self._steps(result.x)

    def _steps(self, found: Vector) -> Vector:
        """Return the steps from the variables of a program."""
        numbers = found[self.up] - found[self.down]
        return np.concatenate([np.where(self.whole, np.round(numbers), numbers), np.round(found[self.chosen])])

    def _row(self, steps: Vector) -> Vector:
        row = self.region.x.copy()
        row[self.columns] += steps[: len(self.columns)] * self.step
        for option, step in zip(self.options, steps[len(self.columns) :], strict=True):
            if step > 0.5:
                row[option.column] = option.code
        return np.asarray(self.region.nearest(row[None, :])[0])

    def _length(self, steps: Vector) -> float:
        """Return the distance of steps."""
        prices = [self.program.costs[variable] for variable in (*self.up, *self.chosen)]
        return self.region.start + float(np.abs(steps) @ np.array(prices))

    def wanted(self, row: Vector) -> bool:
        """Say whether the model gives a row the prediction that is wanted."""
        return bool(self.goal.met(self.ensemble(self._block(row[None, :])))[0])

    # The search itself.

    def run(self, rows: Matrix) -> None:
        """Run the search, with the nearest suitable row as the first solution."""
        self.open = self.region.start
        self._start_from(rows)
        while not self.proven and self.n_steps < self.max_steps:
            result = self.program.optimum(self.max_steps - self.n_steps, {SCORE: -SCORE_SLACK})
            self.n_steps += max(1, int(result.mip_node_count or 0))
            if result.status == 2:
                if self.cut_off and self.best is not None:
                    self._build()
                    continue
                self.sure = self.sure and not self.cut_off
                self.open = math.inf
                return
            if result.status not in (0, 1):
                self.sure = False
                return
            if result.mip_dual_bound is not None:
                self.open = max(self.open, self.region.start + float(result.mip_dual_bound))
            if result.x is None or self.proven:
                continue
            cell = self._cell(result.x)
            if self._possible(cell):
                self._settle(cell)
            else:
                self._cut_off(self._row(self._steps(result.x)))
            self._exclude(cell)

    @property
    def proven(self) -> bool:
        """Whether no open cell can hold a closer row than the best."""
        return self.sure and self._no_closer(self.open)

    def _no_closer(self, bound: float) -> bool:
        return bound + same_distance(bound) >= self.least or bound == math.inf

    @property
    def bound(self) -> float:
        """A lower bound on the distance of every solution."""
        return min(self.closed, self.least, self.open)

    def _start_from(self, rows: Matrix) -> None:
        """Keep the nearest row that has the wanted prediction, and the closest row of its cell."""
        moved = np.tile(self.region.x, (len(rows), 1))
        nearest = self.region.nearest(rows)
        moved[:, self.columns] = nearest[:, self.columns]
        for column, alike in self.alike.items():
            moved[:, column] = [alike.get(code, self.region.x[column]) for code in nearest[:, column].tolist()]
        moved = moved[self.goal.met(self.ensemble(self._block(moved)))]
        row = moved[self.region.distances(moved).argmin()] if len(moved) else None
        if row is not None:
            self._keep(row)
        self._build()
        if row is not None:
            self._realise(self._cell_of(row), MARGINS[1:2])
            self._tighten()

    def _settle(self, cell: Cell) -> None:
        """Keep the closest row of a cell."""
        if self._realise(cell, MARGINS[1:2]) and self._no_closer(self.open):
            return
        for _ in range(MOST_TANGENTS):
            steps = self._closest(cell)
            if steps is None:
                return
            if self.wanted(row := self._row(steps)) or not self._cut_off(row):
                break
        self.closed = min(self.closed, self._length(steps))
        if self.wanted(row):
            self._keep(row)
        elif self.goal.probability is not None and self.goal.direction < 0.0 and self._moving_in(cell):
            self._approach(cell)
            self.sure = self.sure and self._no_closer(self._length(steps))
        else:
            # If a solution exists but no row of doubles was found that realises it, nothing is proven.
            self.sure = (self._realise(cell, MARGINS[1:]) or self._hit(cell)) and self.sure

    def _realise(self, cell: Cell, margins: Sequence[float]) -> bool:
        """Keep the closest row of a cell, by the least margin that survives rounding; say whether there is one."""
        for margin in margins:
            steps = self._closest(cell, margin)
            if steps is not None and self.wanted(row := self._row(steps)):
                self._keep(row)
                return True
        return False

    # Probabilities of one of many classes: the logarithm of the sum of exp(-lead) is a convex function of the leads.

    def _tangent(self, row: Vector) -> tuple[dict[int, float], float]:
        """Return the inequality of a score that is tangent to that of the probability at a row."""
        leads, share = self._leads(row), self.goal.probability or 0.0
        total = float(np.logaddexp.reduce(-leads))
        slopes = np.exp(-leads - total)
        terms: dict[int, float] = {}
        for slope, (score, _) in zip(slopes.tolist(), self.scores, strict=True):
            for variable, weight in score.items():
                terms[variable] = terms.get(variable, 0.0) + slope * weight
        constant = float(slopes @ [constant for _, constant in self.scores])
        return terms, self.goal.direction * (total + float(slopes @ leads) - math.log(1.0 / share - 1.0)) - constant

    def _cut_off(self, row: Vector) -> bool:
        """Exclude rows around one where a probability is not high enough; say whether they were not yet excluded."""
        share = self.goal.probability
        if share is None or self.goal.direction < 0.0 or not 0.0 < share < 1.0:
            return False
        if np.logaddexp.reduce(-self._leads(row)) <= math.log(1.0 / share - 1.0) + ODDS_GAP:
            return False
        self._score_row(*self._tangent(row))
        return True

    def _approach(self, cell: Cell) -> None:
        """Keep rows of a cell where a probability is low enough, as long as they come closer: the least may be elsewhere."""
        program, steps = self.program, self._closest(cell)
        for _ in range(MOST_TANGENTS):
            if steps is None:
                return
            least = self.least
            self._score_row(*self._tangent(self._row(steps)))
            steps = self._closest(cell, MARGINS[1])
            for inequalities in (program.rows, program.least, program.kinds):
                inequalities.pop()
            if steps is not None and self.wanted(row := self._row(steps)):
                self._keep(row)
                if self.least > least - same_distance(least):
                    return

    def _hit(self, cell: Cell) -> bool:
        """Keep a row of a cell that hits thresholds exactly; return False if one exists but was not found."""
        steps = self._closest(cell, MARGINS[1], hits=True)
        if steps is None:
            return True
        rows = self._rows_near(steps, cell)
        rows = rows[self.goal.met(self.ensemble(self._block(rows)))]
        if not len(rows):
            return False
        moved = rows[:, self.columns] != self.region.x[self.columns]
        self._keep(rows[np.count_nonzero(moved, axis=1).argmin()])
        return True

    def _rows_near(self, steps: Vector, cell: Cell) -> Matrix:
        """Return rows a few doubles away from where the steps lead, moved onto the thresholds that must be hit."""
        coefficients, needed = self._inequalities
        n, size = len(self.columns), self.region.x.size
        held = [p for p, holds in enumerate(self.holds) if cell[holds] == 1.0 and coefficients[p] @ steps - needed[p] < TIGHT]
        tight = [found for p in held if isinstance(found := self.tests[p], Proposition) and coefficients[p, :n].any()]
        sides = np.array([_number_weights(p, size) for p in tight]).reshape(len(tight), size)
        moving = np.isin(self.columns, [moving.column for moving in self._moving_in(cell)])
        columns = self.columns[~self.whole & (moving | (sides[:, self.columns] != 0.0).any(axis=0))]
        row = self._row(steps)
        for _ in range(3):  # onto the thresholds, but for rounding, which the solver does not achieve
            short = [p.threshold - float(p.project(self._block(row[None, :]))[0]) for p in tight]
            row[columns] += np.linalg.lstsq(sides[:, columns], np.array(short), rcond=None)[0]
        spacing = np.spacing(np.maximum(np.abs(row[columns]), _sizes(tight, np.abs(sides[:, columns]))))
        moves = _moves(len(columns)) * spacing
        rows = np.tile(row, (len(moves), 1))
        rows[:, columns] += moves
        return self.region.nearest(rows)

    def _keep(self, row: Vector) -> None:
        distance = self.region.distance(row)
        if distance < self.least:
            self.best, self.least = row, distance


@functools.cache
def _moves(n_columns: int) -> Matrix:
    """Return by how many doubles to move each column: all small moves, or a random choice where there are too many."""
    farthest = min(FARTHEST_NEIGHBOUR, int((MOST_NEIGHBOURS ** (1.0 / max(n_columns, 1)) - 1.0) / 2.0))
    if farthest > 0:
        each = sorted(range(-farthest, farthest + 1), key=abs)
        return np.array(list(itertools.product(each, repeat=n_columns)), dtype=np.float64)
    return np.random.default_rng(0).integers(-1, 2, (MOST_NEIGHBOURS, n_columns)).astype(np.float64)


def _number_weights(proposition: Proposition, n_columns: int) -> Vector:
    """Return the weight of each column of numbers in a sum."""
    weights = np.zeros(n_columns)
    for term, weight in zip(proposition.columns, proposition.weights, strict=True):
        if isinstance(term, int):
            weights[term] = weight
    return weights


def _sizes(tight: list[Proposition], weights: Matrix) -> Vector:
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
    search : ChangeSearch or None
        The one that has found the best row; None if there is none.
    bound : float
        A lower bound on the distance of every solution.
    proven : bool
        Whether no row can be closer than the best.
    n_steps : int
        The number of linear programs, those of branches included.
    """

    search: ChangeSearch | None
    bound: float
    proven: bool
    n_steps: int


def search_all(ensemble: RuleEnsemble, region: Feasible, goal: Goal, rows: Matrix, max_steps: int) -> Outcome:
    """Search with each choice of missing values that become known, the fewest first."""
    best: ChangeSearch | None = None
    least, bound, proven, n_steps = math.inf, math.inf, True, 0
    for one in region.regions(ensemble.used_columns):
        if one.start > 0.0 and one.start + same_distance(one.start) >= least:
            break
        if one.start > 0.0 and n_steps >= max_steps:
            return Outcome(best, min(bound, one.start), False, n_steps)
        search = ChangeSearch(ensemble, one, goal, max_steps - n_steps, least)
        search.run(rows)
        n_steps, bound, proven = n_steps + search.n_steps, min(bound, search.bound), proven and search.proven
        if search.best is not None:
            best, least = search, search.least
    return Outcome(best, bound, proven, n_steps)
