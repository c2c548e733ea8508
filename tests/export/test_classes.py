"""Many classes, exposures and offsets: every export gives what the model gives, under names and in types of its own."""

import contextlib
import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings

from obliquerules import Conjunction, LLTBoostClassifier, Proposition, Rule, RuleEnsemble
from obliquerules.export.document import document_model
from obliquerules.export.export_formats import MOST_ROWS_AT_A_TIME, export, find_format
from obliquerules.export.frame import LIBRARIES, installed_libraries
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.verification import ExportError, compare, telling_rows
from obliquerules.export.workbook import read_cells
from obliquerules.losses import LOSSES, class_loss
from obliquerules.rules import Column, Labels, Model
from obliquerules.rules.files.fields import parse_document

from .classes import CLASSES, GIVEN, MODELS, WORDS, class_models, given_models, with_offset
from .engines import ENGINES as EVERYWHERE
from .mixed import mixed_rows

ENGINES = EVERYWHERE | {"Excel": ("excel", {"office": False}), "frames": ("frame", {})}
IN_PROCESS = sorted(set(ENGINES) - {"C", "PostgreSQL"})
# Frames take seconds, whatever the number of rows.
TRIED_IN_FRAMES = ("exposure", "offsets of 3 classes")
TRIED = [(model, engine) for model in MODELS for engine in ENGINES if engine != "frames" or model in TRIED_IN_FRAMES]
TRIED_AT_LENGTH = ("3 classes", "10 classes", "exposure", "offset", "offsets of 3 classes")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
with_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler called 'cc'")


def options_of(engine, request):
    to, options = ENGINES[engine]
    return to, options | ({"connection": request.getfixturevalue("postgres")} if engine == "PostgreSQL" else {})


# ---- the same as the model


def hold_to_the_model(source, engine, n_rows, request):
    to, options = options_of(engine, request)
    target = find_format(to, **options)
    product, rows = target.write(source), mixed_rows(source, n_rows)
    for first in range(0, n_rows, MOST_ROWS_AT_A_TIME):
        block = target.comparable(source, rows[first : first + MOST_ROWS_AT_A_TIME])
        assert len(block) > 0.8 * min(n_rows, MOST_ROWS_AT_A_TIME)
        expected = target.expected(source, block)
        assert 0.0 < np.isnan(expected[:, 0]).mean() < 0.5
        compare(source, block, target.run(product, source, block), first, expected)


@pytest.mark.parametrize(("model", "engine"), TRIED)
def test_hundreds_of_rows_agree(model, engine, request):
    hold_to_the_model(Source(MODELS[model], contributions=True), engine, 400, request)


@pytest.mark.exports
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", TRIED_AT_LENGTH)
def test_a_hundred_thousand_rows_agree(model, engine, request):
    hold_to_the_model(Source(MODELS[model], contributions=True), engine, 100_000, request)


@pytest.mark.parametrize("model", ["3 classes", "10 classes"])
def test_the_rows_tell_classes_apart_and_have_equal_scores(model):
    source = Source(CLASSES[model])
    outputs = source.outputs(mixed_rows(source, 3_000))
    outputs = outputs[~np.isnan(outputs[:, 0])]
    scores, codes = outputs[:, : source.n_scores], outputs[:, source.n_scores].astype(int)
    ties = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert ties.mean() > 0.003
    assert len(np.unique(codes)) >= min(source.n_scores, 6)
    assert (np.argmax(scores, axis=1) == codes).all()


@pytest.mark.parametrize("engine", [engine for engine in IN_PROCESS if engine != "frames"])
def test_any_model(engine):
    to, options = ENGINES[engine]

    @settings(max_examples=12, deadline=None)
    @given(class_models() | given_models())
    def hold(model):
        assert export(model, to, **options).verification.rows > 0

    hold()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(class_models() | given_models())
def test_any_model_on_postgres(postgres, model):
    assert export(model, "sql", dialect="postgres", connection=postgres).verification.engine


@with_compiler
@settings(max_examples=5, deadline=None)
@given(class_models() | given_models())
def test_any_model_in_c_without_a_warning(model):
    target, source = find_format("c"), Source(model, contributions=True)
    rows = target.comparable(source, telling_rows(source))
    compare(source, rows, target.run(target.write(source), source, rows, STRICT))


# ---- small models


