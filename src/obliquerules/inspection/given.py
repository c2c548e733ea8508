"""Given: the exposures or offsets of rows, in which no condition looks, as predictions need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Model

Vector = NDArray[np.float64]


def given_amounts(model: Model, given: Any, n_rows: int, parameter: str = "given") -> Vector | None:
    """Return what was given for each row as doubles, None if the model needs nothing; raise if it does not fit the model."""
    if model.offset is None:
        if given is not None:
            raise ValueError(f"{parameter} is for models with an exposure or offset; this one has none.")
        return None
    if given is None:
        raise ValueError(f"{parameter} must have the {model.offset.kind} of each row: the model was fitted with one.")
    amounts = np.asarray(given, dtype=np.float64)
    several = model.offset.kind == "offset" and model.has_many_classes
    shape = (n_rows, len(model.ensemble.intercepts)) if several else (n_rows,)
    if amounts.shape != shape:
        raise ValueError(f"{parameter} must have the shape {shape}; got {amounts.shape}.")
    if not np.isfinite(amounts).all() or (model.offset.kind == "exposure" and (amounts <= 0.0).any()):
        wanted = "positive and finite" if model.offset.kind == "exposure" else "finite"
        raise ValueError(f"{parameter} must be {wanted} for each row.")
    return amounts
