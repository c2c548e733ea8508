"""Dialect: how the SQL of one database differs from the standard."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix
from obliquerules.export.verification import CannotVerifyError

# The temporary table that holds the rows on which a query is verified.
TEMPORARY = "obliquerules_rows"


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
    infinity : str or None
        How infinity is written, if the database orders NaN above it; else None.
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
    infinity: ClassVar[str | None] = None
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
        text = repr(value)
        return text if "e" in text else f"{text.removesuffix('.0')}e0"

    def column(self, source: Source, column: int) -> str:
        """Return a column of the table."""
        return f"data.{self.quote(source.name(column))}"

    def reaches(self, total: str, threshold: float) -> str:
        """Return a comparison that is false for NaN, and null for null."""
        if self.infinity is None:
            return super().reaches(total, threshold)
        return f"{total} BETWEEN {self.number(threshold)} AND {self.infinity}"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " AND ".join(conditions)

    def choice(self, condition: str, weight: float) -> str:
        """Return a CASE expression; null counts as false."""
        return f"CASE WHEN {condition} THEN {self.number(weight)} ELSE {self.number(0.0)} END"

    def score(self, constant: float, contributions: Sequence[str]) -> str:
        """Return the sum, with each rule on its own line."""
        return "\n    + ".join([self.constant(constant), *contributions])

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return the bounded score as a CASE expression, which all databases have."""
        least, most = self.number(low), self.number(high)
        return f"(CASE WHEN {score} < {least} THEN {least} WHEN {score} > {most} THEN {most} ELSE {score} END)"

    def fill(self, cursor: Any, values: Matrix) -> None:
        """Insert rows, numbered from 0, into the temporary table."""
        places = ", ".join([str(self.placeholder)] * (1 + values.shape[1]))
        rows = [[position, *row] for position, row in enumerate(values.tolist())]
        cursor.executemany(f"INSERT INTO {TEMPORARY} VALUES ({places})", rows)

    @abstractmethod
    def connect(self) -> Any:
        """Return a connection to a new, empty database; raise CannotVerifyError if that is not possible."""


class RemoteDialect(Dialect):
    """The SQL of a database that does not run inside Python."""

    def connect(self) -> Any:
        """Raise, because only the user can connect to the database."""
        if self.placeholder is None:
            raise CannotVerifyError(f"there is no {self.title} here to run it.")
        raise CannotVerifyError(f"{self.title} runs elsewhere: give a connection to it as 'connection' to have it verified.")
