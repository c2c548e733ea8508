"""LTRNet: rules with oblique conditions by gradient descent on all of them at once, as classifier and regressor."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from obliquerules.boosting.sample import Sample
from obliquerules.estimators.parameters import (
    check_jobs,
    check_option,
    check_penalties,
    check_real,
    check_seed,
    check_whole,
    falling_penalties,
)
from obliquerules.estimators.rule_model import RuleClassifier, RuleModel, RuleRegressor
from obliquerules.nets.extraction import (
    NEGLIGIBLE_SHARES,
    Draft,
    HardNetwork,
    Rows,
    as_trained,
    cleaned,
    frontier,
    without_rules,
)
from obliquerules.nets.ltrnet import Architecture, Penalties, SoftRules, Units, descend
from obliquerules.nets.training import Array, EarlyStopping, Parameters, Report, one_thread
from obliquerules.rules import Shortening

DISCRETIZATIONS = ("refit", "paper")


class LTRNetModel(RuleModel):
    """The parameters and the training that classifier and regressor have in common."""

    def __init__(
        self,
        *,
        max_rules: int = 10,
        max_propositions: int = 5,
        max_penalty: float = 0.08,
        min_penalty: float = 0.001,
        n_penalties: int = 8,
        w_penalty: float = 0.01,
        steepness: float = 2.0,
        n_restarts: int = 6,
        max_iter: int = 250,
        tol: float = 1e-4,
        n_iter_no_change: int = 50,
        discretization: str = "refit",
        ridge: float = 12.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_propositions = max_propositions
        self.max_penalty = max_penalty
        self.min_penalty = min_penalty
        self.n_penalties = n_penalties
        self.w_penalty = w_penalty
        self.steepness = steepness
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.discretization = discretization
        self.ridge = ridge
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("max_rules", "max_propositions", "n_restarts", "max_iter", "n_iter_no_change"):
            check_whole(name, getattr(self, name), 1)
        for name in ("w_penalty", "steepness", "tol", "ridge"):
            check_real(name, getattr(self, name), 0.0)
        check_penalties(self.max_penalty, self.min_penalty, self.n_penalties)
        check_option("discretization", self.discretization, DISCRETIZATIONS)
        check_seed("random_state", self.random_state)
        check_jobs("n_jobs", self.n_jobs)
        check_whole("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)

    def _grow(self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]) -> Self:
        """Train networks at each penalty, and read the path off all of them."""
        sample, loss = Sample.of(X, y, weight), self._loss()
        rows = Rows(sample.X, sample.y, sample.weight, loss, self._penalty(sample.y, sample.weight))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        trained = Parallel(self.n_jobs)(
            delayed(self._drafts)(rows, penalty, np.random.default_rng([seed, index]))
            for index, penalty in enumerate(self._penalties())
        )
        path = frontier([without_rules(rows), *(draft for drafts, _ in trained for draft in drafts)])
        # No row changes side, so that the weights fitted to the exact conditions are right for the shortened ones.
        shortening, names = Shortening(sample.X), self._feature_names()
        self.path_ = tuple(shortening.ensemble(draft.ensemble(rows, names)) for draft in path)
        self.ensemble_, self.n_iter_ = self.path_[-1], max(n_steps for _, n_steps in trained)
        return self

    def _penalties(self) -> list[float]:
        """Return the L1 penalties, from the largest to the smallest."""
        return falling_penalties(self.max_penalty, self.min_penalty, self.n_penalties)

    def _drafts(self, rows: Rows, penalty: float, random: np.random.Generator) -> tuple[list[Draft], int]:
        """Train one batch of networks; return what becomes of each and the number of steps."""
        architecture = Architecture(self.n_restarts, self.max_rules, self.max_propositions, self.steepness)
        units, penalties = Units.of(rows.y, rows.weight, rows.loss), Penalties(penalty, self.w_penalty)
        inputs = rows.inputs.astype(np.float32)
        objective = SoftRules(inputs, rows.y, rows.weight, rows.loss, units, architecture, penalties)
        stopping = EarlyStopping(self.n_iter_no_change, self.tol)
        report = self._reporter(penalty) if self.verbose else None
        parameters, n_steps = descend(objective, random, self.max_iter, stopping=stopping, report=report)
        with one_thread():
            if self.discretization == "refit":
                networks = (
                    HardNetwork.of(parameters, index, negligible)
                    for index, negligible in product(range(self.n_restarts), NEGLIGIBLE_SHARES)
                )
                drafts = frontier(cleaned(network, rows) for network in networks)
            else:
                best = int(np.argmin(objective(parameters)[0]))
                drafts = [as_trained(HardNetwork.of(parameters, best), rows, units)]
        return drafts, n_steps

    def _reporter(self, penalty: float) -> Report:
        """Return what says on standard error how far the training at one penalty has come."""

        def report(n_steps: int, losses: Array, parameters: Parameters) -> None:
            best = int(np.argmin(losses))
            complexity = HardNetwork.of(parameters, best).complexity
            progress = f"penalty {penalty:.3g}, step {n_steps}/{self.max_iter}"
            sys.stderr.write(f"[{type(self).__name__}] {progress}: loss {losses[best]:.4g}, complexity {complexity}\n")

        return report


class LTRNetClassifier(RuleClassifier, LTRNetModel):
    """Classify two classes with a small sum of oblique rules, all of which a network learns at once.

    The network is the rule ensemble with sigmoids in place of its steps: linear conditions, their conjunctions, and a weighted
    sum of these. It is trained from several random starts at each of a falling sequence of L1 penalties, which keep the rules
    few and the conditions sparse; a W-shaped penalty makes it decide which conditions belong to which rule. Then the sigmoids
    become steps, and what is left is a `RuleEnsemble` in original units. `LLTBoostClassifier` learns models of the same kind
    one rule at a time.

    Parameters
    ----------
    max_rules : int, default=10
        Rules in the network; the penalty leaves fewer.
    max_propositions : int, default=5
        Conditions in a rule of the network.
    max_penalty, min_penalty : float, default=0.08 and 0.001
        The largest and the smallest L1 penalty, on the mean loss of a target in standard units. A smallest one of zero ends
        the sequence with an unpenalised network.
    n_penalties : int, default=8
        How many penalties are tried, from the largest to the smallest in equal ratios; with one it is the largest.
    w_penalty : float, default=0.01
        The W-shaped penalty, which drives each condition fully into its rule or out of it.
    steepness : float, default=2.0
        Of the sigmoid of a rule, alpha in the paper.
    n_restarts : int, default=6
        Random starts for each penalty.
    max_iter : int, default=250
        Largest number of steps of gradient descent.
    tol : float, default=1e-4
    n_iter_no_change : int, default=50
        Training at a penalty ends early once no start has lowered its loss by a share of ``tol`` in so many steps.
    discretization : {"refit", "paper"}, default="refit"
        How the network is made hard. ``"paper"``: within a condition, weights below a tenth of the largest become zero; the
        rules keep the weights of the soft network, and the start with the lowest penalised loss stands for its penalty.
        ``"refit"``: weights below a tenth, a quarter and a half of the largest become zero in turn; conditions and rules that
        change nothing on the training rows are dropped, rule weights are fitted anew, and the models of all starts compete for
        the path.
    ridge : float, default=12.0
        For ``"refit"``: penalty on squared rule weights, not on the constant, measured in rows as in `LLTBoostClassifier`.
    random_state : int, RandomState instance or None, default=None
        Draws the starts. On another processor, or with another BLAS, the same seed may give another model.
    n_jobs : int or None, default=None
        How many penalties are worked on at a time, as joblib understands it. The model does not depend on it.
    verbose : int, default=0
        If not zero, report loss and complexity on standard error.

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


