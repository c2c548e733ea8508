"""Boosting methods: the parameters they share, and the fit around the loop."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from obliquerules.arrays import Mask
from obliquerules.data.sample import Sample
from obliquerules.data.user_warnings import warn_caller
from obliquerules.learning.boosting.design_matrix import Inputs
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.linear_terms import LinearTerms, SlopeLearner, short_slopes
from obliquerules.learning.boosting.loop import CriterionSearch, Progress, boost, first_stage, stage_class
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.selection import (
    INTERRUPTED,
    MAX_SECONDS,
    InformationSelection,
    ObjectiveSelection,
    Record,
    Selection,
    ValidationSelection,
)
from obliquerules.learning.boosting.soft_conditions import SmoothedLoss, SoftConditions
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.workers import FEWEST_ROWS, Workers, workers_for
from obliquerules.learning.method import Growth, Method, Task, grow_in_class_order
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

# The ridge with which rules are grown, if that of their final weights is estimated.
GROWTH_RIDGE = 4.0
# Grow again with the estimated ridge from this value on: the best rules for weak shrinkage are not the best for strong.
GROWN_AGAIN = 16.0
# The paper's corrective step has no ridge; this one only keeps the weights of pure rules finite.
PAPER_RIDGE = 1e-4
# Refit one candidate per 500 rows, within bounds: on small data, trying more candidates overfits. Slopes and hinges are tried
# separately, so fewer rules are tried beside them.
ROWS_PER_REFIT = 500
LEAST_REFITTED, LEAST_REFITTED_BESIDE_SLOPES, MOST_REFITTED = 8, 3, 10
# The search uses at most this many rows, or 50 per level; thresholds and weights are then fitted to all rows.
MOST_SEARCHED = 5000
ROWS_PER_LEVEL = 50
# The value of ``linear_terms`` for a linear model.
ONLY = "only"
# Training losses that agree in this many digits are equal up to rounding: the same rules fire on the same rows.
LOSS_DIGITS = 9
# The warning of a stopped fit.
STOPPED = {
    MAX_SECONDS: "The fit came to the limit of max_seconds before its end: the path has the ensembles found by then.",
    INTERRUPTED: "The fit was interrupted before its end: with keep_path=True, the path has the ensembles found by then.",
}


# The selection of each name, which the parameters of a method make; with the paper's, rows are held out.
PAPERS = "validation"
SELECTIONS: dict[str, Callable[[Boosting], Selection]] = {
    "information": lambda method: InformationSelection(method.complexity_penalty),
    "objective": lambda method: ObjectiveSelection(method.objective_tolerance),
    PAPERS: lambda method: ValidationSelection(method.validation_tolerance, method.objective_tolerance),
}


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

    @abstractmethod
    def learner(self, sample: Sample) -> Learner:
        """Return the learner that the parameters name, for some rows."""

    @property
    def as_in_the_paper(self) -> bool:
        """Whether rows are held out, and conditions stay as they were learned."""
        return self.selection == PAPERS

    @property
    def rule_objective(self) -> str:
        """The objective that a rule maximises; see `OBJECTIVES`."""
        return "gradient"

    def held_out(self, task: Task, seed: Any = None) -> tuple[Sample, Mask]:
        """Return the rows, and which of them are held out."""
        fraction = self.validation_fraction if self.as_in_the_paper else 0.0
        # Always drawn, so that later draws do not depend on the selection.
        lot = int(check_random_state(self.random_state if seed is None else seed).randint(2**31 - 1))
        return task.sample.hold_out(task.loss.strata(task.sample.y), fraction, lot)

    def problem(self, task: Task, sample: Sample, held_out: Mask, ridge: float | None = None) -> Problem:
        """Return the problem to grow rules on, with a ridge in rows."""
        # On the scale of the loss, which is half that of -2 log likelihood.
        price = 0.5 * SELECTIONS[self.selection](self).complexity_price * math.log(float(np.add.reduce(sample.weight)))
        outputs = task.loss.outputs(None if task.labels is None else task.labels.names)
        rows = (sample.X, sample.y, sample.weight, task.loss, self.task_penalty(task, ridge), held_out)
        return Problem(*rows, self.rule_objective, outputs, price, sample.offset)

    def grow(self, task: Task, seed: Any = None) -> Growth:
        """Grow a path of ensembles; the selection decides which of them are on it.

        The seed of this fit is by default that of the method.
        """
        return grow_in_class_order(task, partial(self._grow, seed=seed))

    def _grow(self, task: Task, seed: Any) -> Growth:
        groups = task.sample.groups
        if self.estimates_ridges and groups is not None and len(groups.key) < 2:
            raise ValueError("ridge='auto' needs at least 2 groups with weight, of which one can be left out; groups has one.")
        with workers_for(len(task.sample.y), self.n_jobs) as workers:
            searched = self._searched(task)
            found, record = self._grown(searched, workers, seed)
            n_iter = len(record.grown) - 1
            record.grown, record.front, record.best_quick_fit = [], [], None
            ridges = self._ridges(found, searched, workers)
            stages = self._with_ridges(found, ridges, task, workers, moved=searched is not task)
            found.clear()
            growth = self._as_path(stages, ridges, task, workers)
        if record.stopped is not None:
            warn_caller(STOPPED[record.stopped], ConvergenceWarning)
        notes = {**self.notes(record), "stopped_": record.stopped}
        unused = {} if record.stopped == MAX_SECONDS else {"max_seconds": None}
        return replace(growth, n_iter=n_iter, notes=notes, parameters=unused)

    def _as_path(self, stages: list[Stage], ridges: list[float], task: Task, workers: Workers) -> Growth:
        """Return a path of readable ensembles, with the loss to expect of each."""
        paper, sample = self.as_in_the_paper, task.sample
        # By the losses of weights as learned, not of shortened ones.
        losses = [float(f"{stage.training_loss:.{LOSS_DIGITS}g}") for stage in stages]
        front = range(len(stages)) if paper else pareto(range(len(stages)), lambda at: (stages[at].complexity, losses[at]))
        chosen, ridges = [stages[place] for place in front], [ridges[place] for place in front]
        # Short numbers depend on units, which must not decide what is on the path.
        short = short_slopes(chosen, sample)
        learned = [one.ensemble for one in (workers.each(lambda one: one.with_slopes(short), chosen) if short else chosen)]
        # Ensembles in training hold an array for each term.
        stages.clear()
        chosen.clear()
        if paper:
            # These weights are fitted to some rows only, so leaving rows out says nothing.
            return Growth(shortened_path(learned, task), len(learned), ridges=tuple(ridges))
        penalties = [self.task_penalty(task, ridge) for ridge in ridges]
        path, kept = readable_path(list(zip(learned, penalties, strict=True)), task, self.exact, workers.each)
        (rows, per_unit), total = self._observations(task), float(np.add.reduce(sample.weight))

        def expected(one: tuple[RuleEnsemble, Any]) -> float:
            ensemble, penalty = one
            if not len(ensemble):
                return task.loss.risk(sample.y, sample.scores(ensemble), sample.weight)
            return float(expected_losses(FittedEnsemble.of(ensemble, sample), rows, [penalty], per_unit)[0]) / total

        expected_of_each = workers.each(expected, [(one, penalties[place]) for one, place in zip(path, kept, strict=True)])
        separating = (one.complexity for one in path if task.loss.separates(sample.y, sample.scores(one)))
        return Growth(
            path,
            len(path),
            ridges=tuple(ridges[place] for place in kept),
            expected=tuple(expected_of_each),
            separated=min(separating, default=None),
        )

    def _searched(self, task: Task) -> Task:
        """Return the task on a random subsample of many rows, if conditions are refined afterwards."""
        most = max(MOST_SEARCHED, ROWS_PER_LEVEL * sum(len(column.levels or ()) for column in task.columns))
        refined = stage_class(task.loss).is_refined and isinstance(SELECTIONS[self.selection](self), InformationSelection)
        if not refined or self.linear_terms == ONLY or task.groups is not None or len(task.sample.y) <= most:
            return task
        return replace(task.merged().on(np.arange(most)), stopwatch=task.stopwatch)

    def _with_ridges(
        self, stages: list[Stage], ridges: list[float], task: Task, workers: Workers, *, moved: bool
    ) -> list[Stage]:
        """Return ensembles with their own ridges, ``moved`` to all rows after a subsampled search."""
        stages_and_penalties = [(one, self.task_penalty(task, ridge)) for one, ridge in zip(stages, ridges, strict=True)]
        if not moved:
            return workers.each(lambda one: one[0].with_ridge(one[1]), stages_and_penalties)
        sample = task.sample
        conditions = SoftConditions(Inputs(sample.X, sample.weight), sample.weight)
        problem = self.problem(task, sample, np.zeros(len(sample.y), dtype=np.bool_))
        problem = replace(problem, workers=workers, smoothed_loss=SmoothedLoss(conditions, problem.size))
        refiner = Refiner(conditions, problem)
        return workers.each(lambda one: refiner.transferred(*one), stages_and_penalties)

    @property
    def estimates_ridges(self) -> bool:
        """Whether the ridges of final weights are estimated."""
        return self.ridge == AUTO and not self.as_in_the_paper

    def _ridges(self, stages: list[Stage], task: Task, workers: Workers) -> list[float]:
        """Return the ridge of the final weights of each ensemble, in rows."""
        if not self.estimates_ridges:
            return [self.growth_ridge] * len(stages)

        rows, per_unit = self._observations(task)
        fitted = [FittedEnsemble(stage.patterns, stage.weights, stage.complexity) for stage in stages]
        return estimated_ridges(fitted, rows, lambda ridge: self.task_penalty(task, ridge), per_unit, workers.each)

    def _observations(self, task: Task) -> tuple[Observations, float]:
        """Return the rows for the expected loss, and the weights for which a unit of complexity counts."""
        sample = task.sample
        per_unit = WEIGHTS_PER_UNIT_OF_LINES if self.linear_terms == ONLY else weights_per_unit(sample.X)
        return Observations(sample.y, sample.weight, task.loss, sample.offset, sample.frequency, sample.groups), per_unit

    def _grown(self, task: Task, workers: Workers, seed: Any, ridge: float | None = None) -> tuple[list[Stage], Record]:
        """Return the ensembles of the path and the record of the fit.

        Without a given ridge, rules are grown again where the estimate for the largest ensemble is far above that of growth.
        """
        limit = math.inf if self.max_seconds is None else float(self.max_seconds)
        record, selection = Record(stopwatch=task.stopwatch, max_seconds=limit), SELECTIONS[self.selection](self)
        sample, held_out = self.held_out(task, seed)
        problem = replace(self.problem(task, sample, held_out, ridge), workers=workers)
        growth, search = self._growing(problem, sample, selection, record)
        effort = 0 if search is None else self.effort
        progress = Progress(task, self.max_rules, effort, self.verbose)
        try:
            for stage in growth:
                progress.report_rule(stage.ensemble)
            if search is not None and ridge is None and self.estimates_ridges:
                estimate = self._ridges(selection.path(record), task, workers)[-1]
                if estimate >= GROWN_AGAIN:
                    if self.verbose:
                        task.report(f"rules are grown again, with the estimated ridge of {estimate:g}")
                    again = self._grown(task, workers, seed, estimate)
                    # A time limit may have left it shorter.
                    if len(again[1].grown) >= len(record.grown):
                        return again
                    record.stopped = again[1].stopped
            if search is not None and record.stopped is None:
                for number in range(1, effort + 1):
                    progress = Progress(task, self.max_rules, effort, self.verbose)
                    for done, steps in search.improve():
                        progress.report_improvement(number, done, steps)
            progress.report_rest()
        except KeyboardInterrupt:
            if not (self.keep_path and record.grown):
                raise
            record.stopped = INTERRUPTED
        return selection.path(record), record

    def _growing(
        self, problem: Problem, sample: Sample, selection: Selection, record: Record
    ) -> tuple[Iterator[Stage], CriterionSearch | None]:
        """Return the growth of rules and slopes, and the search that improves it, if any."""
        X, weight = sample.X, sample.weight
        if not isinstance(selection, InformationSelection):
            if self.linear_terms not in (False, AUTO):
                raise ValueError(
                    f'linear_terms={self.linear_terms!r} needs selection="information"; '
                    'with "auto", there are slopes where they can be learned.'
                )
            return boost(problem, self.learner(sample), selection, self.max_rules, record), None
        if self.linear_terms == ONLY:
            return LinearTerms(X, weight, selection).grow(first_stage(problem), self.max_rules, record), None
        is_refined, conditions = stage_class(problem.loss).is_refined, SoftConditions(Inputs(X, weight), weight)
        if is_refined:
            least = LEAST_REFITTED_BESIDE_SLOPES if self.linear_terms else LEAST_REFITTED
            most_refitted = min(max(least, len(weight) // ROWS_PER_REFIT), MOST_REFITTED)
            problem = replace(problem, smoothed_loss=SmoothedLoss(conditions, problem.size), most_refitted=most_refitted)
        learner = self.learner(sample)
        if self.linear_terms:
            lines = LinearTerms(X, weight, selection)
            lines.note(first_stage(problem), self.max_rules, record)
            learner = SlopeLearner(learner, lines)
        if not is_refined:
            return boost(problem, learner, selection, self.max_rules, record), None
        search = CriterionSearch(problem, learner, selection, Refiner(conditions, problem), self.max_rules, record)
        return search.grow(), search

    def reseeded(self, seed: int) -> Self:
        """Return the same method, silent, with one thread and another seed, for fits inside a fit."""
        return replace(self, random_state=seed, verbose=0, keep_path=False, n_jobs=1)

    @property
    def growth_ridge(self) -> float:
        """The ridge with which rules are grown."""
        if self.ridge != AUTO:
            return float(self.ridge)
        return PAPER_RIDGE if self.as_in_the_paper else GROWTH_RIDGE

    def task_penalty(self, task: Task, ridge: float | None = None) -> Any:
        """Return a ridge, by default that of growth, in units of the loss."""
        return self.penalty(task.loss, task.sample.y, task.sample.weight, task.class_weights, ridge)

    def notes(self, record: Record) -> Mapping[str, Any]:  # noqa: ARG002  # for subclasses
        """Return further fitted attributes once the loop has ended; none by default."""
        return {}
