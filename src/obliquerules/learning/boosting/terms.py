"""Terms: conditions of rules and slopes in training, with their values, and the objectives that rules follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Mask, Vector
from obliquerules.kernels.axis_rules import DirectedObjective
from obliquerules.rules import Block, Conjunction, Slope, Term, Test


@dataclass(frozen=True, eq=False)
class Candidate:
    """A term under consideration, with its value on each row and its objective (see `Objective`).

    The values of a condition are the rows that it covers, those of a slope numbers. The score is set by a selection; lower is
    better, and it is infinite before that.
    """

    condition: Term
    covers: NDArray[Any]
    objective: float = 0.0
    score: float = math.inf

    @property
    def is_slope(self) -> bool:
        """Whether the term is a slope."""
        return isinstance(self.condition, Slope)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The propositions of the condition; a slope has none."""
        return () if isinstance(self.condition, Slope) else self.condition.propositions

    @classmethod
    def of(cls, condition: Term, X: Block) -> Candidate:
        """Return a term with its values on some rows."""
        return cls(condition, condition(X))

    def canonical(self, X: Block) -> Candidate:
        """Return the candidate, or its complement if its only proposition begins with a minus.

        Both make the same model, because the constant is free, and ``x - 2 y >= 3`` is easier to read than ``-x + 2 y >= -3``.
        """
        if len(self.tests) != 1 or self.tests[0].is_upright:
            return self
        opposite = complement(self.tests[0], X)
        if opposite.complexity > self.condition.complexity:
            return self  # its complement would be longer by ``or missing``
        return replace(self, condition=Conjunction([opposite]), covers=~self.covers)


def complement(test: Test, X: Block) -> Test:
    """Return the condition that holds on the other rows.

    Where no row lacks a value, it says nothing of missing values, and so does not hold where one is missing.
    """
    opposite = test.opposite()
    return opposite if X.incomplete.intersection(test.used_columns) else opposite.with_missing(False)


# ``"gradient"``: the paper's gradient sum ``|g.q|``. ``"second-order"``: ``|g.q| / sqrt(h.q + ridge)``, whose square is twice
# the fall of the loss to second order with other weights fixed. ``"orthogonal"``: ``|g.q| / sqrt(|q'|^2 + ridge)``, where q' is
# the part of q orthogonal to the constant and the present rules in the metric of the hessian, ridge included: its square is
# twice the fall of the penalised loss to second order if all weights are corrected. For the squared loss without a ridge this
# is the objective of orthogonal gradient boosting (Yang et al., AISTATS 2024), with the Euclidean metric for every loss.
OBJECTIVES = ("gradient", "orthogonal", "second-order")
# A rule with less than this share of its size left after projection is redundant: the ensemble has it already.
NOTHING_LEFT = 1e-6


@dataclass(frozen=True, eq=False)
class Objective:
    """``|g.q| / sqrt(offset + m.q - |sum_i q_i m_i b_i|^2)`` of the indicator q of a set of rows.

    Attributes
    ----------
    gradient : array of shape (n_samples,)
        g.
    pattern : array of shape (n_samples,)
        The firing pattern of each row.
    mass : array of shape (n_samples,) or None
        m, the contribution of each row to the size of a rule; None if size does not matter.
    offset : float
    basis : array of shape (n_patterns, n_directions) or None
        b_i by pattern: directions that the ensemble has already, which do not count as size.
    """

    gradient: Vector
    pattern: NDArray[np.intp]
    mass: Vector | None = None
    offset: float = 0.0
    basis: NDArray[np.float64] | None = None

    def __call__(self, covers: Mask) -> float:
        """Return the objective of a rule that covers these rows; zero if it is redundant."""
        total = abs(float(self.gradient[covers].sum()))
        if self.mass is None:
            return total
        mass = self.mass[covers]
        size = left = self.offset + float(mass.sum())
        if self.basis is not None:
            shared = np.bincount(self.pattern[covers], mass, len(self.basis)) @ self.basis
            left -= float(shared @ shared)
        return total / math.sqrt(left) if left > NOTHING_LEFT * size else 0.0

    def directed(self, sign: float) -> DirectedObjective:
        """Return the objective for rules whose gradient sum has the given sign, for the compiled searches."""
        mass = np.zeros(len(self.gradient)) if self.mass is None else self.mass
        basis = np.zeros((int(self.pattern.max(initial=-1)) + 1, 0)) if self.basis is None else self.basis
        return DirectedObjective(sign * self.gradient, mass, self.offset, basis, self.pattern, self.mass is None)

    def between_patterns(self) -> float:
        """Return an upper bound on the squared objective: that of any shares of the firing patterns.

        With f the covered shares, the gradient sum is ``g.f`` and the size is at least ``f.K f``, where K is a diagonal matrix
        minus the part of the basis; the maximum is ``g.K^-1 g``.
        """
        if self.basis is None or self.mass is None:
            return math.inf
        mass = np.bincount(self.pattern, self.mass, len(self.basis)).astype(np.float64)
        gradient = np.bincount(self.pattern, self.gradient, len(self.basis))
        shared = mass[:, None] * self.basis
        size, axes = np.linalg.eigh(np.diag(mass) - shared @ shared.T)
        return float(((gradient @ axes) ** 2 / np.maximum(size, np.finfo(np.float64).eps * mass.sum())).sum())

    def ranking(self, sign: float) -> NDArray[np.intp]:
        """Return the rows in descending order of signed gradient per mass."""
        if self.mass is None:
            return np.argsort(-sign * self.gradient, kind="stable")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.gradient == 0.0, 0.0, sign * self.gradient / self.mass)
        return np.argsort(-ratio, kind="stable")
