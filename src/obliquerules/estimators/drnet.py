"""DRNet: a decision rules network, read off as a set of rules for one class, as a classifier."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.learning.nets.drnet import DRNet


class DRNetClassifier(RuleClassifier):
    """Classify two classes with a set of rules for one of them: a row is of that class if and only if some rule fires.

    A decision rules network learns the rules. Its inputs are conditions ``x <= t`` at a few thresholds of each column. The
    neurons of its first layer are conjunctions of these conditions and their complements, and the second layer is their OR.
    Gates that can close for good, with a penalty on the expected number of open ones, keep the rules few and short; the two
    layers are trained in turn. The rules are then read off: conditions on the same column are merged, and conditions and rules
    that are redundant, because every training row keeps its class without them, are dropped.

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
    ensemble_ : RuleEnsemble
        The member of the path that predicts; after `fit`, the last.
    classes_ : array of shape (2,)
        The labels, sorted. Rules with a positive weight are for the positive class, the others for the other one.
    n_iter_ : int
        The number of training steps.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X was a data frame whose column names are text.

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
