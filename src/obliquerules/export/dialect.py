"""Dialect: how the SQL of one database differs from the standard."""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.export.language import TextLanguage
from obliquerules.export.source import Source
from obliquerules.export.values import TEMPORAL, threshold_moment
from obliquerules.export.verification import CannotVerifyError
from obliquerules.rules.columns import DAY, EPOCH, Level
from obliquerules.rules.proposition import Proposition

# The temporary table that holds the rows on which a query is verified.
TEMPORARY = "obliquerules_rows"
# No column of whole numbers has a larger one.
LARGEST_WHOLE = 1e40
# No sum of a row that is scored is larger.
LARGEST_SUM = 1e308
# The kinds of columns by what databases call their types.
TYPE_NAMES = {
    "boolean": r"bool|bit$|bit\(1\)",
    "duration": r"interval",
    "integer": r"\w*int(eger|\d*)?\b|(small|big)?serial",
    "decimal": r"dec|numeric|number|money",
    "double": r"double|real|float",
    "text": r"(var|n|nvar|bp)?char|text|string|enum|\"?char",
    "time": r"timestamp|datetime|smalldatetime",
    "date": r"date",
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
    text, time : str
        The types of text and of times.
    truths : tuple of str
        False and true.
    escapes : mapping from str to str
        How characters are written inside of a text, if not as they are.
    nan_as_null : str or None
        A number, null in place of NaN; None if the database has no NaN.
    nan_is_largest : bool
        Whether NaN counts as larger than all numbers; otherwise comparisons with it are false.
    seconds : str
        The seconds since the beginning of 1970 at a date or time and, if the database has durations, of a duration.
    has_durations : bool
        Whether a column can hold durations; otherwise they are numbers of days.
    fence, last_fence : str
        What stands at the end of subqueries and of the query itself, so that the database computes the columns of a subquery
        once, not wherever they are used.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    exp = "EXP"
    largest = "GREATEST"
    double: ClassVar[str] = "DOUBLE PRECISION"
    case_sensitive: ClassVar[bool] = False
    most_columns: ClassVar[int] = 1500
    placeholder: ClassVar[str | None] = None
    version_query: ClassVar[str] = "SELECT version()"
    text: ClassVar[str] = "VARCHAR"
    time: ClassVar[str] = "TIMESTAMP"
    truths: ClassVar[tuple[str, str]] = ("FALSE", "TRUE")
    escapes: ClassVar[Mapping[str, str]] = {"'": "''"}
    nan_as_null: ClassVar[str | None] = None
    nan_is_largest: ClassVar[bool] = False
    seconds: ClassVar[str]
    has_durations: ClassVar[bool] = False
    fence: ClassVar[str] = ""
    last_fence: ClassVar[str] = ""

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

    def plain(self, source: Source, column: int) -> str:
        """Return a column of the table as it is."""
        return f"data.{self.quote(source.name(column))}"

    def stored(self, source: Source, column: int) -> str | None:
        """Return what a column of the table holds; None if it is some kind of number."""
        kind = source.kind(column)
        return None if kind == "duration" and not self.has_durations else kind

    def column(self, source: Source, column: int) -> str:
        """Return a column of the table as a number."""
        stored = self.stored(source, column)
        if stored not in TEMPORAL:
            return self.as_number(self.plain(source, column), stored)
        seconds = self.seconds.format(self.plain(source, column))
        return seconds if source.column(column).kind == "time" else f"({seconds} / {self.number(DAY)})"

    def as_number(self, column: str, kind: str | None) -> str:
        """Return a column of a certain kind, or of a kind that is not known, as a number."""
        return f"CAST({column} AS INTEGER)" if kind == "boolean" else column

    def product(self, weight: float, column: str) -> str:
        """Return the product; even a factor of 1 is written, because it makes a double of an integer or a decimal."""
        return f"{self.number(weight)} * {column}"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison; not with ABS, which fails for the smallest integer."""
        return f"{column} BETWEEN {self.number(-limit)} AND {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return whether a row can be scored, with each number on its own line; None if every row can."""
        whole = ("boolean", "integer", *TEMPORAL) if source.largest_input > LARGEST_WHOLE else TEMPORAL
        numbers = [column for column in source.summed if self.stored(source, column) not in whole]
        tests = [self.usable(source, column) for column in numbers]
        tests += [self.usable_given(source, column) for column in source.given]
        return "\n        AND ".join(tests) or None

    def usable_given(self, source: Source, column: int) -> str:
        """Return whether an exposure or an offset can be computed with; null if it is."""
        value, limit = self.column(source, column), source.largest_given
        return self.positive(value, limit) if source.has_exposure else self.within(value, limit)

    # ---- missing values, levels and dates

    def may_be_nan(self, source: Source, column: int) -> bool:
        """Say whether a column may hold NaN."""
        numbers = source.column(column).levels is None and self.stored(source, column) in (None, "double")
        return numbers and self.nan_as_null is not None

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        """Return whether a value is null or NaN."""
        value = self.plain(source, column)
        if self.may_be_nan(source, column):
            value = str(self.nan_as_null).format(self.column(source, column))
        return f"{value} IS {'NOT ' if negated else ''}NULL"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        """Return a comparison, which is null where the level is."""
        plain, listed = self.level_column(source, column), [self.level(source, column, level) for level in levels]
        if len(listed) == 1:
            return f"{plain} {'<>' if negated else '='} {listed[0]}"
        return f"{plain} {'NOT IN' if negated else 'IN'} ({', '.join(listed)})"

    def level_column(self, source: Source, column: int) -> str:
        """Return a column for comparisons with levels, which must tell upper from lower case."""
        return self.plain(source, column)

    def level(self, source: Source, column: int, level: Level) -> str:
        """Return a level as the column has it."""
        if isinstance(level, str):
            return self.text_literal(level)
        return self.truths[level] if self.stored(source, column) == "boolean" else str(int(level))

    def text_literal(self, text: str) -> str:
        """Return a text in quotes; raise if the database has no such text."""
        if "\0" in text:
            raise ValueError(f"The level {text!r} has the character NUL, which no text of {self.title} can hold.")
        return f"'{''.join(self.escapes.get(character, character) for character in text)}'"

    def comparison(self, source: Source, proposition: Proposition) -> str:
        """Return whether a sum reaches its threshold; a date, time or duration alone is compared with one."""
        alone = proposition.only_number
        if alone is not None and (text := self._dated(source, alone, proposition)) is not None:
            return text
        numbers = [term for term in proposition.columns if isinstance(term, int)]
        if self.nan_is_largest and any(self.may_be_nan(source, column) for column in numbers):
            # So that NaN does not count; no sum is larger.
            limits = f"{self.number(proposition.threshold)} AND {self.number(LARGEST_SUM)}"
            return f"{self.projection(source, proposition)} BETWEEN {limits}"
        return super().comparison(source, proposition)

    def _dated(self, source: Source, column: int, proposition: Proposition) -> str | None:
        """Return a comparison of a column with a date, time or duration; None if that is not what the condition says."""
        stored, weight = self.stored(source, column), proposition.weights[0]
        kind = source.column(column).kind
        bound = threshold_moment(kind, weight, proposition.threshold) if stored in TEMPORAL else None
        if bound is None:
            return None
        return self.dated(self.plain(source, column), ">=" if weight > 0.0 else "<=", bound, str(stored))

    def dated(self, column: str, sense: str, microseconds: int, stored: str) -> str:
        """Return a comparison with a date, time or duration."""
        return f"{column} {sense} {self.moment(microseconds, stored)}"

    def moment(self, microseconds: int, stored: str) -> str:
        """Return a date, time or duration; for a column of dates, too, a time unless it is at midnight."""
        since = datetime.timedelta(microseconds=microseconds)
        if stored == "duration":
            seconds = since - datetime.timedelta(since.days)
            rest = "" if not seconds else f" {seconds.seconds}.{seconds.microseconds:06} seconds"
            return f"INTERVAL '{since.days} days{rest}'"
        time = EPOCH + since
        if stored == "date" and time.time() == datetime.time():
            return self.date_literal(time.date().isoformat())
        return self.time_literal(time.isoformat(sep=" "))

    def date_literal(self, text: str) -> str:
        """Return a date."""
        return f"DATE '{text}'"

    def time_literal(self, text: str) -> str:
        """Return a time."""
        return f"TIMESTAMP '{text}'"

    def both(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return " AND ".join(conditions)

    def either(self, conditions: Sequence[str]) -> str:
        """Join conditions."""
        return f"({' OR '.join(conditions)})"

    def choice(self, condition: str, weight: float) -> str:
        """Return the weight, of the type of a double, where the condition holds."""
        return self.only(condition, self.constant(weight))

    def only(self, condition: str, amount: str) -> str:
        """Return a CASE expression."""
        return f"CASE WHEN {condition} THEN {amount} ELSE {self.number(0.0)} END"

    def score(self, start: str, contributions: Sequence[str]) -> str:
        """Return the sum, with each rule on its own line."""
        return "\n        + ".join([start, *contributions])

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        """Return a CASE expression, which looks at one score after the other; null if they are."""
        tests = [f"WHEN {score} THEN {self.label(label)}" for label, score in zip(labels, scores, strict=True)]
        return "\n    ".join([f"CASE {highest}", *tests]) + "\n  END"

    def label(self, label: Any) -> str:
        """Return the label of a class."""
        if isinstance(label, str):
            return self.text_literal(label)
        return self.constant(label) if isinstance(label, float) else str(int(label))

    def bounded(self, value: str, low: float, high: float) -> str:
        """Return the bounded number as a CASE expression, which all databases have."""
        limits = [(sense, self.number(limit)) for sense, limit in (("<", low), (">", high)) if math.isfinite(limit)]
        tests = " ".join(f"WHEN {value} {sense} {limit} THEN {limit}" for sense, limit in limits)
        return f"(CASE {tests} ELSE {value} END)"

    def scored_rows(self, source: Source, X: Matrix) -> NDArray[np.bool_]:
        """Return which rows the query scores."""
        return source.scorable(X)

    # ---- the temporary table ----

    def type_of(self, kind: str | None) -> str:
        """Return the type of a column of the temporary table."""
        types = {"boolean": "BOOLEAN", "integer": "BIGINT", "decimal": "DECIMAL(18, 4)", "date": "DATE", "duration": "INTERVAL"}
        return (types | {"text": self.text, "time": self.time}).get(kind or "double", self.double)

    def value(self, value: Any) -> Any:
        """Return a value in the form that the driver takes."""
        return value

    def fill(self, cursor: Any, types: Sequence[str], columns: Sequence[list[Any]]) -> None:  # noqa: ARG002  # others cast
        """Insert rows into the temporary table, given as the values of each column."""
        places = ", ".join([str(self.placeholder)] * len(columns))
        rows = zip(*[map(self.value, column) for column in columns], strict=True)
        cursor.executemany(f"INSERT INTO {TEMPORARY} VALUES ({places})", list(rows))

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
    """Return the kind of a column by the name of its type; None if it holds nothing that rules are about.

    >>> [kind_of_type(name) for name in ("BIGINT", "numeric(10,2)", "boolean", "DOUBLE", "date", "interval", "blob")]
    ['integer', 'decimal', 'boolean', 'double', 'date', 'duration', None]
    """
    return next((kind for kind, names in TYPE_NAMES.items() if re.match(names, name.lower())), None)


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
