"""Levels, missing values, flags and dates: every export gives what the model gives, and says it in its own language."""

import contextlib
import datetime
import math
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obliquerules import Conjunction, LLTBoostClassifier, LLTBoostRegressor, Proposition, Rule, RuleEnsemble
from obliquerules.export.export_formats import MOST_ROWS_AT_A_TIME, export, find_format
from obliquerules.export.frame import installed_libraries
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.verification import ExportError, compare, telling_rows
from obliquerules.export.workbook import read_cells
from obliquerules.losses import LOSSES
from obliquerules.rules import Column, Factor, Membership, Model

from .engines import ENGINES as EVERYWHERE
from .mixed import COLOURS, COLUMNS, MIXED, NOON, SLOPED, mixed_ensembles, mixed_rows

LOGISTIC, SQUARED = LOSSES["logistic"], LOSSES["squared"]
ENGINES = EVERYWHERE | {"Excel": ("excel", {"office": False}), "frames": ("frame", {})}
MODELS = {"conditions": Model.of(MIXED, LOGISTIC), "factors": Model.of(SLOPED, SQUARED)}
IN_PROCESS = sorted(set(ENGINES) - {"C", "PostgreSQL"})
SLOW_IN_PROCESS = {"frames": 5, "DuckDB": 15}


def options_of(engine, request):
    to, options = ENGINES[engine]
    return to, options | ({"connection": request.getfixturevalue("postgres")} if engine == "PostgreSQL" else {})


# ---- the same as the model


def holdings(source, rows):
    """Return how many values of columns that rules use are missing, and how many are levels that were never seen."""
    with_levels = [column for column in source.used if source.columns[column].levels is not None]
    return np.isnan(rows[:, list(source.used)]).sum(axis=0).min(), (rows[:, with_levels] == -1.0).sum(axis=0).min()


def hold_to_the_model(source, engine, n_rows, request):
    to, options = options_of(engine, request)
    target = find_format(to, **options)
    product, rows = target.write(source), mixed_rows(source, n_rows)
    assert min(holdings(source, rows)) > 0
    for first in range(0, n_rows, MOST_ROWS_AT_A_TIME):
        block = target.comparable(source, rows[first : first + MOST_ROWS_AT_A_TIME])
        assert len(block) > 0.9 * min(n_rows, MOST_ROWS_AT_A_TIME)
        expected = target.expected(source, block)
        assert np.isnan(expected[:, 0]).mean() < 0.2
        compare(source, block, target.run(product, source, block), first, expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_thousands_of_rows_agree(model, engine, request):
    hold_to_the_model(Source(MODELS[model], contributions=True), engine, 3_000, request)


@pytest.mark.exports
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_a_hundred_thousand_rows_agree(model, engine, request):
    hold_to_the_model(Source(MODELS[model], contributions=True), engine, 100_000, request)


def test_every_rule_of_the_mixed_model_is_told():
    source = Source(Model.of(MIXED, LOGISTIC), contributions=True)
    fired = source.ensemble.fires(source.block(mixed_rows(source, 3_000)))
    never = [str(rule.condition.describe(COLUMNS)) for rule, some in zip(MIXED, fired.any(axis=0), strict=True) if not some]
    always = [str(rule.condition.describe(COLUMNS)) for rule, some in zip(MIXED, fired.all(axis=0), strict=True) if some]
    assert never == ["colour = purple"]
    assert always == ["identifier != p1 or missing"]


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_any_mixed_model(engine):
    to, options = ENGINES[engine]

    @settings(max_examples=SLOW_IN_PROCESS.get(engine, 40), deadline=None)
    @given(mixed_ensembles(), st.sampled_from(["logistic", "squared"]))
    def hold(ensemble, loss):
        assert export(Model.of(ensemble, LOSSES[loss]), to, **options).verification.rows > 0

    hold()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mixed_ensembles())
def test_any_mixed_model_on_postgres(postgres, ensemble):
    assert export(Model.of(ensemble, SQUARED), "sql", dialect="postgres", connection=postgres).verification.engine


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler called 'cc'")
@settings(max_examples=8, deadline=None)
@given(mixed_ensembles())
def test_any_mixed_model_in_c(ensemble):
    target, source = find_format("c"), Source(Model.of(ensemble, SQUARED), contributions=True)
    rows = target.comparable(source, telling_rows(source))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    compare(source, rows, target.run(target.write(source), source, rows, flags))


