"""Slope: a factor as a term of an ensemble in training, in the place of the condition of a rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.learning.refit import factor_scale
from obliquerules.rules import Block, Factor, Rule
from obliquerules.rules.numbers import rounded_within, shortest_decimal

# Limits and knots are shortened by at most this share of the range of a factor.
SHORTENED = 0.005


@dataclass(frozen=True)
class Slope:
    """A factor in standard deviations: what a row has of it is a number, where of a condition it is 0 or 1.

    Like a conjunction, it can be asked for its tests; the only one is the slope itself, which nothing can shorten or refine.

    Attributes
    ----------
    factor : Factor
    scale : float
        The standard deviation of the factor on the training rows.
    incomplete : bool
        Whether values of the column are missing: then the origin says what they count as.
    """

    factor: Factor
    scale: float
    incomplete: bool = False
    is_upright: ClassVar[bool] = True

    @classmethod
    def of(cls, factor: Factor, X: Block, row_weight: Vector) -> Slope:
        """Return the slope of a factor on some rows."""
        return cls(factor, factor_scale(Rule(1.0, factor=factor), X, row_weight), factor.column in X.incomplete)

    @property
    def complexity(self) -> int:
        """What is read in the factor; see `Factor`."""
        return self.factor.complexity + (self.incomplete and self.factor.has_origin)

    @property
    def propositions(self) -> tuple[Slope, ...]:
        """The slope itself."""
        return (self,)

    @property
    def used_columns(self) -> tuple[int, ...]:
        """The column of the factor."""
        return (self.factor.column,)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Slope]:
        return iter(self.propositions)

    def __call__(self, X: Block) -> Vector:
        """Return the factor of each row, in standard deviations."""
        return self.factor(X) / self.scale


def short_factor(factor: Factor, X: Block) -> Factor:
    """Return a factor with short numbers near its own.

    An origin that only moves the constant may move further.
    """
    values = factor.clipped(X)
    width = float(np.ptp(values[~np.isnan(values)]))
    if not 0.0 < width < math.inf:
        return factor
    reach = SHORTENED * width
    lower, origin, upper = (
        shortest_decimal(number - reach, number + reach) if math.isfinite(number) else number
        for number in (factor.lower, factor.origin, factor.upper)
    )
    if not factor.is_hinge and factor.column not in X.incomplete:
        origin = rounded_within(factor.origin, width)
    short = replace(factor, origin=origin, lower=lower, upper=upper)
    return short if short.is_hinge == factor.is_hinge else factor


def quantiles(values: Vector, weight: Vector, shares: Sequence[float]) -> list[float]:
    """Return the least values that, with all below, have at least these shares of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) / float(np.add.reduce(weight))
    return [float(values[order[place]]) for place in np.searchsorted(reached, shares)]
