"""What the tests of estimators share: a little data for all three tasks, and a model as the bytes of its file."""

from pathlib import Path
from typing import Any

import numpy as np


def little(seed: int = 0, n_rows: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, counts that serve as a target for all three tasks, and weights that are sums of powers of two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0.0) * 1.0
    y[rng.random(n_rows) < 0.1] = 0.0
    return X, y, rng.integers(1, 8, n_rows) / 4.0


def saved(model: Any, directory: Path) -> bytes:
    model.save(directory / "model.json")
    return (directory / "model.json").read_bytes()
