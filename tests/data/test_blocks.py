"""Blocks of rows: folded in fixed order, by any number of threads, from numbers of any type."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from obliquerules.data import blocks
from obliquerules.data.blocks import ON_ONE_PROCESSOR, RowsInMemory, in_order
from obliquerules.rules import Block, Column


@dataclass(frozen=True)
class Seen:
    """What a fold has seen: the rows in their order, and a sum whose last bits depend on the order."""

    rows: tuple[float, ...]
    total: float

    def __add__(self, other):
        return Seen(self.rows + other.rows, self.total + other.total)


def seen(part):
    assert part.X.matrix.dtype == np.float64
    return Seen(tuple(part.X.matrix[:, 0].tolist()), float((part.weight * part.y).sum()))


def rows_in_memory(n=1000, dtype=np.float64, n_jobs=None, **given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)).astype(dtype)
    return RowsInMemory(
        Block.of_matrix(X, [Column("a"), Column("b")]), rng.normal(size=n), rng.random(n), n_jobs=n_jobs, **given
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_blocks_are_added_in_their_order_whatever_the_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)
    found = rows_in_memory(n_jobs=n_jobs).fold(seen)
    assert found.rows == tuple(rows_in_memory().X.matrix[:, 0].tolist())
    assert found.total == rows_in_memory().fold(seen).total


def test_single_precision_is_converted_block_by_block(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)
    rows = rows_in_memory(dtype=np.float32)
    assert rows.fold(seen).rows == tuple(rows.X.matrix[:, 0].astype(np.float64).tolist())


def test_offsets_come_with_their_rows(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)
    offset = np.arange(2000.0).reshape(1000, 2)
    rows = rows_in_memory(offset=offset)
    assert (rows.n_offsets, rows_in_memory().n_offsets, rows_in_memory(offset=offset[:, 0]).n_offsets) == (2, 0, 1)
    assert rows.fold(lambda part: Seen(tuple(part.offset[:, 1].tolist()), 0.0)).rows == tuple(offset[:, 1].tolist())


def test_few_results_wait_at_a_time_and_errors_come_through():
    at_once, most, lock = 0, 0, threading.Lock()

    def work(item):
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        if item == 7:
            raise ValueError("seven")
        return Seen((float(item),), 0.0)

    done = []

    def take_all():
        nonlocal at_once
        for result in in_order(work, range(100), 2):
            done.append(result)
            with lock:
                at_once -= 1

    with pytest.raises(ValueError, match="seven"):
        take_all()
    assert [one.rows[0] for one in done] == list(range(7))
    assert most <= 5


def test_linear_algebra_has_one_processor_until_the_last_thread_leaves():
    def n_processors():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = n_processors()
        with ON_ONE_PROCESSOR:
            other = threading.Thread(target=ON_ONE_PROCESSOR.__enter__)
            other.start()
            other.join()
        assert n_processors() == {1}
        ON_ONE_PROCESSOR.__exit__()
        assert n_processors() == before
