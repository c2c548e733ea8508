"""Fitted models and their exports give the same on many rows, rule by rule: in full by make test-exports."""

import functools

import pandas as pd
import pytest
import sqlglot

from benchmarks.datasets import DATASETS
from obliquerules import LLTBoostClassifier, LLTBoostRegressor, TGBClassifier, TGBRegressor
from obliquerules.export.export_formats import MOST_ROWS_AT_A_TIME, find_format
from obliquerules.export.frame import LIBRARIES, installed_libraries, outputs_of
from obliquerules.export.source import Source
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.verification import compare

from .engines import ENGINES as EVERYWHERE
from .rows import generated_rows, holdings

OBLIQUE = {"classification": LLTBoostClassifier, "regression": LLTBoostRegressor}
AXIS = {"classification": TGBClassifier, "regression": TGBRegressor}
# The data set, the kind of estimator and its parameters.
MODELS = {
    **{name: (name, OBLIQUE, {}) for name in DATASETS},
    "diabetes, TGB and poisson": ("diabetes", AXIS, {"loss": "poisson"}),
}
IN_SCIKIT_LEARN = ["breast_cancer", "friedman", "diabetes, TGB and poisson"]
ENGINES = EVERYWHERE | {f"narwhals on {library}": ("frame", {"library": library}) for library in LIBRARIES}


@functools.cache
def source_and_inputs(model):
    """Return a fitted model to be exported, and the inputs that it was fitted to."""
    dataset, kinds, parameters = MODELS[model]
    try:
        data = DATASETS[dataset]()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    X = pd.DataFrame(data.data, columns=data.feature_names)
    fitted = kinds[data.task](random_state=0, **parameters).fit(X, data.target)
    return Source(fitted.model_, contributions=True), data.data


@functools.lru_cache(maxsize=1)  # the rows of one model fill a quarter of a gigabyte
def source_and_rows(model, n_rows):
    """Return a fitted model to be exported, and so many rows for it."""
    source, X = source_and_inputs(model)
    return source, generated_rows(source.ensemble, X, n_rows, seed=len(model))


def runner(engine, source, request):
    """Return what computes the outputs of an export for rows, and what they should be."""
    to, options = ENGINES[engine]
    library = options.get("library")
    if library is not None and library not in installed_libraries():
        pytest.skip(f"{library} is not installed")
    if engine == "PostgreSQL":
        options = options | {"connection": request.getfixturevalue("postgres")}
    target = find_format(to, **({} if library else options))
    product = target.write(source)
    if library is not None:
        return lambda rows: outputs_of(product, source, rows, library), source.outputs
    return lambda rows: target.run(product, source, rows), lambda rows: target.expected(source, rows)


def hold_to_the_model(model, engine, n_rows, request):
    source, rows = source_and_rows(model, n_rows)
    assert len(source.ensemble) > 0
    assert min(holdings(source.ensemble, rows).values()) > 0
    run, expected = runner(engine, source, request)
    for first in range(0, n_rows, MOST_ROWS_AT_A_TIME):
        block = rows[first : first + MOST_ROWS_AT_A_TIME]
        compare(source, block, run(block), first, expected(block))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", IN_SCIKIT_LEARN)
def test_thousands_of_rows_agree(model, engine, request):
    hold_to_the_model(model, engine, 3_000, request)


@pytest.mark.exports
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_a_million_rows_agree(model, engine, request):
    hold_to_the_model(model, engine, 1_000_000, request)


@pytest.mark.exports
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("model", MODELS)
def test_queries_of_every_dialect_parse(model, dialect):
    source, _ = source_and_inputs(model)
    assert len(sqlglot.parse(find_format("sql", dialect=dialect).write(source), dialect=dialect)) == 1