CHANGES = {
    "a level more": Membership(0, ["red", "blue"]),
    "negated": Membership(0, ["red"], negated=True, missing=True),
    "missing": Membership(0, ["red"], missing=True),
    "not missing": Membership(0, [], negated=True),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_condition_that_differs_is_refused(engine, change):
    columns = [Column("colour", ("red", "blue", "green")), Column("age")]
    known = Rule(0.5, Conjunction([Membership(1, [], negated=True)]))
    ours, theirs = (
        Source(Model.of(RuleEnsemble([Rule(1.5, Conjunction([test])), known], 0.0, columns), SQUARED), contributions=True)
        for test in (Membership(0, ["red"]), CHANGES[change])
    )
    to, options = ENGINES[engine]
    target = find_format(to, **options)
    with pytest.raises(ExportError, match=r"In row \d+, with \{'colour': .*its score is"):
        target.verified(ours, target.write(theirs), np.empty((0, 2)))


def test_rows_are_at_the_limits_and_origins_of_factors_and_beyond():
    source = Source(MODELS["factors"], contributions=True)
    rows = mixed_rows(source, 3_000)
    fired = np.nan_to_num(source.outputs(rows)[:, 2:]) != 0.0
    assert [rule.weight for rule, some in zip(SLOPED, fired.any(axis=0), strict=True) if not some] == [0.0]
    for _, factor in source.factors:
        values = rows[:, factor.column]
        for number in factor.numbers:
            assert ((values == number).any(), (values < number).any(), (values > number).any()) == (True, True, True)


FACTOR_CHANGES = {
    "origin": Factor(0, math.nextafter(50.1, 0.0), 20.3, 80.7),
    "lower limit": Factor(0, 50.1, math.nextafter(20.3, 0.0), 80.7),
    "upper limit": Factor(0, 50.1, 20.3, math.nextafter(80.7, 0.0)),
    "no upper limit": Factor(0, 50.1, 20.3),
    "column": Factor(1, 50.1, 20.3, 80.7),
    "none": None,
}


@pytest.mark.parametrize("change", FACTOR_CHANGES)
@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_factor_that_differs_is_refused(engine, change):
    condition, both = Conjunction([Proposition([1], [1.0], 3.0, missing=True)]), [Rule(0.5, factor=0), Rule(0.5, factor=1)]
    ours, theirs = (
        Source(Model.of(RuleEnsemble([Rule(1.0, condition, factor), *both], 0.0, ["a", "b"]), SQUARED), True)
        for factor in (Factor(0, 50.1, 20.3, 80.7), FACTOR_CHANGES[change])
    )
    to, options = ENGINES[engine]
    target = find_format(to, **options)
    with pytest.raises(ExportError, match=r"In row \d+, with \{'a': .*its (score|rule_0) is"):
        target.verified(ours, target.write(theirs), np.empty((0, 2)))


# ---- raw tables of users


def raw_frame(n_rows=600):
    """Return a frame as users have it, and a target that depends on all of its columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 15.0, n_rows).round(),
            "colour": rng.choice(["red", "green", "blue", "teal"], n_rows),
            "smoker": rng.random(n_rows) < 0.3,
            "grade": pd.Categorical(rng.choice(["low", "mid", "top"], n_rows), categories=["low", "mid", "top"], ordered=True),
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D"),
            "drug": rng.integers(0, 2, n_rows),
            "bmi": rng.normal(25.0, 4.0, n_rows).round(1),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "colour"] = None
    frame.loc[rng.random(n_rows) < 0.2, "bmi"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "admitted"] = pd.NaT
    y = 2.0 * frame["colour"].isin(["red", "blue"]) + 1.5 * frame["smoker"] - 2.0 * (frame["admitted"] >= "2021-03-01")
    y += 0.05 * frame["age"] + 1.0 * (frame["grade"] >= "mid") + 1.2 * frame["bmi"].isna() + 1.0 * frame["drug"]
    return frame, y + rng.normal(0.0, 0.3, n_rows)


@pytest.fixture(scope="module")
def fitted():
    """A regressor fitted to a raw frame, the frame, and rows with levels that it has not seen."""
    frame, y = raw_frame()
    model = LLTBoostRegressor(max_rules=10, random_state=0).fit(frame, y)
    new = frame.copy()
    new["grade"] = new["grade"].astype(str)
    new.loc[::7, "colour"] = "mauve"
    new.loc[::9, "grade"] = None
    return model, frame, new


def predictions(model, frame):
    return model.ensemble_(model._read(frame, warned=False).X)


@pytest.mark.filterwarnings("ignore:(Values are missing|Levels that were not seen)")
def test_what_a_fit_learns_is_about_all_kinds_of_columns(fitted):
    model, frame, _ = fitted
    assert len(model.ensemble_.used_columns) == frame.shape[1]


@pytest.mark.filterwarnings("ignore:(Values are missing|Levels that were not seen)")
@pytest.mark.parametrize("engine", sorted(set(ENGINES) - {"C"}))
def test_raw_rows_of_the_user_agree(engine, fitted, request):
    model, frame, new = fitted
    to, options = options_of(engine, request)
    for rows in (frame, new)[engine == "frames" :]:
        assert model.export(to, rows, **options).verification.rows > len(frame)


@pytest.mark.filterwarnings("ignore:(Values are missing|Levels that were not seen)")
def test_a_query_runs_on_the_raw_table(fitted):
    import duckdb

    model, _, new = fitted
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        connection.register("given", new.assign(row=np.arange(len(new))))
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
        query = model.export("sql", table="patients", connection=connection).content
        assert 'data."admitted" >= TIMESTAMP \'' in query or 'data."admitted" <= TIMESTAMP \'' in query
        scores = connection.execute(f'SELECT "score" FROM ({query}) ORDER BY "row"').fetchall()
    assert [score for (score,) in scores] == predictions(model, new).tolist()


@pytest.mark.filterwarnings("ignore:(Values are missing|Levels that were not seen)")
@pytest.mark.parametrize("library", installed_libraries())
def test_a_scorer_takes_the_raw_frame(library, fitted):
    model, frame, _ = fitted
    scorer, made = find_format("frame").write(Source(model.model_)), frame.assign(row=np.arange(len(frame)))
    if library == "polars":
        made = pytest.importorskip("polars").from_pandas(made)
    if library in ("pyarrow", "duckdb"):
        made = pytest.importorskip("pyarrow").Table.from_pandas(made)
    if library == "duckdb":
        made = pytest.importorskip("duckdb").from_arrow(made)
    if library == "dask":
        made = pytest.importorskip("dask.dataframe").from_pandas(made, npartitions=2)
    scored = scorer(made)
    scored = {
        "pandas": lambda: scored,
        "polars": lambda: scored.to_pandas(),
        "pyarrow": lambda: scored.to_pandas(),
        "duckdb": lambda: scored.df(),
        "dask": lambda: scored.compute(),
    }[library]()
    assert scored.sort_values("row")["score"].tolist() == predictions(model, frame).tolist()


@pytest.mark.filterwarnings("ignore:(Values are missing|Levels that were not seen)")
def test_a_module_takes_rows_of_any_frame(fitted):
    model, _, new = fitted
    functions = {}
    exec(model.export("python").content, functions)
    rows = new.to_dict("records")
    assert [functions["score"](row) for row in rows] == predictions(model, new).tolist()


def test_times_with_a_zone_are_refused_by_a_scorer():
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 1e9)]))], 0.0, [Column("seen", kind="time")])
    scorer = export(Model.of(ensemble, SQUARED), "frame").content
    with pytest.raises(ValueError, match="The times of column 'seen' have a zone"):
        scorer(pd.DataFrame({"seen": pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Berlin")}))


@pytest.mark.parametrize("make", [list, lambda dates: pd.Series(dates, dtype=object)])
def test_dates_that_pandas_keeps_as_objects_are_refused_by_a_scorer(make):
    scorer = find_format("frame").write(of_one_rule("date"))
    with pytest.raises(ValueError, match=r"The column 'admitted' is of type Object: make it .* by pandas.to_datetime"):
        scorer(pd.DataFrame({"admitted": make([datetime.date(2021, 3, 1)])}))


KINDS_OF_TEXT = {
    "pandas": [object, "str", "string", "category"],
    "polars": ["String", "Categorical", ("Enum", ["red", "mauve"])],
    "pyarrow": ["string", "large_string", "dictionary"],
}


@pytest.mark.parametrize(("library", "kind"), [(library, kind) for library, kinds in KINDS_OF_TEXT.items() for kind in kinds])
def test_a_scorer_takes_text_and_categories(library, kind):
    package = pytest.importorskip(library)
    values = ["red", "mauve", None]
    if library == "pandas":
        values = package.Series(values, dtype=kind)
    elif library == "polars":
        name, *arguments = (kind,) if isinstance(kind, str) else kind
        values = package.Series(values, dtype=getattr(package, name)(*arguments))
    else:
        values = (
            package.array(values).dictionary_encode()
            if kind == "dictionary"
            else package.array(values, getattr(package, kind)())
        )
    frame = package.table({"colour": values}) if library == "pyarrow" else package.DataFrame({"colour": values})
    for said, scores in (("in", [1.75, 0.25, 0.25]), ("not in", [0.25, 1.75, 0.25])):
        scored = find_format("frame").write(of_one_rule(said))(frame)["score"]
        assert (scored.to_pylist() if library == "pyarrow" else scored.to_list()) == scores


def test_classes_of_raw_rows_in_a_workbook():
    frame, y = raw_frame(200)
    model = LLTBoostClassifier(max_rules=3, random_state=0).fit(frame, np.where(y > y.median(), "ill", "well"))
    content = model.export("excel", rows=frame, office=False).content
    cells = read_cells(content, 1)
    headings = {cell.value: place[:-1] for place, cell in cells.items() if re.fullmatch(r"[A-Z]+1", place)}
    shown = [cells[f"{headings['class']}{row}"].value for row in range(2, 202)]
    assert shown == model.predict(frame).tolist()


# ---- what it reads like

TESTS = {
    "in": [Membership(1, ["red", "blue"])],
    "not in": [Membership(1, ["red", "blue"], negated=True)],
    "or missing": [Membership(1, ["red"], missing=True), Membership(2, [True])],
    "missing": [Membership(1, [], missing=True), Membership(4, [3, 7])],
    "number": [Proposition([9], [1.0], 25.0, missing=True)],
    "date": [Proposition([6], [1.0], 18687.0)],
    "duration": [Proposition([8], [-1.0], -2.5)],
    "sum": [Proposition([0, Membership(2, [True])], [1.0, 12.0], 60.0)],
    "limits": [Membership(2, [True])],
    "own column": [Proposition([0], [1.0], 40.0)],
}
# Of those that have a factor.
FACTORS = {
    "slope": Factor(0),
    "limits": Factor(0, 50.0, 20.0, 80.0),
    "own column": Factor(0, -3.0, upper=80.0),
    "from a date": Factor(6, 18687.0),
    "from a time": Factor(7, NOON),
}
SAID = {
    "sqlite": {
        "in": "data.\"colour\" IN ('red', 'blue')",
        "not in": "data.\"colour\" NOT IN ('red', 'blue')",
        "or missing": '(data."colour" = \'red\' OR data."colour" IS NULL) AND data."smoker" = 1',
        "missing": 'data."colour" IS NULL AND data."ward" IN (3, 7)',
        "number": '(1.0 * data."bmi" >= 25.0 OR data."bmi" IS NULL)',
        "date": "julianday(data.\"admitted\") >= julianday('2021-03-01')",
        "duration": '-1.0 * data."stay" >= -2.5',
        "sum": '1.0 * data."age" + (CASE WHEN data."smoker" = 1 THEN 12.0 ELSE 0.0 END) >= 60.0',
        "slope": 'CASE WHEN data."age" IS NOT NULL THEN 1.5 * data."age" ELSE 0.0 END',
        "own column": 'THEN 1.5 * ((CASE WHEN data."age" > 80.0 THEN 80.0 ELSE data."age" END) + 3.0) ELSE 0.0 END',
        "from a date": '* (((round((julianday(data."admitted") - 2440587.5) * 86400000.0) / 1000.0) / 86400.0) - 18687.0)',
    },
    "postgres": {
        "or missing": '(data."colour" = \'red\' OR data."colour" IS NULL) AND data."smoker" = TRUE',
        "number": '(data."bmi"::float8 BETWEEN 25 AND 1e308 OR nullif(data."bmi"::float8, \'NaN\') IS NULL)',
        "date": "data.\"admitted\" >= DATE '2021-03-01'",
        "duration": "data.\"stay\" <= INTERVAL '2 days 43200.000000 seconds'",
        "slope": 'CASE WHEN nullif(data."age"::float8, \'NaN\') IS NOT NULL THEN 1.5 * data."age"::float8 ELSE 0 END',
        "own column": 'CASE WHEN data."age"::float8 BETWEEN 40 AND 1e308 THEN 1.5 * (',
        "from a date": '1.5 * ((extract(epoch FROM data."admitted")::float8 / 86400) - 18687)',
        "sum": 'data."age"::float8 + (CASE WHEN data."smoker" = TRUE THEN 12::float8 ELSE 0 END) BETWEEN 60 AND 1e308',
    },
    "bigquery": {"date": "data.`admitted` >= DATE '2021-03-01'", "in": "data.`colour` IN ('red', 'blue')"},
    "snowflake": {"date": "data.\"admitted\" >= DATE '2021-03-01'"},
    "spark": {"date": "data.`admitted` >= DATE '2021-03-01'", "in": "data.`colour` IN ('red', 'blue')"},
    "tsql": {
        "in": "data.[colour] COLLATE Latin1_General_BIN2 IN (N'red', N'blue')",
        "or missing": "(data.[colour] COLLATE Latin1_General_BIN2 = N'red' OR data.[colour] IS NULL) AND data.[smoker] = 1",
        "date": "data.[admitted] >= CAST('2021-03-01' AS DATE)",
    },
    "python": {
        "in": "1.5 if x1 in ('red', 'blue') else 0.0",
        "not in": "1.5 if x1 not in (None, 'red', 'blue') else 0.0",
        "missing": "1.5 if x1 is None and x4 in (3, 7) else 0.0",
        "number": "1.5 if (x9 >= 25.0 or x9 != x9) else 0.0",
        "sum": "1.5 if x0 + (12.0 if x2 == True else 0.0) >= 60.0 else 0.0",
        "slope": "1.5 * x0 if x0 == x0 else 0.0",
        "limits": "1.5 * (min(max(x0, 20.0), 80.0) - 50.0) if x2 == True and x0 == x0 else 0.0",
        "own column": "1.5 * (min(x0, 80.0) + 3.0) if x0 >= 40.0 else 0.0",
        "from a time": "1.5 * (x7 - 1614600000.0) if x7 == x7 else 0.0",
    },
    "c": {
        "in": "/* colour in {red, blue} */\n    contributions[0] = (x[1] == 0.0 || x[1] == 1.0) ? 1.5 : 0.0;",
        "not in": "!isnan(x[1]) && x[1] != 0.0 && x[1] != 1.0 ? 1.5 : 0.0;",
        "missing": "isnan(x[1]) && (x[4] == 3.0 || x[4] == 7.0) ? 1.5 : 0.0;",
        "date": " *   x[6]  admitted (days since 1970-01-01)\n",
        "sum": "x[0] + (x[2] == 1.0 ? 12.0 : 0.0) >= 60.0 ? 1.5 : 0.0;",
        "slope": "contributions[0] = !isnan(x[0]) ? model_product(1.5, x[0]) : 0.0;",
        "limits": "? model_product(1.5, ((x[0] < 20.0 ? 20.0 : x[0] > 80.0 ? 80.0 : x[0]) - 50.0)) : 0.0;",
        "from a date": "/* +1.5 (admitted - 2021-03-01) */",
    },
    "excel": {
        "in": 'IF(OR(EXACT(A2,"red"),EXACT(A2,"blue")),Rules!$B$3,0)',
        "not in": 'IF(AND(NOT(ISBLANK(A2)),NOT(OR(EXACT(A2,"red"),EXACT(A2,"blue")))),Rules!$B$3,0)',
        "or missing": 'IF(AND(OR(EXACT(A2,"red"),ISBLANK(A2)),EXACT(B2,TRUE)),Rules!$B$3,0)',
        "number": "IF(OR(AND(COUNT(A2)=1,A2 >= 25),ISBLANK(A2)),Rules!$B$3,0)",
        "date": "IF(AND(COUNT(A2)=1,A2 >= DATE(2021,3,1)),Rules!$B$3,0)",
        "sum": "IF(AND(COUNT(A2)=1,A2 + (IF(EXACT(B2,TRUE),12,0)) >= 60),Rules!$B$3,0)",
        "slope": "IF(NOT(ISBLANK(A2)),Rules!$B$3 * A2,0)",
        "limits": "IF(AND(EXACT(B2,TRUE),NOT(ISBLANK(A2))),Rules!$B$3 * (MIN(MAX(A2,20),80) - 50),0)",
        "from a time": "Rules!$B$3 * (ROUND((A2 - 25569) * 86400,3) - 1614600000)",
    },
}


def of_one_rule(said):
    rule = Rule(1.5, Conjunction(TESTS.get(said, [])), FACTORS.get(said))
    return Source(Model.of(RuleEnsemble([rule], 0.25, COLUMNS), SQUARED))


@pytest.mark.parametrize(("language", "said"), [(language, said) for language in SAID for said in SAID[language]])
def test_conditions_read_like_the_language(language, said):
    target = find_format("sql", dialect=language) if language in DIALECTS else find_format(language)
    product = target.write(of_one_rule(said))
    if language == "excel":
        product = "\n".join(cell.formula or "" for cell in read_cells(product, 1).values())
    assert SAID[language][said] in product


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_of_factors_parse_in_their_dialect(dialect):
    query = find_format("sql", dialect=dialect).write(Source(MODELS["factors"]))
    assert len(sqlglot.parse(query, dialect=dialect)) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_parse_in_their_dialect_and_keep_their_levels(dialect):
    parsed = sqlglot.parse(find_format("sql", dialect=dialect).write(Source(Model.of(MIXED, SQUARED))), dialect=dialect)
    assert len(parsed) == 1
    texts = {literal.this for literal in parsed[0].find_all(sqlglot.exp.Literal, sqlglot.exp.National)}
    assert set(COLOURS) <= texts


def test_the_inputs_of_a_graph():
    onnx = pytest.importorskip("onnx")
    graph = onnx.load_from_string(export(Model.of(MIXED, SQUARED), "onnx").content).graph
    inputs = {value.name: value for value in graph.input}
    assert list(inputs) == ["X", "colour", "grade", "identifier"]
    assert inputs["X"].type.tensor_type.shape.dim[1].dim_value == len(COLUMNS) - 4
    assert inputs["X"].doc_string == "age, smoker, ward, sex_M, admitted, seen, stay, bmi, certain"
    assert inputs["colour"].type.tensor_type.elem_type == onnx.TensorProto.STRING
    assert inputs["colour"].doc_string == "'' is a missing value"


def test_a_graph_of_text_alone_has_no_numbers():
    onnxruntime = pytest.importorskip("onnxruntime")
    columns = [Column("X", ("", "a")), Column("score", ("b",))]
    rules = [Rule(1.0, Conjunction([Membership(0, [""], missing=True)])), Rule(2.0)]
    session = onnxruntime.InferenceSession(export(Model.of(RuleEnsemble(rules, 0.0, columns), SQUARED), "onnx").content)
    assert [value.name for value in session.get_inputs()] == ["X_"]
    (score,) = session.run(["score"], {"X_": np.array(["", "a", "_", "c"], dtype=object)})
    assert score.tolist() == [3.0, 2.0, 3.0, 2.0]


PROGRAM = """\
#include "model.h"
int main(void)
{
    double x[2] = {0.0, model_level_1("red")};
    if (model_score(x) != 2.0) return 1;
    x[1] = model_level_1("mauve");
    if (model_score(x) != 0.5) return 2;
    x[1] = model_level_1(NULL);
    return model_score(x) != 0.5 ? 3 : 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler called 'cc'")
def test_text_in_c(tmp_path):
    ensemble = RuleEnsemble([Rule(1.5, Conjunction([Membership(1, ["red"])]))], 0.5, COLUMNS[:2])
    export(Model.of(ensemble, SQUARED), "c").save(tmp_path / "model.h")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["cc", "-std=c99", "-o", "program", "program.c", "-lm"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)


@pytest.mark.parametrize(("to", "options"), [("c", {}), ("sql", {"dialect": "postgres"}), ("excel", {})])
def test_levels_that_a_language_does_not_have_are_refused(to, options):
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Membership(0, ["\0", ""])]))], 0.0, [Column("a", ("\0", ""))])
    with pytest.raises(ValueError, match=r"level '(\\x00)?'"):
        find_format(to, **options).write(Source(Model.of(ensemble, SQUARED)))


