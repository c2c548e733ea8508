"""Large files: a Parquet file that is read in blocks gives the model that it gives in memory."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obliquerules.cli.training_blocks import memory_size
from obliquerules.data import blocks

from .executable import refused, run

QUICK = ("--set", "max_rules=2", "--set", "search_rows=300", "--set", "effort=0")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 100)


def patients(n_rows=700):
    """Return a frame with columns of all kinds, a target of each kind, and missing values."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, n_rows).round(),
            "dose": rng.exponential(2.0, n_rows).round(2),
            "ward": rng.choice(["north", "south", "east"], n_rows, p=[0.2, 0.5, 0.3]),
            "smoker": rng.random(n_rows) < 0.3,
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
        }
    )
    score = 0.05 * (frame.age - 50.0) + 1.2 * (frame.ward == "south") - 0.8 * frame.smoker + 0.2 * frame.dose
    frame["cost"] = (score + rng.normal(scale=0.3, size=n_rows)).round(3)
    frame["died"] = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * score)), 1.0, 0.0)
    frame["place"] = np.select([score > 1.2, score > 0.4], ["icu", "ward"], "home")
    frame["well"] = frame.died == 0.0
    frame["visits"] = rng.poisson(np.exp(0.4 * score))
    frame["years"] = rng.uniform(0.5, 3.0, n_rows).round(2)
    frame["twice"] = rng.integers(1, 3, n_rows)
    frame["prior"] = rng.normal(0.0, 0.3, n_rows).round(2)
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "ward"] = None
    return frame


INPUTS = ["age", "dose", "ward", "smoker", "admitted"]


def written(directory, frame, *others):
    pq.write_table(pa.Table.from_pandas(frame[[*INPUTS, *others]], preserve_index=False), directory / "rows.parquet")


def both(directory, *options):
    """Fit in memory and in blocks, and return both models with what the second fit said."""
    models = []
    for memory in ("1GB", "10KB"):
        done = run("fit", "rows.parquet", "-o", "model.json", "--force", "--memory", memory, *QUICK, *options, cwd=directory)
        assert done.returncode == 0, done.stderr
        models.append(json.loads((directory / "model.json").read_text(encoding="utf-8")))
    assert "Read in blocks: its rows take" in done.stderr
    return *models, done


