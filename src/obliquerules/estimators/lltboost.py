"""LLTBoost: rules with oblique conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

from obliquerules.boosting.cross_validated import LLTBoostCV
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor


class LLTBoostClassifier(RuleClassifier):
    """Classify two classes with a small sum of rules whose conditions are sparse linear combinations of inputs.

    Each rule adds its weight to the log-odds of the second class wherever all its conditions ``x.w >= t`` hold. Rules are
    added one at a time; each condition is found by L1-sparse logistic regression on the signs of the loss gradient, and after
    each rule all weights are fitted anew. Inputs are standardised inside; the rules come back in original units.

    The numbers in conditions are the shortest decimals for which no training row changes side, and are printed in full: the
    conditions that are read are the model. Rule weights keep their full precision and are printed with four digits.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit, the first of them the constant. With
        ``"information"``: every size at which a lower training loss was met. With ``"validation"``: ``path_[r]`` has r rules.
    ensemble_ : RuleEnsemble
        The one that predicts: the last of the path after `fit`.
    edits_ : EditLog or None
        What was done to it by `edit`; None if nothing was.
    classes_ : array of shape (2,)
        The labels; rules with a positive weight speak for the second.
    n_iter_ : int
        The number of rules grown.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if the inputs were a data frame with text as column names.

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

    Each rule adds its weight to the score wherever all its conditions ``x.w >= t`` hold; the prediction is the score itself,
    or for counts its exponential. See `LLTBoostClassifier` for how the rules are learned and for the parameters that both have.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
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

    One path is grown on all rows. To say which of its members predicts, the same is done without the rows of each fold, and
    the path that comes out is judged on those rows. At a given complexity, a fold counts with its largest member of at most
    that complexity. The member with the least mean risk is the best; chosen is the smallest whose mean risk is within one
    standard error of that.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Grown on all rows, as by `LLTBoostClassifier`.
    ensemble_ : RuleEnsemble
        The chosen member.
    complexity_ : int
        Its complexity.
    best_complexity_ : int
        The complexity of the member with the least mean risk.
    cv_results_ : dict of str to array
        With an entry for each member of the path: ``complexity``; ``mean_test_risk``, the mean over the folds of the mean
        loss; ``std_test_risk``, the standard deviation between folds; ``standard_error``, that divided by the root of the
        number of folds; and ``split0_test_risk`` and so on, the risk on each fold. Not saved to files.
    classes_ : array of shape (2,)
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LLTBoostClassifier`.

    Notes
    -----
    Training sets of different folds share most of their rows, so the risks of folds depend on each other and the standard
    error is a rule of thumb, not an exact one. The risk of the chosen member in `cv_results_` is a little too good, because it
    was looked at to choose it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifierCV(max_rules=4, max_variables=2, random_state=0).fit(X, y)
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
    complexity_, best_complexity_ : int
    cv_results_ : dict of str to array
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LLTBoostClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import LLTBoostRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LLTBoostRegressorCV(max_rules=3, max_variables=2, random_state=0).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

    method_class = LLTBoostCV
