"""The commands of the documentation, one after the other, give the output that it shows."""

import doctest
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from .executable import COMMAND, ENVIRONMENT, run

ROOT = Path(__file__).parents[2]


def sessions(text):
    """Yield each command of the console blocks of a page, with the lines that follow it."""
    blocks = re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    blocks += re.findall(r"^```console\n(.*?)```", text, flags=re.MULTILINE | re.DOTALL)
    for block in blocks:
        lines = [line.removeprefix("   ") for line in block.strip("\n").split("\n")]
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield lines[start][2:], "\n".join(lines[start + 1 : end]).strip("\n")


def printed(command, directory):
    """Return what a command prints and says; what needs no shell is run without a process."""
    if command.startswith("obliquerules ") and not set(command) & set("|<>"):
        return run(*shlex.split(command)[1:], cwd=directory, stderr=subprocess.STDOUT).stdout
    environment = ENVIRONMENT | {"PATH": f"{COMMAND.parent}:{ENVIRONMENT['PATH']}"}
    merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "check": False}
    return subprocess.run(command, shell=True, cwd=directory, env=environment, **merged).stdout


@pytest.mark.parametrize("page", ["docs/cli.rst", "README.md"])
def test_the_output_is_what_the_page_shows(page, tmp_path):
    commands = list(sessions((ROOT / page).read_text(encoding="utf-8")))
    assert commands
    for command, shown in commands:
        said = printed(command, tmp_path).strip()
        # As in the other pages, three dots stand for digits that another machine may round otherwise.
        assert doctest.OutputChecker().check_output(shown, said, doctest.ELLIPSIS), (command, said)
