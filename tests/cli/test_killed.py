"""A command that is killed while it writes leaves the old file or the new one, and nothing that passes for a model."""

import shutil
import subprocess
import sys

import pytest

from .executable import ENVIRONMENT, refused, run

FIT = ("fit", "data.csv", "--target", "state", "--force", "-o", "model.json", "--set", "max_rules=1", "--quiet")
EDIT = ("edit", "old.json", "data.csv", "--target", "state", "--drop", "0", "--force", "-o", "model.json", "--quiet")

# Forks of one process that has loaded everything: some are killed at a random moment, others as soon as they begin to write.
KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from obliquerules.cli.main import main

old, new, chance = Path("old.json").read_bytes(), Path("model.json"), random.Random(0)

def started():
    new.write_bytes(old)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(main(sys.argv[1:]))
    return child

def killed(child, when):
    running = True
    while running and not when():
        running = os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.0001)
    if running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print("died" if running else "ended", {old: "old", whole: "new"}.get(new.read_bytes(), "broken"), flush=True)

def left_behind():
    return set(Path().glob(".model.json.*"))

new.write_bytes(old)
assert main(sys.argv[1:]) == 0  # which loads everything
whole, begun = new.read_bytes(), time.monotonic()
assert os.waitpid(started(), 0)[1] == 0
seconds = time.monotonic() - begun
for _ in range(10):
    end = time.monotonic() + seconds * chance.uniform(0.0, 1.1)
    killed(started(), lambda: time.monotonic() >= end)
for _ in range(10):
    before = left_behind()
    killed(started(), lambda: left_behind() != before)
"""


@pytest.fixture(scope="module")
def at_risk(place):
    """A directory with a table and an old model."""
    return shutil.move(place / "model.json", place / "old.json").parent


@pytest.mark.parametrize("command", [FIT, EDIT], ids=["fit", "edit"])
def test_the_file_is_the_old_one_or_the_new_one(at_risk, command):
    program = [sys.executable, "-c", KILLED, *command]
    done = subprocess.run(program, cwd=at_risk, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    outcomes = [line.split() for line in done.stdout.splitlines() if line.startswith(("died", "ended"))]
    assert len(outcomes) == 20
    assert {content for _, content in outcomes} <= {"old", "new"}
    assert ["died", "old"] in outcomes


def test_what_is_left_behind_is_hidden_and_no_obstacle(at_risk):
    expected = {"data.csv", "old.json", "model.json", "said.txt", "rules.txt"}
    left_behind = {path.name for path in at_risk.iterdir()} - expected
    assert all(name.startswith(".model.json.") and name.endswith(".tmp") for name in left_behind)
    (at_risk / ".model.json.half.tmp").write_bytes((at_risk / "old.json").read_bytes()[:100])
    assert "is not a complete JSON document" in refused("show", ".model.json.half.tmp", cwd=at_risk)
    assert run("show", "model.json", cwd=at_risk).returncode == 0
