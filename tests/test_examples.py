"""The examples of the gallery run without a warning, and draw."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(script.name for script in GALLERY.glob("plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) >= 8


@pytest.mark.parametrize("script", SCRIPTS)
def test_example(script, capsys):
    mpl.use("Agg")
    runpy.run_path(str(GALLERY / script))
    assert plt.get_fignums()
    plt.close("all")
    assert re.search(r"(if|\|) True\n", capsys.readouterr().out)  # the rules are printed; of many classes, as a table
