"""Speech: sentences on standard error, results on standard output, and exit codes."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

DONE, FAILED, REFUSED = 0, 1, 2


class WorkFailedError(Exception):
    """What was asked for is right, but it could not be done; the message is for the user."""


def say(message: str) -> None:
    """Write a message to standard error, where it is in the way of no result."""
    sys.stderr.write(f"{message}\n")


def complain(message: str) -> None:
    """Write what went wrong to standard error, on one line."""
    say(f"obliquerules: {' '.join(message.split())}")


def write_result(text: str) -> None:
    """Write a result to standard output."""
    if sys.stdout is None:
        raise WorkFailedError("standard output is closed.")
    sys.stdout.write(text)


def write_json(content: Any) -> None:
    """Write a result to standard output as JSON with exact numbers."""
    write_result(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")


def command_parser(command: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    return argparse.ArgumentParser(prog=f"obliquerules {command}", description=description, allow_abbrev=False)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Let a command write JSON."""
    parser.add_argument("--json", action="store_true", help=f"write {what} to standard output as JSON, with exact numbers")


def add_at(parser: argparse.ArgumentParser) -> None:
    """Let a command take a smaller model of the path."""
    parser.add_argument("--at", type=int, metavar="C", help="take the largest model of the path whose complexity is at most C")
