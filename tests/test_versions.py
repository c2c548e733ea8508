"""The version is written in one place, and what is installed can be printed for a bug report."""

import importlib.metadata
import re
from pathlib import Path

import numpy as np

import obliquerules

ROOT = Path(__file__).parents[1]


def test_the_version_is_that_of_the_build_and_the_citation():
    (declared,) = re.findall(r"^  version: '(.+)',$", (ROOT / "meson.build").read_text(encoding="utf-8"), flags=re.M)
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.M)
    assert obliquerules.__version__ == importlib.metadata.version("obliquerules") == declared == cited
    assert "__version__" in dir(obliquerules)


def test_versions_of_the_package_and_its_dependencies_are_printed(capsys):
    assert obliquerules.show_versions() is None
    printed = capsys.readouterr().out
    assert f"obliquerules: {obliquerules.__version__}\n" in printed
    assert f"numpy: {np.__version__}\n" in printed
    for name in ("scikit-learn", "pyarrow", "matplotlib"):
        assert re.search(rf"^ *{name}: (\d|not installed)", printed, flags=re.M)
    assert "pytest" not in printed
