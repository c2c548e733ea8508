"""Selection: which condition is taken, when a rule is complete, and the record of all that was found."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import ClassVar

from obliquerules.learning.boosting.stage import Stage
from obliquerules.learning.boosting.terms import Candidate
from obliquerules.rules import Term
from obliquerules.rules.path_table import pareto
from obliquerules.status_line import Stopwatch

# Why growth may have ended before its end.
MAX_SECONDS, INTERRUPTED = "max_seconds", "interrupted"


@dataclass
class Record:
    """The record of one fit, which creates it and reads it at the end.

    Attributes
    ----------
    grown : list of Stage
        The ensembles that the loop has grown, one for each number of rules.
    front : list of Stage
        The Pareto front, in complexity and selection loss, of these and of all quick fits.
    best_quick_fit : (float, Stage) or None
        The best score of a quick fit for the next rule, with its ensemble.
    explored : set of (str, tuple of Term)
        What was done to ensembles of which conditions: the same again would find the same.
    complete : bool
        Whether every search was completed.
    stopwatch : Stopwatch
        Started when the fit began.
    max_seconds : float
        The time limit of the fit.
    stopped : str or None
        Why growth ended before its end, if it did.
    """

    grown: list[Stage] = field(default_factory=list)
    front: list[Stage] = field(default_factory=list)
    best_quick_fit: tuple[float, Stage] | None = None
    explored: set[tuple[str, tuple[Term, ...]]] = field(default_factory=set)
    complete: bool = True
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    max_seconds: float = math.inf
    stopped: str | None = None

    def note_grown(self, stage: Stage) -> Stage:
        """Record and return an ensemble that the loop has grown."""
        # In this order, so that nothing is grown that the front does not know, whenever an interrupt comes.
        self.grown.append(self.note_fitted(stage))
        return stage

    def note_fitted(self, stage: Stage) -> Stage:
        """Record and return an ensemble whose weights have been fitted."""
        complexity, loss = stage.scored().complexity, stage.selection_loss
        # Losses fall along the front, so only its last member of at most this complexity can dominate.
        place = bisect_right(self.front, complexity, key=attrgetter("complexity"))
        if place == 0 or self.front[place - 1].selection_loss > loss:
            self.front = pareto([*self.front, stage], lambda one: (one.complexity, one.selection_loss))
        return stage

    def note_quick_fit(self, stage: Stage, score: float) -> None:
        """Record a quick fit for the next rule; a lower score is better."""
        if self.best_quick_fit is None or score < self.best_quick_fit[0]:
            self.best_quick_fit = score, stage

    def is_new(self, what: str, stage: Stage) -> bool:
        """Record a step on an ensemble, and say whether it is the first of its kind."""
        known = (what, stage.conditions) in self.explored
        self.explored.add((what, stage.conditions))
        return not known

    def note_search(self, *, to_the_end: bool) -> None:
        """Record whether a search was completed or stopped at a limit."""
        self.complete &= to_the_end
        if not to_the_end and self.seconds_left <= 0.0:
            self.stopped = MAX_SECONDS

    @property
    def seconds_left(self) -> float:
        """The time until the limit; not positive once it has passed."""
        return self.max_seconds - self.stopwatch.seconds

    def is_out_of_time(self) -> bool:
        """Say whether time is up, and record it as the end of growth."""
        if self.seconds_left <= 0.0:
            self.stopped = MAX_SECONDS
        return self.stopped is not None


# Objectives whose relative difference is smaller are equal up to rounding.
SAME_OBJECTIVE = 1e-9
# The numbers of rules at which an ensemble is revised: in small ensembles a better rule is worth most and costs least.
REVISED = frozenset((2, 3, 4, 7, 10, 15, 22, 33, 50))


class Selection(ABC):
    """Chooses among candidates, however they were found; keeps nothing from one choice to the next.

    By default, rules are ranked by their objective and never revised.
    """

    # Whether candidates are chosen by their objective.
    uses_objective: ClassVar[bool] = True

    @property
    def complexity_price(self) -> float:
        """The price of one unit of complexity, in units of log(n) on the scale of -2 log likelihood.

        By default that of the Bayesian information criterion. It decides for how many classes a rule has a weight.
        """
        return 1.0

    @abstractmethod
    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:
        """Return one of the candidates, which come in order of complexity, or None.

        Ensembles fitted with them may be recorded for `path`.
        """

    @abstractmethod
    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether a condition is worth its last proposition."""

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate that becomes a rule: the simplest with the largest objective."""
        candidates = list(grown)
        least = max((candidate.objective for candidate in candidates), default=0.0) * (1.0 - SAME_OBJECTIVE)
        largest = (candidate for candidate in candidates if candidate.objective >= least)
        return min(largest, key=lambda candidate: candidate.condition.complexity, default=None)

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:  # noqa: ARG002
        """Return the ensemble or a better one of as many rules; ``relearn`` finds a rule to add."""
        return stage

    def path(self, record: Record) -> list[Stage]:
        """Return the path: by default one ensemble for each number of rules."""
        return record.grown


class GrowingSelection(Selection):
    """Grows conditions while the objective rises by more than a tolerance."""

    objective_tolerance: float

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept a rise, and always the first proposition, since the empty condition has objective zero."""
        return len(longer.tests) == 1 or self.rises(shorter, longer)

    def rises(self, shorter: Candidate, longer: Candidate) -> bool:
        """Say whether the objective rises by more than rounding and, with more propositions, by more than the tolerance."""
        asked = self.objective_tolerance if len(longer.tests) > len(shorter.tests) else 0.0
        return longer.objective - shorter.objective > max(asked, SAME_OBJECTIVE) * shorter.objective


