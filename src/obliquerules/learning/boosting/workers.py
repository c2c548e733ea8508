"""Workers: the threads of a fit; their number changes no bit of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from itertools import pairwise
from typing import Any, TypeVar

from joblib import effective_n_jobs

from obliquerules.data.blocks import ON_ONE_PROCESSOR

Item = TypeVar("Item")
Result = TypeVar("Result")

# With fewer rows, a piece of work takes no longer than to hand it over.
FEWEST_ROWS = 4096


class Workers:
    """The thread that asks for work, and others that help it.

    The one that asks takes its share: so work may consist of further work, and is done even if all others are busy.

    Parameters
    ----------
    pool : ThreadPoolExecutor, optional
        The threads that help.
    n_helpers : int
        Their number.
    """

    def __init__(self, pool: ThreadPoolExecutor | None = None, n_helpers: int = 0) -> None:
        self.pool = pool
        self.n_helpers = n_helpers

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the results of work on independent items, in their order."""
        left = list(items)
        if self.pool is None or len(left) < 2:
            return [work(item) for item in left]
        share = _Share(work, left)
        # Threads inherit settings of the caller, such as those for floating-point errors.
        asked = range(min(self.n_helpers, len(left) - 1))
        helpers = [self.pool.submit(copy_context().run, share.take) for _ in asked]
        try:
            share.take()
        finally:
            share.is_over = True
            raised = _ended(helpers)
        for error in raised:
            raise error
        return share.results

    def both(self, first: Callable[[], Item], second: Callable[[], Result]) -> tuple[Item, Result]:
        """Return the results of two pieces of work, the first done by another thread if one is free.

        Unlike with `each`, the thread that asks is the one that does the second, which may consist of further work for others.
        """
        if self.pool is None:
            return first(), second()
        helper = self.pool.submit(copy_context().run, first)
        try:
            done = second()
        except BaseException:
            _ended([helper])
            raise
        return first() if helper.cancel() else helper.result(), done

    def shares(self, n: int) -> list[slice]:
        """Return a share of n things for each thread."""
        ends = [n * place // (self.n_helpers + 1) for place in range(self.n_helpers + 2)]
        return [slice(*pair) for pair in pairwise(ends)]


class _Share:
    """Items for threads: a free thread takes the next one."""

    def __init__(self, work: Callable[[Any], Any], items: list[Any]) -> None:
        self.work = work
        self.results: list[Any] = [None] * len(items)
        self.left = iter(enumerate(items))
        self.is_over = False

    def take(self) -> None:
        for place, item in self.left:
            if self.is_over:
                return
            self.results[place] = self.work(item)


def _ended(helpers: Sequence[Future[Any]]) -> list[BaseException]:
    """Cancel or await all helpers, and return the errors raised."""
    raised = (helper.exception() for helper in helpers if not helper.cancel())
    return [error for error in raised if error is not None]


ALONE = Workers()


@contextmanager
def workers_for(n_rows: int, n_jobs: int | None) -> Iterator[Workers]:
    """Provide the workers of a fit, at most ``n_jobs`` as joblib understands it."""
    if n_rows < FEWEST_ROWS:
        yield ALONE
        return
    n_helpers = effective_n_jobs(n_jobs) - 1
    with ON_ONE_PROCESSOR:
        if n_helpers == 0:
            yield ALONE
            return
        with ThreadPoolExecutor(n_helpers) as pool:
            yield Workers(pool, n_helpers)
