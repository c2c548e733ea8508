"""Search for a change: a mixed-integer program proposes which conditions hold, and the model decides."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from obliquerules.arrays import Mask, Matrix, Vector
from obliquerules.inspection.closest.feasible import Feasible, Goal, same_distance
from obliquerules.inspection.closest.program import FAILS, HOLDS, LARGEST_MARGIN, SCORE, Cell, ChangeProgram, Terms
from obliquerules.inspection.closest.steps import Steps
from obliquerules.rules import Proposition, RuleEnsemble

# Margins to the thresholds that are tried in turn, in standard deviations: more in case rounding demands it.
MARGINS = (1e-9, 1e-7, LARGEST_MARGIN)
# Tolerance of the program for the needed score; the model decides about rows within it.
SCORE_SLACK = 1e-10
# Where sums must hit their thresholds exactly: about how many rows are tried, and how many doubles away from each value.
MOST_NEIGHBOURS = 20_000
FARTHEST_NEIGHBOUR = 100
# A sum closer than this to its threshold, in standard deviations, counts as hitting it.
TIGHT = 1e-6
# How often, and how closely, the border of a probability is approached by tangents in one cell.
MOST_TANGENTS, LOG_ODDS_GAP = 30, 1e-11
# Returned by SciPy: solved, or known to have no solution.
SOLVED, STOPPED, IMPOSSIBLE = 0, 1, 2


class ChangeSearch:
    """The search in one region for one goal.

    The solution of a mixed-integer program names a cell: which conditions hold, and on which side of their bends factors are.
    A linear program finds the closest point of the cell, and the model says whether it has the wanted prediction. Then the cell
    is excluded, until no other can be closer than the best row.

    Attributes
    ----------
    best : array of shape (n_features,) or None
        The closest row that was found.
    least : float
        Its distance, or a known one from another region.
    n_steps : int
        The number of linear programs, those of branches included.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible, goal: Goal, max_steps: int, least: float = math.inf) -> None:
        self.ensemble, self.region, self.goal, self.max_steps = ensemble, region, goal, max_steps
        self.steps = Steps(ensemble, region)
        self.best: Vector | None = None
        self.least = least
        self.n_steps = 0
        self._sure = True  # until a program is left unsolved
        self._settled = math.inf  # no row in a cell that was settled is closer
        self._open = region.start  # nor one in any other

    def run(self, rows: Matrix) -> None:
        """Run the search, with the nearest suitable row as the first solution."""
        self._start_from(rows)
        while not self.proven and self.n_steps < self.max_steps:
            result = self.program.optimum({SCORE: -SCORE_SLACK}, self.max_steps - self.n_steps)
            self.n_steps += max(1, int(result.mip_node_count or 0))
            if result.status not in (SOLVED, STOPPED):
                self._sure = self._sure and result.status == IMPOSSIBLE
                self._open = self.program.horizon if self._sure else self._open
                return
            if result.mip_dual_bound is not None:
                self._open = max(self._open, min(self.region.start + float(result.mip_dual_bound), self.program.horizon))
            if result.x is None or self.proven:
                continue
            cell = self.program.cell(result.x)
            if self._may_reach(cell):
                self._settle(cell)
            else:
                self._exclude_tangent(self.steps.row(self.program.steps_of(result.x)))
            self.program.exclude(cell)

    @property
    def proven(self) -> bool:
        """Whether no other row can be closer than the best."""
        return self._sure and self._no_closer(self._open)

    @property
    def bound(self) -> float:
        """A lower bound on the distance of every solution."""
        return min(self._settled, self.least, self._open)

    def _no_closer(self, bound: float) -> bool:
        return bound == math.inf or bound + same_distance(bound) >= self.least

    def wanted(self, row: Vector) -> bool:
        """Say whether the model gives a row the wanted prediction."""
        return bool(self._wanted(row[None, :])[0])

    def _wanted(self, rows: Matrix) -> Mask:
        return self.goal.met(self.ensemble(self.steps.block(rows)))

    def _keep(self, row: Vector) -> None:
        distance = self.region.distance(row)
        if distance < self.least:
            self.best, self.least = row, distance

    def _start_from(self, rows: Matrix) -> None:
        """Keep the nearest row with the wanted prediction, and the closest row of its cell."""
        moved = self.steps.moved(rows)
        moved = moved[self._wanted(moved)]
        row = moved[self.region.distances(moved).argmin()] if len(moved) else None
        if row is not None:
            self._keep(row)
        self.program = ChangeProgram(self.steps, self.goal, self.least)
        if row is not None:
            lead = 0 if self.goal.of is None else int(self._leads(row).argmin())
            self._realise(self.program.cell_of(row, lead), MARGINS[:1])
            self.program.tighten(self.least)

    # Cells.

    def _may_reach(self, cell: Cell) -> bool:
        """Say whether the model may give the wanted prediction in a cell, by the most that each rule can add there.

        Rounded sums are monotone in what is added, so this is exact where no factor moves.
        """
        block = self.steps.block(np.vstack(self._box(cell)))
        score = np.array([self.ensemble.intercept] * 2)
        with np.errstate(over="ignore", invalid="ignore"):
            for index, rule in enumerate(self.ensemble):
                if self.program.fires_in(cell, index):
                    added = rule.where(np.ones(2, dtype=np.bool_), block)
                    score = score + np.stack([added.min(axis=0), added.max(axis=0)])
        worst, best = score if self.goal.direction > 0.0 else score[::-1]
        if self.goal.of is not None:
            best = np.where(np.arange(len(best)) == self.goal.of, best, worst)
        return bool(np.isnan(best).any() or self.goal.met(best[None])[0])

    def _box(self, cell: Cell) -> tuple[Vector, Vector]:
        """Return the least and the greatest value of each column in a cell, by what it says of single columns."""
        region, program = self.region, self.program
        low, high = np.where(region.free, region.lower, region.x), np.where(region.free, region.upper, region.x)

        def limit(column: int, end: float, above: bool) -> None:
            low[column], high[column] = (
                (max(low[column], end), high[column]) if above else (low[column], min(high[column], end))
            )

        for test, variable in zip(self.steps.tests, program.holds, strict=True):
            # Only conditions that compare the number itself, not a multiple that is rounded.
            if isinstance(test, Proposition) and abs(test.weights[0]) == 1.0 and test.only_number is not None:
                column, end, holds = test.only_number, test.weights[0] * test.threshold, cell[variable] == 1.0
                beside = end if holds else math.nextafter(end, -math.inf if test.is_upright else math.inf)
                if not np.isnan(region.x[column]):
                    limit(column, beside, above=holds == test.is_upright)
        for one in program.moving:
            column = int(self.steps.columns[one.place])
            if one.beyond is not None and one.beyond in cell:
                limit(column, -one.bend if one.turned else one.bend, above=(cell[one.beyond] == 1.0) != one.turned)
            if one.place in cell:
                low[column] = high[column] = region.x[column] + cell[one.place] - cell[program.n + one.place]
        return low, high

    def _closest(self, cell: Cell, margin: float = 0.0, *, hits: bool = False) -> Vector | None:
        """Return the smallest steps into a cell by a margin; None if there are none.

        With ``hits``, the margin applies only to conditions that must not hold; the others may hit their thresholds.
        """
        self.n_steps += 1
        if not self.program.costs:
            return np.empty(0)
        score = -SCORE_SLACK if hits or not margin else margin
        result = self.program.closest(cell, {FAILS: margin, HOLDS: 0.0 if hits else margin, SCORE: score})
        self._sure = self._sure and result.status in (SOLVED, IMPOSSIBLE)
        return None if result.x is None else self.program.steps_of(result.x)

    def _settle(self, cell: Cell) -> None:
        """Keep the closest row of a cell, and a bound on all of its rows."""
        if self._realise(cell, MARGINS[:1]) and self._no_closer(self._open):
            return
        for _ in range(MOST_TANGENTS):
            steps = self._closest(cell)
            if steps is None:
                return
            row, distance = self.steps.row(steps), self.steps.length(steps)
            if self.wanted(row) or not self._exclude_tangent(row):
                break
        self._settled = min(self._settled, distance)
        if self.wanted(row):
            self._keep(row)
        elif self.goal.probability is not None and self.goal.direction < 0.0 and self.program.moving_in(cell):
            self._approach(cell, row)
            self._sure = self._sure and self._no_closer(distance)
        else:
            # If a solution exists but no row of doubles was found that realises it, nothing is proven.
            self._sure = (self._realise(cell, MARGINS) or self._hit(cell)) and self._sure

    def _realise(self, cell: Cell, margins: Sequence[float]) -> bool:
        """Keep the closest row of a cell, by the least margin that survives rounding; say whether there is one."""
        for margin in margins:
            steps = self._closest(cell, margin)
            if steps is not None and self.wanted(row := self.steps.row(steps)):
                self._keep(row)
                return True
        return False

    # Probabilities of one of many classes: the logarithm of the sum of exp(-lead) is a convex function of the leads.

    def _leads(self, row: Vector) -> Vector:
        """Return by how much the score of the class of the goal leads each other one."""
        scores, of = self.ensemble(self.steps.block(row[None, :]))[0], self.goal.of or 0
        return np.asarray(scores[of] - np.delete(scores, of))

    def _tangent(self, row: Vector) -> tuple[Terms, float]:
        """Return the inequality between leads that is tangent, at a row, to that of the probability."""
        leads = self._leads(row)
        total = float(np.logaddexp.reduce(-leads))
        slopes = np.exp(-leads - total).tolist()
        terms: Terms = {}
        for slope, (score, _) in zip(slopes, self.program.scores, strict=True):
            for variable, weight in score.items():
                terms[variable] = terms.get(variable, 0.0) + slope * weight
        constant = math.fsum(slope * constant for slope, (_, constant) in zip(slopes, self.program.scores, strict=True))
        return terms, self.goal.direction * (total + float(slopes @ leads) + self.program.log_odds) - constant

    def _exclude_tangent(self, row: Vector) -> bool:
        """Exclude rows around one with a probability that is too low; say whether this excludes the row itself."""
        if self.goal.probability is None or self.goal.direction < 0.0:
            return False
        if np.logaddexp.reduce(-self._leads(row)) <= LOG_ODDS_GAP - self.program.log_odds:
            return False
        self.program.require_score(*self._tangent(row))
        return True

    def _approach(self, cell: Cell, row: Vector) -> None:
        """Keep rows of a cell with a probability that is low enough, as long as they come closer.

        Beside the tangent at a row the probability is low enough, but elsewhere it may be, too.
        """
        for _ in range(MOST_TANGENTS):
            least = self.least
            self.program.require_score(*self._tangent(row))
            steps = self._closest(cell, MARGINS[0])
            for inequalities in (self.program.rows, self.program.least, self.program.kinds):
                inequalities.pop()
            if steps is None:
                return
            row = self.steps.row(steps)
            if self.wanted(row):
                self._keep(row)
                if self.least > least - same_distance(least):
                    return

    # Thresholds that must be hit to the last bit.

    def _hit(self, cell: Cell) -> bool:
        """Keep a row of a cell that hits thresholds exactly; return False if one exists but was not found."""
        steps = self._closest(cell, MARGINS[0], hits=True)
        if steps is None:
            return True
        rows = self._rows_near(steps, cell)
        rows = rows[self._wanted(rows)]
        if not len(rows):
            return False
        moved = rows[:, self.steps.columns] != self.region.x[self.steps.columns]
        self._keep(rows[np.count_nonzero(moved, axis=1).argmin()])
        return True

    def _rows_near(self, steps: Vector, cell: Cell) -> Matrix:
        """Return rows a few doubles away from where the steps lead, moved onto the thresholds that must be hit."""
        given, n = self.steps, len(self.steps.columns)
        coefficients, needed = given.inequalities
        held = np.array([cell[variable] == 1.0 for variable in self.program.holds], dtype=np.bool_)
        close = held & (coefficients @ steps - needed < TIGHT) & coefficients[:, :n].any(axis=1)
        tight = [test for test, is_close in zip(given.tests, close, strict=True) if is_close and isinstance(test, Proposition)]
        sides = np.array([given.number_weights(one) for one in tight]).reshape(len(tight), self.region.x.size)
        moving = np.isin(np.arange(n), [one.place for one in self.program.moving_in(cell)])
        columns = given.columns[~given.whole & (moving | (sides[:, given.columns] != 0.0).any(axis=0))]
        row, sides = given.row(steps), sides[:, columns]
        for _ in range(3):  # onto the thresholds, but for rounding, which the solver does not achieve
            short = [one.threshold - float(one.project(given.block(row[None, :]))[0]) for one in tight]
            row[columns] += np.linalg.lstsq(sides, np.array(short), rcond=None)[0]
        # Steps below the spacing of a value that reaches a threshold alone change no sum.
        thresholds = np.abs([one.threshold for one in tight]).reshape(-1, 1)
        alone = np.divide(thresholds, np.abs(sides), out=np.full_like(sides, np.inf), where=sides != 0.0).min(
            axis=0, initial=np.inf
        )
        spacing = np.spacing(np.maximum(np.abs(row[columns]), np.where(np.isinf(alone), 0.0, alone)))
        moves = _moves(len(columns)) * spacing
        rows = np.tile(row, (len(moves), 1))
        rows[:, columns] += moves
        return self.region.nearest(rows)


@functools.cache
def _moves(n_columns: int) -> Matrix:
    """Return by how many doubles to move each column: all small moves, or a random choice where there are too many."""
    farthest = min(FARTHEST_NEIGHBOUR, int((MOST_NEIGHBOURS ** (1.0 / max(n_columns, 1)) - 1.0) / 2.0))
    if farthest > 0:
        each = sorted(range(-farthest, farthest + 1), key=abs)
        return np.array(list(itertools.product(each, repeat=n_columns)), dtype=np.float64)
    return np.random.default_rng(0).integers(-1, 2, (MOST_NEIGHBOURS, n_columns)).astype(np.float64)


class Outcome(NamedTuple):
    """What was found: the search with the best row, if any, a bound on all distances, and whether the best is proven."""

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
