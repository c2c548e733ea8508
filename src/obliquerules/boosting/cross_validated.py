"""Cross-validation: the path of one fit, and folds to choose the member that predicts."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from obliquerules.boosting.boosting import Boosting
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.method import Growth, Method, Task
from obliquerules.parameters import check_folds, declared, flag, gives_splits, jobs, seed, verbosity
from obliquerules.rows.reading import read_weights
from obliquerules.rules import RuleEnsemble

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False)
class FoldRisks:
    """The risk, on the rows of one fold, of each member of the path grown on the other rows."""

    complexity: NDArray[np.intp]
    risk: Vector

    def at(self, complexity: NDArray[np.intp]) -> Vector:
        """Return for each given complexity the risk of the largest member of at most that complexity."""
        return self.risk[np.searchsorted(self.complexity, complexity, side="right") - 1]


@dataclass(frozen=True, kw_only=True)
class CrossValidated(ABC):
    """A mixin that makes a boosting method choose its own size; it precedes the method among the bases of a class.

    The path is grown on all rows. To choose the member that predicts, a path is also grown without the rows of each fold, and
    its members are evaluated on those rows.
    """

    random_state: Any = seed('Assigns the rows to folds; for ``"validation"`` also draws the held-out rows of each fit.')
    verbose: int = verbosity("If not zero, report each rule of the fit to all rows on standard error.")
    cv: Any = declared(
        DEFAULT_FOLDS,
        "int, splitter or iterable",
        "The number of folds, which are stratified by class and keep equal rows together; with fewer distinct rows than that, "
        "each of them is a fold. Or a splitter of scikit-learn, or an iterable of pairs of training and test rows, used as "
        f"given. None means {DEFAULT_FOLDS}.",
        check_folds,
    )
    n_jobs: int | None = jobs("The number of parallel workers, as joblib understands it. The model does not depend on it.")
    one_standard_error: bool = flag(
        True, "Choose the smallest size whose risk is within one standard error of the least. If False, that of the least risk."
    )

    @property
    @abstractmethod
    def plain(self) -> Boosting:
        """The method that only grows a path."""

    def grow(self, task: Task) -> Growth:
        """Grow the path on all rows and without those of each fold, and choose a member."""
        plain, rng = self.plain, check_random_state(self.random_state)
        task, splits = self._splits(task, int(rng.randint(2**31 - 1)))
        # Seeds drawn here, not in the workers, are the same for any number of workers.
        methods = [plain.reseeded(int(rng.randint(2**31 - 1))) for _ in splits]
        folds = joblib.Parallel(n_jobs=self.n_jobs)(
            joblib.delayed(fold_risks)(method, task, *split) for method, split in zip(methods, splits, strict=True)
        )
        return self._chosen(plain.grow(task), folds)

    def _splits(self, task: Task, seed: int) -> tuple[Task, list[Split]]:
        """Return the task, and the training and test rows of each fold.

        If ``cv`` is a number, equal rows are merged first, so that a row given twice is a row of weight 2 here too, and no
        model is tested on a copy of a training row.
        """
        if gives_splits(self.cv):
            return task, given_splits(self.cv, task)
        sample = task.sample
        strata = task.loss.strata(sample.y)
        check_strata(strata)
        n_folds = min(DEFAULT_FOLDS if self.cv is None else int(self.cv), len(strata))
        fold = sample.folds(strata, n_folds, seed)
        splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
        return dataclasses.replace(task, X=sample.X, y=sample.y, weight=sample.weight), splits

    def _chosen(self, growth: Growth, folds: list[FoldRisks]) -> Growth:
        """Return the growth with the chosen member, and the results by which it was chosen."""
        complexity = complexities(growth.path)
        results = cv_results(complexity, folds)
        mean = results["mean_test_risk"]
        best = int(mean.argmin())
        tolerance = results["standard_error"][best] if self.one_standard_error else 0.0
        chosen = int(np.flatnonzero(mean <= mean[best] + tolerance)[0])
        notes = {
            "cv_results_": results,
            "best_complexity_": int(complexity[best]),
            "complexity_": int(complexity[chosen]),
        }
        return dataclasses.replace(growth, chosen=chosen, notes={**growth.notes, **notes})


@dataclass(frozen=True, kw_only=True)
class LLTBoostCV(CrossValidated, LLTBoost):
    """LLTBoost whose size is chosen by cross-validation."""

    @property
    def plain(self) -> LLTBoost:
        """LLTBoost with the same parameters."""
        return LLTBoost(**parameters_of(LLTBoost, self))


def parameters_of(kind: type[Method], method: Method) -> dict[str, Any]:
    """Return the parameters of a kind of method, with the values that another method has for them."""
    return {one.name: getattr(method, one.name) for one in dataclasses.fields(kind)}


def check_strata(strata: NDArray[np.intp]) -> None:
    """Raise if a stratum has too few rows to be split into folds."""
    counts = np.unique(strata, return_counts=True)[1]
    if (fewest := int(counts.min())) < 2:
        whose = "in each class" if len(counts) > 1 else "in all"
        raise ValueError(f"cv needs at least 2 different rows with weight {whose}; got {fewest} sample.")


def given_splits(cv: Any, task: Task) -> list[Split]:
    """Return the splits that a splitter makes, or the given ones; raise if they are not valid."""
    rows = np.arange(len(task.y))
    try:
        splits = [(rows[train], rows[test]) for train, test in check_cv(cv).split(task.X, task.y)]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"cv cannot split the {len(rows)} rows: {error}") from error
    if len(splits) < 2:
        raise ValueError(f"cv must give at least 2 splits, to tell how far risks vary; got {len(splits)}.")
    return splits


def fold_risks(method: Boosting, task: Task, train: Rows, test: Rows) -> FoldRisks:
    """Fit the method to the training rows of a fold and evaluate each member of its path on the test rows."""
    judged = task.on(test)
    if not (judged.weight > 0.0).any():
        raise ValueError("cv gives a fold that has no test row with weight.")
    learned = task.on(train)
    try:
        check_learnable(learned)
    except ValueError as error:
        raise ValueError(f"cv gives a fold on whose training rows no model can be fitted: {error}") from error
    path = method.grow(learned).path
    return FoldRisks(complexities(path), np.array([risk(ensemble, judged) for ensemble in path]))


def check_learnable(task: Task) -> None:
    """Raise if there are no rows that have weight, or if they cannot be learned from."""
    if len(task.y) == 0:
        raise ValueError("there are none.")
    counted = task.y[read_weights(task.weight, len(task.y)) > 0.0]
    if task.labels is not None and len(np.unique(counted)) < 2:
        only = task.labels.values[int(counted[0])]
        raise ValueError(f"y holds one class only ({only!r}) among the rows that have weight; a classifier needs two classes.")
    complaint = task.loss.complaint(counted)
    if complaint is not None:
        raise ValueError(f"y {complaint} (loss='{task.loss.name}').")


def cv_results(complexity: NDArray[np.intp], folds: list[FoldRisks]) -> dict[str, NDArray[Any]]:
    """Return the risk at each complexity: mean, standard deviation and standard error over the folds, and that of each fold."""
    risks = np.array([fold.at(complexity) for fold in folds])
    deviation = risks.std(axis=0, ddof=1)
    return {
        "complexity": complexity,
        "mean_test_risk": risks.mean(axis=0),
        "std_test_risk": deviation,
        "standard_error": deviation / np.sqrt(len(folds)),
    } | {f"split{k}_test_risk": risk for k, risk in enumerate(risks)}


def risk(ensemble: RuleEnsemble, task: Task) -> float:
    """Return the mean loss of an ensemble."""
    return float(np.average(task.loss.value(task.y, ensemble(task.X)), weights=task.weight))


def complexities(path: tuple[RuleEnsemble, ...]) -> NDArray[np.intp]:
    """Return the complexity of each member of a path."""
    return np.array([ensemble.complexity for ensemble in path])
