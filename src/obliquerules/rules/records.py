"""Records: sequences of values of one kind, which are shown as tables and become data frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from obliquerules.rules.tables import Shown

Record = TypeVar("Record")


class Records(Shown, Generic[Record]):
    """A sequence of records; a subclass is a frozen dataclass that says which they are and how they are shown."""

    def _records(self) -> tuple[Record, ...]:
        """Return the records, each a dataclass."""
        raise AttributeError(f"{type(self).__name__} does not say what its records are.")

    def __len__(self) -> int:
        return len(self._records())

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records())

    def __getitem__(self, index: int) -> Record:
        return self._records()[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each record, as data frames are made of."""
        return [asdict(record) for record in self._records()]  # type: ignore[call-overload]

    def to_pandas(self) -> Any:
        """Return a data frame of pandas, which must be installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs the package pandas: install it, or take to_dicts().") from error
        return pd.DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """Return a data frame of polars, which must be installed."""
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError("to_polars needs the package polars: install it, or take to_dicts().") from error
        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)


def without_unused(name: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without a field that is None in all of them."""
    if any(record[name] is not None for record in records):
        return records
    return [{key: value for key, value in record.items() if key != name} for record in records]