# ---- the types of tables


@pytest.mark.parametrize(
    ("types", "condition"),
    [
        ({}, "data.\"admitted\" >= DATE '2021-03-01'"),
        ({"admitted": "time"}, "data.\"admitted\" >= TIMESTAMP '2021-03-01 00:00:00'"),
        ({"admitted": "integer"}, '1e0 * data."admitted" >= 18687e0'),
    ],
)
def test_dates_may_be_stored_as_times_or_numbers(types, condition):
    exported = export(of_one_rule("date").model, "sql", types=types)
    assert condition in exported.content
    assert exported.verification.engine == "DuckDB"


@pytest.mark.parametrize("kind", ["boolean", "integer", "decimal", "double"])
@pytest.mark.parametrize("said", ["slope", "limits", "own column"])
def test_factors_of_columns_of_any_type(said, kind, request):
    for dialect, options in (("duckdb", {}), ("sqlite", {}), ("postgres", options_of("PostgreSQL", request)[1])):
        exported = export(of_one_rule(said).model, "sql", types={"age": kind}, **{"dialect": dialect} | options)
        assert exported.verification.engine is not None


@pytest.mark.parametrize("types", [{"admitted": "time"}, {"admitted": "integer"}, {"admitted": "double"}])
def test_factors_of_dates_that_are_stored_as_times_or_numbers(types):
    assert export(of_one_rule("from a date").model, "sql", types=types).verification.engine == "DuckDB"


