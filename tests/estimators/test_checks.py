"""The estimators keep every promise that scikit-learn checks, without an exception."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from obliquerules import LLTBoostClassifier, LLTBoostRegressor


@parametrize_with_checks([LLTBoostClassifier(), LLTBoostRegressor(), LLTBoostRegressor(loss="poisson")])
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
