"""Levels: text and booleans as columns of codes, and what any column holds, in words and as numbers or labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obliquerules.rules.columns import MISSING, Block, Column, Level, NumberColumns

# Booleans in CSV are words, in any case; as labels of classes they stay the words that the file has.
TRUTH = {"true": 1.0, "false": 0.0}
# Whole numbers up to here are exact as doubles.
LARGEST_WHOLE = 2.0**53

# A whole number, or one with a decimal comma; and what only numbers consist of, however they are grouped.
COMMA_NUMBER = re.compile(r"[+-]?(?:[0-9]*,)?[0-9]+(?:[eE][+-]?[0-9]+)?")
GROUPED_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)*")

Filled = tuple[Column, NDArray[Any]]


def missing_numbers(name: str, n_rows: int) -> Filled:
    """Return a column of nothing but missing values: whatever its type, it counts as one of numbers."""
    return Column(name), np.full(n_rows, np.nan)


def with_levels(name: str, values: Sequence[Level | None]) -> Filled:
    """Return text or booleans, None where one is missing, as a column with levels in ascending order."""
    levels = sorted({value for value in values if value is not None})
    if not levels:
        return missing_numbers(name, len(values))
    codes = {level: code for code, level in enumerate(levels)} | {None: MISSING}
    return Column(name, tuple(levels)), np.array([codes[value] for value in values], dtype=np.int32)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value of a column, a number or a code, whether it is missing."""
    return np.asarray(values < 0 if values.dtype.kind == "i" else np.isnan(values))


def as_numbers(column: Column, values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return the numbers of a column, with booleans as 0 and 1; None if it holds anything else."""
    if column.levels is None:
        return values
    truth = [TRUTH.get(str(level).lower()) for level in column.levels]
    if None in truth:
        return None
    return np.array([*truth, np.nan], dtype=np.float64)[np.where(values < 0, len(truth), values)]


def as_labels(column: Column, values: NDArray[Any]) -> NDArray[Any]:
    """Return values, none of them missing, as labels of classes: text, booleans, whole numbers or numbers."""
    if column.levels is not None:
        return np.array([column.levels[code] for code in values.tolist()])
    whole = (values == np.rint(values)).all() and (np.abs(values) < LARGEST_WHOLE).all()
    return values.astype(np.int64) if whole else values


def kind_of(column: Column, values: NDArray[Any]) -> str:
    """Return what a column holds, in words."""
    if column.levels is None:
        return "numbers"
    if as_numbers(column, values) is not None:
        return "booleans"
    if has_decimal_commas(column):
        return f"numbers with a decimal comma ('{_first_with(',', column.levels)}')"
    if _has_points_and_commas(column.levels):
        return f"numbers with points and commas ('{_first_with('.', column.levels)}', '{_first_with(',', column.levels)}')"
    is_text = np.array([number_in(str(level)) is None for level in column.levels])
    if is_text.all():
        return "text"
    first = next(code for code in values.tolist() if code >= 0 and is_text[code])
    return f"numbers and text ('{column.levels[first]}')"


def has_decimal_commas(column: Column) -> bool:
    """Say whether a column holds nothing but numbers, some of them with a decimal comma."""
    texts = [str(level) for level in column.levels or ()]
    return any("," in text for text in texts) and all(COMMA_NUMBER.fullmatch(text) for text in texts)


def _has_points_and_commas(levels: Sequence[Level]) -> bool:
    marks = {mark for level in levels for mark in ".," if mark in str(level)}
    return len(marks) == 2 and all(GROUPED_NUMBER.fullmatch(str(level)) for level in levels)


def _first_with(mark: str, levels: Sequence[Level]) -> Level:
    return next(level for level in levels if mark in str(level))


def number_in(text: str) -> float | None:
    """Return the number that a text is, or None. Python alone would also read 1_000 and the digits of other scripts."""
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def refusal(name: str, kind: str) -> str:
    """Return the sentence that refuses an input that does not hold numbers."""
    return (
        f"Column '{name}' of X holds {kind}, not numbers. Encode it as numbers (for example one 0/1 column for each level) or "
        "leave it out."
    )


def numbers_only(block: Block) -> Block:
    """Return a block with booleans as numbers; raise if a column holds text."""
    if isinstance(block.columns, NumberColumns) or all(column.levels is None for column in block.columns):
        return block
    numbers = []
    for column, values in zip(block.columns, block.values, strict=True):
        found = as_numbers(column, values)
        if found is None:
            raise ValueError(refusal(column.name, kind_of(column, values)))
        numbers.append(found)
    return Block(tuple(Column(name) for name in block.names), tuple(numbers))
