"""Peers: other learners, each a table of estimators of growing size and a way to count them.

All are at their defaults but for what says how large the model is, one thread, and the seed; the explainable boosting machine
and the additive model of Gaussian processes go without tables of two variables, with which a fit takes longer still. What a
package has to say about its own code or its convergence is not printed.

The searches for a risk score and for a small tree may take ten seconds of the clock for each size: what they have found by then
depends on the machine and on what else it does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.paper import sizes
from benchmarks.paper.contenders import Contender
from obliquerules.arrays import Vector

Grid = Callable[[str, int], Sequence[Any]]

SECONDS = 10.0  # for a search that can be given a limit


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted model of a peer as a member of a path: it has a complexity, and a score for each row."""

    model: Any
    task: str
    complexity: int
    n_rows: int

    def __call__(self, X: Vector) -> Vector:
        """Return predictions, or the log-odds of the second class.

        Probabilities of zero and one, which a tree with a pure leaf gives and which may cost an infinite loss, are taken as
        half a row among those of the training.
        """
        if self.task == "regression":
            return np.asarray(self.model.predict(X), dtype=np.float64)
        edge = 0.5 / self.n_rows
        with np.errstate(over="ignore"):  # of an exponential that makes a probability zero
            shares = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        share = np.clip(shares[:, 1], edge, 1.0 - edge)
        return np.asarray(np.log(share / (1.0 - share)), dtype=np.float64)


class SizedModels:
    """Estimators of several sizes that are fitted together and give one path.

    Parameters
    ----------
    estimators : sequence
    task : {"regression", "classification"}
    size : callable
        From a fitted estimator to its complexity; one of `benchmarks.paper.sizes`.

    Attributes
    ----------
    path_ : tuple of Member
        In the order of their complexities.
    """

    def __init__(self, estimators: Sequence[Any], task: str, size: Callable[[Any], int]):
        self.estimators = estimators
        self.task = task
        self.size = size

    def fit(self, X: Vector, y: Vector) -> SizedModels:
        """Fit all; classes are whole numbers, as most peers want them."""
        target = y.astype(np.int64) if self.task == "classification" else y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = [_fitted(estimator, X, target) for estimator in self.estimators]
        members = (Member(model, self.task, self.size(model), len(y)) for model in fitted)
        self.path_ = tuple(sorted(members, key=lambda member: member.complexity))
        return self


def _fitted(estimator: Any, X: Vector, y: Any) -> Any:
    estimator.fit(X, y)  # some return nothing
    return estimator


def _grid(regressor: Any, classifier: Any, size: str, values: Iterable[float], **common: Any) -> Grid:
    """Return estimators with several values of the parameter that says how large they get."""

    def grid(task: str, seed: int) -> Sequence[Any]:
        kind = regressor if task == "regression" else classifier
        return [kind(**{size: value}, random_state=seed, **common) for value in values]

    return grid


def _linear(task: str, seed: int) -> Sequence[Any]:
    strengths = np.logspace(0.0, -3.0, 13)
    if task == "regression":
        return [Lasso(alpha=strength, random_state=seed) for strength in strengths]
    # From scikit-learn 1.8 on the ratio alone says which penalty it is.
    lasso: Mapping[str, Any] = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}
    return [LogisticRegression(C=0.01 / s, solver="liblinear", random_state=seed, **lasso) for s in strengths]


def _rulefit(task: str, seed: int) -> Sequence[Any]:
    from imodels import RuleFitClassifier, RuleFitRegressor

    return _grid(RuleFitRegressor, RuleFitClassifier, "max_rules", (5, 10, 20, 40))(task, seed)


def _figs(task: str, seed: int) -> Sequence[Any]:
    from imodels import FIGSClassifier, FIGSRegressor

    return _grid(FIGSRegressor, FIGSClassifier, "max_rules", (1, 2, 3, 4, 6, 8, 12, 16))(task, seed)


def _boosted_rules(task: str, seed: int) -> Sequence[Any]:
    from imodels import BoostedRulesClassifier, BoostedRulesRegressor

    return _grid(BoostedRulesRegressor, BoostedRulesClassifier, "n_estimators", (1, 2, 3, 4, 6, 8, 12, 16, 32))(task, seed)


