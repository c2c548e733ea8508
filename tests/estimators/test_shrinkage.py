"""The estimated ridge is near the best on new rows: a small version of ``benchmarks/shrinkage.py``."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "shrinkage.py"
# Settings in which TGB, which is quick, learns from coarse, mixed and fine columns, from independent rows and copies.
SEEDS = (*range(6, 12), *range(18, 24))


@pytest.fixture(scope="module")
def simulation():
    """Load the script; its dataclasses look for its name among the modules."""
    spec = importlib.util.spec_from_file_location("shrinkage_simulation", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.filterwarnings("ignore:Levels that were not seen")
def test_the_estimated_ridge_is_nearly_as_good_as_the_best(simulation):
    found = [simulation.outcome_of(seed) for seed in SEEDS]
    assert len({one.setting for one in found}) == 6
    assert sum(one.excess <= simulation.NEAR for one in found) >= 9
    assert np.mean([one.excess for one in found]) < 0.01
