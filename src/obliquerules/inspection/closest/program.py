"""Mixed-integer programs: variables, some of them whole, inequalities between them, and the least cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from obliquerules.arrays import Matrix, Vector

# As exact as the solver allows.
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

SIZE = 0.25

# A sum of variables, by their numbers.
Terms = Mapping[int, float]


class Program:
    """A mixed-integer program that grows: each inequality says that a sum of variables is at least a number.

    Inequalities have a kind, by which they can be given a margin or be left out.
    """

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.bounds: list[tuple[float, float]] = []
        self.whole: list[bool] = []
        self.rows: list[Terms] = []
        self.least: list[float] = []
        self.kinds: list[str] = []

    def variable(self, low: float, high: float, cost: float = 0.0, *, whole: bool = False) -> int:
        """Add a variable; return its number."""
        self.costs.append(cost)
        self.bounds.append((low, high))
        self.whole.append(whole)
        return len(self.costs) - 1

    def require(self, terms: Terms, least: float, kind: str = "") -> None:
        """Add an inequality: the sum of the terms is at least a number."""
        self.rows.append(terms)
        self.least.append(least)
        self.kinds.append(kind)

    def range_of(self, terms: Terms) -> tuple[float, float]:
        """Return the least and the greatest value of a sum within the bounds of its variables."""
        ends = [[weight * end for end in self.bounds[variable]] for variable, weight in terms.items() if weight]
        return sum(map(min, ends)), sum(map(max, ends))

    def _left(self) -> csr_array:
        places = [(row, variable) for row, terms in enumerate(self.rows) for variable in terms]
        values = [weight for terms in self.rows for weight in terms.values()]
        shape = (len(self.rows), len(self.costs))
        return csr_array((values, tuple(np.array(places, dtype=np.int32).reshape(-1, 2).T)), shape=shape)

    def _right(self, margins: Mapping[str, float]) -> Vector:
        return np.array(self.least) + np.array([margins.get(kind, 0.0) for kind in self.kinds])

    def optimum(self, n_nodes: int, margins: Mapping[str, float]) -> Any:
        """Return what branch and cut found in so many nodes, up to the tolerance of the solver."""
        low, high = np.array(self.bounds).reshape(-1, 2).T
        left, right = self._left(), self._right(margins)
        # Rounding whole variables within the tolerance of the solver then breaks no inequality by more than that.
        size = SIZE / np.maximum(abs(left).max(axis=1).toarray().ravel(), 1e-300) if self.rows else right
        rows = LinearConstraint(left * size[:, None], right * size, np.inf) if self.rows else None
        options = {"node_limit": n_nodes, "mip_rel_gap": 0.0}
        return milp(self.costs, integrality=np.array(self.whole), bounds=Bounds(low, high), constraints=rows, options=options)

    def exact_optimum(self, fixed: Terms, margins: Mapping[str, float], without: Collection[str]) -> Any:
        """Return the optimum with some variables fixed and margins for some kinds of inequalities, without other kinds."""
        bounds: Matrix = np.array(self.bounds).reshape(-1, 2)
        for variable, value in fixed.items():
            bounds[variable] = value
        kept = np.array([kind not in without for kind in self.kinds], dtype=np.bool_)
        whole = np.array(self.whole) & (bounds[:, 0] < bounds[:, 1])
        return linprog(
            self.costs,
            -self._left()[kept],
            -self._right(margins)[kept],
            bounds=bounds,
            method="highs",
            integrality=whole.astype(np.intp) if whole.any() else None,
            options=EXACT | ({"mip_rel_gap": 0.0} if whole.any() else {}),
        )
