"""The installed command, as a user runs it, the same command without a process, and small tables to run it on."""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np

from obliquerules.cli.main import main

COMMAND = Path(sys.executable).with_name("obliquerules")
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error", "COLUMNS": "100"}
# On a disk that is full, Python would leave half of its bytecode for later runs.
FULL_DISK = ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"}


def run(*arguments, **options):
    """Run the command, and hold it to what is true of every run: an exit code that is known, and no traceback.

    It runs here, with streams of its own, because starting a process takes longer than most commands do. What only a process
    can have makes it one: an environment, a file as standard input, or limits.
    """
    words = [*map(str, arguments)]
    if options.keys() <= {"cwd", "input", "encoding", "stderr"}:
        done = _run_here(words, **options)
    else:
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, **{"env": ENVIRONMENT} | options)
    assert done.returncode in (0, 1, 2, 130), done.stderr
    assert "Traceback" not in done.stderr
    return done


def _run_here(words, cwd=".", input="", encoding="utf-8", stderr=subprocess.PIPE):  # noqa: A002  # its name in subprocess
    errors = {"stdout": "strict", "stderr": "backslashreplace"}  # as Python opens them
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding, errors[name], write_through=True) for name in errors}
    if stderr == subprocess.STDOUT:
        streams["stderr"] = streams["stdout"]
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(input.encode()), encoding="utf-8")
    screen = patch.dict(os.environ, COLUMNS=ENVIRONMENT["COLUMNS"])
    with contextlib.chdir(cwd), patch.multiple(sys, **streams), screen, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            code = main(words)
        except SystemExit as end:  # of the parser of options
            code = end.code
    told = (streams[name].buffer.getvalue().decode(encoding) for name in errors)
    return subprocess.CompletedProcess(words, code, *told)


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
