"""What the tests of tables that are not in memory share: a frame with columns of all kinds, and what the same model is."""

import numpy as np
import pandas as pd

INPUTS = ["age", "dose", "ward", "smoker", "female", "admitted"]


def patients(n=700, seed=0):
    """Return a frame with columns of all kinds, and missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, n).round(),
            "dose": rng.exponential(2.0, n).round(2),
            "ward": rng.choice(["north", "south", "east"], n, p=[0.2, 0.5, 0.3]),
            "smoker": rng.random(n) < 0.3,
            "female": rng.integers(0, 2, n),
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
        }
    )
    score = 0.05 * (frame.age - 50.0) + 1.2 * (frame.ward == "south") - 0.8 * frame.smoker + 0.2 * frame.dose
    frame["cost"] = (score + rng.normal(scale=0.3, size=n)).round(3)
    frame["died"] = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * score + 1.0)), "yes", "no")
    frame["place"] = np.select([score > 1.2, score > 0.4], ["icu", "ward"], "home")
    frame["visits"] = rng.poisson(np.exp(0.4 * score))
    frame["years"] = rng.uniform(0.5, 3.0, n).round(2)
    frame["weight"] = rng.integers(0, 3, n).astype(float)
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "ward"] = None
    return frame


def assert_same_model(one, two, frame):
    assert one.model_.columns == two.model_.columns
    assert [member.complexity for member in one.path_] == [member.complexity for member in two.path_]
    for a, b in zip(one.path_, two.path_, strict=True):
        assert [(rule.condition, rule.factor) for rule in a] == [(rule.condition, rule.factor) for rule in b]
        assert np.allclose(a.weight_table, b.weight_table, rtol=1e-9, atol=1e-11)
    assert one.model_.ranges == two.model_.ranges
    assert np.array_equal(one.predict(frame[INPUTS]), two.predict(frame[INPUTS])) or np.allclose(
        one.predict(frame[INPUTS]), two.predict(frame[INPUTS]), rtol=1e-9
    )
