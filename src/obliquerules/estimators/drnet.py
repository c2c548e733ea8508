"""DRNet: a decision rules network, read off as a set of rules for one class, as a classifier."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from obliquerules.boosting.sample import Sample
from obliquerules.estimators.parameters import (
    check_flag,
    check_jobs,
    check_penalties,
    check_real,
    check_seed,
    check_whole,
    falling_penalties,
)
from obliquerules.estimators.rule_model import RuleClassifier
from obliquerules.nets.binarisation import binarise
from obliquerules.nets.boxes import levels_of
from obliquerules.nets.drnet import Schedule
from obliquerules.nets.rule_sets import RuleSet, learn_rule_sets
from obliquerules.rules import Conjunction, Rule, RuleEnsemble
from obliquerules.solvers.or_weights import or_weights

AUTO = "auto"


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

    Parameters
    ----------
    max_rules : int, default=10
        Number of rules that a network starts with.
    n_thresholds : int, default=9
        Most thresholds on a column. They lie at quantiles, with 9 of them at the deciles.
    max_penalty, min_penalty : float, default=10.0 and 1e-4
        The largest and the smallest penalty lambda_1 on the expected number of rules and conditions. A smallest one of zero
        ends the sequence with an unpenalised network.
    n_penalties : int, default=6
        How many penalties are tried, from the largest to the smallest in equal ratios; with one it is the largest. A network is
        trained for each, and `path_` has the best of them.
    or_penalty : float, default=1e-5
        The penalty lambda_2, which is in force while the OR layer is trained.
    describe : "auto" or label, default="auto"
        The class that the rules are for. An OR is not symmetric: rules for one class may be fewer and better than rules for the
        other. ``"auto"`` learns both, and keeps the class whose best rule set has the lower Bayesian information
        criterion, which charges for complexity.
    max_iter : int, default=10000
        Number of training steps, each on all rows. Fewer give worse rules: conditions are given up late.
    phase_length : int, default=1000
        Number of steps after which the other layer has its turn.
    step_size : float, default=0.01
        Step size of Adam.
    early_stopping : bool, default=True
        Stop before `max_iter` if two turns of both layers have left all rules as they were.
    ridge : float, default=4.0
        Penalty on squared rule weights, not on the constant, measured in rows: see `LLTBoostClassifier`.
    n_jobs : int or None, default=None
        How many batches of six networks (of one class each) are trained at a time, as joblib understands it. The result does
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws where the networks start and the noise of their gates. On another processor, or with another BLAS, the same seed
        may give another model.
    verbose : int, default=0
        If not zero, report the loss and the complexity of each network on standard error as training goes on. Class 0 and 1 are
        then the first and the second of `classes_`.

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

    def __init__(
        self,
        *,
        max_rules: int = 10,
        n_thresholds: int = 9,
        max_penalty: float = 10.0,
        min_penalty: float = 1e-4,
        n_penalties: int = 6,
        or_penalty: float = 1e-5,
        describe: Any = AUTO,
        max_iter: int = 10_000,
        phase_length: int = 1000,
        step_size: float = 1e-2,
        early_stopping: bool = True,
        ridge: float = 4.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.n_thresholds = n_thresholds
        self.max_penalty = max_penalty
        self.min_penalty = min_penalty
        self.n_penalties = n_penalties
        self.or_penalty = or_penalty
        self.describe = describe
        self.max_iter = max_iter
        self.phase_length = phase_length
        self.step_size = step_size
        self.early_stopping = early_stopping
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("max_rules", "n_thresholds", "max_iter", "phase_length"):
            check_whole(name, getattr(self, name), 1)
        for name in ("or_penalty", "step_size", "ridge"):
            check_real(name, getattr(self, name), 0.0)
        check_penalties(self.max_penalty, self.min_penalty, self.n_penalties)
        check_flag("early_stopping", self.early_stopping)
        check_jobs("n_jobs", self.n_jobs)
        check_seed("random_state", self.random_state)
        check_whole("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)

    def _target(self, y: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        target = super()._target(y, weight)
        self._described()  # says so before the work starts if there is no such class
        return target

    def _described(self) -> list[int]:
        """Return the classes that rules are to be learned for, as positions in ``classes_``."""
        if isinstance(self.describe, str) and self.describe == AUTO:
            return [0, 1]
        labels = self.classes_.tolist()
        if self.describe not in labels:
            raise ValueError(f"describe must be 'auto' or one of the labels {labels}; got {self.describe!r}.")
        return [labels.index(self.describe)]

    def _grow(self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]) -> Self:
        """Learn a rule set for each class and penalty, and keep those that are worth their complexity."""
        sample = Sample.of(X, y, weight)
        learned = list(self._learned(sample))
        described = self._better_described(learned, sample)
        constant = RuleEnsemble((), self._loss().best_constant(sample.y, sample.weight), self._feature_names())
        ensembles = [ensemble for rule_set, ensemble in learned if rule_set.described == described]
        self.path_ = tuple(self._worth_their_complexity([constant, *ensembles], sample))
        self.ensemble_, self.n_iter_ = self.path_[-1], max((rule_set.n_steps for rule_set, _ in learned), default=0)
        return self

    def _better_described(self, learned: list[tuple[RuleSet, RuleEnsemble]], sample: Sample) -> int | None:
        """Return the class that has the rule set with the least criterion, or None if no rule was learned.

        It is the Bayesian information criterion, which charges for complexity, because the class that takes more rules to
        describe is fitted more closely.
        """
        n = float(np.add.reduce(sample.weight))

        def criterion(one: tuple[RuleSet, RuleEnsemble]) -> float:
            return self._loss().deviance(n * self._risk(one[1], sample), n) + math.log(n) * one[1].complexity

        with_rules = [one for one in learned if len(one[1])]
        return min(with_rules, key=criterion)[0].described if with_rules else None

    def _risk(self, ensemble: RuleEnsemble, sample: Sample) -> float:
        """Return the mean loss on the training rows."""
        return float(np.average(self._loss().value(sample.y, ensemble(sample.X)), weights=sample.weight))

    def _learned(self, sample: Sample) -> Iterator[tuple[RuleSet, RuleEnsemble]]:
        """Yield every rule set that was learned, and what becomes of it."""
        binarisation = binarise(sample.X, sample.weight, self.n_thresholds)
        if len(binarisation) == 0:  # all columns are constant
            return
        levels = levels_of(sample.X, binarisation)
        rule_sets = learn_rule_sets(
            binarisation(sample.X),
            sample.y,
            sample.weight,
            self._described(),
            falling_penalties(self.max_penalty, self.min_penalty, self.n_penalties)[::-1],
            self._schedule(),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        for rule_set in rule_sets:
            boxes = rule_set.boxes(binarisation, levels)
            conditions = tuple(boxes.conjunctions(binarisation))
            yield rule_set, self._weighted(conditions, boxes.fires(levels), sample, rule_set.described)

    def _schedule(self) -> Schedule:
        return Schedule(
            self.max_rules, self.or_penalty, self.max_iter, self.phase_length, self.step_size, bool(self.early_stopping)
        )

    def _weighted(
        self, conditions: tuple[Conjunction, ...], fires: NDArray[np.bool_], sample: Sample, described: int
    ) -> RuleEnsemble:
        """Return the rules with weights; the best constant if no rule fires anywhere or one fires everywhere."""
        loss, names = self._loss(), self._feature_names()
        if fires.any(axis=1).all() or not fires.any():
            return RuleEnsemble((), loss.best_constant(sample.y, sample.weight), names)
        constant, *weights = self._or_weights(fires, sample, described).tolist()
        rules = [Rule(weight, condition) for weight, condition in zip(weights, conditions, strict=True)]
        return RuleEnsemble(rules, constant, names)

    def _or_weights(self, fires: NDArray[np.bool_], sample: Sample, described: int) -> NDArray[np.float64]:
        """Return the constant and the weights under which a row is of the described class if and only if a rule fires."""
        target = (sample.y == described).astype(np.float64)
        weights = or_weights(fires, target, sample.weight, self._penalty(sample.y, sample.weight))
        return weights if described else -weights

    def _fitted_weights(self, sample: Sample, start: NDArray[np.float64], fixed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Fit the weights of an edited rule set as of a learned one, if all rules are for one class and none is locked."""
        fires, signs = self.ensemble_.fires(sample.X), set(np.sign(start[1:]).tolist()) - {0.0}
        if fixed.any() or len(signs) != 1 or fires.any(axis=1).all() or not fires.any():
            return super()._fitted_weights(sample, start, fixed)
        return self._or_weights(fires, sample, int(signs == {1.0}))

    def _worth_their_complexity(self, ensembles: list[RuleEnsemble], sample: Sample) -> Iterator[RuleEnsemble]:
        """Yield the ensembles that have a lower training risk than all less complex ones, in the order of complexity."""
        risks = [self._risk(ensemble, sample) for ensemble in ensembles]
        lowest = np.inf
        for ensemble, risk in sorted(zip(ensembles, risks, strict=True), key=lambda pair: (pair[0].complexity, pair[1])):
            if risk < lowest:
                lowest = risk
                yield ensemble
