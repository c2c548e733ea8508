"""The command `export` writes what the library exports, and says what was verified."""

import sqlite3

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from obliquerules import load_model
from obliquerules.cli import export as command
from obliquerules.export.dialects import DIALECTS
from obliquerules.export.registry import TARGETS

from .executable import refused, run


def test_all_targets_and_dialects_are_offered():
    assert set(command.FORMS) == set(TARGETS) - {"frame"}
    assert set(command.DIALECTS) == set(DIALECTS)


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
    X = np.array([[40.0, 70.0], [np.nan, 90.0]])
    assert session.run(["score"], {"X": X})[0].tolist() == model.ensemble_(X).tolist()
    assert [output.name for output in session.get_outputs()][2:] == [f"rule_{i}" for i in range(len(model.ensemble_))]


def test_a_table_for_people_is_not_verified(place):
    done = run("export", "model.json", "--to", "latex", cwd=place)
    assert done.stdout == load_model(place / "model.json").ensemble_.to_text("latex") + "\n"
    assert done.stderr == "Not verified: a table in LaTeX is read by people.\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--to", "onnx"], "--output must name a file: an ONNX graph is no text for standard output."),
        (["--to", "c", "--dialect", "duckdb"], "An export to 'c' has no option 'dialect'; it may have prefix."),
        (["--to", "json", "-o", "model.json"], "'model.json' is there already"),
    ],
)
def test_what_is_wrong_is_said(options, sentence, place):
    assert sentence in refused("export", "model.json", *options, cwd=place)
