"""LLTBoost: rules with oblique conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.learning.boosting.cv.cross_validation import LLTBoostCV
from obliquerules.learning.boosting.lltboost import LLTBoost


class LLTBoostClassifier(RuleClassifier):
    """Classify with a small sum of rules with oblique conditions.

    Each rule adds its weight to the log-odds of the positive class wherever all its conditions ``x.w >= t`` hold. Rules are
    added one at a time; each condition is found by L1-sparse logistic regression on the signs of the loss gradient, and after
    each rule all weights are refitted. Inputs are standardised internally; the rules are in original units.

    With more than two classes, each has a score, and the probability of a class is the exponential of its score divided by the
    sum of all. Rules are shared: each has a weight for those classes for which it is worth its price, and none for the others.

    Conditions are as short as ``exact`` allows, and are printed in full, so that the printed conditions are exact. Rule weights
    keep full precision and are printed with three digits.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit; the first is the constant. With ``"information"``:
        the Pareto front in complexity and training loss. With ``"validation"``: ``path_[r]`` has r rules.
    ridge_ : float
        The ridge of the rule weights of the member that predicts, estimated or given.
    stopped_ : str or None
        Why growth ended before its end, ``"max_seconds"`` or ``"interrupted"``; None if it did not. Not saved to files.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifier(random_state=0).fit(X, y)
    >>> small = model.at(6)
    >>> small.ensemble_.complexity <= 6
    True
    """

    method_class = LLTBoost


class LLTBoostRegressor(RuleRegressor):
    """Predict numbers or counts with a small sum of oblique rules.

    Each rule adds its weight to the score wherever all its conditions ``x.w >= t`` hold; the prediction is the score or,
    for counts, its exponential. See `LLTBoostClassifier` for how the rules are learned.

    Attributes
    ----------
    ridge_ : float
    stopped_ : str or None
        As for `LLTBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import LLTBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LLTBoostRegressor(max_rules=3, random_state=0).fit(X, y)
    >>> model.n_iter_
    3
    """

    method_class = LLTBoost


class LLTBoostClassifierCV(RuleClassifier):
    """`LLTBoostClassifier` whose size is chosen by cross-validation.

    The path is that of `LLTBoostClassifier`, and a quick path (``effort=0``) is grown without the rows of each fold. A row is
    held against the path that was grown without it: its loss at the complexity of each member of the path is interpolated
    between its losses under the members of that path just below and above it. The mean over rows is the risk of the member.
    Chosen is the smallest member whose risk is within ``tolerance`` of the least.

    A ``ConvergenceWarning`` says that ``max_rules`` should be raised if the largest size is better than every smaller one by
    more than a standard error.

    Attributes
    ----------
    ensemble_ : RuleEnsemble
        The chosen member.
    complexity_ : int
        The complexity of the chosen member.
    best_complexity_ : int
        The complexity of the member of the least risk.
    ridge_ : float
        The ridge of the rule weights of the chosen member, estimated or given.
    stopped_ : str or None
        ``"max_seconds"`` if the growth of a path ended at that limit; None if none did. Not saved to files.
    risk_, risk_standard_error_ : float
        The mean held-out loss of the chosen member, to be expected on new rows, and its standard error.
    cv_results_ : dict of str to array
        Each array has an entry for each member of the path. ``complexity``; ``mean_test_risk``, the mean held-out loss of the
        rows, each averaged over the times that it was tested; ``standard_error``, its standard error; ``difference``, the risk
        less the least, and ``difference_standard_error``, paired row by row; ``split0_test_risk`` and so on, the risk on each
        fold, repetition by repetition, and ``std_test_risk``, their standard deviation. Not saved to files.

    Notes
    -----
    A row of weight 2 counts as two observations in standard errors, and a group as one. Rows are tested by models whose
    training rows are mostly the same, so their losses are not quite independent, and a standard error is only a rule of thumb.
    Models of folds learn from fewer rows, and with less effort, so that risks err on the high side, on average by one or two
    per cent; that the size is chosen by the same losses takes off less than that. On simulated problems
    (``benchmarks/cv_risk.py``) the mean loss on new rows is within two standard errors of ``risk_`` about nine times in ten.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifierCV(max_rules=2, max_variables=2, effort=0, cv=3, random_state=0).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

    method_class = LLTBoostCV


class LLTBoostRegressorCV(RuleRegressor):
    """`LLTBoostRegressor` whose size is chosen by cross-validation; see `LLTBoostClassifierCV` for how.

    Attributes
    ----------
    complexity_, best_complexity_ : int
    ridge_, risk_, risk_standard_error_ : float
    cv_results_ : dict of str to array
    stopped_ : str or None
        As for `LLTBoostClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import LLTBoostRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LLTBoostRegressorCV(max_rules=2, max_variables=2, effort=0, cv=3, random_state=0).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

    method_class = LLTBoostCV
