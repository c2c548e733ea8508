"""Outliers: values far out take nothing from what a column says about all other rows."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from obliquerules import DRNetClassifier, LLTBoostClassifier, LTRNetClassifier, TGBClassifier

LEARNERS = {
    "TGB": lambda: TGBClassifier(max_rules=2),
    "TGB exact": lambda: TGBClassifier(max_rules=2, max_propositions=2, search="exact"),
    "LLTBoost": lambda: LLTBoostClassifier(max_rules=2, linear_terms=False),
    "LLTBoost slopes": lambda: LLTBoostClassifier(max_rules=2),
    "LLTBoost validation": lambda: LLTBoostClassifier(max_rules=2, selection="validation", random_state=0),
    "LTRNet": lambda: LTRNetClassifier(n_penalties=1, max_penalty=0.02, n_restarts=3, random_state=0),
    "DRNet": lambda: DRNetClassifier(n_penalties=1, max_iter=1000, describe=1, random_state=0),
}
SHAPES = {
    "digits": lambda rng, n: rng.integers(0, 10, n) * 1.0,
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(100.0, 101.0, n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.integers(1, 10, n)),
}


def column_with_outliers(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a column with outliers of 1e3 to 1e15 times its spread beside one of noise, and classes that a threshold parts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 250))
    column = SHAPES[rng.choice(list(SHAPES))](rng, n) * 10.0 ** rng.integers(-6, 7)
    y = (column > np.quantile(column, rng.uniform(0.3, 0.7))) ^ (rng.random(n) < rng.choice([0.0, 0.05, 0.15]))
    far = rng.choice(n, rng.integers(1, 1 + n // 20), replace=False)
    column[far] += np.std(column) * 10.0 ** rng.uniform(3.0, 15.0, len(far)) * rng.choice([-1.0, 1.0], len(far))
    return np.column_stack([column, rng.normal(size=n)]), y


def shortfall(make, seed: int) -> float:
    """Return by how much the accuracy of a learner is below that of a tree with a single split."""
    X, y = column_with_outliers(seed)
    if len(np.unique(y)) < 2:
        return 0.0
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    return stump.score(X, y) - make().fit(X, y).score(X, y)


# What a threshold parts, a slope or a hinge parts in nearly the same place; the loss, not the accuracy, chooses between them.
@pytest.mark.parametrize(("name", "most"), [("TGB", 0.02), ("LLTBoost", 0.02), ("LLTBoost slopes", 0.05)])
def test_a_column_with_outliers_is_as_good_as_for_a_tree(name, most):
    assert max(shortfall(LEARNERS[name], seed) for seed in range(40)) <= most


@pytest.mark.outliers
@pytest.mark.parametrize("name", ["TGB", "LLTBoost"])
def test_a_thousand_columns_with_outliers_are_as_good_as_for_a_tree(name):
    assert max(shortfall(LEARNERS[name], seed) for seed in range(1000)) <= 0.02


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("far", [1e10, -1e15])
def test_one_outlier_hides_no_threshold(name, far):
    X = np.random.default_rng(0).integers(0, 10, (400, 2)) * 1.0
    y = X[:, 0] >= 5.0
    X[7, 0] = far
    assert LEARNERS[name]().fit(X, y).score(X, y) >= 399 / 400


@pytest.mark.parametrize("name", ["LLTBoost", "LLTBoost validation", "LTRNet"])
@pytest.mark.parametrize("far", [1e4, 1e15])
def test_one_outlier_hides_no_direction(name, far):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X[:, 0] + X[:, 1] > 0.2
    X[7, 0] = far
    assert LEARNERS[name]().fit(X, y).score(X, y) >= 0.95
