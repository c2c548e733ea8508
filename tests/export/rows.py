"""Rows in any number on which a mistake would show: near those of a data set, at thresholds, missing, tiny and huge."""

import numpy as np

SIZES = np.array([0.0, 5e-324, 1e-310, 2e-308, 1e-300, 1e-20, 1e20, 1e299, 1.7e308, np.inf])
EXTREMES = np.concatenate([SIZES, -SIZES, [np.nan, np.nan]])


def generated_rows(ensemble, X, n_rows, seed):
    """Return so many rows: a third like those of X, a third at thresholds, a third with extreme values as well."""
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=n_rows)] * rng.choice([1.0, 1.0, 0.999, -1.0], size=(n_rows, X.shape[1]))
    propositions = [proposition for rule in ensemble for proposition in rule.condition]
    for part, proposition in zip(np.array_split(np.arange(n_rows // 3, n_rows), len(propositions)), propositions, strict=True):
        move_to_threshold(rows, part, proposition, rng)
    last = rows[2 * n_rows // 3 :]
    chosen = rng.random(last.shape) < rng.choice([0.05, 0.3], size=(len(last), 1))
    last[chosen] = rng.choice(EXTREMES, size=int(chosen.sum()))
    rng.shuffle(rows)
    return rows


def move_to_threshold(rows, part, proposition, rng):
    """Change one value in each row of a part so that the sum is the threshold, or up to three doubles away from it."""
    for some, column, weight in zip(
        np.array_split(part, len(proposition.columns)), proposition.columns, proposition.weights, strict=True
    ):
        rows[some, column] = 0.0
        hit = (proposition.threshold - proposition.project(rows[some])) / weight
        steps = rng.integers(-3, 4, size=len(some))
        for step in range(1, 4):
            hit = np.where(np.abs(steps) >= step, np.nextafter(hit, np.copysign(np.inf, steps)), hit)
        rows[some, column] = hit


def holdings(ensemble, rows):
    """Return how many rows hit a threshold exactly, and how many values are of each special kind."""
    hits = np.zeros(len(rows), dtype=bool)
    for rule in ensemble:
        for proposition in rule.condition:
            hits |= proposition.project(rows) == proposition.threshold
    size = np.abs(rows)
    return {
        "threshold hits": int(hits.sum()),
        "missing": int(np.isnan(rows).sum()),
        "minus zero": int(((rows == 0.0) & np.signbit(rows)).sum()),
        "subnormal": int(((size > 0.0) & (size < 2.0**-1022)).sum()),
        "huge": int((size >= 1e300).sum()),
    }
