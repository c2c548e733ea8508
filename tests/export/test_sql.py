"""Queries quote what they are given, parse in their dialect, and on PostgreSQL neither fail nor differ."""

import contextlib
import datetime
import itertools

import numpy as np
import pytest
import sqlglot
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from obliquerules import Column, Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.export.export_formats import export, find_format
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS, smallest_factor
from obliquerules.losses import LOSSES
from obliquerules.rules import Block, Factor, Model
from obliquerules.rules.columns import EPOCH

from ..rules.strategies import any_finite, ensembles, matrices
from .models import MODELS, NAMED, ORDINARY

LOSS = LOSSES["logistic"]


def columns_of(query, dialect):
    return {column.name for column in sqlglot.parse_one(query, dialect=dialect).find_all(sqlglot.exp.Column)}


@pytest.mark.parametrize(
    ("model", "dialect"), [pair for pair in itertools.product(MODELS, DIALECTS) if pair != ("extreme", "tsql")]
)
def test_queries_parse_in_their_dialect(model, dialect):
    ensemble, loss = MODELS[model]
    query = find_format("sql", dialect=dialect).write(Source(Model.of(ensemble, loss), contributions=True))
    assert len(sqlglot.parse(query, dialect=dialect)) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_names_stay_names(dialect):
    query = export(Model.of(NAMED, LOSS), "sql", dialect=dialect).content
    assert set(NAMED.feature_names) <= columns_of(query, dialect)


@pytest.mark.parametrize("dialect", ["spark", "bigquery", "tsql"])
def test_what_cannot_be_run_here_says_so(dialect):
    exported = export(Model.of(ORDINARY, LOSS), "sql", dialect=dialect)
    assert str(exported.verification) == f"not verified: there is no {DIALECTS[dialect].title} here to run it."
    with pytest.raises(ValueError, match="connection cannot be used"):
        export(Model.of(ORDINARY, LOSS), "sql", dialect=dialect, connection=object())


def test_a_database_elsewhere_asks_for_a_connection():
    verification = export(Model.of(ORDINARY, LOSS), "sql", dialect="postgres").verification
    assert verification.engine is None
    assert "give a connection to it as 'connection'" in verification.reason


SMALL = RuleEnsemble(ORDINARY.rules[:1], 1.79, ["variance", "skewness", "kurtosis"])


def test_the_query_of_a_small_model():
    assert export(Model.of(SMALL, LOSSES["squared"]), "sql", dialect="sqlite", table=["bank", "notes"]).content == (
        'SELECT data.*,\n  data."score" AS "prediction"\nFROM (\n  SELECT data.*,\n    CASE\n'
        '      WHEN (data."variance" IS NULL OR data."variance" BETWEEN -1e300 AND 1e300)\n'
        '        AND (data."skewness" IS NULL OR data."skewness" BETWEEN -1e300 AND 1e300)\n'
        "      THEN 1.79\n"
        '        + CASE WHEN 2.81 * data."variance" + 1.5 * data."skewness" >= -0.28 THEN -3.85 ELSE 0.0 END\n'
        '    END AS "score"\n'
        '  FROM (\n    SELECT data.*\n    FROM "bank"."notes" AS data\n'
        '    JOIN (SELECT 0 AS "score", 0 AS "prediction") AS outputs ON 0 IN ("score", "prediction")\n'
        "  ) AS data\n) AS data\n"
    )


def test_a_condition_of_postgres_is_as_short_as_any():
    content = export(Model.of(SMALL, LOSS), "sql", dialect="postgres").content
    condition = '2.81 * data."variance"::float8 + 1.5 * data."skewness"::float8 BETWEEN -0.28 AND 1e308'
    assert f"CASE WHEN {condition} THEN -3.85::float8 ELSE 0 END" in content
    assert len(content) < 800


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ("patients", '"patients"'),
        ("clinic.patients", '"clinic"."patients"'),
        ("hospital.clinic.patients", '"hospital"."clinic"."patients"'),
        ('clinic."patients.2024"', '"clinic"."patients.2024"'),
        ('"a ""b"""', '"a ""b"""'),
        (["clinic", "patients.2024"], '"clinic"."patients.2024"'),
    ],
)
def test_a_table_is_quoted_part_by_part(table, written):
    assert f"FROM {written} AS data" in find_format("sql", table=table).write(Source(Model.of(SMALL, LOSS)))


def test_names_of_outputs_are_kept_apart_from_columns():
    ensemble = RuleEnsemble(ORDINARY.rules, 0.0, ["Score", "b", "c"])
    with pytest.raises(ValueError, match="column 'Score' is called like an output"):
        export(Model.of(ensemble, LOSS), "sql")
    assert '"model_score"' in export(Model.of(ensemble, LOSS), "sql", prefix="model_").content


