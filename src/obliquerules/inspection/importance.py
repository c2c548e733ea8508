"""Importance: how much the score changes if a variable takes the value of another row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Positions, Vector
from obliquerules.rules import Block, Membership, Model, Proposition, Rule
from obliquerules.rules.numbers import readable
from obliquerules.rules.text.records import Records, TextTable


@dataclass(frozen=True)
class VariableImportance:
    """How much one variable matters.

    Attributes
    ----------
    variable : str
    importance : float
        The mean absolute change of the score if the value is replaced by that of a row drawn from the data; with many classes,
        of the difference between the scores of two of them.
    n_rules : int
        The number of rules that use the variable, in a condition or as a factor.
    """

    variable: str
    importance: float
    n_rules: int


@dataclass(frozen=True)
class Importances(Records[VariableImportance]):
    """How much each variable matters, the most important first; prints as a table.

    The importance of a variable is the mean absolute change of the score *if the value that a case has in this variable were
    replaced by that of a case drawn at random*. The mean is over all pairs of rows, not a sample of them. It is in the unit of
    the score: log-odds for classes, the unit of y for the squared loss, the logarithm of the count for the Poisson loss. The
    other variables keep their values, so combinations of values that never occur in the data count, too. To be missing counts
    as a value.

    With many classes, what changes is the difference between the scores of two classes drawn at random, the log-odds of one
    against the other: the mean is over all pairs of classes, too. So it does not matter what is added to all scores of a row,
    and with two classes this would be the mean absolute change of the log-odds.

    Attributes
    ----------
    variables : tuple of VariableImportance
        All columns, in descending order of importance.
    """

    variables: tuple[VariableImportance, ...]

    def _records(self) -> tuple[VariableImportance, ...]:
        return self.variables

    def _parts(self) -> Iterator[str | TextTable]:
        used = [variable for variable in self.variables if variable.n_rules]
        lines = [(readable(v.importance), str(v.n_rules), v.variable) for v in used]
        yield TextTable([("importance", "rules", "variable"), *lines])
        unused = len(self.variables) - len(used)
        if unused:
            yield f"({unused} other variable{'' if unused == 1 else 's'} in no rule)"


def variable_importance(model: Model, X: NDArray[np.float64] | Block, weight: Vector) -> Importances:
    """Return the importance of each column of X, whose rows have the given weights."""
    block = model.ensemble.block(X)
    found = []
    for column, name in enumerate(block.names):
        rules = [rule for rule in model.ensemble if column in rule.used_columns]
        size = _mean_change(rules, column, block, weight) if rules else 0.0
        found.append(VariableImportance(name, size, len(rules)))
    return Importances(tuple(sorted(found, key=lambda variable: -variable.importance)))


def _mean_change(rules: list[Rule], column: int, block: Block, weight: Vector) -> float:
    """Return the mean absolute change over all pairs of a row that is changed and a row that gives the value.

    For each row, a rule fires on an interval of the sorted values of the column. Between the ends of these intervals the score
    is constant, or linear in the value if that is a factor, so all values there are counted at once. Levels on which all
    conditions agree are counted at once, too, and so are missing values.
    """
    before = np.sum([rule.contribution(block) for rule in rules], axis=0)
    values = block.matrix[:, column]
    has_levels = block.column(column).levels is not None
    by_interval = np.zeros(len(block), dtype=np.bool_) if has_levels else ~np.isnan(values)
    total = np.zeros(len(block))
    if by_interval.any():
        total += _change_to_numbers(rules, column, block, np.where(by_interval, weight, 0.0), before)
    for value, mass in () if by_interval.all() else _alike(rules, column, block.rows(~by_interval), weight[~by_interval]):
        there = _with_value(block, column, value)
        total += mass * size_of(np.sum([rule.contribution(there) for rule in rules], axis=0) - before)
    return float(np.average(total, weights=weight) / weight.sum())


def size_of(change: Vector) -> Vector:
    """Return the size of the change of each score; with many classes, the mean over all pairs of them of how they move apart.

    >>> size_of(np.array([-2.0, 1.0])).tolist(), size_of(np.array([[3.0, 0.0, 0.0], [5.0, 5.0, 5.0]])).tolist()
    ([2.0, 1.0], [2.0, 0.0])
    """
    if change.ndim == 1:
        return np.abs(change)
    # In ascending order, a change is the greater one of as many pairs as there are changes before it.
    n = change.shape[1]
    ranks = 2.0 * np.arange(n) - (n - 1)
    return np.asarray((np.sort(change, axis=1) * ranks).sum(axis=1) / (0.5 * n * (n - 1)))


def _with_value(block: Block, column: int, value: float | Vector) -> Block:
    """Return the rows with other values in one column."""
    changed = block.matrix.copy()
    changed[:, column] = value
    return Block(block.columns, changed)


def _alike(rules: list[Rule], column: int, block: Block, weight: Vector) -> list[tuple[float, float]]:
    """Return one of each of the values of a column that all conditions on levels take alike, with the weight of all of them."""
    values, position = np.unique(block.matrix[:, column], return_inverse=True)
    mass = np.bincount(position.ravel(), weight, minlength=len(values))
    rows = _with_value(Block(block.columns, np.zeros((len(values), block.n_columns))), column, values)
    tests = (test for rule in rules for test in rule.condition)
    terms = dict.fromkeys(term for test in tests for term in ((test,) if isinstance(test, Membership) else test.columns))
    asked = [term for term in terms if isinstance(term, Membership) and term.column == column]
    # Where nothing is asked of the levels, being missing is still a difference to a sum.
    answers = [np.isnan(values), *(one(rows) for one in asked)]
    keys = map(tuple, np.column_stack(answers).tolist())
    found: dict[tuple[bool, ...], list[float]] = {}
    for key, value, share in zip(keys, values.tolist(), mass.tolist(), strict=True):
        found.setdefault(key, [value, 0.0])[1] += share
    return [(value, share) for value, share in found.values()]


def _change_to_numbers(rules: list[Rule], column: int, block: Block, weight: Vector, before: Vector) -> Vector:
    """Return for each row the sum over the numbers of a column, times their weights, of how much they change the score."""
    present = ~np.isnan(block.matrix[:, column])
    values, position = np.unique(block.matrix[present, column], return_inverse=True)
    mass = np.bincount(position.ravel(), weight[present]).astype(np.float64)
    intervals = [_firing_interval(rule, column, values, block) for rule in rules]
    slopes = _Slopes.of(rules, column, values, mass)
    n, cumulative = len(block), np.append(0.0, np.cumsum(mass))
    ends = [np.zeros(n, dtype=np.intp), *(end for pair in intervals for end in pair)]
    ends += [] if slopes is None else [np.full(n, cut) for cut in slopes.cuts]
    starts = np.sort(np.column_stack(ends), axis=1).T
    total = np.zeros(n)
    for start, stop in zip(starts, [*starts[1:], np.full(n, len(values))], strict=True):
        fires = [(low <= start) & (start < high) for low, high in intervals]
        there = block if slopes is None else _with_value(block, column, values[np.minimum(start, len(values) - 1)])
        after = np.sum([rule.where(fired, there) for rule, fired in zip(rules, fires, strict=True)], axis=0)
        if slopes is None:
            total += (cumulative[stop] - cumulative[start]) * size_of(after - before)
        else:
            total += slopes.sum_of_sizes(start, stop, after - before, slopes.steepness(fires, start))
    return total


@dataclass(frozen=True, eq=False)
class _Slopes:
    """The rules whose factor is a column, on the sorted values of that column, which have weights.

    Attributes
    ----------
    weights : array of shape (n_rules,) or (n_rules, n_classes)
        What is multiplied by the column in each rule, zero where it is no factor.
    inside : array of shape (n_rules, 2)
        The positions of the values between the limits of each factor, the second being the first one beyond.
    values, centred : array of shape (n_values,)
        The second are counted from one of them, and no further away than the widest limits: the sums stay exact where values
        lie far from zero, or a few far from all others.
    mass, moment : array of shape (1 + n_values,)
        The sums of weights, and of weights times centred values, of all values before each position.
    """

    weights: Vector
    inside: Positions
    values: Vector
    centred: Vector
    mass: Vector
    moment: Vector

    @classmethod
    def of(cls, rules: list[Rule], column: int, values: Vector, mass: Vector) -> _Slopes | None:
        """Return the slopes in a column; None if it is no factor of any rule."""
        factors = [rule.factor if rule.factor is not None and rule.factor.column == column else None for rule in rules]
        used = [factor for factor in factors if factor is not None]
        if not used:
            return None
        weights = [np.multiply(rule.weight, factor is not None) for rule, factor in zip(rules, factors, strict=True)]
        limits = [(-np.inf, -np.inf) if factor is None else (factor.lower, factor.upper) for factor in factors]
        inside = [(np.searchsorted(values, low), np.searchsorted(values, high, side="right")) for low, high in limits]
        held = np.clip(values, min(factor.lower for factor in used), max(factor.upper for factor in used))
        centred = held - held[len(held) // 2]
        sums = (np.append(0.0, np.cumsum(one)) for one in (mass, mass * centred))
        return cls(np.array(weights), np.array(inside, dtype=np.intp), values, centred, *sums)

    @property
    def cuts(self) -> Positions:
        """The positions at which a factor begins or ceases to change."""
        return np.unique(self.inside)

    def steepness(self, fires: list[NDArray[np.bool_]], start: Positions) -> Vector:
        """Return how much the score of each row changes with the value from a position on, given which rules fire there."""
        changing = [(low <= start) & (start < high) for low, high in self.inside]
        slopes = [
            np.multiply.outer(one & fired, weight) for one, fired, weight in zip(changing, fires, self.weights, strict=True)
        ]
        return np.asarray(np.sum(slopes, axis=0), dtype=np.float64)

    def sum_of_sizes(self, start: Positions, stop: Positions, first: Vector, steepness: Vector) -> Vector:
        """Return for each row the sum, over the values between two positions, of the size of the change times the weight."""
        if first.ndim == 1:
            return self._sum_of_sizes(start, stop, first, steepness)
        pairs = list(combinations(range(first.shape[1]), 2))
        apart = ((first[:, one] - first[:, other], steepness[:, one] - steepness[:, other]) for one, other in pairs)
        return np.asarray(sum(self._sum_of_sizes(start, stop, *one) for one in apart) / len(pairs))

    def _sum_of_sizes(self, start: Positions, stop: Positions, first: Vector, steepness: Vector) -> Vector:
        """Return the same for one score, or for the difference of two.

        The change is linear in the value, and ``first`` at the first one: from where it is zero on it has the other sign.
        """
        at = np.minimum(start, len(self.values) - 1)
        distance = np.divide(-first, steepness, out=np.full(len(first), np.inf), where=steepness != 0.0)
        turn = np.clip(np.searchsorted(self.values, self.values[at] + distance), start, stop)
        level = first - steepness * self.centred[at]
        before, after = (
            level * (self.mass[high] - self.mass[low]) + steepness * (self.moment[high] - self.moment[low])
            for low, high in ((start, turn), (turn, stop))
        )
        return np.asarray(np.abs(before) + np.abs(after))


def _firing_interval(rule: Rule, column: int, values: Vector, block: Block) -> tuple[Positions, Positions]:
    """Return for each row the interval of the sorted values of the column on which the rule fires."""
    n = len(block)
    low, high = np.zeros(n, dtype=np.intp), np.full(n, len(values), dtype=np.intp)
    present = _with_value(block, column, values[0])  # for conditions that ask no more than whether the value is missing
    for test in rule.condition:
        if isinstance(test, Membership) or column not in test.columns:
            high[~test(present if column in test.used_columns else block)] = 0
            continue
        turn = _turning_point(test, column, values, block)
        if test.weights[test.columns.index(column)] > 0.0:
            low = np.maximum(low, turn)
        else:
            high = np.minimum(high, turn)
    return low, np.maximum(low, high)


def _turning_point(proposition: Proposition, column: int, values: Vector, block: Block) -> Positions:
    """Return for each row the position of the first value from which the condition has its other truth value.

    Rounded products and sums are monotone, so bisection with the arithmetic of the model finds it exactly.
    """
    rising = proposition.weights[proposition.columns.index(column)] > 0.0
    n, changed = len(block), block.matrix.copy()
    low, high = np.zeros(n, dtype=np.intp), np.full(n, len(values), dtype=np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        changed[:, column] = values[np.minimum(middle, len(values) - 1)]
        turned = proposition(Block(block.columns, changed)) == rising
        open_rows = low < high
        high = np.where(open_rows & turned, middle, high)
        low = np.where(open_rows & ~turned, middle + 1, low)
    return low
