"""Information: the selection by a criterion that charges for the complexity of the whole model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from obliquerules.learning.boosting.problem import Candidate, Stage
from obliquerules.learning.boosting.record import Record

# The numbers of rules at which an ensemble is revised: in small ensembles a better rule is worth most and costs least.
REVISED = frozenset((2, 3, 4, 7, 10, 15, 22, 33, 50))


@dataclass(frozen=True)
class InformationSelection:
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

    def criterion(self, stage: Stage) -> float:
        """Return the criterion of an ensemble; lower is better."""
        return self._criterion(stage, stage.judged_loss, stage.complexity)

    def criterion_of_training(self, stage: Stage) -> float:
        """Return the criterion of an ensemble by its training loss alone, as the expected one is."""
        return self._criterion(stage, stage.training_loss, stage.complexity)

    def _criterion(self, stage: Stage, loss: float, complexity: float) -> float:
        """Return the criterion of an ensemble with this loss and complexity, at the prices of a stage."""
        return stage.problem.loss.profile_deviance(loss, stage.problem.size) + self.price(stage, complexity)

    def price(self, stage: Stage, complexity: float) -> float:
        """Return what a criterion charges for complexity, at the prices of a stage."""
        return self.complexity_penalty * math.log(stage.problem.size) * stage.discount * complexity

    def expected(self, stage: Stage, candidates: Sequence[Candidate]) -> list[float]:
        """Return the criterion to expect once each of some candidates is added, to second order."""
        sizes = (stage.complexity + candidate.condition.complexity for candidate in candidates)
        outlooks = zip(stage.outlooks(candidates), sizes, strict=True)
        return [self._criterion(stage, loss, size + n_weights) for (loss, n_weights), size in outlooks]

    def choose(self, stage: Stage, candidates: Iterable[Candidate], record: Record) -> Candidate | None:
        """Rank the candidates by their expected criterion, refit the most promising, and return the best of those."""
        # Candidates with exactly the same expected criterion cover the same rows: the first of them is enough.
        promising: dict[float, Candidate] = {}
        offered = list(candidates)
        for value, candidate in zip(self.expected(stage, offered), offered, strict=True):
            promising.setdefault(value, candidate)
        tried = [promising[value] for value in sorted(promising)[: stage.most_tried]]
        fitted = stage.tried([candidate.upright(stage.problem) for candidate in tried])
        judged = [self._judged(stage, *one, record) for one in zip(tried, fitted, strict=True)]
        return min(judged, key=lambda candidate: candidate.score, default=None)

    def _judged(self, stage: Stage, candidate: Candidate, extended: Stage, record: Record) -> Candidate:
        record.note_fitted(extended)
        score = self._criterion(stage, extended.judged_loss, extended.complexity)
        record.note_tried(extended, score)
        return replace(candidate, score=score)

    def accepts(self, shorter: Candidate, longer: Candidate) -> bool:
        """Accept what lowers the criterion, and always the first proposition, so that the path continues."""
        return longer.score < shorter.score

    def revise(self, stage: Stage, relearn: Callable[[Stage], Candidate | None]) -> Stage:
        """Relearn each earlier rule, given all the others, and keep what lowers the criterion; at some sizes only."""
        if len(stage.conditions) not in REVISED:
            return stage
        for index in range(len(stage.conditions) - 1):
            others = stage.without(index)
            rule = relearn(others)
            changed = stage if rule is None else others.with_rule(rule)
            if self._criterion(stage, changed.judged_loss, changed.complexity) < self.criterion(stage):
                stage = changed
        return stage

    def path(self, record: Record) -> list[Stage]:
        """Return the Pareto front of all ensembles fitted on the way."""
        return [stage.settled() for stage in record.front]

    def best(self, grown: Iterable[Candidate]) -> Candidate | None:
        """Return the candidate with the least criterion."""
        return min(grown, key=lambda candidate: candidate.score, default=None)
