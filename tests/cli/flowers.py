"""Tables with columns that are no inputs: flowers of three kinds with offsets, and claims with an exposure."""

import numpy as np

from .executable import write_csv

FEATURES = ["height", "width"]
OFFSETS = ["for_lily", "for_rose", "for_tulip"]


def flowers(path, n_rows=90):
    """Write a small table with three classes, weights, and an offset for each class."""
    rng = np.random.default_rng(0)
    height, width = rng.normal(5.0, 2.0, n_rows).round(2), rng.normal(2.0, 1.0, n_rows).round(2)
    kind = np.where(height > 5.5, "rose", np.where(width > 2.0, "tulip", "lily"))
    offsets = rng.normal(0.0, 0.3, (n_rows, 3)).round(2)
    rows = zip(height, width, rng.integers(1, 3, n_rows), *offsets.T, kind, strict=True)
    return write_csv(path, [*FEATURES, "w", *OFFSETS, "kind"], rows)


def claims(path, n_rows=200):
    """Write a small table of counts with an exposure, in regions."""
    rng = np.random.default_rng(1)
    age, years = rng.integers(18, 80, n_rows), rng.uniform(0.1, 2.0, n_rows).round(2)
    number = rng.poisson(years * np.where(age < 30, 2.0, 0.5))
    region = [f"r{one}" for one in rng.integers(0, 9, n_rows)]
    rows = zip(age, rng.normal(size=n_rows).round(2), years, region, number, strict=True)
    return write_csv(path, ["age", "noise", "years", "region", "claims"], rows)
