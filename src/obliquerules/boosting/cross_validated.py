"""Cross-validation: the path of one fit, and folds to choose the member that predicts."""

from __future__ import annotations

import dataclasses
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from obliquerules.boosting.boosting import Boosting
from obliquerules.boosting.choice import Choice, choose, nested_losses, sizes_to_compare
from obliquerules.boosting.folds import (
    Rows,
    Split,
    check_split,
    given_splits,
    has_different_rows,
    splits_by_content,
    splits_by_group,
    splits_of_copies,
)
from obliquerules.boosting.held_out import FoldLosses, HeldOut
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.boosting.tgb import TGB
from obliquerules.method import Growth, Method, Task
from obliquerules.parameters import (
    AUTO,
    check_folds,
    declared,
    flag,
    gives_splits,
    jobs,
    real_or_auto,
    real_or_none,
    seed,
    verbosity,
)
from obliquerules.rules import RuleEnsemble

DEFAULT_FOLDS = 5
# The largest number of repetitions of the folds.
REPETITIONS = 10
# The ridges that are compared if one is to be chosen; the first is that of growth.
RIDGES = (4.0, 16.0, 64.0)

STILL_FALLS = "The largest size is better than every smaller one by more than a standard error: raise max_rules."

Path = tuple[RuleEnsemble, ...]


