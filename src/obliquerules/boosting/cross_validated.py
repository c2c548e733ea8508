"""Cross-validation: the path of one fit, and folds to choose the member that predicts."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from obliquerules.boosting.boosting import ONLY, Boosting
from obliquerules.boosting.choice import Choice, choose, nested_losses, sizes_to_compare
from obliquerules.boosting.folds import (
    Split,
    check_split,
    distinct_rows,
    given_splits,
    splits_by_content,
    splits_by_group,
)
from obliquerules.boosting.held_out import FoldLosses, HeldOut
from obliquerules.boosting.lltboost import LLTBoost
from obliquerules.boosting.tgb import TGB
from obliquerules.counted import Counted
from obliquerules.method import Growth, Method, Task
from obliquerules.parameters import (
    AUTO,
    check_folds,
    declared,
    flag,
    flag_or_word,
    gives_splits,
    jobs,
    real_or_auto,
    real_or_none,
    seed,
    verbosity,
    whole,
)
from obliquerules.rows.warned import warn_caller
from obliquerules.rules import RuleEnsemble
from obliquerules.status_line import status_line

DEFAULT_FOLDS = 5
# The largest number of repetitions of the folds.
REPETITIONS = 10
# Most choices are stable after this many repetitions.
LEAST_REPETITIONS = 2
# The ridges that are compared if one is to be chosen; the first is that of growth. A linear model may need next to none.
RIDGES = (4.0, 16.0, 64.0)
RIDGES_OF_LINES = (0.25, 1.0, 4.0, 16.0, 64.0)

STILL_FALLS = "The largest size is better than every smaller one by more than a standard error: raise max_rules."

Path = tuple[RuleEnsemble, ...]


@dataclass(frozen=True)
class Family:
    """Paths of one kind: the method that grows them, and the ridges with which they are compared, that of growth first."""

    method: Boosting
    ridges: tuple[float, ...]

    def reseeded(self, seed: int) -> Family:
        """Return the same paths with another seed, for fits inside a fit."""
        return dataclasses.replace(self, method=self.method.reseeded(seed))

    def grow(self, task: Task) -> Growth:
        """Grow a path, whose time limit counts from now."""
        return self.method.grow(dataclasses.replace(task, stopwatch=task.stopwatch.restarted()))

    @classmethod
    def of(cls, method: Boosting, ridge: Any) -> Family:
        """Return the paths that a method grows, at the given ridge or, for "auto", at several."""
        choices = RIDGES_OF_LINES if method.linear_terms == ONLY else RIDGES
        ridges = choices if ridge == AUTO else (float(ridge),)
        return cls(dataclasses.replace(method, ridge=ridges[0]), ridges)


@dataclass(frozen=True, eq=False)
class Grown:
    """What was grown on all rows in a family, and the positions of the members of the path among which to choose."""

    family: Family
    growth: Growth
    members: list[int]

    @classmethod
    def on(cls, task: Task, family: Family) -> Grown:
        """Grow the path of a family."""
        growth = family.grow(task)
        return cls(family, growth, members_to_compare(growth.path, task))

    @property
    def complexity(self) -> NDArray[np.intp]:
        """The complexities to compare."""
        return complexities(self.growth.path)[self.members]

    def is_cut_short(self, n_columns: int) -> bool:
        """Say whether the path would go on with a larger ``max_rules``; lines end where each column has one."""
        most = self.family.method.max_rules
        return self.growth.n_iter == most and (self.family.method.linear_terms != ONLY or most < n_columns)


@dataclass(frozen=True, kw_only=True)
class CrossValidated(ABC):
    """A mixin that makes a boosting method choose its own size; it precedes the method among the bases of a class.

    The path is grown on all rows. To choose the member that predicts, a path is also grown without the rows of each fold, and
    its members are evaluated on those rows.
    """

    max_rules: int = whole(
        20,
        "Largest number of rules. The best size should lie inside the path: if it is clearly the last one, there is a "
        "``ConvergenceWarning``.",
    )
    ridge: Any = real_or_auto(
        "Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on exactly ``ridge`` rows, "
        "and on none where another rule fires, gets about half the weight that it would have without the penalty. "
        '``"auto"``: rules are grown with a ridge of 4 and their weights refitted with 16 and 64 too, linear models with '
        "ridges from 0.25 to 64; the ridge of the least risk is taken.",
    )
    linear_terms: Any = flag_or_word(
        AUTO,
        (AUTO, ONLY),
        "Learn slopes beside rules: ``+0.31 age`` adds 0.31 times the age; see `LLTBoostClassifier`. True: slopes and rules. "
        'False: rules alone. ``"only"``: slopes alone, a linear model. ``"auto"``: where slopes can be learned, a path of '
        "slopes and rules is compared with one of slopes alone, and that of the least risk is taken.",
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
        "The number of folds, which are stratified by class; with fewer rows than that, each of them is a fold. A row of "
        "weight 2 is two rows, which may be in different folds. With ``groups`` in `fit`, all rows of a group are in one fold, "
        "and folds are not stratified. "
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
        if not gives_splits(self.cv):
            # A row given twice is a row of weight 2 here too.
            task = distinct_rows(task)
        repetitions = self._repetitions(task, rng)
        first = next(repetitions)  # bad folds are refused before anything is grown
        status_line().begin("all rows", 0.0, self._share_done(0, len(first)))
        grown = [Grown.on(task, family) for family in self._families()]
        held_out = self._held_out(task, first, grown, rng, 1)
        while not (choice := self._choice(held_out, grown)).settled and (splits := next(repetitions, None)) is not None:
            held_out += self._held_out(task, splits, grown, rng, 1 + len(held_out.repetitions))
        return self._chosen(task, grown, held_out, choice)

    def _families(self) -> list[Family]:
        """Return the families of paths to compare: a linear model, too, if it is left to the data whether there are slopes."""
        first = self.plain
        if self.linear_terms != AUTO or not first.learns_slopes:
            return [Family.of(first, self.ridge)]
        lines = dataclasses.replace(first, linear_terms=ONLY, verbose=0)
        return [Family.of(one, self.ridge) for one in (dataclasses.replace(first, linear_terms=True), lines)]

    def _repetitions(self, task: Task, rng: np.random.RandomState) -> Iterator[list[Split]]:
        """Yield the splits of each repetition."""
        n_folds = DEFAULT_FOLDS if self.cv is None else self.cv
        if gives_splits(self.cv):
            repetitions = iter([given_splits(self.cv, task)])
        elif task.groups is not None:
            repetitions = splits_by_group(task, int(n_folds), self._salts(rng))
        else:
            repetitions = splits_by_content(task, int(n_folds), self._salts(rng))
        for splits in repetitions:
            for split in splits:
                check_split(task, split)
            yield splits

    def _salts(self, rng: np.random.RandomState) -> Iterator[int]:
        return (int(rng.randint(2**31 - 1)) for _ in range(REPETITIONS))

    def _held_out(
        self, task: Task, splits: list[Split], grown: list[Grown], rng: np.random.RandomState, repetition: int
    ) -> HeldOut:
        """Return the held-out losses of one repetition at the complexities to compare."""
        # Seeds drawn here, not in the workers, are the same for any number of workers.
        seeds = [int(rng.randint(2**31 - 1)) for _ in splits]
        compared = [(one.family, one.complexity) for one in grown]
        n_folds = len(splits)
        shares = self._share_done(repetition - 1, n_folds, repetition), self._share_done(repetition, n_folds, repetition)
        parallel = Counted(self.n_jobs, f"folds of repetition {repetition}", n_folds, shares, parts=True)
        folds = list(
            parallel(
                joblib.delayed(fold_losses)(compared, task, split, seed) for seed, split in zip(seeds, splits, strict=True)
            )
        )
        rows = task.weight, observations_of(task)
        nested = nested_losses(folds, *rows, sizes_of(grown), self._tolerance)
        return dataclasses.replace(HeldOut.of(folds, *rows), nested=nested)

    def _share_done(self, done: int, n_folds: int, repetition: int = 1) -> float:
        """Return the share of the work after some repetitions.

        As a rule, it is not known how many there will be.
        """
        expected = 1 if gives_splits(self.cv) else max(repetition, LEAST_REPETITIONS)
        # In units of the path on all rows, which is grown alone.
        each = n_folds / min(n_folds, int(joblib.effective_n_jobs(self.n_jobs)))
        return (1.0 + done * each) / (1.0 + expected * each)

    def _choice(self, held_out: HeldOut, grown: list[Grown]) -> Choice:
        return choose(held_out, sizes_of(grown), self._tolerance)

    @property
    def _tolerance(self) -> float:
        """By how many standard errors the risk of the chosen size may exceed the least."""
        return 1.0 if self.one_standard_error else 0.0

    def _chosen(self, task: Task, grown: list[Grown], held_out: HeldOut, choice: Choice) -> Growth:
        """Return the growth with the chosen member, and the results by which it was chosen."""
        one, ridge = variants_of(grown)[choice.variant]
        growth, method, complexity = one.growth, one.family.method, one.complexity
        if choice.still_falls and one.is_cut_short(task.X.n_columns):
            warn_caller(STILL_FALLS, ConvergenceWarning)
        stopped = next((each.growth.notes["stopped_"] for each in grown if each.growth.notes["stopped_"]), held_out.stopped)
        notes = {
            "cv_results_": cv_results(complexity, held_out, choice),
            "best_complexity_": int(complexity[choice.best]),
            "complexity_": int(complexity[choice.chosen]),
            "n_repetitions_": len(held_out.repetitions),
            "risk_": held_out.nested_risk[0],
            "risk_standard_error_": held_out.nested_risk[1],
            "linear_terms_": method.linear_terms,
            "stopped_": stopped,
        }
        # The limit had an effect on the choice, too, if it stopped the path of a fold.
        found = {} if stopped is None else {"max_seconds": self.plain.max_seconds}
        found |= {"linear_terms": method.linear_terms} | ({"ridge": ridge} if self.ridge == AUTO else {})
        return dataclasses.replace(
            growth,
            path=with_ridge(growth.path, task, method, ridge),
            chosen=one.members[choice.chosen],
            notes={**growth.notes, **notes},
            parameters={**growth.parameters, **found},
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


def variants_of(grown: Sequence[Grown]) -> list[tuple[Grown, float]]:
    """Return each family with each of its ridges."""
    return [(one, ridge) for one in grown for ridge in one.family.ridges]


def sizes_of(grown: Sequence[Grown]) -> list[NDArray[np.intp]]:
    """Return the complexities to compare in each variant."""
    return [one.complexity for one, _ in variants_of(grown)]


def fold_losses(compared: Sequence[tuple[Family, NDArray[np.intp]]], task: Task, split: Split, seed: int) -> FoldLosses:
    """Grow the paths of some families on the training rows of a fold and evaluate them on the test rows, at some complexities.

    At a given complexity, that is the largest member of a path of at most this complexity, refitted at each ridge.
    """
    learned, judged = split.learned(task), task.on(split.test)
    losses, stopped = [], None
    for family, complexity in compared:
        growth = family.reseeded(seed).grow(learned)
        members = tuple(growth.path[at] for at in np.searchsorted(complexities(growth.path), complexity, side="right") - 1)
        paths = (with_ridge(members, learned, family.method, ridge) for ridge in family.ridges)
        losses += [np.array([judged.loss.value(judged.y, judged.scores(ensemble)) for ensemble in path]) for path in paths]
        stopped = stopped or growth.notes["stopped_"]
    return FoldLosses(split.test, losses, stopped, split.test_share)


def observations_of(task: Task) -> NDArray[np.float64] | float:
    """Return how many observations each row stands for.

    With groups, each row counts as one.
    """
    if task.groups is not None:
        return 1.0
    return np.maximum(task.weight if task.frequency is None else task.frequency, 1.0)


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
    """Return what is known of each size in the chosen variant; see the estimators for what the names mean."""
    variant, risk = choice.variant, held_out.risk[choice.variant]
    folds = [fold[variant] for fold in held_out.folds]
    return {
        "complexity": complexity,
        "mean_test_risk": risk,
        "std_test_risk": np.std(folds, axis=0, ddof=1),
        "standard_error": held_out.standard_error(variant),
        "difference": risk - risk[choice.best],
        "difference_standard_error": held_out.standard_error(variant, less=(variant, choice.best)),
    } | {f"split{k}_test_risk": fold for k, fold in enumerate(folds)}


def complexities(path: Path) -> NDArray[np.intp]:
    """Return the complexity of each member of a path."""
    return np.array([ensemble.complexity for ensemble in path])
