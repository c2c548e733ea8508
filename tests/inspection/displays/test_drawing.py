"""All pictures: names are drawn as they stand, nothing is cut off, and matplotlib is needed for pictures only."""

import functools
import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from obliquerules import LLTBoostClassifier
from obliquerules.inspection import CoverageDisplay, DecisionRegionsDisplay, RiskComplexityDisplay, WaterfallDisplay

from .looks import clipped, texts, written

HOSTILE = ["cost $x_1^2$ in $", "_hidden", "100 % <b>of</b> {all} \\frac{", "a long name " * 17, "W" * 200]

DISPLAYS = {
    "regions": lambda model, X, y: DecisionRegionsDisplay.from_estimator(model, X, y, features=[0, 1]),
    "other regions": lambda model, X, y: DecisionRegionsDisplay.from_estimator(model, X, y, features=[3, 4]),
    "classes": lambda model, X, y: DecisionRegionsDisplay.from_estimator(
        model, X, y, features=[2, 3], response_method="predict", units={HOSTILE[2]: "$/m_2"}
    ),
    "risk": lambda model, X, y: RiskComplexityDisplay.from_estimator(model, X, y),
    "waterfall": lambda model, X, _: WaterfallDisplay.from_estimator(model, X, all_rules=True),
    "coverage": lambda model, X, _: CoverageDisplay.from_estimator(model, X),
}
every_display = pytest.mark.parametrize("name", DISPLAYS)


@functools.cache
def hostile(n_rules=6):
    """Return a model with names that are hard to draw, and its data."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(120, 5)).round(2), columns=HOSTILE)
    y = np.where(X.to_numpy().sum(axis=1) + rng.normal(size=120) > 0.0, "_$yes$", "100 % no $")
    model = LLTBoostClassifier(max_rules=n_rules, selection="validation", complexity_penalty=0.0, random_state=0)
    return model.fit(X, y), X, y


@every_display
def test_any_name_is_drawn_and_nothing_is_cut_off(name, tmp_path):
    display = DISPLAYS[name](*hostile())
    assert clipped(display) == []
    for kind in ("png", "svg"):
        display.figure_.savefig(tmp_path / f"picture.{kind}")


@pytest.mark.parametrize("name", ["waterfall", "coverage"])
def test_many_rules_have_room(name):
    model, X, y = hostile(30)
    assert len(model.ensemble_) > 15
    display = DISPLAYS[name](model, X, y)
    assert clipped(display) == []
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))


def test_dollars_begin_no_formula():
    model, X, y = hostile()
    assert "cost \\$x_1^2\\$ in \\$" in written(DISPLAYS["regions"](model, X, y))  # escaped: drawn as they stand


@every_display
def test_type_is_legible_in_print(name):
    assert {text.get_fontsize() for text in texts(DISPLAYS[name](*hostile()))} == {9.0}


@every_display
def test_only_fitted_rule_models_are_drawn(name):
    _, X, y = hostile()
    with pytest.raises(NotFittedError):
        DISPLAYS[name](LLTBoostClassifier(), X, y)
    with pytest.raises(TypeError, match="estimator must be a rule model, such as LLTBoostClassifier; got LogisticRegression"):
        DISPLAYS[name](LogisticRegression(), X, y)


@every_display
def test_without_matplotlib_a_sentence_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"install obliquerules\[plots\]"):
        DISPLAYS[name](*hostile())


def test_the_library_itself_does_not_need_matplotlib():
    program = "import sys, obliquerules, obliquerules.inspection; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
