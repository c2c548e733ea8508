"""SQL dialects: how the SQL of each database differs from the standard."""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from obliquerules.arrays import Matrix
from obliquerules.export.language import TextLanguage
from obliquerules.export.source import KINDS, LARGEST, Source
from obliquerules.export.table_values import TEMPORAL, threshold_moment
from obliquerules.export.verification import CannotVerifyError
from obliquerules.losses import LARGEST_EXPONENT
from obliquerules.rules import Rule
from obliquerules.rules.columns import DAY, EPOCH, Level
from obliquerules.rules.numbers import WHOLE_LIMIT
from obliquerules.rules.rule_parts import Proposition

# The temporary table that holds the rows on which a query is verified.
TEMPORARY = "obliquerules_rows"
# No column of whole numbers has a larger one.
LARGEST_WHOLE = 1e40
# No sum of a row that is scored is larger.
LARGEST_SUM = 1e308
# The types of columns of the temporary table in most databases.
TYPES = {"boolean": "BOOLEAN", "integer": "BIGINT", "decimal": "DECIMAL(18, 4)", "date": "DATE", "duration": "INTERVAL"}
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
    date_form, time_form : str
        A date and a time.
    truths : tuple of str
        False and true.
    casts : mapping from str or None to str
        Columns of certain kinds as numbers, of an unknown kind under None, if not as they are.
    quotes : tuple of str
        What stands before and after a name.
    longest_name : int or None
        The largest number of bytes in a name.
    reserved : tuple of str
        What no column can be called, in any case.
    name_escapes, escapes : mapping from str to str
        How characters are written inside of a name and of a text, if not as they are.
    text_sign, collation : str
        What stands before a text, and after a column that is compared with texts, so that case counts.
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
    functions: ClassVar[Mapping[str, str]] = {"exp": "EXP", "max": "GREATEST"}
    conjunction = " AND "
    disjunction = " OR "
    choice_form = "CASE WHEN {0} THEN {1} ELSE {2} END"
    double: ClassVar[str] = "DOUBLE PRECISION"
    case_sensitive: ClassVar[bool] = False
    most_columns: ClassVar[int] = 1500
    placeholder: ClassVar[str | None] = None
    version_query: ClassVar[str] = "SELECT version()"
    text: ClassVar[str] = "VARCHAR"
    time: ClassVar[str] = "TIMESTAMP"
    date_form: ClassVar[str] = "DATE '{}'"
    time_form: ClassVar[str] = "TIMESTAMP '{}'"
    truths: ClassVar[tuple[str, str]] = ("FALSE", "TRUE")
    casts: ClassVar[Mapping[str | None, str]] = {"boolean": "CAST({} AS INTEGER)"}
    quotes: ClassVar[tuple[str, str]] = ('"', '"')
    longest_name: ClassVar[int | None] = None
    reserved: ClassVar[tuple[str, ...]] = ()
    name_escapes: ClassVar[Mapping[str, str]] = {'"': '""'}
    text_sign: ClassVar[str] = ""
    collation: ClassVar[str] = ""
    escapes: ClassVar[Mapping[str, str]] = {"'": "''"}
    nan_as_null: ClassVar[str | None] = None
    nan_is_largest: ClassVar[bool] = False
    seconds: ClassVar[str]
    has_durations: ClassVar[bool] = False
    fence: ClassVar[str] = ""
    last_fence: ClassVar[str] = ""

    def quote(self, name: str) -> str:
        """Return a quoted identifier; raise if the name cannot be one."""
        if self.longest_name is not None and len(name.encode("utf-8")) > self.longest_name:
            raise ValueError(f"A name in {self.title} has at most {self.longest_name} bytes; {name!r} is longer.")
        if not self.holds(name):
            raise ValueError(f"A column of {self.title} cannot be called {name!r}; rename it before the fit.")
        opening, closing = self.quotes
        return f"{opening}{''.join(self.name_escapes.get(character, character) for character in name)}{closing}"

    def holds(self, name: str) -> bool:
        """Say whether a column can have this name."""
        fits = self.longest_name is None or len(name.encode("utf-8")) <= self.longest_name
        return bool(name) and "\0" not in name and name.lower() not in self.reserved and fits

    def number(self, value: float) -> str:
        """Return the shortest decimal with an exponent, so that it has the type of a double and not DECIMAL."""
        text = repr(value).replace("e+", "e")
        return text if "e" in text else f"{text.removesuffix('.0')}e0"

    def plain(self, source: Source, column: int) -> str:
        """Return a column of the table as it is."""
        return f"data.{self.quote(source.names[column])}"

    def stored(self, source: Source, column: int) -> str | None:
        """Return what a column of the table holds; None if it is some kind of number."""
        kind = source.kinds[column]
        return None if kind == "duration" and not self.has_durations else kind

    def column(self, source: Source, column: int) -> str:
        stored, plain = self.stored(source, column), self.plain(source, column)
        if stored not in TEMPORAL:
            return self.casts.get(stored, "{}").format(plain)
        seconds = self.seconds.format(plain)
        return seconds if source.columns[column].kind == "time" else f"({seconds} / {self.number(DAY)})"

    def product(self, weight: float, column: str) -> str:
        """Return the product; even a factor of 1 is written, because it makes a double of an integer or a decimal."""
        return f"{self.number(weight)} * {column}"

    def within(self, column: str, limit: float) -> str:
        """Return a comparison; not with ABS, which fails for the smallest integer."""
        return f"{column} BETWEEN {self.number(-limit)} AND {self.number(limit)}"

    def scorable(self, source: Source) -> str | None:
        """Return whether a row can be scored, with each number on its own line; None if every row can."""
        whole = ("boolean", "integer", *TEMPORAL) if source.largest_input > LARGEST_WHOLE else TEMPORAL
        tests = [self.usable(source, column) for column in source.summed if self.stored(source, column) not in whole]
        tests += [self.usable_offset(source, column) for column in source.offsets]
        return "\n        AND ".join(tests) or None

    def usable_offset(self, source: Source, column: int) -> str:
        value, limit = self.column(source, column), source.largest_offset
        return self.positive(value, limit) if source.has_exposure else self.within(value, limit)

    # ---- missing values, levels and dates

    def may_be_nan(self, source: Source, column: int) -> bool:
        """Say whether a column may hold NaN."""
        numbers = source.columns[column].levels is None and self.stored(source, column) in (None, "double")
        return numbers and self.nan_as_null is not None

    def missing(self, source: Source, column: int, *, negated: bool = False) -> str:
        value = self.plain(source, column)
        if self.may_be_nan(source, column):
            value = str(self.nan_as_null).format(self.column(source, column))
        return f"{value} IS {'NOT ' if negated else ''}NULL"

    def among(self, source: Source, column: int, levels: Sequence[Level], *, negated: bool) -> str:
        column_text, stored = self.plain(source, column), self.stored(source, column)
        if stored == "text":
            column_text += self.collation
            listed = [self.text_literal(str(level)) for level in levels]
        else:
            listed = [self.truths[int(level)] if stored == "boolean" else str(int(level)) for level in levels]
        if len(listed) == 1:
            return f"{column_text} {'<>' if negated else '='} {listed[0]}"
        return f"{column_text} {'NOT IN' if negated else 'IN'} ({', '.join(listed)})"

    def text_literal(self, text: str) -> str:
        """Return a text in quotes; raise if the database has no such text."""
        if "\0" in text:
            raise ValueError(f"The level {text!r} has the character NUL, which no text of {self.title} can hold.")
        return f"{self.text_sign}'{''.join(self.escapes.get(character, character) for character in text)}'"

    def comparison(self, source: Source, proposition: Proposition) -> str:
        alone, weight = proposition.only_number, proposition.weights[0]
        if alone is not None and (stored := self.stored(source, alone)) in TEMPORAL:
            bound = threshold_moment(source.columns[alone].kind, weight, proposition.threshold)
            if bound is not None:
                return self.dated(self.plain(source, alone), ">=" if weight > 0.0 else "<=", bound, str(stored))
        numbers = [term for term in proposition.columns if isinstance(term, int)]
        if self.nan_is_largest and any(self.may_be_nan(source, column) for column in numbers):
            # So that NaN does not count; no sum is larger.
            limits = f"{self.number(proposition.threshold)} AND {self.number(LARGEST_SUM)}"
            return f"{self.projection(source, proposition)} BETWEEN {limits}"
        return super().comparison(source, proposition)

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
            return self.date_form.format(time.date().isoformat())
        return self.time_form.format(time.isoformat(sep=" "))

    def score(self, start: str, contributions: Sequence[str]) -> str:
        """Return the sum, with each rule on its own line."""
        return "\n        + ".join([start, *contributions])

    def first_label(self, labels: Sequence[Any], scores: Sequence[str], highest: str) -> str:
        tests = []
        for label, score in zip(labels, scores, strict=True):
            number = self.constant(label) if isinstance(label, float) else str(label)
            tests.append(f"WHEN {score} THEN {self.text_literal(label) if isinstance(label, str) else number}")
        return "\n    ".join([f"CASE {highest}", *tests]) + "\n  END"

    def bounded(self, value: str, low: float, high: float) -> str:
        """Return the bounded number as a CASE expression, which all databases have."""
        limits = [(sense, self.number(limit)) for sense, limit in (("<", low), (">", high)) if math.isfinite(limit)]
        tests = " ".join(f"WHEN {value} {sense} {limit} THEN {limit}" for sense, limit in limits)
        return f"(CASE {tests} ELSE {value} END)"

    def scored_rows(self, source: Source, X: Matrix) -> NDArray[np.bool_]:
        """Return which rows the query scores."""
        return source.scorable(X)

    # ---- the temporary table ----

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

    casts = dict.fromkeys((None, "boolean"), "CAST({} AS DOUBLE)")

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


