"""Blocks of rows, in memory or stored: fits are sums over blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from obliquerules.arrays import Vector
from obliquerules.rules.columns import Block, Columns

# Rows per block: few enough for a cache, enough to outweigh the overhead of a block.
BLOCK_ROWS = 1 << 15


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of a block with what is known of them.

    Attributes
    ----------
    X : Block
    y, weight : array of shape (n_rows,)
        Targets, as the numbers that a loss takes, and row weights.
    offset : array of shape (n_rows,) or (n_rows, n_classes), or None
    frequency : array of shape (n_rows,) or None
        How many observations each row stands for; None for the weights.
    """

    X: Block
    y: Vector
    weight: Vector
    offset: NDArray[np.float64] | None = None
    frequency: Vector | None = None


class Statistic(Protocol):
    """A statistic of rows, which adds up over blocks."""

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Statistic)


class RowBlocks(ABC):
    """Rows in blocks, whose statistics are summed in block order."""

    @property
    @abstractmethod
    def columns(self) -> Columns | None:
        """The columns of the rows."""

    @property
    @abstractmethod
    def n_offsets(self) -> int:
        """The number of offsets of each row: none or one per score."""

    @abstractmethod
    def fold(self, statistic: Callable[[RowBlock], S]) -> S:
        """Return the sum of a statistic over all blocks, in order."""


@dataclass(frozen=True, eq=False)
class RowsInMemory(RowBlocks):
    """Rows in memory, of which threads look at several blocks at a time.

    Attributes
    ----------
    X : Block
        Its matrix may hold numbers of any type, or be sparse: a block of rows is converted when it is looked at.
    y, weight : array of shape (n_rows,)
    offset, frequency : array or None
    n_jobs : int or None
        The number of threads, as joblib understands it.
    """

    X: Block
    y: Vector
    weight: Vector
    offset: NDArray[np.float64] | None = None
    frequency: Vector | None = None
    n_jobs: int | None = None

    @property
    def columns(self) -> Columns | None:
        """The columns of the rows."""
        return self.X.columns

    @property
    def n_offsets(self) -> int:
        """How many numbers the offset of a row is."""
        return 0 if self.offset is None else self.offset.size // len(self.offset)

    def fold(self, statistic: Callable[[RowBlock], S]) -> S:
        """Return the sum of a statistic over all blocks."""
        starts = range(0, len(self.y), BLOCK_ROWS)
        return summed(in_order(lambda start: statistic(self._part(start)), starts, effective_n_jobs(self.n_jobs)))

    def _part(self, start: int) -> RowBlock:
        rows = slice(start, start + BLOCK_ROWS)
        matrix = np.asarray(self.X.rows(rows).matrix, dtype=np.float64, order="F")
        offset = None if self.offset is None else self.offset[rows]
        frequency = None if self.frequency is None else self.frequency[rows]
        return RowBlock(Block(self.X.columns, matrix), self.y[rows], self.weight[rows], offset, frequency)


class OneProcessor:
    """Linear algebra on one processor, so that sums are reproducible.

    Threads enter and leave independently of each other, and only the last one may lift the limit.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limits: threadpool_limits | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._inside += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limits is not None:
                self._limits.restore_original_limits()


ON_ONE_PROCESSOR = OneProcessor()


def in_order(work: Callable[[Any], S], items: Any, n_threads: int) -> Iterator[S]:
    """Yield results in the order of items, computed by threads."""
    with ON_ONE_PROCESSOR:
        if n_threads == 1:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: deque[Future[S]] = deque()
            for item in items:
                waiting.append(pool.submit(work, item))
                # No more results than threads wait to be added.
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


def summed(statistics: Iterator[S], first: S | None = None) -> S:
    """Return the sum of statistics in order, after ``first``."""
    total = next(statistics) if first is None else first
    for one in statistics:
        total = total + one
    return total


class StoredTable(ABC):
    """A table with named columns, whose blocks of rows are data frames."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def fold(self, statistic: Callable[[Any], S], columns: tuple[str, ...]) -> S:
        """Return the sum of a statistic over blocks, data frames of some columns."""