def _risk_score(_task: str, _seed: int) -> Sequence[Any]:
    from imodels import FastRiskScoreClassifier

    return [FastRiskScoreClassifier(k=most, time_limit=SECONDS) for most in (1, 2, 3, 4, 6, 8, 12, 16)]


def _small_tree(_task: str, _seed: int) -> Sequence[Any]:
    from imodels import FastSmallTreeClassifier

    prices = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)  # of a leaf, in shares of the rows
    return [FastSmallTreeClassifier(regularization=price, time_limit=SECONDS) for price in prices]


def _gp_gam(_task: str, _seed: int) -> Sequence[Any]:
    from imodels import GPGamRegressor

    return [GPGamRegressor(n_bins=most, n_pairs=0) for most in (2, 3, 4, 6, 8, 12, 16, 24, 32)]


def _ebm(task: str, seed: int) -> Sequence[Any]:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    return _grid(ExplainableBoostingRegressor, ExplainableBoostingClassifier, "interactions", (0,), n_jobs=1)(task, seed)


def _ruleopt(_task: str, seed: int) -> Sequence[Any]:
    from ruleopt import RUGClassifier

    return [RUGClassifier(use_oblique=True, max_depth=depth, random_state=seed) for depth in (1, 2, 3)]


def _ripper(_task: str, seed: int) -> Sequence[Any]:
    from wittgenstein import RIPPER

    return [RIPPER(max_rules=most, random_state=seed) for most in (1, 2, 4, 8)]


NUMBERS, CLASSES = ("regression",), ("classification",)
BOTH = NUMBERS + CLASSES


def peer(
    name: str,
    grid: Grid,
    size: Callable[[Any], int],
    needs: str | None = None,
    tasks: Sequence[str] = BOTH,
    *,
    rules: bool = True,
) -> Contender:
    """Return a peer as a contender whose one setting has all sizes."""

    def make(task: str, seed: int) -> Mapping[str, Any]:
        return {"all sizes": SizedModels(grid(task, seed), task, size)} if task in tasks else {}

    return Contender(name, None, make, needs, rules)


LEAVES, TREES = (2, 3, 4, 6, 8, 12, 16, 24, 32), (1, 3, 10, 30, 100)
_tree = _grid(DecisionTreeRegressor, DecisionTreeClassifier, "max_leaf_nodes", LEAVES)
_forest = _grid(RandomForestRegressor, RandomForestClassifier, "n_estimators", TREES, n_jobs=1)
_histogram_boosting = _grid(HistGradientBoostingRegressor, HistGradientBoostingClassifier, "max_iter", TREES)

PEERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        peer("Linear model (L1)", _linear, sizes.linear_size, rules=False),
        peer("Decision tree", _tree, sizes.tree_size),
        peer("Random forest", _forest, sizes.forest_size, rules=False),
        peer("Histogram boosting", _histogram_boosting, sizes.histogram_boosting_size, rules=False),
        peer("RuleFit (imodels)", _rulefit, sizes.rulefit_size, "imodels"),
        peer("FIGS (imodels)", _figs, sizes.figs_size, "imodels"),
        peer("BoostedRules (imodels)", _boosted_rules, sizes.forest_size, "imodels"),
        peer("FastRiskScore (imodels)", _risk_score, sizes.risk_score_size, "imodels", CLASSES),
        peer("FastSmallTree (imodels)", _small_tree, sizes.small_tree_size, "imodels", CLASSES),
        peer("GPGam (imodels)", _gp_gam, sizes.gp_gam_size, "imodels", NUMBERS, rules=False),
        peer("EBM (interpret)", _ebm, sizes.ebm_size, "interpret", rules=False),
        peer("RUG, oblique (ruleopt)", _ruleopt, sizes.ruleopt_size, "ruleopt", CLASSES),
        peer("RIPPER (wittgenstein)", _ripper, sizes.ripper_size, "wittgenstein", CLASSES),
    )
}
