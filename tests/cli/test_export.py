"""The command `export` writes what the library exports, and says what was verified."""

import re
import sqlite3
import subprocess

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from obliquerules import load_model
from obliquerules.cli.export_report import DIALECTS as OFFERED
from obliquerules.cli.export_report import FORMS
from obliquerules.export.export_formats import EXPORT_FORMATS
from obliquerules.export.sql_dialects import DIALECTS
from obliquerules.export.workbook import read_cells

from .executable import COMMAND, ENVIRONMENT, FULL_DISK, refused, run, write_csv


def test_all_targets_and_dialects_are_offered():
    assert set(FORMS) == set(EXPORT_FORMATS) - {"frame"}
    assert set(OFFERED) == set(DIALECTS)


def test_a_query_scores_a_table(place):
    options = ("--to", "sql", "--dialect", "sqlite", "--table", "patients", "--prefix", "model_")
    done = run("export", "model.json", *options, cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Verified with SQLite ")
    model, frame = load_model(place / "model.json"), pd.read_csv(place / "data.csv")
    connection = sqlite3.connect(":memory:")
    frame.to_sql("patients", connection)
    scored = pd.read_sql(done.stdout, connection)
    connection.close()
    assert scored["model_score"].tolist() == model.decision_function(frame[["age", "pulse"]]).tolist()
    assert scored["model_prediction"].to_numpy() == pytest.approx(model.predict_proba(frame[["age", "pulse"]])[:, 1], abs=1e-12)


def test_a_graph_goes_to_a_file(place):
    done = run("export", "model.json", "--to", "onnx", "--contributions", "-o", "model.onnx", cwd=place)
    assert done.returncode == 0, done.stderr
    model = load_model(place / "model.json")
    session = onnxruntime.InferenceSession(place / "model.onnx", providers=["CPUExecutionProvider"])
    X = np.array([[40.0, 70.0], [60.0, 90.0]])
    assert session.run(["score"], {"X": X})[0].tolist() == model.ensemble_(X).tolist()
    assert [output.name for output in session.get_outputs()][2:] == [f"rule_{i}" for i in range(len(model.ensemble_))]


def test_a_workbook_goes_to_a_file(place):
    done = run("export", "model.json", "--to", "excel", "-o", "model.xlsx", cwd=place)
    assert done.returncode == 0, done.stderr
    headings = [cell.value for spot, cell in read_cells((place / "model.xlsx").read_bytes(), 1).items() if spot.endswith("A1")]
    assert headings[0] in ("age", "pulse")


def test_booleans_of_a_table_are_booleans_in_queries(tmp_path):
    write_csv(tmp_path / "data.csv", ["smoker", "ill"], [["true", "yes"], ["false", "no"]] * 20)
    assert run("fit", "data.csv", "--target", "ill", "-o", "model.json", cwd=tmp_path).returncode == 0
    options = ("--to", "sql", "--dialect", "postgres", "--table", "clinic.patients", "--data", "data.csv")
    query = run("export", "model.json", *options, cwd=tmp_path).stdout
    assert 'FROM "clinic"."patients" AS data' in query
    assert re.search('data."smoker" = (TRUE|FALSE)', query)


def test_rows_of_the_user_are_compared_too(place):
    generated, with_table = (
        int(re.search(r"on (\d+) rows", run("export", "model.json", "--to", "python", *options, cwd=place).stderr)[1])
        for options in ([], ["--data", "data.csv"])
    )
    assert with_table == generated + 80
    given = (place / "data.csv").read_text(encoding="utf-8").replace(",", ";")
    done = run("export", "model.json", "--to", "json", "--data", "-", "--separator", ";", cwd=place, input=given)
    assert done.returncode == 0, done.stderr
    assert f"on {with_table} rows" in done.stderr


def test_a_compiler_that_fails_is_told_and_no_file_is_written(place, tmp_path):
    (tmp_path / "cc").write_text("#!/bin/sh\necho out of order >&2\nexit 3\n", encoding="utf-8")
    (tmp_path / "cc").chmod(0o755)
    environment = ENVIRONMENT | {"PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}
    sentence = refused("export", "model.json", "--to", "c", "-o", "model.h", code=1, cwd=place, env=environment)
    assert sentence == "obliquerules: cc failed on the export with exit code 3: out of order"
    assert not list(place.glob("*model.h*"))


def test_a_disk_that_is_full_leaves_the_old_file(place):
    (place / "model.py").write_text("old", encoding="utf-8")
    command = f"ulimit -f 1; trap '' XFSZ; exec {COMMAND} export model.json --to python --force -o model.py"
    done = subprocess.run(["bash", "-c", command], cwd=place, env=FULL_DISK, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("obliquerules: 'model.py' could not be written, and is as it was before")
    assert (place / "model.py").read_text(encoding="utf-8") == "old"
    assert not list(place.glob(".model.py*"))


def test_numbers_in_full(place):
    done = run("export", "model.json", "--to", "latex", "--exact", cwd=place)
    assert done.stdout == load_model(place / "model.json").ensemble_.to_text("latex", exact=True) + "\n"


def test_a_table_for_people_is_not_verified(place):
    done = run("export", "model.json", "--to", "latex", cwd=place)
    assert done.stdout == load_model(place / "model.json").ensemble_.to_text("latex") + "\n"
    assert done.stderr == "Not verified: a table in LaTeX is read by people.\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--to", "onnx"], "--output must name a file: an ONNX graph is no text for standard output."),
        (["--to", "excel"], "--output must name a file: an Excel workbook is no text for standard output."),
        (["--to", "c", "--dialect", "duckdb"], "An export to 'c' has no option 'dialect'; it may have prefix."),
        (["--to", "json", "-o", "said.txt"], "'said.txt' is there already"),
        (["--to", "sql", "--exact"], "An export to 'sql' has no option 'exact'"),
        (["--to", "sql", "--data", "nothing.csv"], "'nothing.csv' cannot be read: No such file or directory."),
        (
            ["--to", "sql", "--data", "model.json"],
            "DATA must end in .csv, .xlsx, .parquet or .arrow, or be '-'; got 'model.json'.",
        ),
        (["--to", "sql", "--data", "half.csv"], "'half.csv' has no column 'pulse'; it has 'age'."),
        (["--to", "sql", "--data", "words.csv"], "Column 'pulse' of 'words.csv' holds numbers and text ('high'), but held num"),
    ],
)
def test_what_is_wrong_is_said(options, sentence, place):
    write_csv(place / "half.csv", ["age"], [[40]])
    write_csv(place / "words.csv", ["age", "pulse"], [[40, "high"], [50, 70]])
    assert sentence in refused("export", "model.json", *options, cwd=place)
