"""The pages on extending, followed to the letter on a copy of the package, give what they promise."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import obliquerules

ROOT = Path(__file__).parents[1]
PACKAGE = Path(obliquerules.__file__).parent
CAPTIONED = re.compile(r"^\.\. code-block:: \w+\n   :caption: src/(\S+)\n\n((?:   .*\n|\n)+)", flags=re.MULTILINE)


def page(name):
    return (ROOT / "docs" / "extending" / f"{name}.rst").read_text(encoding="utf-8")


def examples(text, first, last):
    """Return the examples of a page from one that has a text to one that has another."""
    sources = [example.source for example in doctest.DocTestParser().get_examples(text)]
    start, end = (next(place for place, source in enumerate(sources) if words in source) for words in (first, last))
    return "\n".join(sources[start : end + 1])


def followed(text, package):
    """Make the changes that the blocks of a page show, each below the name of its file."""
    above = {}
    for name, block in CAPTIONED.findall(text):
        lines = [line.removeprefix("   ") for line in block.rstrip("\n").split("\n")]
        file = package.parent / name
        if not any("..." in line for line in lines):  # something new, which the next block of the file uses
            above[file] = [*lines, "", ""]
            continue
        changed = merged(lines, file.read_text(encoding="utf-8").split("\n"), above.pop(file, []))
        file.unlink()  # it may be a link
        file.write_text("\n".join(changed), encoding="utf-8")
    assert not above


def merged(shown, lines, above):
    """Return the lines of a file with those that a block shows beside them; three dots stand for what is there already."""
    place, waiting = 0, None
    for line in shown:
        if ", ..., " in line:
            place = next(place for place, one in enumerate(lines) if one.startswith(line.split(", ..., ")[0]))
            lines[place] = with_more(lines[place], line.split(", ..., ")[1])
        elif line.strip() == "...":
            waiting = []
        elif line in lines[place:]:
            found = lines.index(line, place)
            lines[found:found] = waiting or []
            place, waiting = found + len(waiting or []) + 1, None
        elif waiting is None:
            lines.insert(place, line)
            place += 1
        else:
            waiting.append(line)
        if above:
            lines[place - 1 : place - 1], above = above, []
    assert not waiting
    return lines


def with_more(line, more):
    """Return a line with more entries at its end, before what the two have in common or before a bracket."""
    entries, new = line.split(", "), more.split(", ")
    if entries[-1] == new[-1]:
        return ", ".join([*entries[:-1], *new])
    closing = sum(more.count(one) for one in ")]}") - sum(more.count(one) for one in "([{")
    return ", ".join([line[: len(line) - closing], more])


def answer(package, program):
    """Return what a program prints that uses the copy."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONWARNINGS": "error", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=package.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(PACKAGE, tmp_path / "obliquerules", copy_function=os.symlink))


def test_a_selection(package):
    text = page("selection")
    (package / "learning" / "boosting" / "thrifty.py").write_text(
        examples(text, "import dataclass", "class Thrifty"), encoding="utf-8"
    )
    followed(text, package)
    program = """
import numpy as np
from obliquerules import LLTBoostClassifier
X = np.random.default_rng(0).normal(size=(200, 3))
for y in (X[:, 0] - X[:, 1] > 0.3, np.digitize(X[:, 0], [-0.5, 0.5])):
    print(LLTBoostClassifier(selection="thrifty", max_rules=2).fit(X, y).score(X, y) > 0.8)
"""
    assert answer(package, program) == "True\nTrue\n"


def test_an_estimator(package):
    text, face = page("estimator"), "from obliquerules.learning.boosting.stumps import Stumps"
    assert face in text
    (package / "learning" / "boosting" / "stumps.py").write_text(
        examples(text, "import dataclass", "class Stumps"), encoding="utf-8"
    )
    face = f"{face}\n{examples(text, 'import RuleClassifier', 'class StumpClassifier')}"
    (package / "estimators" / "stump.py").write_text(face, encoding="utf-8")
    followed(text, package)
    program = """
from sklearn.datasets import load_breast_cancer
from obliquerules import StumpClassifier, load_model
from obliquerules.cli.main import main
data = load_breast_cancer(as_frame=True).frame
data.to_csv("data.csv", index=False)
main("fit data.csv --target target --method stump -o model.json --quiet --set max_rules=2".split())
loaded = load_model("model.json")
print(type(loaded) is StumpClassifier, loaded.score(data.drop(columns="target"), data.target) > 0.9)
"""
    assert answer(package, program).endswith(">= 16.93\nTrue True\n")


def test_an_export(package):
    text = page("export")
    (package / "export" / "lisp.py").write_text(examples(text, "import Language", "class LispFormat"), encoding="utf-8")
    followed(text, package)
    program = """
from obliquerules import Model, RuleEnsemble
from obliquerules.cli.export_report import FORMS
from obliquerules.export.export_formats import export
from obliquerules.losses import LOSSES
model = Model.of(RuleEnsemble.parse("+1 if age >= 3", ["age"]), LOSSES["logistic"])
print(export(model, FORMS[-1]).verification)
"""
    assert answer(package, program).startswith("verified with the example 1 on ")


def test_a_loss(package):
    text, losses = page("loss"), package / "losses.py"
    above = "# The losses of one score, by name"
    source = losses.read_text(encoding="utf-8")
    assert above in source
    losses.unlink()  # it may be a link
    losses.write_text(
        source.replace(above, f"{examples(text, 'class Agreement', 'class Agreement')}\n\n{above}"), encoding="utf-8"
    )
    followed(text, package)
    program = """
import numpy as np
from obliquerules import LLTBoostRegressor, load_model
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = np.tanh(X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=200))
model = LLTBoostRegressor(loss="agreement", max_rules=3).fit(X, y)
model.save("model.json")
loaded = load_model("model.json").predict(X)
print(abs(loaded).max() <= 1.0, model.score(X, y) > 0.9, (loaded == model.predict(X)).all())
try:
    model.export("python")
except ValueError as error:
    print(error)
try:
    model.fit(X, 2.0 * y)
except ValueError as error:
    print(error)
"""
    said = answer(package, program).splitlines()
    assert said[0] == "True True True"
    assert said[1].startswith("The export differs from the model")
    assert said[2] == "y has values outside -1 and 1 (loss='agreement')."
