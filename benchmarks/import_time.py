"""The first import of the package, and of an estimator, beside that of scikit-learn, each in fresh processes by turns."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

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


def main() -> int:
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


if __name__ == "__main__":
    sys.exit(main())
