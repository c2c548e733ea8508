"""Program of a search for a change: a linear program, some of whose variables may be whole, and its solution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from obliquerules.arrays import Vector

# As exact as the solver allows.
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Program(NamedTuple):
    """A linear program: the least cost at which the left sides are at most the right ones, some variables being whole."""

    cost: Vector
    left: NDArray[np.float64]
    right: Vector
    bounds: NDArray[np.float64]
    whole: NDArray[np.bool_]

    def with_more(self, n: int, left: NDArray[np.float64], right: Vector) -> Program:
        """Return the program with more variables, which are free of cost and bounds, and inequalities that involve them."""
        return Program(
            np.concatenate([self.cost, np.zeros(n)]),
            np.vstack([np.pad(self.left, ((0, 0), (0, n))), left]),
            np.concatenate([self.right, right]),
            np.vstack([self.bounds, np.tile([-np.inf, np.inf], (n, 1))]),
            np.concatenate([self.whole, np.zeros(n, dtype=np.bool_)]),
        )

    def solved(self) -> Any:
        """Return what the solver found."""
        has_whole = bool(self.whole.any())
        return linprog(
            self.cost,
            self.left,
            self.right,
            bounds=self.bounds,
            method="highs",
            integrality=self.whole.astype(np.intp) if has_whole else None,
            options=EXACT | ({"mip_rel_gap": 0.0} if has_whole else {}),
        )
