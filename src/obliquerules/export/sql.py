"""SQL: a model as one query, in the dialect of a database."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import CannotVerifyError, ExportError

# The rows of a product go through a table of this name while it is verified.
TEMPORARY = "obliquerules_rows"

# An output must not be called like a column of the table, whose columns are not known here, or it could be taken for it. So the
# innermost query mentions each output without saying where it comes from: the database, by its own rules for names, refuses a
# query in which that can be the table as well.
QUERY = """\
SELECT scored.*,
  {prediction} AS {prediction_name}
FROM (
  SELECT data.*,
    {score} AS {score_name}{rules}
  FROM (
    SELECT data.*
    {table}
    JOIN (SELECT {zeros}) AS outputs ON 0 IN ({names})
  ) AS data
) AS scored
"""


class Dialect(TextLanguage):
    """The SQL of one database; the defaults are those of the standard.

    Attributes
    ----------
    name : str
        As `export` takes it.
    title : str
        As people write it.
    double : str
        The type of a double.
    infinity : str or None
        How infinity is written, if the database holds that NaN is larger than it; else None.
    case_sensitive : bool
        Whether quoted names that differ in upper and lower case only are different.
    most_columns : int
        The number of columns, all doubles, that a table can have, or be filled with in reasonable time.
    placeholder : str or None
        What stands for a value in a statement of the usual driver; None if products cannot be verified on a connection.
    version_query : str
        Asks for the version of the database.
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
        """Return an identifier in quotes; raise if no quotes can make it one."""
        if not self.holds(name):
            raise ValueError(f"A column of {self.title} cannot be called {name!r}; rename it before the fit.")
        return self.quoted(name)

    def holds(self, name: str) -> bool:
        """Say whether a column can have a name."""
        return bool(name) and "\0" not in name

    def layout(self, source: Source) -> tuple[int, ...]:
        """Return the columns of the model that a table has: all, unless that is more than a table can have."""
        columns = source.layout(ignore_case=not self.case_sensitive)
        used = set(source.columns)
        held = tuple(column for column in columns if column in used or self.holds(source.name(column)))
        return held if len(held) < self.most_columns else source.columns

    def quoted(self, name: str) -> str:
        """Return a name that is not empty in quotes."""
        return '"' + name.replace('"', '""') + '"'

    def number(self, value: float) -> str:
        """Return the shortest decimal, with an exponent, which makes it a double and not a decimal."""
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
        """Return a case; null counts as false."""
        return f"CASE WHEN {condition} THEN {self.number(weight)} ELSE {self.number(0.0)} END"

    def score(self, constant: float, contributions: Sequence[str]) -> str:
        """Return the sum with one rule on each line."""
        return "\n    + ".join([self.constant(constant), *contributions])

    def bounded(self, score: str, low: float, high: float) -> str:
        """Return a case, which all databases have."""
        least, most = self.number(low), self.number(high)
        return f"(CASE WHEN {score} < {least} THEN {least} WHEN {score} > {most} THEN {most} ELSE {score} END)"

    def fill(self, cursor: Any, values: Matrix) -> None:
        """Put numbered rows of values into the temporary table."""
        places = ", ".join([str(self.placeholder)] * (1 + values.shape[1]))
        rows = [[position, *row] for position, row in enumerate(values.tolist())]
        cursor.executemany(f"INSERT INTO {TEMPORARY} VALUES ({places})", rows)

    @abstractmethod
    def connect(self) -> Any:
        """Return a connection to an empty database; raise CannotVerifyError if there is none."""


class RemoteDialect(Dialect):
    """The SQL of a database that does not run inside Python."""

    def connect(self) -> Any:
        """Raise, because somebody must say where the database is."""
        if self.placeholder is None:
            raise CannotVerifyError(f"there is no {self.title} here to run it.")
        raise CannotVerifyError(f"{self.title} runs elsewhere: give a connection to it as 'connection' to have it verified.")


