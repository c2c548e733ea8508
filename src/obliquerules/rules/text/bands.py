"""Bands: the rules on one variable alone, in the order of their thresholds and summed up as a table."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Column
from obliquerules.rules.numbers import least_reaching
from obliquerules.rules.rule import Conjunction, Rule
from obliquerules.rules.rule_parts import Membership, Proposition
from obliquerules.rules.text.style import PLAIN, Style, column_at

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble
    from obliquerules.rules.rule_parts import Factor


@dataclass(frozen=True, order=True, slots=True)
class Cut:
    """A place on the axis of a variable, just below a value or just above it.

    Attributes
    ----------
    value : float
    above : bool
        Whether the value itself lies below the cut.
    """

    value: float
    above: bool

    def passed(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values lie above the cut."""
        return values > self.value if self.above else values >= self.value


# A sum that is smaller than the largest by this factor is what rounding has left of zero.
ROUNDING = 1e-12
START, END = Cut(-math.inf, False), Cut(math.inf, True)


@dataclass(frozen=True, slots=True)
class Band:
    """The values of a variable between two cuts, and what the rules add to the score there; its kind is that of its column."""

    low: Cut
    high: Cut
    weight: float
    kind: str = "number"

    def describe(self, style: Style = PLAIN, *, brief: bool = False) -> str:
        """Return the band in words; in brief without its lower end, where another is above it, as in a list of bands."""
        low, high = (style.value(Column("", kind=self.kind), cut.value) for cut in (self.low, self.high))
        if self.low.value == self.high.value:
            return f"exactly {low}"
        begin = f"{'above' if self.low.above else 'from'} {low}"
        if self.high == END:
            return "any value" if self.low == START else begin
        if self.low == START:
            return f"{'up to' if self.high.above else 'below'} {high}"
        to = f"{'to' if self.high.above else 'to below'} {high}"
        return to if brief else f"{begin} {to}"


@dataclass(frozen=True, slots=True)
class BandTable:
    r"""What all the rules on one variable alone add to the score, by the value of that variable.

    Attributes
    ----------
    column : int
    name : str
        The name of the variable.
    bands : tuple of Band
        From the lowest values to the highest; each begins where the one before ends.
    output : str or None
        With many classes, the one whose score is meant.
    beside_slope : bool
        Whether a slope in the same variable adds to the score, too.

    Examples
    --------
    >>> from obliquerules import RuleEnsemble
    >>> ensemble = RuleEnsemble.parse("+0.9 if balance >= 1099\n+1.2 if balance >= 1473", ["balance"])
    >>> (table,) = ensemble.band_tables()
    >>> print(table)
    balance alone: below 1099 +0, to below 1473 +0.9, from 1473 +2.1
    >>> table([1000, 1099, 1473]).tolist()
    [0.0, 0.9, 2.1]
    """

    column: int
    name: str
    bands: tuple[Band, ...]
    output: str | None = None
    beside_slope: bool = False

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return what the rules add at each value of the variable; NaN where it is missing."""
        values = np.asarray(values, dtype=np.float64)
        total = np.full(values.shape, np.nan)
        for band in self.bands:
            total = np.where(band.low.passed(values), band.weight, total)
        return total

    @property
    def legible(self) -> tuple[Band, ...]:
        """The bands as they are printed: where weights cancel but for rounding, the sum is zero."""
        least = ROUNDING * max(abs(band.weight) for band in self.bands)
        return tuple(replace(band, weight=0.0) if abs(band.weight) < least else band for band in self.bands)

    def heading(self, style: Style = PLAIN) -> str:
        """Return what the table is about: the variable and, with many classes, the class."""
        of_class = "" if self.output is None else f", {style.output(self.output)}"
        return f"{style.name(self.name)} alone{of_class}" + (", apart from its slope" if self.beside_slope else "")

    def describe(self, style: Style = PLAIN) -> str:
        """Return the table as one line."""
        bands = ", ".join(f"{band.describe(style, brief=True)} {style.signed(band.weight)}" for band in self.legible)
        return f"{self.heading(style)}: {bands}"

    def __str__(self) -> str:
        return self.describe()


def band_tables(ensemble: RuleEnsemble) -> tuple[BandTable, ...]:
    """Return a table for each variable that two or more rules use alone, in the order of the first of these rules.

    With many classes, there is a table for each variable and each class that two or more of the rules speak for.
    """
    tables = []
    for output in range(len(ensemble.intercepts)):
        own = ensemble.of_output(output)
        slopes = {rule.factor.column for rule in own if rule.factor is not None}
        for index, rules in staircases(own).items():
            column, name = column_at(ensemble.columns, index), ensemble.output_name(output)
            if len(rules) > 1:
                tables.append(BandTable(index, column.name, _bands(rules, column.kind), name, index in slopes))
    return tuple(tables)


def in_order(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules with those on one variable alone next to each other, where the first of them was."""
    left, result = staircases(rules), list[Rule]()
    for rule in rules:
        column = None if rule.factor else only_column(rule.condition)
        result += [rule] if column is None else sorted(left.pop(column, []), key=lambda stair: _cuts(stair.condition))
    return result


