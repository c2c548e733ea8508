"""Print the oldest versions that the package works with, as constraints for pip: the lower bounds of pyproject.toml."""

import re
import sys
import tomllib
from pathlib import Path

# Of what the tests need, only these are tested in their oldest version: the data frames that users bring along, and pytest,
# because the oldest scikit-learn does not work with the newest.
OLD_TOO = ("pandas", "polars", "pyarrow", "pytest>")


def oldest(requirement: str) -> str:
    """Return a requirement with its lower bound as the only version."""
    return re.sub(r">=([\w.]+)", r"==\1", requirement)


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    others = [one for one in project["optional-dependencies"]["test"] if one.startswith(OLD_TOO)]
    sys.stdout.write("".join(f"{oldest(one)}\n" for one in [*project["dependencies"], *others]))
