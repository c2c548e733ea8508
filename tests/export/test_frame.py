"""Scorers add their outputs to frames of each library, lazy ones too, and score whole numbers and nulls."""

import numpy as np
import pytest

from obliquerules import RuleEnsemble
from obliquerules.export.export_formats import export
from obliquerules.export.frame import LIBRARIES, SUPPORTED
from obliquerules.losses import LOSSES
from obliquerules.rules import Model

from .models import ORDINARY

LOSS = LOSSES["logistic"]
X = np.array([[0, 0, 0], [1, 5, -3], [-9, 9, 1]])
COLUMNS = dict(zip(ORDINARY.feature_names, X.T, strict=True))


def test_pandas_keeps_its_other_columns():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame({"id": ["a", "b", "c"], **COLUMNS})
    frame = export(Model.of(ORDINARY, LOSS), "frame", prefix="model ").content(given)
    assert list(frame.columns) == ["id", *COLUMNS, "model score", "model prediction"]
    assert frame["model score"].tolist() == ORDINARY(X).tolist()


def test_polars_lazy_frames_and_nulls():
    polars = pytest.importorskip("polars")
    scorer = export(Model.of(ORDINARY, LOSS), "frame").content
    assert scorer(polars.LazyFrame(COLUMNS)).collect()["score"].to_list() == ORDINARY(X).tolist()
    nulls = polars.DataFrame({"variance": [None, 1e301], "skewness": [5.0, 5.0], "kurtosis": [-3.0, -3.0]})
    assert scorer(nulls)["score"].to_list() == [1.79, None]
    assert scorer(nulls)["prediction"].is_null().to_list() == [False, True]


def test_duckdb_relations():
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({name: [*values.astype(float), float("nan")] for name, values in COLUMNS.items()})
    scored = export(Model.of(ORDINARY, LOSS), "frame").content(duckdb.from_arrow(table)).fetchall()
    assert [row[3] for row in scored] == [*ORDINARY(X).tolist(), 1.79]


def test_dask_frames():
    dask_frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = dask_frames.from_pandas(pandas.DataFrame(COLUMNS), npartitions=2)
    assert export(Model.of(ORDINARY, LOSS), "frame").content(frame).compute()["score"].tolist() == ORDINARY(X).tolist()


def test_names_of_outputs_are_kept_apart_from_columns():
    with pytest.raises(ValueError, match="column 'prediction' is called like an output"):
        export(Model.of(RuleEnsemble(ORDINARY.rules, 0.0, ["prediction", "b", "c"]), LOSS), "frame")


def test_a_scorer_is_not_written_to_a_file(tmp_path):
    with pytest.raises(TypeError, match="A FrameScorer is used in Python"):
        export(Model.of(ORDINARY, LOSS), "frame").save(tmp_path / "scorer")


def test_a_library_that_is_not_verified_is_refused():
    ibis = pytest.importorskip("ibis")
    table = ibis.table({"age": "float64", "bmi": "float64", "weight": "float64"}, name="people")
    with pytest.raises(
        TypeError, match=r"A frame of ibis cannot be scored: .* Give a frame of pandas, polars, pyarrow, duckdb, dask"
    ):
        export(Model.of(ORDINARY, LOSSES["squared"]), "frame").content(table)


def test_every_library_that_is_taken_is_verified():
    assert {one.value for one in SUPPORTED} == set(LIBRARIES)
