"""The command `report` writes one file, whole and never over another unasked, or says in a sentence why not."""

import pytest

from obliquerules.cli.main import main

from ..report.reading import payload
from .executable import refused, run


def test_with_data(place):
    done = run("report", "model.json", "data.csv", "--target", "state", "-o", "with.html", "--title", "Who is sick?", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("Wrote with.html, ")
    report = payload(place / "with.html")
    assert report["title"] == "Who is sick?"
    assert report["figures"]["rows"] == 80
    assert report["figures"]["least"] == 5


def test_the_head(place):
    words = ["--about-data", "80 patients", "--date", "May 2026", "--intended-use", "none"]
    done = run("report", "model.json", "data.csv", "--target", "state", "-o", "head.html", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    about = dict(payload(place / "head.html")["about"])
    assert (about["Target"], about["Data"], about["Date"], about["Intended use"]) == (
        "state",
        "80 patients",
        "May 2026",
        "none",
    )


def test_without_data_and_smaller(place):
    assert run("report", "model.json", "-o", "bare.html", "--at", "0", "--max-sizes", "1", cwd=place).returncode == 0
    report = payload(place / "bare.html")
    assert report["figures"] is None
    assert report["sizes"] == [0]


@pytest.mark.parametrize("options", [["data.csv"], ["--target", "state"]])
def test_a_table_needs_a_target_and_a_target_a_table(place, options):
    assert "DATA and --target must be given together" in refused(
        "report", "model.json", *options, "-o", "wrong.html", cwd=place
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["data.csv", "--target", "stat"], "has no column 'stat'"),
        (["data.csv", "--target", "age"], "y must hold the labels that the model was fitted to, ['sick', 'well']."),
        (["data.csv", "--target", "state", "--min-count", "0"], "min_count must be a whole number of at least 1; got 0."),
        (["nothing.csv", "--target", "state"], "'nothing.csv' cannot be read"),
        (["--title", " "], "title must be text; got ' '."),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(place, options, sentence, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert main(["report", "model.json", *options, "-o", "wrong.html"]) == 2
    told = capsys.readouterr()
    assert sentence in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert not (place / "wrong.html").exists()


def test_nothing_is_overwritten_unasked(place):
    (place / "mine.html").write_text("mine", encoding="utf-8")
    assert "is there already" in refused("report", "model.json", "-o", "mine.html", cwd=place)
    assert (place / "mine.html").read_text(encoding="utf-8") == "mine"
    assert run("report", "model.json", "-o", "mine.html", "--force", cwd=place).returncode == 0
    assert payload(place / "mine.html")["figures"] is None
