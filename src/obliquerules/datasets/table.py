"""Tables: the columns of a data set, read from its file, which is fetched if it is nowhere."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from obliquerules.datasets.files import Table, find_file
from obliquerules.datasets.openml import SOURCES, fetch


def read_table(name: str, file_name: str, inputs: Sequence[str], target: str, download_if_missing: bool) -> Table:
    """Read columns, by their names in the first line, from a CSV file."""
    with open(_path(name, file_name, download_if_missing), newline="", encoding="utf-8-sig") as file:
        header, *rows = csv.reader(file)
    absent = [column for column in (*inputs, target) if column not in header]
    if absent:
        raise ValueError(f"{file_name} has no column {', '.join(map(repr, absent))}; its first line must name the columns.")
    places = [header.index(column) for column in inputs]
    data = np.array([[float(row[place]) for place in places] for row in rows])
    return Table(data, [row[header.index(target)] for row in rows])


def _path(name: str, file_name: str, download_if_missing: bool) -> Path:
    try:
        return find_file(name, file_name)
    except FileNotFoundError as missing:
        stem = file_name.removesuffix(".csv")
        if not download_if_missing or stem not in SOURCES:
            raise
        try:
            return fetch(stem)
        except OSError as error:
            raise FileNotFoundError(f"{missing} {error}") from error