def assert_same(one, other, place="model"):
    """Hold two documents to be equal, except for the last digits of numbers."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), place
        for key in one:
            assert_same(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for number, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{place}[{number}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-11), place
    else:
        assert one == other, place


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("cost", ()),
        ("cost", ("--weight", "twice")),
        ("cost", ("--offset", "prior", "--drop", "dose")),
        ("cost", ("--drop-rows",)),
        ("died", ("--positive", "0", "--class-weight", "1=2")),
        ("died", ("--cv", "3", "--method", "tgb")),
        ("died", ("--offset", "prior")),
        ("well", ("--class-weight", "balanced")),
        ("place", ("--method", "tgb")),
        ("visits", ("--exposure", "years")),
    ],
)
def test_blocks_give_the_model_of_memory(target, options, tmp_path):
    named = [word for word in options if word in ("twice", "prior", "years")]
    written(tmp_path, patients(), *named, target)
    memory, in_blocks, _ = both(tmp_path, "--target", target, *options)
    assert_same(memory, in_blocks)


def test_what_is_said_and_left_out(tmp_path):
    frame = patients().assign(id=np.arange(700), list=[[1, 2]] * 700, nothing=None)
    frame.loc[[3, 400], "died"] = np.nan
    frame = frame[["list", *INPUTS, "nothing", "died", "id"]].rename(columns={"id": "__index_level_0__"})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet")
    memory, in_blocks, done = both(tmp_path, "--target", "died", "--drop", "dose")
    assert_same(memory, in_blocks)
    assert in_blocks["columns"] == memory["columns"]
    said = done.stderr.splitlines()
    assert said[1:4] == [
        "Target: died, classification because it has two different values, 0 and 1",
        "Scores: log-odds of class 1 (--positive names the other class)",
        "Rows: 698 (2 without a value of 'died' left out)",
    ]
    assert said[4:9] == ["Columns: 4", "  age       number", "  ward      text", "  smoker    boolean", "  admitted  time"]
    assert said[9:13] == [
        "Left out: list, because it holds values of type List(Int64); write it as numbers to use it",
        "Left out: dose, as asked for",
        "Left out: __index_level_0__, because it is called like an index that pandas wrote",
        "Left out: nothing, because it has nothing but missing values",
    ]


def test_rows_with_gaps_are_left_out_on_request(tmp_path):
    frame = patients()
    frame.loc[:4, "cost"] = np.nan
    written(tmp_path, frame, "cost")
    memory, in_blocks, done = both(tmp_path, "--target", "cost", "--drop-rows")
    assert_same(memory, in_blocks)
    kept = len(frame[[*INPUTS, "cost"]].dropna())
    assert f"Rows: {kept} (5 without a value of 'cost' and {695 - kept} with other missing values left out)" in done.stderr


def test_not_a_number_is_missing_too(tmp_path):
    frame = patients()
    table = pa.table({"age": pa.array(frame.dose), "died": pa.array(frame.died.where(frame.index > 9), from_pandas=False)})
    assert table["died"].null_count == 0
    pq.write_table(table, tmp_path / "rows.parquet")
    memory, in_blocks, done = both(tmp_path, "--target", "died")
    assert_same(memory, in_blocks)
    assert "Rows: 690 (10 without a value of 'died' left out)" in done.stderr


def test_types_that_parquet_has(tmp_path):
    frame = patients()
    columns = {
        "dose": pa.array(frame.dose).cast(pa.decimal128(9, 2)),
        "ward": pa.array(frame.ward).dictionary_encode(),
        "stay": pa.array(frame.age.fillna(0.0)).cast(pa.int64()).cast(pa.duration("s")),
        "day": pa.array(frame.admitted.dt.date),
        "hour": pa.array(frame.years * 3600.0).cast(pa.int32(), safe=False).cast(pa.time32("s")),
        "place": pa.array(frame.place).dictionary_encode(),
        "twice": pa.array(frame.twice).cast(pa.decimal128(21, 2)),
    }
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    memory, in_blocks, _ = both(tmp_path, "--target", "place", "--weight", "twice")
    assert_same(memory, in_blocks)
    memory, in_blocks, _ = both(tmp_path, "--target", "twice", "--drop", "place")
    assert_same(memory, in_blocks)


def test_the_order_of_levels_is_said_to_be_unused(tmp_path):
    frame = patients()
    sizes = pd.Categorical(np.where(frame.dose > 2.0, "much", "little"), ["little", "much"], ordered=True)
    written(tmp_path, frame.assign(dose=sizes), "cost")
    memory, in_blocks, done = both(tmp_path, "--target", "cost")
    assert [any("ordered" in column for column in one["columns"]) for one in (memory, in_blocks)] == [True, False]
    assert "Note: the order of the levels of dose is not learned from in blocks" in done.stderr


def test_a_folder_is_read_in_blocks(tmp_path):
    frame = patients()
    written(tmp_path, frame, "cost")
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        part = pa.Table.from_pandas(frame[[*INPUTS, "cost"]].iloc[rows], preserve_index=False)
        pq.write_table(part, folder / f"{number}.parquet")
    told = []
    for data, memory in (("rows.parquet", "10KB"), ("parts", "1GB")):
        arguments = ("fit", data, "--target", "cost", "-o", f"{data}.json", "--memory", memory, "--json", *QUICK)
        told.append(run(*arguments, cwd=tmp_path))
    assert "Read in blocks: it is a folder" in told[1].stderr
    assert (tmp_path / "rows.parquet.json").read_bytes() == (tmp_path / "parts.json").read_bytes()
    summary = json.loads(told[1].stdout)
    assert (summary["rows"], summary["columns"]) == (700, INPUTS)
    assert summary["understood"][2] == {"name": "ward", "kind": "text"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--groups", "ward", "--cv", "3"), "--groups cannot be used with 'rows.parquet', which is read in blocks: its rows"),
        (("--categorical", "age"), "--categorical cannot be used with 'rows.parquet', which is read in blocks"),
        (("--missing-values", "?"), "--missing-values cannot be used with 'rows.parquet', which is read in blocks"),
        (("--decimal", ","), "--decimal is for .csv and .xlsx; it cannot be used with 'rows.parquet'."),
        (("--offset", "dose,age"), "--offset must name one column of 'rows.parquet', which is read in blocks"),
        (("--weight", "wieght"), "'rows.parquet' has no column 'wieght'; it has 'age', 'dose', 'ward',"),
        (("--drop", "dsoe"), "'rows.parquet' has no column 'dsoe'"),
        (("--weight", "age"), "The weight 'age' is missing in"),
        (("--weight", "negative"), "The weight 'negative' must not be negative; it is -1 in row 600 of 'rows.parquet'."),
        (("--weight", "list"), "Column 'list' of 'rows.parquet' holds values of type List(Int64), which cannot be used."),
        (
            tuple(word for name in (*INPUTS, "negative") for word in ("--drop", name)),
            "'rows.parquet' has no column left to learn from: 'age' is left out as asked for;",
        ),
        (("--memory", "much"), "--memory must be a size, such as 500MB, 2GB or a number of bytes; got 'much'."),
    ],
)
def test_what_is_refused(options, sentence, tmp_path):
    frame = patients().assign(negative=1.0, list=[[1]] * 700)
    frame.loc[600, "negative"] = -1.0
    frame.loc[0, "cost"] = np.nan
    written(tmp_path, frame, "cost", "negative", "list")
    arguments = ("fit", "rows.parquet", "--target", "cost", "-o", "model.json", "--memory", "10KB", *options)
    assert sentence in refused(*arguments, cwd=tmp_path)
    assert not (tmp_path / "model.json").exists()


def test_memory_is_for_parquet(fitted):
    sentence = refused("fit", "data.csv", "--target", "state", "-o", "other.json", "--memory", "1GB", cwd=fitted)
    assert sentence == "obliquerules: --memory is for .parquet; it cannot be used with 'data.csv'."


@pytest.mark.parametrize(("text", "size"), [("500MB", 5 * 10**8), ("1.5 gb", 15 * 10**8), ("2TB", 2 * 10**12), ("77", 77)])
def test_sizes(text, size):
    assert memory_size(text) == size
