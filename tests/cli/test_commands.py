"""Each command, run as users run it, does what it says; what it prints is what the library gives."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import obliquerules
from obliquerules import load_model
from obliquerules.cli.main import COMMANDS

from .executable import run, write_csv


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A directory with a table of counts and weights, and what `fit --json` said about it."""
    directory = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=60), rng.normal(size=60)
    rows = zip(a, b, rng.integers(1, 3, 60), ["x"] * 60, rng.poisson(np.exp(a)), strict=True)
    table = write_csv(directory / "data.csv", ["a", "b", "w", "note", "n"], rows)
    options = ("--weight", "w", "--cv", "2", "--jobs", "1", "--json", "--quiet", "--set", "max_rules=2", "--set", "effort=0")
    done = run("fit", "-", "--target", "n", "-o", "model.json", *options, cwd=directory, input=table.read_text())
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return directory, json.loads(done.stdout)


def test_fit_says_what_it_took_for_what(place):
    said = (place / "said.txt").read_text(encoding="utf-8").splitlines()
    assert said == [
        "Target: state, classification because it has two different values, 'sick' and 'well'",
        "Scores: log-odds of 'well' (--positive names the other class)",
        "Rows: 80",
        "Columns: 2",
        "  age    number  20 to 79",
        "  pulse  number  47.5 to 90.02",
        "Left out: name, because it is text that differs in every row, like an identifier",
        "Left out: ward, because it is the same in every row",
        "Method: LLTBoostClassifier(max_rules=2, random_state=0)",
        f"Wrote model.json, a model of complexity {load_model(place / 'model.json').ensemble_.complexity}.",
        load_model(place / "model.json").model_.verdict,
    ]
    assert (place / "rules.txt").read_text(encoding="utf-8") == f"{load_model(place / 'model.json').ensemble_}\n"


def test_fit_makes_the_model_that_the_library_makes(place):
    frame = pd.read_csv(place / "data.csv")
    model = obliquerules.LLTBoostClassifier(max_rules=2, random_state=0)
    model.fit(frame[["age", "pulse"]], frame["state"]).save(place / "same.json")
    assert (place / "same.json").read_bytes() == (place / "model.json").read_bytes()


def test_fit_takes_counts_weights_folds_and_standard_input(counts):
    directory, said = counts
    assert said["estimator"] == "LLTBoostRegressorCV"
    assert said["task"] == "counts"
    assert said["columns"] == ["a", "b"]
    assert said["columns_left_out"] == {"note": "because it is the same in every row"}
    frame = pd.read_csv(directory / "data.csv", converters={"a": float, "b": float})  # before pandas 3, it loses last bits
    model = obliquerules.LLTBoostRegressorCV(loss="poisson", max_rules=2, effort=0, cv=2, n_jobs=1, random_state=0)
    model.fit(frame[["a", "b"]], frame["n"], sample_weight=frame["w"]).save(directory / "same.json")
    assert (directory / "same.json").read_bytes() == (directory / "model.json").read_bytes()


def test_predict_writes_exactly_what_the_model_predicts(place):
    model, X = load_model(place / "model.json"), pd.read_csv(place / "data.csv")[["age", "pulse"]]
    done = run("predict", "model.json", "data.csv", "--probabilities", cwd=place)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["prediction", "probability of sick", "probability of well"]
    shares = model.predict_proba(X).tolist()
    assert rows[1:] == [[label, *map(repr, row)] for label, row in zip(model.predict(X).tolist(), shares, strict=True)]


def test_predict_writes_numbers_in_full_to_a_pipe_a_file_and_as_json(counts):
    directory, _ = counts
    model, X = load_model(directory / "model.json"), pd.read_csv(directory / "data.csv")[["a", "b"]]
    expected = model.predict(X).tolist()
    X.to_parquet(directory / "inputs.parquet")
    piped = run("predict", "model.json", "-", cwd=directory, input=X.to_csv(index=False))
    assert piped.stdout.splitlines() == ["prediction", *map(repr, expected)]
    written = run("predict", "model.json", "inputs.parquet", "--json", "-o", "out.csv", cwd=directory)
    assert json.loads(written.stdout) == {"prediction": expected}
    assert (directory / "out.csv").read_text(encoding="utf-8") == piped.stdout


def test_show_prints_the_rules_at_a_size(place):
    model = load_model(place / "model.json")
    told = json.loads(run("show", "model.json", "--at", "5", "--json", cwd=place).stdout)
    assert told["path"] == [ensemble.complexity for ensemble in model.path_]
    assert told["complexity"] == model.at(5).ensemble_.complexity < model.ensemble_.complexity
    assert [rule["weight"] for rule in told["rules"]] == [rule.weight for rule in model.at(5).ensemble_]


def test_a_model_is_shown_with_its_verdict_at_the_automatic_size(place):
    model = load_model(place / "model.json").at("auto")
    done = run("show", "model.json", "--at", "auto", cwd=place)
    assert (done.stdout, done.stderr) == (f"{model.ensemble_}\n", f"{model.model_.verdict}\n")
    shown = json.loads(run("show", "model.json", "--at", "auto", "--json", cwd=place).stdout)
    assert shown["verdict"] == model.model_.verdict != ""
    assert "argument --at: invalid" in run("show", "model.json", "--at", "best", cwd=place).stderr


