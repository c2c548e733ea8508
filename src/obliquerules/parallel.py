"""Parallel calls that the status line counts."""

from __future__ import annotations

from typing import Any

import joblib

from obliquerules.status_line import status_line


class CountedCalls(joblib.Parallel):  # type: ignore[misc]  # joblib has no types
    """Parallel calls that count on the status line.

    Parameters
    ----------
    n_jobs : int or None
        As joblib understands it.
    what : str
        What the calls are, in the plural.
    n_calls : int
        Their number.
    shares : pair of float
        The shares of the work at their beginning and at their end.
    parts : bool
        Whether each call is a fit that tells the line, too.
    """

    def __init__(
        self, n_jobs: int | None, what: str, n_calls: int, shares: tuple[float, float] = (0.0, 1.0), *, parts: bool = False
    ) -> None:
        super().__init__(n_jobs=n_jobs)
        # In this thread: joblib counts in others.
        self.line = status_line()
        self.what, self.n_calls, self.shares, self.parts = what, n_calls, shares, parts

    def __call__(self, calls: Any) -> Any:
        """Return the results of delayed calls, in their order."""
        self._tell(0)
        return super().__call__(calls)

    def print_progress(self) -> None:
        """Count on the line; joblib calls this."""
        self._tell(self.n_completed_tasks)

    def _tell(self, done: int) -> None:
        text, (first, last) = f"{done}/{self.n_calls} {self.what}", self.shares
        size = (last - first) / self.n_calls
        if not self.parts:
            self.line.tell(text, first + size * done)
        elif done < self.n_calls:
            self.line.begin(text, first + size * done, first + size * (done + 1))
