"""Understood: what each column of a table was taken for, as lines for people and as records for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules import Block
from obliquerules.rules.columns import Column
from obliquerules.rules.text.style import PLAIN, plain_level, plain_name

# The most columns that are listed, and the most levels of one of them; how wide a list of levels, and each of them, may be.
LISTED_COLUMNS = 40
LISTED_LEVELS = 5
WIDEST = 60
LONGEST = 30
NAMES = {"flag": "0/1"}


def column_lines(block: Block) -> list[str]:
    """Return one line for each of the first columns: its name, kind, levels or range, and how many values are missing."""
    shown = range(min(block.n_columns, LISTED_COLUMNS))
    return aligned([_cells(block.column(place), block.matrix[:, place]) for place in shown], block.n_columns)


def aligned(cells: Sequence[Sequence[str]], n_columns: int) -> list[str]:
    """Return the cells of the columns that are listed as lines, and say how many more columns there are."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    others = n_columns - len(lines)
    return [*lines, f"  and {others} more"] if others else lines


def column_records(block: Block) -> list[dict[str, Any]]:
    """Return what was understood of each column."""
    return [_record(block.column(place), block.matrix[:, place]) for place in range(block.n_columns)]


def phrase(column: Column, values: NDArray[np.float64]) -> str:
    """Return what one column holds: its kind, and its levels or range."""
    return ", ".join(filter(None, _cells(column, values)[1:]))


def _cells(column: Column, values: NDArray[np.float64]) -> list[str]:
    missing = int(np.count_nonzero(np.isnan(values)))
    return [plain_name(column.name), _kind(column), _content(column, values), f"{missing} missing" if missing else ""]


def _kind(column: Column) -> str:
    """Return what a column holds, in a word."""
    if column.levels is None:
        return NAMES.get(column.kind, column.kind)
    if column.is_truth:
        return "boolean"
    if column.ordered:
        return "ordered"
    return "text" if isinstance(column.levels[0], str) else "levels"


def _content(column: Column, values: NDArray[np.float64]) -> str:
    """Return the range of numbers, or the first levels."""
    if column.levels is not None:
        return _levels(column)
    if column.kind == "flag":
        return ""
    low, high = _range(column, values)
    return low if low == high else f"{low} to {high}"


def _range(column: Column, values: NDArray[np.float64]) -> tuple[str, str]:
    low, high = (PLAIN.value(column, float(bound)) for bound in (np.nanmin(values), np.nanmax(values)))
    return low, high


def _levels(column: Column) -> str:
    """Return the first levels, as many as there is room for, and how many there are if these are not all."""
    levels = column.levels or ()
    if column.is_truth:
        return ""
    said = [_short(plain_level(level)) for level in levels[:LISTED_LEVELS]]
    while len(said) > 1 and len(", ".join(said)) > WIDEST:
        said.pop()
    text = f"{len(levels)} levels: {', '.join(said)}"
    return f"{text}, ..." if len(said) < len(levels) else text


def _short(level: str) -> str:
    return level if len(level) <= LONGEST else f"{level[: LONGEST - 3]}..."


def _record(column: Column, values: NDArray[np.float64]) -> dict[str, Any]:
    record: dict[str, Any] = {"name": column.name, "kind": _kind(column)}
    if column.levels is not None:
        record["levels"] = list(column.levels)
    else:
        record["range"] = list(_range(column, values))
    return record | {"missing": int(np.count_nonzero(np.isnan(values)))}
