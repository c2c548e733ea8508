"""Parquet tables: files and folders, read in batches of rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from obliquerules.data import blocks
from obliquerules.data.blocks import Statistic, StoredTable, in_order, summed

S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, eq=False)
class ParquetTable(StoredTable):
    """A dataset of pyarrow.

    Attributes
    ----------
    dataset : pyarrow.dataset.Dataset
    n_threads : int
        How many batches are looked at at a time.
    projection : mapping of str to pyarrow.dataset.Expression, optional
        The columns of the table, computed from those of the dataset; by default, they are the same.
    """

    dataset: Any
    n_threads: int = 1
    projection: Mapping[str, Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.dataset.schema.names if self.projection is None else self.projection)

    def fold(self, statistic: Callable[[Any], S], columns: tuple[str, ...]) -> S:
        """Return the sum of a statistic over all batches."""
        return summed(in_order(statistic, self._batches(columns), self.n_threads))

    def _batches(self, columns: tuple[str, ...]) -> Iterator[Any]:
        """Yield tables of a fixed number of rows, whatever the row groups."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        chosen = list(columns) if self.projection is None else {name: self.projection[name] for name in columns}
        # Without reading ahead: it would hold many row groups in memory.
        batches = self.dataset.to_batches(
            columns=chosen,
            batch_size=blocks.BLOCK_ROWS,
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
            fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True),
        )
        waiting: list[Any] = []
        n_waiting = 0
        for batch in batches:
            waiting.append(batch)
            n_waiting += len(batch)
            while n_waiting >= blocks.BLOCK_ROWS:
                rows = pa.Table.from_batches(waiting)
                yield _unordered(rows.slice(0, blocks.BLOCK_ROWS))
                waiting, n_waiting = rows.slice(blocks.BLOCK_ROWS).to_batches(), n_waiting - blocks.BLOCK_ROWS
        if n_waiting:
            yield _unordered(pa.Table.from_batches(waiting))


def _unordered(rows: Any) -> Any:
    """Return rows without the order of their categories."""
    import pyarrow as pa

    # Each row group has a dictionary of its own.
    for place, field in enumerate(rows.schema):
        if getattr(field.type, "ordered", False):
            chunks = [pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary) for chunk in rows.column(place).chunks]
            rows = rows.set_column(place, field.name, pa.chunked_array(chunks))
    return rows


def parquet_table(X: Any, n_threads: int = 1) -> ParquetTable | None:
    """Return a path or pyarrow dataset as a table, else None.

    A table is returned with that number of threads.
    """
    if isinstance(X, ParquetTable):
        return replace(X, n_threads=n_threads)
    if isinstance(X, str | os.PathLike):
        path = Path(X)
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder '{path}' to learn from.")
        return ParquetTable(parquet_dataset(path), n_threads)
    # A dataset exists only where its module was imported.
    dataset = sys.modules.get("pyarrow.dataset")
    return ParquetTable(X, n_threads) if dataset is not None and isinstance(X, dataset.Dataset) else None


def parquet_dataset(path: Path) -> Any:
    """Return a Parquet file or folder as a dataset of pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError("Reading .parquet files needs pyarrow: pip install 'obliquerules[arrow]'.") from error
    try:
        return ds.dataset(path, format="parquet")
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"'{path}' is not a Parquet file, or a folder of them: {str(error).splitlines()[0]}") from error
