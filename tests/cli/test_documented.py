"""The commands of the documentation, one after the other, give the output that it shows."""

import doctest
import re
import shlex
import subprocess
from pathlib import Path

from .executable import COMMAND, ENVIRONMENT, run

ROOT = Path(__file__).parents[2]


def sessions(text):
    """Return the console blocks of a page of the documentation."""
    blocks = re.findall(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text, flags=re.MULTILINE)
    return [re.sub("^   ", "", block, flags=re.MULTILINE) for block in blocks]


def commands(session):
    """Yield each command of a console block, with the lines that follow it."""
    lines = session.strip("\n").split("\n")
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


def check_session(session, directory):
    """Run the commands of a console block, and compare what they say with what it shows."""
    for command, shown in commands(session):
        said = printed(command, directory).strip()
        # As in the other pages, three dots stand for digits that another machine may round otherwise.
        assert doctest.OutputChecker().check_output(shown, said, doctest.ELLIPSIS), (command, said)


def test_the_output_is_what_the_page_shows(tmp_path):
    found = sessions((ROOT / "docs" / "cli.rst").read_text(encoding="utf-8"))
    assert found
    for session in found:
        check_session(session, tmp_path)
