"""Progress: what a fit reports of each rule and of the improvement, with the share done and an estimate of the time left."""

from __future__ import annotations

from dataclasses import dataclass

from obliquerules.learning.method import Task
from obliquerules.rules import RuleEnsemble, Shortening
from obliquerules.status_line import Stopwatch, rough, status_line

# The number of reports of one improvement.
REPORTS = 5
# Rough durations: each improvement relative to the previous one, and the final steps relative to growth.
IMPROVEMENT, REST = 0.5, 1.0


@dataclass(frozen=True, eq=False)
class Progress:
    """Reports how far growth has come, and how long the rest takes if its steps are as long, on average, as those so far.

    Later rules take longer, and an improvement may follow, so that for them this is the least that is to be expected.

    Attributes
    ----------
    task : Task
    shortening : Shortening
        Makes rules readable.
    stopwatch : Stopwatch
        Started when the growth, or the improvement, began.
    """

    task: Task
    shortening: Shortening
    stopwatch: Stopwatch

    @classmethod
    def of(cls, task: Task) -> Progress:
        """Return the progress of what begins now."""
        return cls(task, Shortening(task.sample.X), task.stopwatch.restarted())

    def report_rule(self, grown: RuleEnsemble, max_rules: int) -> None:
        """Report an ensemble that was grown by its newest rule."""
        ensemble, n_rules = self.shortening.ensemble(grown), len(grown)
        newest = ensemble[-1].describe(ensemble.columns) if n_rules else "the best constant"
        share = f" ({self._share(n_rules, max_rules, '{} or more')})" if n_rules else ""
        self.task.report(f"rule {n_rules}/{max_rules}{share}, complexity {ensemble.complexity}: {newest}")

    def report_improvement(self, which: str, done: int, steps: int) -> None:
        """Report how much of an improvement is done, a few times in all."""
        if REPORTS * done // steps > REPORTS * (done - 1) // steps:
            self.task.report(f"improvement {which}: {self._share(done, steps, 'about {}')}")

    def _share(self, done: int, steps: int, estimate: str) -> str:
        """Return the share done and, if it is a second or more, the estimate of the time left."""
        left = self.stopwatch.seconds * (steps - done) / done
        return f"{100 * done / steps:.0f} %" + (f", {estimate.format(rough(left))} left" if left >= 1.0 else "")


def tell_rule(n_rules: int, max_rules: int, effort: int) -> None:
    """Tell the status line how far growth has come."""
    status_line().tell(f"{n_rules}/{max_rules} rules", n_rules / max_rules / _whole(effort))


def tell_improvement(number: int, effort: int, done: int, steps: int) -> None:
    """Tell the status line how far an improvement has come."""
    before = _whole(number - 1) - REST
    share = (before + IMPROVEMENT ** (number - 1) * done / steps) / _whole(effort)
    status_line().tell(f"improving {number}/{effort}", share)


def tell_rest(effort: int) -> None:
    """Tell the status line that rules are found."""
    status_line().tell("weights", 1.0 - REST / _whole(effort))


def _whole(effort: int) -> float:
    """Return how long a fit takes, in units of its growth."""
    return 1.0 + sum(IMPROVEMENT**number for number in range(effort)) + REST