SMALLEST_NORMAL = 2.0**-1022
# Where products may vanish, smaller inputs are not scored by PostgreSQL.
SMALLEST_INPUT = 1e-300


class ArrayDialect(Dialect):
    """The SQL of a database with arrays, so that one statement can fill a table."""

    def array(self, values: list[Any]) -> Any:
        """Return an array in the form that the driver takes."""
        return values

    def fill(self, cursor: Any, types: Sequence[str], columns: Sequence[list[Any]]) -> None:
        arrays = ", ".join(f"unnest(CAST({self.placeholder} AS {kind}[]))" for kind in types)
        cursor.execute(f"INSERT INTO {TEMPORARY} SELECT {arrays}", [self.array(column) for column in columns])


class DuckDB(ArrayDialect, CastingDialect):
    """DuckDB."""

    name = "duckdb"
    title = "DuckDB"
    placeholder = "?"
    nan_as_null = "nullif({}, 'NaN')"
    nan_is_largest = True
    seconds = "epoch({})"
    has_durations = True

    def connect(self) -> Any:
        try:
            import duckdb
        except ImportError as error:
            raise CannotVerifyError("DuckDB is not installed; 'obliquerules[export]' brings it.") from error
        return duckdb.connect(":memory:")

    @contextlib.contextmanager
    def borrowed(self, connection: Any) -> Iterator[Any]:
        """Yield a cursor, which in DuckDB is a connection of its own: its tables and transactions end with it."""
        with contextlib.closing(connection.cursor()) as cursor:
            yield cursor

    def column_types(self, cursor: Any, table: Sequence[str]) -> dict[str, str]:
        """Return the types of the columns of a table or view; a temporary one is not seen from here."""
        names = ("table_name", "schema_name", "database_name")
        given = list(zip(names, reversed(table), strict=False))
        tests = " AND ".join([f"lower({name}) = lower(?)" for name, _ in given] or ["false"])
        place = "" if len(given) > 1 else " AND schema_name = current_schema() AND database_name = current_database()"
        cursor.execute(f"SELECT column_name, data_type FROM duckdb_columns() WHERE {tests}{place}", [part for _, part in given])
        return dict(cursor.fetchall())


