"""A command that is killed while it writes leaves the old file or the new one, and nothing that passes for a model."""

import random
import subprocess
import time

import pytest

from .executable import COMMAND, ENVIRONMENT, refused, run, sick_or_well

FIT = ("fit", "data.csv", "--target", "state", "--force", "-o", "model.json", "--quiet")
EDIT = ("edit", "old.json", "data.csv", "--target", "state", "--drop", "0", "--force", "-o", "model.json", "--quiet")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a table, an old model, and what the commands make when nobody kills them."""
    directory = tmp_path_factory.mktemp("killed")
    sick_or_well(directory / "data.csv")
    assert run(*FIT, "--set", "max_rules=1", cwd=directory).returncode == 0
    (directory / "model.json").rename(directory / "old.json")
    return directory


def started(command, place):
    (place / "model.json").write_bytes((place / "old.json").read_bytes())
    return subprocess.Popen([COMMAND, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=place, env=ENVIRONMENT)


def killed_after(command, place, seconds):
    with started(command, place) as process:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()


def killed_while_writing(command, place):
    """Kill the command as soon as it has begun to write."""
    with started(command, place) as process:
        while process.poll() is None and not list(place.glob(".model.json.*")):
            time.sleep(0.0005)
        process.kill()


@pytest.mark.parametrize("command", [FIT, EDIT], ids=["fit", "edit"])
def test_the_file_is_the_old_one_or_the_new_one(place, command):
    begun = time.monotonic()
    with started(command, place) as process:
        assert process.wait() == 0
    seconds = time.monotonic() - begun
    allowed = {(place / "old.json").read_bytes(), (place / "model.json").read_bytes()}
    assert len(allowed) == 2
    draw = random.Random(0)
    for _ in range(6):
        killed_after(command, place, seconds * draw.uniform(0.5, 1.2))
        assert (place / "model.json").read_bytes() in allowed
    for _ in range(2):
        killed_while_writing(command, place)
        assert (place / "model.json").read_bytes() in allowed


def test_what_is_left_behind_is_hidden_and_no_obstacle(place):
    expected = {"data.csv", "old.json", "model.json"}
    left_behind = [path for path in place.iterdir() if path.name not in expected]
    assert all(path.name.startswith(".model.json.") and path.name.endswith(".tmp") for path in left_behind)
    (place / ".model.json.half.tmp").write_bytes((place / "old.json").read_bytes()[:100])
    assert "is not a complete JSON document" in refused("show", ".model.json.half.tmp", cwd=place)
    assert run(*EDIT, cwd=place).returncode == 0
    assert run("show", "model.json", cwd=place).returncode == 0
