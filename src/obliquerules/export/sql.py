"""SQL: a model as a query in the dialect of a database."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from obliquerules.export.dialect import TEMPORARY, Dialect
from obliquerules.export.dialects import DIALECTS
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix, Target
from obliquerules.export.verification import ExportError

# An output must not have the name of a column of the table, whose columns are not known here. So the innermost query refers to
# each output without saying where it comes from: if the table has a column of that name, too, the reference is ambiguous, and
# the database refuses the query.
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


@dataclass(frozen=True)
class SqlTarget(Target):
    """A query that adds score, prediction and, on request, the contribution of each rule to the columns of a table.

    Parameters
    ----------
    dialect : str, default="duckdb"
        One of `DIALECTS`.
    table : str or sequence of str, default="data"
        The name of the table; a sequence, if it is in a schema: ``["sales", "customers"]``. The table may have further
        columns, but if one has the name of an output, the database refuses the query, because the name is ambiguous.
    prefix : str, default=""
        The prefix of the output names.
    connection : connection of a database driver, optional
        Where the query is verified, on a temporary table; DuckDB and SQLite need none. The verification commits nothing, but
        Snowflake commits an open transaction whenever a table is created.
    """

    name = "sql"
    dialect: str = "duckdb"
    table: str | Sequence[str] = "data"
    prefix: str = ""
    connection: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
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
        return DIALECTS[self.dialect]

    def _source_table(self) -> str:
        return f"FROM {'.'.join(map(self._language.quote, self._parts))} AS data"

    def apart(self, source: Source) -> SqlTarget:
        """Return the target with a prefix that makes output names differ from column names."""
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
        """Yield the given connection, or a new one that is closed afterwards."""
        if self.connection is not None:
            yield self.connection
        else:
            with contextlib.closing(self._language.connect()) as connection:
                yield connection

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Insert the rows into a temporary table and run the query on it."""
        query = product.replace(self._source_table(), f"FROM {TEMPORARY} AS data")
        with self._connected() as connection:
            try:
                rows = self._fetched(connection.cursor(), query, source, X)
            except Exception as error:  # each driver has its own exceptions
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
