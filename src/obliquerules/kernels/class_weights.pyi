import numpy as np
from numpy.typing import NDArray

class ClassWeightFinder:
    def __init__(
        self,
        design: NDArray[np.float64],
        shares: NDArray[np.float64],
        row_weight: NDArray[np.float64],
        offset: NDArray[np.float64],
        column: NDArray[np.intp],
        output: NDArray[np.intp],
        ridge: NDArray[np.float64],
    ) -> None: ...
    def run(self, start: NDArray[np.float64], tolerance: float = 1e-13) -> tuple[NDArray[np.float64], float]: ...
