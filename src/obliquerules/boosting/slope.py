"""Slope: a factor as a term of an ensemble in training, in the place of the condition of a rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Block, Factor


@dataclass(frozen=True)
class Slope:
    """A factor in standard deviations: what a row has of it is a number, where of a condition it is 0 or 1.

    Like a conjunction, it can be asked for its tests; the only one is the slope itself, which nothing can shorten or refine.

    Attributes
    ----------
    factor : Factor
    scale : float
        The standard deviation of the factor on the training rows.
    """

    factor: Factor
    scale: float
    complexity: ClassVar[int] = 1
    is_upright: ClassVar[bool] = True

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

    def __call__(self, X: Block) -> NDArray[np.float64]:
        """Return the factor of each row, in standard deviations."""
        return self.factor(X) / self.scale
