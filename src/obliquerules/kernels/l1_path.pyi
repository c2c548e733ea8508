from typing import Literal

import numpy as np
from numpy.typing import NDArray

class PathFollower:
    passes: int
    largest_alpha: float
    def __init__(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        c: NDArray[np.float64],
        max_support: int,
        floor_ratio: float,
    ) -> None: ...
    def run(self) -> Literal["complete", "floor", "no signal", "stalled"]: ...
    def levels(self) -> list[tuple[NDArray[np.float64], float, float, bool] | None]: ...
