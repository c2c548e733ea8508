"""What a stranger can work out from the file of a report: bounds of the number of rows in any set, by integer programs."""

import itertools
import math

import numpy as np
from scipy.optimize import LinearConstraint, milp

# Sums of rounded numbers are as exact as this.
SLACK = 1e-9


def between(cuts):
    """Return a value between each two neighbours of cuts, each just below a value (False) or just above it (True)."""
    cuts = sorted(set(cuts))
    middle = [0.5 * (low + high) for (low, _), (high, _) in itertools.pairwise(cuts)]
    return np.array([cuts[0][0] - 1.0, *middle, cuts[-1][0] + 1.0])


def sum_within(figure, n_rows, rounding):
    """Return the ends of the sum of which a figure is the mean, as it is published."""
    value, within = figure
    half = max(within, rounding)
    return n_rows * (value - half), n_rows * (value + half)


class Attack:
    """All linear facts that the file of a binary classifier of numbers tells about its rows.

    The unknowns are how many rows of each group and class lie in each cell of the grid that tests, ranges and medians cut.
    Every test must be on one column, and every row must have a weight of 1.

    Parameters
    ----------
    data : dict
        What the page is made of.
    learned : bool
        Whether the rules were learned from the same rows.
    """

    def __init__(self, data, learned):
        self.data, self.figures, self.learned = data, data["figures"], learned
        self.columns = sorted(map(int, self.figures["typical"]))
        axes = [between(self._cuts(column)) for column in self.columns]
        self.points = dict(zip(self.columns, (axis.ravel() for axis in np.meshgrid(*axes)), strict=True))
        self.n_cells = math.prod(map(len, axes))
        self.holds = np.array([self._holds(tests) for tests in data["conditions"]])
        self.unknowns = list(self._unknowns())
        self.group, self.cell, self.target = np.array(self.unknowns).T
        self.facts = list(self._facts())
        matrix, low, high = (np.array(part, dtype=float) for part in zip(*self.facts, strict=True))
        self.constraint = LinearConstraint(matrix, low - SLACK, high + SLACK)

    def _middle(self, column):
        """Return the ends of what a median may be; one without a distance has three digits."""
        value, within = self.figures["typical"][str(column)]
        half = max(within, 0.005 * abs(value))
        return value - half, value + half

    def _cuts(self, column):
        """Yield where the file cuts a column."""
        for test in (stored for tests in self.data["conditions"] for stored, _ in tests if stored["columns"] == [column]):
            yield test["threshold"] / test["weights"][0], test["weights"][0] < 0.0
        for low, high in (self._middle(column), self.data["ranges"].get(str(column), self._middle(column))):
            yield low, False
            yield high, True

    def _holds(self, tests):
        """Say for each cell whether a condition holds."""
        found = np.ones(self.n_cells, dtype=bool)
        for stored, _ in tests:
            (column,), (weight,) = stored["columns"], stored["weights"]
            found &= weight * self.points[column] >= stored["threshold"]
        return found

    def _unknowns(self):
        """Yield the group, the cell and the class of rows that there may be."""
        place = self.figures["conditions"]
        texts = ["".join(f"{int(digit, 16):04b}" for digit in pattern) for pattern in self.figures["groups"]["patterns"]]
        told = [tuple(bit == "1" for bit in text[: len(place)]) for text in texts]
        patterns = [tuple(cell) for cell in self.holds[place].T.tolist()]
        for group, cell in itertools.product(range(len(self.figures["groups"]["rows"])), range(self.n_cells)):
            if patterns[cell] == told[group] if group < len(told) else patterns[cell] not in told:
                yield group, cell, 0
                yield group, cell, 1

    def scores(self, size):
        """Return the score of each cell."""
        intercept, weights, conditions = self.data["ensembles"][size]
        return intercept + np.array(weights) @ self.holds[conditions] if weights else np.full(self.n_cells, intercept)

    def _facts(self):
        """Yield coefficients of the unknowns, and the least and the greatest that their sum can be."""
        groups, n_rows = self.figures["groups"], self.figures["rows"]
        for group, (rows, target) in enumerate(zip(groups["rows"], groups["target"], strict=True)):
            yield self.group == group, rows, rows
            yield (self.group == group) * self.target, target, target
        for index, figure in self.figures["coverage"].items():
            yield self.holds[int(index), self.cell], *sum_within(figure, n_rows, 0.0005)
        for size, measures in enumerate(self.figures["measures"]):
            score = self.scores(size)[self.cell]
            loss = np.logaddexp(0.0, score) - self.target * score
            for values, figure in zip((loss, (score > 0.0) != self.target), measures, strict=False):
                yield values, *sum_within(figure, n_rows, 0.0005 * abs(figure[0]))
        for size, exact, predicted in zip(self.data["sizes"], self.figures["exact"], self.figures["predicted"], strict=True):
            share = 1.0 / (1.0 + np.exp(-self.scores(size)[self.cell]))
            for group, figure in enumerate(predicted, start=len(groups["patterns"]) if exact else 0):
                yield (self.group == group) * share, *sum_within(figure, groups["rows"][group], 0.0005 * figure[0])
        yield from self._facts_of_combinations()
        for column in self.columns:
            yield from self._facts_of_column(self.points[column][self.cell], column, n_rows)

    def _facts_of_combinations(self):
        """Yield that no hidden combination has more rows than the least number, where no larger one had to join them."""
        rows, told, least = self.figures["groups"]["rows"], len(self.figures["groups"]["patterns"]), self.figures["least"]
        if told and sum(rows[told:]) > min(rows[:told]) + least:
            combination = np.unique(self.holds[self.figures["conditions"]], axis=1, return_inverse=True)[1].ravel()[self.cell]
            yield from (((combination == one) & (self.group >= told), 0, least) for one in np.unique(combination))

    def _facts_of_column(self, values, column, n_rows):
        low, high = self._middle(column)
        yield values <= high, n_rows // 2, n_rows
        yield values >= low, n_rows // 2, n_rows
        if self.learned and str(column) in self.data["ranges"]:
            low, high = self.data["ranges"][str(column)]
            yield values < low, 0, 4
            yield values > high, 0, 4

    def sets(self):
        """Yield sets of unknowns: each cell, and where one or two conditions hold or do not, in all rows and in each group."""
        sides = np.unique(np.concatenate([self.holds, ~self.holds]), axis=0)
        cells = {side.tobytes(): side for side in (first & second for first in sides for second in sides)}
        cells |= {cell.tobytes(): cell for cell in np.eye(self.n_cells, dtype=bool)}
        told = len(self.figures["groups"]["patterns"])
        parts = [self.group >= 0, self.group >= told, *(self.group == group for group in range(self.group.max() + 1))]
        yield from (cell[self.cell] & part for part in parts for cell in cells.values())

    def found_out(self, least):
        """Return those sets of fewer than ``least`` rows, but not none, whose number of rows the file tells."""
        rng = np.random.default_rng(0)
        possible = [self._possible(rng.normal(size=len(self.cell))) for _ in range(10)]
        found = []
        for chosen in self.sets():
            counts = {int(rows @ chosen) for rows in possible}
            # If any two possibilities differ, the file does not tell.
            if len(counts) == 1 and 0 < min(counts) < least:
                possible += [self._possible(sign * chosen) for sign in (1.0, -1.0)]
                if len({int(rows @ chosen) for rows in possible}) == 1:
                    found.append(chosen)
        return found

    def _possible(self, costs):
        """Return numbers of rows that fit the file, the cheapest."""
        found = milp(costs, integrality=np.ones(len(costs)), constraints=self.constraint)
        assert found.status == 0, found.message
        return found.x.round()
