"""Many classes and class weights, run as users run them: from what `fit` says to predictions, edits and short numbers."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, load_model

from .executable import refused, run
from .flowers import FEATURES, OFFSETS, flowers


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    """A directory with a table of three classes, the model of it, and what `fit` said."""
    directory = tmp_path_factory.mktemp("garden")
    flowers(directory / "data.csv")
    given = ("--weight", "w", "--offset", ",".join(OFFSETS), "--class-weight", "rose=2,tulip=0.5")
    done = run("fit", "data.csv", "--target", "kind", *given, "-o", "model.json", "--set", "max_rules=2", cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    (directory / "rules.txt").write_text(done.stdout, encoding="utf-8")
    return directory


def test_fit_says_what_the_classes_and_the_other_columns_are(garden):
    said = (garden / "said.txt").read_text(encoding="utf-8").splitlines()
    frame, model = pd.read_csv(garden / "data.csv"), load_model(garden / "model.json")
    ranges = {name: f"{frame[name].min():g} to {frame[name].max():g}" for name in frame if name != "kind"}
    assert said == [
        "Target: kind, classification because it holds text with 3 different values, 'lily', 'rose', 'tulip'",
        "Scores: one for each of the 3 classes; the highest predicts",
        "Class weights: 'lily' times 1, 'rose' times 2, 'tulip' times 0.5",
        "Rows: 90",
        "Columns: 2",
        f"  height  number  {ranges['height']}",
        f"  width   number  {ranges['width']}",
        f"Weight: w, number, {ranges['w']}",
        *(f"Offset of '{name[4:]}': {name}, number, {ranges[name]}" for name in OFFSETS),
        "Method: LLTBoostClassifier(class_weight={'rose': 2.0, 'tulip': 0.5}, max_rules=2, random_state=0)",
        f"Wrote model.json, a model of complexity {model.ensemble_.complexity}.",
        model.model_.verdict,
        f"Note: p{model.model_.remark[1:-1]}",
    ]
    assert (garden / "rules.txt").read_text(encoding="utf-8") == f"{model.ensemble_}\n"


def test_fit_makes_the_model_that_the_library_makes(garden):
    frame = pd.read_csv(garden / "data.csv")
    model = LLTBoostClassifier(max_rules=2, class_weight={"rose": 2, "tulip": 0.5}, random_state=0)
    model.fit(frame[FEATURES], frame["kind"], frame["w"], offset=frame[OFFSETS]).save(garden / "same.json")
    assert (garden / "same.json").read_bytes() == (garden / "model.json").read_bytes()


def test_predict_gives_the_class_and_the_probability_of_each(garden):
    frame, model = pd.read_csv(garden / "data.csv"), load_model(garden / "model.json")
    done = run("predict", "model.json", "data.csv", "--probabilities", cwd=garden)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["prediction", "probability of lily", "probability of rose", "probability of tulip"]
    classes = model.predict(frame[FEATURES], offset=frame[OFFSETS]).tolist()
    shares = model.predict_proba(frame[FEATURES], offset=frame[OFFSETS]).tolist()
    assert rows[1:] == [[label, *map(repr, row)] for label, row in zip(classes, shares, strict=True)]
    assert "Note: probabilities are of reweighted classes: 'lily' times 1, 'rose' times 2" in done.stderr


def test_show_gives_a_weight_for_each_class(garden):
    told, model = json.loads(run("show", "model.json", "--json", cwd=garden).stdout), load_model(garden / "model.json")
    assert told["classes"] == ["lily", "rose", "tulip"]
    assert told["intercept"] == list(model.ensemble_.intercept)
    assert [rule["weight"] for rule in told["rules"]] == [list(rule.weight) for rule in model.ensemble_]
    assert (told["offset"], told["class_weights"]) == (OFFSETS, [1.0, 2.0, 0.5])
    shown = run("show", "model.json", "--format", "markdown", cwd=garden)
    assert shown.stdout.startswith("| lily | rose | tulip | if |\n")
    assert "A given offset, 'for_lily', 'for_rose', 'for_tulip', is added to the score" in shown.stderr


def test_edit_and_round_do_what_the_library_does(garden):
    frame, model = pd.read_csv(garden / "data.csv"), load_model(garden / "model.json")
    data = ("model.json", "data.csv", "--target", "kind", "--weight", "w")
    start = model.edit(frame[FEATURES], frame["kind"], frame["w"], offset=frame[OFFSETS])
    run("edit", *data, "--drop", "1", "--add", "width >= 2", "--refit", "--round", "2", "-o", "edited.json", cwd=garden)
    assert load_model(garden / "edited.json").ensemble_ == start.drop(1).add("width >= 2").refit().round(2).ensemble
    run("round", *data, "--digits", "2", "-o", "short.json", cwd=garden)
    assert load_model(garden / "short.json").ensemble_ == start.round(2).ensemble


def test_numbers_from_zero_are_codes_of_classes(garden):
    frame = pd.read_csv(garden / "data.csv")[[*FEATURES, "kind"]]
    codes = frame["kind"].map({"lily": 0, "rose": 1, "tulip": 2})
    frame.assign(kind=codes).to_csv(garden / "codes.csv", index=False)
    options = ("--class-weight", "balanced", "--method", "tgb", "--set", "max_rules=1", "--json", "-o", "codes.json")
    done = run("fit", "codes.csv", "--target", "kind", *options, cwd=garden)
    told = json.loads(done.stdout)
    assert told["why"] == "it holds the whole numbers from 0 to 2, like codes of classes (--task regression if they are none)"
    assert (told["classes"], told["positive"], told["roles"]) == ([0, 1, 2], None, [])
    assert "Class weights: balanced, so that all classes have the same weight\n" in done.stderr
    share = 90 / (3 * np.bincount(codes))
    np.testing.assert_allclose(load_model(garden / "codes.json").model_.class_weights, share)


def test_a_network_for_two_classes_says_so_before_it_starts(garden):
    sentence = refused("fit", "data.csv", "--target", "kind", "--method", "drnet", "-o", "net.json", cwd=garden)
    assert "--method drnet cannot be used: it tells two classes apart, and 'kind' has 3. Give --method lltboost or" in sentence
