import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

class SoftRules:
    def __init__(
        self,
        terms: NDArray[np.float64],
        y: Vector,
        row_weight: Vector,
        offset: Vector,
        rule_of: NDArray[np.intc],
        first_term: NDArray[np.intc],
        term_of: NDArray[np.intc],
        soft: NDArray[np.uint8],
        missing: NDArray[np.uint8],
        free: NDArray[np.uint8],
        n_rules: int,
        family: int,
        ridge: float,
        power: float,
        least_curvature: float,
    ) -> None: ...
    def value(self, parameters: Vector, sharpness: float) -> float: ...
    def sums(self, parameters: Vector, sharpness: float) -> tuple[Vector, NDArray[np.float64]]: ...
    def damped_step(self, damping: float) -> Vector | None: ...
    def descend(self, start: Vector, sharpness: float, n_steps: int) -> Vector | None: ...
