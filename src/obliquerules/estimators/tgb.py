"""TGB: rules with plain thresholds by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from obliquerules.boosting.axis import AxisLearner
from obliquerules.boosting.columns import SortedColumns
from obliquerules.boosting.exact import ExactLearner
from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import ConditionLearner, Learner
from obliquerules.boosting.objective import OBJECTIVES
from obliquerules.boosting.sample import Sample
from obliquerules.boosting.selection import ObjectiveSelection, Selection
from obliquerules.estimators.boosted import SELECTIONS, BoostedModel
from obliquerules.estimators.parameters import check_option, check_real, check_whole
from obliquerules.estimators.rule_model import RuleClassifier, RuleRegressor

SEARCHES = ("greedy", "exact")
# A conjunction of plain thresholds is one side of each: growth starts from either side of the first, and may turn.
BOTH_WAYS = ((1.0, -1.0), (-1.0, 1.0))


class TGBModel(BoostedModel):
    """The parameters and the learners that classifier and regressor have in common."""

    selections: ClassVar[tuple[str, ...]] = ("objective", *SELECTIONS)
    search_complete_: bool

    def __init__(
        self,
        *,
        max_rules: int = 10,
        max_propositions: int = 5,
        objective: str = "orthogonal",
        search: str = "greedy",
        selection: str = "objective",
        complexity_penalty: float = 4.0,
        validation_fraction: float = 0.2,
        validation_tolerance: float = -0.02,
        objective_tolerance: float = 0.3,
        ridge: float = 4.0,
        max_nodes: int = 10000,
        max_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_propositions = max_propositions
        self.objective = objective
        self.search = search
        self.selection = selection
        self.complexity_penalty = complexity_penalty
        self.validation_fraction = validation_fraction
        self.validation_tolerance = validation_tolerance
        self.objective_tolerance = objective_tolerance
        self.ridge = ridge
        self.max_nodes = max_nodes
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("objective", self.objective, OBJECTIVES)
        check_option("search", self.search, SEARCHES)
        check_whole("max_nodes", self.max_nodes, 1)
        if self.max_seconds is not None:
            check_real("max_seconds", self.max_seconds, 0.0)

    def _selection(self) -> Selection:
        if self.selection == "objective":
            return ObjectiveSelection(self.objective_tolerance)
        if self.selection == "information":
            return InformationSelection(self.complexity_penalty, signs=BOTH_WAYS)
        return super()._selection()

    def _learner(self, sample: Sample) -> Learner | ConditionLearner:
        columns = SortedColumns(sample.X)
        if self.search == "exact":
            return ExactLearner(columns, self.max_nodes, self.max_seconds)
        return AxisLearner(columns, 1 if self.selection == "objective" else None)

    def _note(self, learner: Learner | ConditionLearner) -> None:
        self.search_complete_ = not isinstance(learner, ExactLearner) or learner.complete
        if not self.search_complete_:
            warnings.warn(
                "The exact search came to the limit of max_nodes or max_seconds before its end: some rules are the best that "
                "were seen, which need not be the best there are.",
                ConvergenceWarning,
                stacklevel=2,
            )


class TGBClassifier(RuleClassifier, TGBModel):
    """Classify two classes with a small sum of rules whose conditions are plain thresholds on single inputs.

    Each rule adds its weight to the log-odds of the second class wherever all its conditions ``x >= t`` or ``x <= t`` hold.
    Rules are added one at a time; each is the conjunction that follows the loss gradient best, and after each rule all weights
    are fitted anew. `LLTBoostClassifier` does the same with oblique conditions.

    The numbers in conditions are the shortest decimals for which no training row changes side, and are printed in full: the
    conditions that are read are the model. Rule weights keep their full precision and are printed with four digits.

    Parameters
    ----------
    max_rules : int, default=10
        Largest number of rules. One fit gives every smaller size too: see `path_` and `at`.
    max_propositions : int, default=5
        Largest number of conditions in a rule.
    objective : {"orthogonal", "gradient", "second-order"}, default="orthogonal"
        What makes a rule q a good one, with g the gradient of the loss and h its second derivative. ``"gradient"``: the
        gradient sum ``|g.q|``, the paper's. ``"second-order"``: ``|g.q| / sqrt(h.q + ridge)``, as in XGBoost. ``"orthogonal"``:
        the same with only that part of q as its size which the constant and the rules so far cannot do already, as in
        orthogonal gradient boosting.
    search : {"greedy", "exact"}, default="greedy"
        ``"greedy"``: conditions are added to a rule one at a time, each the best there is. ``"exact"``: the best rule of each
        length is found by branch and bound, and the selection chooses the length.
    selection : {"objective", "information", "validation"}, default="objective"
        How conditions and rules earn their place. ``"objective"``: by the objective alone, while it rises, as in the paper.
        ``"information"``: by a criterion that charges for the complexity of the whole model; it offers more sizes and takes
        longer. ``"validation"``: columns by the risk on held-out rows, further conditions by the objective.
    complexity_penalty : float, default=4.0
        For ``"information"``: the price of one unit of complexity (a rule, a threshold or a variable) in units of log(n) on the
        scale of -2 log likelihood. Larger means smaller models.
    validation_fraction : float, default=0.2
        For ``"validation"``: share of the rows that is held out while rules are grown; the weights are then fitted to all rows.
        Equal rows are held out together.
    validation_tolerance : float, default=-0.02
        For ``"validation"``: relative change of the held-out risk that another column must reach to be taken instead of the one
        with the largest objective.
    objective_tolerance : float, default=0.3
        For ``"validation"`` and ``"objective"``: relative rise of the objective that an additional condition must exceed. Zero
        is the paper's choice.
    ridge : float, default=4.0
        Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on so many rows, and on no row
        of another rule, gets about half the weight that it would have without the penalty. The curvature of the loss at the
        best constant makes this mean the same for every loss.
    max_nodes : int, default=10000
        For ``"exact"``: how many conjunctions may be extended in search of one rule. Where that is not enough, the best rule
        that was seen is taken, which is at least as good as the greedy one, with a ``ConvergenceWarning``.
    max_seconds : float or None, default=None
        For ``"exact"``: how long the search for one rule may take. What is found in a given time depends on the machine, so
        with a limit the same data need not give the same model.
    random_state : int, RandomState instance or None, default=None
        For ``"validation"``: draws the held-out rows.
    verbose : int, default=0
        If not zero, report each rule on standard error.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Ensembles of growing complexity, in original units, all from one fit, the first of them the constant. With
        ``"information"``: every size at which a lower training loss was met. Otherwise ``path_[r]`` has r rules.
    ensemble_ : RuleEnsemble
        The one that predicts: the last of the path after `fit`.
    search_complete_ : bool
        Whether no exact search met a limit; True for greedy search. Not saved to files.
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
    >>> from obliquerules import TGBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = TGBClassifier(max_rules=4).fit(X, y)
    >>> all(len(proposition.columns) == 1 for rule in model.ensemble_ for proposition in rule.condition)
    True
    """

    def _plain_class(self) -> type[BoostedModel]:
        return TGBClassifier


class TGBRegressor(RuleRegressor, TGBModel):
    """Predict a number or a count with a small sum of rules whose conditions are plain thresholds on single inputs.

    Each rule adds its weight to the score wherever all its conditions ``x >= t`` or ``x <= t`` hold; the prediction is the
    score itself, or for counts its exponential. See `TGBClassifier` for how the rules are learned and for the parameters that
    both have.

    Parameters
    ----------
    loss : {"squared", "poisson"}, default="squared"
        ``"squared"`` for a real target, ``"poisson"`` (log link) for counts and rates.
    max_rules, max_propositions : int
    objective : {"orthogonal", "gradient", "second-order"}
    search : {"greedy", "exact"}
    selection : {"objective", "information", "validation"}
    complexity_penalty, validation_fraction, validation_tolerance, objective_tolerance, ridge : float
    max_nodes : int
    max_seconds : float or None
    random_state : int, RandomState instance or None
    verbose : int
        As for `TGBClassifier`.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
    search_complete_ : bool
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
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

    def __init__(
        self,
        *,
        loss: str = "squared",
        max_rules: int = 10,
        max_propositions: int = 5,
        objective: str = "orthogonal",
        search: str = "greedy",
        selection: str = "objective",
        complexity_penalty: float = 4.0,
        validation_fraction: float = 0.2,
        validation_tolerance: float = -0.02,
        objective_tolerance: float = 0.3,
        ridge: float = 4.0,
        max_nodes: int = 10000,
        max_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_rules=max_rules,
            max_propositions=max_propositions,
            objective=objective,
            search=search,
            selection=selection,
            complexity_penalty=complexity_penalty,
            validation_fraction=validation_fraction,
            validation_tolerance=validation_tolerance,
            objective_tolerance=objective_tolerance,
            ridge=ridge,
            max_nodes=max_nodes,
            max_seconds=max_seconds,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss

    def _plain_class(self) -> type[BoostedModel]:
        return TGBRegressor
