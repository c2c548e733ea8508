"""Dask tables: statistics travel, partitions stay where they are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.data import blocks
from obliquerules.data.blocks import ON_ONE_PROCESSOR, Statistic, StoredTable, summed

S = TypeVar("S", bound=Statistic)

# Statistics per task of addition: few enough for the memory of a worker.
ADDED_AT_A_TIME = 16


@dataclass(frozen=True, eq=False)
class DaskTable(StoredTable):
    """A Dask DataFrame.

    It is computed by the current client of a cluster, as in ``with Client(...)`` or ``with client.as_current()``, and by the
    default scheduler of Dask if there is none. Partitions alone decide in which order statistics are added: neither the number
    of workers, nor which of them is the first, nor the loss of one changes a bit.
    """

    frame: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def fold(self, statistic: Callable[[Any], S], columns: tuple[str, ...]) -> S:
        """Return the sum of a statistic over all partitions, by tasks."""
        from dask.delayed import delayed

        # A task of its own is sent once to each worker, not with each partition.
        wanted = delayed(statistic, pure=False, traverse=False)
        look, add = delayed(_over_partition, pure=False), delayed(_added, pure=False)
        found = [look(rows, wanted, blocks.BLOCK_ROWS) for rows in self.frame[list(columns)].to_delayed()]
        while len(found) > 1:
            found = [add(found[start : start + ADDED_AT_A_TIME]) for start in range(0, len(found), ADDED_AT_A_TIME)]
        total: S | None = found[0].compute()
        if total is None:
            raise ValueError("X has no rows in any of its partitions.")
        return total


def _over_partition(rows: Any, statistic: Callable[[Any], S], block_rows: int) -> S | None:
    """Return the sum of a statistic over a partition, None without rows."""
    with ON_ONE_PROCESSOR:
        return _added(statistic(rows.iloc[start : start + block_rows]) for start in range(0, len(rows), block_rows))


def _added(statistics: Iterable[S | None]) -> S | None:
    """Return the sum of statistics in order, None without any."""
    found = (one for one in statistics if one is not None)
    first = next(found, None)
    return None if first is None else summed(found, first)


def dask_table(X: Any) -> DaskTable | None:
    """Return a Dask DataFrame as a table, None for anything else."""
    kind = dask_kind(X)
    if kind == "Array":
        raise ValueError(
            "X is a Dask array, whose columns have no names: make it a Dask DataFrame that has the target as a column, with "
            "dask.dataframe.from_dask_array, or X.compute() an array in memory."
        )
    if kind != "DataFrame":
        return None
    names = list(X.columns)
    for name in names:
        if not isinstance(name, str) or names.count(name) > 1:
            raise ValueError(f"Each column of a Dask DataFrame needs a text of its own as a name; got {name!r} among {names}.")
    return DaskTable(X)


def dask_kind(X: Any) -> str | None:
    """Return "Array", "DataFrame" or "Series" of Dask, or None."""
    # An object of Dask exists only where its module was imported.
    for module, kind in (("dask.array", "Array"), ("dask.dataframe", "DataFrame"), ("dask.dataframe", "Series")):
        if module in sys.modules and isinstance(X, getattr(sys.modules[module], kind)):
            return kind
    return None


def by_partition(predict: Callable[..., NDArray[Any]], X: Any, given: Mapping[str, Any], like: NDArray[Any]) -> Any:
    """Return predictions that Dask computes when they are asked for, by partitions.

    Parameters
    ----------
    predict : callable
        Called with a partition, as a data frame or array in memory, and with what is given to its rows.
    X : Dask DataFrame or array
    given : dict of str to Dask Series, DataFrame or array
        The arguments of ``predict`` for the rows of X, in the same partitions.
    like : array
        A prediction, of any rows.

    Returns
    -------
    Dask Series or array
        For a Dask DataFrame, one prediction for each row is a Series with its index. All else are arrays.
    """
    import pandas as pd

    in_arrays = dask_kind(X) == "Array"
    rows, *values = X, *given.values()
    if in_arrays:
        import dask.dataframe as frames

        rows = frames.from_dask_array(X)
        values = [frames.from_dask_array(one.rechunk({0: X.chunks[0]})) for one in values]
    container = pd.Series if like.ndim == 1 else pd.DataFrame

    def predicted(part: Any, *own: Any) -> Any:
        if len(part) == 0:
            return container(like[:0], index=part.index)
        found = predict(part.to_numpy() if in_arrays else part, **dict(zip(given, own, strict=True)))
        return container(found, index=part.index)

    empty = container(like[:0], index=rows._meta.index)
    found = rows.map_partitions(predicted, *values, meta=empty)
    if not in_arrays and like.ndim == 1:
        return found
    return found.to_dask_array(lengths=X.chunks[0] if in_arrays and not np.isnan(X.chunks[0]).any() else None)
