"""Program of a change: conditions, rules and the goal as inequalities between steps, some of them whole numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from obliquerules.arrays import Vector
from obliquerules.inspection.closest.feasible import Goal, same_distance
from obliquerules.inspection.closest.steps import Steps
from obliquerules.rules import Factor

# As exact as the solver allows without whole numbers.
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# The largest coefficient of an inequality. Small ones keep rounded whole numbers within the tolerance of the solver, which
# would otherwise complain to the standard output.
LARGEST_COEFFICIENT = 0.25
# The largest margin that is asked for, in units of the inequalities of conditions.
LARGEST_MARGIN = 1e-5
# A condition that is further from changing is decided.
DECIDED = 1e-6
# How far a column without ends may move, in its units, as long as no change is known.
FARTHEST = 1e4
# How exactly the needed score is found, if it is close to zero.
SCORE_GAP = 1e-30
# Probabilities nearer to 0 or 1 count as this one or its complement.
TINY = 1e-15
# Kinds of inequalities: of conditions that hold, of those that do not, of scores, of the choice of a lead, of excluded cells.
HOLDS, FAILS, SCORE, LEAD, EXCLUDED = "holds", "fails", "score", "lead", "excluded"

# A weighted sum of variables, by their numbers.
Terms = dict[int, float]
# A part of a program, in which all rules fire or not and are linear: variables with their values.
Cell = dict[int, float]


class Program:
    """A mixed-integer linear program that grows, at least cost; each inequality says that a sum is at least a number.

    Inequalities have a kind, by which they can be given a margin or be left out.
    """

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.bounds: list[tuple[float, float]] = []
        self.whole: list[bool] = []
        self.rows: list[Terms] = []
        self.least: list[float] = []
        self.kinds: list[str] = []

    def variable(self, low: float, high: float, cost: float = 0.0, *, whole: bool = False) -> int:
        """Add a variable; return its number."""
        self.costs.append(cost)
        self.bounds.append((low, high))
        self.whole.append(whole)
        return len(self.costs) - 1

    def require(self, terms: Terms, least: float, kind: str = "") -> None:
        """Add an inequality."""
        self.rows.append(terms)
        self.least.append(least)
        self.kinds.append(kind)

    def range_of(self, terms: Terms) -> tuple[float, float]:
        """Return the least and the greatest value of a sum within the bounds of its variables."""
        ends = [[weight * end for end in self.bounds[variable]] for variable, weight in terms.items() if weight]
        return sum(map(min, ends)), sum(map(max, ends))

    def _inequalities(self, margins: Mapping[str, float], without: Collection[str] = ()) -> tuple[csr_array, Vector]:
        """Return the left sides, each scaled to the same largest coefficient, and the right sides."""
        kept = [row for row, kind in enumerate(self.kinds) if kind not in without]
        places = [(i, variable) for i, row in enumerate(kept) for variable in self.rows[row]]
        weights = [weight for row in kept for weight in self.rows[row].values()]
        where = tuple(np.array(places, dtype=np.int32).reshape(-1, 2).T)
        left = csr_array((weights, where), shape=(len(kept), len(self.costs)))
        right = np.array([self.least[row] + margins.get(self.kinds[row], 0.0) for row in kept])
        return left, right

    def optimum(self, margins: Mapping[str, float], n_nodes: int) -> Any:
        """Return the solution of branch and cut within a limit of nodes, to the tolerance of the solver."""
        left, right = self._inequalities(margins)
        largest = np.zeros(len(right))
        np.maximum.at(largest, left.nonzero()[0], np.abs(left.data[left.data != 0.0]))
        scale = LARGEST_COEFFICIENT / np.where(largest > 0.0, largest, 1.0)
        return milp(
            self.costs,
            integrality=np.array(self.whole),
            bounds=Bounds(*np.array(self.bounds).T),
            constraints=LinearConstraint(left * scale[:, None], right * scale, np.inf),
            options={"node_limit": n_nodes, "mip_rel_gap": 0.0},
        )

    def exact_optimum(self, fixed: Cell, margins: Mapping[str, float], without: Collection[str]) -> Any:
        """Return the optimum with some variables fixed and without some kinds of inequalities."""
        bounds = np.array(self.bounds)
        bounds[list(fixed)] = np.array(list(fixed.values()))[:, None]
        left, right = self._inequalities(margins, without)
        whole = np.array(self.whole) & (bounds[:, 0] < bounds[:, 1])
        return linprog(
            self.costs,
            -left,
            -right,
            bounds=bounds,
            method="highs",
            integrality=whole.astype(np.intp) if whole.any() else None,
            options=EXACT | ({"mip_rel_gap": 0.0} if whole.any() else {}),
        )


class MovingRule(NamedTuple):
    """A rule with a factor that moves, in one of the scores.

    The variable ``beyond`` says on which side of a bend the column is, if there is one; the column is turned if the score falls
    with it.
    """

    rule: int
    score: int
    place: int
    bend: float
    beyond: int | None
    turned: bool


class ChangeProgram(Program):
    """The program of all changes up to a distance that may lead to a goal.

    It has two variables for the steps of each column, forth and back, one of 0 or 1 for each option, one of 0 or 1 for each
    condition, one for each rule, and one for each amount of a factor that moves.

    Attributes
    ----------
    holds : list of int
        For each condition, the variable that says whether it holds.
    moving : list of MovingRule
    scores : list of (Terms, float)
        The score, or each lead of a class over another, as a sum and a constant, turned so that more of it is wanted.
    leads : list of int
        If one of many leads is enough, the variable that chooses each.
    log_odds : float
        The logarithm of the odds of the probability in question, if there is one.
    horizon : float
        The distance up to which all changes are looked at, if there is no end.
    """

    def __init__(self, steps: Steps, goal: Goal, least: float) -> None:
        super().__init__()
        self.steps, self.goal, self.n = steps, goal, len(steps.columns)
        costs = steps.cost[: self.n]
        reach = self._reach(least)
        self.horizon = FARTHEST * float(costs[(reach == np.inf).any(axis=0)].min(initial=np.inf))
        self.high, self.low = np.minimum(reach, FARTHEST) if math.isfinite(self.horizon) else reach
        self.low = -self.low
        for ends in (self.high, -self.low):
            for end, cost, whole in zip(ends.tolist(), costs.tolist(), steps.whole.tolist(), strict=True):
                self.variable(0.0, end, cost, whole=whole)
        chosen = [self.variable(0.0, 1.0, cost, whole=True) for cost in steps.cost[self.n :].tolist()]
        for column in dict.fromkeys(option.column for option in steps.options):
            taken = [one for one, option in zip(chosen, steps.options, strict=True) if option.column == column]
            self.require(dict.fromkeys(taken, -1.0), -1.0)
        self.n_steps = len(self.costs)
        self.holds = [self._condition(*inequality) for inequality in zip(*steps.inequalities, strict=True)]
        self.fires = [self._firing([self.holds[test] for test in tests]) for tests in steps.rules]
        self.moving: list[MovingRule] = []
        self.scores: list[tuple[Terms, float]] = []
        self.leads: list[int] = []
        self._amounts: set[int] = set()
        share = 0.5 if goal.probability is None else min(max(goal.probability, TINY), 1.0 - TINY)
        self.log_odds = math.log(share / (1.0 - share))
        self._require_goal()

    def _reach(self, least: float) -> Any:
        """Return how far each column may move, up and down, for the change to be closer than a distance."""
        steps, region = self.steps, self.steps.region
        reach = np.vstack([region.upper - region.x, region.x - region.lower])[:, steps.columns] / steps.unit
        near = np.minimum(reach, max(0.0, least - region.start + same_distance(least)) / steps.cost[: self.n])
        return np.where(steps.whole, np.floor(near), near)

    def tighten(self, least: float) -> None:
        """Bound the steps by a distance that is known now."""
        for variable, end in enumerate(self._reach(least).ravel().tolist()):
            self.bounds[variable] = (0.0, min(end, self.bounds[variable][1]))

    # Conditions and rules.

    def _condition(self, coefficients: Vector, needed: float) -> int:
        """Add a variable that says whether a condition holds."""
        terms: Terms = {}
        for place in np.flatnonzero(coefficients).tolist():
            weight = float(coefficients[place])
            terms |= {place: weight, self.n + place: -weight} if place < self.n else {self.n + place: weight}
        low, high = self.range_of(terms)
        if low > needed + DECIDED or high < needed - DECIDED:
            return self.variable(float(low > needed), float(low > needed), whole=True)
        holds = self.variable(0.0, 1.0, whole=True)
        spare = 2.0 * LARGEST_MARGIN  # where the other answer is given, the margin must not matter
        self.require(terms | {holds: low - needed - spare}, low - spare, HOLDS)
        self.require({one: -weight for one, weight in terms.items()} | {holds: high - needed + spare}, -needed, FAILS)
        return holds

    def _firing(self, held: list[int]) -> int:
        """Add a variable that says whether a rule fires, unless its only condition says so."""
        if len(held) == 1:
            return held[0]
        fires = self.variable(0.0 if held else 1.0, 1.0)
        for one in held:
            self.require({one: 1.0, fires: -1.0}, 0.0)
        self.require({fires: 1.0} | dict.fromkeys(held, -1.0), 1.0 - len(held))
        return fires

    # The goal.

    def _require_goal(self) -> None:
        """Require a score, all leads of a class or, where less is wanted, one of them."""
        goal, ensemble = self.goal, self.steps.ensemble
        table = np.array([ensemble.intercepts, *(rule.weights for rule in ensemble)])
        if goal.of is not None:
            table = table[:, [goal.of]] - np.delete(table, goal.of, axis=1)
        for constant, *weights in (goal.direction * table).T.tolist():
            self.scores.append((self._score(weights), constant))
        # Less is wanted of a probability: then the least lead is at most what all would be if they were equal.
        least_of = math.log(len(self.scores)) if goal.probability is not None and goal.direction < 0.0 else 0.0
        lead = goal.direction * (self.log_odds + least_of)
        for terms, constant in self.scores:
            low, high = self.range_of(terms)
            needed = self._needed(constant + low - 1.0, constant + high + 1.0) if goal.of is None else lead
            least = min(max(needed - constant, low - 1.0), high + 1.0)
            if goal.of is not None and goal.direction < 0.0:
                low -= 0.01 * (high - low)  # room for a margin
                self.leads.append(self.variable(0.0, 1.0, whole=True))
                terms, least = terms | {self.leads[-1]: low - least}, low
            self.require_score(terms, least)
        if self.leads:
            self.require(dict.fromkeys(self.leads, 1.0), 1.0, LEAD)

    def _needed(self, bad: float, good: float) -> float:
        """Return the greatest score that is not wanted, turned so that more is wanted, between two ends."""
        while abs(good - bad) > max(SCORE_GAP, math.ulp(1.0) * max(abs(good), abs(bad))):
            middle = 0.5 * good + 0.5 * bad
            good, bad = (middle, bad) if self.goal.by(self.goal.direction * middle) else (good, middle)
        return bad

    def require_score(self, terms: Terms, least: float) -> None:
        """Add an inequality of a score, scaled by what moves most in it, or by the greatest weight."""
        amounts = [abs(weight) for variable, weight in terms.items() if variable in self._amounts]
        scale = max(amounts or map(abs, terms.values()), default=1.0) or 1.0
        self.require({variable: weight / scale for variable, weight in terms.items()}, least / scale, SCORE)

    def _score(self, weights: list[float]) -> Terms:
        """Return a score, but for its constant, as a sum of variables."""
        terms: Terms = {}
        for rule, (weight, fires) in enumerate(zip(weights, self.fires, strict=True)):
            factor = self.steps.ensemble[rule].factor
            if factor is None:
                terms[fires] = terms.get(fires, 0.0) + weight
                continue
            places = np.flatnonzero((self.steps.columns == factor.column) & (self.low < self.high)).tolist()
            if places and weight:
                terms[self._amount(rule, weight, factor, places[0])] = abs(weight) * float(self.steps.unit[places[0]])
            else:
                still = float(factor(self.steps.region.x[None, :])[0])
                terms[fires] = terms.get(fires, 0.0) + weight * still
        return terms

    def _amount(self, rule: int, weight: float, factor: Factor, place: int) -> int:
        """Add a variable that is at most what a rule with a moving factor adds, in the unit of a step.

        The column is turned so that the amount grows with it. Then the amount is the least of a few lines, but for a bend at
        the lower limit, on either side of which it has lines of its own.
        """
        unit, fires, beyond = float(self.steps.unit[place]), self.fires[rule], None
        here, turned, forth = float(self.steps.region.x[factor.column]), weight < 0.0, {place: 1.0, self.n + place: -1.0}
        low, high = here + unit * float(self.low[place]), here + unit * float(self.high[place])
        if turned:
            here, low, high, forth = -here, -high, -low, {place: -1.0, self.n + place: 1.0}
            factor = Factor(factor.column, -factor.origin, -factor.upper, -factor.lower)
        straight = (here - factor.origin) / unit
        bottom, top = ((min(max(end, factor.lower), factor.upper) - factor.origin) / unit for end in (low, high))
        amount = self.variable(min(bottom, 0.0), max(top, 0.0))
        self.require({fires: top, amount: -1.0}, 0.0)
        lines: list[tuple[Terms, float]] = []
        if low < factor.lower < high:
            beyond, gap = self.variable(0.0, 1.0, whole=True), (factor.lower - low) / unit
            lines += [({beyond: top - bottom}, bottom), (forth | {beyond: -gap}, straight + gap)]
        elif factor.lower <= low < factor.upper:
            lines.append((forth, straight))
        if high > factor.upper or high <= factor.lower:
            lines.append(({}, top))
        slack = max(0.0, -bottom)  # where the rule does not fire, the amount is zero
        for line, constant in lines:
            self.require({amount: -1.0, fires: -slack} | line, -constant - slack)
        self._amounts.add(amount)
        self.moving.append(MovingRule(rule, len(self.scores), place, factor.lower, beyond, turned))
        return amount

    # Cells.

    def moving_in(self, cell: Cell) -> list[MovingRule]:
        """Return the rules that fire in a cell and do not add the same everywhere."""
        return [one for one in self.moving if self.fires_in(cell, one.rule)]

    def fires_in(self, cell: Cell, rule: int) -> bool:
        """Say whether a rule fires in a cell."""
        return all(cell[self.holds[test]] == 1.0 for test in self.steps.rules[rule])

    def cell(self, found: Vector) -> Cell:
        """Return the cell of a solution; the steps of factors are fixed, too, if they are whole."""
        cell = {variable: float(np.round(found[variable])) for variable in self.holds}
        moving = self.moving_in(cell)
        if moving and self.leads:
            lead = int(np.argmax(found[self.leads]))
            cell[self.leads[lead]] = 1.0
            if self.goal.probability is None:  # of a probability, all leads matter
                moving = [one for one in moving if one.score == lead]
        for one in moving:
            if one.beyond is not None:
                cell[one.beyond] = float(np.round(found[one.beyond]))
            if self.steps.whole[one.place]:
                step = float(np.round(found[one.place] - found[self.n + one.place]))
                cell |= {one.place: max(step, 0.0), self.n + one.place: max(-step, 0.0)}
        return cell

    def cell_of(self, row: Vector, lead: int) -> Cell:
        """Return the cell of a row and, if one of many leads is enough, of this lead."""
        steps, found = self.steps, np.zeros(len(self.costs))
        moved = (row - steps.region.x)[steps.columns] / steps.unit
        found[: self.n], found[self.n : 2 * self.n] = np.maximum(moved, 0.0), np.maximum(-moved, 0.0)
        block = steps.block(row[None, :])
        found[self.holds] = [float(test(block)[0]) for test in steps.tests]
        for one in self.moving:
            if one.beyond is not None:
                value = float(row[steps.columns[one.place]])
                found[one.beyond] = (-value if one.turned else value) > one.bend
        if self.leads:
            found[self.leads[lead]] = 1.0
        return self.cell(found)

    def exclude(self, cell: Cell) -> None:
        """Require that at least one thing differs from a cell."""
        terms: Terms = {one: -1.0 if value else 1.0 for one, value in cell.items() if one >= self.n_steps}
        least = 1.0 - sum(value == 1.0 for one, value in cell.items() if one >= self.n_steps)
        for place in (one for one in cell if one < self.n):
            value, low, high = cell[place] - cell[self.n + place], float(self.low[place]), float(self.high[place])
            above, below = (self.variable(0.0, 1.0, whole=True) for _ in range(2))
            self.require({place: 1.0, self.n + place: -1.0, above: low - value - 1.0}, low, EXCLUDED)
            self.require({place: -1.0, self.n + place: 1.0, below: value - high - 1.0}, -high, EXCLUDED)
            terms |= {above: 1.0, below: 1.0}
        self.require(terms, least, EXCLUDED)

    def closest(self, cell: Cell, margins: Mapping[str, float]) -> Any:
        """Return the closest point in a cell, by margins; where nothing moves, the cell says what the score is."""
        without = (EXCLUDED,) if self.moving_in(cell) else (EXCLUDED, SCORE, LEAD)
        others = [one for one in range(self.n_steps, len(self.costs)) if self.whole[one]]
        return self.exact_optimum(dict.fromkeys(others, 0.0) | cell, margins, without)

    def steps_of(self, found: Vector) -> Vector:
        """Return the steps of a solution."""
        numbers = found[: self.n] - found[self.n : 2 * self.n]
        return np.append(np.where(self.steps.whole, np.round(numbers), numbers), np.round(found[2 * self.n : self.n_steps]))
