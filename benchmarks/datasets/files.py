"""Files: where the data sets are, in a directory named by an environment variable or in the cache."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "OBLIQUERULES_DATA"
# Data sets that no public repository serves.
ELSEWHERE = {
    "voice": "It is 'Gender Recognition by Voice' on Kaggle, which neither OpenML nor UCI has",
    "used_cars": "It was made of a 'Used cars database' on Kaggle, which neither OpenML nor UCI has",
}


def find_file(name: str, file_name: str) -> Path:
    """Return where a file is: in the directory that the user names, or in the cache; the error says what to do."""
    directory = os.environ.get(VARIABLE)
    places = [Path(directory), cache_directory()] if directory else [cache_directory()]
    for place in places:
        if (place / file_name).is_file():
            return place / file_name
    if not directory:
        raise FileNotFoundError(
            f"The data set {name} is read from the file {file_name}: put it into a directory and set the environment variable "
            f"{VARIABLE} to that directory{_or_fetch(file_name)}."
        )
    raise FileNotFoundError(
        f"The data set {name} is read from the file {file_name}, which is not in '{directory}': put it there, or set the "
        f"environment variable {VARIABLE} to the directory that has it{_or_fetch(file_name)}."
    )


def cache_directory() -> Path:
    """Return where files that were fetched are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obliquerules"


def _or_fetch(file_name: str) -> str:
    name = file_name.removesuffix(".csv")
    if name in ELSEWHERE:
        return f". {ELSEWHERE[name]}"
    return f"; or fetch it with benchmarks.datasets.fetch('{name}')"
