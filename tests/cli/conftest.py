"""What the tests of the command line share: one directory with a table and the model that `fit` made of it."""

import shutil

import pytest

from .executable import run, sick_or_well


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A directory with a table of two classes, the model of it, and what `fit` said and printed."""
    directory = tmp_path_factory.mktemp("fitted")
    sick_or_well(directory / "data.csv")
    done = run("fit", "data.csv", "--target", "state", "-o", "model.json", "--set", "max_rules=2", cwd=directory)
    assert done.returncode == 0, done.stderr
    (directory / "said.txt").write_text(done.stderr, encoding="utf-8")
    (directory / "rules.txt").write_text(done.stdout, encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def place(fitted, tmp_path_factory):
    """A copy of that directory, to work in."""
    return shutil.copytree(fitted, tmp_path_factory.mktemp("place") / "copy")