AGE = Conjunction([Proposition([0], [1.0], 50.0)])


def small_model(labels=("a", "b", "c"), weights=((1.0, 0.0, -2.0),), columns=("age", "bmi")):
    labels = Labels.of(labels)
    ensemble = RuleEnsemble([Rule(weight, AGE) for weight in weights], [0.0] * len(labels), columns, labels.names)
    return Model.of(ensemble, class_loss(len(labels)), labels)


def rate_model(kind="exposure", names=("years",)):
    return with_offset(Model.of(RuleEnsemble([Rule(0.5, AGE)], 0.25, ["age", "bmi"]), LOSSES["poisson"]), kind, names)


def ran(model, engine, X, request, contributions=False):
    to, options = options_of(engine, request)
    source, target = Source(model, contributions), find_format(to, **options)
    return target.run(target.write(source), source, np.array(X, dtype=np.float64))


def test_the_names_of_outputs():
    names = Source(small_model(weights=[(1.0, 0.0, -2.0), (0.0, 0.5, 0.0)]), contributions=True).output_names("m_")
    scores = ("m_score_a", "m_score_b", "m_score_c", "m_class", "m_probability")
    assert names == (*scores, "m_rule_0_a", "m_rule_0_c", "m_rule_1_b")


@pytest.mark.parametrize("engine", ENGINES)
def test_of_equal_scores_the_first_wins(engine, request):
    for weights, code in (((0.0, 0.0, 0.0), 0), ((-1.0, 0.0, 0.0), 1), ((-1.0, 0.5, 0.5), 1), ((0.5, 0.0, 0.5), 0)):
        computed = ran(small_model(weights=[weights]), engine, [[60.0, 0.0]], request)
        assert computed[0, :4].tolist() == [*weights, code]


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_any_size_have_a_probability(engine, request):
    model = small_model(weights=[(1e300, -1e300, 1e300)])
    computed = ran(model, engine, [[60.0, 0.0], [0.0, 0.0]], request)
    assert computed[:, 3].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(computed[:, 4], [0.5, 1.0 / 3.0], rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exposure_multiplies_the_prediction_and_must_be_positive(engine, request):
    years = [1.0, 2.5, 1e-20, 0.0, -1.0, np.nan, 1e301]
    years += [] if engine == "Excel" else [np.inf, -np.inf]  # which there is not
    X = [[60.0, np.nan, one] for one in years]
    computed = ran(rate_model(), engine, X, request, contributions=True)
    assert computed[:3, [0, 2]].tolist() == [[0.75, 0.5]] * 3
    np.testing.assert_allclose(computed[:3, 1], np.array(years[:3]) * np.exp(0.75), rtol=1e-12)
    assert np.isnan(computed[3:]).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_offset_is_added_before_the_rules(engine, request):
    offsets = [0.1, -0.25, 0.0, np.nan, 1e301]
    computed = ran(rate_model("offset"), engine, [[60.0, 0.0, one] for one in offsets], request)
    assert computed[:3, 0].tolist() == [(0.25 + one) + 0.5 for one in offsets[:3]]
    assert np.isnan(computed[3:]).all()


# ---- what is refused


def test_an_output_is_not_called_like_a_column():
    for name in ("score_b", "class", "PROBABILITY"):
        model = small_model(columns=("age", name))
        for to in ("sql", "frame"):
            with pytest.raises(ValueError, match=f"column '{name}' is called like an output"):
                export(model, to)
            assert export(model, to, prefix="m ").verification.engine
    beside = small_model(columns=("age", "rule_0_a"))
    assert export(beside, "sql").verification.engine
    with pytest.raises(ValueError, match="column 'rule_0_a' is called like an output"):
        export(beside, "sql", contributions=True)


def test_an_exposure_is_not_called_like_an_output_or_a_column():
    for name, complaint in (("score", "is called like an output"), ("age", "have the same name")):
        for to in ("sql", "frame"):
            with pytest.raises(ValueError, match=complaint):
                export(rate_model(names=[name]), to)
    with pytest.raises(ValueError, match="columns 'age' and 'age' have the same name"):
        export(rate_model(names=["age"]), "python")


def test_classes_that_differ_in_case_are_refused_where_that_does_not_count():
    model = small_model(labels=("A", "a", "b"))
    for options in ({"dialect": "duckdb"}, {"dialect": "sqlite"}):
        with pytest.raises(ValueError, match="outputs 'score_A' and 'score_a' have the same name, whatever the case"):
            export(model, "sql", **options)
    assert '"score_A"' in export(model, "sql", dialect="postgres").content
    assert export(model, "python").verification.engine


def test_labels_that_languages_do_not_have_are_refused():
    dates = Labels.of(np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]"))
    with pytest.raises(ValueError, match="Classes can be exported if all are text, whole numbers or numbers"):
        export(replace(small_model(), labels=dates), "python")


def test_given_values_have_the_shape_of_the_rows():
    X = np.zeros((4, 2))
    assert export(rate_model(), "python", X, offset=np.ones(4)).verification.rows > 4
    assert export(rate_model(), "python", X).verification.rows > 4
    with pytest.raises(ValueError, match=r"offset must have shape \(4, 1\), .*; got \(3,\)"):
        export(rate_model(), "python", X, offset=np.ones(3))
    for model, rows in ((rate_model(), None), (small_model(), X)):
        with pytest.raises(ValueError, match="offset goes with the rows of X"):
            export(model, "python", rows, offset=np.ones(4))


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_an_order_of_classes_that_differs_is_refused(engine):
    to, options = ENGINES[engine]
    target = find_format(to, **options)
    ours = Source(small_model(), contributions=True)
    theirs = Source(replace(ours.model, labels=Labels.of_classes(np.array(["b", "a", "c"]))), contributions=True)
    with pytest.raises(ExportError, match=r"its class is '[ab]' instead of '[ab]'"):
        target.verified(ours, target.write(theirs), np.empty((0, 2)))


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_an_exposure_that_is_left_out_is_refused(engine):
    to, options = ENGINES[engine]
    target = find_format(to, **options)
    ours = Source(rate_model(), contributions=True)
    theirs = Source(rate_model("offset"), contributions=True)
    with pytest.raises(ExportError, match=r"'years': .*its score is .* instead of"):
        target.verified(ours, target.write(theirs), np.empty((0, 3)))


# ---- tables of users


@pytest.mark.parametrize("kind", ["boolean", "integer", "decimal", "double"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_exposures_of_any_type(dialect, kind, request):
    connection = request.getfixturevalue("postgres") if dialect == "postgres" else None
    for model in (rate_model(), rate_model("offset")):
        exported = export(model, "sql", dialect=dialect, types={"years": kind}, connection=connection)
        assert exported.verification.rows > 0


def test_a_query_gives_labels_of_their_own_type():
    table = "CREATE TABLE t AS SELECT CAST(unnest([20, 60, NULL, 1e301]) AS DOUBLE) AS age, 'x' AS bmi"
    for labels, found in (
        (["a", "b", "c"], ["b", "a", "b", None]),
        ([3, 5, 7], [5, 3, 5, None]),
        ([0.5, 1.5, 2.5], [1.5, 0.5, 1.5, None]),
    ):
        model = small_model(labels, [(2.0, 0.0, 1.0)])
        model = replace(model, path=(model.ensemble.with_rules(model.ensemble.rules, [0.0, 1.0, 0.5]),))
        with contextlib.closing(DIALECTS["duckdb"].connect()) as connection:
            connection.execute(table)
            query = export(model, "sql", table="t").content
            assert connection.execute(f'SELECT "class" FROM ({query})').fetchall() == [(label,) for label in found]
            connection.execute(f'ALTER TABLE t ADD COLUMN "score_{labels[2]}" INTEGER')
            with pytest.raises(Exception, match=r"(?i)ambiguous"):
                connection.execute(query)


@pytest.mark.parametrize("library", installed_libraries())
def test_a_frame_keeps_its_columns_and_the_type_of_labels(library):
    model = small_model([3, 5, 7], [(2.0, 0.0, 1.0)])
    frame = LIBRARIES[library].make({"age": np.array([60.0, 60.0, 1e301]), "id": np.arange(3)})
    scored = export(model, "frame", contributions=True).content(frame)
    scored = (
        {"polars": "to_pandas", "pyarrow": "to_pandas", "duckdb": "df", "dask": "compute", "pandas": "copy"}[library],
        scored,
    )
    table = getattr(scored[1], scored[0])()
    names = ["age", "id", "score_3", "score_5", "score_7", "class", "probability", "rule_0_3", "rule_0_7"]
    assert list(table.columns) == names
    assert table["class"].isna().tolist() == [False, False, True]
    assert table["class"].iloc[0] == 3
    if library in ("pandas", "dask"):
        assert str(table["class"].dtype) == "Int64"


@pytest.mark.parametrize("name", installed_libraries())
def test_a_frame_without_the_exposure_is_refused(name):
    scorer = find_format("frame").write(Source(rate_model()))
    with pytest.raises(ValueError, match="The frame has no column 'years'"):
        scorer(LIBRARIES[name].make({"age": np.ones(2)}))


# ---- what it reads like


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", ["3 classes", "10 classes", "scores far apart", *GIVEN])
def test_queries_parse_in_every_dialect(model, dialect):
    parsed = sqlglot.parse(
        find_format("sql", dialect=dialect).write(Source(MODELS[model], contributions=True)), dialect=dialect
    )
    assert len(parsed) == 1
    if model == "10 classes":
        assert set(WORDS) <= {literal.this for literal in parsed[0].find_all(sqlglot.exp.Literal, sqlglot.exp.National)}


@pytest.mark.parametrize("dialect", ["bigquery", "tsql"])
@pytest.mark.parametrize("model", [small_model([3, 5, 7], [(1.0, 0.0, 1.0)]), rate_model(), rate_model("offset")])
def test_queries_that_run_elsewhere_give_the_same_when_translated(model, dialect):
    source = Source(model, contributions=True)
    product = find_format("sql", dialect=dialect).write(source)
    (translated,) = sqlglot.transpile(product, read=dialect, write="sqlite")
    rows = telling_rows(source)
    with contextlib.closing(DIALECTS["sqlite"].connect()) as connection:
        computed = find_format("sql", dialect="sqlite", connection=connection).run(translated, source, rows)
    compare(source, rows, computed)


def test_the_rules_stand_in_a_query_once_for_each_class_they_speak_for():
    model = small_model(labels=range(30), weights=[np.eye(30)[3] + np.eye(30)[7]] * 5)
    query = find_format("sql").write(Source(model))
    assert query.count(">= 50e0") + query.count("BETWEEN 50e0") == 10
    assert query.count("1e300") == 2


def test_a_module_of_classes():
    functions = {}
    exec(export(small_model(), "python").content, functions)
    row = {"age": 60.0, "bmi": None}
    assert functions["scores"](row) == {"a": 1.0, "b": 0.0, "c": -2.0}
    assert functions["contributions"](row) == [{"a": 1.0, "c": -2.0}]
    assert functions["predict"](row) == "a"
    assert functions["probability"](row) == pytest.approx(1.0 / (1.0 + np.exp(-1.0) + np.exp(-3.0)), rel=1e-15)
    assert [functions[name]({"age": 1e301, "bmi": 0.0}) for name in ("scores", "predict", "probability")] == [None] * 3


PROGRAM = """\
#include "model.h"
#include <string.h>
int main(void)
{
    double x[2] = {60.0, 0.0}, scores[3];
    model_scores(x, scores);
    if (scores[0] != 1.0 || scores[1] != 0.0 || scores[2] != -2.0) return 1;
    if (model_class(x) != 0 || strcmp(model_label(0), "a") != 0 || !(model_probability(x) > 0.7)) return 2;
    x[0] = 1e301;
    return model_class(x) != -1 || model_label(-1) != NULL || !isnan(model_probability(x));
}
"""


@with_compiler
def test_a_header_of_classes(tmp_path):
    export(small_model(), "c").save(tmp_path / "model.h")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["cc", *STRICT, "-o", "program", "program.c", "-lm"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)


def test_a_graph_of_classes():
    onnx = pytest.importorskip("onnx")
    types = onnx.TensorProto
    for labels, kind, missing in (
        (["", "b", "c"], types.STRING, "'_'"),
        ([3, 5, 7], types.INT64, "-9223372036854775808"),
        ([0.5, 1.0, 1.5], types.DOUBLE, "nan"),
    ):
        graph = onnx.load_from_string(export(small_model(labels), "onnx").content).graph
        (output,) = [output for output in graph.output if output.name == "class"]
        assert output.type.tensor_type.elem_type == kind
        assert output.doc_string == f"{missing} for a row that cannot be scored"


@pytest.mark.parametrize("model", ["3 classes", "10 whole numbers", "3 numbers", "exposure", "offset", "offsets of 3 classes"])
def test_a_document_has_the_whole_model(model):
    exported = export(MODELS[model], "json").content
    found = document_model(parse_document(exported.encode(), "the export"))
    assert (found.ensemble, found.labels, found.offset) == (MODELS[model].ensemble, MODELS[model].labels, MODELS[model].offset)
    assert json.loads(exported)["version"] == 1


def test_a_table_in_latex_says_what_a_prediction_takes_besides():
    said = export(rate_model(names=["policy_years"]), "latex").content
    assert "    \\multicolumn{3}{l}{policy\\_years multiplies the prediction} \\\\\n\\end{tabular}" in said
    offsets = export(with_offset(small_model(), "offset", ["o1", "o2", "o3"]), "latex").content
    assert "\\multicolumn{5}{l}{o2 is added to the score of b}" in offsets


def cells_by_heading(content, row):
    cells = read_cells(content, 1)
    headings = {cell.value: place[:-1] for place, cell in cells.items() if place[-1] == "1" and place[:-1].isalpha()}
    return {name: cells[f"{letter}{row}"] for name, letter in headings.items()}


def test_a_workbook_of_classes():
    content = export(small_model(), "excel", rows=[[60.0, 0.0], [2e300, 0.0]], office=False).content
    first, second = (cells_by_heading(content, row) for row in (2, 3))
    assert [first[name].value for name in ("score_a", "score_b", "score_c", "class")] == [1.0, 0.0, -2.0, "a"]
    assert first["class"].formula == "IF($B2>0,INDEX(Rules!$B$5:$B$7,MATCH(MAX($E2:$G2),$E2:$G2,0)),E2)"
    assert first["rule_0_c"].formula == 'IF($B2>0,IF(C2<>0,Rules!$D$3,0),"")'
    assert {second[name].value for name in ("score_a", "score_c", "class", "probability")} == {"cannot score"}
    rules = {place: cell.value for place, cell in read_cells(content, 2).items() if cell.value is not None}
    assert [rules[f"{letter}1"] for letter in "ABCDE"] == ["rule", "a", "b", "c", "condition"]
    assert [rules.get(f"{letter}3") for letter in "ABCDE"] == ["rule_0", 1.0, None, -2.0, "age >= 50"]
    assert [rules[f"B{row}"] for row in (5, 6, 7)] == ["a", "b", "c"]


def test_a_workbook_with_an_exposure():
    rows = pd.DataFrame({"years": [2.0, np.nan], "age": [60.0, 60.0], "bmi": [0.0, 0.0]})
    content = export(rate_model(), "excel", rows=rows, office=False).content
    first, second = (cells_by_heading(content, row) for row in (2, 3))
    assert (first["years"].value, first["score"].value) == (2.0, 0.75)
    assert first["expected count"].value == pytest.approx(2.0 * np.exp(0.75), rel=1e-15)
    assert (second["years"].value, second["expected count"].value) == (None, "cannot score")
    without = export(rate_model(), "excel", rows=rows[["age", "bmi"]], office=False).content
    assert cells_by_heading(without, 2)["score"].value == "cannot score"


# ---- a fit


@pytest.fixture(scope="module")
def fitted():
    """A classifier of three species, and its data."""
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    species = np.array(["setosa", "versicolor", "virginica"])[data.target]
    return LLTBoostClassifier(max_rules=4, random_state=0).fit(data.data, species), data.data


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fitted_classifier_is_exported(engine, fitted, request):
    model, X = fitted
    to, options = options_of(engine, request)
    exported = model.export(to, X, contributions=True, **options)
    assert exported.verification.rows > len(X)
    if engine == "Python":
        functions = {}
        exec(exported.content, functions)
        rows = X.to_dict("records")
        assert [functions["predict"](row) for row in rows] == model.predict(X).tolist()
        most = model.predict_proba(X).max(axis=1)
        np.testing.assert_allclose([functions["probability"](row) for row in rows], most, rtol=1e-12)


def test_columns_without_names_take_an_exposure():
    unnamed = with_offset(Model.of(RuleEnsemble([Rule(0.5, AGE)], 0.25), LOSSES["poisson"]), "exposure")
    assert Source(unnamed).names == ("x0", "given")
    assert export(unnamed, "c").verification.rows > 0
    assert Source(unnamed).columns[1] == Column("given")
