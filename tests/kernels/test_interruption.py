"""Kernels let other threads work meanwhile, and Ctrl-C ends them."""

import subprocess
import sys

import pytest

# Each would take minutes. The signal is sent by another thread of the process itself, which must be given its turn to do so.
ALARM = """
import os, signal, threading
import numpy as np
rng = np.random.default_rng(0)
alarm = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
alarm.daemon = True
"""
PATH = """
from obliquerules.kernels.l1_path import PathFollower
X = np.asfortranarray(rng.normal(size=(30000, 250)))
work = PathFollower(X, (X.sum(axis=1) + 9.0 * rng.normal(size=30000) > 0.0) * 1.0, np.ones(30000), 250, 1e-6).run
"""
SEARCH = """
from obliquerules.kernels.axis_rules import DirectedObjective, RuleSearch
n, d = 1500, 20
order = np.argsort(rng.normal(size=(d, n)), axis=1).astype(np.intc)
group = np.tile(np.arange(n, dtype=np.intc), (d, 1))
pull, keys = rng.normal(size=n), rng.integers(0, 2**64, n, dtype=np.uint64)
mass, basis, plain = {}
objective = DirectedObjective(pull, mass, 1.0, basis, np.zeros(n, dtype=np.intp), plain)
search = RuleSearch(order, group, objective, np.argsort(-pull), 1e9, keys, keys[:0])
work = lambda: search.run(6, 0.0, 10**9, np.inf)
"""
CUTS = """
from obliquerules.kernels.axis_rules import DirectedObjective, best_cuts
n = 2000
order = np.tile(np.arange(n, dtype=np.intc), (20000, 1))
objective = DirectedObjective(rng.normal(size=n), np.ones(n), 1.0, np.zeros((1, 1000)), np.zeros(n, dtype=np.intp), False)
keys = rng.integers(0, 2**64, n, dtype=np.uint64)
work = lambda: best_cuts(order, order, objective, np.ones(n, dtype=np.uint8), keys, keys[:0])
"""
WEIGHTS = """
from obliquerules.kernels.rule_weights import WeightFinder
columns = rng.normal(size=(300, 20000))
work = lambda: WeightFinder(columns, (columns[0] > 0) * 1.0, np.ones(20000), np.zeros(20000), 1, 0.0).run(np.zeros(300))
"""
SOFT = """
from obliquerules.kernels.soft_rules import SoftRules
n, d = 20000, 100
terms, ones = rng.normal(size=(d, n)), np.ones(d, dtype=np.uint8)
index, free = np.arange(d, dtype=np.intc), np.ones(1 + 3 * d, dtype=np.uint8)
shape = index, np.arange(d + 1, dtype=np.intc), index, ones, ones, free
soft = SoftRules(terms, np.zeros(n), np.ones(n), np.zeros(n), *shape, d, 0, 1.0, 0.0, 0.0)
work = lambda: [soft.sums(np.ones(1 + 3 * d), 1.0) for _ in range(1000)]
"""
RUN = """
try:
    alarm.start()
    work()
except KeyboardInterrupt:
    raise SystemExit(17)
"""


@pytest.mark.parametrize(
    "work",
    [
        PATH,
        *(
            SEARCH.format(kind)
            for kind in (
                "np.zeros(n), np.zeros((1, 0)), True",
                "np.ones(n), np.zeros((1, 0)), False",
                "np.ones(n), np.ones((1, 1)), False",
            )
        ),
        CUTS,
        WEIGHTS,
        SOFT,
    ],
    ids=["path", "search, gradient", "search, second-order", "search, orthogonal", "cuts", "weights", "soft rules"],
)
def test_ctrl_c_ends_the_work(work):
    ended = subprocess.run([sys.executable, "-c", ALARM + work + RUN], timeout=60, check=False)
    assert ended.returncode == 17
