"""Verification: rows that would expose a mistake, and the comparison of an export with the model on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.source import LARGEST, Source
from obliquerules.export.table_values import shown
from obliquerules.rules import Rule
from obliquerules.rules.columns import UNSEEN
from obliquerules.rules.rule_parts import Membership, Proposition, Test

# The tolerance for predictions, as exponentials differ in their last digits; the tiniest products have fewer digits.
LINK_TOLERANCE, SMALLEST_PREDICTION = 1e-12, 1e-290
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
EXTREMES = tuple(
    sign * size
    for size in (0.0, SMALLEST, 1e-310, 1e-300, 1e-20, 1.0, 1e20, 1e299, LARGEST / 2.0, LARGEST, math.inf, math.nan)
    for sign in (1.0, -1.0)
)
N_MIXED = 150
# So many ordinary values of a factor are tried about each of its limits and its origin.
N_ABOUT = 4
# So many levels of a column are tried, besides those that rules list.
MOST_LEVELS = 500


class ExportError(ValueError):
    """An export that does not compute what the model computes; it is not handed over."""


class CannotVerifyError(Exception):
    """The engine that would run the export is not available; the message says what is missing."""


@dataclass(frozen=True)
class Verification:
    """The result of comparing an export with the model.

    Attributes
    ----------
    engine : str or None
        The engine that ran the export; None if none did.
    version : str
        The version of the engine.
    rows : int
        The number of rows compared.
    mismatches : int
        The number of rows on which different rules fire, scores or classes differ, or predictions differ by more than 1e-12;
        always 0, because an export with a mismatch is refused.
    reason : str
        If nothing was compared, the reason.

    Examples
    --------
    >>> print(Verification("DuckDB", "1.4.0", 320))
    verified with DuckDB 1.4.0 on 320 rows, no mismatch
    """

    engine: str | None = None
    version: str = ""
    rows: int = 0
    mismatches: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if self.engine is None:
            return f"not verified: {self.reason}"
        return f"verified with {self.engine} {self.version} on {self.rows} rows, no mismatch"


def telling_rows(source: Source) -> Matrix:
    """Return a fixed set of rows that would expose a mistake.

    They hit thresholds, and the limits and origins of factors, or miss them by one or two doubles, have every listed level,
    levels that are not listed or were never seen, and extreme or missing values. Exposures and offsets are ordinary, extreme or
    missing ones.
    """
    generator = np.random.default_rng(0)
    # A column without any level has the code of one that was never seen.
    start = np.array([UNSEEN if column.levels == () else 0.0 for column in source.columns])
    unusual = {
        index: list(EXTREMES) if levels is None else [math.nan, UNSEEN, *map(float, range(len(levels)))]
        for index, levels in ((index, source.columns[index].levels) for index in (*source.used, *source.with_levels))
    }
    rows = [start]
    for rule in source.ensemble:
        rows += _rows_about(rule, start, source, generator)
    for column in source.ensemble.used_columns:
        for value in unusual[column][:MOST_LEVELS]:
            row = rows[generator.integers(len(rows))].copy()
            row[column] = value
            rows.append(row)
    for _ in range(N_MIXED if source.used else 0):
        row = rows[generator.integers(len(rows))].copy()
        rows.append(_mixed(row, source, unusual, generator))
    made = np.array(rows).reshape(len(rows), source.n_columns)
    if not source.offsets:
        return made
    # Exposures or offsets, and a few more rows with each extreme one.
    made[:, source.n_features :] = drawn_offsets(source, len(made), generator)
    values = [*EXTREMES, *_neighbours(source.largest_offset)]
    more = made[generator.integers(len(made), size=len(values) * len(source.offsets))]
    more[:, source.n_features :] = drawn_offsets(source, len(more), generator, share=0.0)
    for place, (column, value) in enumerate((column, value) for column in source.offsets for value in values):
        more[place, column] = value
    return np.vstack([made, more])


def drawn_offsets(source: Source, n_rows: int, generator: np.random.Generator, share: float = 0.2) -> Matrix:
    """Return exposures or offsets for rows: ordinary ones but for a share, of which three in four can be computed with."""
    size, limit = (n_rows, len(source.offsets)), source.largest_offset
    numbers = generator.normal(size=size)
    numbers = np.exp(numbers) if source.has_exposure else numbers
    extremes = np.array([*EXTREMES, limit])
    usable = extremes[(extremes > 0.0 if source.has_exposure else extremes == extremes) & (np.abs(extremes) <= limit)]
    unusual = np.where(generator.random((n_rows, 1)) < 0.75, generator.choice(usable, size), generator.choice(extremes, size))
    return np.where(generator.random(size) < share, unusual, numbers)


def _mixed(row: Matrix, source: Source, unusual: dict[int, list[float]], generator: np.random.Generator) -> Matrix:
    """Return a row with unusual values in half of its columns, all of which can be computed with where rules use them."""
    changed, extremes = generator.random(source.n_columns) < 0.5, np.array(EXTREMES)
    mixed = np.where(changed, generator.choice(extremes, size=source.n_columns), row)
    for column in source.with_levels:
        mixed[column] = generator.choice(unusual[column]) if changed[column] else row[column]
    used = list(source.ensemble.used_columns)
    possible = extremes[~(np.abs(extremes) > source.largest_input)]
    drawn = generator.choice(possible, size=len(used))
    mixed[used] = np.where(np.abs(mixed[used]) > source.largest_input, drawn, mixed[used])
    return mixed


def _rows_about(rule: Rule, start: Matrix, source: Source, generator: np.random.Generator) -> Iterator[Matrix]:
    """Yield rows for each condition of a rule and for its factor, as they are and with the other conditions met."""
    for test in rule.condition:
        others = [other for other in rule.condition if other is not test]
        for row in _rows_at(test, start, source, generator):
            yield from [row, _meeting(others, row, test.used_columns, source)] if others else [row]
    if (factor := rule.factor) is not None:
        # At, near and about the limits and the origin, and one without a value.
        values: list[float] = []
        for number in sorted({factor.origin, *factor.numbers}):
            about = [number + float(step) * (1.0 + abs(number)) for step in generator.normal(size=N_ABOUT)]
            values += [*_neighbours(number), *about]
        for value in (*values, math.nan):
            row = _with_value(start, factor.column, value)
            yield row
            yield _meeting(rule.condition, row, [factor.column], source)


def _with_value(row: Matrix, column: int, value: float) -> Matrix:
    """Return a row with another value in one column."""
    row = row.copy()
    row[column] = value
    return row


def _rows_at(test: Test, start: Matrix, source: Source, generator: np.random.Generator) -> Iterator[Matrix]:
    """Yield rows on both sides of a condition, with and without what it needs."""
    if isinstance(test, Membership):
        # Each listed level, the first and last of the others, one never seen, and a missing value.
        levels = source.columns[test.column].levels or ()
        listed = [code for code, level in enumerate(levels) if test.has(level) != test.negated]
        others = [code for code in range(len(levels)) if code not in listed]
        for value in (*listed, *others[:1], *others[-1:], UNSEEN, math.nan):
            yield _with_value(start, test.column, value)
        return
    yield from _rows_near(test, start, source, generator)
    for term in test.columns:
        if isinstance(term, Membership):
            yield from _rows_at(term, start, source, generator)
        else:
            yield _with_value(start, term, math.nan)


def _rows_near(proposition: Proposition, start: Matrix, source: Source, generator: np.random.Generator) -> Iterator[Matrix]:
    """Yield rows on both sides of a threshold, as close to it as doubles allow."""
    share = 1.0 / len(proposition.columns)
    numbers = _numbers(proposition)
    for moved, weight in numbers:
        row = start.copy()
        for column, other in numbers:
            scale = share * proposition.threshold / other
            row[column] = scale * generator.uniform(0.5, 1.5) if math.isfinite(scale) and scale else generator.normal()
        hit = _needed(proposition, _with_value(row, moved, 0.0), weight, source)
        for value in _neighbours(hit):
            yield _with_value(row, moved, value)


def _numbers(proposition: Proposition) -> list[tuple[int, float]]:
    """Return the columns of numbers of a sum, with their weights."""
    pairs = zip(proposition.columns, proposition.weights, strict=True)
    return [(term, weight) for term, weight in pairs if isinstance(term, int)]


def _needed(proposition: Proposition, row: Matrix, weight: float, source: Source) -> float:
    """Return what a column that is 0 must be, for the sum of a row to be at the threshold."""
    with np.errstate(all="ignore"):
        return float((proposition.threshold - proposition.project(source.block(row[None, :]))[0]) / weight)


def _meeting(tests: Iterable[Test], row: Matrix, kept: Sequence[int], source: Source) -> Matrix:
    """Return a row in which conditions hold, so that a rule fires or not by what else it needs, as far as columns differ."""
    row = row.copy()
    for other in tests:
        if isinstance(other, Membership):
            if other.column not in kept:
                levels = source.columns[other.column].levels
                codes = [float(code) for code, level in enumerate(levels or ()) if other.has(level)]
                absent = math.nan if other.missing else UNSEEN if levels == () else 0.0
                row[other.column] = codes[0] if codes else absent
            continue
        free = [pair for pair in _numbers(other) if pair[0] not in kept]
        if free:
            column, weight = free[0]
            row[column] = 0.0
            needed = _needed(other, row, weight, source)
            row[column] = needed + math.copysign(1.0 + abs(needed), weight)
    return row


def _neighbours(value: float) -> list[float]:
    """Return a number and the two doubles on either side of it."""
    below, above = math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
    return [value, below, math.nextafter(below, -math.inf), above, math.nextafter(above, math.inf)]


def compare(source: Source, X: Matrix, computed: Matrix, first: int = 0, expected: Matrix | None = None) -> None:
    """Raise if the outputs of an export for the rows of X, numbered from ``first``, differ from those of the model.

    Without ``expected``, the model says what they should be.
    """
    expected = source.outputs(X) if expected is None else expected
    if computed.shape != expected.shape:
        raise ExportError(f"The export gives outputs of shape {computed.shape}, where the model has {expected.shape}.")
    # Compared as numbers: 0.0 equals -0.0. NaN stands for a row that cannot be scored.
    equal = (computed == expected) | (np.isnan(computed) & np.isnan(expected))
    ours, theirs = (table[:, source.link_position] for table in (computed, expected))
    equal[:, source.link_position] |= np.abs(ours - theirs) <= LINK_TOLERANCE * np.maximum(SMALLEST_PREDICTION, np.abs(theirs))
    if not equal.all():
        row, output = np.argwhere(~equal)[0]
        values = {source.names[column]: shown(source.columns[column], float(X[row, column])) for column in source.used}
        got, wanted = (float(table[row, output]) for table in (computed, expected))
        if output == source.class_position:
            names: dict[float, Any] = dict(enumerate(source.labels))
            got, wanted = (names.get(code, code if math.isnan(code) else "no class of the model") for code in (got, wanted))
        n_different = int((~equal.all(axis=1)).sum())
        raise ExportError(
            f"The export differs from the model in {n_different} of {len(X)} rows. In row {first + row}, with {values}, "
            f"its {source.output_names()[output]} is {got!r} instead of {wanted!r}."
        )
