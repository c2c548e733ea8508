"""What the start costs: first imports beside that of scikit-learn, each in fresh processes by turns.

With ``--demo``: ``make demo`` in a fresh clone with an empty pip cache, in seconds and megabytes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5
LARGEST_RATIO = 1.2
RIVAL = "import sklearn"
# Held to the ratio. The import of the package alone loads nothing heavy; that of an estimator is what the first use costs.
COUNTED = ("import obliquerules", "from obliquerules import LLTBoostClassifier")
# What users of scikit-learn import, and a model that is read without it, to compare with.
OTHERS = (
    "from sklearn.linear_model import LogisticRegression",
    "from sklearn.ensemble import GradientBoostingClassifier",
    "import obliquerules.rules",
)
CLOCK = "import time; start = time.process_time(); {}; print(time.process_time() - start)"


def seconds(statement: str) -> float:
    """Return how long a statement takes in a fresh process, in processor time, without the start of Python."""
    # As users have it, modules are compiled to bytecode once, whatever this environment says.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CLOCK.format(statement)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def imports() -> int:
    """Print a table of medians; return 1 if the import of the package or of an estimator takes too long."""
    times: dict[str, list[float]] = {statement: [] for statement in (RIVAL, *COUNTED, *OTHERS)}
    for _ in range(1 + RUNS):
        for statement, taken in times.items():
            taken.append(seconds(statement))
    # The first round compiled the modules.
    medians = {statement: statistics.median(taken[1:]) for statement, taken in times.items()}
    for statement, median in medians.items():
        print(f"{statement:55} {1e3 * median:8.1f} ms {median / medians[RIVAL]:6.2f}")
    return int(max(medians[statement] for statement in COUNTED) > LARGEST_RATIO * medians[RIVAL])


def megabytes(directory: Path) -> float:
    """Return the size of all files below a directory."""
    return sum(file.lstat().st_size for file in directory.rglob("*") if not file.is_dir()) / 1e6


def demo() -> int:
    """Clone the repository, run the demo in the clone, and print what that took."""
    with tempfile.TemporaryDirectory() as directory:
        clone = Path(directory, "clone")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        start = time.perf_counter()
        subprocess.run(["make", "demo"], cwd=clone, env=os.environ | {"PIP_NO_CACHE_DIR": "1"}, check=True)
        seconds = time.perf_counter() - start
        print(
            f"\nmake demo in a fresh clone, empty pip cache: {seconds:.0f} s, {megabytes(clone):.0f} MB with the clone itself"
        )
    return 0


if __name__ == "__main__":
    sys.exit(demo() if "--demo" in sys.argv else imports())
