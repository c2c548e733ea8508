"""LTRNet: rules with oblique conditions, learned all at once by gradient descent, as classifier and regressor."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.learning.nets.ltrnet import LTRNet


class LTRNetClassifier(RuleClassifier):
    """Classify with a small sum of oblique rules, learned all at once by a network.

    The network is the rule ensemble with sigmoids in place of its steps: linear conditions, their conjunctions, and a weighted
    sum of these. It is trained from several random starts at each penalty of a falling geometric grid. The L1 penalty keeps
    the rules few and the conditions sparse; a W-shaped penalty decides which conditions belong to which rule. Then the sigmoids
    become steps, and the result is a `RuleEnsemble` in original units. `LLTBoostClassifier` learns models of the same kind
    one rule at a time.

    With more than two classes, all of them share the rules, and a rule has a weight for each class that it speaks for. The L1
    penalty keeps these few; once the rules are hard, weights that are not worth their complexity are dropped.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity and falling training loss, in original units; the first is the constant. With
        ``discretization="paper"``, the loss need not fall.
    ensemble_ : RuleEnsemble
        The member of the path that predicts; after `fit`, the last.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        The largest number of training steps at any penalty.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X was a data frame whose column names are text.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LTRNetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LTRNetClassifier(n_penalties=2, n_restarts=2, random_state=0).fit(X, y)
    >>> small = model.at(20)
    >>> small.ensemble_.complexity <= 20
    True

    With three classes, each has a score:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model.fit(X, y).predict_proba(X).shape
    (150, 3)
    """

    method_class = LTRNet


class LTRNetRegressor(RuleRegressor):
    """Predict a number or a count with a small sum of oblique rules, learned all at once by a network.

    The prediction is the constant plus the weights of the rules that fire or, for counts, the exponential of this sum. See
    `LTRNetClassifier` for how the rules are learned.

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
