"""Typed rules: rules as a person types them, also with >, < and =, in thresholds that suit the rows at hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Conjunction, Proposition, Rule, Shortening
from obliquerules.rules.parsing import Inequality, Reader, weight_and_condition
from obliquerules.rules.style import NUMBER

# Comparisons that conditions of a model have, which are taken as they are, and those that stand for two of them.
EXACT, EQUATIONS = (">=", "<="), ("=", "==")


def read_typed(text: str, names: Sequence[str] | None, X: NDArray[np.float64], weight: float) -> tuple[Rule, str]:
    """Return the rule that a text means, with the given weight if it has none, and a remark on what was made of it, or "".

    A comparison other than ``>=`` and ``<=`` is given the shortest threshold with which it says the same of each row of X.
    """
    if NUMBER.fullmatch(text.strip().partition(" if ")[0]):
        weight, text = weight_and_condition(text)
    inequalities = Reader(names).inequalities(text)
    if all(one.comparison in EXACT for one in inequalities):
        return Rule(weight, Conjunction(map(_proposition, inequalities))), ""
    condition = Conjunction(_suited(inequalities, X, text.strip()))
    return Rule(weight, condition), f"'{text.strip()}' is {condition.describe(names)} on these rows"


def _proposition(inequality: Inequality) -> Proposition:
    return Proposition(inequality.columns, inequality.weights, inequality.threshold)


def _suited(inequalities: list[Inequality], X: NDArray[np.float64], text: str) -> list[Proposition]:
    """Return propositions that say the same of each row, without the half of a ``=`` that always holds."""
    shortening, propositions = Shortening(X), []
    for inequality in inequalities:
        proposition = _proposition(inequality)
        if inequality.comparison in EXACT:
            propositions.append(proposition)
        elif inequality.comparison not in EQUATIONS or not proposition(X).all():
            propositions.append(shortening.with_short_threshold(proposition))
    for equation in (one for one in inequalities if one.comparison in EQUATIONS):
        _check_equation(equation, X, text)
    return propositions


def _check_equation(equation: Inequality, X: NDArray[np.float64], text: str) -> None:
    """Raise unless some rows, and not all of them, have the value."""
    if len(equation.columns) > 1:
        raise ValueError(f"'=' compares a single column with a number; got {text!r}.")
    equal = X[:, equation.columns[0]] == equation.threshold / equation.weights[0]
    if not equal.any() or equal.all():
        raise ValueError(f"{'All rows have' if equal.all() else 'No row has'} the value in {text!r}.")
