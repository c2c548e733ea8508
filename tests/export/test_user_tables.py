"""Whatever further columns a table has, an export gives what the model gives under the names of the outputs, or is refused."""

import contextlib
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from sqlglot.optimizer.qualify import qualify

from obliquerules import Conjunction, Proposition, Rule, RuleEnsemble, TGBClassifier
from obliquerules.export.export_formats import export, find_format
from obliquerules.export.frame import LIBRARIES, installed_libraries
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

# Outputs in upper and lower case, what queries, frames and modules call their own things, and words of languages.
NAMES = [
    *("score", "Score", "SCORE", "prediction", "Prediction", "rule_0", "RULE_1", "rule_9", "data", "DATA", "scored", "outputs"),
    *("product", "s", "p", "a", "b", "x0", "x1", "X", "f", "t0", "c0", "row", "contributions", "total", "select", "from", "A2"),
    *("obliquerules_position", "OBLIQUERULES_POSITION", "obliquerules_rows", "model_score", "null"),
]
NAMES += ['say "score"', "é", "score ", "data.score", "it's", "?", "%s", ":a", "\N{LATIN SMALL LETTER LONG S}core"]
LOGISTIC = LOSSES["logistic"]
ERRORS = {"sqlite": sqlite3.OperationalError, "duckdb": duckdb.BinderException}
# The names of the outputs that are wanted or not; only SQLite and DuckDB ignore case here.
OUTPUTS = {False: {"score", "prediction"}, True: {"score", "prediction", "rule_0", "rule_1"}}


def random_ensemble(rng, names):
    """Return two rules on some of the columns."""
    rules = []
    for _ in range(2):
        columns = rng.permutation(len(names))[: rng.integers(1, 3)]
        proposition = Proposition(columns, rng.choice([-1.5, -0.5, 0.5, 1.0], len(columns)), rng.normal())
        rules.append(Rule(rng.normal(), Conjunction([proposition])))
    return RuleEnsemble(rules, rng.normal(), names)


def distinct(rng, size, taken=()):
    """Draw names that a table can have beside those that are taken."""
    used, drawn = {name.lower() for name in taken}, []
    for name in rng.permutation(NAMES).tolist():
        if len(drawn) < size and name.lower() not in used:
            drawn.append(name)
            used.add(name.lower())
    return drawn


def fetched(dialect, query, frame):
    """Return what a query gives on a table called t, as a frame with the names that the database gives."""
    with contextlib.closing(DIALECTS[dialect].connect()) as connection:
        columns = ", ".join(f"{DIALECTS[dialect].quote(name)} {DIALECTS[dialect].double}" for name in frame)
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE t ({columns})")
        cursor.executemany(f"INSERT INTO t VALUES ({', '.join('?' * frame.shape[1])})", frame.to_numpy().tolist())
        cursor.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])


def hold_to_the_model(rng, dialect):
    """Export for a table with random columns and run the query on it; return what became of it."""
    ours = distinct(rng, rng.integers(2, 6))
    theirs = distinct(rng, rng.integers(0, 4), ours)
    ensemble, contributions = random_ensemble(rng, ours), bool(rng.integers(2))
    source = Source(Model.of(ensemble, LOGISTIC), contributions)
    outputs = OUTPUTS[contributions]
    options = {"dialect": dialect, "table": "t", "contributions": contributions}
    if outputs & {name.casefold() for name in ours}:
        with pytest.raises(ValueError, match="is called like an output"):
            export(Model.of(ensemble, LOGISTIC), "sql", **options)
        return "refused"
    query = export(Model.of(ensemble, LOGISTIC), "sql", **options).content
    X = rng.normal(size=(20, len(ours)))
    frame = pd.DataFrame(np.column_stack([X, rng.normal(size=(20, len(theirs)))]), columns=ours + theirs)
    order = rng.permutation(frame.shape[1])
    if outputs & {name.lower() for name in theirs}:
        with pytest.raises(ERRORS[dialect], match=r"(?i)ambiguous"):
            fetched(dialect, query, frame.iloc[:, order])
        return "ambiguous"
    scored = fetched(dialect, query, frame.iloc[:, order])
    assert list(scored.columns[: frame.shape[1]]) == list(frame.columns[order])
    expected = source.outputs(scored[ours].to_numpy())
    np.testing.assert_allclose(scored[list(source.output_names())].to_numpy(), expected, rtol=1e-12, atol=1e-12)
    return "right"


def hold_tables_to_the_model(n_tables):
    rng = np.random.default_rng(1)
    # One in ten by DuckDB, which takes longer to start.
    seen = [hold_to_the_model(rng, "sqlite" if position % 10 else "duckdb") for position in range(n_tables)]
    assert min(seen.count(outcome) for outcome in ("refused", "ambiguous", "right")) >= n_tables / 20


def test_a_hundred_tables_agree_or_are_refused():
    hold_tables_to_the_model(100)


@pytest.mark.exports
def test_a_thousand_tables_agree_or_are_refused():
    hold_tables_to_the_model(1000)


@pytest.mark.parametrize("name", ["score", "Score", "PREDICTION"])
@pytest.mark.parametrize("to", ["sql", "frame"])
def test_a_column_that_no_rule_uses_is_not_called_like_an_output(name, to):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["a", name])
    model = TGBClassifier(max_rules=1).fit(X, (X["a"] > 0) * 1)
    with pytest.raises(ValueError, match=f"The column '{name}' is called like an output of the export"):
        model.export(to)
    assert model.export(to, prefix="model ").verification.engine


