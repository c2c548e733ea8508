"""Golden models: what each estimator saves when it is fitted to bundled and generated data, kept as files.

``python tests/estimators/golden_models.py`` writes the files anew; do so only if a change is meant to change models.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    LTRNetClassifier,
    LTRNetRegressor,
    TGBClassifier,
    TGBRegressor,
)

DIRECTORY = Path(__file__).parent / "golden"


def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "malignant", 1: "benign"})


def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def counts():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, random.poisson(np.exp(0.5 + (X[:, 0] + X[:, 1] > 0.5) - 0.8 * (X[:, 2] > 0.0))).astype(float)


def weighted_classes():
    random = np.random.default_rng(1)
    X = random.integers(0, 12, size=(250, 3)).astype(float)
    y = (X[:, 0] - X[:, 1] + random.normal(size=250) > 1.0) | (X[:, 2] > 9)
    return X, y, random.integers(1, 4, 250).astype(float)


def kinds():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"})


# What is fitted, and to what.
CASES = {
    "lltboost-cancer": (LLTBoostClassifier(max_rules=4, random_state=0), cancer),
    "lltboost-cancer-validation": (LLTBoostClassifier(max_rules=4, selection="validation", random_state=0), cancer),
    "lltboost-diabetes": (LLTBoostRegressor(max_rules=5, random_state=0), diabetes),
    "lltboost-diabetes-validation": (LLTBoostRegressor(max_rules=5, selection="validation", random_state=0), diabetes),
    "lltboost-counts": (LLTBoostRegressor(loss="poisson", max_rules=4, random_state=0), counts),
    "lltboost-classes": (LLTBoostClassifier(max_rules=4, random_state=0), weighted_classes),
    "lltboost-classes-validation": (LLTBoostClassifier(max_rules=4, selection="validation", random_state=3), weighted_classes),
    "lltboost-cv-classes": (LLTBoostClassifierCV(max_rules=3, max_variables=2, cv=3, random_state=0), weighted_classes),
    "lltboost-cv-counts": (LLTBoostRegressorCV(loss="poisson", max_rules=3, max_variables=2, cv=3, random_state=0), counts),
    "tgb-cancer": (TGBClassifier(max_rules=5), cancer),
    "tgb-diabetes": (TGBRegressor(max_rules=5), diabetes),
    "tgb-diabetes-information": (TGBRegressor(max_rules=4, selection="information"), diabetes),
    "tgb-counts-validation": (TGBRegressor(loss="poisson", max_rules=4, selection="validation", random_state=0), counts),
    "tgb-counts-gradient": (TGBRegressor(loss="poisson", max_rules=4, objective="gradient"), counts),
    "tgb-classes-exact": (TGBClassifier(max_rules=3, max_propositions=2, search="exact"), weighted_classes),
    "ltrnet-classes": (LTRNetClassifier(n_penalties=3, n_restarts=2, max_iter=80, random_state=0), weighted_classes),
    "ltrnet-counts": (LTRNetRegressor(loss="poisson", n_penalties=3, n_restarts=2, max_iter=80, random_state=0), counts),
    "ltrnet-diabetes-paper": (
        LTRNetRegressor(n_penalties=2, n_restarts=2, max_iter=60, discretization="paper", random_state=0),
        diabetes,
    ),
    "lltboost-kinds": (LLTBoostClassifier(max_rules=4, random_state=0), kinds),
    "tgb-kinds": (TGBClassifier(max_rules=4), kinds),
    "ltrnet-kinds": (LTRNetClassifier(n_penalties=2, n_restarts=2, max_iter=60, random_state=0), kinds),
    "lltboost-counts-tweedie": (LLTBoostRegressor(loss="tweedie", max_rules=3, random_state=0), counts),
    "drnet-cancer": (DRNetClassifier(n_penalties=2, max_iter=1500, phase_length=250, random_state=0), cancer),
}
# These are models of rules alone, as they were before there were slopes.
for estimator, _ in CASES.values():
    if "linear_terms" in estimator.get_params():
        estimator.set_params(linear_terms=False)
CASES |= {
    "lltboost-diabetes-slopes": (LLTBoostRegressor(max_rules=5, random_state=0), diabetes),
    "lltboost-cancer-slopes": (LLTBoostClassifier(max_rules=4, random_state=0), cancer),
}


def save(name, path):
    """Fit one of the cases and save it."""
    estimator, data = CASES[name]
    estimator.fit(*data()).save(path)


if __name__ == "__main__":
    for name in CASES:
        save(name, DIRECTORY / f"{name}.json")
