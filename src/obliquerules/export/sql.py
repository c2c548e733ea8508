"""SQL: a model as a query in the dialect of a database."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from obliquerules.arrays import Matrix
from obliquerules.export.export_formats import Export, ExportFormat
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS, TEMPORARY, Dialect, fields, kind_of_type
from obliquerules.export.verification import ExportError

# An output must not have the name of a column of the table, whose columns are not known here. So the innermost query refers to
# each output without saying where it comes from: if the table has a column of that name, too, the reference is ambiguous, and
# the database refuses the query.
QUERY = """\
SELECT data.*,
  {prediction} AS {prediction_name}{rules}
FROM (
  SELECT data.*,
    {score} AS {score_name}
  FROM (
    SELECT data.*
    {table}
    JOIN (SELECT {zeros}) AS outputs ON 0 IN ({names})
  ) AS data
) AS data
"""
# With many classes, the first score says whether a row can be scored, so that this stands in the query once.
CLASSES_QUERY = """\
SELECT data.*,
  {label} AS {label_name},
  {where} {probability} END AS {probability_name}{rules}
FROM (
  SELECT data.*{others}
  FROM (
    SELECT data.*,
      {score} AS {score_name}
    FROM (
      SELECT data.*
      {table}
      JOIN (SELECT {zeros}) AS outputs ON 0 IN ({names})
    ) AS data{fence}
  ) AS data{fence}
) AS data{last_fence}
"""
# A row that cannot be scored has no score.
SCORE = """\
CASE
      WHEN {scorable}
      THEN {score}
    END"""
# Names between dots, in quotes where they have dots themselves.
NAME = r'[^."]+|"(?:[^"]|"")+"'


@dataclass(frozen=True)
class SqlFormat(ExportFormat):
    """A query that adds score, prediction and, on request, the contribution of each rule to the columns of a table.

    With many classes it adds the score of each, such as score_red, the class and its probability. All outputs are null for a
    row in which a number that rules use is infinite or beyond 1e300, and for one without an exposure or an offset that can be
    computed with, if the model has one. What is null or NaN is missing, and scored as such.

    Columns have their own types: text, booleans, dates, times without a zone, and durations in DuckDB and PostgreSQL. Elsewhere
    durations are numbers of days, and in SQLite dates and times are text.

    Parameters
    ----------
    dialect : str, default="duckdb"
        One of `DIALECTS`.
    table : str or sequence of str, default="data"
        The name of the table, with schema and catalogue if it needs them: ``"clinic.patients"``. A name that has a dot itself
        is written in double quotes, ``'clinic."patients.2024"'``, or as part of a sequence, ``["clinic", "patients.2024"]``.
        The table may have further columns, but if one has the name of an output, the database refuses the query, because the
        name is ambiguous.
    prefix : str, default=""
        The prefix of the output names.
    types : mapping from str to str, optional
        What the columns of the table hold, by name: ``"boolean"``, ``"integer"``, ``"decimal"``, ``"double"``, ``"text"``,
        ``"date"``, ``"time"`` or ``"duration"``. The types of other columns are taken from the table, if it is found on the
        connection, else from X, if that is a data frame, else from the model. Booleans that the model has as numbers are cast.
        DuckDB, SQLite and Spark need not be told which columns are booleans; other databases must be.
    connection : connection of a database driver, optional
        Where the query is verified, on a temporary table; DuckDB and SQLite need none. The verification commits nothing and
        leaves nothing behind, even if it fails, but Snowflake commits an open transaction whenever a table is created.
    """

    name = "sql"
    dialect: str = "duckdb"
    table: str | Sequence[str] = "data"
    prefix: str = ""
    types: Mapping[str, str] | None = None
    connection: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}; got {self.dialect!r}.")
        if self.connection is not None and self._language.placeholder is None:
            raise ValueError(f"connection cannot be used: an export for {self._language.title} is not verified.")
        if not self._parts or not all(isinstance(part, str) and self._language.holds(part) for part in self._parts):
            raise ValueError(
                "table must be a name, which may have a schema and a catalogue before it ('clinic.patients'), or a sequence of "
                f"such names; got {self.table!r}."
            )

    @property
    def _parts(self) -> tuple[Any, ...]:
        """The names of catalogue, schema and table; none if they cannot be told."""
        if isinstance(self.table, str):
            whole = re.fullmatch(rf"({NAME})(\.({NAME}))*", self.table)
            return tuple(map(_unquoted, re.findall(NAME, self.table))) if whole else ()
        return tuple(self.table) if isinstance(self.table, Sequence) and not isinstance(self.table, bytes) else ()

    @property
    def _language(self) -> Dialect:
        return DIALECTS[self.dialect]

    def _source_table(self) -> str:
        return f"FROM {'.'.join(map(self._language.quote, self._parts))} AS data"

    def apart(self, source: Source) -> SqlFormat:
        """Return the target with a prefix that makes output names differ from column names."""
        return replace(self, prefix=source.free_prefix(self.prefix))

    def write(self, source: Source) -> str:
        """Return the text of the query."""
        language = self._language
        source.check_outputs(self.prefix, ignore_case=not language.case_sensitive)
        source.check_distinct(source.names, ignore_case=not language.case_sensitive)
        names = [language.quote(name) for name in source.output_names(self.prefix)]
        contributions = [term for rule in source.ensemble for term in language.contributions(source, rule)]
        scores, scorable = language.scores(source, contributions), language.scorable(source)
        wanted = zip(contributions if source.contributions else [], names[source.link_position + 1 :], strict=True)
        where = f"CASE WHEN data.{names[0]} IS NOT NULL THEN"
        parts = {
            "score": scores[0] if scorable is None else SCORE.format(scorable=scorable, score=scores[0]),
            "score_name": names[0],
            "rules": "".join(f",\n  {where} {text} END AS {name}" for text, name in wanted),
            "table": self._source_table(),
            "zeros": ", ".join(f"0 AS {name}" for name in names),
            "names": ", ".join(names),
        }
        if not source.has_many_classes:
            prediction = language.prediction(source, f"data.{names[0]}")
            return QUERY.format(prediction=prediction, prediction_name=names[1], **parts)
        named = [f"data.{name}" for name in names[: source.n_scores]]
        highest, others = language.highest(named), zip(scores[1:], names[1:], strict=False)
        return CLASSES_QUERY.format(
            label=language.first_label(source.labels, named, highest),
            label_name=names[source.n_scores],
            probability=language.probability(source, named, highest),
            probability_name=names[source.link_position],
            where=where,
            others="".join(f",\n    {where} {text}\n    END AS {name}" for text, name in others),
            fence=language.fence and f"\n  {language.fence}",
            last_fence=language.last_fence and f"\n{language.last_fence}",
            **parts,
        )

    # ---- verification ----

    def export(self, source: Source, X: Matrix) -> Export:
        """Write the query for the columns that the table has, and verify that it computes the same as the model."""
        return super().export(replace(source, kinds=dict(source.kinds) | self._found_kinds(source) | dict(self.types or {})), X)

    def _found_kinds(self, source: Source) -> dict[str, str]:
        """Return the kinds of the columns of the table, if it is found on the connection."""
        if self.connection is None:
            return {}
        with self._borrowed() as cursor:
            types = self._language.column_types(cursor, self._parts)
        if not self._language.case_sensitive:
            types = {name: types[held] for name in source.names for held in types if held.casefold() == name.casefold()}
        for name in source.used_names if types else ():
            if name not in types:
                raise ValueError(f"The table {'.'.join(self._parts)} has no column {name!r}, which rules use.")
        for column in source.columns:
            _check_type(source, column, types.get(source.name(column), ""))
        return {name: kind for name, held in types.items() if (kind := kind_of_type(held)) is not None}

    def engine(self) -> tuple[str, str]:
        """Return the database and its version."""
        with self._borrowed() as cursor:
            cursor.execute(self._language.version_query)
            return self._language.title, str(fields(cursor.fetchone())[0])

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[Any]:
        """Yield a cursor of the given connection, which is left as it was, or of a new one that is closed afterwards."""
        if self.connection is None:
            with contextlib.closing(self._language.connect()) as connection:
                yield connection.cursor()
        else:
            with self._language.borrowed(self.connection) as cursor:
                yield cursor

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        """Return rows with each value as its column can hold it."""
        return self._stored(source).held(X)

    def _stored(self, source: Source) -> Source:
        """Return the source with durations as numbers where the database has no durations."""
        numbers = {
            source.name(column): "double"
            for column in range(source.n_columns)
            if source.kind(column) == "duration" and not self._language.has_durations
        }
        return replace(source, kinds=dict(source.kinds) | numbers)

    def expected(self, source: Source, X: Matrix) -> Matrix:
        """Return what the query must give for each row."""
        return np.where(self._language.scored_rows(source, X)[:, None], source.outputs(X), np.nan)

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        """Insert the rows into a temporary table and run the query on it."""
        query = product.replace(self._source_table(), f"FROM {TEMPORARY} AS data")
        try:
            with self._borrowed() as cursor:
                rows = self._fetched(cursor, query, source, X)
        except Exception as error:  # each driver has its own exceptions
            raise ExportError(f"{self._language.title} refused the export: {error}") from error
        if (place := source.class_position) is not None:
            codes = source.codes(row[place] for row in rows)
            rows = [(*row[:place], code, *row[place + 1 :]) for row, code in zip(rows, codes, strict=True)]
        return np.array(rows, dtype=np.float64)

    def _fetched(self, cursor: Any, query: str, source: Source, X: Matrix) -> list[Any]:
        language, position = self._language, source.position_name(source.output_names(self.prefix))
        layout, held = language.layout(source), self._stored(source)
        kinds = [held.kind(column) for column in layout]
        names = [position, *[language.quote(source.name(column)) for column in layout]]
        types = ["INTEGER", *map(language.type_of, kinds)]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
        cursor.execute(f"CREATE TEMPORARY TABLE {TEMPORARY} ({columns})")
        language.fill(cursor, types, [list(range(len(X))), *[held.values(column, X) for column in layout]])
        outputs = ", ".join(f"product.{language.quote(name)}" for name in source.output_names(self.prefix))
        cursor.execute(f"SELECT {outputs} FROM (\n{query}) AS product ORDER BY product.{position}")
        return list(map(fields, cursor.fetchall()))


def _check_type(source: Source, column: int, held: str) -> None:
    """Raise if the column of a table cannot be compared with what the model says of it."""
    kind = kind_of_type(held)
    if source.kind(column) == "text" and kind not in (None, "text"):
        raise ValueError(f"The column {source.name(column)!r} of the table is of type {held}, but held text in fit.")
    if source.column(column).kind in ("date", "time") and re.search(r"with time zone|timestamp_?tz", held.lower()):
        raise ValueError(
            f"The times of column {source.name(column)!r} of the table have a zone: export for a view that has them in "
            "universal time without one."
        )


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
