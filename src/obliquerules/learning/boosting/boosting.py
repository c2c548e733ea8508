"""Boosting methods: the parameters they share, and the fit around the loop."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from obliquerules.arrays import Mask
from obliquerules.data.sample import Sample
from obliquerules.data.user_warnings import warn_caller
from obliquerules.learning.boosting.design_matrix import Inputs
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.linear_terms import LinearTerms, SlopeLearner, short_slopes
from obliquerules.learning.boosting.loop import CriterionSearch, boost, first_stage
from obliquerules.learning.boosting.progress import Progress, tell_improvement, tell_rest, tell_rule
from obliquerules.learning.boosting.record import INTERRUPTED, MAX_SECONDS, Record
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.selection import InformationSelection, ObjectiveSelection, Selection, ValidationSelection
from obliquerules.learning.boosting.soft_conditions import SmoothedLoss, SoftConditions
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.workers import FEWEST_ROWS, Workers, workers_for
from obliquerules.learning.label_order import grow_in_class_order
from obliquerules.learning.method import Growth, Method, Task
from obliquerules.learning.ridge_estimate import (
    WEIGHTS_PER_UNIT_OF_LINES,
    FittedEnsemble,
    Observations,
    estimated_ridges,
    expected_losses,
    weights_per_unit,
)
from obliquerules.learning.shorten import exactness, readable_path, shortened_path
from obliquerules.parameters import AUTO, flag, flag_or_word, jobs, real, real_or_auto, real_or_none, seed, verbosity, whole
from obliquerules.rules import RuleEnsemble
from obliquerules.rules.path_table import pareto

Boosted = TypeVar("Boosted", bound="Boosting")

# The ridge with which rules are grown, if that of their final weights is estimated.
GROWTH_RIDGE = 4.0
# Grow again with the estimated ridge from this value on: the best rules for weak shrinkage are not the best for strong.
GROWN_AGAIN = 16.0
# The paper's corrective step has no ridge; this one only keeps the weights of pure rules finite.
PAPER_RIDGE = 1e-4
# Refit one candidate per 500 rows, within bounds: on small data, trying more candidates overfits. Slopes and hinges are tried
# separately, so fewer rules are tried when they are available.
ROWS_PER_REFIT = 500
LEAST_REFITTED, LEAST_REFITTED_BESIDE_SLOPES, MOST_REFITTED = 8, 3, 10
# The search uses at most this many rows, or 50 per level if there are many levels; thresholds and weights are then fitted to
# all rows.
MOST_SEARCHED = 5000
ROWS_PER_LEVEL = 50
# The value of ``linear_terms`` for a linear model.
ONLY = "only"
# Training losses that agree in this many digits are equal up to rounding: the same rules fire on the same rows.
LOSS_DIGITS = 9
# What is said of a fit that was stopped.
STOPPED = {
    MAX_SECONDS: "The fit came to the limit of max_seconds before its end: the path has the ensembles found by then.",
    INTERRUPTED: "The fit was interrupted before its end: with keep_path=True, the path has the ensembles found by then.",
}


@dataclass(frozen=True)
class Strategy(Generic[Boosted]):
    """A learner and a selection that go together, each created from the parameters of a method.

    Attributes
    ----------
    learner : callable
        Creates the learner from the method and the rows to learn from.
    selection : callable
        Creates the selection from the method.
    as_in_the_paper : bool
        Whether the selection is the paper's: it needs held-out rows, and conditions stay as they were learned.
    """

    learner: Callable[[Boosted, Sample], Learner]
    selection: Callable[[Boosted], Selection]
    as_in_the_paper: bool = False


@dataclass(frozen=True, kw_only=True)
class Boosting(Method):
    """Rules added one at a time, with all weights refitted after each.

    The parameters without a default here differ between subclasses, in meaning or in default.
    """

    many_classes: ClassVar[bool] = True
    class_offsets: ClassVar[bool] = True
    takes_groups: ClassVar[bool] = True
    left_out_if_none: ClassVar[frozenset[str]] = frozenset({"max_seconds"})

    max_rules: int = whole(10, "Largest number of rules. One fit gives every smaller size too: see `path_` and `at`.")
    max_propositions: int = whole(5, "Largest number of conditions in a rule.")
    selection: str
    complexity_penalty: float = real(
        4.0,
        'For ``"information"``: the price of one unit of complexity (a rule, a threshold or a variable), in units of log(n) on '
        "the scale of -2 log likelihood. Larger means smaller models.",
    )
    validation_fraction: float = real(
        0.2,
        'For ``"validation"``: share of the rows that is held out. As in the paper, rules and their weights are learned from '
        "the others. A row of weight 2 is two, of which one may be held out; with ``groups`` in `fit`, whole groups are.",
        below=1.0,
    )
    validation_tolerance: float
    objective_tolerance: float
    ridge: Any = real_or_auto(
        "Penalty on squared rule weights, not on the constant, measured in rows: a rule that fires on exactly ``ridge`` rows, "
        "and on none where another rule fires, gets about half the weight that it would have without the penalty. Scaling by "
        "the curvature of the loss at the best constant makes this mean the same for every loss. "
        f'``"auto"``: rules are grown with a ridge of {GROWTH_RIDGE:g}; those of the final weights, one for each size of the '
        "path, are estimated from the training rows, by leaving out each of them, and ``ridge_`` is that of the size that "
        f"predicts. Where the largest is {GROWN_AGAIN:g} or more, rules are grown again with it. Of a row of weight 2, which "
        "is two rows, one is left out at a time; with ``groups`` in `fit`, a group is. With "
        f'``selection="validation"`` it is {PAPER_RIDGE:g}: the paper has no ridge, but rules that separate classes would have '
        "infinite weights without one.",
    )
    effort: int = whole(
        2,
        'For ``"information"`` with numbers, counts or two classes: how often, once rules are grown, the best ensembles found '
        "so far are grown again and simplified. More takes longer and lowers the loss on the training rows; 0 is quickest.",
        least=0,
    )
    linear_terms: Any = flag_or_word(
        AUTO,
        (AUTO, ONLY),
        "Learn slopes beside rules: ``+0.31 age`` adds 0.31 times the age, and the hinge ``+0.31 (max(age, 50) - 50)`` as "
        "much for each year above 50, and nothing below. Where a column has a long tail, its values "
        "may be clipped to printed limits; a missing value adds nothing. Only columns of numbers with three different values "
        'or more have slopes. They are learned with ``selection="information"``; with many classes, a slope has a weight for '
        "some of them. "
        '``"auto"``: there are slopes where they can be learned. False: rules alone, as in the paper. ``"only"``: a linear '
        "model, of slopes and, in columns of levels, few different values or missing values, rules with one condition on one "
        "column; what lowers the loss most comes first on the path.",
    )
    max_seconds: float | None = real_or_none(
        None,
        "Time limit: once this many seconds have passed since the fit began, growth ends after the step at hand, an exact "
        "search at once. The path has the best ensembles found by then, whose weights are fitted as always, ``stopped_`` is "
        '``"max_seconds"``, and there is a ``ConvergenceWarning``. What is found in a given time depends on the machine, so '
        "with a limit the same data need not give the same model.",
    )
    keep_path: bool = flag(
        False,
        "What Ctrl-C does while rules are grown. True: the fit ends as at a time limit, with the path found so far, and "
        '``stopped_`` is ``"interrupted"``; another Ctrl-C ends it without a model. False: it raises `KeyboardInterrupt`, and '
        "the estimator is as it was before.",
    )
    n_jobs: int | None = jobs(
        "The number of threads, as joblib understands it. They look at blocks of rows, and share the search for conditions if "
        f"that has {FEWEST_ROWS} rows or more. The model does not depend on it."
    )
    exact: str = exactness('With ``selection="validation"``, as in the paper, no row changes side and nothing goes.')
    random_state: Any = seed('For ``"validation"``: draws the held-out rows.')
    verbose: int = verbosity(
        "If not zero, report each rule on standard error, and the improvement that ``effort`` asks for, with the share done "
        "and an estimate of the time left."
    )

    @property
    @abstractmethod
    def strategy(self) -> Strategy[Any]:
        """The learner and the selection that the parameters name."""

    def held_out(self, task: Task) -> tuple[Sample, Mask]:
        """Return the rows, and which of them are held out."""
        fraction = self.validation_fraction if self.strategy.as_in_the_paper else 0.0
        # Always drawn, so that later draws do not depend on the selection.
        lot = int(check_random_state(self.random_state).randint(2**31 - 1))
        return task.sample.hold_out(task.loss.strata(task.sample.y), fraction, lot)

    def problem(self, task: Task, sample: Sample, held_out: Mask) -> Problem:
        """Return the problem to grow rules on."""
        loss, ridge = task.loss, self.task_penalty(task)
        outputs = task.labels.names if task.labels is not None and loss.by_class else None
        # On the scale of the loss, which is half that of -2 log likelihood.
        price = 0.5 * self.strategy.selection(self).complexity_price * math.log(float(np.add.reduce(sample.weight)))
        return Problem(
            sample.X,
            sample.y,
            sample.weight,
            loss,
            ridge,
            held_out,
            outputs=outputs,
            price=price,
            offset=sample.offset,
        )

    def grow(self, task: Task) -> Growth:
        """Grow ensembles of one rule, of two, and so on; the selection decides which of them make the path."""
        return grow_in_class_order(self, task, Boosting._grow)

    def _grow(self, task: Task) -> Growth:
        with workers_for(len(task.sample.y), self.n_jobs) as workers:
            return self._grow_with(workers, task)

    def _grow_with(self, workers: Workers, task: Task) -> Growth:
        paper, groups = self.strategy.as_in_the_paper, task.sample.groups
        if self.estimates_ridges and groups is not None and len(groups.key) < 2:
            raise ValueError("ridge='auto' needs at least 2 groups with weight, of which one can be left out; groups has one.")
        searched = self._searched(task)
        found, record = self._grown(searched, workers)
        n_iter = len(record.grown) - 1
        record.clear()
        ridges = self._ridges(found, searched, workers)
        stages = self._with_ridges(found, ridges, task, workers, moved=searched is not task)
        found = []
        # By the losses of weights as learned, not of shortened ones.
        front = range(len(stages)) if paper else _front(stages)
        ridges = [ridges[place] for place in front]
        learned = self._ensembles([stages[place] for place in front], task, workers)
        stages = []
        if paper:
            path = shortened_path(learned, task)
        else:
            penalties = [self.task_penalty(task, ridge) for ridge in ridges]
            path, kept = readable_path(list(zip(learned, penalties, strict=True)), task, self.exact, workers.each)
            ridges = [ridges[place] for place in kept]
        # The paper's weights are those of some of the rows, of which leaving out says nothing.
        expected = () if paper else self._expected(path, ridges, task, workers)
        if record.stopped is not None:
            warn_caller(STOPPED[record.stopped], ConvergenceWarning)
        notes = {**self.notes(record), "stopped_": record.stopped}
        unused = {} if record.stopped == MAX_SECONDS else {"max_seconds": None}
        separated = _separated(path, task) if expected else None
        return Growth(
            path, n_iter, notes=notes, parameters=unused, ridges=tuple(ridges), expected=expected, separated=separated
        )

    def _ensembles(self, stages: list[Stage], task: Task, workers: Workers) -> list[RuleEnsemble]:
        """Return the path as ensembles, with slopes in short numbers."""
        # Short numbers depend on units, which must not decide what is on the path.
        short = short_slopes(stages, task.sample)
        stages = workers.each(lambda stage: stage.with_slopes(short), stages) if short else stages
        return [stage.ensemble for stage in stages]

    def _with_ridges(
        self, stages: list[Stage], ridges: list[float], task: Task, workers: Workers, *, moved: bool
    ) -> list[Stage]:
        """Return ensembles with weights fitted with their own ridges; ``moved`` to all rows after a subsampled search."""
        penalties = [self.task_penalty(task, ridge) for ridge in ridges]
        if moved:
            refiner = self._refiner_on_all_rows(task, workers)
            return workers.each(lambda one: refiner.with_ridge(one[1]).transferred(one[0]), zip(stages, penalties, strict=True))
        return workers.each(lambda one: one[0].with_ridge(one[1]), zip(stages, penalties, strict=True))

    def _searched(self, task: Task) -> Task:
        """Return the task on a random subsample if there are many rows."""
        most = max(MOST_SEARCHED, ROWS_PER_LEVEL * sum(len(column.levels or ()) for column in task.columns))
        # With many classes, conditions are not refined on all rows.
        in_parts = self.learns_slopes and self.linear_terms != ONLY and task.groups is None and not task.loss.by_class
        if not in_parts or len(task.sample.y) <= most:
            return task
        return replace(task.merged().on(np.arange(most)), stopwatch=task.stopwatch)

    def _refiner_on_all_rows(self, task: Task, workers: Workers) -> Refiner:
        """Return what refines ensembles on all rows after a subsampled search."""
        sample = task.sample
        problem = replace(self.problem(task, sample, np.zeros(len(sample.y), dtype=np.bool_)), workers=workers)
        conditions = SoftConditions(Inputs(sample.X, sample.weight), sample.weight)
        return Refiner(conditions, replace(problem, smoothed_loss=SmoothedLoss(conditions, problem.size)))

    @property
    def estimates_ridges(self) -> bool:
        """Whether the ridges of final weights are estimated."""
        return self.ridge == AUTO and not self.strategy.as_in_the_paper

    def _ridges(self, stages: list[Stage], task: Task, workers: Workers) -> list[float]:
        """Return the ridge of the final weights of each ensemble, in rows."""
        if not self.estimates_ridges:
            return [self.growth_ridge] * len(stages)

        def each(work: Callable[[Stage], Any], ensembles: list[Stage]) -> list[Any]:
            return workers.each(partial(_once, work), ensembles)

        per_unit = self._weights_per_unit(task)
        return estimated_ridges(stages, _rows_of(task), lambda ridge: self.task_penalty(task, ridge), per_unit, each)

    def _expected(
        self, path: Sequence[RuleEnsemble], ridges: Sequence[float], task: Task, workers: Workers
    ) -> tuple[float, ...]:
        """Return the mean loss of each ensemble to expect on new rows."""
        rows, sample, per_unit = _rows_of(task), task.sample, self._weights_per_unit(task)

        def mean(one: tuple[RuleEnsemble, float]) -> float:
            ensemble, ridge = one
            if not len(ensemble):
                return task.loss.risk(sample.y, sample.scores(ensemble), sample.weight)
            fitted = FittedEnsemble.of(ensemble, sample)
            return float(expected_losses(fitted, rows, [self.task_penalty(task, ridge)], per_unit)[0]) / total

        total = float(np.add.reduce(sample.weight))
        return tuple(workers.each(mean, list(zip(path, ridges, strict=True))))

    def _weights_per_unit(self, task: Task) -> float:
        """Return how many weights a unit of complexity counts as in the expected loss."""
        return WEIGHTS_PER_UNIT_OF_LINES if self.linear_terms == ONLY else weights_per_unit(task.sample.X)

    def _grown(self, task: Task, workers: Workers, ridge: float | None = None) -> tuple[list[Stage], Record]:
        """Return the ensembles of the path and the record of the fit.

        Without a given ridge, rules are grown again where the estimate for the largest ensemble is far above that of growth.
        """
        limit = math.inf if self.max_seconds is None else float(self.max_seconds)
        pair, record = self.strategy, Record(stopwatch=task.stopwatch, max_seconds=limit)
        sample, held_out = self.held_out(task)
        problem, selection = replace(self.problem(task, sample, held_out), workers=workers), pair.selection(self)
        if ridge is not None:
            problem = replace(problem, ridge=self.task_penalty(task, ridge))
        if isinstance(selection, InformationSelection) and self.learns_slopes:
            growth, search = self._longer(problem, selection, task, record)
        elif self.linear_terms in (False, AUTO):
            growth, search = boost(problem, pair.learner(self, sample), selection, self.max_rules, record), None
        else:
            raise ValueError(
                f'linear_terms={self.linear_terms!r} needs selection="information"; '
                'with "auto", there are slopes where they can be learned.'
            )
        try:
            self._follow(growth, task, 0 if search is None else self.effort)
            if search is not None and ridge is None and self.estimates_ridges:
                estimate = self._ridges(selection.path(record), task, workers)[-1]
                if estimate >= GROWN_AGAIN:
                    if self.verbose:
                        task.report(f"rules are grown again, with the estimated ridge of {estimate:g}")
                    again = self._grown(task, workers, estimate)
                    # A time limit may have left it shorter.
                    if len(again[1].grown) >= len(record.grown):
                        return again
                    record.stopped = again[1].stopped
            if search is not None and record.stopped is None:
                self._improve(search, task)
            tell_rest(0 if search is None else self.effort)
        except KeyboardInterrupt:
            if not (self.keep_path and record.grown):
                raise
            record.stopped = INTERRUPTED
        return selection.path(record), record

    def _longer(
        self, problem: Problem, selection: InformationSelection, task: Task, record: Record
    ) -> tuple[Iterator[Stage], CriterionSearch | None]:
        """Return the growth of rules and slopes by a criterion and the search that goes on from there; none for lines alone."""
        X, weight = task.sample.X, task.sample.weight
        if self.linear_terms == ONLY:
            return LinearTerms(X, weight, selection).grow(first_stage(problem), self.max_rules, record), None
        conditions = SoftConditions(Inputs(X, weight), weight)
        if not problem.loss.by_class:
            least = LEAST_REFITTED_BESIDE_SLOPES if self.linear_terms else LEAST_REFITTED
            most_refitted = min(max(least, len(weight) // ROWS_PER_REFIT), MOST_REFITTED)
            problem = replace(problem, smoothed_loss=SmoothedLoss(conditions, problem.size), most_refitted=most_refitted)
        learner = self.strategy.learner(self, task.sample)
        if self.linear_terms:
            lines = LinearTerms(X, weight, selection)
            lines.note(first_stage(problem), self.max_rules, record)
            learner = SlopeLearner(learner, lines)
        if problem.loss.by_class:  # conditions of many classes are not refined
            return boost(problem, learner, selection, self.max_rules, record), None
        search = CriterionSearch(problem, learner, selection, Refiner(conditions, problem), self.max_rules, record)
        return search.grow(), search

    def _follow(self, growth: Iterator[Stage], task: Task, effort: int) -> None:
        """Grow to the end, reporting each rule."""
        progress = Progress.of(task)
        for n_rules, stage in enumerate(growth):
            tell_rule(n_rules, self.max_rules, effort)
            if self.verbose:
                progress.report_rule(stage.ensemble, self.max_rules)

    def _improve(self, search: CriterionSearch, task: Task) -> None:
        """Improve what was found as often as ``effort`` says."""
        for number in range(1, self.effort + 1):
            progress = Progress.of(task)
            for done, steps in search.improve():
                tell_improvement(number, self.effort, done, steps)
                if self.verbose:
                    progress.report_improvement(f"{number}/{self.effort}", done, steps)

    def reseeded(self, seed: int) -> Self:
        """Return the same method, silent, with one thread and another seed; an interrupt ends all fits, not one of them."""
        return replace(super().reseeded(seed), keep_path=False, n_jobs=1)

    @property
    def learns_slopes(self) -> bool:
        """Whether slopes can be learned with this selection."""
        return isinstance(self.strategy.selection(self), InformationSelection)

    @property
    def growth_ridge(self) -> float:
        """The ridge with which rules are grown."""
        if self.ridge != AUTO:
            return float(self.ridge)
        return PAPER_RIDGE if self.strategy.as_in_the_paper else GROWTH_RIDGE

    def task_penalty(self, task: Task, ridge: float | None = None) -> Any:
        """Return a ridge, by default that of growth, in units of the loss."""
        return self.penalty(task.loss, task.sample.y, task.sample.weight, ridge)

    def notes(self, record: Record) -> Mapping[str, Any]:  # noqa: ARG002  # for subclasses
        """Return further fitted attributes once the loop has ended; none by default."""
        return {}


def by_objective(method: Boosting) -> Selection:
    """Return the selection by the objective alone."""
    return ObjectiveSelection(method.objective_tolerance)


def by_information(method: Boosting) -> Selection:
    """Return the selection by a criterion that charges for complexity."""
    return InformationSelection(method.complexity_penalty)


def by_validation(method: Boosting) -> Selection:
    """Return the paper's selection."""
    return ValidationSelection(method.validation_tolerance, method.objective_tolerance)


def _front(stages: Sequence[Stage]) -> list[int]:
    """Return the positions of the Pareto front of ensembles, in complexity and loss but for rounding errors."""
    losses = [float(f"{stage.training_loss:.{LOSS_DIGITS}g}") for stage in stages]
    return pareto(range(len(stages)), lambda place: (stages[place].complexity, losses[place]))


def _rows_of(task: Task) -> Observations:
    """Return the rows of a task as the expected loss takes them."""
    sample = task.sample
    return Observations(sample.y, sample.weight, task.loss, sample.offset, sample.frequency, sample.groups)


def _separated(path: Sequence[RuleEnsemble], task: Task) -> int | None:
    """Return the least complexity at which the classes of all rows are told."""
    sample = task.sample
    separating = (one.complexity for one in path if task.loss.separates(sample.y, sample.scores(one)))
    return min(separating, default=None)


def _once(work: Callable[[Stage], Any], stage: Stage) -> Any:
    """Return what some work finds out about an ensemble, of which nothing is kept afterwards."""
    found = work(stage)
    stage.clear_cache()
    return found
