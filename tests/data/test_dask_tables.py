"""Dask tables: statistics are added in the order of partitions, large ones in slices, and rows stay where they are."""

from dataclasses import dataclass

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback

from obliquerules.data import blocks
from obliquerules.data.dask_tables import ADDED_AT_A_TIME, DaskTable, dask_table
from obliquerules.data.stored_tables import ColumnRoles, StoredRows, TableReader
from obliquerules.losses import LOSSES
from obliquerules.rules.columns import Columns


@dataclass(frozen=True)
class Met:
    """The first value of each block, in the order in which blocks are added."""

    firsts: tuple[int, ...]
    sizes: tuple[int, ...]

    def __add__(self, other):
        return Met(self.firsts + other.firsts, self.sizes + other.sizes)


def met(frame):
    return Met((int(frame["a"].iloc[0]),), (len(frame),))


def frame_of(sizes):
    """Return a Dask DataFrame with partitions of given sizes, whose column 'a' counts rows."""
    ends = np.cumsum(sizes)
    parts = [pd.DataFrame({"a": np.arange(end - size, end), "b": 1.5}) for size, end in zip(sizes, ends, strict=True)]
    return dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_blocks_are_added_in_order_and_large_partitions_are_sliced(monkeypatch, scheduler):
    import dask

    monkeypatch.setattr(blocks, "BLOCK_ROWS", 10)
    with dask.config.set(scheduler=scheduler):
        found = DaskTable(frame_of([4, 25, 0, 10])).fold(met, ("a",))
    assert found == Met((0, 4, 14, 24, 29), (4, 10, 10, 5, 10))


def test_many_partitions_are_added_in_order():
    n = ADDED_AT_A_TIME**2 + 5
    found = DaskTable(frame_of([2] * n)).fold(met, ("a",))
    assert found.firsts == tuple(range(0, 2 * n, 2))


def test_a_block_has_only_the_columns_that_are_asked_for():
    def names(frame):
        return tuple(frame.columns)

    assert DaskTable(frame_of([3])).fold(names, ("b",)) == ("b",)


def test_no_rows_at_all_are_refused():
    with pytest.raises(ValueError, match="X has no rows"):
        DaskTable(frame_of([0, 0])).fold(met, ("a",))


def test_the_rows_of_a_table_are_not_sent_with_a_statistic():
    """What is sent to a worker is the statistic and how to read rows, not the frame."""
    sent = []

    class Keep(DaskTable):
        def fold(self, statistic, columns):
            sent.append(len(cloudpickle.dumps(statistic)))
            return super().fold(statistic, columns)

    frame = dd.from_pandas(pd.DataFrame({"a": np.arange(1e5), "b": np.arange(1e5)}), npartitions=2)
    table = Keep(frame)
    roles = ColumnRoles.of(table, "b", None, None, None)
    rows = StoredRows(table, TableReader(roles, Columns.of(["a"]), LOSSES["squared"], None, None, None, 1.0))
    assert rows.fold(lambda part: float(part.y.sum())) == np.arange(1e5).sum()
    assert sent[0] < 10_000


def test_each_partition_is_one_task():
    tasks = []

    def count(key, result, *about):
        if isinstance(result, Met):
            tasks.append(key)

    with Callback(posttask=count):
        DaskTable(frame_of([5] * 7)).fold(met, ("a",))
    assert len(tasks) == 7 + 1


def test_what_is_no_dask_frame_is_none_of_this_room():
    assert dask_table(pd.DataFrame({"a": [1.0]})) is None
    assert dask_table(np.ones((2, 2))) is None


def test_frames_without_names_and_arrays_are_refused():
    with pytest.raises(ValueError, match="needs a text of its own as a name; got 0"):
        dask_table(dd.from_pandas(pd.DataFrame(np.ones((2, 2))), npartitions=1))
    with pytest.raises(ValueError, match="make it a Dask DataFrame"):
        dask_table(da.ones((4, 2)))