def staircases(rules: Iterable[Rule]) -> dict[int, list[Rule]]:
    """Return the rules on one variable alone, by its column."""
    found: dict[int, list[Rule]] = {}
    for rule in rules:
        column = None if rule.factor else only_column(rule.condition)
        if column is not None:
            found.setdefault(column, []).append(rule)
    return found


def only_column(condition: Conjunction) -> int | None:
    """Return the column of a condition on an interval of one variable; None for all others, as where missing values count."""
    columns = {None if isinstance(test, Membership) or test.missing else test.only_number for test in condition}
    return columns.pop() if len(columns) == 1 else None


def interval(condition: Conjunction) -> tuple[Cut, Cut]:
    """Return the cuts between which a condition on one variable alone holds; it never holds if the first is not the lower."""
    cuts = _cuts(condition)
    return max([START, *(cut for cut in cuts if not cut.above)]), min([END, *(cut for cut in cuts if cut.above)])


def _cuts(condition: Conjunction) -> list[Cut]:
    """Return where conditions on one variable begin to hold or, with a negative weight, cease to hold."""
    cuts = []
    for test in condition:
        assert isinstance(test, Proposition)
        (weight,) = test.weights
        # Rounding is symmetric: where -w x reaches t at its least x, w x does so at its greatest, -x.
        bound = test.threshold if abs(weight) == 1.0 else least_reaching(abs(weight), test.threshold)
        cuts.append(Cut(bound, False) if weight > 0.0 else Cut(-bound, True))
    return sorted(cuts)


def _bands(rules: Sequence[Rule], kind: str) -> tuple[Band, ...]:
    """Return the bands of rules on one variable of a kind alone; neighbours with the same sum are one."""
    held = [(rule.weights[0], *interval(rule.condition)) for rule in rules]
    inner = {cut for _, *cuts in held for cut in cuts if math.isfinite(cut.value)}
    edges = [START, *sorted(inner), END]
    bands: list[Band] = []
    for low, high in itertools.pairwise(edges):
        total = added(weight for weight, first, last in held if first <= low and high <= last)
        start = bands.pop().low if bands and bands[-1].weight == total else low
        bands.append(Band(start, high, total, kind))
    return tuple(bands)


def added(weights: Iterable[float]) -> float:
    """Return the sum from left to right, as scores are added; the sum of newer Pythons compensates for rounding."""
    return functools.reduce(operator.add, weights, 0.0)


def single_column(rule: Rule) -> int | None:
    """Return the column of numbers that a rule is on; None if there are several conditions or variables, or levels."""
    if len(rule.used_columns) != 1 or len(rule.condition) > 1:
        return None
    numbers = all(isinstance(test, Proposition) and test.only_number is not None for test in rule.condition)
    return rule.used_columns[0] if numbers else None


def bend(rule: Rule) -> float | None:
    """Return the threshold of a step, or a hinge's knot; None for all other rules."""
    if rule.factor is None:
        test = rule.condition.propositions[0] if len(rule.condition) == 1 else None
        if not isinstance(test, Proposition) or test.only_number is None or abs(test.weights[0]) != 1.0:
            return None
        return test.weights[0] * test.threshold
    is_knot = rule.factor.is_hinge and rule.factor.complexity == 2 and not rule.condition.propositions
    return rule.factor.origin if is_knot else None


def bent_at(hinge: Factor, knot: float) -> Factor:
    """Return a hinge with another knot.

    >>> from obliquerules.rules import Factor
    >>> print(bent_at(Factor(0, origin=3.0, lower=3.0), 4.0), bent_at(Factor(0, origin=3.0, upper=3.0), 4.0))
    (max(x0, 4) - 4) (min(x0, 4) - 4)
    """
    if hinge.lower == hinge.origin:
        return replace(hinge, origin=knot, lower=knot)
    return replace(hinge, origin=knot, upper=knot)


def bends(rules: Iterable[Rule]) -> set[tuple[int | None, float]]:
    """Return the columns and numbers of all steps and hinges."""
    return {(single_column(rule), number) for rule in rules if (number := bend(rule)) is not None}
