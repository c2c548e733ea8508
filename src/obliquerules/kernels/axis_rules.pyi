import numpy as np
from numpy.typing import NDArray

class DirectedObjective:
    def __init__(
        self,
        pull: NDArray[np.float64],
        mass: NDArray[np.float64],
        offset: float,
        basis: NDArray[np.float64],
        pattern: NDArray[np.intp],
        plain: bool,
    ) -> None: ...

def best_cuts(
    order: NDArray[np.intc],
    group: NDArray[np.intc],
    objective: DirectedObjective,
    covers: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    taken: NDArray[np.uint64],
) -> tuple[NDArray[np.float64], NDArray[np.intc], NDArray[np.bool_]]: ...

class RuleSearch:
    def __init__(
        self,
        order: NDArray[np.intc],
        group: NDArray[np.intc],
        objective: DirectedObjective,
        ranking: NDArray[np.intp],
        between: float,
        keys: NDArray[np.uint64],
        taken: NDArray[np.uint64],
    ) -> None: ...
    def run(self, limit: int, best: float, max_nodes: int, deadline: float) -> tuple[list[list[int]] | None, int, bool]: ...
