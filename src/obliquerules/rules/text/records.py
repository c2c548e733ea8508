"""Records: results that print as sentences and tables, show as HTML in notebooks and become data frames."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar


@dataclass(frozen=True)
class TextTable:
    """Lines of cells; columns are aligned to the right, the last, which may be long, to the left."""

    lines: Sequence[Sequence[str]]
    headed: bool = True  # the first line is a heading
    indent: str = ""  # what each line of plain text begins with

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)][:-1]
        texts = ("  ".join([*map(str.rjust, line, widths), line[-1]]) for line in self.lines)
        return "\n".join(f"{self.indent}{text}".rstrip() for text in texts)

    def _repr_html_(self) -> str:
        heading, *lines = [[html.escape(cell) for cell in line] for line in self.lines]
        return html_table(heading, lines) if self.headed else html_table(None, [heading, *lines])


class Shown:
    """What is shown as sentences and tables: as plain text and, in a notebook, as HTML."""

    def _parts(self) -> Iterable[str | TextTable]:
        """Return sentences and tables from top to bottom; an empty sentence is a gap."""
        raise AttributeError(f"{type(self).__name__} does not say what is shown of it.")

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        parts = [part for part in self._parts() if part]
        return "\n".join(f"<p>{html.escape(one)}</p>" if isinstance(one, str) else one._repr_html_() for one in parts)


def html_table(heading: Sequence[str] | None, lines: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML; its cells are HTML already."""
    head = [] if heading is None else [f"<thead>{_html_row(heading, 'th')}</thead>"]
    return "\n".join(["<table>", *head, "<tbody>", *(_html_row(line, "td") for line in lines), "</tbody>", "</table>"])


def _html_row(cells: Sequence[str], tag: str) -> str:
    sides = (*("right" for _ in cells[:-1]), "left")
    shown = (f'<{tag} style="text-align: {side}">{text}</{tag}>' for text, side in zip(cells, sides, strict=True))
    return f"<tr>{''.join(shown)}</tr>"


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
        return _package("pandas").DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """Return a data frame of polars, which must be installed."""
        return _package("polars").DataFrame(self.to_dicts(), infer_schema_length=None)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"to_{name} needs the package {name}: install it, or take to_dicts().") from error


def without_unused(name: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without a field that is None in all of them."""
    if any(record[name] is not None for record in records):
        return records
    return [{key: value for key, value in record.items() if key != name} for record in records]