@pytest.mark.parametrize(("kind", "literal"), [("boolean", "TRUE"), ("integer", "1")])
def test_booleans_may_be_stored_as_numbers(kind, literal):
    exported = export(of_one_rule("or missing").model, "sql", types={"smoker": kind})
    assert f'data."smoker" = {literal}' in exported.content
    assert exported.verification.engine == "DuckDB"


@pytest.mark.parametrize("stored", ["2021-03-01", "2021-03-01 00:00:00", "2021-03-01T00:00:00.000"])
def test_sqlite_reads_dates_however_they_are_written(stored):
    for test, score in ((Proposition([0], [1.0], 18687.0), 1.0), (Proposition([0], [-1.0], -18687.0), 1.0)):
        ensemble = RuleEnsemble([Rule(1.0, Conjunction([test]))], 0.0, [Column("admitted", kind="date")])
        query = export(Model.of(ensemble, SQUARED), "sql", dialect="sqlite", table="t").content
        with contextlib.closing(DIALECTS["sqlite"].connect()) as connection:
            connection.execute("CREATE TABLE t (admitted TEXT)")
            connection.execute("INSERT INTO t VALUES (?)", [stored])
            assert connection.execute(query).fetchone()[1:] == (score, score)


def test_dates_of_python_are_read_with_their_zone():
    ensemble = RuleEnsemble([Rule(1.0, Conjunction([Proposition([0], [1.0], 18687.0)]))], 0.0, [Column("on", kind="date")])
    functions = {}
    exec(export(Model.of(ensemble, SQUARED), "python").content, functions)
    east = datetime.timezone(datetime.timedelta(hours=2))
    for moment, score in [
        (datetime.date(2021, 3, 1), 1.0),
        (datetime.date(2021, 2, 28), 0.0),
        (datetime.datetime(2021, 3, 1, 1, tzinfo=east), 0.0),
        (datetime.datetime(2021, 3, 1, 0), 1.0),
        (None, 0.0),
        (pd.NaT, 0.0),
    ]:
        assert functions["score"]({"on": moment}) == score


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [("INTEGER", "is of type INTEGER, but held text"), ("VARCHAR", None), ("ENUM ('red', 'mauve')", None)],
)
def test_a_table_has_text_where_the_model_has_levels(kind, complaint):
    duckdb = pytest.importorskip("duckdb")
    model = of_one_rule("in").model
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t (colour {kind})")
        if complaint is not None:
            with pytest.raises(ValueError, match=complaint):
                export(model, "sql", table="t", connection=connection)
            return
        connection.execute("INSERT INTO t VALUES ('red'), ('mauve'), (NULL)")
        query = export(model, "sql", table="t", connection=connection).content
        assert [row[1] for row in connection.execute(query).fetchall()] == [1.75, 0.25, 0.25]


def test_times_with_a_zone_are_refused_in_a_table():
    duckdb = pytest.importorskip("duckdb")
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (admitted TIMESTAMPTZ)")
        with pytest.raises(ValueError, match="The times of column 'admitted' of the table have a zone"):
            export(of_one_rule("date").model, "sql", table="t", connection=connection)
