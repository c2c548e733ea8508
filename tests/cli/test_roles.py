"""Columns that are neither inputs nor the target: exposures, offsets and groups, in `fit` and in what reads a model."""

import json

import pandas as pd
import pytest

from obliquerules import LLTBoostRegressorCV, load_model

from .executable import refused, run
from .flowers import claims

INPUTS = ["age", "noise"]
FIT = ("fit", "data.csv", "--target", "claims")


@pytest.fixture(scope="module")
def insured(tmp_path_factory):
    """A directory with a table of claims, the model of it, and what `fit --json` said."""
    directory = tmp_path_factory.mktemp("insured")
    claims(directory / "data.csv")
    options = ("--exposure", "years", "--groups", "region", "--cv", "3", "--set", "max_rules=2", "--set", "effort=0", "--json")
    done = run(*FIT, *options, "-o", "model.json", cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    return directory, json.loads(done.stdout)


def test_fit_says_which_column_has_which_role(insured):
    directory, told = insured
    said = (directory / "said.txt").read_text(encoding="utf-8")
    frame = pd.read_csv(directory / "data.csv")
    assert "Target: claims, counts because it comes with an exposure\n" in said
    assert (
        f"\nExposure: years, number, {frame['years'].min():g} to {frame['years'].max():g}\nGroups: region, 9 different" in said
    )
    assert "Note: scores are those of an exposure of 1; predictions are multiplied by the exposure, 'years'\n" in said
    assert told["columns"] == INPUTS
    assert [(one["role"], one["name"], one["kind"]) for one in told["roles"]] == [
        ("exposure", "years", "number"),
        ("group", "region", "text"),
    ]


def test_fit_makes_the_model_that_the_library_makes(insured):
    directory, _ = insured
    frame = pd.read_csv(directory / "data.csv")
    model = LLTBoostRegressorCV(loss="poisson", cv=3, max_rules=2, effort=0, random_state=0)
    model.fit(frame[INPUTS], frame["claims"], exposure=frame["years"], groups=frame["region"]).save(directory / "same.json")
    assert (directory / "same.json").read_bytes() == (directory / "model.json").read_bytes()


def test_predictions_are_for_the_exposure_of_each_row_or_rates(insured):
    directory, _ = insured
    frame, model = pd.read_csv(directory / "data.csv"), load_model(directory / "model.json")
    done = run("predict", "model.json", "data.csv", "--json", cwd=directory)
    assert json.loads(done.stdout)["prediction"] == model.predict(frame[INPUTS], exposure=frame["years"]).tolist()
    rates = run("predict", "model.json", "-", "--json", cwd=directory, input=frame[INPUTS].to_csv(index=False))
    assert json.loads(rates.stdout)["prediction"] == model.predict(frame[INPUTS]).tolist()
    assert "standard input has no column 'years', so that predictions are those of an exposure of 1\n" in rates.stderr


def test_what_learns_or_measures_needs_the_exposure(insured):
    directory, _ = insured
    frame, model = pd.read_csv(directory / "data.csv"), load_model(directory / "model.json")
    data = (frame[INPUTS], frame["claims"])
    run("edit", "model.json", "data.csv", "--target", "claims", "--drop", "0", "--refit", "-o", "edited.json", cwd=directory)
    expected = model.edit(*data, exposure=frame["years"]).drop(0).refit().ensemble
    assert load_model(directory / "edited.json").ensemble_ == expected
    frame.drop(columns="years").to_csv(directory / "without.csv", index=False)
    lacking = ("round", "model.json", "without.csv", "--target", "claims", "-o", "short.json")
    assert "'without.csv' has no column 'years'" in refused(*lacking, cwd=directory)
    done = run("stability", "model.json", "data.csv", "--target", "claims", "--bootstraps", "2", cwd=directory)
    found = model.stability(*data, exposure=frame["years"], n_bootstraps=2, random_state=0)
    assert done.stdout == f"{found}\n"


def test_rows_without_an_exposure_are_refused_or_left_out(insured):
    directory, _ = insured
    frame = pd.read_csv(directory / "data.csv")
    frame.assign(years=frame["years"].mask(frame.index < 3)).to_csv(directory / "gaps.csv", index=False)
    sentence = refused("predict", "model.json", "gaps.csv", cwd=directory)
    assert sentence.endswith("The exposure 'years' is missing in 3 rows. Fill it in, or leave out such rows.")
    fit = ("fit", "gaps.csv", "--target", "claims", "--exposure", "years", "--drop", "region", "-o", "few.json")
    assert refused(*fit, cwd=directory).endswith("or leave out such rows with --drop-rows.")
    done = run(*fit, "--drop-rows", "--set", "max_rules=1", cwd=directory)
    assert "Rows: 197 (3 with missing values left out)\n" in done.stderr
