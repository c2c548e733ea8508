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
from obliquerules.export.sql_dialects import DIALECTS, TEMPORARY, TYPES, Dialect, fields, kind_of_type
from obliquerules.export.verification import ExportError

# An output must not have the name of a column of the table, whose columns are not known here. So the innermost query refers to
# each output without saying where it comes from: if the table has a column of that name, too, the reference is ambiguous, and
# the database refuses the query.
SCORED = """\
{pad}SELECT data.*,
{pad}  {score} AS {score_name}
{pad}FROM (
{pad}  SELECT data.*
{pad}  {table}
{pad}  JOIN (SELECT {zeros}) AS outputs ON 0 IN ({names})
{pad}) AS data"""
# The first score says whether a row can be scored, so that this stands in the query once.
OTHERS = """\
  SELECT data.*{columns}
  FROM (
{inner}
  ) AS data"""
QUERY = """\
SELECT data.*{columns}
FROM (
{inner}
) AS data"""
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
    has_typed_columns = True
    dialect: str = "duckdb"
    table: str | Sequence[str] = "data"
    prefix: str = ""
    types: Mapping[str, str] | None = None
    connection: Any = field(default=None, repr=False, compare=False)

    _dialect: Dialect = field(init=False, repr=False, compare=False)
    # The names of catalogue, schema and table.
    _parts: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _from_table: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}; got {self.dialect!r}.")
        dialect, parts = DIALECTS[self.dialect], self.table
        if self.connection is not None and dialect.placeholder is None:
            raise ValueError(f"connection cannot be used: an export for {dialect.title} is not verified.")
        if isinstance(parts, str):
            names = re.findall(NAME, parts) if re.fullmatch(rf"({NAME})(\.({NAME}))*", parts) else []
            parts = [name[1:-1].replace('""', '"') if name.startswith('"') else name for name in names]
        is_sequence = isinstance(parts, Sequence) and not isinstance(parts, bytes)
        if not is_sequence or not parts or not all(isinstance(part, str) and dialect.holds(part) for part in parts):
            raise ValueError(
                "table must be a name, which may have a schema and a catalogue before it ('clinic.patients'), or a sequence of "
                f"such names; got {self.table!r}."
            )
        object.__setattr__(self, "_dialect", dialect)
        object.__setattr__(self, "_parts", tuple(parts))
        object.__setattr__(self, "_from_table", f"FROM {'.'.join(map(dialect.quote, parts))} AS data")

    def with_free_names(self, source: Source) -> SqlFormat:
        return replace(self, prefix=source.free_prefix(self.prefix))

    def write(self, source: Source) -> str:
        language = self._dialect
        source.check_outputs(self.prefix, ignore_case=not language.case_sensitive)
        source.check_distinct(source.names, ignore_case=not language.case_sensitive)
        names = [language.quote(name) for name in source.output_names(self.prefix)]
        contributions = [term for rule in source.ensemble for term in language.contributions(source, rule)]
        scores, scorable = language.scores(source, contributions), language.scorable(source)
        where = f"CASE WHEN data.{names[0]} IS NOT NULL THEN"
        query = SCORED.format(
            pad="    " if len(scores) > 1 else "  ",
            score=scores[0] if scorable is None else SCORE.format(scorable=scorable, score=scores[0]),
            score_name=names[0],
            table=self._from_table,
            zeros=", ".join(f"0 AS {name}" for name in names),
            names=", ".join(names),
        )
        fence, last_fence = "", ""
        if len(scores) > 1:
            fence, last_fence = language.fence and f"\n  {language.fence}", language.last_fence and f"\n{language.last_fence}"
            others = zip(scores[1:], names[1 : source.n_scores], strict=True)
            columns = "".join(f",\n    {where} {text}\n    END AS {name}" for text, name in others)
            query = OTHERS.format(columns=columns, inner=query + fence) + fence
        answers = language.answers(source, [f"data.{name}" for name in names[: source.n_scores]])
        # The class is null where scores are; a probability might not be.
        said = [*answers[:-1], answers[-1] if len(scores) == 1 else f"{where} {answers[-1]} END"]
        said += [f"{where} {text} END" for text in contributions if source.contributions]
        columns = "".join(f",\n  {text} AS {name}" for text, name in zip(said, names[source.n_scores :], strict=True))
        return QUERY.format(columns=columns, inner=query) + f"{last_fence}\n"

    # ---- verification ----

    def export(self, source: Source, X: Matrix) -> Export:
        """Write the query for the columns that the table has, and verify that it computes the same as the model."""
        found = {} if self.connection is None else self._found_kinds(source)
        return super().export(self._typed(source, found | dict(self.types or {})), X)

    def _typed(self, source: Source, types: dict[str, str]) -> Source:
        """Return the source with what is known about columns of the table; durations are numbers where there are none."""
        typed = Source(source.model, source.contributions, source.types | types)
        if self._dialect.has_durations or "duration" not in typed.kinds:
            return typed
        numbers = {name: "double" for name, kind in zip(typed.names, typed.kinds, strict=True) if kind == "duration"}
        return Source(source.model, source.contributions, typed.types | numbers)

    def _found_kinds(self, source: Source) -> dict[str, str]:
        """Return the kinds of the columns of the table, if it is found on the connection."""
        with self._borrowed() as cursor:
            types = self._dialect.column_types(cursor, self._parts)
        if not self._dialect.case_sensitive:
            types = {name: types[held] for name in source.names for held in types if held.casefold() == name.casefold()}
        for column in source.used if types else ():
            name, known = source.names[column], source.columns[column]
            if name not in types:
                raise ValueError(f"The table {'.'.join(self._parts)} has no column {name!r}, which rules use.")
            if source.kinds[column] == "text" and kind_of_type(types[name]) not in (None, "text"):
                raise ValueError(f"The column {name!r} of the table is of type {types[name]}, but held text in fit.")
            if known.kind in ("date", "time") and re.search(r"with time zone|timestamp_?tz", types[name].lower()):
                raise ValueError(
                    f"The times of column {name!r} of the table have a zone: export for a view that has them in universal time "
                    "without one."
                )
        return {name: kind for name, held in types.items() if (kind := kind_of_type(held)) is not None}

    def engine(self) -> tuple[str, str]:
        with self._borrowed() as cursor:
            cursor.execute(self._dialect.version_query)
            return self._dialect.title, str(fields(cursor.fetchone())[0])

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[Any]:
        """Yield a cursor of the given connection, which is left as it was, or of a new one that is closed afterwards."""
        if self.connection is None:
            with contextlib.closing(self._dialect.connect()) as connection:
                yield connection.cursor()
        else:
            with self._dialect.borrowed(self.connection) as cursor:
                yield cursor

    def comparable(self, source: Source, X: Matrix) -> Matrix:
        return self._typed(source, {}).held(X)

    def expected(self, source: Source, X: Matrix) -> Matrix:
        return np.where(self._dialect.scored_rows(source, X)[:, None], source.outputs(X), np.nan)

    def run(self, product: Any, source: Source, X: Matrix) -> Matrix:
        language, held = self._dialect, self._typed(source, {})
        query = product.replace(self._from_table, f"FROM {TEMPORARY} AS data")
        outputs = source.output_names(self.prefix)
        position, wanted = source.position_name(outputs), ", ".join(f"product.{language.quote(name)}" for name in outputs)
        layout = source.layout(ignore_case=not language.case_sensitive)
        layout = tuple(column for column in layout if column in source.used or language.holds(source.names[column]))
        # All columns of the model or, if they are too many, those that rules use.
        layout = layout if len(layout) < language.most_columns else source.used
        known = TYPES | {"text": language.text, "time": language.time}
        types = ["INTEGER", *[known.get(held.kinds[column] or "double", language.double) for column in layout]]
        names = [position, *[language.quote(source.names[column]) for column in layout]]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
        try:
            with self._borrowed() as cursor:
                cursor.execute(f"CREATE TEMPORARY TABLE {TEMPORARY} ({columns})")
                language.fill(cursor, types, [list(range(len(X))), *[held.values(column, X) for column in layout]])
                cursor.execute(f"SELECT {wanted} FROM (\n{query}) AS product ORDER BY product.{position}")
                rows = list(map(fields, cursor.fetchall()))
        except Exception as error:  # each driver has its own exceptions
            raise ExportError(f"{self._dialect.title} refused the export: {error}") from error
        return np.array(source.with_codes(rows), dtype=np.float64)
