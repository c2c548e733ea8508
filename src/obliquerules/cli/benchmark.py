"""The command ``obliquerules benchmark``: the protocol of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from obliquerules.benchmark.__main__ import main as run


def main(arguments: Sequence[str]) -> None:
    """Run the command."""
    run(arguments, prog="obliquerules benchmark")
