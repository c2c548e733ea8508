"""Queries for databases that stop with an error on overflow: the model's score, or null where a sum might overflow.

Neither database runs here, so that what a query says is translated and run by others: SQLite, which knows infinity and
has null for NaN, shows what it gives; PostgreSQL, which stops with an error as they do, shows that nothing overflows.
"""

import contextlib

import numpy as np
import pytest
import sqlglot

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble
from obliquerules.export.export_formats import export, find_format
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.verification import compare, telling_rows
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from .models import MODELS

LARGE_WEIGHTS = RuleEnsemble(
    [Rule(1.5, Conjunction([Proposition([0, 1], [1e300, -2.5], 7.0), Proposition([1], [1e10], 1e9)])), Rule(0.25)], -1.0
)
SOURCES = {
    # Not the extreme ones: these databases would read their numbers exactly, SQLite does not.
    **{name: Source(Model.of(*MODELS[name]), contributions=True) for name in MODELS if not name.startswith("extreme")},
    "large weights": Source(Model.of(LARGE_WEIGHTS, LOSSES["logistic"]), contributions=True),
}
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
every_dialect = pytest.mark.parametrize("dialect", ["bigquery", "tsql"])


def outputs(source, dialect, rows, engine, connection):
    """Return what the query of one dialect gives, translated and run by another database."""
    target = find_format("sql", dialect=engine, connection=connection)
    product = find_format("sql", dialect=dialect).write(source)
    (translated,) = sqlglot.transpile(product, read=dialect, write=engine)
    assert 'FROM "data" AS data' in translated  # the words in which the other target finds its table
    return target.run(translated, source, rows)


@every_source
@every_dialect
def test_the_score_is_that_of_the_model_or_null(source, dialect):
    rows = telling_rows(source)
    with contextlib.closing(DIALECTS["sqlite"].connect()) as connection:
        computed = outputs(source, dialect, rows, "sqlite", connection)
    compare(source, rows, computed)


@every_source
@every_dialect
def test_nothing_overflows(source, dialect, postgres):
    rows = telling_rows(source)
    rows[np.abs(rows) < 1e-20] = 0.0  # where products vanish PostgreSQL fails as well, which the others do not
    rows[np.isnan(rows)] = 0.0  # for PostgreSQL, NaN is the largest number
    computed = outputs(source, dialect, rows, "postgres", postgres)
    np.testing.assert_array_equal(np.isnan(computed[:, 0]), ~source.scorable(rows))


def test_numbers_that_t_sql_does_not_have_are_refused():
    with pytest.raises(ValueError, match="too small for T-SQL"):
        export(Model.of(*MODELS["extreme"]), "sql", dialect="tsql")
