"""Cross-validation: quick fits on folds choose the size of the model."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from obliquerules.data.user_warnings import warn_caller
from obliquerules.learning.boosting.boosting import ONLY, Boosting
from obliquerules.learning.boosting.cv.folds import (
    Split,
    check_split,
    distinct_rows,
    given_splits,
    splits_by_content,
    splits_by_group,
)
from obliquerules.learning.boosting.cv.held_out import DEFAULT_TOLERANCE, FoldLosses, HeldOut, check_tolerance, choose
from obliquerules.learning.boosting.lltboost import LLTBoost
from obliquerules.learning.boosting.tgb import TGB
from obliquerules.learning.method import Growth, Task
from obliquerules.parallel import CountedCalls
from obliquerules.parameters import check_folds, declared, flag, gives_splits, jobs, real_or_none, seed, verbosity, whole
from obliquerules.rules import RuleEnsemble
from obliquerules.status_line import status_line

DEFAULT_FOLDS = 5
# About how long a fold takes, in units of the path on all rows; for the status line.
TIME_OF_FOLD = 0.5

STILL_FALLS = "The largest size is better than every smaller one by more than a standard error: raise max_rules."


@dataclass(frozen=True, kw_only=True)
class CrossValidated:
    """A mixin, before the method among the bases, that chooses the size by cross-validation.

    The path is that of the plain method. Quick paths without each fold give the losses of its rows at each size.
    """

    plain_class: ClassVar[type[Boosting]]

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
        "The number of folds, which are stratified by class; with fewer rows than that, each of them is a fold. A row of "
        "weight 2 is two rows, which may be in different folds. With ``groups`` in `fit`, all rows of a group are in one fold, "
        "and folds are not stratified. "
        "Or a splitter of scikit-learn, which may need groups, or an iterable of pairs of training and test rows, used as "
        "given. "
        f"None means {DEFAULT_FOLDS}.",
        check_folds,
    )
    repeats: int = whole(
        1,
        "How many times rows are assigned to folds anew; the losses of each row are averaged. Must be 1 if ``cv`` is a "
        "splitter or an iterable.",
    )
    tolerance: Any = declared(
        DEFAULT_TOLERANCE,
        '"1se", "paired" or float',
        "The smallest size is chosen whose risk, the mean held-out loss, is within this of the least. A number: this share of "
        "what the best size gains over the constant, but no more than one standard error of the least risk; and the constant "
        "itself, if the best size is not better by more than one standard error of the difference. 0 takes the least risk. "
        '``"1se"``: one standard error of the least risk, the classical rule, which chooses smaller models. '
        '``"paired"``: one standard error of the difference to the least risk, paired row by row, which chooses larger ones.',
        check_tolerance,
    )
    n_jobs: int | None = jobs("The number of parallel workers, as joblib understands it. The model does not depend on it.")

    @property
    def plain(self) -> Boosting:
        """The method with the same parameters that only grows a path."""
        kind = self.plain_class
        return kind(**{one.name: getattr(self, one.name) for one in dataclasses.fields(kind)})

    def check(self) -> None:
        """Raise if parameters do not fit together."""
        super().check()  # type: ignore[misc]
        if self.keep_path:
            raise ValueError(
                "keep_path must be False with cross-validation: nothing chooses the size of a fit that was interrupted. The "
                "classes without cross-validation take keep_path=True."
            )
        if self.repeats != 1 and gives_splits(self.cv):
            raise ValueError(f"repeats must be 1 where cv gives the splits; got {self.repeats}.")

    def can_learn_from_some(self, task: Task) -> bool:
        """Say whether folds can be made of some rows: given splits are of all rows."""
        return not gives_splits(self.cv) and super().can_learn_from_some(task)  # type: ignore[misc]

    def grow(self, task: Task, seed: Any = None) -> Growth:
        """Grow the path of the plain method, and choose a member by folds."""
        seed, plain = self.random_state if seed is None else seed, self.plain
        # Not the global generator for None: then the content of the rows alone decides.
        rng = check_random_state(0 if seed is None else seed)
        # The plain method draws from a generator as if there were no folds.
        state = copy.deepcopy(rng) if seed is rng else seed
        # A row given twice is a row of weight 2 here too.
        distinct = task if gives_splits(self.cv) else distinct_rows(task)
        splits = self._splits(
            distinct, rng, leaves_groups_out=plain.estimates_ridges
        )  # bad folds are refused before anything is grown
        at_once = min(len(splits), int(joblib.effective_n_jobs(self.n_jobs)))
        share = 1.0 / (1.0 + TIME_OF_FOLD * len(splits) / at_once)
        status_line().begin("all rows", 0.0, share)
        growth = plain.grow(dataclasses.replace(task, stopwatch=task.stopwatch.restarted()), state)
        quick, sizes = dataclasses.replace(plain, effort=0, verbose=0, keep_path=False, n_jobs=1), complexities(growth.path)
        # Seeds drawn here, not in the workers, are the same for any number of workers.
        seeds = [int(rng.randint(2**31 - 1)) for _ in splits]
        folds = CountedCalls(self.n_jobs, "folds", len(splits), (share, 1.0), parts=True)(
            joblib.delayed(fold_losses)(quick, sizes, distinct, *one) for one in zip(splits, seeds, strict=True)
        )
        return self._chosen(plain, growth, list(folds), distinct)

    def _splits(self, task: Task, rng: np.random.RandomState, *, leaves_groups_out: bool) -> list[Split]:
        """Return the splits of all repetitions, checked."""
        n_folds = DEFAULT_FOLDS if self.cv is None else self.cv
        salts = (int(rng.randint(2**31 - 1)) for _ in range(self.repeats))
        if gives_splits(self.cv):
            splits = given_splits(self.cv, task)
        elif task.groups is not None:
            splits = splits_by_group(task, int(n_folds), salts)
        else:
            splits = splits_by_content(task, int(n_folds), salts)
        for split in splits:
            check_split(task, split, leaves_groups_out=leaves_groups_out)
        return splits

    def _chosen(self, plain: Boosting, growth: Growth, folds: list[FoldLosses], task: Task) -> Growth:
        """Return the growth with the chosen member, and the results by which it was chosen."""
        held_out, sizes = HeldOut.of(folds, task), complexities(growth.path)
        choice, risk, error = choose(held_out, self.tolerance), held_out.risk, held_out.standard_error()
        results = {
            "complexity": sizes,
            "mean_test_risk": risk,
            "std_test_risk": np.std([fold.risk for fold in folds], axis=0, ddof=1),
            "standard_error": error,
            "difference": risk - risk[choice.best],
            "difference_standard_error": held_out.standard_error(less=choice.best),
        } | {f"split{k}_test_risk": fold.risk for k, fold in enumerate(folds)}
        # A path of lines ends where each column has one.
        ended = growth.n_iter < plain.max_rules or (plain.linear_terms == ONLY and growth.n_iter >= task.X.n_columns)
        if choice.still_falls and not ended:
            warn_caller(STILL_FALLS, ConvergenceWarning)
        stopped = next((one for one in (growth.notes["stopped_"], *(fold.stopped for fold in folds)) if one), None)
        notes = {
            "cv_results_": results,
            "best_complexity_": int(sizes[choice.best]),
            "complexity_": int(sizes[choice.chosen]),
            "risk_": float(risk[choice.chosen]),
            "risk_standard_error_": float(error[choice.chosen]),
            "stopped_": stopped,
        }
        return dataclasses.replace(
            growth,
            chosen=choice.chosen,
            notes={**growth.notes, **notes},
            # The limit had an effect on the choice, too, if it stopped the path of a fold.
            parameters={**growth.parameters, **({} if stopped is None else {"max_seconds": self.max_seconds})},
            expected=tuple(risk.tolist()),
            standard_errors=tuple(error.tolist()),
        )


@dataclass(frozen=True, kw_only=True)
class LLTBoostCV(CrossValidated, LLTBoost):
    """LLTBoost whose size is chosen by cross-validation."""

    plain_class = LLTBoost


@dataclass(frozen=True, kw_only=True)
class TGBCV(CrossValidated, TGB):
    """TGB whose size is chosen by cross-validation."""

    plain_class = TGB


def fold_losses(method: Boosting, sizes: NDArray[np.intp], task: Task, split: Split, seed: int | None = None) -> FoldLosses:
    """Return the losses of the test rows of a fold at some complexities.

    Between the complexities of two members of its path, losses are interpolated: a path that takes the same step one unit later
    is hardly worse.
    """
    growth, tested = method.grow(split.learned(task), seed), task.on(split.test)
    loss = np.array([tested.loss.value(tested.y, tested.scores(ensemble)) for ensemble in growth.path])
    place = np.interp(sizes, complexities(growth.path), np.arange(len(growth.path)))
    lower = place.astype(np.intp)
    upper, part = np.minimum(lower + 1, len(loss) - 1), (place - lower)[:, None]
    loss = (1.0 - part) * loss[lower] + part * loss[upper]
    share = np.broadcast_to(split.test_share, split.test.shape)
    risk = np.average(loss, axis=1, weights=share * tested.weight)
    return FoldLosses(split.test, share, loss, risk, growth.notes["stopped_"])


def complexities(path: tuple[RuleEnsemble, ...]) -> NDArray[np.intp]:
    """Return the complexity of each member of a path."""
    return np.array([ensemble.complexity for ensemble in path])
