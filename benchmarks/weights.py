"""Printed weights against the truth: logistic data with known effects, 1000 rows.

The truth is a sum of two to four steps on columns of one decimal, beside as many columns without an effect, with log odds
ratios from 0.6 to 2. Of the default fit, the member of the complexity of the truth is taken. Where it has all steps of the
truth (each condition on the right column, right on 90 % of the rows), the ratios of its weights to the true log odds ratios
count. Beside that: how often the 90 % intervals of `stability`, given the true conditions, cover the true log odds ratios.

Choices were made on seeds below 1000.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from obliquerules import LLTBoostClassifier

N_ROWS = 1000
FIRST_REPORTED = 1000
ALIKE = 0.9


def problem(seed):
    """Return rows, targets, and the true steps: columns, thresholds and effects."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    latent = rng.normal(size=(N_ROWS, 2 * k)) + 0.5 * rng.normal(size=(N_ROWS, 1))
    X = pd.DataFrame(np.round(latent, 1), columns=[f"x{j}" for j in range(2 * k)])
    thresholds = np.round(rng.uniform(-0.7, 0.7, k), 1) + 0.05
    effects = rng.uniform(0.6, 2.0, k) * rng.choice([-1.0, 1.0], k)
    steps = X.to_numpy()[:, :k] >= thresholds
    score = (steps - 0.5) @ effects
    y = (score + rng.logistic(size=N_ROWS) > 0.0).astype(int)
    return X, y, thresholds, effects, steps


def ratios(model, X, effects, steps):
    """Return the ratio of each printed weight to the true effect; none if a step is not found."""
    found = {}
    ensemble = model.at(3 * len(effects)).ensemble_
    for rule, fires in zip(ensemble, ensemble.fires(X.to_numpy()).T, strict=True):
        columns = {column for test in rule.condition for column in test.used_columns}
        column = min(columns) if rule.factor is None and len(columns) == 1 else None
        if column is not None and column < len(effects):
            agreement = float(np.mean(fires == steps[:, column]))
            if max(agreement, 1.0 - agreement) >= ALIKE:
                found[column] = (rule.weight if agreement > 0.5 else -rule.weight) / effects[column]
    return list(found.values()) if len(found) == len(effects) else []


def covered(model, X, y, thresholds, effects):
    """Say of each true step whether its interval covers the effect, given the true conditions."""
    editing = model.at(3 * len(effects)).edit(X, y)
    for _ in range(len(editing.model.ensemble_)):
        editing = editing.drop(0)
    for column, threshold in enumerate(thresholds):
        editing = editing.add(f"x{column} >= {threshold:.2f}")
    found = editing.refit().model.stability(X, y, n_bootstraps=1, random_state=0)
    intervals = {one.condition: one.interval for one in found}
    known = [intervals[f"x{column} >= {threshold:.2f}"] for column, threshold in enumerate(thresholds)]
    return [bool(low <= effect <= high) for (low, high), effect in zip(known, effects, strict=True)]


def measured(seed):
    """Return ratios and coverage of one problem."""
    warnings.simplefilter("ignore")
    X, y, thresholds, effects, steps = problem(seed)
    model = LLTBoostClassifier().fit(X, y)
    return ratios(model, X, effects, steps), covered(model, X, y, thresholds, effects), model.ridge_


def main():
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="?", default=100, help="the number of problems; default: 100")
    parser.add_argument("first", type=int, nargs="?", default=FIRST_REPORTED, help=f"the first seed; default: {FIRST_REPORTED}")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    done = Parallel(options.jobs)(delayed(measured)(seed) for seed in range(options.first, options.first + options.n))
    found = [ratio for own, _, _ in done for ratio in own]
    inside = [one for _, own, _ in done for one in own]
    complete = sum(bool(own) for own, _, _ in done)
    print(f"all steps found: {complete} of {len(done)}")
    print(f"printed / true log odds ratio: mean {np.mean(found):.3f}, median {np.median(found):.3f}, of {len(found)} weights")
    print(f"90 % intervals cover: {100.0 * np.mean(inside):.1f} % of {len(inside)} effects")


if __name__ == "__main__":
    main()
