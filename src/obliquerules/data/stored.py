"""Stored tables: which kinds of tables that are not in memory can be learned from."""

from __future__ import annotations

from typing import Any

from joblib import effective_n_jobs

from obliquerules.data.dask_tables import dask_table
from obliquerules.data.parquet_tables import parquet_table
from obliquerules.data.tables import Table


def stored_table(X: Any, n_jobs: int | None) -> Table | None:
    """Return X as a table that is read block by block; None if it is in memory.

    Paths and datasets of pyarrow are Parquet tables, and Dask DataFrames are Dask tables. A further kind of table needs a
    module of its own, and a line here.
    """
    if isinstance(X, Table):
        return X
    return dask_table(X) or parquet_table(X, effective_n_jobs(n_jobs))
