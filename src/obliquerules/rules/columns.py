"""Columns: what the inputs of a model are called and hold, and blocks of rows of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Level = str | int | bool

# The code of a level that the column does not have. A missing value is NaN, in columns of levels as in columns of numbers.
UNSEEN = -1.0
# What the numbers of a column mean. Flags are 0 or 1; dates count days, and times seconds, since the beginning of 1970.
KINDS = ("number", "flag", "date", "time", "duration")
# The seconds of a day: dates and durations count days, times count seconds.
DAY = 86400.0
# Where both begin to count. A time without a zone counts as one in universal time.
EPOCH = datetime.datetime(1970, 1, 1)
# Beyond this many seconds before or after 1970, the calendar of Python ends.
END_OF_TIME = 6e10


@dataclass(frozen=True)
class Column:
    """One input.

    Attributes
    ----------
    name : str
    levels : tuple of str, int or bool, or None
        The levels of a categorical column; None if the column holds numbers.
    ordered : bool
        Whether the levels are in ascending order.
    kind : {"number", "flag", "date", "time", "duration"}
        What the numbers of a column without levels mean: a flag is 0 or 1, a date is the days and a time the seconds since the
        beginning of 1970, and a duration is in days.
    missing : bool
        Whether values were missing when the model was fitted.
    """

    name: str
    levels: tuple[Level, ...] | None = None
    ordered: bool = False
    kind: str = "number"
    missing: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"The kind of a column must be one of {', '.join(KINDS)}; got {self.kind!r}.")
        if self.levels is None and self.ordered:
            raise ValueError(f"Column '{self.name}' has no levels that could be ordered.")
        if self.levels is not None and (len(self.codes) < len(self.levels) or len(set(map(type, self.levels))) > 1):
            raise ValueError(f"The levels of column '{self.name}' must be different, and all text, whole numbers or booleans.")

    @property
    def is_truth(self) -> bool:
        """Whether the column holds booleans."""
        return self.levels is not None and len(self.levels) > 0 and all(type(level) is bool for level in self.levels)

    @cached_property
    def codes(self) -> dict[tuple[type, Level], int]:
        """The position of each level. Types count: 1 and True are not the same."""
        return {(type(level), level): code for code, level in enumerate(self.levels or ())}


@dataclass(frozen=True)
class Columns(Sequence[Column]):
    """All columns of a table; plain numeric columns are created on access, because there may be a million."""

    names: tuple[str, ...]
    # The columns that hold anything but plain numbers, with their positions.
    special: tuple[tuple[int, Column], ...] = ()
    # The columns that were asked for, and those that are special.
    _known: dict[int, Column] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, given: Iterable[str | Column]) -> Columns:
        """Return columns from names or columns; names stand for columns of numbers."""
        if isinstance(given, Columns):
            return given
        columns = list(given)
        told = [(index, one) for index, one in enumerate(columns) if isinstance(one, Column)]
        special = tuple((index, one) for index, one in told if one.levels is not None or one.kind != "number" or one.missing)
        return cls(tuple(str(one.name if isinstance(one, Column) else one) for one in columns), special)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> Columns: ...
    def __getitem__(self, index: int | slice) -> Column | Columns:
        if isinstance(index, slice):
            return Columns.of([self[one] for one in range(*index.indices(len(self.names)))])
        name, position = self.names[index], index % len(self.names)
        if not self._known:
            self._known.update(self.special)
        return self._known[position] if position in self._known else self._known.setdefault(position, Column(name))

    @property
    def with_levels(self) -> tuple[int, ...]:
        """The positions of the columns that have levels."""
        return tuple(index for index, column in self.special if column.levels is not None)

    def only(self, positions: Iterable[int]) -> Columns:
        """Return some of the columns."""
        return Columns.of([self[position] for position in positions])


@dataclass(frozen=True)
class Range:
    """Where the values of a column lay in training, but for a few at either end, so that no single row is disclosed."""

    column: int
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of columns: what `read` makes of any kind of table, and what a model is asked about.

    Attributes
    ----------
    columns : Columns or None
        None if the columns are numbers without names.
    matrix : array of shape (n_rows, n_columns)
        Numbers or the codes of levels: their positions among the levels of the column, -1 for a level that it does not have.
        NaN where a value is missing.
    """

    columns: Columns | None
    matrix: NDArray[np.float64]
    # The place of each row in a column of levels, for memberships, which ask again and again.
    places: dict[int, NDArray[np.intp]] = field(default_factory=dict, repr=False)

    @classmethod
    def of_matrix(cls, X: NDArray[np.float64], columns: Iterable[str | Column] | None = None) -> Block:
        """Return a matrix as a block without copying it."""
        return cls(None if columns is None else Columns.of(columns), X)

    def in_doubles(self) -> Block:
        """Return the block with its numbers in double precision, which all but blocks of many rows are in anyway."""
        return self if self.matrix.dtype == np.float64 else Block(self.columns, self.matrix.astype(np.float64))

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns: x0, x1, ... where they have none."""
        return tuple(f"x{index}" for index in range(self.n_columns)) if self.columns is None else self.columns.names

    def column(self, index: int) -> Column:
        """Return one of the columns."""
        return Column(f"x{index}") if self.columns is None else self.columns[index]

    @cached_property
    def incomplete(self) -> frozenset[int]:
        """The columns in which a value is missing."""
        return frozenset() if is_finite(self.matrix) else frozenset(np.flatnonzero(np.isnan(self.matrix).any(axis=0)).tolist())

    @cached_property
    def flags(self) -> frozenset[int]:
        """The columns of 0 and 1."""
        special = () if self.columns is None else self.columns.special
        return frozenset(index for index, column in special if column.kind == "flag")

    @property
    def extremes(self) -> NDArray[np.float64]:
        """A matrix whose columns have the largest absolute value of each column: here, the matrix itself."""
        return self.matrix

    def rows(self, which: Any) -> Block:
        """Return some of the rows, chosen by a slice, a mask or positions."""
        return Block(self.columns, self.matrix[which])

    def read_as(self, columns: Columns) -> Block:
        """Return the same numbers as those of other columns."""
        return Block(columns, self.matrix)


def is_finite(matrix: NDArray[Any]) -> bool:
    """Say whether the sum of all numbers shows that each is finite; that takes a third of the time of looking at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(matrix, axis=None)))


