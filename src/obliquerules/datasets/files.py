"""Files: tables that are read from a directory which the user names in an environment variable, or from the cache."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VARIABLE = "OBLIQUERULES_DATA"
# Data sets that no public repository serves.
ELSEWHERE = {
    "voice": "It is 'Gender Recognition by Voice' on Kaggle, which neither OpenML nor UCI has",
    "used_cars": "It was made of a 'Used cars database' on Kaggle, which neither OpenML nor UCI has",
}


@dataclass(frozen=True, eq=False)
class Table:
    """The inputs of a data set as numbers, and its target as the text that the file holds."""

    data: NDArray[np.float64]
    target: list[str]


def read_table(name: str, file_name: str, inputs: Sequence[str], target: str) -> Table:
    """Read columns, by their names in the first line, from a CSV file; see `find_file`."""
    path = find_file(name, file_name)
    with open(path, newline="", encoding="utf-8-sig") as file:
        header, *rows = csv.reader(file)
    absent = [column for column in (*inputs, target) if column not in header]
    if absent:
        raise ValueError(f"{file_name} has no column {', '.join(map(repr, absent))}; its first line must name the columns.")
    places = [header.index(column) for column in inputs]
    data = np.array([[float(row[place]) for place in places] for row in rows])
    return Table(data, [row[header.index(target)] for row in rows])


def find_file(name: str, file_name: str) -> Path:
    """Return where a file is: in the directory that the user names, or else in the cache; or say in a sentence what to do."""
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
    return f"; or fetch it with obliquerules.datasets.fetch('{name}')"