@dataclass(frozen=True, kw_only=True)
class CrossValidated(ABC):
    """A mixin that makes a boosting method choose its own size; it precedes the method among the bases of a class.

    The path is grown on all rows. To choose the member that predicts, a path is also grown without the rows of each fold, and
    its members are evaluated on those rows.
    """

    ridge: Any = real_or_auto(
        "Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on exactly ``ridge`` rows, "
        "and on none where another rule fires, gets about half the weight that it would have without the penalty. "
        '``"auto"``: rules are grown with a ridge of 4 and their weights refitted with 16 and 64 too; the ridge of the least '
        "risk is taken.",
    )
    max_seconds: float | None = real_or_none(
        None,
        "Time limit for each path, the one on all rows and those of the folds: its growth ends after the step at hand once it "
        'has taken this many seconds. ``stopped_`` is ``"max_seconds"`` if that happened to one of them, and there is a '
        "``ConvergenceWarning``. With a limit the same data need not give the same model.",
    )
    keep_path: bool = flag(
        False, "Must be False: nothing chooses the size of a cross-validation that was interrupted, and Ctrl-C leaves no model."
    )
    random_state: Any = seed(
        "Assigns the rows to folds, by their content: None gives the same folds each time, and so does the same number. For "
        '``"validation"`` also draws the held-out rows of each fit.'
    )
    verbose: int = verbosity("If not zero, report each rule of the fit to all rows on standard error.")
    cv: Any = declared(
        DEFAULT_FOLDS,
        "int, splitter or iterable",
        "The number of folds, which are stratified by class and keep equal rows together; with fewer distinct rows than that, "
        "each of them is a fold. With ``groups`` in `fit`, all rows of a group are in one fold, and folds are not stratified. "
        f"Rows are assigned to folds anew until the choice is stable, at most {REPETITIONS} times. "
        "Or a splitter of scikit-learn, which may need groups, or an iterable of pairs of training and test rows, used as "
        "given, once. "
        f"None means {DEFAULT_FOLDS}.",
        check_folds,
    )
    n_jobs: int | None = jobs("The number of parallel workers, as joblib understands it. The model does not depend on it.")
    one_standard_error: bool = flag(
        True,
        "Choose the smallest size whose risk is above the least by no more than one standard error of the difference. If "
        "False, that of the least risk.",
    )

    @property
    @abstractmethod
    def plain(self) -> Boosting:
        """The method that only grows a path."""

    def check(self) -> None:
        """Raise if an interrupt should give a model: without all folds, there is no choice of its size."""
        super().check()  # type: ignore[misc]
        if self.keep_path:
            raise ValueError(
                "keep_path must be False with cross-validation: nothing chooses the size of a fit that was interrupted. The "
                "classes without cross-validation take keep_path=True."
            )

    def can_learn_from_some(self, task: Task) -> bool:
        """Say whether folds can be made of some of the rows: splits that are given are of all."""
        return not gives_splits(self.cv) and super().can_learn_from_some(task)  # type: ignore[misc]

    def grow(self, task: Task) -> Growth:
        """Grow the path on all rows and without those of each fold, and choose a member."""
        # Not the global generator for None: then the content of the rows alone decides.
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        if not gives_splits(self.cv) and task.groups is None and has_different_rows(task):
            # A row given twice is a row of weight 2 here too, and no model is tested on a copy of a training row.
            sample = task.sample
            task = dataclasses.replace(task, X=sample.X, y=sample.y, weight=sample.weight, offset=sample.offset)
        repetitions = self._repetitions(task, rng)
        first = next(repetitions)  # bad folds are refused before anything is grown
        growth = self.plain.grow(task)
        members = members_to_compare(growth.path, task)
        complexity = complexities(growth.path)[members]
        held_out = self._held_out(task, first, complexity, rng)
        while not (choice := self._choice(held_out)).settled and (splits := next(repetitions, None)) is not None:
            held_out += self._held_out(task, splits, complexity, rng)
        return self._chosen(task, growth, members, held_out, choice)

    def _repetitions(self, task: Task, rng: np.random.RandomState) -> Iterator[list[Split]]:
        """Yield the splits of each repetition."""
        n_folds = DEFAULT_FOLDS if self.cv is None else self.cv
        if gives_splits(self.cv):
            repetitions = iter([given_splits(self.cv, task)])
        elif task.groups is not None:
            repetitions = splits_by_group(task, task.groups, int(n_folds), self._salts(rng))
        elif not has_different_rows(task):
            repetitions = iter([splits_of_copies(task, int(n_folds))])
        else:
            repetitions = splits_by_content(task, int(n_folds), self._salts(rng))
        for splits in repetitions:
            for split in splits:
                check_split(task, *split)
            yield splits

    def _salts(self, rng: np.random.RandomState) -> Iterator[int]:
        return (int(rng.randint(2**31 - 1)) for _ in range(REPETITIONS))

    def _held_out(self, task: Task, splits: list[Split], complexity: NDArray[np.intp], rng: np.random.RandomState) -> HeldOut:
        """Return the held-out losses of one repetition at each of some complexities."""
        # Seeds drawn here, not in the workers, are the same for any number of workers.
        methods = [self.plain.reseeded(int(rng.randint(2**31 - 1))) for _ in splits]
        folds = list(
            joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(fold_losses)(method, task, *split, complexity, self._ridges)
                for method, split in zip(methods, splits, strict=True)
            )
        )
        nested = nested_losses(folds, task.weight, self._tolerance)
        return dataclasses.replace(HeldOut.of(folds, task.weight), nested=nested)

    @property
    def _ridges(self) -> tuple[float, ...]:
        """The ridges to compare."""
        return RIDGES if self.ridge == AUTO else (float(self.ridge),)

    def _choice(self, held_out: HeldOut) -> Choice:
        return choose(held_out, self._tolerance)

    @property
    def _tolerance(self) -> float:
        """By how many standard errors the risk of the chosen size may exceed the least."""
        return 1.0 if self.one_standard_error else 0.0

    def _chosen(self, task: Task, growth: Growth, members: list[int], held_out: HeldOut, choice: Choice) -> Growth:
        """Return the growth with the chosen member, and the results by which it was chosen."""
        if choice.still_falls and growth.n_iter == self.plain.max_rules:
            warnings.warn(STILL_FALLS, ConvergenceWarning, stacklevel=2)
        ridge, complexity = self._ridges[choice.ridge], complexities(growth.path)[members]
        stopped = growth.notes["stopped_"] or held_out.stopped
        # The limit had an effect on the choice, too, if it stopped the path of a fold.
        found = {} if stopped is None else {"max_seconds": self.plain.max_seconds}
        notes = {
            "cv_results_": cv_results(complexity, held_out, choice),
            "best_complexity_": int(complexity[choice.best]),
            "complexity_": int(complexity[choice.chosen]),
            "n_repetitions_": len(held_out.repetitions),
            "risk_": held_out.nested_risk[0],
            "risk_standard_error_": held_out.nested_risk[1],
            "ridge_": ridge,
            "stopped_": stopped,
        }
        return dataclasses.replace(
            growth,
            path=with_ridge(growth.path, task, self.plain, ridge),
            chosen=members[choice.chosen],
            notes={**growth.notes, **notes},
            parameters={**growth.parameters, **found} | ({"ridge": ridge} if self.ridge == AUTO else {}),
        )


