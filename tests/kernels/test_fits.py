"""Random and degenerate fits of every learner end in a model or a sentence, without a warning of NumPy.

With sanitizers, also that nothing is read outside.
"""

import warnings

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor, l1_logistic_path

COLUMNS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "whole numbers": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "constant": lambda rng, shape: np.where(rng.random(shape[1]) < 0.5, 2.5, rng.normal(size=shape)),
    "copies": lambda rng, shape: np.repeat(rng.normal(size=(shape[0], 1)), shape[1], axis=1),
    "heavy tails": lambda rng, shape: rng.standard_cauchy(size=shape) ** 3,
    "scales": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-100, 100, shape[1]),
    "subnormal": lambda rng, shape: rng.integers(-3, 4, shape) * 5e-324,
    "zeros": lambda _, shape: np.zeros(shape),
}
# The columns of a frame, of which each is chosen at random.
SERIES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "constant": lambda _, n: np.full(n, 2.5),
    "some huge": lambda rng, n: np.where(rng.random(n) < 0.2, 1e74, rng.normal(size=n)),
    "some tiny": lambda rng, n: np.where(rng.random(n) < 0.2, 1e-300, rng.normal(size=n)),
    "neighbours": lambda rng, n: 1e16 + 2.0 * rng.integers(0, 3, n),
    "one alone": lambda _, n: np.arange(n) == 0.0,
    "missing": lambda rng, n: np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n)),
    "nothing": lambda _, n: np.full(n, np.nan),
    "text": lambda rng, n: np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
    "pairs": lambda _, n: [f"level {row // 2}" for row in range(n)],
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "dates": lambda _, n: pd.date_range("2020-02-28", periods=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 9,
}
# The powers of ten between which weights lie.
WEIGHTS = [(-8.0, 8.0), (-100.0, 70.0), (0.0, 30.0), (15.0, 18.0), (60.0, 74.0), (-190.0, -150.0)]
ESTIMATORS = {
    "lltboost": lambda rng: LLTBoostClassifier(max_rules=3, ridge=ridge(rng), random_state=0),
    "lltboost, validation": lambda _: LLTBoostClassifier(max_rules=3, selection="validation", random_state=0),
    "lltboost, numbers": lambda rng: LLTBoostRegressor(max_rules=3, ridge=ridge(rng), effort=int(rng.integers(0, 3))),
    "lltboost, counts": lambda rng: LLTBoostRegressor(max_rules=3, loss="poisson", ridge=ridge(rng), random_state=0),
    "lltboost, amounts": lambda rng: LLTBoostRegressor(
        max_rules=3, loss="tweedie", tweedie_power=float(rng.uniform(1.01, 1.99)), ridge=ridge(rng), random_state=0
    ),
    "lltboost, lines": lambda _: LLTBoostRegressor(max_rules=3, linear_terms="only"),
    "tgb": lambda rng: TGBClassifier(max_rules=3, ridge=ridge(rng)),
    "tgb, exact": lambda rng: TGBRegressor(
        max_rules=2, search="exact", max_nodes=50, objective=objective(rng), ridge=ridge(rng)
    ),
}


def ridge(rng):
    return (0.0, 1e-12, 1.0, "auto")[rng.integers(4)]


def objective(rng):
    return str(rng.choice(["gradient", "orthogonal", "second-order"]))


def frame(rng, n_rows, n_columns):
    chosen = rng.choice(list(SERIES), n_columns)
    return pd.DataFrame({f"{name} {place}": SERIES[name](rng, n_rows) for place, name in enumerate(chosen)})


def fit(seed):
    """Fit one model to one table; where that is refused, it is with a sentence."""
    rng = np.random.default_rng(seed)
    shape = int(rng.choice([2, 3, 5, 9, 30, 257])), int(rng.choice([1, 2, 3, 6]))
    X = list(COLUMNS.values())[seed // 2 % len(COLUMNS)](rng, shape)
    y = rng.integers(0, 2, shape[0])
    # The same for many classes, every third time.
    classes = rng.integers(0, 4, shape[0]) if seed % 3 == 0 else y
    weight = None if rng.random() < 0.5 else 10.0 ** rng.uniform(*WEIGHTS[rng.integers(len(WEIGHTS))], shape[0])
    model = list(ESTIMATORS.values())[seed % len(ESTIMATORS)](rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        l1_logistic_path(X, y, sample_weight=weight, max_support=int(rng.integers(1, 7)), min_alpha_ratio=1e-6)
        try:
            model.fit(X if seed % 2 else frame(rng, *shape), classes, sample_weight=weight)
        except ValueError as refusal:
            assert str(refusal).endswith(".") or "got" in str(refusal)  # noqa: PT017  # a fit may also succeed


def test_forty_fits():
    for seed in range(40):
        fit(seed)


@pytest.mark.fits
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_two_thousand_fits(first):
    for seed in range(first, first + 100):
        fit(seed)
