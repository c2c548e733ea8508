"""Tables that are not in memory: Parquet files and folders give the models of the same rows in memory."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import KFold

from obliquerules import (
    LLTBoostClassifier,
    LLTBoostClassifierCV,
    LLTBoostRegressor,
    LTRNetClassifier,
    TGBClassifier,
    TGBRegressor,
)
from obliquerules.data import blocks

from .patients import INPUTS, assert_same_model, patients

QUICK = {"max_rules": 3, "effort": 0}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 100)


def written(frame, columns, directory, **options):
    path = directory / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame[columns], preserve_index=False), path, **options)
    return path


STAGES = pa.dictionary(pa.int32(), pa.string(), ordered=True)


@pytest.mark.parametrize("search_rows", [300, 20000])
@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (LLTBoostRegressor(**QUICK), "cost"),
        (LLTBoostClassifier(**QUICK), "died"),
        (LLTBoostClassifier(max_rules=2, class_weight="balanced", effort=0), "died"),
        (TGBClassifier(max_rules=3), "place"),
        (TGBRegressor(max_rules=3, loss="poisson"), "visits"),
        (LLTBoostClassifierCV(max_rules=1, effort=0, max_propositions=1, cv=2), "died"),
        (LTRNetClassifier(n_penalties=2, n_restarts=1, max_iter=30, random_state=0), "died"),
    ],
)
def test_a_file_gives_the_model_of_its_rows_in_memory(estimator, target, search_rows, tmp_path):
    frame = patients()
    estimator.set_params(search_rows=search_rows)
    from_file = estimator.fit(written(frame, [*INPUTS, target], tmp_path, row_group_size=130), target)
    saved = json.dumps(from_file.path_[-1].to_text())
    other = type(estimator)(**estimator.get_params()).fit(frame[INPUTS], frame[target])
    assert_same_model(from_file, other, frame)
    assert from_file.feature_names_in_.tolist() == INPUTS
    assert saved == json.dumps(other.path_[-1].to_text())


def test_weights_exposures_and_offsets_are_columns(tmp_path):
    frame = patients()
    frame["prior"] = np.log(frame.years)
    path = written(frame, [*INPUTS, "visits", "weight", "years"], tmp_path)
    model = LLTBoostRegressor(loss="poisson", search_rows=300, **QUICK)
    stored = model.fit(path, "visits", sample_weight="weight", exposure="years").ensemble_
    memory = model.fit(frame[INPUTS], frame.visits, sample_weight=frame.weight, exposure=frame.years).ensemble_
    assert np.allclose(stored.weight_table, memory.weight_table, rtol=1e-9)
    path = written(frame, [*INPUTS, "died", "prior"], tmp_path)
    classifier = LLTBoostClassifier(search_rows=300, **QUICK)
    stored = classifier.fit(path, "died", offset="prior").ensemble_
    memory = classifier.fit(frame[INPUTS], frame.died, offset=frame.prior).ensemble_
    assert np.allclose(stored.weight_table, memory.weight_table, rtol=1e-7)
    assert classifier.model_.offset.names == ("prior",)


@pytest.mark.parametrize("search_rows", [100, 20000])
@pytest.mark.parametrize(("kind", "target"), [(TGBRegressor, "cost"), (TGBClassifier, "place")])
def test_rows_of_weight_zero_leave_no_trace_and_weights_count_rows(kind, target, search_rows, tmp_path):
    frame = patients().assign(times=np.random.default_rng(0).integers(0, 4, len(patients())))
    # Blocks without weight, or without some of the levels, and a class and levels that are nowhere else.
    frame.loc[100:299, "times"] = 0
    frame.loc[frame.times == 0, "ward"] = "secret"
    frame.loc[frame.times == 0, "age"] = np.nan
    if target == "place":
        frame.loc[frame.times == 0, "place"] = "secret"
    repeated = frame.loc[frame.index.repeat(frame.times)].sample(frac=1.0, random_state=0)
    model = kind(max_rules=2, search_rows=search_rows, **({"class_weight": "balanced"} if target == "place" else {}))
    files = []
    for one, weight in ((frame, "times"), (repeated, None)):
        columns = [*INPUTS, target, *([weight] if weight else [])]
        model.fit(written(one, columns, tmp_path), target, sample_weight=weight).save(tmp_path / "model.json")
        files.append((tmp_path / "model.json").read_bytes())
    assert files[0] == files[1]
    assert b"secret" not in files[0]


def test_folders_and_datasets_and_threads(tmp_path):
    frame = patients()
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        pq.write_table(pa.Table.from_pandas(frame[[*INPUTS, "cost"]].iloc[rows]), folder / f"{number}.parquet")
    model = LLTBoostRegressor(search_rows=300, **QUICK)
    files = []
    for X, n_jobs in [(folder, 1), (str(folder), 2), (ds.dataset(folder), 3)]:
        model.set_params(n_jobs=n_jobs).fit(X, "cost").save(tmp_path / "model.json")
        files.append((tmp_path / "model.json").read_bytes())
    assert files[0] == files[1] == files[2]


def test_a_column_whose_first_rows_are_missing_is_what_later_rows_say(tmp_path):
    frame = patients()
    frame.loc[:250, "ward"] = None
    frame["time"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.where(np.arange(700) < 300, 0, np.arange(700)), unit="h")
    columns = ["age", "ward", "time", "cost"]
    stored = LLTBoostRegressor(search_rows=300, **QUICK).fit(written(frame, columns, tmp_path), "cost")
    memory = LLTBoostRegressor(search_rows=300, **QUICK).fit(frame[columns[:-1]], frame.cost)
    assert stored.model_.columns == memory.model_.columns
    assert stored.model_.columns[2].kind == "time"


def test_row_groups_may_list_ordered_categories_differently(tmp_path):
    parts = [(["low", "high"], [0, 1] * 50), (["high", "mid", "low"], [0, 1, 2, 1] * 25)]
    with pq.ParquetWriter(tmp_path / "rows.parquet", pa.schema([("stage", STAGES), ("y", pa.float64())])) as writer:
        for levels, codes in parts:
            stages = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), levels, ordered=True)
            writer.write_table(pa.table({"stage": stages, "y": [float(levels[code] == "low") for code in codes]}))
    model = TGBRegressor(max_rules=1).fit(tmp_path / "rows.parquet", "y")
    assert model.model_.columns[0].ordered is False
    assert [rule.condition.describe(["stage"]) for rule in model.ensemble_] in (
        [f"stage {test}"] for test in ("= low", "!= low")
    )


def test_identifiers_are_not_learned_from(tmp_path):
    frame = patients().assign(name=[f"patient {number}" for number in range(700)])
    path = written(frame, ["age", "name", "cost"], tmp_path)
    with pytest.warns(UserWarning, match="Nothing is learned from 'name'"):
        LLTBoostRegressor(search_rows=300, **QUICK).fit(path, "cost")


@pytest.mark.parametrize(
    ("columns", "given", "sentence"),
    [
        (["age", "cost"], {"y": "price"}, "y is the name of a column: age, cost; got 'price'"),
        (["age", "cost"], {"y": None}, "y is the name of the column to predict"),
        (["age", "cost"], {"y": "cost", "sample_weight": np.ones(700)}, "sample_weight is the name of a column"),
        (["age", "cost"], {"y": "cost", "sample_weight": "cost"}, "must be different columns"),
        (["cost", "age"], {"y": "age"}, "Column 'age' has missing values, but it is no input"),
        (["age", "cost"], {"y": "cost", "ordered": ["age"]}, "ordered are for tables in memory"),
        (["age", "cost", "endless"], {"y": "cost"}, "infinite value .* in column 'endless'"),
        (["age", "cost", "negative"], {"y": "cost", "sample_weight": "negative"}, "negative entries"),
        (["age", "cost", "nothing"], {"y": "cost", "sample_weight": "nothing"}, "zero for every row"),
        (["age", "place", "dose"], {"y": "place", "offset": "dose"}, "offset is for numbers and two classes"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(columns, given, sentence, tmp_path):
    frame = patients().assign(endless=np.inf, negative=-1.0, nothing=0.0)
    path = written(frame, columns, tmp_path)
    model = TGBClassifier() if given["y"] == "place" else LLTBoostRegressor(**QUICK)
    with pytest.raises(ValueError, match=sentence):
        model.fit(path, **given)
    assert not hasattr(model, "model_")


def test_splits_of_rows_are_for_rows_in_memory(tmp_path):
    path = written(patients(), ["age", "died"], tmp_path)
    with pytest.raises(ValueError, match="cv must be a number of folds"):
        LLTBoostClassifierCV(cv=KFold(2), **QUICK).fit(path, "died")


def test_no_file_and_no_parquet_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        LLTBoostRegressor().fit(tmp_path / "nothing.parquet", "y")
    (tmp_path / "text.parquet").write_text("text")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        LLTBoostRegressor().fit(tmp_path / "text.parquet", "y")
