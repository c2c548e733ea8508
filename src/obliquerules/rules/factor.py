"""Factor: the value of a column that the weight of a rule is multiplied by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from obliquerules.rules.columns import Block, Column, Columns, as_block
from obliquerules.rules.text.style import PLAIN, Style


@dataclass(frozen=True, slots=True)
class Factor:
    """The value of a column of numbers, clipped to limits and counted from an origin; zero where it is missing.

    Parameters
    ----------
    column : int
    origin : float, default=0.0
        What is subtracted from the value.
    lower, upper : float
        Limits that a value beyond them is replaced by, so that no outlier can carry a prediction away; by default, none.

    Examples
    --------
    >>> Factor(0, origin=50.0, lower=20.0).describe(["age"])
    '(max(age, 20) - 50)'
    >>> Factor(0, origin=50.0, lower=20.0)([[60.0], [10.0], [float("nan")]]).tolist()
    [10.0, -30.0, 0.0]
    >>> above_50 = Factor(0, origin=50.0, lower=50.0)
    >>> above_50.is_hinge, above_50.complexity, above_50([[60.0], [10.0]]).tolist()
    (True, 2, [10.0, 0.0])
    """

    column: int
    origin: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        if isinstance(self.column, bool) or not isinstance(self.column, int | np.integer) or self.column < 0:
            raise ValueError(f"The column of a factor must be a whole number that is not negative; got {self.column!r}.")
        object.__setattr__(self, "column", int(self.column))
        for name in ("origin", "lower", "upper"):
            object.__setattr__(self, name, float(getattr(self, name)) + 0.0)
        if not math.isfinite(self.origin):
            raise ValueError(f"The origin of a factor must be finite; got {self.origin}.")
        if not self.lower < self.upper or math.inf in (self.lower, -self.upper):
            raise ValueError(f"The lower limit of a factor must be below the upper; got {self.lower} and {self.upper}.")

    @property
    def is_clipped(self) -> bool:
        """Whether there is a limit."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    @property
    def is_hinge(self) -> bool:
        """Whether values count from one of the limits, and so only on one side of it."""
        return self.origin in (self.lower, self.upper)

    @property
    def complexity(self) -> int:
        """One for the column, and one for each limit, which may be the knot of a hinge."""
        return 1 + math.isfinite(self.lower) + math.isfinite(self.upper)

    @property
    def has_origin(self) -> bool:
        """Whether an origin is printed that is neither zero nor a limit."""
        return self.origin != 0.0 and not self.is_hinge

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that are printed: finite limits, and the origin unless it is zero."""
        limits = tuple(limit for limit in (self.lower, self.upper) if math.isfinite(limit))
        return limits if self.origin == 0.0 else (*limits, self.origin)

    def __call__(self, X: ArrayLike | Block) -> NDArray[np.float64]:
        """Return the factor of each row."""
        values = self.clipped(as_block(X, self.column + 1))
        return np.where(np.isnan(values), 0.0, values - self.origin)

    def clipped(self, X: Block) -> NDArray[np.float64]:
        """Return the value of each row, clipped to the limits; NaN where it is missing."""
        return np.clip(X.matrix[:, self.column], self.lower, self.upper)

    def check(self, columns: Columns) -> None:
        """Raise unless the column holds numbers."""
        if columns[self.column].levels is not None:
            raise ValueError(f"Column '{columns[self.column].name}' has levels, and no numbers to multiply a weight by.")

    def describe(self, columns: Iterable[str | Column] | None = None, style: Style = PLAIN) -> str:
        """Return the factor as text, in the names of the given columns."""
        return style.factor(None if columns is None else Columns.of(columns), self)

    def __str__(self) -> str:
        return self.describe()