def as_block(X: ArrayLike | Block, n_columns: int, columns: Columns | None = None, *, exactly: bool = False) -> Block:
    """Return X (array, data frame or block) as a block of at least or exactly ``n_columns`` columns.

    Where the columns have levels, those of an array or a data frame are looked up among them.
    """
    block = X if isinstance(X, Block) else Block(columns, _matrix(X, columns))
    if block.n_columns < n_columns or (exactly and block.n_columns != n_columns):
        raise ValueError(f"X has {block.n_columns} columns; this model needs {'' if exactly else 'at least '}{n_columns}.")
    return block


def _matrix(X: ArrayLike, columns: Columns | None) -> NDArray[np.float64]:
    has_levels = columns is not None and bool(columns.with_levels)
    try:
        matrix = np.asarray(X, dtype=object if has_levels else np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only: {error}") from error
    if matrix.ndim != 2:
        raise ValueError(f"X must have rows and columns; got shape {matrix.shape}. Reshape a single row with X.reshape(1, -1).")
    if columns is None or not has_levels:
        return matrix
    coded = np.full(matrix.shape, np.nan)
    for column, values, codes in zip(columns, matrix.T, coded.T, strict=False):
        try:
            codes[:] = [code_of(column, value) for value in values]
        except (TypeError, ValueError) as error:
            raise ValueError(f"Column '{column.name}' of X must hold numbers only: {error}") from error
    return coded


def code_of(column: Column, value: Any) -> float:
    """Return the number that a block has for a Python value: the code of a level, NaN if it is missing."""
    if is_nothing(value) or column.levels is None:
        return np.nan if is_nothing(value) else float(value)
    level = as_level(value)
    return float(column.codes.get((type(level), level), UNSEEN))


def as_level(value: Any) -> Any:
    """Return a value as a level: text, a whole number or a boolean of Python where it is one of NumPy or a whole float."""
    plain = value.item() if isinstance(value, np.generic) else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def is_nothing(value: Any) -> bool:
    """Say whether a value is missing: None, NaN, or what pandas has for it."""
    if value is None:
        return True
    if isinstance(value, str | int | bool):
        return False
    same = value == value  # NaN differs from itself, and pandas' NA does not say
    return not isinstance(same, bool | np.bool_) or not same


def seconds_in(kind: str) -> float:
    """Return how many seconds the unit of a kind of column has."""
    return 1.0 if kind == "time" else DAY


def seconds_since_1970(moment: datetime.date) -> float:
    """Return the seconds from the beginning of 1970 to a date or a time.

    >>> seconds_since_1970(datetime.date(1970, 1, 2)), seconds_since_1970(datetime.datetime(1970, 1, 1, 0, 1))
    (86400.0, 60.0)
    """
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    since = moment - EPOCH
    # As `datetime.timedelta.total_seconds` has it; that of pandas rounds otherwise.
    return ((since.days * 86_400 + since.seconds) * 10**6 + since.microseconds) / 10**6


def moment_text(number: float, kind: str) -> str | None:
    """Return the date or time of this many days or seconds after the beginning of 1970; None if it is not a whole number."""
    seconds = number * seconds_in(kind)
    if not number.is_integer() or abs(seconds) > END_OF_TIME:
        return None
    # Formats of strftime do not fill up years of three digits everywhere.
    text = (EPOCH + datetime.timedelta(seconds=seconds)).isoformat(" ")
    return text[:10] if kind == "date" else text


def day_or_days(number: float) -> str:
    """Return the unit of a number of days."""
    return "day" if number == 1.0 else "days"
