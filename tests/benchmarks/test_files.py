"""The files of a report: the same figures as Markdown, CSV, pictures and a page that loads nothing."""

import csv
import html
import io
import os
import re

import pytest

from benchmarks.datasets import DATASETS
from benchmarks.datasets.files import VARIABLE
from benchmarks.paper.__main__ import main, parse
from benchmarks.paper.contenders import Contender, lltboost
from benchmarks.paper.figures import regions, trend
from benchmarks.paper.files import FIELDS, write_files
from benchmarks.paper.report import tables
from benchmarks.paper.runner import load
from benchmarks.paper.trials import Outcome, Trial

MADE = "Made on 2026-11-16 by `benchmark --methods 'a_b' <c>`"
OURS, PEER = lltboost("validation"), Contender("<Peer> & co", None, dict)


def outcome(method, seed, complexities=(4, 7), risks=(0.7, 0.5), failure=None):
    losses = {} if failure else {"risk": risks}
    return Outcome(Trial("Diabetes", method.name, "s", seed), () if failure else complexities, losses, 0.5, failure)


@pytest.fixture
def written(tmp_path):
    outcomes = [outcome(OURS, seed) for seed in range(3)]
    outcomes += [outcome(PEER, 0, (90,), (0.4,)), outcome(PEER, 1, failure="ValueError: 1 < 2 | 3\nno")]
    found = tables([OURS, PEER], outcomes, {"liver": "not there"})
    write_files(tmp_path, [OURS, PEER], outcomes, found, MADE)
    return tmp_path


def test_all_files_are_there_and_nothing_else(written):
    names = {path.name for path in written.iterdir()}
    picture = "risk-complexity-diabetes"
    assert names == {"report.md", "tables.csv", "report.html", "report.rst", f"{picture}.png", f"{picture}.svg"}
    assert (written / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


def test_it_is_said_when_and_how_the_report_was_made(written):
    assert MADE in (written / "report.md").read_text(encoding="utf-8")
    assert html.escape(MADE.replace("`", "")) in (written / "report.html").read_text(encoding="utf-8")
    assert MADE.replace("`", "``") in (written / "report.rst").read_text(encoding="utf-8")


def test_all_methods_stand_in_one_table_with_the_papers(written):
    text = (written / "report.md").read_text(encoding="utf-8")
    part = text[text.index("Complexity at the risk target, all methods") :].split("##")[0]
    rows = dict(re.findall(r"^\| (.+?) +\| (.+?) +\|$", part, flags=re.MULTILINE))
    assert rows["target"] == "0.71"
    assert rows["LLTBoost (paper)"] == "4 [4, 4]"
    assert rows["<Peer> & co"] == "inf [90, inf]"  # a failure meets no target
    assert rows["paper: LLTB"] == "7 [7, 9]"
    assert "paper: DRNet" not in rows
    assert r"ValueError: 1 < 2 \| 3 no" in text
    assert "| 0.5" in text[text.index("Seconds of processor time") :]


def test_the_csv_has_exact_numbers_and_failures(written):
    with open(written / "tables.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == FIELDS
    (ours, peer) = (line for line in lines if line["measure"] == "Complexity at the risk target")
    assert (ours["median"], ours["paper_median"], ours["failed"]) == ("4.0", "7", "0")
    assert (peer["median"], peer["upper"], peer["paper_median"], peer["failed"]) == ("inf", "inf", "", "1")


def test_the_page_loads_nothing_and_takes_names_for_text(written):
    page = (written / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "&lt;Peer&gt; &amp; co" in page
    assert "<Peer>" not in page
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", re.sub(r"xmlns\S*|rdf:\S*", "", page))


def test_the_page_of_the_documentation_is_restructured_text_without_complaints(written):
    text = (written / "report.rst").read_text(encoding="utf-8")
    complaints = io.StringIO()
    docutils = pytest.importorskip("docutils.core")
    page = docutils.publish_string(text, writer="html5", settings_overrides={"warning_stream": complaints}).decode()
    assert complaints.getvalue() == ""
    assert "1 &lt; 2 | 3 no" in page
    assert "<li" not in page  # a dash for nothing is no list
    assert "risk-complexity-diabetes.svg" in page


def test_a_trend_goes_as_far_as_all_repetitions_do():
    short = outcome(OURS, 1, (6,), (0.9,))
    complexity, risk = trend([outcome(OURS, 0), short, outcome(OURS, 2, failure="no")], 0.71)
    assert complexity.tolist() == [5.0]
    assert risk.tolist() == [0.8]
    assert all(len(part) == 0 for part in trend([outcome(OURS, 0, failure="no")], 0.71))


def test_quick_is_what_is_not_said():
    quick, full = parse(["--quick", "--repetitions", "2"]), parse([])
    assert (len(quick.datasets), quick.repetitions, quick.jobs, quick.time_limit) == (4, 2, 2, 30.0)
    assert (len(full.datasets), full.repetitions, full.jobs) == (len(DATASETS), 10, 1)


def test_the_command_goes_on_with_a_directory_and_refuses_others(capsys, tmp_path):
    arguments = ["--datasets", "diabetes", "--repetitions", "1", "--methods", "Decision tree", "-o"]
    main([*arguments, str(tmp_path / "run")])
    first = (tmp_path / "run" / "results.jsonl").read_bytes()
    printed = capsys.readouterr().out
    assert "by `python -m benchmarks.paper --datasets diabetes --repetitions 1 --methods 'Decision tree' -o" in printed
    main([*arguments, str(tmp_path / "run")])
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == first
    assert capsys.readouterr().out == printed
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    for not_of_a_run in (tmp_path, tmp_path / "notes"):
        with pytest.raises(SystemExit):
            main([*arguments, str(not_of_a_run)])


@pytest.mark.parametrize("results", ["", "mine, and no end of the line", "mine\n"])
def test_the_command_leaves_a_directory_alone_that_is_not_of_a_run(capsys, tmp_path, results):
    (tmp_path / "results.jsonl").write_text(results, encoding="utf-8")
    (tmp_path / "report.md").write_text("mine", encoding="utf-8")
    with pytest.raises((SystemExit, ValueError)):
        main(["--datasets", "diabetes", "--repetitions", "1", "--methods", "Decision tree", "-o", str(tmp_path)])
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        "results.jsonl": results,
        "report.md": "mine",
    }


@pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"needs banknote.csv: {VARIABLE} is not set")
def test_the_first_figure_shows_four_methods_and_their_rules():
    figure = regions()
    assert len(re.findall(r"if True", figure.text)) == 4
    assert "variance" in figure.text
    assert figure.svg.count("<svg") == 1


def test_what_nobody_serves_is_left_out_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    present, left_out = load(["diabetes", "voice"], download_if_missing=True)
    assert [data.name for data in present] == ["Diabetes"]
    assert "neither OpenML nor UCI has" in left_out["voice"]
