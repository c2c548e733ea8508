"""Importance: how much the score changes if a variable takes the value of another row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model, Proposition, Rule
from obliquerules.rules.decimals.numbers import readable
from obliquerules.rules.records import Records, aligned
from obliquerules.rules.style import column_names

Vector = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True)
class VariableImportance:
    """How much one variable matters.

    Attributes
    ----------
    variable : str
    importance : float
        The mean absolute change of the score if the value is replaced by that of a row drawn from the data.
    n_rules : int
        The number of rules whose conditions use the variable.
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
    other variables keep their values, so combinations of values that never occur in the data count, too.

    Attributes
    ----------
    variables : tuple of VariableImportance
        All columns, in descending order of importance.
    """

    variables: tuple[VariableImportance, ...]

    def _records(self) -> tuple[VariableImportance, ...]:
        return self.variables

    def __str__(self) -> str:
        used = [variable for variable in self.variables if variable.n_rules]
        lines = [(readable(v.importance), str(v.n_rules), v.variable) for v in used]
        table = aligned([("importance", "rules", "variable"), *lines])
        unused = len(self.variables) - len(used)
        return f"{table}\n({unused} other variable{'' if unused == 1 else 's'} in no rule)" if unused else table


def variable_importance(model: Model, X: NDArray[np.float64], weight: Vector) -> Importances:
    """Return the importance of each column of X, whose rows have the given weights."""
    found = []
    for column, name in enumerate(column_names(range(X.shape[1]), model.ensemble.feature_names)):
        rules = [rule for rule in model.ensemble if any(column in proposition.columns for proposition in rule.condition)]
        size = _mean_change(rules, column, X, weight) if rules else 0.0
        found.append(VariableImportance(name, size, len(rules)))
    return Importances(tuple(sorted(found, key=lambda variable: -variable.importance)))


def _mean_change(rules: list[Rule], column: int, X: NDArray[np.float64], weight: Vector) -> float:
    """Return the mean absolute change over all pairs of a row that is changed and a row that gives the value.

    For each row, a rule fires on an interval of the sorted values of the column. Between the ends of these intervals the score
    is constant, so all values there are counted at once.
    """
    values, position = np.unique(X[:, column], return_inverse=True)
    share = np.append(0.0, np.cumsum(np.bincount(position.ravel(), weight))) / weight.sum()
    intervals = [_firing_interval(rule, column, values, X) for rule in rules]
    ends = np.sort(np.column_stack([np.zeros(len(X), dtype=np.intp), *(end for pair in intervals for end in pair)]), axis=1)
    before = np.sum([rule.contribution(X) for rule in rules], axis=0)
    total = np.zeros(len(X))
    for start, stop in zip(ends.T, [*ends.T[1:], np.full(len(X), len(values))], strict=True):
        fires = ((low <= start) & (start < high) for low, high in intervals)
        after = np.sum([rule.weight * fired for rule, fired in zip(rules, fires, strict=True)], axis=0)
        total += (share[stop] - share[start]) * np.abs(after - before)
    return float(np.average(total, weights=weight))


def _firing_interval(rule: Rule, column: int, values: Vector, X: NDArray[np.float64]) -> tuple[Positions, Positions]:
    """Return for each row the interval of the sorted values of the column on which the rule fires."""
    low, high = np.zeros(len(X), dtype=np.intp), np.full(len(X), len(values), dtype=np.intp)
    for proposition in rule.condition:
        if column not in proposition.columns:
            high[~proposition(X)] = 0
            continue
        turn = _turning_point(proposition, column, values, X)
        if proposition.weights[proposition.columns.index(column)] > 0.0:
            low = np.maximum(low, turn)
        else:
            high = np.minimum(high, turn)
    return low, np.maximum(low, high)


def _turning_point(proposition: Proposition, column: int, values: Vector, X: NDArray[np.float64]) -> Positions:
    """Return for each row the position of the first value from which the condition has its other truth value.

    Rounded products and sums are monotone, so bisection with the arithmetic of the model finds it exactly.
    """
    rising = proposition.weights[proposition.columns.index(column)] > 0.0
    changed = X.copy()
    low, high = np.zeros(len(X), dtype=np.intp), np.full(len(X), len(values), dtype=np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        changed[:, column] = values[np.minimum(middle, len(values) - 1)]
        turned = proposition(changed) == rising
        open_rows = low < high
        high = np.where(open_rows & turned, middle, high)
        low = np.where(open_rows & ~turned, middle + 1, low)
    return low
