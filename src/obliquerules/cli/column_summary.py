"""Column summaries: the kind, range or levels of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliquerules.arrays import Vector
from obliquerules.rules import Block
from obliquerules.rules.columns import Column
from obliquerules.rules.text.style import PLAIN, plain_level, plain_name

# The most columns that are listed, and the most levels of one of them; how wide a list of levels, and each of them, may be.
LISTED_COLUMNS = 40
LISTED_LEVELS = 5
WIDEST = 60
LONGEST = 30


def column_lines(block: Block) -> list[str]:
    """Return a line for each of the first columns."""
    shown = range(min(block.n_columns, LISTED_COLUMNS))
    return aligned([_cells(block.column(place), block.matrix[:, place]) for place in shown], block.n_columns)


def aligned(cells: Sequence[Sequence[str]], n_columns: int) -> list[str]:
    """Return cells as aligned lines, and count the other columns."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    others = n_columns - len(lines)
    return [*lines, f"  and {others} more"] if others else lines


def column_records(block: Block) -> list[dict[str, Any]]:
    """Return what each column was taken for."""
    records: list[dict[str, Any]] = []
    for place in range(block.n_columns):
        column, values = block.column(place), block.matrix[:, place]
        held = {"range": list(_range(column, values))} if column.levels is None else {"levels": list(column.levels)}
        missing = int(np.count_nonzero(np.isnan(values)))
        records.append({"name": column.name, "kind": _kind(column), **held, "missing": missing})
    return records


def phrase(column: Column, values: Vector) -> str:
    """Return what one column holds: its kind, and its levels or range."""
    return ", ".join(filter(None, _cells(column, values)[1:]))


def _cells(column: Column, values: Vector) -> list[str]:
    missing = int(np.count_nonzero(np.isnan(values)))
    return [plain_name(column.name), _kind(column), _content(column, values), f"{missing} missing" if missing else ""]


def _kind(column: Column) -> str:
    """Return what a column holds, in a word."""
    if column.levels is None:
        return "0/1" if column.kind == "flag" else column.kind
    if column.is_truth:
        return "boolean"
    if column.ordered:
        return "ordered"
    return "text" if isinstance(column.levels[0], str) else "levels"


def _content(column: Column, values: Vector) -> str:
    """Return the range of numbers, or the first levels."""
    if column.kind == "flag" or column.is_truth:
        return ""
    if column.levels is None:
        low, high = _range(column, values)
        return low if low == high else f"{low} to {high}"
    words = [plain_level(level) for level in column.levels[:LISTED_LEVELS]]
    shown = [word if len(word) <= LONGEST else f"{word[: LONGEST - 3]}..." for word in words]
    while len(shown) > 1 and len(", ".join(shown)) > WIDEST:
        shown.pop()
    text = f"{len(column.levels)} levels: {', '.join(shown)}"
    return f"{text}, ..." if len(shown) < len(column.levels) else text


def _range(column: Column, values: Vector) -> tuple[str, str]:
    return PLAIN.value(column, float(np.nanmin(values))), PLAIN.value(column, float(np.nanmax(values)))
