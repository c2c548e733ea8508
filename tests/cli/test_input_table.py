"""Ordinary tables, run as users run them: whatever way a table is written, it makes the same model and the same predictions."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from obliquerules import load_model

from .executable import refused, run, write_csv
from .workbooks import write_workbook

FIT = ("--target", "state", "--set", "max_rules=2", "-o")


@pytest.fixture(scope="module")
def written(place):
    """A directory with the same table, written in several ways."""
    frame = pd.read_csv(place / "data.csv")
    frame["name"] = "Jörg " + frame["name"]
    frame.to_csv(place / "comma.csv", sep=";", decimal=",", encoding="latin-1", index=False)
    frame.to_csv(place / "wide.csv", sep="|", encoding="utf-16", index=False)
    frame.to_csv(place / "index.csv")
    pd.read_csv(place / "index.csv").to_csv(place / "twice.csv", index=False)
    rows = [frame.columns.tolist(), *frame.astype(object).to_numpy().tolist()]
    write_workbook(place / "book.xlsx", {"notes": [["a"], [1]], "patients": rows})
    return place


WAYS = {
    "comma.csv": ("--decimal", ",", "--encoding", "latin-1"),
    "wide.csv": ("--separator", "|", "--encoding", "utf-16"),
    "index.csv": (),
    "twice.csv": (),
    "book.xlsx": ("--sheet", "patients"),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_same_table_makes_the_same_predictions(written, name):
    frame = pd.read_csv(written / "data.csv")[["age", "pulse"]]
    expected = load_model(written / "model.json").predict(frame).tolist()
    assert run("predict", "model.json", name, *WAYS[name], cwd=written).stdout.splitlines() == ["prediction", *expected]


@pytest.mark.parametrize("name", ["comma.csv", "index.csv", "twice.csv", "book.xlsx"])
def test_the_same_table_makes_the_same_model(written, name):
    done = run("fit", name, *WAYS[name], *FIT, f"{name}.json", cwd=written)
    assert (written / f"{name}.json").read_bytes() == (written / "model.json").read_bytes()
    if name == "index.csv":
        assert "Note: the first column has no name, like the index that pandas writes, and is left out\n" in done.stderr
    if name == "twice.csv":
        assert "Left out: Unnamed: 0, because it is called like an index that pandas wrote\n" in done.stderr


def test_a_table_on_standard_input_is_read_the_same_way(written):
    text = (written / "comma.csv").read_text(encoding="latin-1")
    done = run("explain", "model.json", "-", "--decimal", ",", "--row", "1", cwd=written, input=text)
    assert done.stdout == run("explain", "model.json", "data.csv", "--row", "1", cwd=written).stdout


def test_what_is_wrong_with_a_table_comes_with_the_option_that_helps(written):
    assert "--encoding latin-1" in refused("predict", "model.json", "comma.csv", cwd=written)
    sentence = refused("predict", "model.json", "comma.csv", "--encoding", "latin-1", cwd=written)
    assert re.search(
        r"Column 'pulse' of 'comma.csv' holds numbers with a decimal comma \('.*'\). To read them: --decimal ','", sentence
    )
    assert "'book.xlsx' has no sheet 'x'; it has 'notes', 'patients'" in refused(
        "predict", "model.json", "book.xlsx", "--sheet", "x", cwd=written
    )
    assert "--decimal is for .csv and .xlsx" in refused("predict", "model.json", "data.parquet", "--decimal", ",", cwd=written)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A directory with a model of three columns that uses one of them, and a table without one and with text in the other."""
    directory = tmp_path_factory.mktemp("few")
    rng = np.random.default_rng(0)
    dose, ids = rng.integers(0, 50, 60), rng.permutation(60) + 1000
    table = write_csv(
        directory / "data.csv",
        ["id", "dose", "noise", "ill"],
        zip(ids, dose, rng.normal(size=60), dose + rng.integers(0, 9, 60) > 30, strict=True),
    )
    options = ("--method", "tgb", "--set", "max_rules=1", "--drop", "noise", "--positive", "False", "-o", "dropped.json")
    done = run("fit", "data.csv", "--target", "ill", *options, cwd=directory)
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    run(
        "fit",
        "data.csv",
        "--target",
        "ill",
        "--method",
        "tgb",
        "--set",
        "max_rules=1",
        "-o",
        "model.json",
        "--quiet",
        cwd=directory,
    )
    frame = pd.read_csv(table)
    frame[["dose", "ill"]].assign(noise="none", extra=None).to_csv(directory / "few.csv", index=False)
    assert load_model(directory / "model.json").ensemble_.used_columns == (1,)
    return directory


