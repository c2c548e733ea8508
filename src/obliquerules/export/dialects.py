"""Dialects: the SQL of each database."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any

from obliquerules.export.dialect import TEMPORARY, Dialect, RemoteDialect
from obliquerules.export.source import Source
from obliquerules.export.target import Matrix
from obliquerules.export.verification import LARGEST, CannotVerifyError
from obliquerules.rules import Rule
from obliquerules.rules.proposition import Proposition

SMALLEST_NORMAL = 2.0**-1022
# The longest name in PostgreSQL, in bytes.
LONGEST_NAME = 63


class ArrayDialect(Dialect):
    """The SQL of a database with arrays, so that one statement can fill a table."""

    def array(self, values: list[Any]) -> Any:
        """Return an array in the form that the driver takes."""
        return values

    def fill(self, cursor: Any, values: Matrix) -> None:
        """Insert rows, numbered from 0, into the temporary table."""
        types = ["INTEGER", *[self.double] * values.shape[1]]
        arrays = ", ".join(f"unnest(CAST({self.placeholder} AS {kind}[]))" for kind in types)
        columns = [list(range(len(values))), *values.T.tolist()]
        cursor.execute(f"INSERT INTO {TEMPORARY} SELECT {arrays}", [self.array(column) for column in columns])


class DuckDB(ArrayDialect):
    """DuckDB, which orders NaN above infinity."""

    name = "duckdb"
    title = "DuckDB"
    infinity = "CAST('Infinity' AS DOUBLE)"
    placeholder = "?"

    def connect(self) -> Any:
        """Return a database in memory."""
        try:
            import duckdb
        except ImportError as error:
            raise CannotVerifyError("DuckDB is not installed; 'obliquerules[export]' brings it.") from error
        return duckdb.connect(":memory:")


class SQLite(Dialect):
    """SQLite, which keeps NaN as null."""

    name = "sqlite"
    title = "SQLite"
    double = "REAL"
    placeholder = "?"
    version_query = "SELECT sqlite_version()"

    def number(self, value: float) -> str:
        """Return a number in a form that all versions read exactly: older ones may misread the last digit of a decimal.

        >>> print(*map(SQLite().number, (-28.5, 0.0036, 0.1 + 0.2)))
        -28.5 (36.0 / 10000.0) (1351079888211149.0 / 4503599627370496.0)
        """
        decimal = Decimal(repr(value))
        places = max(0, -int(decimal.as_tuple().exponent))
        whole = int(decimal.scaleb(places)) if abs(value) < 2.0**53 and places <= 22 else 2**53
        if abs(whole) >= 2**53:
            return f"({_powers_of_two(value)})"
        # A quotient of whole numbers is rounded correctly; a decimal in SQLite is, too, if it has up to three places.
        return repr(value) if places <= 3 else f"({whole}.0 / 1{'0' * places}.0)"

    def connect(self) -> Any:
        """Return a database in memory."""
        import sqlite3

        return sqlite3.connect(":memory:")


class PostgreSQL(ArrayDialect, RemoteDialect):
    """PostgreSQL, which orders NaN above infinity, and fails if a result overflows or a product underflows to zero.

    The query therefore distinguishes values that are certainly safe from others, for which it takes a longer way.
    """

    name = "postgres"
    title = "PostgreSQL"
    infinity = "'Infinity'::float8"
    case_sensitive = True
    most_columns = 1000  # as many doubles as fit into a page
    placeholder = "%s"
    version_query = "SHOW server_version"

    def quote(self, name: str) -> str:
        """Return a quoted identifier; raise if it is so long that PostgreSQL would truncate it."""
        if len(name.encode("utf-8")) > LONGEST_NAME:
            raise ValueError(f"A name in PostgreSQL has at most {LONGEST_NAME} bytes; {name!r} is longer.")
        return super().quote(name)

    def holds(self, name: str) -> bool:
        """Say whether a column can have this name."""
        return super().holds(name) and len(name.encode("utf-8")) <= LONGEST_NAME

    def number(self, value: float) -> str:
        """Return a number cast to a double; without the cast it would be NUMERIC."""
        return f"'{value!r}'::float8"

    def array(self, values: list[Any]) -> str:
        """Return an array as text, which no driver has to convert."""
        return f"{{{','.join(map(repr, values))}}}"

    def product(self, weight: float, column: str) -> str:
        """Return the product, with 0 in place of values for which it would underflow."""
        least = smallest_factor(weight)
        if least == smallest_factor(1.0):
            return super().product(weight, column)
        zero = self.number(0.0)
        return f"{self.number(weight)} * CASE WHEN abs({column}) < {self.number(least)} THEN {zero} ELSE {column} END"

    def projection(self, source: Source, proposition: Proposition) -> str:
        """Return the sum of products: directly if it cannot overflow, else with the infinities of IEEE arithmetic."""
        tests = [
            f"{self.column(source, column)} BETWEEN {self.number(-most)} AND {self.number(most)}"
            for column, most in safe_sizes(proposition).items()
        ]
        plain = super().projection(source, proposition)
        return f"CASE WHEN {' AND '.join(tests)} THEN {plain} ELSE ({self._saturating(source, proposition)}) END"

    def _saturating(self, source: Source, proposition: Proposition) -> str:
        """Return a query for the same sum in which terms may become infinite."""
        products = [
            self._saturating_product(weight, self.column(source, column))
            for weight, column in zip(proposition.weights, proposition.columns, strict=True)
        ]
        # Without OFFSET, PostgreSQL would merge the queries and substitute the expressions for s and p again and again.
        query = f"SELECT {products[0]} AS s"
        for product in products[1:]:
            query = f"SELECT {self._saturating_sum()} AS s FROM (SELECT s, {product} AS p FROM ({query}) AS a OFFSET 0) AS b"
        return query

    def _saturating_product(self, weight: float, column: str) -> str:
        plain, most = self.product(weight, column), largest_factor(weight)
        if most == LARGEST:
            return plain
        beyond, infinity = self.number(math.nextafter(most, math.inf)), str(self.infinity)
        above, below = (infinity, f"-{infinity}") if weight > 0.0 else (f"-{infinity}", infinity)
        return (
            f"CASE WHEN {column} BETWEEN {beyond} AND {infinity} THEN {above} "
            f"WHEN {column} BETWEEN -{infinity} AND -{beyond} THEN {below} ELSE {plain} END"
        )

    def _saturating_sum(self) -> str:
        """Return s + p: a term below 1e290 cannot make a sum overflow, and the halves of larger terms are exact."""
        finite = " AND ".join(f"abs({term}) BETWEEN {self.number(1e290)} AND {self.number(LARGEST)}" for term in "sp")
        half = f"{self.number(0.5)} * s + {self.number(0.5)} * p"
        limit, infinity = self.number(2.0**1023), self.infinity
        return (
            f"CASE WHEN {finite} THEN CASE WHEN {half} >= {limit} THEN {infinity} "
            f"WHEN {half} <= -{limit} THEN -{infinity} ELSE s + p END ELSE s + p END"
        )


class Spark(RemoteDialect):
    """Spark SQL, which orders NaN above infinity."""

    name = "spark"
    title = "Spark"
    double = "DOUBLE"
    infinity = "CAST('Infinity' AS DOUBLE)"

    def quoted(self, name: str) -> str:
        """Return a name in backticks."""
        return "`" + name.replace("`", "``") + "`"

    def number(self, value: float) -> str:
        """Return a literal that is a double under all settings."""
        return f"{super().number(value)}D"


class FailingDialect(RemoteDialect):
    """The SQL of a database that stops with an error if a result overflows.

    To avoid this, the contribution of a rule is null for values so large that a sum might overflow, and so is the score.
    """

    def contribution(self, source: Source, rule: Rule) -> str:
        """Return the contribution of a rule, or null."""
        sizes: dict[int, float] = {}
        for proposition in rule.condition:
            for column, most in safe_sizes(proposition).items():
                sizes[column] = min(most, sizes.get(column, most))
        plain = super().contribution(source, rule)
        if not sizes:
            return plain
        # Not with ABS, which fails for the smallest integer that a column may hold.
        beyond = [
            f"{self.column(source, column)} {sign} {self.number(bound)}"
            for column, most in sizes.items()
            for sign, bound in ((">", most), ("<", -most))
        ]
        return f"CASE WHEN {' OR '.join(beyond)} THEN NULL ELSE {plain} END"


class BigQuery(FailingDialect):
    """BigQuery, in which no comparison with NaN holds."""

    name = "bigquery"
    title = "BigQuery"
    double = "FLOAT64"

    def quoted(self, name: str) -> str:
        """Return a name in backticks, with escapes by backslash."""
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


class Snowflake(RemoteDialect):
    """Snowflake, which orders NaN above infinity."""

    name = "snowflake"
    title = "Snowflake"
    double = "FLOAT"
    infinity = "'inf'::FLOAT"
    case_sensitive = True
    placeholder = "%s"
    version_query = "SELECT CURRENT_VERSION()"

    def number(self, value: float) -> str:
        """Return a number cast to a double; without the cast it could be a NUMBER."""
        return f"'{value!r}'::FLOAT"


class TSQL(FailingDialect):
    """T-SQL, which has neither NaN nor infinity nor numbers below 2.2e-308."""

    name = "tsql"
    title = "T-SQL"
    double = "FLOAT"

    def quoted(self, name: str) -> str:
        """Return a name in brackets."""
        return "[" + name.replace("]", "]]") + "]"

    def number(self, value: float) -> str:
        """Return the number; raise if it is too small for T-SQL."""
        if 0.0 < abs(value) < SMALLEST_NORMAL:
            raise ValueError(f"The model has the number {value!r}, which is too small for T-SQL.")
        return super().number(value)


def safe_sizes(proposition: Proposition) -> dict[int, float]:
    """Return for each column a size up to which no product and no partial sum can overflow.

    >>> {column: f"{size:.1e}" for column, size in safe_sizes(Proposition([0, 3], [0.5, 100.0], 1.0)).items()}
    {0: '4.5e+307', 3: '4.5e+305'}
    """
    share = LARGEST / (2.0 * len(proposition.columns))
    sizes = [share / max(abs(weight), 1.0) for weight in proposition.weights]
    return dict(zip(proposition.columns, sizes, strict=True))


def _powers_of_two(value: float) -> str:
    """Return a non-zero number as a whole number multiplied or divided by powers of two, all of which are read exactly."""
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * 2.0**53), exponent - 53
    while not whole % 2:
        whole, exponent = whole // 2, exponent + 1
    sign = "*" if exponent > 0 else "/"
    steps = [min(62, abs(exponent) - done) for done in range(0, abs(exponent), 62)]
    return f"{whole}.0 {' '.join(f'{sign} {2**step}.0' for step in steps)}"


def smallest_factor(weight: float) -> float:
    """Return the smallest positive double whose product with a weight is not zero.

    >>> smallest_factor(1e-300), smallest_factor(2.0)
    (2.470328229206233e-24, 5e-324)
    """
    low, high = 0, _bits(LARGEST)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if abs(weight) * _double(middle) != 0.0 else (middle, high)
    return _double(high)


def largest_factor(weight: float) -> float:
    """Return the largest double whose product with a weight is finite.

    >>> largest_factor(1e300), largest_factor(0.5) == LARGEST
    (179769313.48623157, True)
    """
    low, high = 0, _bits(math.inf)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if math.isfinite(abs(weight) * _double(middle)) else (low, middle)
    return _double(low)


def _bits(value: float) -> int:
    """Return the bits of a double as an integer; for positive doubles, this keeps their order."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (DuckDB(), SQLite(), PostgreSQL(), Spark(), BigQuery(), Snowflake(), TSQL())
}