def test_a_query_with_a_prefix_is_right_on_the_whole_table():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["a", "score"])
    model = TGBClassifier(max_rules=1).fit(X, (X["a"] > 0) * 1)
    scored = fetched("duckdb", model.export("sql", table="t", prefix="model_").content, X)
    np.testing.assert_allclose(scored["model_prediction"], model.predict_proba(X)[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(scored["score"], X["score"])


def test_postgres_tells_upper_from_lower_case_and_refuses_what_is_the_same(postgres):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 0.0)]))], -0.5, ["s", "Score", "é" * 40])
    exported = export(Model.of(ensemble, LOGISTIC), "sql", dialect="postgres", table="patients", connection=postgres)
    assert exported.verification.engine == "PostgreSQL"
    cursor = postgres.cursor()
    for column, outcome in (("PREDICTION", 0.5), ("prediction", "ambiguous")):
        cursor.execute(f'CREATE TEMPORARY TABLE patients ("s" float8, "Score" float8, "{column}" float8)')
        cursor.execute("INSERT INTO patients VALUES (1, 7, 7)")
        if outcome == "ambiguous":
            with pytest.raises(postgres.ProgrammingError, match=outcome):
                cursor.execute(exported.content)
        else:
            cursor.execute(exported.content)
            assert cursor.fetchone()[3] == outcome
        postgres.rollback()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["score", "prediction", "rule_0", "other"])
def test_every_dialect_finds_an_ambiguous_name(dialect, name):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 0.0)]))], -0.5, ["s"])
    query = find_format("sql", dialect=dialect, table="t").write(Source(Model.of(ensemble, LOGISTIC), contributions=True))
    quoted = DIALECTS[dialect].quote
    schema = {quoted("t"): {quoted("s"): "double", quoted(name): "double"}}
    parsed = sqlglot.parse_one(query, dialect=dialect)
    if name == "other":
        qualify(parsed, dialect=dialect, schema=schema)
    else:
        with pytest.raises(sqlglot.errors.OptimizeError, match=f"Column '{name}' could not be resolved"):
            qualify(parsed, dialect=dialect, schema=schema)


@pytest.mark.parametrize("to", ["python", "sql", "frame"])
def test_a_name_that_occurs_twice_is_refused_if_a_rule_uses_it(to):
    rules = [Rule(1.0, Conjunction([Proposition([0], [1.0], 0.0)]))]
    with pytest.raises(ValueError, match="columns 'age' and 'age' have the same name"):
        export(Model.of(RuleEnsemble(rules, 0.0, ["age", "bmi", "age"]), LOGISTIC), to)
    assert export(Model.of(RuleEnsemble(rules, 0.0, ["age", "bmi", "bmi", "BMI"]), LOGISTIC), to).verification.engine


@pytest.mark.parametrize("to", ["python", "sql", "frame"])
def test_a_column_called_like_an_output_that_is_not_wanted_does_no_harm(to):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 0.0)]))], 0.0, ["rule_0", "RULE_1"])
    assert export(Model.of(ensemble, LOGISTIC), to).verification.rows > 0


@pytest.mark.parametrize("kind", ["python", "c", "onnx", "excel", "json"])
def test_names_mean_nothing_to_what_goes_by_position(kind):
    ensemble = random_ensemble(np.random.default_rng(0), NAMES[:40])
    options = {"office": False} if kind == "excel" else {}
    assert export(Model.of(ensemble, LOGISTIC), kind, contributions=True, **options).verification.engine


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_tables_of_more_columns_than_a_database_takes(dialect):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([2999], [1.0], 0.0)]))], 0.0, [f"c{j}" for j in range(3000)])
    assert export(Model.of(ensemble, LOGISTIC), "sql", dialect=dialect).verification.rows > 0


NO_TABLES = [[], (), "", ["sales", ""], [3], 3, None, b"data", "a\0", "a..b", ".a", "a.", 'a"b', '"a"b', '""']


@pytest.mark.parametrize("table", NO_TABLES)
def test_a_table_needs_a_name(table):
    with pytest.raises(ValueError, match="table must be a name"):
        find_format("sql", table=table)


@pytest.mark.parametrize("library", installed_libraries())
def test_no_column_of_a_frame_is_overwritten(library):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 0.0)]))], 0.0, ["age"])
    scorer = find_format("frame").write(Source(Model.of(ensemble, LOGISTIC)))
    for name in ("score", "prediction", *([] if LIBRARIES[library].case_sensitive else ["Score"])):
        frame = LIBRARIES[library].make({"age": np.ones(2), name: np.ones(2)})
        with pytest.raises(ValueError, match=f"The frame has a column '{name}', which is called like an output"):
            scorer(frame)
    with pytest.raises(ValueError, match="The frame has no column 'age', which rules use"):
        scorer(LIBRARIES[library].make({"Age": np.ones(2)}))


def test_a_frame_of_a_library_that_ignores_case_reads_no_other_column():
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([1], [1.0], 0.0)]))], 0.0, ["AGE", "age"])
    scorer = export(Model.of(ensemble, LOGISTIC), "frame").content
    with pytest.raises(ValueError, match="The frame has no column 'age'"):
        scorer(LIBRARIES["duckdb"].make({"AGE": -np.ones(2), "age": np.ones(2)}))
