"""DRNet: a decision rules network, read off as a set of rules for one class, as a classifier."""

from __future__ import annotations

from obliquerules.estimators.classifier import RuleClassifier
from obliquerules.nets.drnet import DRNet


class DRNetClassifier(RuleClassifier):
    """Classify two classes with a set of rules for one of them: a row is of that class if and only if some rule fires.

    A decision rules network learns the rules. Each column is asked ``x <= t`` at a few thresholds; a first layer of neurons are
    conjunctions of such conditions or their opposites, and a second layer is their OR. Gates that may shut for good, and a
    penalty on their expected number, keep the rules few and short; the two layers are trained in turns. The rules are then read
    off, with the conditions on one column merged, and conditions and rules left out without which every training row keeps its
    class.

    As a sum of rules, the OR has a constant and rule weights of opposite signs, each weight being larger than the constant: the
    score has the sign of the constant where no rule fires, and the other one wherever some rule does. Within these bounds the
    weights are those with the least logistic loss, so that `predict_proba` gives the frequency of the class among the training
    rows for which the same rules fire, as far as a sum can.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        The constant, and then in the order of complexity each rule set that has a lower training risk (mean logistic loss) than
        all less complex ones.
    ensemble_ : RuleEnsemble
        The one that predicts: the last of the path after `fit`.
    classes_ : array of shape (2,)
        The labels; rules with a positive weight are for the second, rules with a negative weight for the first.
    n_iter_ : int
        The number of training steps.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if the inputs were a data frame with text as column names.

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