def test_slopes_are_edited_shown_and_explained(place):
    options = ("--target", "state", "-o", "sloped.json", "--add", "+0.05 (age - 50)", "--quiet")
    done = run("edit", "model.json", "data.csv", *options, cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "+0.05 (age - 50)"
    before, (*others, slope) = (
        json.loads(run("show", file, "--json", cwd=place).stdout)["rules"] for file in ("model.json", "sloped.json")
    )
    assert (slope["weight"], slope["factor"], slope["condition"]) == (0.05, "(age - 50)", "True")
    assert others == before
    assert ": +0.05 x (" in run("explain", "sloped.json", "data.csv", "--row", "4", cwd=place).stdout


def test_explain_says_which_rules_fired_for_a_row(place):
    model, X = load_model(place / "model.json"), pd.read_csv(place / "data.csv")[["age", "pulse"]]
    records = json.loads(run("explain", "model.json", "data.csv", "--row", "4", "--json", cwd=place).stdout)
    assert records == [record for record in model.explain(X).to_dicts() if record["row"] == 4]


def test_edit_does_its_steps_in_order_and_logs_them(place):
    frame = pd.read_csv(place / "data.csv")
    steps = (
        "--lock",
        "1",
        "--drop",
        "0",
        "--add",
        "age >= 50",
        "--refit",
        "--replace",
        "1",
        "+2 if pulse >= 70",
        "--round",
        "2",
    )
    done = run("edit", "model.json", "data.csv", "--target", "state", *steps, "-o", "edited.json", "--json", cwd=place)
    start = load_model(place / "model.json").edit(frame[["age", "pulse"]], frame["state"])
    expected = start.lock(1).drop(0).add("age >= 50").refit().replace(1, "+2 if pulse >= 70").round(2)
    edited = load_model(place / "edited.json")
    assert edited.ensemble_ == expected.ensemble
    assert str(edited.edits_) in done.stderr
    assert [step["action"] for step in json.loads(done.stdout)] == ["lock", "drop", "add", "refit", "replace", "round"]


def test_round_writes_a_short_model_with_its_certificate(place):
    frame = pd.read_csv(place / "data.csv")
    done = run("round", "model.json", "data.csv", "--target", "state", "--digits", "2", "-o", "short.json", "--json", cwd=place)
    expected = load_model(place / "model.json").rounded(frame[["age", "pulse"]], frame["state"], digits=2)
    short = load_model(place / "short.json")
    assert short.ensemble_ == expected.ensemble_
    assert short.edits_ == expected.edits_
    assert str(short.edits_) in done.stderr
    assert [step["action"] for step in json.loads(done.stdout)] == ["round"]


def test_closest_finds_what_the_library_finds(place):
    X = pd.read_csv(place / "data.csv")[["age", "pulse"]]
    model = load_model(place / "model.json")
    done = run("closest", "model.json", "data.csv", "--row", "4", "--fixed", "age", "--tolerance", "0.05", cwd=place)
    assert done.stdout == f"{model.closest_change(X.iloc[4], X, fixed=['age'], tolerance=0.05)}\n"
    bounds = ("--lower", "pulse=30", "--upper", "age=90", "--cost", "pulse=2", "--whole", "age", "--above", "0.5")
    told = json.loads(run("closest", "model.json", "data.csv", "--row", "0", *bounds, "--json", cwd=place).stdout)
    given = {"lower": {"pulse": 30}, "upper": {"age": 90}, "cost": {"pulse": 2}, "whole": ["age"]}
    found = model.closest_change(X.iloc[0], X, above=0.5, **given)
    assert told["changes"] == found.to_dicts()
    assert (told["before"], told["after"], told["proven"]) == (found.before, found.after, found.proven)


def test_stability_counts_what_the_library_counts(place):
    frame = pd.read_csv(place / "data.csv")
    done = run("stability", "model.json", "data.csv", "--target", "state", "--bootstraps", "3", "--at", "4", cwd=place)
    small = load_model(place / "model.json").at(4)
    found = small.stability(frame[["age", "pulse"]], frame["state"], n_bootstraps=3, random_state=0)
    assert done.stdout == f"{found}\n"


def test_demo_prints_rules_and_explains_a_prediction(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert " if True\n" in done.stdout
    assert "Predicted: 'malignant'" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_module_alone_is_the_demo(tmp_path):
    done = subprocess.run([sys.executable, "-m", "obliquerules"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (run("demo", cwd=tmp_path).stdout, "")


def test_without_a_command_all_commands_are_listed(tmp_path):
    done = run(cwd=tmp_path)
    assert done.returncode == 2
    assert all(f"\n  {command} " in done.stderr for command in COMMANDS)


def test_help_and_version_load_nothing_heavy():
    code = (
        "import sys; from obliquerules.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print('numpy' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "False\n"
    version = subprocess.run([sys.executable, "-m", "obliquerules", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"obliquerules {obliquerules.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "show model.json",
        "predict model.json data.csv --probabilities",
        "explain model.json data.csv --row 1",
        "closest model.json data.csv --row 1",
        "export model.json --to python",
        "report model.json data.csv --target state -o light.html",
    ],
)
def test_what_only_reads_a_model_loads_no_scikit_learn(place, arguments):
    code = (
        "import sys; from obliquerules.cli.main import main\n"
        "print(main(sys.argv[1:]), 'sklearn' in sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=place)
    assert done.stderr.splitlines()[-1] == "0 False"


def test_parameters_are_listed_with_their_defaults():
    listed = run("fit", "--parameters").stdout
    assert "max_rules=10" in listed
    assert "Largest number of rules" in listed
    assert "random_state" not in listed