@dataclass(frozen=True)
class ObjectiveSelection(GrowingSelection):
    """Take the largest objective, proposition by proposition, as long as it rises; no rows are held out.

    Parameters
    ----------
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept.
    """

    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Return the candidate with the largest objective; additional propositions must raise it by the tolerance."""
        chosen = None
        for candidate in candidates:
            if chosen is None or self.rises(chosen, candidate):
                chosen = candidate
        return chosen


@dataclass(frozen=True)
class ValidationSelection(GrowingSelection):
    """The paper's selection: variables by risk on held-out rows, propositions by the boosting objective.

    Parameters
    ----------
    validation_tolerance : float
        Relative change of the held-out risk that an additional variable must reach, eps_s in the paper: -0.01 requires a fall
        by one per cent.
    objective_tolerance : float
        Relative rise of the objective above which an additional proposition is kept, eps_p in the paper.
    """

    validation_tolerance: float
    objective_tolerance: float

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:  # noqa: ARG002
        """Return the last sparsity level that lowers the risk by the tolerance."""
        chosen, least = None, math.inf
        for candidate in candidates:
            risk = stage.held_out_risk(candidate)
            if chosen is None or (least > 0.0 and (risk - least) / least <= self.validation_tolerance):
                chosen, least = candidate, risk
        return chosen


@dataclass(frozen=True)
class InformationSelection(Selection):
    """Take what lowers -2 log likelihood + complexity_penalty * log(n) * C(f), after refitting all weights.

    With complexity_penalty = 1 and C the number of parameters this would be the Bayesian information criterion. For the
    squared loss the likelihood is that of a normal distribution whose variance is fitted too, n log(mean squared error). For
    counts whose deviance D exceeds n it is the extended quasi-likelihood with its dispersion fitted too, n + n log(D / n); n is
    the sum of the row weights. No rows are held out.

    Parameters
    ----------
    complexity_penalty : float
        kappa; larger means smaller models.
    """

    complexity_penalty: float
    uses_objective: ClassVar[bool] = False

    @property
    def complexity_price(self) -> float:
        """The price of one unit of complexity."""
        return self.complexity_penalty

    def criterion(self, stage: Stage, loss: float | None = None, complexity: float | None = None) -> float:
        """Return the criterion of an ensemble, or of another loss and complexity at its prices."""
        loss = stage.selection_loss if loss is None else loss
        charged = self.price(stage, stage.complexity if complexity is None else complexity)
        return stage.problem.loss.profile_deviance(loss, stage.problem.size) + charged

    def price(self, stage: Stage, complexity: float) -> float:
        """Return what a criterion charges for complexity, at the prices of a stage."""
        return self.complexity_penalty * math.log(stage.problem.size) * stage.discount * complexity

    def expected(self, stage: Stage, candidates: Sequence[Candidate]) -> list[float]:
        """Return the criterion to expect once each of some candidates is added, to second order."""
        sizes = (stage.complexity + candidate.condition.complexity for candidate in candidates)
        expected_losses = zip(stage.expected_losses(candidates), sizes, strict=True)
        return [self.criterion(stage, loss, size + n_weights) for (loss, n_weights), size in expected_losses]

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:
        """Return the best candidate, of those most promising by their expected criterion."""
        # Candidates with exactly the same expected criterion cover the same rows: the first of them is enough.
        promising: dict[float, Candidate] = {}
        offered = list(candidates)
        for value, candidate in zip(self.expected(stage, offered), offered, strict=True):
            promising.setdefault(value, candidate)
        refitted = [promising[value] for value in sorted(promising)[: stage.problem.most_refitted]]
        scored = []
        for candidate, extended in zip(
            refitted, stage.quick_fits([one.canonical(stage.problem.X) for one in refitted]), strict=True
        ):
            score = self.criterion(stage, record.note_fitted(extended).selection_loss, extended.complexity)
            record.note_quick_fit(extended, score)
            scored.append(replace(candidate, score=score))
        return self.best(scored)

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept what lowers the criterion, and always the first proposition, so that the path continues."""
        return longer.score < shorter.score

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:
        """Relearn each earlier rule at some sizes, and keep what lowers the criterion."""
        if len(stage.conditions) not in REVISED:
            return stage
        for index in range(len(stage.conditions) - 1):
            others = stage.without(index)
            rule = relearn(others)
            changed = stage if rule is None else others.with_rule(rule)
            if self.criterion(stage, changed.selection_loss, changed.complexity) < self.criterion(stage):
                stage = changed
        return stage

    def path(self, record: Record) -> list[Stage]:
        """Return the Pareto front of all ensembles fitted on the way."""
        return [stage.with_exact_weights() for stage in record.front]

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate with the least criterion."""
        return min(grown, key=lambda candidate: candidate.score, default=None)