class SQLite(Dialect):
    """SQLite, which keeps NaN as null."""

    name = "sqlite"
    title = "SQLite"
    functions: ClassVar[Mapping[str, str]] = {"exp": "EXP", "max": "MAX"}
    # A subquery that has a limit is not merged with a query that has one.
    fence = last_fence = "LIMIT -1"
    double = "REAL"
    placeholder = "?"
    version_query = "SELECT sqlite_version()"
    text = time = "TEXT"
    date_form = time_form = "julianday('{}')"
    truths = ("0", "1")
    # Booleans are the numbers 0 and 1.
    casts: ClassVar[Mapping[str | None, str]] = {}
    # In a subquery, columns called so are renamed.
    reserved = ("true", "false")
    # Dates and times are text, of which SQLite makes days to the millisecond; that is enough for dates.
    seconds = "(round((julianday({}) - 2440587.5) * 86400000.0) / 1000.0)"
    # The fraction of a second begins with the only point of the text, and a zone may follow it.
    microseconds = (
        "(CAST(strftime('%s', substr({0}, 1, instr({0} || '.', '.') - 1) "
        "|| ltrim(substr({0}, instr({0} || '.', '.') + 1), '0123456789')) AS INTEGER) * 1000000 "
        "+ CAST(round(CAST('0' || substr({0} || '.', instr({0} || '.', '.'), 7) AS REAL) * 1000000.0) AS INTEGER))"
    )

    def column(self, source: Source, column: int) -> str:
        if self.stored(source, column) != "time":
            return super().column(source, column)
        seconds = f"({self.microseconds.format(self.plain(source, column))} / 1000000.0)"
        return seconds if source.columns[column].kind == "time" else f"({seconds} / {self.number(DAY)})"

    def number(self, value: float) -> str:
        """Return a number in a form that all versions read exactly: older ones may misread the last digit of a decimal.

        >>> print(*map(SQLite().number, (-28.5, 0.0036, 0.1 + 0.2)))
        -28.5 (36.0 / 10000.0) (1351079888211149.0 / 4503599627370496.0)
        """
        decimal = Decimal(repr(value))
        places = max(0, -int(decimal.as_tuple().exponent))
        whole = int(decimal.scaleb(places)) if abs(value) < WHOLE_LIMIT and places <= 22 else WHOLE_LIMIT
        if abs(whole) >= WHOLE_LIMIT:
            # A whole number multiplied or divided by powers of two, all of which are read exactly.
            mantissa, exponent = math.frexp(value)
            whole, exponent = int(mantissa * 2.0**53), exponent - 53
            while not whole % 2:
                whole, exponent = whole // 2, exponent + 1
            sign, steps = "*" if exponent > 0 else "/", range(0, abs(exponent), 62)
            return f"({whole}.0 {' '.join(f'{sign} {2 ** min(62, abs(exponent) - done)}.0' for done in steps)})"
        # A quotient of whole numbers is rounded correctly; a decimal in SQLite is, too, if it has up to three places.
        return repr(value) if places <= 3 else f"({whole}.0 / 1{'0' * places}.0)"

    def dated(self, column: str, sense: str, microseconds: int, stored: str) -> str:
        """Return a comparison of days or microseconds.

        Texts cannot be compared: the same time may be written in several ways.
        """
        if stored == "time":
            return f"{self.microseconds.format(column)} {sense} {microseconds}"
        return f"julianday({column}) {sense} {self.moment(microseconds, stored)}"

    def value(self, value: Any) -> Any:
        """Return a value in the form that the driver takes: dates and times are text."""
        return value.isoformat() if isinstance(value, datetime.date) else value

    def within(self, column: str, limit: float) -> str:
        """Return a comparison; the last digit of the limit does not matter."""
        return f"{column} BETWEEN {-limit!r} AND {limit!r}".replace("e+", "e")

    def positive(self, column: str, limit: float) -> str:
        return f"{column} > 0.0 AND {column} <= {limit!r}".replace("e+", "e")

    def connect(self) -> Any:
        import sqlite3

        return sqlite3.connect(":memory:")

    @contextlib.contextmanager
    def borrowed(self, connection: Any) -> Iterator[Any]:
        """Yield a cursor within a savepoint, which is undone, and is a transaction where there was none."""
        cursor = connection.cursor()
        cursor.row_factory = None
        cursor.execute(f"SAVEPOINT {TEMPORARY}")
        try:
            yield cursor
        finally:
            cursor.execute(f"ROLLBACK TO {TEMPORARY}")
            cursor.execute(f"RELEASE {TEMPORARY}")

    def column_types(self, cursor: Any, table: Sequence[str]) -> dict[str, str]:
        given = list(reversed(table))[:2]
        cursor.execute(f"SELECT name, type FROM pragma_table_info({', '.join('?' * len(given))})", given)
        return dict(cursor.fetchall())


