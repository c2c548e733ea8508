"""Verification: rows that would expose a mistake, and the comparison of an export with the model on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from obliquerules.export.source import LARGEST, Source
from obliquerules.rules import Rule
from obliquerules.rules.proposition import Proposition

Matrix = NDArray[np.float64]
Run: TypeAlias = Callable[[Source, Matrix], Matrix]

# The tolerance for predictions: exponentials differ in their last digits between implementations.
LINK_TOLERANCE = 1e-12
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
EXTREMES = tuple(
    sign * size
    for size in (0.0, SMALLEST, 1e-310, 1e-300, 1e-20, 1.0, 1e20, 1e299, LARGEST / 2.0, LARGEST, math.inf, math.nan)
    for sign in (1.0, -1.0)
)
N_MIXED = 150
# The number of rows that an export is run on at a time.
BLOCK = 100_000


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
        The number of rows on which different rules fire, the scores differ, or the predictions differ by more than 1e-12;
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
    """Return a fixed set of rows that hit thresholds, miss them by one or two doubles, or hold extreme or missing values."""
    generator = np.random.default_rng(0)
    rows = [np.zeros(source.n_columns)]
    for rule in source.ensemble:
        for proposition in rule.condition:
            for row in _rows_at(proposition, source, generator):
                rows += [row, _meeting_others(row, proposition, rule)] if len(rule.condition) > 1 else [row]
    for column in source.columns:
        for value in EXTREMES:
            row = rows[generator.integers(len(rows))].copy()
            row[column] = value
            rows.append(row)
    for _ in range(N_MIXED if source.columns else 0):
        row = rows[generator.integers(len(rows))].copy()
        rows.append(_mixed(row, source, generator))
    return np.array(rows).reshape(len(rows), source.n_columns)


def _mixed(row: Matrix, source: Source, generator: np.random.Generator) -> Matrix:
    """Return a row with extreme values in half of its columns, where only columns that no rule uses may lack one."""
    extremes = np.array(EXTREMES)
    changed = generator.random(source.n_columns) < 0.5
    row = np.where(changed, generator.choice(extremes, size=source.n_columns), row)
    used = list(source.columns)
    possible = extremes[np.abs(extremes) <= source.largest_input]
    drawn = generator.choice(possible, size=len(used))
    row[used] = np.where(np.abs(row[used]) <= source.largest_input, row[used], drawn)
    return row


def _rows_at(proposition: Proposition, source: Source, generator: np.random.Generator) -> Iterator[Matrix]:
    """Yield rows on both sides of a threshold, as close to it as doubles allow."""
    share = 1.0 / len(proposition.columns)
    for moved, weight in zip(proposition.columns, proposition.weights, strict=True):
        row = np.zeros(source.n_columns)
        for column, other in zip(proposition.columns, proposition.weights, strict=True):
            scale = share * proposition.threshold / other
            row[column] = scale * generator.uniform(0.5, 1.5) if math.isfinite(scale) and scale else generator.normal()
        row[moved] = 0.0
        with np.errstate(all="ignore"):
            hit = float((proposition.threshold - proposition.project(row[None, :])[0]) / weight)
        for value in _neighbours(hit):
            row[moved] = value
            yield row.copy()


def _meeting_others(row: Matrix, proposition: Proposition, rule: Rule) -> Matrix:
    """Return a row whose other propositions hold, so that the rule fires or not by this one, as far as columns differ."""
    row = row.copy()
    for other in rule.condition:
        free = [pair for pair in zip(other.columns, other.weights, strict=True) if pair[0] not in proposition.columns]
        if other is not proposition and free:
            column, weight = free[0]
            row[column] = 0.0
            with np.errstate(all="ignore"):
                needed = float((other.threshold - other.project(row[None, :])[0]) / weight)
            row[column] = needed + math.copysign(1.0 + abs(needed), weight)
    return row


def _neighbours(value: float) -> Iterator[float]:
    """Yield a number and the two doubles on either side of it."""
    yield value
    for direction in (-math.inf, math.inf):
        near = value
        for _ in range(2):
            near = math.nextafter(near, direction)
            yield near


def compare(source: Source, X: Matrix, computed: Matrix, first: int = 0, expected: Matrix | None = None) -> None:
    """Raise if the outputs of an export for the rows of X, numbered from ``first``, differ from those of the model.

    Without ``expected``, the model says what they should be.
    """
    expected = source.outputs(X) if expected is None else expected
    if computed.shape != expected.shape:
        raise ExportError(f"The export gives outputs of shape {computed.shape}, where the model has {expected.shape}.")
    # Compared as numbers: 0.0 equals -0.0. NaN stands for a row that cannot be scored.
    equal = (computed == expected) | (np.isnan(computed) & np.isnan(expected))
    equal[:, 1] |= np.abs(computed[:, 1] - expected[:, 1]) <= LINK_TOLERANCE * np.maximum(1.0, np.abs(expected[:, 1]))
    if not equal.all():
        row, output = np.argwhere(~equal)[0]
        values = {source.name(column): float(X[row, column]) for column in source.columns}
        got, wanted = float(computed[row, output]), float(expected[row, output])
        n_different = int((~equal.all(axis=1)).sum())
        raise ExportError(
            f"The export differs from the model in {n_different} of {len(X)} rows. In row {first + row}, with {values}, "
            f"its {source.output_names()[output]} is {got!r} instead of {wanted!r}."
        )


def verify(source: Source, X: Matrix, run: Run, expected: Run = Source.outputs) -> int:
    """Compare an export with the model, rule by rule too; return the number of rows."""
    for asked in [source] if source.contributions else [source, source.with_contributions()]:
        for first in range(0, len(X), BLOCK):
            block = X[first : first + BLOCK]
            compare(asked, block, run(asked, block), first, expected(asked, block))
    return len(X)
