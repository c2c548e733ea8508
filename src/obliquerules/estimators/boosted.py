"""What boosted rule models share: the loop that grows the path, and how far its rules come back on other rows."""

from __future__ import annotations

import functools
import sys
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from obliquerules.boosting.information import InformationSelection
from obliquerules.boosting.learner import ConditionLearner, Learner
from obliquerules.boosting.loop import boost
from obliquerules.boosting.problem import Problem
from obliquerules.boosting.sample import Sample
from obliquerules.boosting.selection import Selection, ValidationSelection
from obliquerules.estimators.parameters import check_jobs, check_option, check_real, check_seed, check_whole
from obliquerules.estimators.rule_model import RuleModel
from obliquerules.inspection.stability import Bootstrap, Stability, stability
from obliquerules.rules import RuleEnsemble, Shortening
from obliquerules.solvers.rule_weights import weights_of_patterns

SELECTIONS = ("information", "validation")


class BoostedModel(RuleModel):
    """A rule model that is grown by the boosting loop; a subclass says which learner proposes its conditions."""

    selections: ClassVar[tuple[str, ...]] = SELECTIONS
    objective: str = "gradient"
    max_rules: int
    max_propositions: int
    selection: str
    complexity_penalty: float
    validation_fraction: float
    validation_tolerance: float
    objective_tolerance: float
    ridge: float
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("max_rules", self.max_rules, 1)
        check_whole("max_propositions", self.max_propositions, 1)
        check_option("selection", self.selection, self.selections)
        check_real("complexity_penalty", self.complexity_penalty, 0.0)
        check_real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_real("validation_tolerance", self.validation_tolerance, -1.0)
        check_real("objective_tolerance", self.objective_tolerance, 0.0)
        check_real("ridge", self.ridge, 0.0)
        check_seed("random_state", self.random_state)
        check_whole("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)

    def _learner(self, sample: Sample) -> Learner | ConditionLearner:  # noqa: ARG002  # for subclasses
        """Return what proposes conditions."""
        raise AttributeError(f"{type(self).__name__} does not say which learner proposes its conditions.")

    def _note(self, learner: Learner | ConditionLearner) -> None:
        """Set what the learner knows of the search for rules once it is over: nothing, unless a subclass does."""

    def _selection(self) -> Selection:
        """Return what chooses among the proposed conditions."""
        if self.selection == "validation":
            return ValidationSelection(self.validation_tolerance, self.objective_tolerance)
        return InformationSelection(self.complexity_penalty)

    def _plain_class(self) -> type[BoostedModel]:
        """Return the estimator that grows one path and does nothing else."""
        raise AttributeError(f"{type(self).__name__} does not say which estimator grows its rules.")

    def _plain_copy(self, seed: int) -> BoostedModel:
        """Return that estimator with the parameters of this one, but with a random state of its own, and silent."""
        parameters = {name: self._parameter(name) for name in self._plain_class()._get_param_names()}
        return self._plain_class()(**parameters | {"random_state": seed, "verbose": 0})

    def _grow(self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]) -> Self:
        """Grow the path on checked data."""
        sample = Sample.of(X, y, weight)
        learner, selection = self._learner(sample), self._selection()
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
        self._note(learner)
        return self

    def _problem(self, sample: Sample) -> Problem:
        """Return the problem to grow rules on; only the validation selection holds rows out."""
        loss = self._loss()
        ridge = self._penalty(sample.y, sample.weight)
        fraction = self.validation_fraction if self.selection == "validation" else 0.0
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        held_out = sample.hold_out(self._strata(sample.y), fraction, seed)
        return Problem(sample.X, sample.y, sample.weight, loss, ridge, held_out, self.objective)

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
            Bootstrap(self._strata(target), functools.partial(self._can_be_learned, target)),
            functools.partial(self._refitted, X, target, weight),
            functools.partial(self._reweighed, *self._patterns(X), target, weight),
            n_bootstraps=n_bootstraps,
            overlap=overlap,
            confidence=confidence,
            random_state=check_random_state(random_state),
            n_jobs=n_jobs,
        )

    def _can_be_learned(self, target: NDArray[np.float64], drawn: NDArray[np.bool_]) -> bool:
        """Say whether a fit takes the targets of the rows that were drawn."""
        return self._loss().complaint(target[drawn]) is None

    def _refitted(
        self,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
        counts: NDArray[np.float64],
        seed: int,
    ) -> RuleEnsemble:
        """Return what is learned, up to the present complexity, from rows that were drawn so many times."""
        model: BoostedModel = self._plain_copy(seed).fit(X, target, counts * weight)
        return model.at(self.ensemble_.complexity).ensemble_

    def _reweighed(
        self,
        design: NDArray[np.float64],
        pattern: NDArray[np.intp],
        target: NDArray[np.float64],
        weight: NDArray[np.float64],
        counts: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the weights of the rules, their conditions being as they are, on rows that were drawn so many times."""
        drawn = counts * weight
        start = np.array([self.ensemble_.intercept, *(rule.weight for rule in self.ensemble_)])
        return weights_of_patterns(design, pattern, target, drawn, self._loss(), self._penalty(target, drawn), start)[1:]

    def _report(self, ensemble: RuleEnsemble) -> None:
        """Say on standard error how far the fit has come."""
        newest = ensemble[-1].describe(ensemble.feature_names) if len(ensemble) else "the best constant"
        progress = f"rule {len(ensemble)}/{self.max_rules}, complexity {ensemble.complexity}"
        sys.stderr.write(f"[{type(self).__name__}] {progress}: {newest}\n")
