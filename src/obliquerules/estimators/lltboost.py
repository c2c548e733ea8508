"""LLTBoost: rules with oblique conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

from obliquerules.boosting.cv.cross_validation import LLTBoostCV
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor


class LLTBoostClassifier(RuleClassifier):
    """Classify with a small sum of rules whose conditions are sparse linear combinations of inputs.

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
    ensemble_ : RuleEnsemble
        The member of the path that predicts; after `fit`, the last.
    edits_ : EditLog or None
        The log of its edits; None if it was not edited.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    ridge_ : float
        The ridge of the rule weights, estimated or given.
    stopped_ : str or None
        Why growth ended before its end, ``"max_seconds"`` or ``"interrupted"``; None if it did not. Not saved to files.
    n_iter_ : int
        The number of rules grown.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X was a data frame whose column names are text.

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
    """Predict a number or a count with a small sum of rules whose conditions are sparse linear combinations of inputs.

    Each rule adds its weight to the score wherever all its conditions ``x.w >= t`` hold; the prediction is the score or,
    for counts, its exponential. See `LLTBoostClassifier` for how the rules are learned.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
    ridge_ : float
    stopped_ : str or None
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
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

    One path is grown on all rows. To choose the member that predicts, a path is also grown without the rows of each fold. A row
    is held against the path that was grown without it: at a given complexity, its loss is that under the largest member of at
    most this complexity. The size with the least mean loss, the risk, is the best; chosen is the smallest size whose risk is
    above that by no more than one standard error of the difference, which is paired row by row.

    Of sizes that differ by little, chance decides which has the least risk. So only some are compared: corners of the convex
    hull of complexity and training loss, each larger than the one before by a fifth or more. Rows are assigned to folds anew
    until the choice is stable: until each difference that decides is further from one standard error than its 95 % confidence
    interval over the repetitions is wide, also in other variants that are not clearly worse; at most ten times.

    Variants are ridges and, unless ``linear_terms`` says otherwise, two kinds of paths: slopes and rules, and slopes alone,
    which are a linear model. The one with the least risk at its best size is taken.

    A ``ConvergenceWarning`` says that ``max_rules`` should be raised if the largest size is better than every smaller one by
    more than a standard error.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Grown on all rows, as by `LLTBoostClassifier` with ``linear_terms=linear_terms_``; with ``ridge="auto"``, refitted with
        ``ridge_``.
    ensemble_ : RuleEnsemble
        The chosen member.
    complexity_ : int
        Its complexity.
    best_complexity_ : int
        The complexity of the best size.
    ridge_ : float
        The ridge, chosen or given.
    linear_terms_ : bool or str
        True for slopes and rules, ``"only"`` for slopes alone, False for rules alone: chosen or given. Where no slopes can be
        learned, it is as given.
    stopped_ : str or None
        ``"max_seconds"`` if the growth of a path ended at that limit; None if none did. Not saved to files.
    n_repetitions_ : int
        How often rows were assigned to folds.
    risk_, risk_standard_error_ : float
        The mean held-out loss with the choice inside: the rows of each fold are judged at the size, ridge and kind of path that
        the other folds of the same repetition choose. The models by which those folds choose were fitted to rows of this fold,
        too: only the choice is nested, not the fits behind it.
    cv_results_ : dict of str to array
        Each array has an entry for each size of the path that was compared. ``complexity``; ``mean_test_risk``, the mean
        held-out loss of the rows, each averaged over the times that it was tested; ``standard_error``, its standard error;
        ``difference``, the risk less that of the best size, and ``difference_standard_error``; ``split0_test_risk`` and so on,
        the risk on each fold, repetition by repetition, and ``std_test_risk``, their standard deviation. Not saved to files.
    classes_ : array of shape (n_classes,)
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LLTBoostClassifier`.

    Notes
    -----
    Rows are tested by models whose training rows are mostly the same, so their losses are not quite independent, and the
    standard error is only a rule of thumb. The risk of the chosen member in `cv_results_` is slightly optimistic, because the
    choice depends on it; ``risk_`` is not.

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
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
    complexity_, best_complexity_, n_repetitions_ : int
    ridge_, risk_, risk_standard_error_ : float
    linear_terms_ : bool or str
    cv_results_ : dict of str to array
    stopped_ : str or None
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
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
