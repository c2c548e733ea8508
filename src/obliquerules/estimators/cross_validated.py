"""LLTBoost that chooses its own size: the path of one fit, and cross-validation to say which of its members predicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from obliquerules.boosting.sample import Sample
from obliquerules.estimators.boosted import BoostedModel
from obliquerules.estimators.lltboost import LLTBoostClassifier, LLTBoostRegressor
from obliquerules.estimators.parameters import check_flag, check_folds, check_jobs, gives_splits

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]

DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False)
class FoldRisks:
    """The risk on the rows of one fold of each member of the path that was grown on the other rows."""

    complexity: NDArray[np.intp]
    risk: Vector

    def at(self, complexity: NDArray[np.intp]) -> Vector:
        """Return the risk of the largest member of at most each of the given complexities."""
        return self.risk[np.searchsorted(self.complexity, complexity, side="right") - 1]


class CrossValidatedModel(BoostedModel):
    """The choice of a size that classifier and regressor have in common."""

    cv: Any
    n_jobs: int | None
    one_standard_error: bool

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_folds("cv", self.cv)
        check_jobs("n_jobs", self.n_jobs)
        check_flag("one_standard_error", self.one_standard_error)

    def _grow(self, X: NDArray[np.float64], y: Vector, weight: Vector) -> Self:
        """Grow the path on all rows and on those of each fold, and choose a member."""
        rng = check_random_state(self.random_state)
        X, y, weight, splits = self._splits(X, y, weight, int(rng.randint(2**31 - 1)))
        # Seeds drawn here, not in the workers, are the same for any number of workers.
        seeds = [int(rng.randint(2**31 - 1)) for _ in splits]
        folds = joblib.Parallel(n_jobs=self.n_jobs)(
            joblib.delayed(_fold_risks)(self._plain_copy(seed), X, y, weight, *split)
            for seed, split in zip(seeds, splits, strict=True)
        )
        super()._grow(X, y, weight)
        return self._choose(folds)

    def _splits(
        self, X: NDArray[np.float64], y: Vector, weight: Vector, seed: int
    ) -> tuple[NDArray[np.float64], Vector, Vector, list[tuple[Rows, Rows]]]:
        """Return the rows, and for each fold which of them train and which test.

        With a number of folds the rows are made distinct first, so that a row given twice is a row of weight 2 here too, and no
        row is judged by its own copy.
        """
        if gives_splits(self.cv):
            return X, y, weight, self._given_splits(X, y)
        sample = Sample.of(X, y, weight)
        strata = self._strata(sample.y)
        fewest = int(np.bincount(strata)[np.unique(strata)].min())
        if fewest < 2:
            whose = "in each class" if len(np.unique(strata)) > 1 else "in all"
            raise ValueError(f"cv needs at least 2 different rows with weight {whose}; got {fewest} sample.")
        n_folds = min(DEFAULT_FOLDS if self.cv is None else int(self.cv), len(strata))
        fold = sample.folds(strata, n_folds, seed)
        splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
        return sample.X, sample.y, sample.weight, splits

    def _given_splits(self, X: NDArray[np.float64], y: Vector) -> list[tuple[Rows, Rows]]:
        rows = np.arange(len(y))
        try:
            splits = [(rows[train], rows[test]) for train, test in check_cv(self.cv).split(X, y)]
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"cv cannot split the {len(y)} rows: {error}") from error
        if len(splits) < 2:
            raise ValueError(f"cv must give at least 2 splits, to tell how far risks vary; got {len(splits)}.")
        return splits

    def _choose(self, folds: list[FoldRisks]) -> Self:
        """Set which member of the path predicts, and what was known when it was chosen."""
        complexity = np.array([ensemble.complexity for ensemble in self.path_])
        risks = np.array([fold.at(complexity) for fold in folds])
        mean, deviation = risks.mean(axis=0), risks.std(axis=0, ddof=1)
        standard_error = deviation / np.sqrt(len(folds))
        best = int(mean.argmin())
        tolerance = standard_error[best] if self.one_standard_error else 0.0
        chosen = int(np.flatnonzero(mean <= mean[best] + tolerance)[0])
        self.cv_results_ = {
            "complexity": complexity,
            "mean_test_risk": mean,
            "std_test_risk": deviation,
            "standard_error": standard_error,
        } | {f"split{k}_test_risk": risk for k, risk in enumerate(risks)}
        self.best_complexity_, self.complexity_ = int(complexity[best]), int(complexity[chosen])
        self.ensemble_ = self.path_[chosen]
        return self


def _fold_risks(model: BoostedModel, X: NDArray[np.float64], y: Vector, weight: Vector, train: Rows, test: Rows) -> FoldRisks:
    """Fit the model to the training rows of a fold and judge each member of its path on the test rows."""
    if not (weight[test] > 0.0).any():
        raise ValueError("cv gives a fold that has no test row with weight.")
    try:
        model.fit(X[train], y[train], weight[train])
    except ValueError as error:
        raise ValueError(f"cv gives a fold on whose training rows no model can be fitted: {error}") from error
    return FoldRisks(
        np.array([ensemble.complexity for ensemble in model.path_]),
        np.array(list(_risks(model, X[test], y[test], weight[test]))),
    )


def _risks(model: BoostedModel, X: NDArray[np.float64], y: Vector, weight: Vector) -> Iterator[float]:
    """Yield the mean loss of each member of the path."""
    for score in model._staged_scores(X):
        yield float(np.average(model._loss().value(y, score), weights=weight))


class LLTBoostClassifierCV(CrossValidatedModel, LLTBoostClassifier):
    """`LLTBoostClassifier` whose size is chosen by cross-validation.

    One path is grown on all rows. To say which of its members predicts, the same is done without the rows of each fold, and
    the path that comes out is judged on those rows. At a given complexity, a fold counts with its largest member of at most
    that complexity. The member with the least mean risk is the best; chosen is the smallest whose mean risk is within one
    standard error of that.

    Parameters
    ----------
    max_rules, max_propositions, max_variables : int
    selection : {"information", "validation"}
    complexity_penalty, validation_fraction, validation_tolerance, objective_tolerance, ridge : float
        As for `LLTBoostClassifier`. Let `max_rules` be larger than what you expect to need: nothing larger can be chosen.
    random_state : int, RandomState instance or None, default=None
        Deals the rows out to folds; for ``"validation"`` also draws the held-out rows of each fit.
    verbose : int, default=0
        If not zero, report each rule of the fit to all rows on standard error.
    cv : int, splitter or iterable, default=5
        The number of folds; each has a like share of each class, and equal rows are in the same fold. With fewer different
        rows than that, each is a fold. Or a splitter of scikit-learn or pairs of training and test rows, which are used as
        they are. None means 5.
    n_jobs : int or None, default=None
        How many folds are fitted at a time, as joblib understands it. The model does not depend on it.
    one_standard_error : bool, default=True
        If False, choose the best.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
        Grown on all rows, as by `LLTBoostClassifier`.
    ensemble_ : RuleEnsemble
        The chosen member.
    complexity_ : int
        Its complexity.
    best_complexity_ : int
        The complexity of the member with the least mean risk.
    cv_results_ : dict of str to array
        With an entry for each member of the path: ``complexity``; ``mean_test_risk``, the mean over the folds of the mean
        loss; ``std_test_risk``, the standard deviation between folds; ``standard_error``, that divided by the root of the
        number of folds; and ``split0_test_risk`` and so on, the risk on each fold. Not saved to files.
    classes_ : array of shape (2,)
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LLTBoostClassifier`.

    Notes
    -----
    Training sets of different folds share most of their rows, so the risks of folds depend on each other and the standard
    error is a rule of thumb, not an exact one. The risk of the chosen member in `cv_results_` is a little too good, because it
    was looked at to choose it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from obliquerules import LLTBoostClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LLTBoostClassifierCV(max_rules=4, max_variables=2, random_state=0).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
    """

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
        cv: Any = DEFAULT_FOLDS,
        n_jobs: int | None = None,
        one_standard_error: bool = True,
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
        self.cv = cv
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error


class LLTBoostRegressorCV(CrossValidatedModel, LLTBoostRegressor):
    """`LLTBoostRegressor` whose size is chosen by cross-validation; see `LLTBoostClassifierCV` for how.

    Parameters
    ----------
    loss : {"squared", "poisson"}, default="squared"
        As for `LLTBoostRegressor`. Half the squared error and half the Poisson deviance are what folds are judged by.
    max_rules, max_propositions, max_variables : int
    selection : {"information", "validation"}
    complexity_penalty, validation_fraction, validation_tolerance, objective_tolerance, ridge : float
    random_state : int, RandomState instance or None
    verbose : int
    cv : int, splitter or iterable, default=5
    n_jobs : int or None, default=None
    one_standard_error : bool, default=True
        As for `LLTBoostClassifierCV`.

    Attributes
    ----------
    path_ : tuple of RuleEnsemble
    ensemble_ : RuleEnsemble
    complexity_, best_complexity_ : int
    cv_results_ : dict of str to array
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        As for `LLTBoostClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from obliquerules import LLTBoostRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LLTBoostRegressorCV(max_rules=3, max_variables=2, random_state=0).fit(X, y)
    >>> model.complexity_ == model.ensemble_.complexity <= model.best_complexity_
    True
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
        cv: Any = DEFAULT_FOLDS,
        n_jobs: int | None = None,
        one_standard_error: bool = True,
    ) -> None:
        super().__init__(
            loss=loss,
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
        self.cv = cv
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error
