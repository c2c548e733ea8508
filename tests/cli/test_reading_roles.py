"""What reads a model of many classes, or one with an exposure or offset, takes what it needs from the table."""

import json

import pandas as pd
import pytest

from obliquerules import LLTBoostClassifier, LLTBoostRegressor, load_model
from obliquerules.cli.main import main

from .flowers import FEATURES, OFFSETS, claims, flowers

INPUTS = ["age", "noise"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A directory with tables, and models of three classes with an offset, and of counts with an exposure."""
    directory = tmp_path_factory.mktemp("models")
    kinds, counts = pd.read_csv(flowers(directory / "flowers.csv")), pd.read_csv(claims(directory / "claims.csv"))
    flower = LLTBoostClassifier(max_rules=2, random_state=0).fit(kinds[FEATURES], kinds["kind"], offset=kinds[OFFSETS])
    flower.save(directory / "flowers.json")
    claim = LLTBoostRegressor(loss="poisson", max_rules=2, random_state=0)
    claim.fit(counts[INPUTS], counts["claims"], exposure=counts["years"]).save(directory / "claims.json")
    return directory


@pytest.fixture
def told(models, monkeypatch, capsys):
    """Return what runs a command beside the models, and returns what it printed, or the sentence with which it refused."""
    monkeypatch.chdir(models)

    def told(line, code=0):
        assert main(line.split()) == code
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.err

    return told


def test_explain_compares_with_the_class_that_the_user_names(models, told):
    frame, model = pd.read_csv(models / "flowers.csv"), load_model(models / "flowers.json")
    row = frame[5:6].reset_index(drop=True)
    expected = model.explain(row[FEATURES], offset=row[OFFSETS], versus="lily")
    assert told("explain flowers.json flowers.csv --row 5 --versus lily") == f"Row 5. {expected}\n"
    assert "--versus must be one of the classes, 'lily', 'rose', 'tulip'; got 'oak'" in told(
        "explain flowers.json flowers.csv --versus oak", 2
    )
    assert "--versus cannot be used: the model predicts numbers" in told("explain claims.json claims.csv --versus oak", 2)


def test_explain_multiplies_by_the_exposure_of_the_row(models, told):
    frame, model = pd.read_csv(models / "claims.csv"), load_model(models / "claims.json")
    records = json.loads(told("explain claims.json claims.csv --row 7 --json"))
    assert records[0]["prediction"] == model.predict(frame[INPUTS], exposure=frame["years"])[7]


def test_closest_finds_another_class_or_the_wanted_one(models, told):
    frame, model = pd.read_csv(models / "flowers.csv"), load_model(models / "flowers.json")
    now = model.predict(frame[FEATURES], offset=frame[OFFSETS])[0]
    for wanted in {"lily", "rose", "tulip"} - {now}:
        found = json.loads(told(f"closest flowers.json flowers.csv --row 0 --to {wanted} --json"))
        assert (found["before"], found["after"]) == (now, wanted)
    assert json.loads(told("closest flowers.json flowers.csv --row 0 --json"))["after"] != now
    assert "name it with to" in told("closest flowers.json flowers.csv --row 0 --above 0.5", 2)
    assert "--to cannot be used: the model predicts numbers" in told("closest claims.json claims.csv --row 0 --to lily", 2)


def test_closest_is_about_the_prediction_at_the_exposure_of_the_row(models, told):
    frame, model = pd.read_csv(models / "claims.csv"), load_model(models / "claims.json")
    expected = model.predict(frame[INPUTS], exposure=frame["years"])[3]
    found = json.loads(told(f"closest claims.json claims.csv --row 3 --above {expected * 1.2} --json"))
    assert found["before"] == expected
    assert found["after"] > expected * 1.2


def test_reports_of_many_classes_and_with_an_exposure_are_written(models, told):
    told("report flowers.json flowers.csv --target kind -o flowers.html --force")
    told("report claims.json claims.csv --target claims -o claims.html --force")
    assert "tulip" in (models / "flowers.html").read_text(encoding="utf-8")
    assert "years" in (models / "claims.html").read_text(encoding="utf-8")


def test_stability_counts_what_the_library_counts(models, told):
    frame, model = pd.read_csv(models / "flowers.csv"), load_model(models / "flowers.json")
    found = model.stability(frame[FEATURES], frame["kind"], offset=frame[OFFSETS], n_bootstraps=2, random_state=0)
    assert told("stability flowers.json flowers.csv --target kind --bootstraps 2") == f"{found}\n"


@pytest.mark.parametrize("name", ["flowers", "claims"])
def test_exports_are_compared_with_what_the_rows_are_given(models, told, name):
    told(f"export {name}.json --to python --data {name}.csv -o {name}.py --force")
    assert told(f"export {name}.json --to sql --dialect sqlite --data {name}.csv").startswith("SELECT data.*")
    pd.read_csv(models / f"{name}.csv").drop(columns=["years", "for_rose"], errors="ignore").to_csv("less.csv", index=False)
    assert "has no column '" in told(f"export {name}.json --to python --data less.csv", 2)
