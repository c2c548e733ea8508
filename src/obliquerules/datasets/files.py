"""Files: tables that are read from a directory which the user names in an environment variable."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VARIABLE = "OBLIQUERULES_DATA"


@dataclass(frozen=True, eq=False)
class Table:
    """The inputs of a data set as numbers, and its target as the text that the file holds."""

    data: NDArray[np.float64]
    target: list[str]


def read_table(name: str, file_name: str, inputs: Sequence[str], target: str) -> Table:
    """Read columns, by their names in the first line, from a CSV file in the directory that OBLIQUERULES_DATA names."""
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
    """Return where a file is, or say in one sentence which one is needed, where to put it and which variable to set."""
    directory = os.environ.get(VARIABLE)
    if not directory:
        raise FileNotFoundError(
            f"The data set {name} is read from the file {file_name}: put it into a directory and set the environment variable "
            f"{VARIABLE} to that directory."
        )
    path = Path(directory) / file_name
    if not path.is_file():
        raise FileNotFoundError(
            f"The data set {name} is read from the file {file_name}, which is not in '{directory}': put it there, or set the "
            f"environment variable {VARIABLE} to the directory that has it."
        )
    return path