@pytest.mark.parametrize(
    "arguments",
    [
        "predict model.json {}",
        "explain model.json {} --row 3",
        "closest model.json {} --row 3 --fixed noise",
        "export model.json --to python --data {}",
        "report model.json {} --target ill -o {}.html",
        "round model.json {} --target ill -o {}.json --quiet",
    ],
)
def test_only_the_columns_that_rules_use_are_needed(few, arguments):
    done = run(*arguments.format("few.csv", "few.csv").split(), cwd=few)
    assert done.returncode == 0, done.stderr
    if arguments.startswith("predict"):
        frame = pd.read_csv(few / "data.csv")[["id", "dose", "noise"]]
        expected = load_model(few / "model.json").predict(frame).tolist()
        assert done.stdout.splitlines() == ["prediction", *expected]


def test_a_column_that_a_rule_uses_is_needed(few):
    write_csv(few / "without.csv", ["id", "noise"], [(1, 2)])
    assert "'without.csv' has no column 'dose'" in refused("predict", "model.json", "without.csv", cwd=few)


def test_an_identifier_is_remarked_on_and_a_column_left_out(few):
    said = (few / "said.txt").read_text(encoding="utf-8")
    assert "Note: id is a different whole number in every row, like an identifier (to leave it out: --drop id)\n" in said
    assert "Left out: noise, as asked for\n" in said


def test_scores_are_about_the_class_that_the_user_names(few):
    said = (few / "said.txt").read_text(encoding="utf-8")
    assert "Scores: log-odds of 'False'\n" in said
    model = load_model(few / "dropped.json")
    assert model.positive == "False"
    assert "log-odds of 'False'" in run("show", "dropped.json", "--format", "sentences", cwd=few).stdout
    done = run("predict", "dropped.json", "data.csv", "--probabilities", "--json", cwd=few)
    told = json.loads(done.stdout)
    frame = pd.read_csv(few / "data.csv")[["id", "dose"]]
    assert list(told) == ["prediction", "probability of True", "probability of False"]
    assert told["probability of False"] == model.predict_proba(frame)[:, 0].tolist()


def test_amounts_in_whole_numbers_are_no_counts_unless_the_user_says_so(tmp_path):
    rng = np.random.default_rng(0)
    income = rng.normal(size=100).round(2)
    write_csv(
        tmp_path / "credit.csv",
        ["income", "balance"],
        zip(income, np.rint(np.maximum(0.0, 400.0 * income + 300.0)).astype(int), strict=True),
    )
    fit = ("fit", "credit.csv", "--target", "balance", "--method", "tgb", "--set", "max_rules=1", "-o")
    done = run(*fit, "squared.json", cwd=tmp_path)
    assert "Target: balance, regression because it holds numbers with" in done.stderr
    assert "they are whole, but larger than most counts (--task counts if they are)" in done.stderr
    assert load_model(tmp_path / "squared.json").loss == "squared"
    run(*fit, "counts.json", "--task", "counts", cwd=tmp_path)
    assert load_model(tmp_path / "counts.json").loss == "poisson"
    run(*fit, "claims.json", "--loss", "tweedie", "--set", "tweedie_power=1.7", cwd=tmp_path)
    claims = load_model(tmp_path / "claims.json")
    assert (claims.loss, claims.tweedie_power) == ("tweedie", 1.7)
