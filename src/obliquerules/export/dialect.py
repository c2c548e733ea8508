"""Dialect: how the SQL of one database differs from the standard."""

from __future__ import annotations

import contextlib
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.verification import CannotVerifyError

Matrix = NDArray[np.float64]

# The temporary table that holds the rows on which a query is verified.
TEMPORARY = "obliquerules_rows"
# The kinds of columns by what databases call their types.
TYPE_NAMES = {
    "boolean": r"bool|bit$|bit\(1\)",
    "integer": r"\w*int(eger|\d*)?\b|(small|big)?serial",
    "decimal": r"dec|numeric|number|money",
    "double": r"double|real|float",
}


class Dialect(TextLanguage):
    """The SQL of one database; the defaults are standard SQL.

    Attributes
    ----------
    name : str
        The name of the dialect, as `export` takes it.
    title : str
        The name of the database, for messages.
    double : str
        The type of double-precision numbers.
    case_sensitive : bool
        Whether quoted names that differ only in case are different.
    most_columns : int
        The largest number of double columns that a table can have, or can be filled in reasonable time.
    placeholder : str or None
        The placeholder for a value in statements of the usual driver; None if queries cannot be verified on a connection.
    version_query : str
        A query for the version of the database.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    exp = "EXP"
    double: ClassVar[str] = "DOUBLE PRECISION"
    case_sensitive: ClassVar[bool] = False
    most_columns: ClassVar[int] = 1500
    placeholder: ClassVar[str | None] = None
    version_query: ClassVar[str] = "SELECT version()"

    def quote(self, name: str) -> str:
        """Return a quoted identifier; raise if the name cannot be one."""
        if not self.holds(name):
            raise ValueError(f"A column of {self.title} cannot be called {name!r}; rename it before the fit.")
        return self.quoted(name)

    def holds(self, name: str) -> bool:
        """Say whether a column can have this name."""
        return bool(name) and "\0" not in name

    def layout(self, source: Source) -> tuple[int, ...]:
        """Return the columns of the temporary table: all of the model or, if they are too many, those that rules use."""
        columns = source.layout(ignore_case=not self.case_sensitive)
        used = set(source.columns)
        held = tuple(column for column in columns if column in used or self.holds(source.name(column)))
        return held if len(held) < self.most_columns else source.columns

    def quoted(self, name: str) -> str:
        """Return a valid name in quotes."""
        return '"' + name.replace('"', '""') + '"'

    def number(self, value: float) -> str:
        """Return the shortest decimal with an exponent, so that it has the type of a double and not DECIMAL."""
        text = repr(value).replace("e+", "e")
        return text if "e" in text else f"{text.removesuffix('.0')}e0"

    def column(self, source: Source, column: int) -> str:
        """Return a column of the table as a number."""
        name = source.name(column)
        return self.as_number(f"data.{self.quote(name)}", source.kinds.get(name))

    def as_number(self, column: str, kind: str | None) -> str:
        """Return a column of a certain kind, or of a kind that is not known, as a number."""
        return f"CAST({column} AS INTEGER)" if kind == "boolean" else column

    def product(self, weight: float, column: str) -> str:
        """Return the product; even a factor of 1 is written, because it makes a double of an integer or a decimal."""
        return f"{self.number(weight)} * {column}"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison, which is false for NaN; not with ABS, which fails for the smallest integer."""
        return f"{column} BETWEEN {self.number(-limit)} AND {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return whether a row can be scored, with each input on its own line; None if every row can."""
        return "\n        AND ".join(self.usable(source, column) for column in source.columns) or None

    def usable(self, source: Source, column: int) -> str:
        """Return whether an input is a number that can be computed with."""
        return self.within(self.column(source, column), source.largest_input)

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " AND ".join(conditions)

    def choice(self, condition: str, weight: float) -> str:
        """Return a CASE expression."""
        return f"CASE WHEN {condition} THEN {self.constant(weight)} ELSE {self.number(0.0)} END"

    def score(self, constant: float, contributions: Sequence[str]) -> str:
        """Return the sum, with each rule on its own line."""
        return "\n        + ".join([self.constant(constant), *contributions])

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score as a CASE expression, which all databases have."""
        least, most = self.number(low), self.number(high)
        return f"(CASE WHEN {score} < {least} THEN {least} WHEN {score} > {most} THEN {most} ELSE {score} END)"

    def scored_rows(self, source: Source, X: Matrix) -> NDArray[np.bool_]:
        """Return which rows the query scores."""
        return source.scorable(X)

    # ---- the temporary table ----

    def type_of(self, kind: str | None) -> str:
        """Return the type of a column of the temporary table."""
        return {"boolean": "BOOLEAN", "integer": "BIGINT", "decimal": "DECIMAL(18, 4)"}.get(kind or "double", self.double)

    def fill(self, cursor: Any, types: Sequence[str], columns: Sequence[list[Any]]) -> None:  # noqa: ARG002  # others cast
        """Insert rows into the temporary table, given as the values of each column."""
        places = ", ".join([str(self.placeholder)] * len(columns))
        cursor.executemany(f"INSERT INTO {TEMPORARY} VALUES ({places})", list(zip(*columns, strict=True)))

    @contextlib.contextmanager
    def borrowed(self, connection: Any) -> Iterator[Any]:
        """Yield a cursor, and leave nothing behind on the connection, whatever happens."""
        cursor = connection.cursor()
        try:
            yield cursor
        finally:
            cursor.execute(f"DROP TABLE IF EXISTS {TEMPORARY}")

    def column_types(self, cursor: Any, table: Sequence[str]) -> dict[str, str]:  # noqa: ARG002  # if the database can be asked
        """Return the type of each column of a table of the user; empty if that is not known, or there is no such table."""
        return {}

    @abstractmethod
    def connect(self) -> Any:
        """Return a connection to a new, empty database; raise CannotVerifyError if that is not possible."""


def kind_of_type(name: str) -> str | None:
    """Return the kind of a column by the name of its type; None if it holds no numbers.

    >>> [kind_of_type(name) for name in ("BIGINT", "smallint", "numeric(10,2)", "boolean", "DOUBLE", "date", "interval")]
    ['integer', 'integer', 'decimal', 'boolean', 'double', None, None]
    """
    return next((kind for kind, names in TYPE_NAMES.items() if re.match(names, name.lower())), None)


def held_values(values: Matrix, kind: str | None) -> Matrix:
    """Return numbers as a column of some kind can hold them; a boolean, integer or decimal is null in place of NaN.

    >>> held_values(np.array([-0.3, 1.23456, 1e300]), "decimal").tolist()
    [-0.3, 1.2346, 10000000000.0]
    """
    if kind == "boolean":
        return np.where(np.isnan(values), values, values > 0.5)
    if kind == "integer":
        return np.clip(np.rint(values), -(2.0**53), 2.0**53)
    return np.asarray(np.round(np.clip(values, -1e10, 1e10), 4), dtype=np.float64) if kind == "decimal" else values


def python_values(values: Matrix, kind: str | None) -> list[Any]:
    """Return numbers as the values that a driver takes for a column of some kind."""
    if kind in (None, "double"):
        return list(values.tolist())
    make: Callable[[float], Any] = {"boolean": bool, "integer": int, "decimal": float}[kind]
    return [None if math.isnan(value) else make(value) for value in values.tolist()]


def fields(row: Any) -> tuple[Any, ...]:
    """Return a row of a result as a tuple, even if the driver was told to give mappings."""
    return tuple(row.values() if isinstance(row, Mapping) else row)


class CastingDialect(Dialect):
    """The SQL of a database that multiplies no boolean, but casts one to a double."""

    def as_number(self, column: str, kind: str | None) -> str:
        """Return the column, cast if it may be a boolean."""
        return f"CAST({column} AS DOUBLE)" if kind in (None, "boolean") else column

    def product(self, weight: float, column: str) -> str:
        """Return the product, without a factor of 1 if the column is cast to a double anyway."""
        return super().product(weight, column) if column.startswith("data.") else TextLanguage.product(self, weight, column)


class RemoteDialect(Dialect):
    """The SQL of a database that does not run inside Python."""

    def connect(self) -> Any:
        """Raise, because only the user can connect to the database."""
        if self.placeholder is None:
            raise CannotVerifyError(f"there is no {self.title} here to run it.")
        raise CannotVerifyError(f"{self.title} runs elsewhere: give a connection to it as 'connection' to have it verified.")
