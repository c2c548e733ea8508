"""Queries run on tables with boolean, integer, decimal and date columns, and leave connections as they were, come what may."""

import contextlib
import datetime
import sqlite3
from decimal import Decimal

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, RuleEnsemble
from obliquerules.export.export_formats import export, find_format
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.verification import ExportError
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

NAMES = ["flag", "visits", "price", "dose", "unused"]
ENSEMBLE = RuleEnsemble.parse(
    "+0.5 if True\n-2 if 0.3 flag + visits + price >= 12.3\n+1.25 if flag >= 0.5 & dose - 0.1 price >= 0.5\n"
    "+0.75 if price >= 9.99",
    NAMES,
)
MODEL = Model.of(ENSEMBLE, LOSSES["logistic"])
TYPES = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgres": "REAL"}
N_ROWS = 400


def table_rows():
    """Return rows with a date between the columns of the model, and nulls."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(N_ROWS):
        price = Decimal(int(rng.integers(900, 1100))) / 100
        row = [bool(rng.integers(2)), datetime.date(2024, 1, 1), int(rng.integers(0, 5)), price, float(rng.integers(8)) / 4.0]
        if number % 7 == 0:
            row[[0, 2, 3, 4][number % 4]] = None
        rows.append((*row, None if number % 2 else 1))
    return rows


def make_table(cursor, dialect, name):
    """Make a table of the columns of the model, with the types that users have."""
    columns = f"flag BOOLEAN, seen DATE, visits SMALLINT, price DECIMAL(10, 2), dose {TYPES[dialect]}, unused INTEGER"
    cursor.execute(f"CREATE TABLE {name} ({columns})")
    rows = table_rows()
    if dialect == "sqlite":
        rows = [(flag, str(seen), visits, price and float(price), *rest) for flag, seen, visits, price, *rest in rows]
    places = ", ".join([DIALECTS[dialect].placeholder] * 6)
    cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)


def hold_to_the_model(cursor, query):
    """Run a query and compare what it gives with the model, on rows with and without missing values."""
    cursor.execute(query)
    rows = [list(row) for row in cursor.fetchall()]
    inputs = [[np.nan if row[k] is None else float(row[k]) for k in (0, 2, 3, 4, 5)] for row in rows]
    expected = Source(MODEL, contributions=True).outputs(np.array(inputs))
    computed = np.array([[np.nan if value is None else value for value in row[6:]] for row in rows])
    assert len(rows) == N_ROWS
    assert 0 < np.isnan(inputs)[:, :4].any(axis=1).sum() < N_ROWS / 4
    assert not np.isnan(expected).any()
    assert (expected[:, 2:] != 0.0).any(axis=0).all()
    np.testing.assert_allclose(computed, expected, rtol=1e-12)
    np.testing.assert_array_equal(computed[:, [0, 2, 3, 4]], expected[:, [0, 2, 3, 4]])


@contextlib.contextmanager
def database(dialect, request):
    """Yield a connection to a database whose state is thrown away."""
    if dialect != "postgres":
        with contextlib.closing(DIALECTS[dialect].connect()) as connection:
            yield connection
        return
    connection = request.getfixturevalue("postgres")
    try:
        yield connection
    finally:
        connection.rollback()


KNOWN = {"boolean": "flag", "integer": "visits", "decimal": "price", "double": "dose"}


@pytest.mark.parametrize("known", ["by the table", "by types", "by nobody"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_queries_run_on_the_types_of_the_user(dialect, known, request):
    with database(dialect, request) as connection:
        cursor = connection.cursor()
        options = {"dialect": dialect, "table": "patients", "contributions": True}
        if known == "by the table":
            make_table(cursor, dialect, "patients")
            exported = export(MODEL, "sql", connection=connection, **options)
            assert exported.verification.rows > 0
        else:
            types = {name: kind for kind, name in KNOWN.items()} if known == "by types" else {"flag": "boolean"}
            exported = export(MODEL, "sql", types=types if known == "by types" or dialect == "postgres" else None, **options)
            make_table(cursor, dialect, "patients")
        hold_to_the_model(cursor, exported.content)


@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow"])
def test_types_are_those_of_the_frame(make):
    library = pytest.importorskip(make)
    rng = np.random.default_rng(0)
    flag, visits = rng.integers(2, size=200).astype(bool), rng.integers(9, size=200)
    columns = {"flag": flag, "visits": visits, "dose": rng.normal(size=200)}
    X = library.table(columns) if make == "pyarrow" else library.DataFrame(columns)
    model = LLTBoostClassifier(max_rules=3, random_state=0).fit(X, flag * 3 + visits + columns["dose"] > 5)
    for dialect in ("duckdb", "sqlite"):
        assert model.export("sql", X, dialect=dialect).verification.rows > 200
    query = model.export("sql", X, dialect="postgres").content
    assert 'data."flag" = TRUE' in query
    assert 'data."visits"::float8' in query
    assert 'data."flag" = TRUE' in model.export("sql", X).content
    assert 'CAST(data."visits"' not in model.export("sql", X).content
    scored = nw.from_native(model.export("frame", X).content(X))
    assert scored["score"].to_list() == model.decision_function(X).tolist()


def test_nullable_integers_and_decimals_of_frames_can_be_fitted_and_exported():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"visits": pd.array(rng.integers(9, size=200), dtype="Int16")})
    X["bytes"] = rng.integers(9, size=200).astype(np.uint8)
    X["price"] = [Decimal(int(cents)) / 100 for cents in rng.integers(900, 1100, size=200)]
    model = LLTBoostClassifier(max_rules=3, random_state=0).fit(X, X["visits"] + X["price"].astype(float) > 14)
    assert model.export("sql", X).verification.rows > 200
    assert model.export("frame", X).content(X)["score"].tolist() == model.decision_function(X).tolist()


def test_a_type_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"type of column 'flag' must be one of 'boolean', .*; got 'bool'"):
        export(MODEL, "sql", types={"flag": "bool"})


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_a_table_without_a_column_that_rules_use_is_refused(dialect, request):
    with database(dialect, request) as connection:
        connection.cursor().execute("CREATE TABLE lacking (flag BOOLEAN, visits INTEGER, price INTEGER)")
        with pytest.raises(ValueError, match="The table lacking has no column 'dose', which rules use"):
            export(MODEL, "sql", dialect=dialect, table="lacking", connection=connection)


def test_tables_in_schemas_and_catalogues(tmp_path, request):
    with database("duckdb", request) as connection:
        connection.execute(f"ATTACH '{tmp_path / 'other.db'}' AS hospital")
        connection.execute("CREATE SCHEMA hospital.clinic")
        make_table(connection, "duckdb", 'hospital.clinic."patients.2024"')
        options = {"contributions": True, "connection": connection}
        exported = export(MODEL, "sql", table='hospital.clinic."patients.2024"', **options)
        assert 'CAST(data."flag" AS DOUBLE)' in exported.content
        assert 'CAST(data."dose"' not in exported.content
        hold_to_the_model(connection, exported.content)
    with database("postgres", request) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA clinic")
        make_table(cursor, "postgres", "clinic.patients")
        options = {"dialect": "postgres", "table": "clinic.patients", "contributions": True}
        hold_to_the_model(cursor, export(MODEL, "sql", connection=connection, **options).content)


# ---- what is left behind ----


def fail(target):
    """Have a query verified that fails midway, after its temporary table was made and filled."""
    source = Source(MODEL)
    broken = target.write(source).replace('data."dose"', 'data."no such column"')
    with pytest.raises(ExportError, match=r"refused the export"):
        target.run(broken, source, np.zeros((3, 5)))


def differ(target):
    """Have a query verified that differs from the model."""
    other = Source(Model.of(RuleEnsemble(ENSEMBLE.rules, 7.0, NAMES), LOSSES["logistic"]))
    with pytest.raises(ExportError, match=r"differs from the model"):
        target.verified(Source(MODEL), target.write(other), np.empty((0, 5)))


def succeed(target):
    """Have a query verified that is right."""
    assert target.export(Source(MODEL), np.empty((0, 5))).verification.rows > 0


every_end = pytest.mark.parametrize("end", [fail, differ, succeed])


@every_end
@pytest.mark.parametrize("isolation", [None, ""])
def test_sqlite_connections_stay_as_they_were(end, isolation):
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=isolation)) as connection:
        connection.row_factory = sqlite3.Row
        target = find_format("sql", dialect="sqlite", connection=connection)
        end(target)
        assert not connection.in_transaction
        assert connection.execute("SELECT name FROM sqlite_temp_master").fetchall() == []
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO mine VALUES (1)")
        end(target)
        assert connection.in_transaction
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM mine").fetchone()[0] == 0


@every_end
def test_duckdb_connections_stay_as_they_were(end):
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        target = find_format("sql", connection=connection)
        connection.execute("CREATE TABLE mine (x INTEGER)")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO mine VALUES (1)")
        end(target)
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (1,)
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("mine",)]


@every_end
@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("busy", [False, True])
def test_postgres_connections_stay_as_they_were(end, autocommit, busy, postgres):
    from psycopg.rows import dict_row

    parameters = postgres.info.get_parameters()
    with postgres.connect(**parameters, autocommit=autocommit, row_factory=dict_row) as connection:
        if busy:
            connection.execute("BEGIN")
            connection.execute("CREATE TEMPORARY TABLE mine (x integer)")
        before = connection.info.transaction_status
        end(find_format("sql", dialect="postgres", connection=connection))
        assert connection.info.transaction_status == before
        left = connection.execute("SELECT relname FROM pg_class WHERE relname IN ('mine', 'obliquerules_rows')").fetchall()
        assert [row["relname"] for row in left] == ["mine"] * busy
        connection.rollback()


def test_a_dialect_without_savepoints_drops_its_table():
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        cursors = contextlib.ExitStack()
        cursor = cursors.enter_context(DIALECTS["snowflake"].borrowed(connection))
        cursor.execute("CREATE TEMPORARY TABLE obliquerules_rows (x INTEGER)")
        assert not cursors.__exit__(ValueError, ValueError("midway"), None)
        assert cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
