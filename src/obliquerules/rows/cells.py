"""Cells: the texts in one column of a file as numbers or levels, and the conventions by which files write numbers and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliquerules.rows.levels import Filled, number_in, with_levels
from obliquerules.rules.columns import Column

# What stands for a missing value, in any case.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})


@dataclass(frozen=True)
class Conventions:
    """How a file is written, as far as it does not tell by itself.

    Attributes
    ----------
    separator : str or None
        What separates the values of CSV; None means the one that the header has.
    decimal : {".", ","}
        The decimal mark of numbers that are written as text.
    encoding : str or None
        The encoding of CSV; None means UTF-8.
    sheet : str or None
        The name of the sheet of an Excel file; None means the first.
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    sheet: str | None = None


def column_of_cells(name: str, cells: Sequence[str], decimal: str = ".") -> Filled:
    """Return a column of numbers if every value is one, and otherwise of levels."""
    numbers = {cell: _number(cell, decimal) for cell in set(cells)}
    if None not in numbers.values():
        return Column(name), np.array([numbers[cell] for cell in cells], dtype=np.float64)
    return with_levels(name, [None if cell.lower() in MISSING_WORDS else cell for cell in cells])


def _number(cell: str, decimal: str) -> float | None:
    if cell.lower() in MISSING_WORDS:
        return np.nan
    if decimal == ".":
        return number_in(cell)
    # Beside decimal commas, a point separates thousands or is a mistake: 1.234 could be either.
    return None if "." in cell else number_in(cell.replace(",", "."))
