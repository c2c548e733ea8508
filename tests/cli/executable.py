"""The installed command, as a user runs it, and small tables to run it on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

COMMAND = Path(sys.executable).with_name("obliquerules")
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error", "COLUMNS": "100"}
# On a disk that is full, Python would leave half of its bytecode for later runs.
FULL_DISK = ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"}


def run(*arguments, **options):
    """Run the command, and hold it to what is true of every run: an exit code that is known, and no traceback."""
    command = [COMMAND, *map(str, arguments)]
    options = {"env": ENVIRONMENT} | options
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode in (0, 1, 2, 130), done.stderr
    assert "Traceback" not in done.stderr
    return done


def refused(*arguments, code=2, **options):
    """Run a command that must fail, and return its one sentence."""
    done = run(*arguments, **options)
    assert done.returncode == code, done.stderr
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith("obliquerules")
    return sentence


def write_csv(path, header, rows):
    """Write rows of anything as CSV."""
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sick_or_well(path, n_rows=80):
    """Write a small table with two classes, an identifier and a constant."""
    rng = np.random.default_rng(0)
    age, pulse = rng.integers(20, 80, n_rows), rng.normal(70.0, 10.0, n_rows).round(2)
    state = np.where(age + pulse + rng.normal(0.0, 5.0, n_rows) >= 125.0, "sick", "well")
    names = [f"p{row}" for row in range(n_rows)]
    return write_csv(path, ["name", "age", "pulse", "ward", "state"], zip(names, age, pulse, [7] * n_rows, state, strict=True))
