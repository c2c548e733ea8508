"""The estimators keep every promise that scikit-learn checks, without an exception."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from obliquerules import (
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    TGBClassifier,
    TGBRegressor,
)

ESTIMATORS = [
    LLTBoostClassifier(),
    LLTBoostRegressor(),
    LLTBoostRegressor(loss="poisson"),
    LLTBoostClassifierCV(max_rules=2, max_propositions=1, cv=3),
    LLTBoostRegressorCV(max_rules=2, max_propositions=1, cv=3),
    TGBClassifier(),
    TGBRegressor(),
    TGBRegressor(loss="poisson"),
    TGBClassifier(objective="gradient", selection="information"),
    TGBRegressor(objective="second-order", selection="validation"),
    TGBClassifier(max_rules=2, max_propositions=2, search="exact", max_nodes=10**6),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