class PostgreSQL(ArrayDialect, RemoteDialect):
    """PostgreSQL, which fails if a result overflows or a product underflows to zero, and casts no boolean to a double.

    A column is cast to a double, so that decimals beside it become doubles, too. Where a product with a small weight could
    vanish, tiny inputs are not scored.
    """

    name = "postgres"
    title = "PostgreSQL"
    case_sensitive = True
    most_columns = 1000  # as many doubles as fit into a page
    placeholder = "%s"
    version_query = "SHOW server_version"
    text = "TEXT"
    nan_as_null = "nullif({}, 'NaN')"
    nan_is_largest = True
    seconds = "extract(epoch FROM {})::float8"
    has_durations = True
    fence = "OFFSET 0"
    longest_name = 63
    # A boolean becomes an integer first.
    casts = dict.fromkeys((None, *KINDS), "{}::float8") | {"boolean": "{}::int::float8"}

    def number(self, value: float) -> str:
        """Return a decimal, which becomes a double beside a double."""
        return repr(value).replace("e+", "e").removesuffix(".0")

    def constant(self, value: float) -> str:
        """Return a number cast to a double; without the cast it would be NUMERIC."""
        return f"{self.number(value)}::float8"

    def choice(self, condition: str, weight: float) -> str:
        """Return the weight, cast to a double, where the condition holds."""
        return self.only(condition, self.constant(weight))

    def product(self, weight: float, column: str) -> str:
        """Return the product, without a factor of 1, because the column is cast to a double anyway."""
        return TextLanguage.product(self, weight, column)

    def usable(self, source: Source, column: int) -> str:
        """Return whether an input is a number that is neither too large nor so small that a product could vanish."""
        value, least = self.column(source, column), self._least(source, column)
        if least == 0.0:
            return super().usable(source, column)
        usable = f"abs({value}) BETWEEN {self.number(least)} AND {self.number(source.largest_input)}"
        return self.either([self.missing(source, column), f"{value} = 0", usable])

    def usable_offset(self, source: Source, column: int) -> str:
        """Return the same of an exposure or an offset, which no weight multiplies, but an exposure the prediction."""
        least, value = self._least_exposure(source), self.column(source, column)
        if least == 0.0:
            return super().usable_offset(source, column)
        return f"{value} BETWEEN {self.number(least)} AND {self.number(source.largest_offset)}"

    def _least_exposure(self, source: Source) -> float:
        """Return the size that an exposure must have, so that no prediction can vanish."""
        if not source.has_exposure or source.kinds[source.offsets[0]] in ("boolean", "integer"):
            return 0.0
        return max(SMALLEST_INPUT, 2.0 * smallest_factor(math.exp(-min(source.largest_score, LARGEST_EXPONENT))))

    def contributions(self, source: Source, rule: Rule, name: str | None = None) -> list[str]:
        """Return what a rule adds; raise if its product with a factor may vanish whatever the input is."""
        if (factor := rule.factor) is not None:
            # Neither a limit nor the smallest difference from an origin is zero, but its product may be.
            least = [limit for limit in factor.numbers if limit] if factor.origin == 0.0 else [math.ulp(factor.origin) / 2.0]
            for weight in rule.weights:
                if weight != 0.0 and any(weight * value == 0.0 for value in least):
                    column = source.names[factor.column]
                    raise ValueError(f"The weight {weight!r} of {column!r} makes products that are too small for PostgreSQL.")
        return super().contributions(source, rule, name)

    def _least(self, source: Source, column: int) -> float:
        """Return the size that an input must have, unless it is 0: zero if no product with it can vanish."""
        if source.kinds[column] in ("boolean", "integer", *TEMPORAL):
            return 0.0
        weights = [
            abs(weight)
            for proposition in source.propositions
            for used, weight in zip(proposition.columns, proposition.weights, strict=True)
            if used == column
        ]
        # Counted from an origin, a tiny input is not tiny.
        weights += [abs(weight) for weight, one in source.factors if one.column == column and weight and one.origin == 0.0]
        least = smallest_factor(min(weights, default=1.0))
        return 0.0 if least == smallest_factor(1.0) else max(SMALLEST_INPUT, 2.0 * least)

    def scored_rows(self, source: Source, X: Matrix) -> NDArray[np.bool_]:
        scored = source.scorable(X)
        for column in source.summed:
            scored &= (X[:, column] == 0.0) | ~(np.abs(X[:, column]) < self._least(source, column))
        if source.has_exposure:
            scored &= ~(X[:, source.offsets[0]] < self._least_exposure(source))
        return scored

    def array(self, values: list[Any]) -> str:
        """Return an array as text, which no driver has to convert."""
        elements = []
        for value in values:
            if value is None or isinstance(value, (bool, int, float)):
                text = "NULL" if value is None else repr(value)
            elif isinstance(value, datetime.timedelta):
                text = f'"{value.days} days {value.seconds}.{value.microseconds:06} seconds"'
            else:
                text = '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
            elements.append(text)
        return f"{{{','.join(elements)}}}"

    @contextlib.contextmanager
    def borrowed(self, connection: Any) -> Iterator[Any]:
        """Yield a cursor within a savepoint, which is undone, or within a transaction if there was none."""
        # No transaction is open, as psycopg and psycopg2 tell it.
        if hasattr(getattr(connection, "info", None), "transaction_status"):
            idle = int(connection.info.transaction_status) == 0
        else:
            idle = hasattr(connection, "get_transaction_status") and int(connection.get_transaction_status()) == 0
        alone = idle and getattr(connection, "autocommit", False)
        cursor = connection.cursor()
        cursor.execute("BEGIN" if alone else f"SAVEPOINT {TEMPORARY}")
        try:
            yield cursor
        finally:
            cursor.execute("ROLLBACK" if alone else f"ROLLBACK TO SAVEPOINT {TEMPORARY}")
            if not alone:
                cursor.execute(f"RELEASE SAVEPOINT {TEMPORARY}")
            if idle and not alone:
                connection.rollback()

    def column_types(self, cursor: Any, table: Sequence[str]) -> dict[str, str]:
        cursor.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
            [".".join(map(self.quote, table))],
        )
        return dict(map(fields, cursor.fetchall()))


