import numpy as np
from numpy.typing import NDArray

class WeightFinder:
    def __init__(
        self,
        design: NDArray[np.float64],
        y: NDArray[np.float64],
        row_weight: NDArray[np.float64],
        offset: NDArray[np.float64],
        family: int,
        ridge: float,
        power: float = 0.0,
    ) -> None: ...
    def sums(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...
    def set_last_column(self, values: NDArray[np.float64]) -> None: ...
    def scores(self) -> NDArray[np.float64]: ...
    def run(self, start: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]: ...

def term_sums(terms: NDArray[np.float64], curvature: NDArray[np.float64]) -> NDArray[np.float64]: ...