class LTRNetRegressor(RuleRegressor, LTRNetModel):
    """Predict a number or a count with a small sum of oblique rules, all of which a network learns at once.

    The prediction is the sum of the weights of the rules that fire, or for counts its exponential. See `LTRNetClassifier` for
    how the rules are learned and for the parameters that both have.

    Parameters
    ----------
    loss : {"squared", "poisson"}, default="squared"
        ``"squared"`` for a real target, ``"poisson"`` (log link) for counts and rates.
    max_rules, max_propositions : int
    max_penalty, min_penalty : float
    n_penalties : int
    w_penalty, steepness : float
    n_restarts, max_iter : int
    tol : float
    n_iter_no_change : int
    discretization : {"refit", "paper"}
    ridge : float
    random_state : int, RandomState instance or None
    n_jobs : int or None
    verbose : int
        As for `LTRNetClassifier`.

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

    def __init__(
        self,
        *,
        loss: str = "squared",
        max_rules: int = 10,
        max_propositions: int = 5,
        max_penalty: float = 0.08,
        min_penalty: float = 0.001,
        n_penalties: int = 8,
        w_penalty: float = 0.01,
        steepness: float = 2.0,
        n_restarts: int = 6,
        max_iter: int = 250,
        tol: float = 1e-4,
        n_iter_no_change: int = 50,
        discretization: str = "refit",
        ridge: float = 12.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_rules=max_rules,
            max_propositions=max_propositions,
            max_penalty=max_penalty,
            min_penalty=min_penalty,
            n_penalties=n_penalties,
            w_penalty=w_penalty,
            steepness=steepness,
            n_restarts=n_restarts,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            discretization=discretization,
            ridge=ridge,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.loss = loss
