"""Models without idle parts: nothing can be left out of any model of a path, and no rule stands there twice."""

import numpy as np
import pandas as pd
import pytest

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostRegressor,
    LTRNetRegressor,
    TGBClassifier,
    TGBRegressor,
)

from ..droppable import droppable, repeated


def applicants(n_rows, seed):
    """Return text, numbers and holes, and a score that depends on sums of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "home": rng.choice(["owner", "rent", "parents"], n_rows),
            "records": np.where(rng.random(n_rows) < 0.2, "yes", "no"),
            "job": rng.choice(["fixed", "free", "part", "none"], n_rows, p=[0.6, 0.2, 0.15, 0.05]),
            "seniority": rng.integers(0, 40, n_rows),
            "income": rng.lognormal(5.0, 0.6, n_rows).round(),
        }
    )
    score = 1.5 * (X.records == "no") + 1.0 * ((X.home == "owner") + 0.05 * X.seniority > 1.2) - (X.job == "part")
    X.loc[rng.random(n_rows) < 0.1, "income"] = np.nan
    X.loc[rng.random(n_rows) < 0.05, "job"] = None
    return X, (score + rng.normal(scale=0.8, size=n_rows)).to_numpy()


TASKS = [
    (LLTBoostClassifier(), lambda y: y > 1.0),
    (LLTBoostClassifier(max_rules=5), lambda y: np.digitize(y, [0.5, 1.5])),
    (LLTBoostRegressor(), lambda y: y),
    (LLTBoostRegressor(loss="poisson"), lambda y: np.round(np.exp(np.clip(y, -2.0, 2.0)))),
    (TGBClassifier(max_rules=6), lambda y: y > 1.0),
    (TGBRegressor(max_rules=6), lambda y: y),
    (LTRNetRegressor(n_penalties=3, max_iter=60, random_state=0), lambda y: y),
]


@pytest.mark.parametrize("exact", ["loss", "rows"])
@pytest.mark.parametrize(("estimator", "target"), TASKS)
def test_nothing_can_be_left_out_of_any_model_of_a_path(estimator, target, exact):
    X, y = applicants(300, seed=3)
    model = estimator.set_params(exact=exact).fit(X, target(y))
    assert droppable(model, X, target(y), exact) == []
    assert repeated(model, X, target(y)) == []
    sizes = [ensemble.complexity for ensemble in model.path_]
    assert sizes == sorted(set(sizes))
    assert len(sizes) > 2


def test_nothing_can_be_left_out_of_the_boxes_of_a_network():
    X, y = applicants(300, seed=3)
    model = DRNetClassifier(n_penalties=1, max_iter=1000, random_state=0).fit(X, y > 1.0)
    assert len(model.path_) > 1
    assert droppable(model, X, y > 1.0, "rows") == []


def separable(seed, n_rows=200):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=n_rows).round(2), "b": rng.normal(size=n_rows), "c": rng.choice(list("xyz"), n_rows)}
    )
    return X, (X.a + (X.c == "x") >= 0.3).to_numpy()


@pytest.mark.parametrize("seed", [27, 28])
def test_one_term_has_one_weight_where_classes_separate(seed):
    X, y = separable(seed)
    model = LLTBoostClassifier().fit(X, y)
    assert repeated(model, X, y) == []
    losses = [model.model_.loss.value(y * 1.0, member(model._read(X).X)).mean() for member in model.path_]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("far", [130.0, 2000.0])
def test_limits_stay_though_few_rows_are_beyond_them(far):
    values = np.append(np.linspace(0.0, 100.0, 496), np.linspace(0.9 * far, far, 4))
    for exact in ("loss", "rows"):
        model = LLTBoostRegressor(max_rules=1, linear_terms="only", exact=exact).fit(values[:, None], np.minimum(values, 100.0))
        (rule,) = model.ensemble_
        assert 99.0 <= rule.factor.upper <= 100.0