def test_names_that_a_database_cannot_have_are_refused():
    for names, dialect, complaint in [
        (["", "b", "c"], "duckdb", "A column of DuckDB cannot be called ''"),
        (["a\0", "b", "c"], "sqlite", "A column of SQLite cannot be called"),
        (["é" * 32, "b", "c"], "postgres", "at most 63 bytes"),
        (["a", "A", "c"], "sqlite", "have the same name"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            export(Model.of(RuleEnsemble(ORDINARY.rules, 0.0, names), LOSS), "sql", dialect=dialect)


@pytest.mark.parametrize("name", ["True", "false"])
def test_columns_that_sqlite_renames_are_refused(name):
    ensemble = RuleEnsemble.parse(f"+1 if {name} >= 3", [name, "age"])
    with pytest.raises(ValueError, match=f"A column of SQLite cannot be called '{name}'; rename it"):
        export(Model.of(ensemble, LOSSES["squared"]), "sql", dialect="sqlite")


MICROSECONDS = st.integers(-(8 * 10**15), 7 * 10**15)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@given(many=st.lists(MICROSECONDS, min_size=1, max_size=20), threshold=MICROSECONDS, written=st.sampled_from([" ", "T"]))
@example(many=[1614600000000499, 1614600000000500, 1614600000999500, -1, 0], threshold=1614600000000500, written="T")
def test_times_count_with_their_microseconds(dialect, many, threshold, written):
    many = [*many, threshold - 1, threshold, threshold + 1]
    columns = [Column("seen", kind="time")]
    tests = [Rule(0.7, Conjunction([Proposition([0], [sign], sign * (threshold / 1e6))])) for sign in (1.0, -1.0)]
    ensemble = RuleEnsemble([*tests, Rule(1e-3, factor=Factor(0, 1e9))], 0.25, columns)
    target, source = find_format("sql", dialect=dialect, table="visits"), Source(Model.of(ensemble, LOSSES["squared"]))
    with contextlib.closing(target._dialect.connect()) as connection:
        connection.execute(f"CREATE TABLE visits (place INTEGER, seen {'TEXT' if dialect == 'sqlite' else 'TIMESTAMP'})")
        times = [(EPOCH + datetime.timedelta(microseconds=one)).isoformat(written) for one in many]
        connection.executemany("INSERT INTO visits VALUES (?, ?)", list(enumerate(times)))
        rows = connection.execute(f"SELECT score FROM ({target.write(source)}) AS scored ORDER BY place").fetchall()
    assert [score for (score,) in rows] == ensemble(Block.of_matrix(np.array(many)[:, None] / 1e6, columns)).tolist()


def test_sqlite_reads_times_with_a_zone():
    ensemble = RuleEnsemble([Rule(1.0, factor=Factor(0))], 0.0, [Column("seen", kind="time")])
    target = find_format("sql", dialect="sqlite", table="visits")
    with contextlib.closing(target._dialect.connect()) as connection:
        connection.execute("CREATE TABLE visits (seen TEXT)")
        times = ["2021-03-01 12:00:00.5Z", "2021-03-01 14:00:00.25+02:00", "2021-03-01", "2021-03-01 12:00", None]
        connection.executemany("INSERT INTO visits VALUES (?)", [(time,) for time in times])
        rows = connection.execute(target.write(Source(Model.of(ensemble, LOSSES["squared"])))).fetchall()
    assert [row[1] for row in rows] == [1614600000.5, 1614600000.25, 1614556800.0, 1614600000.0, 0.0]


def test_an_unknown_dialect_is_named():
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb', .*; got 'oracle'"):
        export(Model.of(ORDINARY, LOSS), "sql", dialect="oracle")


@settings(max_examples=400)
@given(any_finite | st.floats(-1e3, 1e3))
def test_sqlite_reads_every_number(number):
    # 17 digits, which older versions of SQLite misread once in ten thousand times.
    with contextlib.closing(DIALECTS["sqlite"].connect()) as connection:
        assert connection.execute(f"SELECT {DIALECTS['sqlite'].number(number)}").fetchone() == (number,)


def test_sqlite_reads_ordinary_numbers():
    numbers = (10.0 ** np.random.default_rng(0).uniform(-15.0, 15.0, 20_000)).tolist()
    with contextlib.closing(DIALECTS["sqlite"].connect()) as connection:
        read = [connection.execute(f"SELECT {DIALECTS['sqlite'].number(number)}").fetchone()[0] for number in numbers]
    assert read == numbers


@given(any_finite.filter(bool))
def test_factors_are_the_first_that_do_not_vanish(weight):
    assert weight * smallest_factor(weight) != 0.0
    assert weight * np.nextafter(smallest_factor(weight), 0.0) == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_postgres_has_no_mismatch(model, postgres):
    ensemble, loss = MODELS[model]
    verification = export(Model.of(ensemble, loss), "sql", dialect="postgres", connection=postgres).verification
    assert verification.engine == "PostgreSQL"
    assert verification.rows > 0


@pytest.mark.parametrize("factor", [Factor(0, 1e-20), Factor(0, lower=1e-20)])
def test_products_with_a_factor_that_postgres_does_not_have_are_refused(factor):
    ensemble = RuleEnsemble([Rule(1e-310, factor=factor)], 0.0, ["age"])
    with pytest.raises(ValueError, match="The weight 1e-310 of 'age' makes products that are too small for PostgreSQL"):
        export(Model.of(ensemble, LOSSES["squared"]), "sql", dialect="postgres")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ensembles(any_finite.map(lambda number: number / 16)), matrices(st.floats()))
def test_postgres_on_any_numbers(postgres, ensemble, X):
    unnamed = RuleEnsemble(ensemble.rules, ensemble.intercept)
    assert export(Model.of(unnamed, LOSSES["squared"]), "sql", X, dialect="postgres", connection=postgres).verification.engine