# Where a backslash begins an escape.
BACKSLASHES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}


class Spark(CastingDialect, RemoteDialect):
    """Spark SQL."""

    name = "spark"
    title = "Spark"
    quotes = ("`", "`")
    name_escapes: ClassVar[Mapping[str, str]] = {"`": "``"}
    double = "DOUBLE"
    escapes = BACKSLASHES
    nan_as_null = "nullif({}, double('NaN'))"
    nan_is_largest = True
    seconds = "CAST(CAST({} AS TIMESTAMP) AS DOUBLE)"

    def number(self, value: float) -> str:
        """Return a literal that is a double under all settings."""
        return f"{super().number(value)}D"


class BigQuery(RemoteDialect):
    """BigQuery, which stops with an error if a result overflows."""

    name = "bigquery"
    title = "BigQuery"
    quotes = ("`", "`")
    name_escapes: ClassVar[Mapping[str, str]] = {"\\": "\\\\", "`": "\\`"}
    double = "FLOAT64"
    escapes = BACKSLASHES
    nan_as_null = "IF({0} = {0}, {0}, NULL)"
    seconds = "(UNIX_MICROS(TIMESTAMP({})) / 1e6)"


class Snowflake(RemoteDialect):
    """Snowflake, whose numbers are decimals unless they are cast."""

    name = "snowflake"
    title = "Snowflake"
    double = "FLOAT"
    case_sensitive = True
    placeholder = "%s"
    version_query = "SELECT CURRENT_VERSION()"
    escapes = BACKSLASHES
    nan_as_null = "NULLIF({}, 'NaN'::FLOAT)"
    nan_is_largest = True
    seconds = "(DATE_PART(EPOCH_MICROSECOND, {}::TIMESTAMP_NTZ) / '1000000.0'::FLOAT)"

    def number(self, value: float) -> str:
        """Return a number cast to a double; without the cast it could be a NUMBER."""
        return f"'{value!r}'::FLOAT"


