"""The boosting loop, Algorithm 1 of the paper, a longer search by a criterion, and reports of their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import attrgetter

import numpy as np

from obliquerules.learning.boosting.class_stage import ClassStage
from obliquerules.learning.boosting.learner import Learner
from obliquerules.learning.boosting.refinement import Refiner
from obliquerules.learning.boosting.selection import InformationSelection, Record, Selection
from obliquerules.learning.boosting.stage import Problem, Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.learning.method import Task
from obliquerules.losses import Loss
from obliquerules.rules import Conjunction, Proposition, RuleEnsemble, Shortening, Slope, Test
from obliquerules.status_line import rough, status_line

# Maximum number of refinement steps after a rule is added.
STEPS = 8
# Every ensemble of the Pareto front up to this complexity is grown again.
LARGEST_GROWN_AGAIN = 13
# The complexities of ensembles that are simplified, the largest first.
SIZES = range(18, 2, -1)
# Of each size, the best is refined in at most this many steps, if it is within 1.2x of the best known loss.
STEPS_AFTER_SIMPLIFYING = 4
WITHIN = 1.2


def stage_class(loss: Loss) -> type[Stage]:
    """Return the stage of one score, or that of one for each class."""
    return ClassStage if loss.by_class else Stage


def first_stage(problem: Problem) -> Stage:
    """Return the stage without rules: the best constant, or one for each class."""
    return stage_class(problem.loss).constant(problem)


def boost(
    problem: Problem, learner: Learner, selection: Selection, max_rules: int, record: Record | None = None
) -> Iterator[Stage]:
    """Yield the ensemble with no rule, with one rule, and so on, each with all weights refitted.

    Ends early if no further rule can be found, or if time is up. The ensembles, and what learner and selection find, go into
    the record.
    """
    record = Record() if record is None else record
    next_rule = partial(best_rule, learner=learner, selection=selection, record=record)
    stage = first_stage(problem)
    yield record.note_grown(stage)
    for _ in range(max_rules):
        rule = next_rule(stage)
        if rule is None:
            return
        stage = selection.revise(stage.with_rule(rule), next_rule)
        yield record.note_grown(stage)


def best_rule(stage: Stage, learner: Learner, selection: Selection, record: Record) -> Candidate | None:
    """Return the best rule to add to an ensemble; None if there is none, or no time."""
    if record.is_out_of_time():
        return None
    record.best_quick_fit = None
    best = selection.best(learner.candidates(stage, selection, record))
    stage.clear_cache()
    return None if best is None else best.canonical(stage.problem.X)


@dataclass(frozen=True, eq=False)
class CriterionSearch:
    """Refines ensembles as they grow, then grows them again and simplifies them.

    Attributes
    ----------
    problem : Problem
    learner : Learner
    selection : InformationSelection
    refiner : Refiner
    max_rules : int
    record : Record
    """

    problem: Problem
    learner: Learner
    selection: InformationSelection
    refiner: Refiner
    max_rules: int
    record: Record

    def grow(self) -> Iterator[Stage]:
        """Yield the ensembles of no rule, one rule and so on, refined whenever one is added."""
        stage = first_stage(self.problem)
        yield self.record.note_grown(stage)
        for _ in range(self.max_rules):
            extended = self._with_next_rule(stage)
            if extended is None:
                return
            stage = self.record.note_grown(extended)
            yield stage

    def improve(self) -> Iterator[tuple[int, int]]:
        """Add a rule to small ensembles and the best of each number of rules, then simplify.

        Yields, after each step, the number of steps done and that of all.
        """
        front, largest = self.record.front, LARGEST_GROWN_AGAIN
        small = [one for one in front if one.complexity <= largest and len(one.conditions) < self.max_rules]
        steps: list[Callable[[], object]] = [
            *(partial(self._with_next_rule, stage) for stage in small),
            *(partial(self._extend_best, n_rules) for n_rules in range(1, self.max_rules)),
            *(partial(simplify, complexity, self.record, self.refiner) for complexity in SIZES),
        ]
        for done, step in enumerate(steps, start=1):
            step()
            yield done, len(steps)

    def _extend_best(self, n_rules: int) -> None:
        """Add a rule to the best known ensemble with this number of rules."""
        known = [stage for stage in self.record.front if len(stage.conditions) == n_rules]
        if known:
            self._with_next_rule(min(known, key=self.selection.criterion))

    def _with_next_rule(self, stage: Stage) -> Stage | None:
        """Return the ensemble with one more rule, refined if that lowers the criterion, if it is new."""
        if not self.record.is_new("extended", stage) or best_rule(stage, self.learner, self.selection, self.record) is None:
            return None
        assert self.record.best_quick_fit is not None
        extended = self.record.best_quick_fit[1]
        refined = self.refiner.refined(extended, STEPS)
        if refined is None:
            return extended
        return min(extended, self.record.note_fitted(refined), key=self.selection.criterion)


def simplify(complexity: int, record: Record, refiner: Refiner) -> None:
    """Simplify the ensemble of the Pareto front with this complexity, and record good results."""
    stage = next((one for one in record.front if one.complexity == complexity), None)
    if stage is None or not record.is_new("simplified", stage) or record.is_out_of_time():
        return
    best: dict[int, Stage] = {}
    for smaller in sorted(simplified(stage, refiner), key=attrgetter("selection_loss")):
        best.setdefault(smaller.complexity, smaller)
    within = []
    for size, one in best.items():
        least = min(known.selection_loss for known in record.front if known.complexity <= size)
        if one.selection_loss <= WITHIN * least:
            within.append(one)
    refined = stage.problem.workers.each(partial(refiner.refined, n_steps=STEPS_AFTER_SIMPLIFYING), within)
    for found in (*within, *refined):
        if found is not None:
            record.note_fitted(found)


def simplified(stage: Stage, refiner: Refiner) -> list[Stage]:
    """Return the ensembles with one rule, one condition or one variable less."""

    def smaller(way: tuple[int, Conjunction | None]) -> Stage | None:
        index, shorter = way
        if shorter is None:
            return stage.without(index).scored()
        one = Candidate.of(shorter, stage.problem.X)
        if one.covers.all() or not one.covers.any():
            return None
        return stage.of_terms((*stage.terms[:index], one, *stage.terms[index + 1 :]), stage.weights).scored()

    ways: list[tuple[int, Conjunction | None]] = []
    for index, condition in enumerate(stage.conditions):
        if len(stage.conditions) > 1:
            ways.append((index, None))
        if not isinstance(condition, Slope):
            ways += [(index, shorter) for shorter in shorter_conditions(condition, refiner)]
    return [one for one in stage.problem.workers.each(smaller, ways) if one is not None]


def shorter_conditions(condition: Conjunction, refiner: Refiner) -> Iterator[Conjunction]:
    """Yield the conjunctions with one condition or one variable less."""
    tests = condition.propositions
    for index, test in enumerate(tests):
        before, after = tests[:index], tests[index + 1 :]
        if len(tests) > 1:
            yield Conjunction([*before, *after])
        narrower = without_weakest(test, refiner)
        if narrower is not None:
            yield Conjunction([*before, narrower, *after])


def without_weakest(test: Test, refiner: Refiner) -> Test | None:
    """Return a condition on as many rows without its least influential variable, if it has several."""
    if not isinstance(test, Proposition) or len(test.columns) == 1 or not refiner.conditions.is_movable(test):
        return None
    influence = [
        abs(weight) * refiner.conditions.term(term).scale for weight, term in zip(test.weights, test.columns, strict=True)
    ]
    kept = [index for index in range(len(influence)) if index != int(np.argmin(influence))]
    weights = [test.weights[index] / abs(test.weights[kept[0]]) for index in kept]
    shorter = Proposition([test.columns[index] for index in kept], weights, 0.0, test.missing)
    values, holds = shorter.project(refiner.problem.X), test.project(refiner.problem.X) >= test.threshold
    ordered, wanted = np.sort(values[~np.isnan(values)]), int(np.count_nonzero(holds))
    if not 0 < wanted < len(ordered):
        return None
    # As many values reach this threshold as there are rows on which the condition held.
    placed = refiner.placed(shorter.with_numbers(shorter.weights, float(ordered[len(ordered) - wanted])))
    return None if placed is None else placed[0]


# The number of reports of one improvement.
REPORTS = 5
# Rough durations: each improvement relative to the previous one, and the final steps relative to growth.
IMPROVEMENT, REST = 0.5, 1.0


class Progress:
    """Reports growth, or one improvement, on the status line and, if verbose, on standard error.

    The time left is that of steps as long, on average, as those so far. Later rules take longer, and an improvement may follow:
    for rules, it is the least to expect.

    Parameters
    ----------
    task : Task
    max_rules : int
        The largest number of rules.
    effort : int
        The number of improvements.
    verbose : int
    """

    def __init__(self, task: Task, max_rules: int, effort: int, verbose: int) -> None:
        self.task = task
        self.max_rules = max_rules
        self.effort = effort
        self.verbose = verbose
        self.stopwatch = task.stopwatch.restarted()
        # The end of growth, which takes 1, and of each improvement.
        durations = (IMPROVEMENT**number for number in range(effort))
        self.ends = list(accumulate(durations, initial=1.0))
        self.duration = self.ends[-1] + REST

    def report_rule(self, grown: RuleEnsemble) -> None:
        """Report an ensemble that was grown by its newest rule."""
        n_rules = len(grown)
        status_line().tell(f"{n_rules}/{self.max_rules} rules", n_rules / self.max_rules / self.duration)
        if self.verbose:
            ensemble = Shortening(self.task.sample.X).ensemble(grown)
            newest = ensemble[-1].describe(ensemble.columns) if n_rules else "the best constant"
            share = f" ({self._share(n_rules, self.max_rules, '{} or more')})" if n_rules else ""
            self.task.report(f"rule {n_rules}/{self.max_rules}{share}, complexity {ensemble.complexity}: {newest}")

    def report_improvement(self, number: int, done: int, steps: int) -> None:
        """Report a step of an improvement, a few times on standard error."""
        share = self.ends[number - 1] + IMPROVEMENT ** (number - 1) * done / steps
        status_line().tell(f"improving {number}/{self.effort}", share / self.duration)
        if self.verbose and REPORTS * done // steps > REPORTS * (done - 1) // steps:
            self.task.report(f"improvement {number}/{self.effort}: {self._share(done, steps, 'about {}')}")

    def report_rest(self) -> None:
        """Tell the status line that rules are found."""
        status_line().tell("weights", 1.0 - REST / self.duration)

    def _share(self, done: int, steps: int, estimate: str) -> str:
        """Return the share done and, if it is a second or more, the estimate of the time left."""
        left = self.stopwatch.seconds * (steps - done) / done
        return f"{100 * done / steps:.0f} %" + (f", {estimate.format(rough(left))} left" if left >= 1.0 else "")
