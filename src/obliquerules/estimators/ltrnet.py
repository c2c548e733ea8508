"""LTRNet: rules with oblique conditions by gradient descent on all of them at once, as classifier and regressor."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.nets.ltrnet import LTRNet


class LTRNetClassifier(RuleClassifier):
    """Classify two classes with a small sum of oblique rules, all of which a network learns at once.

    The network is the rule ensemble with sigmoids in place of its steps: linear conditions, their conjunctions, and a weighted
    sum of these. It is trained from several random starts at each of a falling sequence of L1 penalties, which keep the rules
    few and the conditions sparse; a W-shaped penalty makes it decide which conditions belong to which rule. Then the sigmoids
    become steps, and what is left is a `RuleEnsemble` in original units. `LLTBoostClassifier` learns models of the same kind
    one rule at a time.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity and falling training loss, in original units, the first of them the constant.
    ensemble_ : RuleEnsemble
        The one that predicts: the last of the path after `fit`.
    classes_ : array of shape (2,)
        The labels; rules with a positive weight speak for the second.
    n_iter_ : int
        The largest number of steps that the training at a penalty took.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if the inputs were a data frame with text as column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LTRNetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LTRNetClassifier(n_penalties=2, n_restarts=2, random_state=0).fit(X, y)
    >>> small = model.at(20)
    >>> small.ensemble_.complexity <= 20
    True
    """

    method_class = LTRNet


class LTRNetRegressor(RuleRegressor):
    """Predict a number or a count with a small sum of oblique rules, all of which a network learns at once.

    The prediction is the sum of the weights of the rules that fire, or for counts its exponential. See `LTRNetClassifier` for
    how the rules are learned and for the parameters that both have.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LTRNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import LTRNetRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LTRNetRegressor(n_penalties=2, n_restarts=2, random_state=0).fit(X, y)
    >>> model.path_[0].complexity
    0
    """

    method_class = LTRNet
