"""Whatever is changed in a model file, loading gives a model that predicts or our own error: no crash, hang or much memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from obliquerules import (
    DRNetClassifier,
    LLTBoostClassifier,
    LLTBoostRegressor,
    LLTBoostRegressorCV,
    LTRNetRegressor,
    TGBClassifier,
)

from .fitted import data

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
PROGRAM = Path(__file__).with_name("fuzzing.py")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A directory with saved models of all kinds."""
    X, labels, counts = data()
    fitted = {
        "classifier": LLTBoostClassifier(max_rules=3, effort=0, random_state=0).fit(X, labels),
        "numbered classes": LLTBoostClassifier(max_rules=2, effort=0, random_state=0).fit(X.to_numpy(), labels == "yes"),
        "poisson": LLTBoostRegressor(loss="poisson", max_rules=3, effort=0, random_state=0).fit(X, counts),
        "cross-validated": LLTBoostRegressorCV(max_rules=2, effort=0, cv=2, random_state=0).fit(X, counts),
        "axis": TGBClassifier(max_rules=3, random_state=0).fit(X, labels),
        "network": LTRNetRegressor(max_rules=3, n_penalties=2, n_restarts=2, random_state=0).fit(X, counts),
        "rule set": DRNetClassifier(max_rules=3, n_penalties=2, max_iter=500, phase_length=100, random_state=0).fit(X, labels),
    }
    fitted["edited"] = fitted["poisson"].edit(X, counts).drop(0).add("age >= 0.5").lock(0).refit().model
    fitted["rules alone"] = fitted["axis"].ensemble_
    directory = tmp_path_factory.mktemp("models")
    for name, model in fitted.items():
        model.save(directory / f"{name}.json")
    return directory


def report(models, count, seed):
    command = [sys.executable, "-W", "error", PROGRAM, models, str(count), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hold_to_the_law(came, count):
    assert came["failures"] == {}
    assert sum(came["counts"].values()) == count
    assert min(came["counts"][kind] for kind in ("refused", "predicts")) > count / 20
    assert came["megabytes more"] < 200
    assert came["slowest load in seconds"] < 2.0  # of processor time, whatever else the machine does


def test_hundreds_of_broken_files(models):
    hold_to_the_law(report(models, 600, seed=0), 600)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_hundred_thousand_broken_files(models, seed):
    came = report(models, 25_000, seed)
    sys.stdout.write(f"{came}\n")
    hold_to_the_law(came, 25_000)
