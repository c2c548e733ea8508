"""Names of array types: what annotations mean by a vector, a matrix, a mask or positions."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
