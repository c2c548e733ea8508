"""Shortening: the same condition in shorter decimals, so that no row changes side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from obliquerules.rules.columns import Block
from obliquerules.rules.numbers import ALL_DIGITS, WHOLE_LIMIT, rounded_to, shortest_decimal, significant_digits
from obliquerules.rules.rounding.thresholds import Projections, largest_of, middle_half
from obliquerules.rules.rounding.votes import in_whole_numbers, is_binary
from obliquerules.rules.rule_parts import Membership, Proposition, Test

if TYPE_CHECKING:
    from obliquerules.rules.ensemble import RuleEnsemble

# The largest whole number that is tried as a weight.
LARGEST_INTEGER = 1000

Weights = tuple[float, ...]


class Shortening:
    """Shortens conditions as far as the given rows allow, each condition once.

    A threshold becomes the shortest decimal in the middle half of the gap between the projections of the rows on either side.
    The weights of an oblique condition are rounded as long as such a gap remains; of the roundings that are tried, the one
    with the fewest digits is taken, threshold included. A condition that cannot be shortened, because it holds for all rows or
    for none or because the gap is too narrow, stays as it is. Rows with a missing value are ignored. A condition on a single
    column of whole numbers gets a whole number, and a sum of 0/1 inputs the smallest whole weights. Whole numbers of at most
    1000 may be preferred as weights (``integers``).
    """

    def __init__(self, X: Block, *, integers: bool = False) -> None:
        self.X = X
        self.integers = integers
        self._known: dict[Test, Test] = {}
        self._whole: dict[int, bool] = {}

    def ensemble(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Return the ensemble with shorter conditions and the same rule weights."""
        return ensemble.with_propositions(self.proposition)

    def proposition(self, proposition: Test) -> Test:
        """Return the condition in shorter decimals, or as it is."""
        if proposition not in self._known:
            shortened = proposition if isinstance(proposition, Membership) else self._shortened(proposition)
            self._known[proposition] = self.with_whole_threshold(shortened)
        return self._known[proposition]

    def with_short_threshold(self, proposition: Proposition) -> Proposition:
        """Return the condition with the same weights and the shortest threshold, or as it is."""
        return _Placement(proposition, self.X).of(proposition.weights) or proposition

    def with_whole_threshold(self, proposition: Test) -> Test:
        """Return a condition on a single column of whole numbers with the whole number that says the same of all of them."""
        column = None if isinstance(proposition, Membership) else proposition.only_number
        if isinstance(proposition, Membership) or column is None or abs(proposition.weights[0]) != 1.0:
            return proposition
        whole, values = math.ceil(proposition.threshold), proposition.weights[0] * self.X.matrix[:, column]
        if column not in self._whole:
            self._whole[column] = bool(((values == np.rint(values)) | np.isnan(values)).all())
        if whole == proposition.threshold or abs(whole) >= WHOLE_LIMIT or not self._whole[column]:
            return proposition
        if not (values >= whole).any() or not (values < whole).any():
            return proposition  # nothing is told apart, so that nothing says which numbers are meant
        return proposition.with_numbers(proposition.weights, whole)

    def of_presence(self, test: Test) -> Test:
        """Return whether a value is missing, as a condition of its own, if that is all that a threshold says of the rows."""
        if isinstance(test, Membership) or test.only_number is None:
            return test
        values = self.X.matrix[:, test.only_number]
        present = values[~np.isnan(values)]
        if not 0 < len(present) < len(values):
            return test
        holds = test.weights[0] * present >= test.threshold
        if test.missing and not holds.any():
            return Membership(test.only_number, (), missing=True)
        return Membership(test.only_number, (), negated=True) if holds.all() and not test.missing else test

    def _shortened(self, proposition: Proposition) -> Test:
        if all(is_binary(summand, self.X) for summand in proposition.columns):
            return in_whole_numbers(proposition, self.X)
        placement = _Placement(proposition, self.X)
        if len(proposition.columns) == 1:
            return placement.of((math.copysign(1.0, proposition.weights[0]),)) or proposition
        whole = _whole(proposition, placement) if self.integers else None
        if whole is not None:
            return whole
        # What was rounded once may round differently the next time: go on until there is nothing to gain.
        while (shorter := _shorter(proposition, placement)) != proposition:
            proposition = shorter
        return proposition


class _Placement:
    """Finds thresholds for other weights of a condition, such that all rows of X keep their sides."""

    def __init__(self, proposition: Proposition, X: Block) -> None:
        self.proposition = proposition
        self.X = X
        self.above = proposition.project(X) >= proposition.threshold
        self.summands = proposition.summands(X)
        self.largest = largest_of(self.summands)
        self._known: dict[Weights, Proposition | None] = {}

    def of(self, weights: Weights) -> Proposition | None:
        """Return the condition with these weights and the shortest threshold that keeps every row on its side.

        None if there is none, or only one so close to a row that another engine might put the row on the other side.
        """
        if weights not in self._known:
            self._known[weights] = self._placed(weights) if all(map(math.isfinite, weights)) else None
        return self._known[weights]

    def _placed(self, weights: Weights) -> Proposition | None:
        projections = self.proposition.with_numbers(weights, 0.0).project(self.X)
        # Most weights that are tried mix up the sides, which can be seen without computing the slack.
        if not np.fmax.reduce(projections[~self.above], initial=-math.inf) < projections[self.above].min(initial=math.inf):
            return None
        sums = Projections.of(projections, self.summands, weights, self.largest)
        interval = middle_half(sums, self.above)
        if interval is None:
            return None
        threshold = shortest_decimal(*interval)
        # Rows with an infinite projection do not bound the gap, but they must keep their sides, too.
        if not np.array_equal(projections >= threshold, self.above):
            return None
        return self.proposition.with_numbers(weights, threshold)


def _shorter(proposition: Proposition, placement: _Placement) -> Proposition:
    """Round all weights to the number of digits that makes the condition shortest, then each by itself."""
    best = placement.of(proposition.weights) or proposition
    for digits in range(1, ALL_DIGITS + 1):
        weights = tuple(rounded_to(weight, digits) for weight in proposition.weights)
        if _n_digits(weights) + 1 >= length(best):
            break  # more digits from here on
        best = min(best, placement.of(weights) or best, key=length)
    for index in range(len(best.weights)):
        start = best.weights
        for digits in range(1, significant_digits(start[index]) if abs(start[index]) != 1.0 else 1):
            weights = (*start[:index], rounded_to(start[index], digits), *start[index + 1 :])
            best = min(best, placement.of(weights) or best, key=length)
    return best


def _whole(proposition: Proposition, placement: _Placement) -> Proposition | None:
    """Return the condition with the smallest whole numbers as weights, None if there is none."""
    largest = max(map(abs, proposition.weights))
    for size in range(1, LARGEST_INTEGER + 1):
        weights = tuple(float(round(weight / largest * size)) for weight in proposition.weights)
        placed = placement.of(weights) if all(weights) else None
        if placed is not None:
            # As above: what was rounded once may round differently the next time.
            return placed if placed == proposition else _whole(placed, placement)
    return None


def length(proposition: Proposition) -> int:
    """Return the number of significant digits in the printed condition."""
    if len(proposition.columns) == 1:
        return significant_digits(proposition.threshold / proposition.weights[0])
    return _n_digits(proposition.weights) + significant_digits(proposition.threshold)


def _n_digits(weights: Weights) -> int:
    """Return the number of digits in printed weights: those of +1 and -1 are not printed."""
    return sum(significant_digits(weight) for weight in weights if abs(weight) != 1.0)
