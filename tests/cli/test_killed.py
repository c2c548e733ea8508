"""A command that is killed while it writes leaves the old file or the new one, and nothing that passes for a model."""

import random
import shutil
import subprocess
import time

import pytest

from .executable import COMMAND, ENVIRONMENT, refused, run

FIT = ("fit", "data.csv", "--target", "state", "--force", "-o", "model.json", "--set", "max_rules=1", "--quiet")
EDIT = ("edit", "old.json", "data.csv", "--target", "state", "--drop", "0", "--force", "-o", "model.json", "--quiet")


@pytest.fixture(scope="module")
def at_risk(place):
    """A directory with a table and an old model."""
    return shutil.move(place / "model.json", place / "old.json").parent


def started(command, at_risk):
    (at_risk / "model.json").write_bytes((at_risk / "old.json").read_bytes())
    return subprocess.Popen(
        [COMMAND, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=at_risk, env=ENVIRONMENT
    )


def killed_after(command, at_risk, seconds):
    with started(command, at_risk) as process:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()


def killed_while_writing(command, at_risk):
    """Kill the command as soon as it has begun to write, beside what others have left behind."""
    before = set(at_risk.glob(".model.json.*"))
    with started(command, at_risk) as process:
        while process.poll() is None and set(at_risk.glob(".model.json.*")) == before:
            time.sleep(0.0005)
        process.kill()


@pytest.mark.parametrize("command", [FIT, EDIT], ids=["fit", "edit"])
def test_the_file_is_the_old_one_or_the_new_one(at_risk, command):
    begun = time.monotonic()
    with started(command, at_risk) as process:
        assert process.wait() == 0
    seconds = time.monotonic() - begun
    allowed = {(at_risk / "old.json").read_bytes(), (at_risk / "model.json").read_bytes()}
    assert len(allowed) == 2
    draw = random.Random(0)
    for _ in range(2):
        killed_after(command, at_risk, seconds * draw.uniform(0.5, 1.1))
        assert (at_risk / "model.json").read_bytes() in allowed
    for _ in range(2):
        killed_while_writing(command, at_risk)
        assert (at_risk / "model.json").read_bytes() in allowed


def test_what_is_left_behind_is_hidden_and_no_obstacle(at_risk):
    expected = {"data.csv", "old.json", "model.json", "said.txt", "rules.txt"}
    left_behind = {path.name for path in at_risk.iterdir()} - expected
    assert all(name.startswith(".model.json.") and name.endswith(".tmp") for name in left_behind)
    (at_risk / ".model.json.half.tmp").write_bytes((at_risk / "old.json").read_bytes()[:100])
    assert "is not a complete JSON document" in refused("show", ".model.json.half.tmp", cwd=at_risk)
    assert run("show", "model.json", cwd=at_risk).returncode == 0
