"""The estimated ridge against the best one of the grid.

Columns are coarse or fine, and rows are independent or copies.

The estimated ridge is that of the last member. All members of the path are fitted with the same ridge here, and the loss is the
mean over the path, on new rows; beside it, that of the last member.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.learning.ridge_estimate import ridges_for

Vector = NDArray[np.float64]

KINDS = {
    ("LLTBoost", "classes"): LLTBoostClassifier,
    ("LLTBoost", "numbers"): LLTBoostRegressor,
    ("TGB", "classes"): TGBClassifier,
    ("TGB", "numbers"): TGBRegressor,
}
COLUMNS = ("coarse", "mixed", "fine")
NEW_ROWS = 5000
SETTINGS = 100
# Choices are made on the first 1000 seeds; reports are about the others.
FIRST_REPORTED = 1000
NEAR = 0.01


@dataclass(frozen=True, eq=False)
class Setting:
    """Rows to learn from, and new rows of the population.

    Attributes
    ----------
    X, y : DataFrame, array
    later, outcome : DataFrame, array
        The new rows and their targets.
    groups : array or None
        The original of each row of a bootstrap sample; None if rows are independent.
    name : str
        The granularity of the columns, and whether rows are copies.
    method, task : str
    """

    X: pd.DataFrame
    y: Vector
    later: pd.DataFrame
    outcome: Vector
    groups: NDArray[np.intp] | None
    name: str
    method: str
    task: str


def setting(seed: int) -> Setting:
    """Draw a setting of one of six kinds, in turn."""
    rng = np.random.default_rng(seed)
    columns, copies = COLUMNS[seed % 3], seed // 3 % 2 == 1
    method, task = ("LLTBoost", "TGB")[seed // 6 % 2], ("classes", "numbers")[seed // 12 % 2]
    n, p = (
        round(float(np.exp(rng.uniform(np.log(150.0), np.log(1000.0))))),
        int(rng.integers(2, 5 if columns == "coarse" else 9)),
    )
    latent = rng.normal(size=(n + NEW_ROWS, p)) + rng.uniform(0.0, 1.0) * rng.normal(size=(n + NEW_ROWS, 1))
    score = rng.uniform(0.3, 1.5) * _standardised(_signal(latent, rng))
    if task == "classes":
        y = (score + rng.uniform(-1.5, 1.5) + rng.logistic(size=len(score)) > 0.0).astype(np.float64)
    else:
        y = score + rng.normal(size=len(score))
    X = pd.DataFrame({f"x{j}": _rounded(latent[:, j], columns, rng) for j in range(p)})
    if columns == "coarse":
        y = y if task == "classes" else y.round()
    drawn = rng.integers(0, n, n) if copies else np.arange(n)
    name = f"{columns}, {'copies' if copies else 'independent'}"
    return Setting(X.iloc[drawn], y[drawn], X.iloc[n:], y[n:], drawn if copies else None, name, method, task)


def _signal(latent: Vector, rng: np.random.Generator) -> Vector:
    """Return a sum of steps, corners and lines."""
    score = np.zeros(len(latent))
    for _ in range(int(rng.integers(1, 6))):
        one, other = rng.integers(0, latent.shape[1], 2)
        above = latent[:, one] > rng.normal()
        score += rng.normal() * (above, above & (latent[:, other] > 0.0), latent[:, one])[int(rng.integers(3))]
    return score


def _standardised(score: Vector) -> Vector:
    spread = float(score.std())
    return (score - score.mean()) / spread if spread > 0.0 else score


def _rounded(values: Vector, columns: str, rng: np.random.Generator) -> Any:
    """Return values, or a few whole numbers or levels instead."""
    if columns == "fine" or (columns == "mixed" and rng.random() < 0.5):
        return values
    limits = np.sort(rng.normal(size=int(rng.integers(1, 6))))
    codes = np.searchsorted(limits, values)
    return np.array(list("abcdef"))[codes] if rng.random() < 0.5 else codes


@dataclass(frozen=True)
class Outcome:
    """What came of one setting.

    Attributes
    ----------
    setting : str
    different : float
        The share of different rows.
    ridges : tuple of float
        The grid.
    estimated : float
    losses : array of shape (n_members, n_ridges)
        The mean losses of new rows.
    """

    setting: str
    different: float
    ridges: tuple[float, ...]
    estimated: float
    losses: Vector

    @property
    def best(self) -> float:
        """The ridge of the least mean loss over the path."""
        return self.ridges[int(self.losses.mean(axis=0).argmin())]

    @property
    def excess(self) -> float:
        """The relative excess of the mean loss over the path."""
        return self._excess(self.losses.mean(axis=0))

    @property
    def last_excess(self) -> float:
        """The relative excess of the loss of the last member."""
        return self._excess(self.losses[-1])

    def _excess(self, losses: Vector) -> float:
        return float(losses[self.ridges.index(self.estimated)] / losses.min()) - 1.0


def outcome_of(seed: int, *, as_one: bool = False) -> Outcome:
    """Fit the rules once, and their weights at each ridge.

    ``as_one`` leaves equal rows out together, as if all were copies.
    """
    one = setting(seed)
    groups = one.groups
    if as_one:
        groups = np.unique(pd.util.hash_pandas_object(one.X.assign(y=one.y), index=False), return_inverse=True)[1]
    model = KINDS[one.method, one.task](random_state=0).fit(one.X, one.y, groups=groups)
    sample, later, loss = model.edit(one.X, one.y).sample, model._read(one.later).X, model.model_.loss
    ridges = ridges_for(float(sample.weight.sum()))
    methods = [dataclasses.replace(model._fitted_method(), ridge=ridge) for ridge in ridges]
    losses = []
    for member in model.path_[1:] or model.path_:
        start = member.weight_table
        tables = [each.refitted(member, sample, loss, start, np.zeros(len(start), dtype=np.bool_)) for each in methods]
        losses.append([float(np.mean(loss.value(one.outcome, member.with_weight_table(table)(later)))) for table in tables])
    return Outcome(one.name, len(sample.y) / len(one.y), ridges, model.ridge_, np.array(losses))


def report(found: list[Outcome]) -> None:
    """Print a line for each kind of setting, and the counts."""
    print(f"{'rows':20} {'different':>9} {'within 1 %':>10} {'last':>6} {'mean excess':>11} {'ridge':>6} {'best':>6}")
    for name in sorted({one.setting for one in found}):
        mine = [one for one in found if one.setting == name]
        different, excess = np.mean([one.different for one in mine]), np.mean([one.excess for one in mine])
        path, last = (sum(value <= NEAR for value in values) for values in _excesses(mine))
        estimated, best = (np.exp(np.mean(np.log(values))) for values in _ridges(mine))
        counts = f"{f'{path}/{len(mine)}':>10} {f'{last}/{len(mine)}':>6}"
        print(f"{name:20} {different:9.0%} {counts} {excess:11.2%} {estimated:6.1f} {best:6.1f}")
    path, last = (sum(value <= NEAR for value in values) for values in _excesses(found))
    print(f"Within 1 % of the best ridge: {path} of {len(found)} paths (80 of 100 are expected), {last} of their last members.")
    print(f"Mean excess: {np.mean([one.excess for one in found]):.2%}; largest: {max(one.excess for one in found):.1%}.")
    ends = [sum(ridge == one.ridges[-1] for one, ridge in zip(found, values, strict=True)) for values in _ridges(found)]
    print(f"The largest ridge of the grid is the estimate in {ends[0]} and the best in {ends[1]}.")


def _excesses(found: list[Outcome]) -> tuple[list[float], list[float]]:
    return [one.excess for one in found], [one.last_excess for one in found]


def _ridges(found: list[Outcome]) -> tuple[list[float], list[float]]:
    return [one.estimated for one in found], [one.best for one in found]


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=SETTINGS)
    parser.add_argument("--development", action="store_true", help="the seeds on which choices are made")
    parser.add_argument("--as-one", action="store_true", help="leave equal rows out together, for comparison")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Levels that were not seen")
    first = 0 if options.development else FIRST_REPORTED
    seeds = range(first, first + options.settings)
    report(Parallel(n_jobs=options.jobs)(delayed(outcome_of)(seed, as_one=options.as_one) for seed in seeds))


if __name__ == "__main__":
    main()
