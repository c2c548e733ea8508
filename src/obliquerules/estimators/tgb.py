"""TGB: rules with axis-parallel conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.learning.boosting.cv.cross_validation import TGBCV
from obliquerules.learning.boosting.tgb import TGB


class TGBClassifier(RuleClassifier):
    """Classify with a small sum of rules on single inputs.

    Each rule adds its weight to the log-odds of the positive class wherever all its conditions ``x >= t`` or ``x <= t`` hold.
    Rules are added one at a time; each is the conjunction that follows the loss gradient best, and after each rule all weights
    are refitted. `LLTBoostClassifier` does the same with oblique conditions.

    Conditions are as short as ``exact`` allows, and are printed in full, so that the printed conditions are exact. Rule weights
    keep full precision and are printed with three digits.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit; the first is the constant. With ``"information"``:
        the Pareto front in complexity and training loss. Otherwise ``path_[r]`` has r rules.
    search_complete_ : bool
        Whether every exact search was completed; True for greedy search. Not saved to files.
    ridge_ : float
    stopped_ : str or None
        As for `LLTBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import TGBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = TGBClassifier(max_rules=4).fit(X, y)
    >>> all(len(proposition.columns) == 1 for rule in model.ensemble_ for proposition in rule.condition)
    True
    """

    method_class = TGB


class TGBRegressor(RuleRegressor):
    """Predict numbers or counts with rules on single inputs.

    Each rule adds its weight to the score wherever all its conditions ``x >= t`` or ``x <= t`` hold; the prediction is the
    score or, for counts, its exponential. See `TGBClassifier` for how the rules are learned.

    Attributes
    ----------
    search_complete_ : bool
    ridge_ : float
    stopped_ : str or None
        As for `TGBClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import TGBRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TGBRegressor(max_rules=3).fit(X, y)
    >>> model.n_iter_
    3
    """

    method_class = TGB


class TGBClassifierCV(RuleClassifier):
    """`TGBClassifier` whose size is chosen by cross-validation; see `LLTBoostClassifierCV` for how.

    Attributes
    ----------
    complexity_, best_complexity_ : int
    ridge_, risk_, risk_standard_error_ : float
    cv_results_ : dict of str to array
    stopped_ : str or None
        As for `LLTBoostClassifierCV`.
    search_complete_ : bool
        Whether every exact search of the fit to all rows was completed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import TGBClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = TGBClassifierCV(max_rules=4, cv=3).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

    method_class = TGBCV


class TGBRegressorCV(RuleRegressor):
    """`TGBRegressor` whose size is chosen by cross-validation; see `LLTBoostClassifierCV` for how.

    Attributes
    ----------
    complexity_, best_complexity_ : int
    ridge_, risk_, risk_standard_error_ : float
    cv_results_ : dict of str to array
    search_complete_ : bool
    stopped_ : str or None
        As for `TGBClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import TGBRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TGBRegressorCV(max_rules=4, cv=3).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

    method_class = TGBCV
