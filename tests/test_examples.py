"""The examples of the gallery run without a warning, and draw; the notebook shows what it says."""

import json
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = EXAMPLES / "gallery"
SCRIPTS = sorted(script.name for script in GALLERY.glob("plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) >= 8


@pytest.mark.gallery
@pytest.mark.parametrize("script", SCRIPTS)
def test_example(script, capsys):
    mpl.use("Agg")
    runpy.run_path(str(GALLERY / script))
    assert plt.get_fignums()
    plt.close("all")
    assert re.search(r"(if|\|) True\n", capsys.readouterr().out)  # the rules are printed; of many classes, as a table


def test_the_notebook_shows_what_was_saved_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes files
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    run = runpy.run_path(str(EXAMPLES / "run_notebook.py"))["run"]
    saved = shown(notebook)
    assert sum(map(len, saved)) >= 8
    assert shown(run(notebook)) == saved
    assert {path.name for path in tmp_path.iterdir()} == {"model.html", "model.json", "score.sql"}


def shown(notebook):
    """Return what a reader sees below each cell: of a value that is shown as a table, the table."""
    cells = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [["".join(output.get("text") or seen(output["data"])) for output in outputs] for outputs in cells]


def seen(data):
    return data.get("text/html", data["text/plain"])


def test_the_notebook_is_small_and_valid():
    path = EXAMPLES / "tour.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 50_000
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
