"""LLTBoost: rules with oblique conditions by fully corrective boosting, as classifier and regressor."""

from __future__ import annotations

import copy
import functools
import sys
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import Learner
from obliquerules.boosting.loop import boost
from obliquerules.boosting.oblique import ObliqueLearner
from obliquerules.boosting.pool import PoolLearner
from obliquerules.boosting.problem import Problem
from obliquerules.boosting.sample import Sample
from obliquerules.boosting.selection import Selection, ValidationSelection
from obliquerules.encoding import checked_weights
from obliquerules.estimators.parameters import check_jobs, check_option, check_real, check_seed, check_whole
from obliquerules.estimators.rule_model import RuleClassifier, RuleModel, RuleRegressor, all_or_nothing
from obliquerules.inspection.stability import Bootstrap, Stability, stability
from obliquerules.rules import RuleEnsemble, Shortening
from obliquerules.solvers.rule_weights import weights_of_patterns

SELECTIONS = ("information", "validation")


class LLTBoostModel(RuleModel):
    """The parameters and the fit that classifier and regressor have in common."""

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
        check_whole("max_rules", self.max_rules, 1)
        check_whole("max_propositions", self.max_propositions, 1)
        check_whole("max_variables", self.max_variables, 1)
        check_option("selection", self.selection, SELECTIONS)
        check_real("complexity_penalty", self.complexity_penalty, 0.0)
        check_real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_real("validation_tolerance", self.validation_tolerance, -1.0)
        check_real("objective_tolerance", self.objective_tolerance, 0.0)
        check_real("ridge", self.ridge, 0.0)
        check_seed("random_state", self.random_state)
        check_whole("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # for subclasses
        """Return the targets as the numbers that the loss takes; raise if the rows that have weight cannot be learned from."""
        raise AttributeError(f"{type(self).__name__} does not say what its targets are.")

    def _checked(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs, targets and weights, ready to be learned from."""
        X, y = self._training_data(X, y)
        weight = checked_weights(sample_weight, len(y))
        return X, self._target(y, weight), weight

    def _plain_class(self) -> type[LLTBoostModel]:
        """Return the estimator that grows one path and does nothing else."""
        raise AttributeError(f"{type(self).__name__} does not say which estimator grows its rules.")

    def _plain_copy(self, seed: int) -> LLTBoostModel:
        """Return that estimator with the parameters of this one, but with a random state of its own, and silent."""
        parameters = {name: getattr(self, name) for name in self._plain_class()._get_param_names()}
        return self._plain_class()(**parameters | {"random_state": seed, "verbose": 0})

    def _grow(self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]) -> Self:
        """Grow the path on checked data."""
        sample = Sample.of(X, y, weight)
        learner, selection = self._learner_and_selection(sample)
        # No row changes side, so that the weights fitted to the exact conditions are right for the shortened ones.
        shortening = Shortening(sample.X)
        names = self._feature_names()
        grown = []
        for stage in boost(self._problem(sample), learner, selection, self.max_rules, self.max_propositions):
            grown.append(stage)
            if self.verbose:
                self._report(shortening.ensemble(stage.ensemble(names)))
        self.path_ = tuple(shortening.ensemble(stage.ensemble(names)) for stage in selection.path(grown))
        self.ensemble_, self.n_iter_ = self.path_[-1], len(grown) - 1
        return self

    def _problem(self, sample: Sample) -> Problem:
        """Return the problem to grow rules on; only the validation selection holds rows out."""
        loss = self._loss()
        ridge = self.ridge * loss.curvature(sample.y, sample.weight)
        fraction = self.validation_fraction if self.selection == "validation" else 0.0
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        held_out = sample.hold_out(self._strata(sample.y), fraction, seed)
        return Problem(sample.X, sample.y, sample.weight, loss, ridge, held_out)

    def _learner_and_selection(self, sample: Sample) -> tuple[Learner, Selection]:
        if self.selection == "validation":
            selection = ValidationSelection(self.validation_tolerance, self.objective_tolerance)
            return ObliqueLearner(sample.X, sample.weight, self.max_variables), selection
        return PoolLearner(sample.X, sample.weight, self.max_variables), InformationSelection(self.complexity_penalty)

    def stability(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_bootstraps: int = 50,
        overlap: float = 0.8,
        confidence: float = 0.9,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Stability:
        """Say for each rule of `ensemble_` how often it comes back in refits to bootstrap samples, and how sure its weight is.

        Each refit learns everything anew, up to the complexity of `ensemble_`. The interval for a weight holds the conditions
        fixed, and does not account for having searched for them: see `Stability` for what it means.

        Parameters
        ----------
        X, y, sample_weight
            The data that the model was fitted to, or others of the kind. Rows are drawn with equal chances, and a row that is
            drawn keeps its weight.
        n_bootstraps : int, default=50
            The number of refits. Intervals come from 1000 fits of the weights alone.
        overlap : float, default=0.8
            A rule has come back if a rule of the refit overlaps with it so far, in rows of X.
        confidence : float, default=0.9
            The share of cases in which an interval is meant to cover.
        random_state : int, RandomState instance or None, default=None
        n_jobs : int or None, default=None
            How many refits are done at a time, as joblib understands it. The result does not depend on it.

        Returns
        -------
        Stability
            Print it, or take `to_dicts`.
        """
        check_whole("n_bootstraps", n_bootstraps, 1)
        check_real("overlap", overlap, 0.0, 1.0)
        check_real("confidence", confidence, 0.0, 1.0)
        check_seed("random_state", random_state)
        check_jobs("n_jobs", n_jobs)
        X, target, weight = self._data_like_those_of_fit(X, y, sample_weight)
        counted = weight > 0.0
        X, target, weight = X[counted], target[counted], weight[counted]
        return stability(
            self.ensemble_,
            X,
            Bootstrap(self._strata(target)),
            functools.partial(self._refitted, X, target, weight),
            functools.partial(self._reweighed, *self._patterns(X), target, weight),
            n_bootstraps=n_bootstraps,
            overlap=overlap,
            confidence=confidence,
            random_state=check_random_state(random_state),
            n_jobs=n_jobs,
        )

    def _data_like_those_of_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs, targets and weights that are of the kind this model was fitted to."""
        self._matrix(X)
        scratch = copy.copy(self)  # because reading data as for a fit sets attributes
        data = scratch._checked(X, y, sample_weight)
        if not np.array_equal(getattr(scratch, "classes_", ()), getattr(self, "classes_", ())):
            raise ValueError(f"y must hold the labels that the model was fitted to, {self.classes_.tolist()}.")
        return data

    def _refitted(
        self,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
        counts: NDArray[np.float64],
        seed: int,
    ) -> RuleEnsemble:
        """Return what is learned, up to the present complexity, from rows that were drawn so many times."""
        model: LLTBoostModel = self._plain_copy(seed).fit(X, target, counts * weight)
        return model.at(self.ensemble_.complexity).ensemble_

    def _patterns(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return which rules fire together, with a column of ones before them, and which of these patterns each row has."""
        fires, pattern = np.unique(self.ensemble_.fires(X), axis=0, return_inverse=True)
        return np.column_stack([np.ones(len(fires)), fires]), pattern.ravel()

    def _reweighed(
        self,
        design: NDArray[np.float64],
        pattern: NDArray[np.intp],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
        counts: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the weights of the rules, their conditions being as they are, on rows that were drawn so many times."""
        loss, drawn = self._loss(), counts * weight
        ridge = self.ridge * loss.curvature(target, drawn)
        start = np.array([self.ensemble_.intercept, *(rule.weight for rule in self.ensemble_)])
        return weights_of_patterns(design, pattern, target, drawn, loss, ridge, start)[1:]

    def _report(self, ensemble: RuleEnsemble) -> None:
        """Say on standard error how far the fit has come."""
        newest = ensemble[-1].describe(ensemble.feature_names) if len(ensemble) else "the best constant"
        progress = f"rule {len(ensemble)}/{self.max_rules}, complexity {ensemble.complexity}"
        sys.stderr.write(f"[{type(self).__name__}] {progress}: {newest}\n")


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

    def _plain_class(self) -> type[LLTBoostModel]:
        return LLTBoostClassifier

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a data frame or array and two kinds of labels."""
        self._check_parameters()
        return self._grow(*self._checked(X, y, sample_weight))

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._encode_labels(y, weight)


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

    def _plain_class(self) -> type[LLTBoostModel]:
        return LLTBoostRegressor

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a data frame or array and numeric targets."""
        self._check_parameters()
        return self._grow(*self._checked(X, y, sample_weight))

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        target = self._numbers(y)
        complaint = self._loss().complaint(target[weight > 0.0])
        if complaint is not None:
            raise ValueError(f"y {complaint} (loss='{self.loss}').")
        return target
