"""Progress: what a fit reports of each rule and of the improvement, with the share done and an estimate of the time left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from obliquerules.method import Task
from obliquerules.rules import RuleEnsemble, Shortening
from obliquerules.stopwatch import Stopwatch

# The number of reports of one improvement.
REPORTS = 5


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

    def restarted(self) -> Progress:
        """Return the progress of what begins now in the same fit."""
        return replace(self, stopwatch=self.stopwatch.restarted())

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


def rough(seconds: float) -> str:
    """Return a time as a whole number of seconds, minutes or hours.

    >>> rough(7.4), rough(200.0), rough(20000.0)
    ('7 s', '3 min', '6 h')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
