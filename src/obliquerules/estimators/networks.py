"""Networks: LTRNetClassifier, LTRNetRegressor and DRNetClassifier, whose rules are read off a trained network."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.estimators.regressor import RuleRegressor
from obliquerules.learning.nets.drnet import DRNet
from obliquerules.learning.nets.ltrnet import LTRNet


class LTRNetClassifier(RuleClassifier):
    """Classify with a small sum of oblique rules from a network.

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
    n_iter_ : int
        The largest number of training steps at any penalty.

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
    """Predict numbers or counts with oblique rules from a network.

    The prediction is the constant plus the weights of the rules that fire or, for counts, the exponential of this sum. See
    `LTRNetClassifier` for how the rules are learned.

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


class DRNetClassifier(RuleClassifier):
    """Classify two classes with a set of rules for one.

    A row is of that class if and only if some rule fires. A decision rules network learns the rules. Its inputs are conditions
    ``x <= t`` at a few thresholds of each column. The neurons of its first layer are conjunctions of these conditions and their
    complements, and the second layer is their OR. Gates that can close for good, with a penalty on the expected number of open
    ones, keep the rules few and short; the two layers are trained in turn. The rules are then read off: conditions on the same
    column are merged, and conditions and rules that are redundant, because every training row keeps its class without them, are
    dropped.

    As a sum of rules, the OR has a constant of one sign and rule weights of the other, each larger in size than the constant:
    the score has the sign of the constant where no rule fires and the opposite sign wherever a rule does. Under this constraint
    the weights minimise the logistic loss, so `predict_proba` gives, as far as a sum can, the frequency of the class among the
    training rows on which the same rules fire.

    One set of rules describes one class, so there must be two. `LLTBoostClassifier`, `TGBClassifier` and `LTRNetClassifier`
    learn more.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        The constant, and then the Pareto front of the rule sets in complexity and training risk (mean logistic loss), in order
        of complexity.
    classes_ : array of shape (2,)
        The labels, sorted. Rules with a positive weight are for the positive class, the others for the other one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import DRNetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = DRNetClassifier(n_penalties=1, describe=1, random_state=0).fit(X, y)
    >>> any_rule_fires = model.ensemble_.fires(X).any(axis=1)
    >>> bool((model.predict(X) == any_rule_fires).all())
    True
    """

    method_class = DRNet