class TSQL(RemoteDialect):
    """T-SQL, which has neither NaN nor infinity nor numbers below 2.2e-308."""

    name = "tsql"
    title = "T-SQL"
    quotes = ("[", "]")
    name_escapes: ClassVar[Mapping[str, str]] = {"]": "]]"}
    # Text of any characters, in an order that tells upper from lower case.
    text_sign = "N"
    collation = " COLLATE Latin1_General_BIN2"
    date_form = "CAST('{}' AS DATE)"
    time_form = "CAST('{}' AS DATETIME2)"
    double = "FLOAT"
    truths = ("0", "1")
    seconds = "(DATEDIFF_BIG(microsecond, '1970-01-01', {}) / 1e6)"

    def number(self, value: float) -> str:
        """Return the number; raise if it is too small for T-SQL."""
        if 0.0 < abs(value) < SMALLEST_NORMAL:
            raise ValueError(f"The model has the number {value!r}, which is too small for T-SQL.")
        return super().number(value)


def smallest_factor(weight: float) -> float:
    """Return the smallest positive double whose product with a weight is not zero.

    >>> smallest_factor(1e-300), smallest_factor(2.0)
    (2.470328229206233e-24, 5e-324)
    """
    # The bits of positive doubles, read as integers, have the same order.
    low, high = np.array([0.0, LARGEST]).view(np.int64).tolist()
    while low + 1 < high:
        middle = (low + high) // 2
        vanishes = abs(weight) * float(np.int64(middle).view(np.float64)) == 0.0
        low, high = (middle, high) if vanishes else (low, middle)
    return float(np.int64(high).view(np.float64))


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (DuckDB(), SQLite(), PostgreSQL(), Spark(), BigQuery(), Snowflake(), TSQL())
}
