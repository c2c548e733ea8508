"""Warned: each call of a model warns once, at the line of the user."""

import warnings

import numpy as np
import pandas as pd
import pytest

from obliquerules import TGBClassifier
from obliquerules.data.user_warnings import warn_caller

RNG = np.random.default_rng(0)
X = pd.DataFrame({"c": RNG.choice(["u", "v", "w"], 120), "z": RNG.normal(size=120).round(1)})
Y = np.where(2.0 * (X["c"] == "u") + X["z"] > 0.5, "yes", "no")
NEW = X.assign(c=np.where(np.arange(120) < 5, "new", X["c"]))
CALLS = {
    "predict": lambda model: model.predict(NEW),
    "predict_proba": lambda model: model.predict_proba(NEW),
    "decision_function": lambda model: model.decision_function(NEW),
    "score_samples": lambda model: model.score_samples(NEW),
    "score": lambda model: model.score(NEW, Y),
    "staged_predict": lambda model: list(model.staged_predict(NEW)),
    "staged_predict_proba": lambda model: list(model.staged_predict_proba(NEW)),
    "explain": lambda model: model.explain(NEW),
    "rule_table": lambda model: model.rule_table(NEW),
    "variable_importance": lambda model: model.variable_importance(NEW),
    "closest_change": lambda model: model.closest_change(NEW.iloc[:1], NEW),
    "rounded": lambda model: model.rounded(NEW, Y),
    "edit": lambda model: model.edit(NEW, Y).refit(),
    "export": lambda model: model.export("python", NEW),
    "stability": lambda model: model.stability(NEW, Y, n_bootstraps=2, random_state=0),
}


@pytest.fixture(scope="module")
def model():
    return TGBClassifier(max_rules=2, effort=0, linear_terms=False).fit(X, Y)


@pytest.mark.parametrize("call", CALLS)
def test_levels_that_are_new_are_told_once_where_the_user_stands(model, call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        CALLS[call](model)
    told = [one for one in found if "Levels that were not seen in fit occur in 'c' (" in str(one.message)]
    assert [one.filename for one in told] == [__file__]


def test_a_line_outside_the_package_is_warned():
    with pytest.warns(UserWarning, match="^beware$") as found:
        warn_caller("beware")
    assert found[0].filename == __file__
