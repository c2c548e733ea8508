"""LLTBoost: rules with oblique conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

from typing import Any

from obliquerules.boosting.learner import Learner
from obliquerules.boosting.oblique import ObliqueLearner
from obliquerules.boosting.pool import PoolLearner
from obliquerules.boosting.sample import Sample
from obliquerules.estimators.boosted import BoostedModel
from obliquerules.estimators.parameters import check_whole
from obliquerules.estimators.rule_model import RuleClassifier, RuleRegressor


class LLTBoostModel(BoostedModel):
    """The parameters and the learner that classifier and regressor have in common."""

    def __init__(
        self,
        *,
        max_rules: int = 10,
        max_propositions: int = 5,
        max_variables: int = 5,
        selection: str = "information",
        complexity_penalty: float = 4.0,
        validation_fraction: float = 0.2,
        validation_tolerance: float = -0.02,
        objective_tolerance: float = 0.1,
        ridge: float = 4.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_propositions = max_propositions
        self.max_variables = max_variables
        self.selection = selection
        self.complexity_penalty = complexity_penalty
        self.validation_fraction = validation_fraction
        self.validation_tolerance = validation_tolerance
        self.objective_tolerance = objective_tolerance
        self.ridge = ridge
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("max_variables", self.max_variables, 1)

    def _learner(self, sample: Sample) -> Learner:
        kind = ObliqueLearner if self.selection == "validation" else PoolLearner
        return kind(sample.X, sample.weight, self.max_variables)


class LLTBoostClassifier(RuleClassifier, LLTBoostModel):
    """Classify two classes with a small sum of rules whose conditions are sparse linear combinations of inputs.

    Each rule adds its weight to the log-odds of the second class wherever all its conditions ``x.w >= t`` hold. Rules are
    added one at a time; each condition is found by L1-sparse logistic regression on the signs of the loss gradient, and after
    each rule all weights are fitted anew. Inputs are standardised inside; the rules come back in original units.

    The numbers in conditions are the shortest decimals for which no training row changes side, and are printed in full: the
    conditions that are read are the model. Rule weights keep their full precision and are printed with four digits.

    Parameters
    ----------
    max_rules : int, default=10
        Largest number of rules, r in the paper. One fit gives every smaller size too: see `path_` and `at`.
    max_propositions : int, default=5
        Largest number of conditions in a rule, k_r in the paper.
    max_variables : int, default=5
        Largest number of variables in a condition, k_s in the paper.
    selection : {"information", "validation"}, default="information"
        How variables, conditions and rules earn their place. ``"information"``: by a criterion that charges for the complexity
        of the whole model, on all rows, from a wide pool of conditions. ``"validation"``: the paper's way, in which an
        additional variable must lower the risk on held-out rows and an additional condition must raise the boosting objective.
    complexity_penalty : float, default=4.0
        For ``"information"``: the price of one unit of complexity (a rule, a threshold or a variable) in units of log(n) on the
        scale of -2 log likelihood. Larger means smaller models.
    validation_fraction : float, default=0.2
        For ``"validation"``: share of the rows that is held out while rules are grown; the weights are then fitted to all rows.
        Equal rows are held out together.
    validation_tolerance : float, default=-0.02
        For ``"validation"``: relative change of the held-out risk that an additional variable must reach, eps_s in the paper.
    objective_tolerance : float, default=0.1
        For ``"validation"``: relative rise of the objective that an additional condition must exceed, eps_p in the paper.
    ridge : float, default=4.0
        Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on so many rows, and on no row
        of another rule, gets about half the weight that it would have without the penalty. The curvature of the loss at the
        best constant makes this mean the same for every loss.
    random_state : int, RandomState instance or None, default=None
        For ``"validation"``: draws the held-out rows.
    verbose : int, default=0
        If not zero, report each rule on standard error.

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

    def _plain_class(self) -> type[BoostedModel]:
        return LLTBoostClassifier


class LLTBoostRegressor(RuleRegressor, LLTBoostModel):
    """Predict a number or a count with a small sum of rules whose conditions are sparse linear combinations of inputs.

    Each rule adds its weight to the score wherever all its conditions ``x.w >= t`` hold; the prediction is the score itself,
    or for counts its exponential. See `LLTBoostClassifier` for how the rules are learned and for the parameters that both have.

    Parameters
    ----------
    loss : {"squared", "poisson"}, default="squared"
        ``"squared"`` for a real target, ``"poisson"`` (log link) for counts and rates.
    max_rules, max_propositions, max_variables : int
    selection : {"information", "validation"}
    complexity_penalty, validation_fraction, validation_tolerance, objective_tolerance, ridge : float
    random_state : int, RandomState instance or None
    verbose : int
        As for `LLTBoostClassifier`.

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

    def __init__(
        self,
        *,
        loss: str = "squared",
        max_rules: int = 10,
        max_propositions: int = 5,
        max_variables: int = 5,
        selection: str = "information",
        complexity_penalty: float = 4.0,
        validation_fraction: float = 0.2,
        validation_tolerance: float = -0.02,
        objective_tolerance: float = 0.1,
        ridge: float = 4.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_rules=max_rules,
            max_propositions=max_propositions,
            max_variables=max_variables,
            selection=selection,
            complexity_penalty=complexity_penalty,
            validation_fraction=validation_fraction,
            validation_tolerance=validation_tolerance,
            objective_tolerance=objective_tolerance,
            ridge=ridge,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss

    def _plain_class(self) -> type[BoostedModel]:
        return LLTBoostRegressor