@dataclass(frozen=True)
class SqlTarget(Target):
    """A query that adds score and prediction, and on request what each rule adds, to the columns of a table.

    Parameters
    ----------
    dialect : str, default="duckdb"
        One of `DIALECTS`.
    table : str or sequence of str, default="data"
        The name of the table; a sequence, if it is in a schema: ``["sales", "customers"]``. It may have further columns,
        but none that is called like an output: the database then refuses the query, because the name is ambiguous.
    prefix : str, default=""
        Stands before the names of the outputs.
    connection : connection of a database driver, optional
        Where the query is verified, on a temporary table; DuckDB and SQLite need none. Nothing is committed on it, but
        Snowflake commits what is open whenever a table is made.
    """

    name = "sql"
    dialect: str = "duckdb"
    table: str | Sequence[str] = "data"
    prefix: str = ""
    connection: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        from obliquerules.export.dialects import DIALECTS

        if self.dialect not in DIALECTS:
            raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}; got {self.dialect!r}.")
        if self.connection is not None and self._language.placeholder is None:
            raise ValueError(f"connection cannot be used: an export for {self._language.title} is not verified.")
        if not self._parts or not all(isinstance(part, str) and self._language.holds(part) for part in self._parts):
            raise ValueError(f"table must be a name, or names of which the last is that of the table; got {self.table!r}.")

    @property
    def _parts(self) -> tuple[Any, ...]:
        named = isinstance(self.table, str) or not isinstance(self.table, Sequence)
        return (self.table,) if named else tuple(self.table)

    @property
    def _language(self) -> Dialect:
        from obliquerules.export.dialects import DIALECTS

        return DIALECTS[self.dialect]

    def _source_table(self) -> str:
        return f"FROM {'.'.join(map(self._language.quote, self._parts))} AS data"

    def apart(self, source: Source) -> SqlTarget:
        """Return the same with a prefix that tells outputs from columns."""
        return replace(self, prefix=source.free_prefix(self.prefix))

    def write(self, source: Source) -> str:
        """Return the text of the query."""
        language = self._language
        source.check_outputs(self.prefix, ignore_case=not language.case_sensitive)
        source.check_distinct(source.names, ignore_case=not language.case_sensitive)
        names = [language.quote(name) for name in source.output_names(self.prefix)]
        contributions = [language.contribution(source, rule) for rule in source.ensemble]
        wanted = zip(contributions if source.contributions else [], names[2:], strict=True)
        return QUERY.format(
            prediction=language.prediction(source, f"scored.{names[0]}"),
            prediction_name=names[1],
            score=language.score(source.ensemble.intercept, contributions),
            score_name=names[0],
            rules="".join(f",\n    {text} AS {name}" for text, name in wanted),
            table=self._source_table(),
            zeros=", ".join(f"0 AS {name}" for name in names),
            names=", ".join(names),
        )

    def engine(self) -> tuple[str, str]:
        """Return the database and its version."""
        with self._connected() as connection:
            cursor = connection.cursor()
            cursor.execute(self._language.version_query)
            return self._language.title, str(cursor.fetchone()[0])

    @contextlib.contextmanager
    def _connected(self) -> Any:
        """Yield the given connection, or an own one that is closed afterwards."""
        if self.connection is not None:
            yield self.connection
        else:
            with contextlib.closing(self._language.connect()) as connection:
                yield connection

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Put the rows into a temporary table and run the query on it."""
        query = product.replace(self._source_table(), f"FROM {TEMPORARY} AS data")
        with self._connected() as connection:
            try:
                rows = self._fetched(connection.cursor(), query, source, X)
            except Exception as error:  # each driver has its own
                raise ExportError(f"{self._language.title} refused the export: {error}") from error
        return np.array(rows, dtype=np.float64)

    def _fetched(self, cursor: Any, query: str, source: Source, X: Matrix) -> list[Any]:
        language, position = self._language, source.position_name(source.output_names(self.prefix))
        layout = language.layout(source)
        columns = "".join(f", {language.quote(source.name(column))} {language.double}" for column in layout)
        cursor.execute(f"CREATE TEMPORARY TABLE {TEMPORARY} ({position} INTEGER{columns})")
        language.fill(cursor, X[:, list(layout)])
        outputs = ", ".join(f"product.{language.quote(name)}" for name in source.output_names(self.prefix))
        cursor.execute(f"SELECT {outputs} FROM (\n{query}) AS product ORDER BY product.{position}")
        fetched = [tuple(row) for row in cursor.fetchall()]
        cursor.execute(f"DROP TABLE {TEMPORARY}")
        return fetched
