"""The examples of the gallery run without a warning, and draw."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(script.name for script in GALLERY.glob("plot_*.py"))


def test_there_are_examples():
    assert len(SCRIPTS) >= 4


@pytest.mark.parametrize("script", SCRIPTS)
def test_example(script, capsys):
    mpl.use("Agg")
    runpy.run_path(str(GALLERY / script))
    assert plt.get_fignums()
    plt.close("all")
    assert " if True\n" in capsys.readouterr().out  # the rules are printed
