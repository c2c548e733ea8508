"""Progress: the share of a fit that is done, and an estimate of the time left."""

from __future__ import annotations

from obliquerules.learning.method import Task
from obliquerules.rules import RuleEnsemble, Shortening
from obliquerules.status_line import rough, status_line

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
        # In units of growth, which takes 1.
        self.duration = self._after(effort) + REST

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
        share = self._after(number - 1) + IMPROVEMENT ** (number - 1) * done / steps
        status_line().tell(f"improving {number}/{self.effort}", share / self.duration)
        if self.verbose and REPORTS * done // steps > REPORTS * (done - 1) // steps:
            self.task.report(f"improvement {number}/{self.effort}: {self._share(done, steps, 'about {}')}")

    def report_rest(self) -> None:
        """Tell the status line that rules are found."""
        status_line().tell("weights", 1.0 - REST / self.duration)

    def _after(self, n_improvements: int) -> float:
        """Return how long growth and some improvements take."""
        return 1.0 + sum(IMPROVEMENT**number for number in range(n_improvements))

    def _share(self, done: int, steps: int, estimate: str) -> str:
        """Return the share done and, if it is a second or more, the estimate of the time left."""
        left = self.stopwatch.seconds * (steps - done) / done
        return f"{100 * done / steps:.0f} %" + (f", {estimate.format(rough(left))} left" if left >= 1.0 else "")
