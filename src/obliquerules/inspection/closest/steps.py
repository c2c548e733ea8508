"""Steps of a change: how far each number moves, which level is chosen, and what conditions say of these steps."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from obliquerules.arrays import Mask, Matrix, Vector
from obliquerules.inspection.closest.feasible import Feasible
from obliquerules.rules import Block, Membership, Proposition, RuleEnsemble, Test

# Products of whole numbers up to these, and sums of a few of them, are exact.
LARGEST_WEIGHT, LARGEST_VALUE = 2.0**16, 2.0**34
# How many numbers may be looked at to find the sums of whole numbers that can occur.
MOST_SUMS = 1_000_000


class Option(NamedTuple):
    """A level that a column may take instead of its own."""

    column: int
    code: float


class Steps:
    """The steps that a row may take in a region, under the rules of an ensemble.

    A vector of steps has a number for each free column of numbers that a rule uses, in units of 1 for whole numbers and of a
    standard deviation otherwise, and then 0 or 1 for each option. Of levels on which all conditions agree, one is an option.

    Attributes
    ----------
    tests : list of Test
        The distinct conditions.
    rules : list of list of int
        The conditions of each rule, as positions in ``tests``.
    columns : array of shape (n_columns,)
    whole : array of shape (n_columns,)
        Which columns take whole numbers only.
    unit : array of shape (n_columns,)
    options : list of Option
    cost : array of shape (n_columns + n_options,)
        The distance of each step.
    """

    def __init__(self, ensemble: RuleEnsemble, region: Feasible) -> None:
        self.ensemble, self.region = ensemble, region
        self.tests: list[Test] = list(dict.fromkeys(test for rule in ensemble for test in rule.condition))
        index = {test: i for i, test in enumerate(self.tests)}
        self.rules = [[index[test] for test in rule.condition] for rule in ensemble]
        self.columns = np.array([column for column in ensemble.used_columns if region.free[column]], dtype=np.intp)
        self.whole: Mask = region.whole[self.columns]
        self.unit = np.where(self.whole, 1.0, region.unit[self.columns])
        self._alike = {column: self._representatives(column, codes) for column, codes in region.choices.items()}
        self.options = [
            Option(column, code)
            for column, alike in self._alike.items()
            for code in dict.fromkeys(alike.values())
            if code in region.choices[column]
        ]
        of_levels = [float(region.cost[option.column]) for option in self.options]
        self.cost = np.append(region.cost[self.columns] * self.unit / region.unit[self.columns], of_levels)

    def block(self, rows: Matrix) -> Block:
        """Return rows as a block of the columns of the ensemble."""
        return Block(self.ensemble.columns, rows)

    def row(self, steps: Vector) -> Vector:
        """Return the row to which steps lead."""
        row = self.region.x.copy()
        row[self.columns] += steps[: len(self.columns)] * self.unit
        for option, step in zip(self.options, steps[len(self.columns) :], strict=True):
            if step > 0.5:
                row[option.column] = option.code
        return np.asarray(self.region.nearest(row[None, :])[0])

    def length(self, steps: Vector) -> float:
        """Return the distance of the row to which steps lead."""
        return self.region.start + float(np.abs(steps) @ self.cost)

    def moved(self, rows: Matrix) -> Matrix:
        """Return rows that differ from x only by steps, as close as can be to given ones."""
        moved, nearest = np.tile(self.region.x, (len(rows), 1)), self.region.nearest(rows)
        moved[:, self.columns] = nearest[:, self.columns]
        for column, alike in self._alike.items():
            moved[:, column] = [alike.get(code, self.region.x[column]) for code in nearest[:, column].tolist()]
        return moved

    def _representatives(self, column: int, codes: Sequence[float]) -> dict[float, float]:
        """Return for each level the one that stands for all that no condition tells apart from it.

        That is the level of the row, the most frequent one or, where levels have an order, the nearest to that of the row.
        """
        now = float(self.region.x[column])
        if now >= 0.0 and self.ensemble.columns is not None and self.ensemble.columns[column].ordered:
            codes = sorted(codes, key=lambda code: abs(code - now))
        rows = np.tile(self.region.x, (len(codes) + 1, 1))
        rows[:, column] = [now, *codes]
        block = self.block(rows)
        terms = (term for test in self.tests for term in ((test,) if isinstance(test, Membership) else test.columns))
        asked = [term(block) for term in dict.fromkeys(terms) if isinstance(term, Membership) and term.column == column]
        answers = np.array(asked).reshape(len(asked), len(rows)).T.tolist()
        first: dict[tuple[bool, ...], float] = {}
        return {code: first.setdefault(tuple(answer), code) for code, answer in zip([now, *codes], answers, strict=True)}

    @functools.cached_property
    def inequalities(self) -> tuple[Matrix, Vector]:
        """For each condition, the coefficients of the steps, at most 1, and the least sum at which it holds."""
        found = [self._inequality(test) for test in self.tests]
        coefficients = np.array([steps for steps, _ in found]).reshape(len(found), len(self.cost))
        scale = np.abs(coefficients).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return coefficients / scale[:, None], np.array([least for _, least in found]) / scale

    def _inequality(self, test: Test) -> tuple[Vector, float]:
        here = self.block(self.region.x[None, :])
        if isinstance(test, Membership):
            return np.append(np.zeros(len(self.columns)), self._changes_of(test)), 0.5 - float(test(here)[0])
        if test.lacks(here)[0]:  # whatever else changes, a value is missing
            return np.zeros(len(self.cost)), -1.0 if test.missing else 1.0
        levels = np.zeros(len(self.options))
        for term, weight in zip(test.columns, test.weights, strict=True):
            if isinstance(term, Membership):
                levels += weight * self._changes_of(term)
        numbers = self.number_weights(test)[self.columns] * self.unit
        return np.append(numbers, levels), self._threshold(test) - float(test.project(here)[0])

    def number_weights(self, proposition: Proposition) -> Vector:
        """Return the weight of each column of numbers in a sum."""
        weights = np.zeros(self.region.x.size)
        for term, weight in zip(proposition.columns, proposition.weights, strict=True):
            if isinstance(term, int):
                weights[term] = weight
        return weights

    def _changes_of(self, membership: Membership) -> Vector:
        """Return by how much each option changes a membership: from 0 to 1, from 1 to 0, or not at all."""
        rows = np.tile(self.region.x, (len(self.options) + 1, 1))
        for row, option in enumerate(self.options):
            rows[row, option.column] = option.code
        holds = membership(self.block(rows)).astype(np.float64)
        return np.asarray(holds[:-1] - holds[-1])

    def _threshold(self, proposition: Proposition) -> float:
        """Return where a program may draw the line: if all values are whole, in the middle between two sums.

        A sum that hits a threshold, as sums of whole numbers do, is then far from the line.
        """
        sums = self._possible_sums(proposition)
        if sums is not None:
            below, from_there = sums[sums < proposition.threshold], sums[sums >= proposition.threshold]
            low, high = below.max(initial=sums.min() - 1.0), from_there.min(initial=sums.max() + 1.0)
            return float(0.5 * (low + high))
        return math.ceil(proposition.threshold) - 0.5 if self._is_whole(proposition) else proposition.threshold

    def _possible_sums(self, proposition: Proposition) -> Vector | None:
        """Return all sums that can occur, as the model adds them; None if there are too many."""
        region, used = self.region, proposition.used_columns
        moving = [int(column) for column in self.columns if column in proposition.columns]
        levels = list(dict.fromkeys(option.column for option in self.options if option.column in used))
        if not region.whole[moving].all():
            return None
        sizes = [region.upper[j] - region.lower[j] + 1.0 for j in moving]
        if math.prod(sizes) * math.prod(len(self._alike[j]) for j in levels) > MOST_SUMS / max(1, region.x.size):
            return None
        values = [np.arange(region.lower[j], region.upper[j] + 1.0) for j in moving]
        values += [np.array(list(dict.fromkeys(self._alike[j].values()))) for j in levels]
        cases = np.array(list(itertools.product(*values))).reshape(math.prod(map(len, values)), len(values))
        rows = np.tile(region.x, (len(cases), 1))
        rows[:, [*moving, *levels]] = cases
        return np.unique(proposition.project(self.block(rows)))

    def _is_whole(self, proposition: Proposition) -> bool:
        """Say whether a sum is a whole number, wherever the row moves."""
        terms = np.array([term for term in proposition.columns if isinstance(term, int)], dtype=np.intp)
        weights, values = np.array(proposition.weights), self.region.x[terms]
        exact = (np.abs(weights) < LARGEST_WEIGHT).all() and (np.abs(values) < LARGEST_VALUE).all()
        whole = (weights == np.rint(weights)).all() and (values == np.rint(values)).all()
        return bool(exact and whole and (self.region.whole | ~self.region.free)[terms].all())
