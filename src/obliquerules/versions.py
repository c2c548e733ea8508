"""Versions: what a bug report should say about the system and about the packages that the library works with."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys

PACKAGE = "obliquerules"


def show_versions() -> None:
    """Print the versions of Python, of this package and of all packages that it needs or can use, for bug reports."""
    system = {"python": sys.version.replace("\n", " "), "executable": sys.executable, "machine": platform.platform()}
    packages = {name: _version(name) for name in (PACKAGE, *_dependencies())}
    sys.stdout.write(f"System:\n{_table(system)}\n\nPackages:\n{_table(packages)}\n")


def _dependencies() -> list[str]:
    """Return the names of packages that are required, or asked for by an extra of those that use the library."""
    used = filter(_is_used, importlib.metadata.requires(PACKAGE) or ())
    return sorted({re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in used})


def _is_used(requirement: str) -> bool:
    extra = re.search(r"extra == ['\"](\w+)['\"]", requirement)
    return extra is None or extra[1] in {"arrow", "export", "plots"}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _table(values: dict[str, str]) -> str:
    width = max(map(len, values))
    return "\n".join(f"{name:>{width}}: {value}" for name, value in values.items())
