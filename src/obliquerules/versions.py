"""Versions: what a bug report should say about the system and about the packages that the library works with."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys

PACKAGE = "obliquerules"
# The extras whose packages are shown.
EXTRAS = {"arrow", "export", "plots"}


def show_versions() -> None:
    """Print the versions of Python, of this package and of all packages that it needs or can use, for bug reports."""
    system = {"python": sys.version.replace("\n", " "), "executable": sys.executable, "machine": platform.platform()}
    needed = set()
    for requirement in importlib.metadata.requires(PACKAGE) or ():
        extra = re.search(r"extra == ['\"](\w+)['\"]", requirement)
        if extra is None or extra[1] in EXTRAS:
            needed.add(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    packages = {}
    for name in (PACKAGE, *sorted(needed)):
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            packages[name] = "not installed"
    sys.stdout.write(f"System:\n{_table(system)}\n\nPackages:\n{_table(packages)}\n")


def _table(values: dict[str, str]) -> str:
    width = max(map(len, values))
    return "\n".join(f"{name:>{width}}: {value}" for name, value in values.items())