@dataclass(frozen=True, kw_only=True)
class LLTBoostCV(CrossValidated, LLTBoost):
    """LLTBoost whose size is chosen by cross-validation."""

    @property
    def plain(self) -> LLTBoost:
        """LLTBoost with the same parameters."""
        return LLTBoost(**parameters_of(LLTBoost, self))


@dataclass(frozen=True, kw_only=True)
class TGBCV(CrossValidated, TGB):
    """TGB whose size is chosen by cross-validation."""

    @property
    def plain(self) -> TGB:
        """TGB with the same parameters."""
        return TGB(**parameters_of(TGB, self))


def parameters_of(kind: type[Method], method: Method) -> dict[str, Any]:
    """Return the parameters of a kind of method, with the values that another method has for them.

    A ridge that is "auto" becomes that of growth.
    """
    values = {one.name: getattr(method, one.name) for one in dataclasses.fields(kind)}
    return values | {"ridge": RIDGES[0]} if values["ridge"] == AUTO else values


def members_to_compare(path: Path, task: Task) -> list[int]:
    """Return the positions of the members of a path among which to choose."""
    losses = [task.loss.risk(task.y, task.scores(ensemble), task.weight) for ensemble in path]
    return sizes_to_compare(complexities(path), np.array(losses))


def fold_losses(
    method: Boosting, task: Task, train: Rows, test: Rows, complexity: NDArray[np.intp], ridges: Sequence[float]
) -> FoldLosses:
    """Fit the method to the training rows of a fold and evaluate it on the test rows.

    At a given complexity, that is the largest member of its path of at most this complexity, refitted at each ridge.
    """
    learned, judged = task.on(train), task.on(test)
    growth = method.grow(learned)
    path = growth.path
    members = tuple(path[at] for at in np.searchsorted(complexities(path), complexity, side="right") - 1)
    losses = [
        [judged.loss.value(judged.y, judged.scores(ensemble)) for ensemble in with_ridge(members, learned, method, ridge)]
        for ridge in ridges
    ]
    return FoldLosses(test, np.array(losses), growth.notes["stopped_"])


def with_ridge(path: Path, task: Task, method: Boosting, ridge: float) -> Path:
    """Return a path that the method has grown, with its weights refitted if the ridge is not that of the method."""
    if ridge == method.ridge:
        return path
    other = dataclasses.replace(method, ridge=ridge)
    return tuple(refitted(ensemble, task, other) for ensemble in path)


def refitted(ensemble: RuleEnsemble, task: Task, method: Boosting) -> RuleEnsemble:
    """Return an ensemble with the weights that a method gives it."""
    start = ensemble.weight_table
    weights = method.refitted(ensemble, task.sample, task.loss, start, np.zeros(len(start), dtype=np.bool_))
    return ensemble.with_weight_table(weights)


def cv_results(complexity: NDArray[np.intp], held_out: HeldOut, choice: Choice) -> dict[str, NDArray[Any]]:
    """Return what is known of each size at the chosen ridge; see the estimators for what the names mean."""
    ridge, risk, folds = choice.ridge, held_out.risk[choice.ridge], [fold[choice.ridge] for fold in held_out.folds]
    return {
        "complexity": complexity,
        "mean_test_risk": risk,
        "std_test_risk": np.std(folds, axis=0, ddof=1),
        "standard_error": held_out.standard_error(ridge),
        "difference": risk - risk[choice.best],
        "difference_standard_error": held_out.standard_error(ridge, less=(ridge, choice.best)),
    } | {f"split{k}_test_risk": fold for k, fold in enumerate(folds)}


def complexities(path: Path) -> NDArray[np.intp]:
    """Return the complexity of each member of a path."""
    return np.array([ensemble.complexity for ensemble in path])
